// Which jobs stood before and after one in the list that it was opened from. The list is kept for
// this tab alone, when one of its rows is followed; without it nothing is shown.
import { fresh } from "./once.js";

const KEPT = "qless-list";
const MOST = 200;

const pathOf = (address) => new URL(address, document.baseURI).pathname;

function remember(event) {
  const link = event.target.closest?.(".row .row-link");
  if (!link) return;
  const jobs = [...document.querySelectorAll("main .row:not([data-gone]) .row-link")];
  const paths = jobs.slice(0, MOST).map((each) => pathOf(each.href));
  const title = document.querySelector("#title")?.textContent.trim() ?? "the list";
  const list = { paths, title, address: location.pathname + location.search };
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(list));
  } catch {
    // A browser that keeps nothing shows no neighbours.
  }
}

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

function link(words, label, address) {
  const made = document.createElement(address ? "a" : "span");
  made.className = "button";
  made.dataset.kind = "quiet";
  made.textContent = words;
  made.title = label;
  made.setAttribute("aria-label", label);
  if (address) made.href = address;
  else made.dataset.disabled = "";
  return made;
}

function show(nav) {
  const list = kept();
  const at = list?.paths?.indexOf(location.pathname) ?? -1;
  if (at < 0) return;
  const where = document.createElement("a");
  where.href = list.address;
  where.className = "note";
  where.textContent = `${at + 1} of ${list.paths.length}`;
  where.title = `Back to ${list.title}`;
  nav.replaceChildren(
    link("‹", "Job before", list.paths[at - 1]),
    where,
    link("›", "Next job", list.paths[at + 1]),
  );
  nav.hidden = false;
}

let listening = false;

export function init(root) {
  for (const nav of fresh(root, "neighbours")) show(nav);
  if (listening) return;
  listening = true;
  document.addEventListener("click", remember, { capture: true });
  document.addEventListener("auxclick", remember, { capture: true });
}

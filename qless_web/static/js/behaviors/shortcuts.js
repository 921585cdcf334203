// Single keys, never while something is typed, never with Ctrl, Alt or Meta, and not at all where they
// are switched off. Which key does what is the table of the dialog, from qless_web/presenters/keys.py.
import { fresh } from "./once.js";
import { changeDensity } from "./theme.js";

const GO_MS = 1500;
const rows = () => [...document.querySelectorAll("main tr.row")].filter((row) => row.offsetParent);
let going = 0;

const current = () => rows().find((row) => row.contains(document.activeElement));

function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  const to = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  to?.querySelector(".row-link")?.focus({ preventScroll: true });
  to?.scrollIntoView({ block: "nearest" });
}

function go(key) {
  const entry = document.querySelector(`#keys [data-letter="${CSS.escape(key)}"]`);
  if (entry) document.querySelector(`[data-nav="${entry.dataset.go}"]`)?.click();
}

// What is ticked, or else the row that has the focus, or else what the page is about.
function act(verb) {
  const ends = `[formaction$="/${verb}"], form[action$="/${verb}"] button, a.button[href$="/${verb}"]`;
  const ticked = document.querySelector('.ticked[data-count]:not([data-count="0"])');
  const place = ticked ?? current()?.querySelector(".menu-items") ?? document.querySelector(".page-head");
  place?.querySelector(`:is(${ends})`)?.click();
}

const doing = {
  search: () => document.getElementById("search")?.select(),
  help: () => document.getElementById("keys")?.showModal(),
  next: () => step(1),
  previous: () => step(-1),
  open: () => current()?.querySelector(".row-link")?.click(),
  tick: () => current()?.querySelector('input[name="jids"]')?.click(),
  retry: () => act("retry"),
  cancel: () => act("cancel"),
  density: changeDensity,
  go: () => { going = Date.now(); },
};

function does(key) {
  // Enter opens what has the focus by itself, whatever that is.
  if (key === "Enter") return null;
  const entry = document.querySelector(`#keys [data-key="${CSS.escape(key)}"]`);
  return doing[entry?.dataset.does];
}

function pressed(event) {
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (document.body.dataset.keys === "off") return;
  const after = Date.now() - going < GO_MS;
  const what = after ? () => go(event.key) : does(event.key);
  if (!what) return;
  if (after) going = 0;
  what();
  event.preventDefault();
}

export function init(root) {
  if (fresh(root, "shortcuts").length) document.addEventListener("keydown", pressed);
  for (const link of fresh(root, "opens")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      document.getElementById(link.dataset.opens).showModal();
    });
  }
}

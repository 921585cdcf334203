// Keys: / search, ? help, j k rows, o open, x tick, d denser, g and a letter to a page of the rail. Never while
// something is typed, never with Ctrl, Alt or Meta.
import { fresh } from "./once.js";
import { changeDensity } from "./theme.js";

const rows = () => [...document.querySelectorAll("main tr.row")].filter((row) => row.offsetParent);
let going = 0;

function current() {
  return rows().find((row) => row.contains(document.activeElement));
}

function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  const to = all[Math.min(Math.max(at + by, 0), all.length - 1)];
  const link = to?.querySelector(".row-link");
  link?.focus({ preventScroll: true });
  to?.scrollIntoView({ block: "nearest" });
}

function go(key) {
  const entry = document.querySelector(`#keys [data-letter="${CSS.escape(key)}"]`);
  if (entry) document.querySelector(`[data-nav="${entry.dataset.go}"]`)?.click();
}

const keys = {
  "/": () => document.getElementById("search")?.select(),
  "?": () => document.getElementById("keys")?.showModal(),
  j: () => step(1),
  k: () => step(-1),
  o: () => current()?.querySelector(".row-link")?.click(),
  x: () => current()?.querySelector('input[name="jids"]')?.click(),
  d: changeDensity,
  g: () => { going = Date.now(); },
};

function pressed(event) {
  const typing = event.target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
  if (Date.now() - going < 1500) {
    going = 0;
    go(event.key);
  } else if (keys[event.key]) {
    keys[event.key]();
  } else return;
  event.preventDefault();
}

export function init(root) {
  if (fresh(root, "shortcuts").length) document.addEventListener("keydown", pressed);
  for (const button of fresh(root, "opens")) {
    button.addEventListener("click", () => document.getElementById(button.dataset.opens).showModal());
  }
}

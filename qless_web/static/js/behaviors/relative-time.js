// Keeps "12 s ago" true. The words are those of qless_web/formatting.py; both are tested with the
// examples of one table.
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
const EVERY_MS = 1000;
let timer = 0;

function units(seconds) {
  const [size, unit] = UNITS.find(([each]) => seconds >= each) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit}`;
}

export function ago(at, now) {
  const past = now - at;
  return past < 1 ? "just now" : `${units(Math.floor(past))} ago`;
}

export function since(at, now) {
  return units(Math.max(0, Math.floor(now - at)));
}

// Rounded, not cut: a limit of 7 days reads "in 7 d" a second later too.
function nearest(seconds) {
  const place = UNITS.findIndex(([size]) => seconds >= size || size === 1);
  const [size, unit] = UNITS[place];
  const number = Math.max(1, Math.floor(seconds / size + 0.5));
  const [next, above] = UNITS[place - 1] ?? [Infinity];
  return number * size >= next ? `1 ${above}` : `${number} ${unit}`;
}

export function until(at, now) {
  const ahead = at - now;
  return ahead <= 0 ? "due" : `in ${nearest(ahead)}`;
}

const WORDS = { past: ago, since, future: until };

// The server's clock counts: how far it is from ours is known from the time the page was made at.
const told = Number(document.body.dataset.now);
const ahead = told ? told - Date.now() / 1000 : 0;
const serverNow = () => Date.now() / 1000 + ahead;

function tick() {
  if (document.hidden) return;
  const now = serverNow();
  for (const element of document.querySelectorAll("time[data-relative]")) {
    const at = Date.parse(element.dateTime) / 1000;
    if (Number.isNaN(at)) continue;
    const words = WORDS[element.dataset.relative](at, now);
    if (element.textContent !== words) element.textContent = words;
  }
}

function addLocal(element) {
  const at = new Date(element.dateTime);
  if (Number.isNaN(at.getTime()) || element.title.includes("\n")) return;
  const local = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
  element.title = `${element.title}\n${local} here`;
}

export function init(root) {
  root.querySelectorAll("time[data-relative]").forEach(addLocal);
  if (timer) return;
  timer = setInterval(tick, EVERY_MS);
  document.addEventListener("visibilitychange", tick);
}

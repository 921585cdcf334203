// Brings what a page shows up to date without moving what is being read: regions are morphed in
// place; in a list, rows that left stay and are marked, and new ones wait until they are let in.
const waiting = new Map();

const rowsOf = (region) => [...region.querySelectorAll(".row[id]")];

// Makes the new list like the old one: same rows in the same order. Returns how many rows wait.
function hold(old, fresh) {
  const [before, after] = [rowsOf(old), rowsOf(fresh)];
  const known = new Map(after.map((row) => [row.id, row]));
  const shown = new Set(before.map((row) => row.id));
  if (!before.length || before.every((row, index) => row.id === after[index]?.id)) return 0;
  const list = after[0]?.parentElement;
  if (!list) {
    // The list is empty now; its last rows stay to be read.
    const still = old.cloneNode(true);
    for (const row of rowsOf(still)) row.dataset.gone = "";
    fresh.replaceChildren(...still.childNodes);
    return 0;
  }
  const rows = before.map((row) => {
    const same = known.get(row.id) ?? row.cloneNode(true);
    if (!known.has(row.id)) same.dataset.gone = "";
    return same;
  });
  list.replaceChildren(...rows);
  return after.filter((row) => !shown.has(row.id)).length;
}

function showBar(region, count) {
  const bar = region.querySelector("[data-live-new]");
  if (!bar) return;
  bar.hidden = !count;
  bar.querySelector("[data-live-count]").textContent = count;
}

function morph(old, fresh) {
  return window.htmx.swap({ text: fresh.outerHTML, target: old, sourceElement: old, swap: "outerMorph" });
}

function glow(before) {
  for (const [element, text] of before) {
    if (!element.isConnected || element.textContent === text) continue;
    element.classList.add("changed");
    element.addEventListener("animationend", () => element.classList.remove("changed"), { once: true });
  }
}

// Takes the page as the server made it just now.
export async function apply(page) {
  if (!window.htmx.config.morphIgnore.includes("open")) {
    // What the reader unfolded stays so.
    window.htmx.config.morphIgnore.push("open");
  }
  const numbers = [...document.querySelectorAll("[data-glow]")].map((each) => [each, each.textContent]);
  const pairs = [...page.querySelectorAll("[data-live][id]")]
    .map((fresh) => [document.getElementById(fresh.id), fresh])
    .filter(([old]) => old?.dataset.live);
  for (const [old, fresh] of pairs.filter(([, each]) => each.dataset.live === "rows")) {
    const whole = fresh.cloneNode(true);
    const count = hold(old, fresh);
    if (count) waiting.set(old.id, whole);
    else waiting.delete(old.id);
    showBar(fresh, count);
  }
  for (const [old, fresh] of pairs) {
    const inner = fresh.parentElement.closest("[data-live]");
    if (!inner && !old.isEqualNode(fresh)) await morph(old, fresh);
  }
  glow(numbers);
  document.dispatchEvent(new CustomEvent("qless:fresh"));
}

// Lets in what waits in a list.
export async function letIn(region) {
  const whole = waiting.get(region.id);
  if (!whole) return;
  waiting.delete(region.id);
  const shown = new Set(rowsOf(region).map((row) => row.id));
  await morph(region, whole);
  const fresh = rowsOf(region).filter((row) => !shown.has(row.id));
  for (const row of fresh) row.classList.add("new");
  fresh[0]?.querySelector("a, button")?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("qless:fresh"));
}

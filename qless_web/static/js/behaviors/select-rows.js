// Ticks: a range with Shift, all of the page, and how many there are. Ticks survive a refresh.
import { fresh } from "./once.js";

const ticks = () => [...document.querySelectorAll('input[type="checkbox"][name="jids"]')];
let last = null;

function count() {
  const all = ticks();
  const ticked = all.filter((tick) => tick.checked).length;
  for (const bar of document.querySelectorAll(".ticked")) {
    bar.dataset.count = ticked;
    bar.querySelector("[data-ticked]").textContent = ticked;
  }
  for (const whole of document.querySelectorAll("[data-tick-all]")) {
    whole.checked = ticked > 0 && ticked === all.length;
    whole.indeterminate = ticked > 0 && ticked < all.length;
  }
}

function range(tick) {
  const all = ticks();
  const from = all.indexOf(last);
  const to = all.indexOf(tick);
  if (from < 0 || to < 0) return;
  for (const each of all.slice(Math.min(from, to), Math.max(from, to) + 1)) each.checked = tick.checked;
}

export function init(root) {
  for (const table of fresh(root, "select-rows")) {
    table.addEventListener("click", (event) => {
      if (!event.target.matches('input[name="jids"]')) return;
      if (event.shiftKey && last && last !== event.target) range(event.target);
      last = event.target;
      count();
    });
    table.addEventListener("change", (event) => {
      if (event.target.matches("[data-tick-all]")) {
        for (const tick of ticks()) tick.checked = event.target.checked;
      }
      count();
    });
  }
  for (const bar of fresh(root, "ticked")) {
    bar.querySelector("[data-untick]").addEventListener("click", () => {
      for (const tick of ticks()) tick.checked = false;
      count();
    });
  }
  count();
}

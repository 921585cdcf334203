// What the user unfolded stays unfolded when the page refreshes itself: details with an id or a
// data-key are remembered by it, others by their words and place.
const chosen = new Map();
let listening = false;

function nameOf(details) {
  if (details.id || details.dataset.key) return details.id || details.dataset.key;
  const same = [...document.querySelectorAll("main details")].filter(
    (each) => each.firstElementChild?.textContent === details.firstElementChild?.textContent,
  );
  return `${details.firstElementChild?.textContent.trim()}#${same.indexOf(details)}`;
}

export function init(root) {
  if (chosen.size) {
    for (const details of root.querySelectorAll("main details:not(.menu)")) {
      const open = chosen.get(nameOf(details));
      if (open !== undefined && details.open !== open) details.open = open;
    }
  }
  if (listening) return;
  listening = true;
  // A click and not "toggle", which also tells of changes that the refresh itself made.
  document.addEventListener("click", (event) => {
    const summary = event.target.closest?.("main details:not(.menu) > summary");
    if (summary) chosen.set(nameOf(summary.parentElement), !summary.parentElement.open);
  });
}

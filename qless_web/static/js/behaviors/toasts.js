// Toasts go by themselves, unless they tell of a problem or somebody is reading them.
const SHOWN_MS = 8000;
const MOST = 4;
const timers = new WeakSet();

function leave(toast) {
  if (toast.matches(":hover, :focus-within")) {
    setTimeout(leave, SHOWN_MS / 2, toast);
    return;
  }
  toast.remove();
}

function setUp(toast) {
  timers.add(toast);
  toast.querySelector("[data-dismiss]")?.addEventListener("click", () => toast.remove());
  if (toast.dataset.tone !== "error" && toast.dataset.tone !== "warning") setTimeout(leave, SHOWN_MS, toast);
}

export function init() {
  const toasts = [...document.querySelectorAll("#toasts .toast")];
  for (const toast of toasts.slice(0, -MOST)) toast.remove();
  for (const toast of toasts.slice(-MOST)) if (!timers.has(toast)) setUp(toast);
}

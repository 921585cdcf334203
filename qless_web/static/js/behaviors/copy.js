// Copies data-copy, also where the page is not secure and the clipboard API is missing.
import { fresh } from "./once.js";

const SHOWN_MS = 1500;

export async function write(text, button) {
  if (window.isSecureContext && navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  // Beside the button, because nothing outside an open dialog can be selected.
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  button.after(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  button.focus();
  return copied;
}

export function init(root) {
  for (const button of fresh(root, "copy")) {
    button.addEventListener("click", async () => {
      const copied = await write(button.dataset.copy, button).catch(() => false);
      button.dataset.done = copied ? "yes" : "no";
      button.setAttribute("aria-label", copied ? "Copied" : "Could not copy");
      setTimeout(() => {
        delete button.dataset.done;
        button.setAttribute("aria-label", button.title);
      }, SHOWN_MS);
    });
  }
}

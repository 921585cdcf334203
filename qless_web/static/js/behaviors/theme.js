// The theme switch: as the system, light, dark. first.js applies the choice before the first paint.
import { fresh } from "./once.js";

const THEMES = ["", "light", "dark"];
const WORDS = { "": "as the system", light: "light", dark: "dark" };

function say(button) {
  const words = `Theme: ${WORDS[document.documentElement.dataset.theme ?? ""]}`;
  button.title = words;
  button.setAttribute("aria-label", words);
}

export function init(root) {
  for (const button of fresh(root, "theme")) {
    say(button);
    button.addEventListener("click", () => {
      const at = THEMES.indexOf(document.documentElement.dataset.theme ?? "");
      const next = THEMES[(at + 1) % THEMES.length];
      if (next) document.documentElement.dataset.theme = next;
      else delete document.documentElement.dataset.theme;
      try {
        localStorage.setItem("qless-theme", next);
      } catch {
        // Storage may be forbidden; the choice then lasts as long as the page.
      }
      say(button);
    });
  }
}

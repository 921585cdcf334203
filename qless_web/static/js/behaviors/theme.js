// The theme switch: as the system, light, dark; and how dense rows are. first.js applies what was
// chosen before the first paint.
import { fresh } from "./once.js";

const THEMES = ["", "light", "dark"];
const WORDS = { "": "as the system", light: "light", dark: "dark" };

function say(button) {
  const words = `Theme: ${WORDS[document.documentElement.dataset.theme ?? ""]}`;
  button.title = words;
  button.setAttribute("aria-label", words);
}

function remember(name, value) {
  if (value) document.documentElement.dataset[name] = value;
  else delete document.documentElement.dataset[name];
  try {
    localStorage.setItem(`qless-${name}`, value);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
}

export function changeDensity() {
  remember("density", document.documentElement.dataset.density ? "" : "compact");
}

export function init(root) {
  for (const button of fresh(root, "theme")) {
    say(button);
    button.addEventListener("click", () => {
      const at = THEMES.indexOf(document.documentElement.dataset.theme ?? "");
      remember("theme", THEMES[(at + 1) % THEMES.length]);
      say(button);
    });
  }
}

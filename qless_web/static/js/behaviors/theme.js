// The theme switch: as the system, light, dark; and how dense rows are. Both are kept with what else
// was chosen, so that the server makes the next page so.
import { choose } from "../choices.js";
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
  choose(name, value);
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
  // Only the browser knows its time zone: it goes along with the form that asks for it.
  for (const form of fresh(root, "zone")) {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (zone) form.querySelector("[data-zone]").value = zone;
  }
}

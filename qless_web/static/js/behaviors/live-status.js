// The word in the top bar: whether what is shown is current, and if not, why and how old it is.
import { fresh } from "./once.js";

const WORDS = {
  live: "live",
  polling: "polling",
  reconnecting: "reconnecting",
  down: "Redis is down",
  off: "not live",
  held: "held",
  "signed-out": "sign in again",
  gone: "no longer there",
};
const OLD_MS = 2000;

function age(since) {
  const seconds = Math.floor((Date.now() - since) / 1000);
  if (seconds < 60) return `${seconds} s old`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min old` : `${Math.floor(seconds / 3600)} h old`;
}

export function init(root) {
  for (const status of fresh(root, "live-status")) {
    let shown = { state: "off", freshAt: Date.now() };
    const [word, old] = [status.querySelector("[data-live-word]"), status.querySelector("[data-live-age]")];
    const show = () => {
      const aged = shown.state !== "live" && Date.now() - shown.freshAt > OLD_MS;
      old.textContent = aged ? age(shown.freshAt) : "";
    };
    document.addEventListener("qless:live", ({ detail }) => {
      shown = detail;
      status.dataset.state = ["signed-out", "gone", "held"].includes(detail.state) ? "off" : detail.state;
      const text = (detail.state === "off" && status.dataset.reason) || WORDS[detail.state];
      if (word.textContent !== text) word.textContent = text;
      status.title = detail.reason;
      show();
    });
    setInterval(show, 1000);
  }
}

// Offers how what is being typed may go on, in the list of the box.
import { fresh } from "./once.js";

const PAUSE_MS = 120;

export function init(root) {
  for (const box of fresh(root, "complete")) {
    let timer = 0;
    let asked = "";
    box.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => offer(box, (asked = box.value), () => asked === box.value), PAUSE_MS);
    });
  }
}

async function offer(box, query, isStill) {
  const address = `${box.dataset.complete}?q=${encodeURIComponent(query)}`;
  const answer = await fetch(address, { headers: { Accept: "application/json" } }).catch(() => null);
  const ways = answer?.ok ? await answer.json() : [];
  if (!isStill() || !box.list) return;
  box.list.replaceChildren(...ways.map((way) => new Option(way, way)));
}

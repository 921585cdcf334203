// What is wider than its frame begins with its middle, or with what is marked as here, in sight.
import { fresh } from "./once.js";

export function init(root) {
  for (const frame of fresh(root, "centre")) {
    const here = frame.querySelector("[data-here]");
    if (!here || frame.scrollWidth <= frame.clientWidth) continue;
    const [inner, outer] = [here.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  }
}

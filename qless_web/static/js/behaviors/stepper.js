// The − and + beside a number.
import { fresh } from "./once.js";

export function init(root) {
  for (const stepper of fresh(root, "stepper")) {
    const input = stepper.querySelector("input");
    stepper.addEventListener("click", (event) => {
      const by = Number(event.target.closest("[data-step]")?.dataset.step);
      if (!by) return;
      if (by > 0) input.stepUp();
      else input.stepDown();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }
}

// Keeps the page current: when a signal names one of its topics it asks for itself again, and regions
// take what is new. Tells how all this stands with the event "qless:live".
import { asker } from "../live/asking.js";
import { apply, letIn } from "../live/regions.js";
import { join } from "../live/tabs.js";

const HIDDEN_MS = 60000;

let [base, pollMs, asking, topics] = ["", 5000, null, []];
let [state, reason, freshAt] = ["", "", Date.now()];
let [stay, polling, leaving] = [null, null, null];
// The reader wants the page to stay as it is, and how things stood before.
let [held, start] = [false, "off"];

function tell(next, why = "") {
  [state, reason] = [next, why];
  clearInterval(polling);
  if (state === "polling" || state === "reconnecting") polling = setInterval(asking.ask, pollMs);
  document.dispatchEvent(new CustomEvent("qless:live", { detail: { state, reason, freshAt } }));
}

async function take(outcome, page) {
  if (outcome === "signed-out") leave();
  if (outcome === "signed-out" || outcome === "gone") tell(outcome);
  if (outcome !== "fresh") return;
  await apply(page);
  freshAt = Date.now();
  if (state === "gone") tell(stay ? "live" : "off");
  else if (state !== "live") tell(state, reason);
  follow(page.querySelector("main").dataset.topics);
}

function hear({ state: next, message }) {
  if (next) tell(next);
  else if (message.event === "down") tell("down", message.data.reason);
  else if (message.event === "up") tell("live"), asking.ask();
  else if (message.data.topics?.some((topic) => topics.includes(topic))) asking.ask();
}

function enter() {
  clearTimeout(leaving);
  if (held) return;
  if (!stay && base) stay = join(base, topics, hear);
  if (asking.wishes()) asking.ask();
}

function leave() {
  stay?.leave();
  stay = null;
}

function follow(listed) {
  const named = [...JSON.parse(listed || "[]"), "rail"];
  if (named.join("\n") === topics.join("\n")) return;
  topics = named;
  if (!stay) return;
  leave();
  enter();
}

function hold(button) {
  held = !held;
  button.setAttribute("aria-pressed", held);
  if (held) leave();
  tell(held ? "held" : start);
  if (held) return;
  enter();
  asking.ask({ atOnce: true });
}

function listen() {
  document.addEventListener("qless:changed", () => asking.ask({ atOnce: true }));
  document.addEventListener("click", (event) => {
    const bar = event.target.closest?.("[data-live-new] button")?.closest("[data-live]");
    if (bar) letIn(bar);
    const button = event.target.closest?.("[data-hold]");
    if (button) hold(button);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leaving = setTimeout(() => (leave(), asking.later()), HIDDEN_MS);
    else enter();
  });
  window.addEventListener("pagehide", () => (leave(), asking.later()));
  window.addEventListener("pageshow", (event) => event.persisted && enter());
}

export function init() {
  const [status, main] = [document.getElementById("live-status"), document.querySelector("main[data-topics]")];
  if (asking || !status || !main) return;
  pollMs = 1000 * (Number(status.dataset.poll) || 5);
  asking = asker(take, pollMs);
  const wish = new URLSearchParams(location.search).get("live");
  if (wish !== "0" && wish !== "poll") base = status.dataset.events;
  follow(main.dataset.topics);
  start = base || wish === "0" ? "off" : "polling";
  tell(start);
  listen();
  enter();
}

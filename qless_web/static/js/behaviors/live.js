// Keeps the page current. A signal names topics; if the page has one of them, it asks for its own
// address once more, at most twice a second, and regions take what is new. Tells the state of all
// this with the event "qless:live".
import { apply, letIn } from "./live-regions.js";
import { join } from "./live-tabs.js";

const GAP_MS = 500;
const HIDDEN_MS = 60000;

let [base, pollMs, state, topics] = ["", 5000, "", []];
let [stay, timer, polling, leaving] = [null, null, null, null];
let [asking, again, askedAt, gap] = [false, false, 0, GAP_MS];
let [freshAt, reason] = [Date.now(), ""];

function tell(next, why = "") {
  [state, reason] = [next, why];
  clearInterval(polling);
  if (state === "polling" || state === "reconnecting") polling = setInterval(ask, pollMs);
  document.dispatchEvent(new CustomEvent("qless:live", { detail: { state, reason, freshAt } }));
}

function stop(why) {
  stay?.leave();
  stay = null;
  tell(why);
}

// Asks soon; many signals in a row become one question, a slow server is asked more rarely.
function ask() {
  if (asking || document.hidden) again = true;
  else timer ??= setTimeout(refresh, Math.max(0, askedAt + gap - performance.now()));
}

// An error page, where by now there would be something to see.
const isLess = (page) => page.querySelector("main [data-live]") && !document.querySelector("main [data-live]");

async function refresh() {
  timer = null;
  [asking, again, askedAt] = [true, false, performance.now()];
  try {
    const here = location.pathname + location.search;
    const response = await fetch(here, { headers: { "HX-Request": "true" }, cache: "no-store" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const main = page.querySelector("main[data-topics]");
    if (response.status === 401 || response.status === 403 || (response.ok && !main)) stop("signed-out");
    else if (response.status === 404) tell("gone");
    else if (response.ok && isLess(page)) location.reload();
    else if (response.ok) {
      await apply(page);
      freshAt = Date.now();
      if (state === "gone") tell(stay ? "live" : "off");
      else if (state !== "live") tell(state, reason);
      follow(main.dataset.topics);
    }
  } catch {
    // The server is away for a moment; the stream knows, and the next question comes by itself.
  }
  gap = Math.max(GAP_MS, 2 * (performance.now() - askedAt));
  asking = false;
  if (again && !document.hidden) ask();
}

const mine = (names) => names?.some((name) => topics.includes(name));

function hear({ state: next, message }) {
  if (next) tell(next);
  else if (message.event === "down") tell("down", message.data.reason);
  else if (message.event === "up") tell("live"), ask();
  else if (mine(message.data.topics)) ask();
}

function enter() {
  clearTimeout(leaving);
  if (!stay && base) stay = join(base, topics, hear);
  if (again) ask();
}

function leave() {
  stay?.leave();
  stay = null;
  again = true;
}

function follow(listed) {
  const named = [...JSON.parse(listed || "[]"), "rail"];
  if (stay && named.join("\n") === topics.join("\n")) return;
  topics = named;
  if (!stay) return;
  stay.leave();
  stay = join(base, topics, hear);
}

export function init() {
  const [status, main] = [document.getElementById("live-status"), document.querySelector("main[data-topics]")];
  if (state || !status || !main) return;
  tell("off");
  const wish = new URLSearchParams(location.search).get("live");
  pollMs = 1000 * (Number(status.dataset.poll) || 5);
  document.addEventListener("qless:changed", () => ((gap = 0), ask()));
  document.addEventListener("click", (event) => {
    const bar = event.target.closest?.("[data-live-new]");
    if (bar && event.target.closest("button")) letIn(bar.closest("[data-live]"));
  });
  follow(main.dataset.topics);
  if (wish === "0") return;
  if (wish === "poll" || !status.dataset.events) tell("polling");
  else base = status.dataset.events;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leaving = setTimeout(leave, HIDDEN_MS);
    else enter();
  });
  window.addEventListener("pagehide", leave);
  window.addEventListener("pageshow", (event) => event.persisted && enter());
  enter();
}

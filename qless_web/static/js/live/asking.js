// Asks for the page's own address once more, as a fragment: at most twice a second, more rarely when
// the server takes long to answer, so that many readers do not choke it, never while the tab is hidden.
const GAP_MS = 500;
const LONGEST_GAP_MS = 5000;

// What there is to see on a page, beside the cautions above every one.
const SEEN = "main [data-live]:not(#cautions)";
// An error page, where by now there would be something to see.
const isLess = (page) => page.querySelector(SEEN) && !document.querySelector(SEEN);

// Calls take(outcome, page): "fresh" with the page as it is now, "gone", "signed-out", or "failed".
export function asker(take, againMs) {
  let [timer, asking, again, askedAt, took, gap] = [null, false, false, 0, 0, GAP_MS];
  let tookBefore = 0;

  async function answer() {
    const here = location.pathname + location.search;
    const response = await fetch(here, { headers: { "HX-Request": "true" }, cache: "no-store" });
    const text = await response.text();
    // What the browser does with it afterwards is no work of the server.
    took = performance.now() - askedAt;
    const page = new DOMParser().parseFromString(text, "text/html");
    const isPage = page.querySelector("main[data-topics]");
    if (response.status === 401 || response.status === 403 || (response.ok && !isPage)) return take("signed-out");
    if (response.status === 404) return take("gone");
    if (!response.ok) throw new Error(response.status);
    if (isLess(page)) return location.reload();
    return take("fresh", page);
  }

  async function go() {
    [timer, asking, again, askedAt] = [null, true, false, performance.now()];
    try {
      await answer();
    } catch {
      took = performance.now() - askedAt;
      take("failed");
      setTimeout(ask, againMs);
    }
    // One slow answer among quick ones says nothing; two in a row do.
    gap = Math.min(LONGEST_GAP_MS, Math.max(GAP_MS, 2 * Math.min(took, tookBefore)));
    tookBefore = took;
    asking = false;
    if (again) ask();
  }

  // Many wishes in a row become one question.
  function ask({ atOnce = false } = {}) {
    if (atOnce) gap = 0;
    if (asking || document.hidden) again = true;
    else timer ??= setTimeout(go, Math.max(0, askedAt + gap - performance.now()));
  }

  return { ask, wishes: () => again, later: () => (again = true) };
}

// One stream for all tabs of a console: browsers allow six connections to a server, and a seventh
// tab would get nothing. The tab that holds the lock listens for all and tells the others. Without
// locks (a plain http address that is not this machine) each tab has a stream of its own.
import { listen } from "./stream.js";

// Room that an address has for topics, in characters; a tab whose topics do not fit goes alone.
const FITS = 5000;
const NOBODY_ANSWERS_MS = 3000;

const addressOf = (base, topics) => `${base}?topics=${encodeURIComponent(JSON.stringify([...topics].sort()))}`;

// Calls hear({state}) and hear({message}) for these topics until leave() is called.
export function join(base, topics, hear) {
  if (!window.isSecureContext || !navigator.locks || !window.BroadcastChannel) {
    const own = listen(addressOf(base, topics), "", hear);
    return { leave: () => own.close() };
  }
  const me = `${performance.timeOrigin}-${Math.random()}`;
  const channel = new BroadcastChannel(`qless-live ${base}`);
  const quit = new AbortController();
  const wants = new Map([[me, topics]]);
  let [stream, leads, listened, last, alone] = [null, false, new Set(), "", null];
  // What a tab that comes later has to be told first: the state, and of Redis when it is down.
  let [state, trouble] = [null, null];

  function tell(news) {
    last = news.message?.id || last;
    state = news.state ?? state;
    if (["down", "up"].includes(news.message?.event)) trouble = news.message.event === "down" ? news : null;
    hear(news);
    channel.postMessage({ news });
  }

  function open() {
    if (!leads || quit.signal.aborted) return;
    listened = new Set(topics);
    for (const each of wants.values()) {
      const both = new Set([...listened, ...each]);
      if (addressOf(base, both).length < FITS) listened = both;
    }
    stream?.close();
    stream = listen(addressOf(base, listened), last, tell);
  }

  function wanted(id, theirs) {
    wants.set(id, theirs);
    if (!leads) return;
    const known = theirs.every((topic) => listened.has(topic));
    if (!known) open();
    // What it shows was made before it was heard: a new stream tells what it missed, an old one cannot.
    const missed = known ? { message: { event: "ready", data: { topics: theirs } } } : null;
    if (!theirs.every((topic) => listened.has(topic))) return;
    channel.postMessage({ hears: id, news: [state && { state }, trouble, missed].filter(Boolean) });
  }

  channel.onmessage = ({ data }) => {
    if (data.who) channel.postMessage({ id: me, wants: topics });
    else if (data.wants) wanted(data.id, data.wants);
    else if (data.gone) wants.delete(data.gone);
    else if (data.hears === me && !stream) {
      clearTimeout(alone);
      data.news.forEach(hear);
    } else if (data.news && !data.hears && !leads && !stream) {
      last = data.news.message?.id || last;
      hear(data.news);
    }
  };

  navigator.locks.request(`qless-live ${base}`, { signal: quit.signal }, () => {
    clearTimeout(alone);
    leads = true;
    channel.postMessage({ who: true });
    open();
    return new Promise((release) => quit.signal.addEventListener("abort", release));
  }).catch(() => {}); // given up while waiting for it
  channel.postMessage({ id: me, wants: topics });
  alone = setTimeout(() => {
    stream ??= listen(addressOf(base, topics), "", hear);
  }, NOBODY_ANSWERS_MS);

  return {
    leave() {
      clearTimeout(alone);
      channel.postMessage({ gone: me });
      stream?.close();
      quit.abort();
      channel.close();
    },
  };
}

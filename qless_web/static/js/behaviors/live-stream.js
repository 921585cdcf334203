// One stream of server-sent events, read with fetch: an EventSource does not show the status of an
// answer, and gives up for good at the first 502.
const FIRST_MS = 500;
const LONGEST_MS = 15000;
// The server says something every 15 s; when it does not, the connection is dead.
const SILENCE_MS = 40000;

const jitter = (ms) => ms * (0.5 + Math.random() / 2);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function parse(block) {
  const message = { event: "", id: "", data: {} };
  for (const line of block.split("\n")) {
    const [name, value] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)];
    if (name === "data") message.data = JSON.parse(value);
    else if (name in message) message[name] = value;
  }
  return message.event ? message : null;
}

// Calls hear({state}) and hear({message}) until close(). States: live, reconnecting, polling (there
// is no room), off (nothing more will come), signed-out.
export function listen(address, last, hear) {
  let lastId = last;
  let failures = 0;
  let closed = false;
  let current = null;

  async function read(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const silence = setTimeout(() => current.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const message of blocks.map(parse).filter(Boolean)) {
        failures = 0;
        lastId = message.id || lastId;
        if (!closed) hear({ message });
      }
    }
  }

  // Answers with the pause before the next attempt, or null when there shall be none.
  async function attempt() {
    current = new AbortController();
    const headers = { Accept: "text/event-stream", ...(lastId && { "Last-Event-ID": lastId }) };
    const response = await fetch(address, { headers, cache: "no-store", signal: current.signal });
    const type = response.headers.get("Content-Type") ?? "";
    if (response.ok && type.startsWith("text/event-stream")) {
      hear({ state: "live" });
      await read(response);
      return jitter(FIRST_MS);
    }
    current.abort();
    if (response.status === 204) return hear({ state: "off" }), null;
    if (response.status === 401 || response.status === 403 || response.redirected) return hear({ state: "signed-out" }), null;
    if (response.status === 400 || response.status === 404) return hear({ state: "polling" }), null;
    const later = Number(response.headers.get("Retry-After"));
    if (response.status !== 503 || !later) throw new Error(response.status);
    hear({ state: "polling" });
    return 2 * jitter(later * 1000);
  }

  (async () => {
    while (!closed) {
      let pause;
      try {
        pause = await attempt();
        if (pause === null) return;
      } catch {
        pause = jitter(Math.min(LONGEST_MS, FIRST_MS * 2 ** failures));
        failures += 1;
      }
      if (!closed && pause < LONGEST_MS) hear({ state: "reconnecting" });
      await wait(pause);
    }
  })();

  return {
    close() {
      closed = true;
      current?.abort();
    },
  };
}

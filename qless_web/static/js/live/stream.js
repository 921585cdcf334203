// One stream of server-sent events, read with fetch: an EventSource does not show the status of an
// answer, and gives up for good at the first 502.
const FIRST_MS = 500;
const LONGEST_MS = 15000;
// The server says something every 15 s; when it does not, the connection is dead.
const SILENCE_MS = 40000;

// Answers after which it is of no use to ask for a stream again, and how things stand then.
const LAST_WORDS = { 204: "off", 400: "polling", 401: "signed-out", 403: "signed-out", 404: "polling" };

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
    if (closed) return null;
    const type = response.headers.get("Content-Type") ?? "";
    if (response.ok && type.startsWith("text/event-stream")) {
      hear({ state: "live" });
      await read(response);
      return jitter(FIRST_MS);
    }
    current.abort();
    const word = LAST_WORDS[response.redirected ? 401 : response.status];
    if (word) {
      hear({ state: word });
      return null;
    }
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

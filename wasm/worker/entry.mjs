// The way into the Worker. An isolate has one thread and 128 MB for all requests that
// it is given at a time. So their bodies are received beside each other as far as there
// is room, and analysed one after the other; who would wait too long, or behind too
// many, is told to come again.
import worker from "./worker.mjs";

const largest = 20 << 20; // bytes of a body: MaxBody of package endpoint
const room = 2 * largest; // of the bodies that are here
const line = 32; // requests that wait
const patience = 120_000; // ms that one waits
const lease = 300_000; // ms after which one that has entered is taken for dead
const stall = 30; // seconds without a byte of a body

// Queue lets in what there is room for, in the order in which it has come. It is asked
// again and again: a promise that another request keeps would be of that request.
class Queue {
  line = [];
  inside = new Set();

  constructor(room) {
    this.room = room;
  }

  // enter returns what leave takes, or nothing where it would take too long.
  async enter(size) {
    if (this.line.length >= line) this.line = this.line.filter((w) => w.until > Date.now());
    if (this.line.length >= line) return;
    const me = { size, until: Date.now() + patience };
    this.line.push(me);
    while (this.line[0] !== me || this.used() + size > this.room) {
      if (Date.now() > me.until) {
        this.line = this.line.filter((w) => w !== me);
        return;
      }
      await scheduler.wait(10);
      if (this.line[0].until + 1000 < Date.now()) this.line.shift(); // its request is gone
      if (!this.line.includes(me)) this.line.unshift(me);
    }
    this.line.shift();
    me.until = Date.now() + lease;
    this.inside.add(me);
    return me;
  }

  used() {
    let sum = 0;
    for (const one of this.inside) {
      if (one.until < Date.now()) this.inside.delete(one);
      else sum += one.size;
    }
    return sum;
  }

  leave(me) {
    this.inside.delete(me);
  }
}

const bodies = new Queue(room);
const engine = new Queue(1);

// problem is an answer as RFC 9457 has it.
function problem(status, title, detail, headers) {
  return new Response(JSON.stringify({ title, status, detail }) + "\n", {
    status,
    headers: { "Content-Type": "application/problem+json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...headers },
  });
}

const busy = () => problem(503, "Service Unavailable", "too many logs are here at a time", { "Retry-After": "10" });

const digest = async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

// admitted tells whether a request shows the token, if one is asked for. Who does not
// takes no room; the engine answers, without its body.
async function admitted(request, token) {
  if (!token) return true;
  const shown = /^bearer (.*)$/i.exec(request.headers.get("Authorization") ?? "");
  const [a, b] = await Promise.all([digest(shown?.[1] ?? ""), digest(token)]);
  return a.every((v, i) => v === b[i]); // of digests, of which a time tells nothing
}

// receive reads a body until it ends, breaks off, or is too long; what it has not read
// is left to the reader. It returns nothing of a body that stalls.
async function receive(reader) {
  const got = { chunks: [], ended: false, error: undefined };
  let size = 0;
  while (size <= largest) {
    const read = reader.read().then((r) => r, (error) => ({ error }));
    let r;
    for (let idle = 0; !r; idle++) {
      if (idle > stall) return;
      r = await Promise.race([read, scheduler.wait(1000)]);
    }
    if (r.error || r.done) {
      got.ended = true;
      got.error = r.error;
      break;
    }
    size += r.value.byteLength;
    got.chunks.push(r.value);
  }
  return got;
}

// replay gives a body again that was received, and then what is left of it. Its memory
// goes as it is read.
function replay({ chunks, ended, error }, reader) {
  return new ReadableStream({
    type: "bytes",
    async pull(to) {
      const r = chunks.length ? { value: chunks.shift() } : ended ? { done: true, error } : await reader.read();
      if (r.error) to.error(r.error);
      else if (r.done) {
        to.close();
        to.byobRequest?.respond(0);
      } else to.enqueue(r.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

// analyse answers a log, when its turn has come.
async function analyse(request, env, ctx) {
  const length = Number(request.headers.get("Content-Length") ?? NaN);
  const place = await bodies.enter(length >= 0 ? length : largest);
  if (!place) return busy();
  try {
    const reader = request.body.getReader();
    const got = await receive(reader);
    if (!got) {
      reader.cancel().catch(() => {});
      return problem(408, "Request Timeout", `nothing came of the body for ${stall} seconds`);
    }
    const turn = await engine.enter(1);
    if (!turn) return busy();
    try {
      const answer = await worker.fetch(new Request(request, { body: replay(got, reader) }), env, ctx);
      return new Response(await answer.arrayBuffer(), answer); // with which the instance is done
    } finally {
      engine.leave(turn);
    }
  } finally {
    bodies.leave(place);
  }
}

export default {
  async fetch(request, env, ctx) {
    const length = Number(request.headers.get("Content-Length") ?? 0);
    if (request.method !== "POST" || !request.body || length > largest || !(await admitted(request, env.SERVESCOPE_TOKEN))) {
      return worker.fetch(request, env, ctx);
    }
    const answer = analyse(request, env, ctx);
    ctx.waitUntil(answer.then(() => {}, () => {})); // also for a client that is gone: its place is given back
    return answer;
  },
};

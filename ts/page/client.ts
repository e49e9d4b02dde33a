/** The page's side of the engine: one worker for all parts, started when it is first needed. */
import type { Answer, Calls, Ground, Json } from "./protocol.ts";
import { load } from "./site.ts";

interface Waiting {
  resolve: (answer: never) => void;
  reject: (fault: Error) => void;
}

export class Engine {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #seq = 0;
  #counting: Promise<void> | undefined;
  #fault: Error | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#settle(data);
    worker.onerror = (event) => this.close(`the engine stopped${event.message ? `: ${event.message}` : ", or the browser does not allow workers here"}`);
  }

  /** Whether it answers no more. */
  get closed(): boolean {
    return this.#fault !== undefined;
  }

  call<K extends keyof Calls>(call: K, ask: Calls[K]["ask"]): Promise<Calls[K]["answer"]> {
    if (this.#fault) return Promise.reject(this.#fault);
    const seq = ++this.#seq;
    return new Promise((resolve, reject) => {
      this.#waiting.set(seq, { resolve, reject });
      this.#worker.postMessage({ seq, call, ...ask });
    });
  }

  /** Gives the worker the tokenizer, once. */
  counting(): Promise<void> {
    this.#counting ??= load<string>("tokenizer").then(async (text) => void (await this.call("tokenizer", { text })));
    this.#counting.catch(() => (this.#counting = undefined));
    return this.#counting;
  }

  info(): Promise<{ [key: string]: Json }> {
    return this.call("info", { runtime: browser(navigator.userAgent) });
  }

  async ground(ground: Ground): Promise<void> {
    await this.call("ground", { ground });
  }

  /** Ends the worker; whatever waits for an answer is told why. */
  close(why: string): void {
    this.#fault ??= new Error(why);
    this.#worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(this.#fault);
    this.#waiting.clear();
  }

  #settle(data: Answer): void {
    const waiting = this.#waiting.get(data.seq);
    this.#waiting.delete(data.seq);
    if ("fault" in data) waiting?.reject(new Error(data.fault));
    else waiting?.resolve(data.answer as never);
  }
}

let running: Promise<Engine> | undefined;

/** The engine of this page, one however many ask at once; a new one where the last one was closed or did not start. */
export function engine(): Promise<Engine> {
  running = running?.then((held) => (held.closed ? start() : held), start) ?? start();
  return running;
}

/** Pages opened from a folder may start a worker from a Blob alone. */
async function start(): Promise<Engine> {
  const source = await load<string>("worker");
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return new Engine(new Worker(url, { name: "chunkproof engine" }));
}

/** A browser's name and version, as its user agent has them. */
export function browser(agent: string): string {
  for (const [mark, name] of [["Firefox", "Firefox"], ["Edg", "Edge"], ["OPR", "Opera"], ["Chrome", "Chrome"], ["Version", "Safari"]] as const) {
    const version = new RegExp(`${mark}/([\\d.]+)`).exec(agent)?.[1];
    if (version) return `${name} ${version}`;
  }
  return "an unknown browser";
}

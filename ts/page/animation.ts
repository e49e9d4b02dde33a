/** A clock in tokens: it runs, pauses, and says how many have been read. */
export class Clock {
  readonly #tick: (tokens: number) => void;
  #frame = 0;
  #last = 0;
  #tokens = 0;
  /** Tokens a second. */
  speed = 160;

  constructor(tick: (tokens: number) => void) {
    this.#tick = tick;
  }

  get running(): boolean {
    return this.#frame !== 0;
  }

  start(tokens: number): void {
    this.stop();
    this.#tokens = tokens;
    this.#last = performance.now();
    this.#frame = requestAnimationFrame(this.#step);
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  readonly #step = (now: number): void => {
    // A page that was hidden goes on from where it was, not from where it would be.
    this.#tokens += (Math.min(100, Math.max(0, now - this.#last)) / 1000) * this.speed;
    this.#last = now;
    this.#frame = requestAnimationFrame(this.#step);
    this.#tick(this.#tokens);
  };
}

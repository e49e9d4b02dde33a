/** A growing column of 32-bit unsigned integers: what a list of numbers costs, without an object for each. */
export class Column {
  #cells: Uint32Array<ArrayBuffer>;
  #length = 0;
  constructor(capacity = 64) {
    this.#cells = new Uint32Array(Math.max(capacity, 16));
  }
  get length(): number {
    return this.#length;
  }
  push(value: number): void {
    if (this.#length === this.#cells.length) {
      const wider = new Uint32Array(Math.ceil(this.#cells.length * 1.5));
      wider.set(this.#cells);
      this.#cells = wider;
    }
    this.#cells[this.#length++] = value;
  }
  at(index: number): number {
    return this.#cells[index]!;
  }
  /** The cells so far, not copied. */
  done(): Uint32Array<ArrayBuffer> {
    return this.#cells.subarray(0, this.#length);
  }
}

/** The first index from `low` up to `high` for which a property holds that never ends once it has begun; `high` if there is none. */
export function firstWhere(low: number, high: number, holds: (index: number) => boolean): number {
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

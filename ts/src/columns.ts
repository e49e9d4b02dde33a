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

/** The greatest index i ≤ `high` with sorted[i] ≤ value, given that sorted[low] ≤ value. */
export function lastAtMost(sorted: Uint32Array, value: number, low: number, high: number): number {
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (sorted[middle]! <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

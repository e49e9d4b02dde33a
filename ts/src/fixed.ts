/** fixed (spec 06): windows of at most S tokens, each sharing at most O tokens with the one before. */
import { Column, firstWhere } from "./columns.ts";
import type { Chunk, Pieces } from "./pieces.ts";
import { List, Refusal } from "./records.ts";

/**
 * The windows of a text (rules 1 to 5).
 *
 * @param size the most tokens of a window, an integer ≥ 1
 * @param overlap the most tokens shared with the window before, an integer 0 … size − 1
 * @throws Refusal `bad_setting`
 */
export function chunk(pieces: Pieces, size: number, overlap = 0): List<Chunk> {
  checkSize(size);
  if (!(Number.isInteger(overlap) && overlap >= 0 && overlap < size)) throw new Refusal("bad_setting", `overlap ${overlap} must be 0 … size − 1, size is ${size}`);
  return chunks(pieces, windows(pieces, 0, pieces.length, size, overlap));
}

/** Refuses a size below 1. @throws Refusal `bad_setting` */
export function checkSize(size: number): void {
  if (!(Number.isInteger(size) && size >= 1)) throw new Refusal("bad_setting", `size ${size} must be an integer of at least 1`);
}

/** Runs of pieces, two cells each: the first piece, and the one after the last. */
export type Runs = Uint32Array;

/** The windows of the pieces from `from` up to `to` (rules 1 to 4). */
export function windows(pieces: Pieces, from: number, to: number, size: number, overlap: number): Runs {
  const { sums } = pieces;
  const runs = new Column();
  let a = from;
  while (a < to) {
    const most = sums[a]! + size;
    const end = Math.max(firstWhere(a + 1, to + 1, (b) => sums[b]! > most) - 1, a + 1); // rule 2
    runs.push(a);
    runs.push(end);
    if (end === to) break; // rule 3
    const least = sums[end]! - overlap;
    a = firstWhere(a + 1, end, (b) => sums[b]! >= least); // rule 4
  }
  return runs.done();
}

/** The chunks that runs of pieces are. */
export function chunks(pieces: Pieces, runs: Runs): List<Chunk> {
  return new List(runs.length / 2, (i) => pieces.run(runs[2 * i]!, runs[2 * i + 1]!));
}

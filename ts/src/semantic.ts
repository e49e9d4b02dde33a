/** semantic (spec 08): chunks that break where neighbouring sentences are least alike, relative to the document itself. */
import { Column } from "./columns.ts";
import { checkSize, chunks, windows } from "./fixed.ts";
import { percentile as nearestRank } from "./numerics.ts";
import type { Chunk, Pieces } from "./pieces.ts";
import type { List } from "./records.ts";
import { Refusal } from "./records.ts";
import { merge } from "./recursive.ts";
import type { ParagraphRule } from "./text.ts";
import { sentences } from "./text.ts";
import type { Matrix } from "./vectors.ts";
import { cosine, row } from "./vectors.ts";

/** What the semantic chunker finds. */
export interface Semantic {
  readonly chunks: List<Chunk>;
  /** The similarity of each sentence to the next. */
  readonly similarities: Float64Array;
  /** A break stands where a similarity is at most this; null where there are no similarities. */
  readonly threshold: number | null;
}

/** The cosine of each row to the next (rule 2). */
export function similarities(vectors: Matrix): Float64Array {
  const values = new Float64Array(Math.max(vectors.rows - 1, 0));
  for (let i = 0; i < values.length; i++) values[i] = cosine(row(vectors, i), row(vectors, i + 1));
  return values;
}

/** The nearest-rank percentile of the similarities, null if there are none (rule 3). */
export function threshold(similarities: Float64Array, percentile: number): number | null {
  return nearestRank(similarities, percentile);
}

/**
 * The chunks of a text (rules 1 to 7).
 *
 * @param vectors one row for each sentence under the paragraph rule
 * @param size the most tokens of a chunk of several pieces, an integer ≥ 1
 * @param percentile an integer 0 … 100
 * @throws Refusal `bad_setting`, or `bad_vectors` if there is not one row for each sentence
 */
export function chunk(pieces: Pieces, vectors: Matrix, size: number, percentile = 25, rule: ParagraphRule = "blank_line"): Semantic {
  checkSize(size);
  if (!(Number.isInteger(percentile) && percentile >= 0 && percentile <= 100)) throw new Refusal("bad_setting", `percentile ${percentile} must be an integer 0 … 100`);
  const starts = sentences(pieces, rule);
  if (vectors.rows !== starts.length) throw new Refusal("bad_vectors", `${vectors.rows} vectors for ${starts.length} sentences`);
  const values = similarities(vectors);
  const limit = threshold(values, percentile);
  const leaves = new Column();
  const apart: boolean[] = []; // whether a leaf must begin a chunk
  let wasLong = false;
  for (let s = 0; s < starts.length; s++) {
    const from = starts[s]!;
    const to = s + 1 < starts.length ? starts[s + 1]! : pieces.length;
    const long = pieces.sums[to]! - pieces.sums[from]! > size;
    const breaks = s > 0 && limit !== null && values[s - 1]! <= limit; // rule 4
    for (const [i, cell] of windows(pieces, from, to, size, 0).entries()) {
      leaves.push(cell);
      if (i % 2 === 0) apart.push(long || wasLong || breaks); // rules 5 and 6
    }
    wasLong = long;
  }
  return { chunks: chunks(pieces, merge(pieces, leaves.done(), size, (leaf) => !apart[leaf])), similarities: values, threshold: limit };
}

/** recursive (spec 07): chunks that keep paragraphs, then sentences, whole where they fit, filled up to S tokens. */
import { Column } from "./columns.ts";
import type { Runs } from "./fixed.ts";
import { checkSize, chunks, windows } from "./fixed.ts";
import type { Chunk, Pieces } from "./pieces.ts";
import type { List } from "./records.ts";
import type { ParagraphRule } from "./text.ts";
import { paragraphs, sentences } from "./text.ts";

/**
 * Paragraphs within S, else their sentences within S, else their windows of S (rule 1). Leaves tile the pieces.
 *
 * @param size the most tokens of a leaf of several pieces, an integer ≥ 1
 */
export function leaves(pieces: Pieces, size: number, rule: ParagraphRule = "blank_line"): Runs {
  const { sums, length } = pieces;
  const runs = new Column();
  const inner = sentences(pieces, rule); // a paragraph's start is a sentence's too
  let sentence = 0;
  const starts = paragraphs(pieces, rule);
  for (let p = 0; p < starts.length; p++) {
    const from = starts[p]!;
    const to = p + 1 < starts.length ? starts[p + 1]! : length;
    if (sums[to]! - sums[from]! <= size) {
      runs.push(from);
      runs.push(to);
      continue;
    }
    while (inner[sentence]! < from) sentence++;
    for (; sentence < inner.length && inner[sentence]! < to; sentence++) {
      const end = sentence + 1 < inner.length ? inner[sentence + 1]! : length;
      for (const cell of windows(pieces, inner[sentence]!, end, size, 0)) runs.push(cell); // one window if it fits
    }
  }
  return runs.done();
}

/**
 * Merges leaves from left to right: a leaf joins the current chunk while the sum stays within S (rule 2).
 *
 * @param joins whether leaf i may join the chunk that holds leaf i − 1; by default any may
 */
export function merge(pieces: Pieces, leaves: Runs, size: number, joins: (leaf: number) => boolean = () => true): Runs {
  const { sums } = pieces;
  const runs = new Column();
  for (let i = 0; i < leaves.length; ) {
    const from = leaves[i]!;
    let to = leaves[i + 1]!;
    for (i += 2; i < leaves.length && joins(i / 2) && sums[leaves[i + 1]!]! - sums[from]! <= size; i += 2) to = leaves[i + 1]!;
    runs.push(from);
    runs.push(to);
  }
  return runs.done();
}

/**
 * The chunks of a text (rules 1 to 3).
 *
 * @throws Refusal `bad_setting` if size is below 1
 */
export function chunk(pieces: Pieces, size: number, rule: ParagraphRule = "blank_line"): List<Chunk> {
  checkSize(size);
  return chunks(pieces, merge(pieces, leaves(pieces, size, rule), size));
}

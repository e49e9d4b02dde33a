/** bm25 (spec 10): what a term is, and the score of a passage for a query, down to the order of operations. */
import type { Ranked } from "./fusion.ts";
import { order } from "./fusion.ts";
import { ln } from "./numerics.ts";
import { Refusal } from "./records.ts";
import { CASED, CLASSES, IGNORABLE, LETTER, LOWER, NUMBER } from "./resources.ts";
import { Column } from "./columns.ts";

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with".split(" "),
);

/** The terms of a text, in order, with repetitions: lower-cased runs of letters and numbers that are no stop words (rules 1 to 4). */
export function terms(text: string): string[] {
  const found: string[] = [];
  let start = -1;
  for (let at = 0; at <= text.length; ) {
    const point = at < text.length ? text.codePointAt(at)! : 0;
    const inside = (CLASSES[point]! & (LETTER | NUMBER)) !== 0;
    if (inside && start < 0) start = at;
    else if (!inside && start >= 0) {
      const term = lowerCase(text.slice(start, at));
      if (!STOP_WORDS.has(term)) found.push(term);
      start = -1;
    }
    at += point > 0xffff ? 2 : 1;
  }
  return found;
}

const ASCII = /^[\0-\x7f]*$/;
const SIGMA = 0x3a3;

/** A run in lower case, by the pinned tables and without a locale (rule 2). */
function lowerCase(run: string): string {
  if (ASCII.test(run)) return run.toLowerCase();
  const points = Array.from(run, (character) => character.codePointAt(0)!);
  return points
    .map((point, i) => {
      if (point === SIGMA) return casedFrom(points, i, -1) && !casedFrom(points, i, 1) ? "ς" : "σ";
      return LOWER.get(point) ?? String.fromCodePoint(point);
    })
    .join("");
}

/** Whether the first code point from i outward that is not case-ignorable is cased. */
function casedFrom(points: readonly number[], i: number, step: number): boolean {
  let at = i + step;
  while (at >= 0 && at < points.length && (CLASSES[points[at]!]! & IGNORABLE) !== 0) at += step;
  return at >= 0 && at < points.length && (CLASSES[points[at]!]! & CASED) !== 0;
}

/**
 * The weight of a term that `df` of n passages have: ln((2n + 2)/(2df + 1)), correctly rounded (rule 5).
 */
export function idf(n: number, df: number): number {
  return ln(2 * n + 2, 2 * df + 1);
}

/** Where each term occurs in a list of passages. */
export interface Index {
  /** The number of passages. */
  readonly passages: number;
  /** The number of terms of each passage. */
  readonly lengths: Float64Array;
  readonly total: number;
  /** For each term two cells a passage that has it, ascending: the passage, and how often. */
  readonly postings: ReadonlyMap<string, Uint32Array>;
}

/** The index of passages. */
export function index(passages: readonly string[]): Index {
  const lengths = new Float64Array(passages.length);
  const columns = new Map<string, Column>();
  let total = 0;
  passages.forEach((passage, i) => {
    const counts = new Map<string, number>();
    const found = terms(passage);
    for (const term of found) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, tf] of counts) {
      let column = columns.get(term);
      if (column === undefined) columns.set(term, (column = new Column()));
      column.push(i);
      column.push(tf);
    }
    lengths[i] = found.length;
    total += found.length;
  });
  return { passages: passages.length, lengths, total, postings: new Map(Array.from(columns, ([term, column]) => [term, column.done()])) };
}

/**
 * The score of every passage for a query (rule 6).
 *
 * @param k1 a number ≥ 0
 * @param b a number 0 … 1
 * @param weights idf by df, kept between the queries of one index
 * @throws Refusal `bad_setting` if a score is not finite
 */
export function scores(index: Index, query: string, k1 = 1.2, b = 0.75, weights: Map<number, number> = new Map()): Float64Array {
  const result = new Float64Array(index.passages);
  const average = index.total / index.passages;
  for (const term of new Set(terms(query))) {
    const posting = index.postings.get(term);
    if (posting === undefined) continue;
    const df = posting.length / 2;
    let weight = weights.get(df);
    if (weight === undefined) weights.set(df, (weight = idf(index.passages, df)));
    for (let i = 0; i < posting.length; i += 2) {
      const passage = posting[i]!;
      const tf = posting[i + 1]!;
      result[passage]! += (weight * (tf * (k1 + 1))) / (tf + k1 * (1 - b + (b * index.lengths[passage]!) / average));
    }
  }
  for (const score of result) if (!Number.isFinite(score)) throw new Refusal("bad_setting", `with k1 ${k1} a score is not finite`);
  return result;
}

/** The ranking of all passages for each query (rule 7), each cut to `depth`. @throws Refusal `bad_setting` as `scores` */
export function rank(passages: readonly string[], queries: readonly string[], k1 = 1.2, b = 0.75, depth = Infinity): Ranked[] {
  const inverted = index(passages);
  const weights = new Map<number, number>();
  return queries.map((query) => order(scores(inverted, query, k1, b, weights), depth));
}

/** budget (spec 13): which pieces a context of at most B tokens holds, and which evidence it shows. */
import { firstWhere } from "./columns.ts";
import type { Range } from "./text.ts";

/** A run of pieces, from `from` up to `to`. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** A chunk as a run of pieces, and the tokens of a heading that is prepended. */
export interface Headed extends Run {
  readonly extra: number;
}

/** What a budget holds. */
export interface Filled {
  /** The pieces of the context as maximal runs, ascending. */
  readonly context: readonly Run[];
  /** What the context costs, with its headings. */
  readonly tokens: number;
  /** The part of it that headings cost. */
  readonly extra: number;
  /** How many chunks it was filled from. */
  readonly chunks: number;
  /** Whether a chunk did not fit, or not whole. */
  readonly full: boolean;
}

/** What a context shows of each evidence range. */
export interface Covered {
  /** How many of its code points lie in the context. */
  readonly overlaps: readonly number[];
  /** Whether these are enough. */
  readonly hits: readonly boolean[];
}

/**
 * The context that ranked chunks fill, up to a budget (rules 1 to 5).
 *
 * A piece is added up only when it joins, and what has joined is passed over in one step, so the cost grows with the pieces and the
 * chunks, however much these overlap.
 *
 * @param tokens the count of each piece, integers ≥ 0
 * @param chunks runs of these pieces, none empty
 * @param ranking indices of chunks, best first, none twice
 * @param budget an integer ≥ 1
 */
export function fill(tokens: ArrayLike<number>, chunks: readonly Headed[], ranking: readonly number[], budget: number): Filled {
  const pieces = tokens.length;
  // next[p] is p for a piece that is not in the context, else a later one, with none between that is not.
  const next = new Uint32Array(pieces + 1);
  for (let p = 0; p <= pieces; p++) next[p] = p;
  const free = (piece: number): number => {
    let p = piece;
    while (next[p] !== p) p = next[p] = next[next[p]!]!;
    return p;
  };
  let cost = 0;
  let headings = 0;
  let counted = 0;
  let full = false;
  for (const index of ranking) {
    const { from, to, extra } = chunks[index]!;
    const first = free(from);
    if (first >= to) continue; // rule 2
    // A chunk fits if each of its new pieces fits after those before it, so rules 3 and 4 are one walk. Sums beyond 2^53 are
    // rounded, and stay above every budget.
    let p = first;
    let sum = cost + extra;
    while (p < to && sum + tokens[p]! <= budget) {
      sum += tokens[p]!;
      next[p] = p + 1;
      p = free(p + 1);
    }
    if (p > first) {
      cost = sum;
      headings += extra;
      counted++;
    }
    if (p < to) {
      full = true;
      break;
    }
  }
  const context: Run[] = [];
  for (let p = 0; p < pieces; p++) {
    if (next[p] === p) continue;
    const from = p;
    while (next[p] !== p) p++; // the cell after the last piece ends every run
    context.push({ from, to: p });
  }
  return { context, tokens: cost, extra: headings, chunks: counted, full };
}

/**
 * How much of each evidence range lies in the context, and whether that is a hit (rules 6 and 7).
 *
 * @param context ranges that are not empty, in any order; they may overlap
 * @param evidence ranges that are not empty
 * @param minimum how many code points a hit needs, an integer ≥ 1; or half of them, or all
 */
export function cover(context: readonly Range[], evidence: readonly Range[], minimum: number | "half" | "all"): Covered {
  const below = union(context);
  const overlaps = evidence.map(({ start, end }) => below(end) - below(start));
  const hits = overlaps.map((overlap, i) => {
    const length = evidence[i]!.end - evidence[i]!.start;
    if (minimum === "half") return 2 * overlap >= length;
    return overlap >= (minimum === "all" ? length : Math.min(minimum, length));
  });
  return { overlaps, hits };
}

/** A function that tells how many code points of the ranges' union lie before a point. */
function union(ranges: readonly Range[]): (point: number) => number {
  const starts: number[] = [];
  const ends: number[] = [];
  const before: number[] = []; // how many lie in the parts before each
  for (const { start, end } of [...ranges].sort((a, b) => a.start - b.start)) {
    const last = starts.length - 1;
    if (last >= 0 && start <= ends[last]!) ends[last] = Math.max(ends[last]!, end);
    else {
      before.push(last < 0 ? 0 : before[last]! + (ends[last]! - starts[last]!));
      starts.push(start);
      ends.push(end);
    }
  }
  return (point) => {
    const last = firstWhere(0, starts.length, (i) => starts[i]! >= point) - 1; // the last part that starts before the point
    return last < 0 ? 0 : before[last]! + (Math.min(point, ends[last]!) - starts[last]!);
  };
}

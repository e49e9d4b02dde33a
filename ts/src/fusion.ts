/** fusion (spec 11): the order of every ranking, and how a lexical and a dense ranking become one. */

/** A ranking, best first: the passages' indices and their scores. */
export interface Ranked {
  readonly passages: Uint32Array;
  readonly scores: Float64Array;
}

/**
 * The passages by score, descending, equal scores by index, ascending; the first `depth` of them (rule 1).
 *
 * @param scores one for each passage, none NaN
 */
export function order(scores: Float64Array, depth = Infinity): Ranked {
  const n = scores.length;
  const before = (a: number, b: number): number => scores[b]! - scores[a]! || a - b;
  const best = depth * 8 > n ? Uint32Array.from({ length: n }, (_, i) => i) : firstOf(n, depth, before);
  const passages = best.sort(before).subarray(0, Math.min(depth, n));
  return { passages, scores: Float64Array.from(passages, (i) => scores[i]!) };
}

/** The `depth` < n of the indices below n that an order has first, in no order: a heap, the last of the best so far on top. */
function firstOf(n: number, depth: number, before: (a: number, b: number) => number): Uint32Array {
  const best = new Uint32Array(depth);
  let size = 0;
  for (let i = 0; i < n; i++) {
    let at: number;
    if (size < depth) {
      at = size++;
      while (at > 0 && before(best[(at - 1) >> 1]!, i) < 0) {
        best[at] = best[(at - 1) >> 1]!;
        at = (at - 1) >> 1;
      }
    } else if (before(i, best[0]!) < 0) {
      at = 0;
      for (;;) {
        let child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && before(best[child + 1]!, best[child]!) > 0) child++;
        if (before(best[child]!, i) < 0) break;
        best[at] = best[child]!;
        at = child;
      }
    } else continue;
    best[at] = i;
  }
  return best;
}

/**
 * Reciprocal rank fusion of two whole rankings of the same passages (rules 2 and 3).
 *
 * @param k an integer ≥ 0
 * @param pool how many of each ranking count, an integer ≥ 1
 */
export function rrf(bm25: Ranked, dense: Ranked, passages: number, k = 60, pool = 50, depth = Infinity): Ranked {
  const scores = new Float64Array(passages);
  for (const ranking of [bm25, dense])
    for (let r = 1; r <= Math.min(pool, ranking.passages.length); r++) scores[ranking.passages[r - 1]!]! += 1 / (k + r);
  return order(scores, depth);
}

/**
 * The weighted sum of two whole rankings' scores, scaled to 0 … 1 within each pool (rules 2 and 4).
 *
 * @param alpha the dense part, 0 … 1
 * @param pool how many of each ranking count, an integer ≥ 1
 */
export function weighted(bm25: Ranked, dense: Ranked, passages: number, alpha = 0.5, pool = 50, depth = Infinity): Ranked {
  const b = scaled(bm25, passages, pool);
  const d = scaled(dense, passages, pool);
  return order(d.map((value, i) => alpha * value + (1 - alpha) * b[i]!), depth);
}

/** Each passage's score scaled within the pool: 0 for the least, 1 for the greatest, 1 for all if they are equal, 0 outside. */
function scaled(ranking: Ranked, passages: number, pool: number): Float64Array {
  const result = new Float64Array(passages);
  const size = Math.min(pool, ranking.passages.length);
  if (size === 0) return result;
  const hi = ranking.scores[0]!;
  const lo = ranking.scores[size - 1]!;
  for (let i = 0; i < size; i++) result[ranking.passages[i]!] = hi === lo ? 1 : (ranking.scores[i]! - lo) / (hi - lo);
  return result;
}

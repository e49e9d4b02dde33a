/** vectors (spec 09): int8, int4 and binary vectors, their similarities, the dense ranking. All sums are of integers, exact. */
import type { Ranked } from "./fusion.ts";
import { order } from "./fusion.ts";
import { Refusal } from "./records.ts";

/** Vectors of signed bytes, one row after another. */
export interface Matrix {
  /** The number of components of a row. */
  readonly dim: number;
  readonly rows: number;
  /** rows × dim components */
  readonly data: Int8Array;
}

/** How vectors are compared. */
export type Precision = "int8" | "int4" | "binary";

/** A row of a matrix, not copied. */
export function row(matrix: Matrix, index: number): Int8Array {
  return matrix.data.subarray(index * matrix.dim, (index + 1) * matrix.dim);
}

/**
 * A float vector as int8: (v × 127) ÷ m, halves to even (rule 1).
 *
 * @throws Refusal `bad_vectors` if a component leaves binary64 when multiplied by 127
 */
export function int8(vector: ArrayLike<number>): Int8Array {
  const result = new Int8Array(vector.length);
  let m = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i]!;
    if (!Number.isFinite(value * 127)) throw new Refusal("bad_vectors", `component ${i} is too large to be multiplied by 127`);
    m = Math.max(m, Math.abs(value));
  }
  if (m === 0) return result;
  for (let i = 0; i < vector.length; i++) {
    const scaled = (vector[i]! * 127) / m;
    const floor = Math.floor(scaled);
    const rest = scaled - floor;
    result[i] = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
  }
  return result;
}

/** An int8 vector as int4: sign(q)·⌊(14·|q| + 127) ÷ 254⌋ (rule 2). */
export function int4(vector: Int8Array): Int8Array {
  return vector.map((q) => Math.sign(q) * Math.floor((14 * Math.abs(q) + 127) / 254));
}

/** An int8 vector as bits: 1 where q > 0 (rule 3). */
export function binary(vector: Int8Array): Int8Array {
  return vector.map((q) => (q > 0 ? 1 : 0));
}

/** An int8 vector at a precision. */
export function atPrecision(vector: Int8Array, precision: Precision): Int8Array {
  return precision === "int8" ? vector : precision === "int4" ? int4(vector) : binary(vector);
}

/** The cosine of two integer vectors of equal length; +0 if either is all zeros (rule 4). */
export function cosine(a: Int8Array, b: Int8Array): number {
  return quotient(dot(a, b), dot(a, a), dot(b, b));
}

/** The similarity of two vectors of bits that differ in h of d places: (d − 2h) ÷ d (rule 5). */
export function hammingSimilarity(a: Int8Array, b: Int8Array): number {
  let h = 0;
  for (let i = 0; i < a.length; i++) h += a[i]! ^ b[i]!;
  return (a.length - 2 * h) / a.length;
}

/**
 * The ranking of all passages for each query (rule 6), each cut to `depth`.
 *
 * @throws Refusal `bad_vectors` if the matrices differ in `dim`
 */
export function dense(passages: Matrix, queries: Matrix, precision: Precision = "int8", depth = Infinity): Ranked[] {
  if (passages.dim !== queries.dim) throw new Refusal("bad_vectors", `passage vectors have dim ${passages.dim}, query vectors ${queries.dim}`);
  const stored = { ...passages, data: atPrecision(passages.data, precision) };
  const squares = Float64Array.from({ length: passages.rows }, (_, i) => dot(row(stored, i), row(stored, i)));
  return Array.from({ length: queries.rows }, (_, q) => {
    const query = atPrecision(row(queries, q), precision);
    const square = dot(query, query);
    const scores = new Float64Array(passages.rows);
    for (let p = 0; p < scores.length; p++) {
      const passage = row(stored, p);
      scores[p] = precision === "binary" ? hammingSimilarity(passage, query) : quotient(dot(passage, query), squares[p]!, square);
    }
    return order(scores, depth);
  });
}

function quotient(dot: number, aa: number, bb: number): number {
  return dot === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

/** An exact dot product: each block's sum stays within 32 bits, all within 2^53. */
function dot(a: Int8Array, b: Int8Array): number {
  let total = 0;
  for (let from = 0; from < a.length; from += 65536) {
    const to = Math.min(from + 65536, a.length);
    let part = 0;
    for (let i = from; i < to; i++) part = (part + a[i]! * b[i]!) | 0;
    total += part;
  }
  return total;
}

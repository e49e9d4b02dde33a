/**
 * numerics (spec 03): which operations on numbers are allowed, so that two languages get the same last bit.
 *
 * + − × ÷ and Math.sqrt are correctly rounded everywhere; Math.log, Math.exp, Math.pow and ** on doubles are not, and
 * stand nowhere in this engine. What needs more is done exactly, in BigInt.
 */

/** The sum of values from left to right, starting at +0 (rule 2). Neither compensated nor pairwise. */
export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/**
 * The binary64 nearest to the natural logarithm of the exact fraction n/d (rule 3).
 *
 * @param n an integer ≥ 1
 * @param d an integer ≥ 1
 */
export function ln(n: number | bigint, d: number | bigint): number {
  const over = BigInt(n);
  const under = BigInt(d);
  if (over === under) return 0;
  for (let bits = 160; ; bits *= 2) {
    const { value, error } = logarithm(over, under, bits);
    const one = 1n << BigInt(bits);
    if (value - error < 0n !== value + error < 0n) continue; // not even the sign is sure
    const low = ratio(value - error, one);
    if (low === ratio(value + error, one)) return low;
  }
}

/**
 * ln(n/d)·2^bits as an integer, and a bound of its error.
 *
 * n/d = 2^k·m with m within [2/3, 4/3), and ln m = 2·artanh z, z = (m − 1)/(m + 1), |z| ≤ 1/5. So k = 0 near 1, where nothing is
 * cancelled, and elsewhere |ln m| ≤ ln 1.5 < ln 2 ≤ |k ln 2|.
 */
function logarithm(n: bigint, d: bigint, bits: number): { value: bigint; error: bigint } {
  let k = length(n) - length(d);
  let over = k < 0 ? n << BigInt(-k) : n;
  let under = k > 0 ? d << BigInt(k) : d;
  while (3n * over >= 4n * under) {
    under <<= 1n;
    k++;
  }
  while (3n * over < 2n * under) {
    over <<= 1n;
    k--;
  }
  const part = artanh(over - under, over + under, bits);
  const two = artanh(1n, 3n, bits);
  const turns = BigInt(k);
  return { value: 2n * (part.value + turns * two.value), error: 2n * (part.error + (turns < 0n ? -turns : turns) * two.error) };
}

/**
 * artanh(p/q)·2^bits for |p/q| ≤ 1/3, and a bound of its error.
 *
 * Every quotient loses less than one unit. `power` is off by less than 2 units at every step, since its error is multiplied by
 * z² ≤ 1/9 before the next unit is lost; so each term is off by less than 3, and the terms that are left out add less than 3 (the first is below
 * 2 units, each at most a ninth of the one before).
 */
function artanh(p: bigint, q: bigint, bits: number): { value: bigint; error: bigint } {
  const pp = p * p;
  const qq = q * q;
  let power = (p << BigInt(bits)) / q;
  let value = 0n;
  let error = 3n;
  for (let i = 1n; power !== 0n; i += 2n) {
    value += power / i;
    error += 3n;
    power = (power * pp) / qq;
  }
  return { value, error };
}

/** The number of bits of a positive integer. */
function length(value: bigint): number {
  const digits = value.toString(16);
  return (digits.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(digits[0]!, 16)));
}

/**
 * The binary64 nearest to the exact n/d, ties to even (rule 4).
 *
 * @param n an integer
 * @param d an integer ≥ 1
 */
export function ratio(n: number | bigint, d: number | bigint): number {
  // Two doubles that are exact integers: ÷ itself is this function.
  if (typeof n === "number" && typeof d === "number") return n / d;
  let over = BigInt(n);
  let under = BigInt(d);
  if (over === 0n) return 0;
  const negative = over < 0n;
  if (negative) over = -over;
  // over/under = q·2^e with at least three bits of q below the last place that counts, the lowest of them sticky. That place
  // is the 53rd bit, or that of the least subnormal, 2^-1074.
  const e = Math.max(length(over) - length(under) - 56, -1080);
  if (e < 0) over <<= BigInt(-e);
  else under <<= BigInt(e);
  let q = over / under;
  if (q * under !== over) q |= 1n;
  const drop = BigInt(Math.max(length(q) - 53, -1074 - e));
  let kept = q >> drop;
  const rest = q - (kept << drop);
  const half = 1n << (drop - 1n);
  if (rest > half || (rest === half && (kept & 1n) === 1n)) kept += 1n;
  const value = scale(Number(kept), e + Number(drop));
  return negative ? -value : value;
}

/** value·2^e where the result is exact, or beyond binary64: then an infinity. */
function scale(value: number, e: number): number {
  let result = value;
  for (; e > 1000; e -= 1000) result *= two(1000);
  for (; e < -1000; e += 1000) result *= two(-1000);
  return result * two(e);
}

/** 2^e as a double, for −1022 ≤ e ≤ 1023, made from its bits. */
function two(e: number): number {
  view.setUint32(0, (e + 1023) << 20);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}

const view = new DataView(new ArrayBuffer(8));

/** An exact fraction in lowest terms, `d` ≥ 1. */
export interface Fraction {
  readonly n: number;
  readonly d: number;
}

/** n/d in lowest terms. */
export function fraction(n: number, d: number): Fraction {
  let a = n;
  let b = d;
  while (b !== 0) [a, b] = [b, a % b];
  return { n: n / a, d: d / a };
}

/** The mean of fractions: added exactly, divided exactly by their count, rounded once (rule 5). Of none: 0. */
export function mean(values: Iterable<Fraction>): number {
  const numerators = new Map<number, bigint>(); // by denominator, so that few big additions are left
  let count = 0;
  for (const { n, d } of values) {
    numerators.set(d, (numerators.get(d) ?? 0n) + BigInt(n));
    count++;
  }
  if (count === 0) return 0;
  let sums = Array.from(numerators, ([d, n]) => ({ n, d: BigInt(d) }));
  while (sums.length > 1) {
    const next: typeof sums = [];
    for (let i = 0; i < sums.length; i += 2) {
      const [a, b] = [sums[i]!, sums[i + 1]];
      next.push(b === undefined ? a : { n: a.n * b.d + b.n * a.d, d: a.d * b.d });
    }
    sums = next;
  }
  return ratio(sums[0]!.n, sums[0]!.d * BigInt(count));
}

/**
 * A finite double with d decimals: its exact binary value, halves away from zero, no exponent, no sign on zero (rule 6).
 *
 * @param decimals an integer ≥ 0
 */
export function print(value: number, decimals: number): string {
  view.setFloat64(0, value);
  const high = view.getUint32(0);
  const field = (high >>> 20) & 0x7ff;
  const mantissa = (BigInt((high & 0xfffff) | (field === 0 ? 0 : 0x100000)) << 32n) | BigInt(view.getUint32(4));
  const e = Math.max(field, 1) - 1075; // the value is mantissa·2^e
  const scaled = mantissa * 10n ** BigInt(decimals);
  // Twice the value, plus one, halved downward: halves of a magnitude go up.
  const rounded = e >= 0 ? scaled << BigInt(e) : (((scaled << 1n) >> BigInt(-e)) + 1n) >> 1n;
  const digits = rounded.toString().padStart(decimals + 1, "0");
  const sign = high >>> 31 === 1 && rounded !== 0n ? "-" : "";
  return sign + (decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`);
}

/** The index of the nearest-rank percentile p of n values: ⌊(n − 1)·p/100⌋, multiplied before it is divided (rule 7). `of` takes the place of 100. */
export function percentileIndex(n: number, p: number, of = 100): number {
  const product = (n - 1) * p;
  return (product - (product % of)) / of;
}

/** The nearest-rank percentile p (an integer 0 … 100) of values, without the sign of a zero; of none null (rule 7). */
export function percentile(values: ArrayLike<number>, p: number): number | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  return sorted[percentileIndex(sorted.length, p)]! + 0;
}

/** mulberry32 from a 32-bit seed: each call draws the next u in [0, 1) (rule 8). */
export function random(seed: number): () => number {
  let s = seed >>> 0;
  return () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let x = Math.imul(s ^ (s >>> 15), s | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

/** `count` of the indices 0 … population − 1, ascending, by a partial Fisher–Yates shuffle (rule 9). */
export function sample(seed: number, population: number, count: number): Uint32Array {
  const draw = random(seed);
  const all = new Uint32Array(population);
  for (let i = 0; i < population; i++) all[i] = i;
  for (let i = 0; i < count; i++) {
    const j = i + Math.floor(draw() * (population - i));
    const swapped = all[i]!;
    all[i] = all[j]!;
    all[j] = swapped;
  }
  return all.subarray(0, count).sort();
}

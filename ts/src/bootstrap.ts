/** bootstrap (spec 14): how far a difference between two treatments of the same units could be chance. */
import { percentileIndex, random } from "./numerics.ts";
import { Refusal } from "./records.ts";

/** A unit's sum c and count q. */
export type Unit = readonly [c: number, q: number];

/** How sure a difference is. */
export interface Bootstrap {
  /** rate(treatment) − rate(baseline) of all units. */
  readonly difference: number;
  /** Where the middle 95 % of the resamples' differences lie. */
  readonly interval: readonly [number, number];
  readonly p: number;
  /** How many resamples' differences are ≤ 0. */
  readonly atMostZero: number;
  /** How many are ≥ 0. */
  readonly atLeastZero: number;
}

/**
 * A paired bootstrap of the difference of two rates Σc ÷ Σq (rules 1 to 4).
 *
 * @param treatment at least one unit: c finite and ≥ 0, q an integer ≥ 0
 * @param baseline the same units in the same order
 * @param resamples an integer ≥ 1
 * @param seed an integer 0 … 2^32 − 1
 * @throws Refusal `bad_setting` if a sum grows beyond binary64, so that a difference is not finite
 */
export function bootstrap(treatment: readonly Unit[], baseline: readonly Unit[], resamples = 10_000, seed = 1): Bootstrap {
  const n = treatment.length;
  const units = new Float64Array(4 * n); // c and q of the treatment, c and q of the baseline
  for (let i = 0; i < n; i++) {
    units.set(treatment[i]!, 4 * i);
    units.set(baseline[i]!, 4 * i + 2);
  }
  const difference = differenceOf(units, n, (i) => i);
  const draw = random(seed);
  const differences = new Float64Array(resamples);
  const drawn = (): number => Math.floor(draw() * n);
  let atMostZero = 0;
  let atLeastZero = 0;
  for (let r = 0; r < resamples; r++) {
    const value = differenceOf(units, n, drawn);
    differences[r] = value;
    if (value <= 0) atMostZero++;
    if (value >= 0) atLeastZero++;
  }
  differences.sort();
  const at = (permille: number): number => differences[percentileIndex(resamples, permille, 1000)]!;
  const p = Math.min(1, (2 * (1 + Math.min(atMostZero, atLeastZero))) / (resamples + 1));
  return { difference, interval: [at(25), at(975)], p, atMostZero, atLeastZero };
}

/** The difference of the rates of n units, in the order in which `next` names them (rule 1). */
function differenceOf(units: Float64Array, n: number, next: (i: number) => number): number {
  let [treatedC, treatedQ, baseC, baseQ] = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const at = 4 * next(i);
    treatedC += units[at]!;
    treatedQ += units[at + 1]!;
    baseC += units[at + 2]!;
    baseQ += units[at + 3]!;
  }
  const value = rate(treatedC, treatedQ) - rate(baseC, baseQ);
  if (!Number.isFinite(value)) throw new Refusal("bad_setting", "a difference is not finite");
  return value;
}

function rate(c: number, q: number): number {
  return q === 0 ? 0 : c / q;
}

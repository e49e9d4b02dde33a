import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Unit } from "../src/bootstrap.ts";
import { bootstrap } from "../src/bootstrap.ts";
import { random, sum } from "../src/numerics.ts";
import { ask } from "./help.ts";

const rate = (units: readonly Unit[]): number => {
  const q = sum(units.map((unit) => unit[1]));
  return q === 0 ? 0 : sum(units.map((unit) => unit[0])) / q;
};

/** The rules as they are written: each resample a list of units. */
function plain(treatment: readonly Unit[], baseline: readonly Unit[], resamples: number, seed: number): ReturnType<typeof bootstrap> {
  const draw = random(seed);
  const differences = Array.from({ length: resamples }, () => {
    const drawn = treatment.map(() => Math.floor(draw() * treatment.length));
    return rate(drawn.map((j) => treatment[j]!)) - rate(drawn.map((j) => baseline[j]!));
  });
  const [L, G] = [differences.filter((d) => d <= 0).length, differences.filter((d) => d >= 0).length];
  const sorted = differences.sort((a, b) => a - b);
  const at = (permille: bigint): number => sorted[Number((BigInt(resamples - 1) * permille) / 1000n)]!;
  return { difference: rate(treatment) - rate(baseline), interval: [at(25n), at(975n)], p: Math.min(1, (2 * (1 + Math.min(L, G))) / (resamples + 1)), atMostZero: L, atLeastZero: G };
}

describe("bootstrap", () => {
  test("of one unit has one value", () => {
    expect(bootstrap([[1, 2]], [[1, 4]])).toEqual({ difference: 0.25, interval: [0.25, 0.25], p: 2 / 10001, atMostZero: 0, atLeastZero: 10000 });
    expect(bootstrap([[1, 4]], [[1, 2]], 99)).toEqual({ difference: -0.25, interval: [-0.25, -0.25], p: 0.02, atMostZero: 99, atLeastZero: 0 });
    expect(bootstrap([[1, 4]], [[1, 2]], 1).p).toBe(1); // 2 ÷ 2
  });
  test("of equal treatments is 0, and p is 1", () => {
    const found = bootstrap([[1, 2], [0, 3]], [[1, 2], [0, 3]], 50, 7);
    expect(found).toEqual({ difference: 0, interval: [0, 0], p: 1, atMostZero: 50, atLeastZero: 50 });
    expect(Object.is(found.difference, 0)).toBe(true);
  });
  test("follows the stream from resample to resample (rule 2)", () => {
    // With seed 1 the draws of two units are 1 0, then 1 1.
    const draw = random(1);
    expect(Array.from({ length: 4 }, () => Math.floor(draw() * 2))).toEqual([1, 0, 1, 1]);
    expect(bootstrap([[0, 1], [1, 1]], [[0, 1], [0, 1]], 2)).toEqual({ difference: 0.5, interval: [0.5, 0.5], p: 2 / 3, atMostZero: 0, atLeastZero: 2 });
    expect(bootstrap([[1, 1], [0, 1]], [[0, 1], [0, 1]], 2)).toEqual({ difference: 0.5, interval: [0, 0], p: 1, atMostZero: 1, atLeastZero: 2 });
  });
  test("without counts a rate is 0", () => {
    expect(bootstrap([[5, 0]], [[1, 4]], 9).difference).toBe(-0.25);
    expect(bootstrap([[5, 0]], [[7, 0]], 9)).toMatchObject({ difference: 0, p: 1 });
  });
  test("sums go in the order of the units", () => {
    expect(bootstrap([[1e16, 1], [1, 1], [1, 1]], [[1, 1], [1, 1], [1e16, 1]], 1).difference).toBe(1e16 / 3 - (1e16 + 2) / 3);
  });
  test("refuses what is not finite, in whichever resample", () => {
    expect(() => bootstrap([[1e308, 1], [0, 1]], [[0, 1], [0, 1]], 100)).toThrow("not finite");
    expect(() => bootstrap([[1e308, 1], [1e308, 1]], [[1e308, 1], [1e308, 1]], 1)).toThrow("not finite"); // ∞ − ∞
    expect(bootstrap([[1e308, 0], [1e308, 0]], [[0, 1], [0, 1]], 9).difference).toBe(0); // no counts: 0
  });
  test("is what the rules do list by list", () => {
    const unit = fc.tuple(fc.oneof(fc.nat(3), fc.double({ min: 0, max: 5, noNaN: true })), fc.nat(4));
    const pairs = fc.array(fc.tuple(unit, unit), { minLength: 1, maxLength: 12 });
    fc.assert(fc.property(pairs, fc.integer({ min: 1, max: 120 }), fc.integer({ min: 0, max: 4294967295 }), (units, resamples, seed) => {
      const [treatment, baseline] = [units.map(([t]) => t), units.map(([, b]) => b)];
      const found = bootstrap(treatment, baseline, resamples, seed);
      expect(found).toEqual(plain(treatment, baseline, resamples, seed));
      expect(found.p > 0 && found.p <= 1 && found.interval[0] <= found.interval[1] && found.atMostZero + found.atLeastZero >= resamples).toBe(true);
    }), { numRuns: 300 });
  });
  test("turned round has the same p, and the interval of the other sign but for the ranks", () => {
    const units = fc.array(fc.tuple(fc.nat(9), fc.nat(9), fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 9 });
    fc.assert(fc.property(units, (units) => {
      const [a, b] = [units.map(([c, , q]): Unit => [c, q]), units.map(([, c, q]): Unit => [c, q])];
      const [there, back] = [bootstrap(a, b, 81), bootstrap(b, a, 81)]; // 81 resamples: ranks 2 and 78, from either end
      expect([back.difference + there.difference, back.interval[0] + there.interval[1], back.interval[1] + there.interval[0]]).toEqual([0, 0, 0]);
      expect([back.p, back.atMostZero]).toEqual([there.p, there.atLeastZero]);
    }));
  });
  test("10,000 resamples of 300 units take well under a second", () => {
    const units = Array.from({ length: 300 }, (_, i): Unit => [(i * 7) % 5, 5]);
    const start = performance.now();
    bootstrap(units, [...units].reverse());
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("requests", () => {
  const request = (fields: object) => ({ op: "bootstrap", treatment: [[1, 2]], baseline: [[0.5, 2]], ...fields });
  test("are answered, with 10,000 resamples and seed 1 if none are named", () => {
    expect(ask(request({}))).toEqual({ difference: "3fd0000000000000", interval: ["3fd0000000000000", "3fd0000000000000"], p: "3f2a3637230afb37", at_most_zero: 0, at_least_zero: 10000 });
    const units = { treatment: [[1, 2], [0, 3], [5, 7]], baseline: [[0, 2], [1, 3], [4, 7]] };
    expect(ask(request(units))).toEqual(ask(request({ ...units, resamples: 10000, seed: 1 })));
    expect(ask(request(units))).not.toEqual(ask(request({ ...units, seed: 4294967295 })));
  });
  test.each<[string, object]>([
    ["lists of unequal length", request({ baseline: [[1, 2], [1, 2]] })], ["no units", request({ treatment: [], baseline: [] })], ["a unit of one number", request({ treatment: [[1]] })], ["of three", request({ treatment: [[1, 2, 3]] })],
    ["a unit that is an object", request({ treatment: [{ c: 1, q: 2 }] })], ["a count of 1.5", request({ treatment: [[1, 1.5]] })], ["a negative count", request({ treatment: [[1, -1]] })], ["a negative sum", request({ baseline: [[-0.5, 1]] })],
    ["a text", request({ baseline: [["1", 1]] })], ["null for a default", request({ seed: null })], ["a number of resamples that is none", request({ resamples: "10" })],
    ["no units beside 0 resamples", request({ treatment: [], baseline: [], resamples: 0 })], ["a negative sum beside seed −1", request({ treatment: [[-1, 1]], seed: -1 })],
  ])("bad_request: %s", (_, fields) => expect(ask(fields)).toBe("bad_request"));
  test.each<[string, object]>([
    ["0 resamples", request({ resamples: 0 })], ["1,000,001 resamples", request({ resamples: 1_000_001 })], ["seed −1", request({ seed: -1 })], ["seed 2^32", request({ seed: 4294967296 })],
    ["what is not finite", request({ treatment: [[1e308, 1], [1e308, 1]], baseline: [[0, 1], [0, 1]] })],
  ])("bad_setting: %s", (_, fields) => expect(ask(fields)).toBe("bad_setting"));
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fraction, ln, mean, percentile, percentileIndex, print, random, ratio, sample, sum } from "../src/numerics.ts";

describe("sum (rule 2)", () => {
  test("goes from left to right, without compensation", () => {
    expect(sum([1e16, 1, -1e16])).toBe(0);
    expect(sum(Array<number>(10).fill(0.1))).toBe(0.9999999999999999);
  });
  test("of nothing, and of −0, is +0", () => {
    expect(Object.is(sum([]), 0)).toBe(true);
    expect(Object.is(sum([-0]), 0)).toBe(true);
  });
});

describe("ln (rule 3)", () => {
  test("is that of the exact fraction, not of its quotient", () => {
    // 156/19 is (2·77 + 2)/(2·9 + 1); ln of its nearest double is the next one, 2.105417028083097.
    expect(ln(156, 19)).toBe(2.1054170280830964);
  });
  test.each([
    [2, 1, 0.6931471805599453], // Math.LN2
    [10, 1, 2.302585092994046], // Math.LN10
    [1, 10, -2.302585092994046],
    [3, 1, 1.0986122886681098],
    [1, 1, 0],
    [7, 7, 0],
  ])("of %i/%i is %f", (n, d, value) => expect(ln(n, d)).toBe(value));
  test("keeps all its bits next to 1", () => {
    // ln(1 + x) = x − x²/2 + …, and here x²/2 lies far below the last bit.
    expect(ln(2 ** 53 - 1, 2 ** 53 - 2)).toBe(ratio(1n << 54n, (1n << 54n) * (2n ** 53n - 2n) + (1n << 53n)));
    expect(ln(2 ** 53 - 2, 2 ** 53 - 1)).toBe(-ln(2 ** 53 - 1, 2 ** 53 - 2));
  });
  test("is never further from Math.log than its own error", () => {
    const integer = fc.integer({ min: 1, max: 2 ** 40 });
    fc.assert(fc.property(integer, integer, (n, d) => {
      const [ours, theirs] = [ln(n, d), Math.log(n / d)];
      expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(4 * Number.EPSILON * Math.max(Math.abs(theirs), 1));
    }));
  });
});

describe("ratio (rule 4)", () => {
  test("of big integers is that of doubles where these are exact", () => {
    const integer = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(fc.property(integer, fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (n, d) => void expect(ratio(BigInt(n), BigInt(d))).toBe(n / d)));
  });
  test("of any double's exact value is that double", () => {
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const [whole = "", decimals = ""] = print(Math.abs(value), 1100).split(".");
      expect(ratio(BigInt(whole + decimals), 10n ** 1100n)).toBe(Math.abs(value));
    }));
  });
  test("takes ties to even", () => {
    expect(ratio(2n ** 53n + 1n, 1n)).toBe(2 ** 53);
    expect(ratio(2n ** 53n + 3n, 1n)).toBe(2 ** 53 + 4);
    expect(ratio((2n ** 53n + 1n) * 3n + 1n, 3n)).toBe(2 ** 53 + 2); // a third above the tie
    expect(ratio(1n, 2n ** 1075n)).toBe(0);
    expect(ratio(3n, 2n ** 1076n)).toBe(Number.MIN_VALUE);
  });
});

test("mean (rule 5) adds exactly and rounds once", () => {
  expect(mean([])).toBe(0);
  expect(mean([fraction(1, 3), fraction(1, 3), fraction(1, 3)])).toBe(1 / 3);
  // 1/10 + 2/10 is 3/10, which doubles miss: 0.30000000000000004.
  expect(mean([fraction(1, 10), fraction(2, 10)])).toBe(0.15);
  expect(fraction(4, 8)).toEqual({ n: 1, d: 2 });
  expect(fraction(0, 8)).toEqual({ n: 0, d: 1 });
});

describe("print (rule 6)", () => {
  test.each([
    [0.5, 0, "1"], [-0.5, 0, "-1"], [1.5, 0, "2"], [2.5, 0, "3"], [-0.4, 0, "0"], [0, 2, "0.00"], [-0, 0, "0"],
    [1.005, 2, "1.00"], [0.125, 2, "0.13"], [1e21, 0, "1000000000000000000000"], [5e-324, 3, "0.000"], [-0.001, 2, "0.00"],
    [0.1, 20, "0.10000000000000000555"],
  ])("%f with %i decimals is %s", (value, decimals, text) => expect(print(value, decimals)).toBe(text));
  test("agrees with toFixed, which takes the exact value too", () => {
    fc.assert(fc.property(fc.double({ min: -1e20, max: 1e20, noNaN: true }), fc.integer({ min: 0, max: 100 }), (value, decimals) =>
      void expect(print(value, decimals)).toBe(value.toFixed(decimals).replace(/^-(0(\.0*)?)$/, "$1"))));
  });
});

describe("percentile (rule 7)", () => {
  test.each([[101, 29, 29], [101, 57, 57], [101, 58, 58], [51, 58, 29], [1, 100, 0], [4, 25, 0], [5, 25, 1]])("of %i values, percentile %i is at index %i", (n, p, index) =>
    expect(percentileIndex(n, p)).toBe(index));
  test("sorts as numbers, and drops the sign of zero", () => {
    expect(percentile([10, 9, -1], 100)).toBe(10);
    expect(Object.is(percentile([-0], 50), 0)).toBe(true);
    expect(percentile([], 50)).toBeNull();
  });
});

test("random (rule 8) is mulberry32", () => {
  const draw = random(0);
  expect([draw(), draw(), draw()].map((u) => u * 2 ** 32)).toEqual([1144304738, 1416247, 958946056]);
  const other = random(4294967295);
  fc.assert(fc.property(fc.constant(null), () => other() < 1));
});

test("sample (rule 9) is ascending and without repetition", () => {
  expect(Array.from(sample(23, 5, 0))).toEqual([]);
  expect(Array.from(sample(23, 5, 5))).toEqual([0, 1, 2, 3, 4]);
  fc.assert(fc.property(fc.nat(100), fc.nat(50), fc.nat(50), (seed, a, b) => {
    const found = Array.from(sample(seed, a + b, a));
    expect(new Set(found).size).toBe(a);
    expect([...found].sort((x, y) => x - y)).toEqual(found);
  }));
});

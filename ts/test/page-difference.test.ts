import { expect, test } from "vitest";
import { ABSENT, ANSWERED, atPath, excerpt, firstDifference, fraction, quoted, same, shownAt, shownDouble, shownPath, ulps, valueLines, visible } from "../page/difference.ts";
import type { Json } from "../page/protocol.ts";

const path = (one: Json, other: Json): string => shownPath(firstDifference(one, other));

test("the first difference is in reading order: start, end, tokens", () => {
  const chunks = (end: number, tokens: number): Json => ({ ok: { chunks: [{ end: 5, start: 0, tokens: 1 }, { end, start: 5, tokens }] } });
  expect(path(chunks(9, 2), chunks(8, 3))).toBe("ok.chunks[1].end");
  expect(path(chunks(9, 2), chunks(9, 3))).toBe("ok.chunks[1].tokens");
  expect(path([1, 2], [1, 2, 3])).toBe("[2]");
  expect(path({ ok: {} }, { error: { code: "bad_text" } })).toBe("error");
  expect(path({ mean: { "recall@1": "0", "a-b": 1 } }, { mean: { "recall@1": "1", "a-b": 1 } })).toBe("mean.recall@1");
  expect(path({ "a-b": 1 }, { "a-b": 2 })).toBe("['a-b']");
  expect(shownPath([])).toBe("the whole reply");
});

test("keys may stand in any order, items may not", () => {
  expect(same({ a: 1, b: [null, "x"] }, { b: [null, "x"], a: 1 })).toBe(true);
  expect(same([1, 2], [2, 1])).toBe(false);
  expect(same({ a: 1 }, { b: 1 })).toBe(false);
  expect(same({}, [])).toBe(false);
});

test("a value at a path is said in words where one side gave an error", () => {
  const answered: Json = { ok: { chunks: [] } };
  const refused: Json = { error: { code: "bad_setting" } };
  expect(shownAt(answered, ["error"])).toBe(ANSWERED);
  expect(shownAt(refused, ["ok", "chunks"])).toBe("(the error bad_setting)");
  expect(atPath(answered, ["ok", "chunks", 0])).toBe(ABSENT);
  expect(atPath(answered, ["toString"])).toBe(ABSENT);
});

test.each([
  [0.1, "0.10000000000000001"], [1 / 3, "0.33333333333333331"], [0.45, "0.45000000000000001"], [1e-5, "1.0000000000000001e-05"], [0.0001, "0.0001"],
  [1e22, "1e+22"], [1e16, "10000000000000000"], [1e17, "1e+17"], [123456789.125, "123456789.125"], [100, "100"], [-2.5, "-2.5"], [0, "0"],
  [5e-324, "4.9406564584124654e-324"], [Number.MAX_VALUE, "1.7976931348623157e+308"],
])("%d has seventeen digits as Python writes them", (value, text) => expect(shownDouble(value)).toBe(text));

test("doubles are shown with their decimal and their distance, fractions with their decimal", () => {
  expect(valueLines([["golden", "3f7f7af702ff1fb0"], ["browser", "3f7f7af702ff1fbd"]])).toEqual([
    "  golden     3f7f7af702ff1fb0   0.0076856278319112209",
    "  browser    3f7f7af702ff1fbd   0.0076856278319112322   +13 ulp",
  ]);
  expect(ulps("8000000000000001", "0000000000000001")).toBe(2n); // over zero
  expect(valueLines([["golden", "1/3"], ["browser", "1/2"]])[0]).toBe("  golden     1/3   0.33333333333333331");
  expect([fraction("1/0"), fraction("a/b"), fraction(3)]).toEqual([null, null, null]);
});

test("long values are cut, others are JSON with keys in order", () => {
  const [table, long] = valueLines([["golden", { b: [1, "é"], a: null }], ["browser", "x".repeat(1400)]]);
  expect(table).toBe('  golden     {"a": null, "b": [1, "é"]}');
  expect(long).toBe(`  browser    ${"x".repeat(100)}… (1,400 characters)`);
});

test("an excerpt marks both boundaries, in code points, and obeys no control character", () => {
  expect(excerpt("The sea is calm today.", 8, 8)).toBe("The sea │is calm today.");
  expect(excerpt("a\n𝒳b\u202ec", 5, 2)).toBe("a↵┃𝒳b<U+202E>│c");
  expect(excerpt("x".repeat(200), 50, 60)).toBe(`…${"x".repeat(40)}│${"x".repeat(10)}┃${"x".repeat(40)}…`);
  expect(visible("a\t\u00a0\u200b b")).toBe("a␉<U+00A0><U+200B> b");
});

test("a command's words come back out of a shell as they were", () => {
  expect(["fixed-128/dense precision=binary", "it's", "a=1", "", "é"].map(quoted)).toEqual(["'fixed-128/dense precision=binary'", `'it'"'"'s'`, "a=1", "''", "'é'"]);
});

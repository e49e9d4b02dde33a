import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { idf, rank as bm25, scores, index, terms } from "../src/bm25.ts";
import { order, rrf, weighted } from "../src/fusion.ts";
import { binary, cosine, dense, hammingSimilarity, int4, int8 } from "../src/vectors.ts";
import { Refusal } from "../src/records.ts";

describe("vectors", () => {
  test.each([
    [[127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 63.5], [127, 0, 2, 2, 0, -2, -2, 64]],
    [[46, 23], [127, 64]], // v × (127 ÷ m) would give 63
    [[94, -47], [127, -64]],
    [[0, -0], [0, 0]],
    [[-1e-320, 5e-321], [-127, 64]],
  ])("int8 of %j", (from, to) => {
    const found = Array.from(int8(from));
    expect(found).toEqual(to);
    expect(found.some((q) => Object.is(q, -0))).toBe(false);
  });
  test("int8 refuses what leaves binary64", () => expect(() => int8([1e307])).toThrow(Refusal));
  test("int4 and binary are made from int8", () => {
    expect(Array.from(int4(Int8Array.of(127, -127, -128, 9, 10, -9, -10, 0)))).toEqual([7, -7, -7, 0, 1, 0, -1, 0]);
    expect(Array.from(binary(Int8Array.of(1, 0, -1, 127)))).toEqual([1, 0, 0, 1]);
  });
  test("int4 rounds |q|·7/127 to nearest", () => {
    for (let q = -127; q <= 127; q++) expect(int4(Int8Array.of(q))[0]).toBe(Math.sign(q) * Math.round((Math.abs(q) * 7) / 127) + 0);
  });
  test("cosine of a zero vector, or of vectors at right angles, is +0", () => {
    expect(Object.is(cosine(Int8Array.of(0, 0), Int8Array.of(1, 2)), 0)).toBe(true);
    expect(Object.is(cosine(Int8Array.of(-1, 1), Int8Array.of(1, 1)), 0)).toBe(true);
    expect(cosine(Int8Array.of(3, 4), Int8Array.of(4, 3))).toBe(24 / 25);
  });
  test("dot products of long vectors stay exact", () => {
    const long = new Int8Array(1_000_000).fill(-128);
    expect(cosine(long, long)).toBe(1);
  });
  test("Hamming similarity is (d − 2h) ÷ d", () => expect(hammingSimilarity(Int8Array.of(1, 0, 1), Int8Array.of(1, 1, 1))).toBe(1 / 3));
  test("the dense ranking orders equal scores by index", () => {
    const passages = { dim: 3, rows: 4, data: Int8Array.of(0, 0, 0, 127, 0, 0, -127, 0, 0, 0, 0, 0) };
    const [one, zero] = dense(passages, { dim: 3, rows: 2, data: Int8Array.of(127, 0, 0, 0, 0, 0) });
    expect([...one!.passages]).toEqual([1, 0, 3, 2]);
    expect([...one!.scores]).toEqual([1, 0, 0, -1]);
    expect([...zero!.passages]).toEqual([0, 1, 2, 3]);
  });
});

describe("bm25", () => {
  test("terms are runs of letters and numbers, lower-cased by themselves", () => {
    expect(terms("Zürich's ½ x² Ⅷ １２ 東京_ok e\u0301t naïve O'Neil")).toEqual(["zürich", "s", "½", "x²", "ⅷ", "１２", "東京", "ok", "e", "t", "naïve", "o", "neil"]);
    expect(terms("The cat AND a hat, in THEIR house")).toEqual(["cat", "hat", "house"]);
    expect(terms("")).toEqual([]);
    expect(terms("\u{10400}x")).toEqual(["\u{10428}x"]);
  });
  test("lower case is Unicode's full default mapping", () => {
    // U+0130 becomes i and a dot, a mark that the run keeps.
    expect(terms("İX")).toEqual(["i\u0307x"]);
    expect(terms("ΣΑΣ ΟΔΟΣ Σ ΑΣ1 ΑΣʰΑ ΑʰΣ ΣΣ")).toEqual(["σας", "οδος", "σ", "ας1", "ασʰα", "αʰς", "σς"]);
  });
  test("sigma is final as the runtime has it, within a run", () => {
    fc.assert(fc.property(fc.array(fc.constantFrom("Σ", "Α", "ʰ", "1", "東", "ª", "ͺ", "σ")).map((parts) => parts.join("")), (run) =>
      void expect(terms(run)).toEqual(run === "" ? [] : [run.toLowerCase()])));
  });
  test("idf stays positive up to df = N", () => {
    expect(idf(4, 2)).toBe(Math.LN2);
    for (let n = 1; n < 30; n++) expect(idf(n, n)).toBeGreaterThan(0);
  });
  test("a term in half of the passages still counts", () => {
    const [ranking] = bm25(["north wind", "north star", "south wind sea", "calm sea"], ["North"]);
    expect([...ranking!.passages]).toEqual([0, 1, 2, 3]);
    expect(Array.from(ranking!.scores, (score) => score.toFixed(6))).toEqual(["0.726154", "0.726154", "0.000000", "0.000000"]);
  });
  test("nothing divides by zero", () => {
    expect(bm25([], ["sea"]).map(({ passages }) => [...passages])).toEqual([[]]);
    expect([...bm25(["the of", "...", "!"], ["sea"])[0]!.scores]).toEqual([0, 0, 0]);
    expect([...bm25(["calm sea"], ["the of and"])[0]!.scores]).toEqual([0]);
    expect([...bm25(["calm sea", ""], ["sea"], 0, 0)[0]!.passages]).toEqual([0, 1]);
  });
  test("refuses a score that is not finite", () => expect(() => bm25(["sea sea"], ["sea"], 1e308, 0.75)).toThrow(Refusal));
  test("is its formula, in its order of operations", () => {
    const word = fc.constantFrom("sea", "wind", "calm", "star", "north", "the");
    const passage = fc.array(word, { maxLength: 8 }).map((words) => words.join(" "));
    fc.assert(fc.property(fc.array(passage, { minLength: 1, maxLength: 6 }), passage, (passages, query) => {
      const all = passages.map(terms);
      const average = all.flat().length / passages.length;
      const wanted = all.map((own) => {
        let score = 0;
        for (const term of new Set(terms(query))) {
          const tf = own.filter((other) => other === term).length;
          const df = all.filter((others) => others.includes(term)).length;
          if (tf > 0) score += (idf(passages.length, df) * (tf * (1.2 + 1))) / (tf + 1.2 * (1 - 0.75 + (0.75 * own.length) / average));
        }
        return score;
      });
      expect([...scores(index(passages), query)]).toEqual(wanted);
    }));
  });
});

describe("fusion", () => {
  const ranked = (passages: number[], values: number[] = passages.map((_, i) => -i)) => ({ passages: Uint32Array.from(passages), scores: Float64Array.from(values) });

  test("orders by score, then index, the same however much is cut off", () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 120 }), fc.integer({ min: 1, max: 130 }), (values, depth) => {
      const wanted = values.map((score, i) => ({ score, i })).sort((a, b) => b.score - a.score || a.i - b.i).slice(0, depth);
      const found = order(Float64Array.from(values), depth);
      expect([...found.passages]).toEqual(wanted.map(({ i }) => i));
      expect([...found.scores]).toEqual(wanted.map(({ score }) => score));
    }));
  });
  test("RRF counts ranks from 1, and adds nothing for what is missing", () => {
    const found = rrf(ranked([0, 1, 2]), ranked([3, 2, 4]), 6);
    expect([...found.passages]).toEqual([2, 0, 3, 1, 4, 5]);
    expect([...found.scores]).toEqual([1 / 63 + 1 / 62, 1 / 61, 1 / 61, 1 / 62, 1 / 63, 0]);
    expect(rrf(ranked([0]), ranked([0]), 1, 0).scores[0]).toBe(2);
  });
  test("only the pool counts", () => expect([...rrf(ranked([0, 1]), ranked([1, 0]), 2, 60, 1).scores]).toEqual([1 / 61, 1 / 61]));
  test("weighted scales each pool by its least and greatest score", () => {
    const found = weighted(ranked([0, 1, 2], [4, 2, 0]), ranked([2, 1, 0], [1, 1, 1]), 4, 0.25);
    expect([...found.passages]).toEqual([0, 1, 2, 3]);
    expect([...found.scores]).toEqual([1, 0.25 + 0.75 * 0.5, 0.25, 0]);
    expect([...weighted(ranked([]), ranked([]), 0).scores]).toEqual([]);
  });
});

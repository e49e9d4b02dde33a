import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ratio } from "../src/numerics.ts";
import { evaluate, ndcg, recall, reciprocalRank, relevant } from "../src/metrics.ts";

const span = (start: number, end: number, document = 0) => ({ document, start, end });

describe("relevant (rule 1)", () => {
  test("is what holds the whole answer", () => {
    const passages = [span(0, 25), span(25, 47), span(47, 72), span(20, 54), span(47, 72, 1)];
    expect(relevant(passages, [span(54, 55), span(50, 54), span(20, 48), span(54, 55, 2)])).toEqual([[2], [2, 3], [3], []]);
  });
  test("is what looking at every passage finds", () => {
    const spans = fc.array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 12 }), fc.nat(1)).map(([start, length, document]) => span(start, start + length, document)), { maxLength: 30 });
    fc.assert(fc.property(spans, spans, (passages, answers) => {
      expect(relevant(passages, answers)).toEqual(
        answers.map((answer) => passages.flatMap((p, i) => (p.document === answer.document && p.start <= answer.start && answer.end <= p.end ? [i] : []))));
    }));
  });
});

describe("one question", () => {
  test("recall divides by all that is relevant (rule 3)", () => {
    expect(recall([5, 6, 7, 8], [5, 6, 7, 0, 8], [1, 3, 5]).map(({ n, d }) => `${n}/${d}`)).toEqual(["1/4", "3/4", "1/1"]);
    expect(recall([0, 1], [4, 0, 3, 1, 2], [5, 3]).map(({ n, d }) => `${n}/${d}`)).toEqual(["1/1", "1/2"]);
    expect(recall([], [1], [1])).toEqual([{ n: 0, d: 1 }]);
  });
  test("what stands at rank 11 does not count at 10 (rule 4)", () => {
    const ranking = [...Array(12).keys()];
    expect(reciprocalRank([10], ranking)).toEqual({ n: 0, d: 1 });
    expect(reciprocalRank([9, 10], ranking)).toEqual({ n: 1, d: 10 });
    expect(ndcg([10], ranking)).toBe(0);
  });
  test("the ideal is cut at 10 (rule 5)", () => {
    const all = [...Array(12).keys()];
    expect(ndcg(all, all)).toBe(1);
    expect(ndcg([1], [0, 1])).toBe(0.6309297535714574);
    expect(ndcg([], [0])).toBe(0);
  });
});

test("means count lost questions (rules 2 and 6)", () => {
  const found = evaluate([span(0, 10), span(10, 20)], [span(1, 2), span(9, 11), span(11, 12), span(11, 12), span(1, 2)], [[0, 1], [1, 0], [0, 1], [1, 0], []], [1]);
  expect(found.lost).toEqual([1]);
  expect([found.recall, found.reciprocalRank]).toEqual([[0.4], 0.5]);
  expect(evaluate([], [], [])).toEqual({ lost: [], questions: [], recall: [0, 0, 0, 0, 0], reciprocalRank: 0, ndcg: 0 });
});

test("mean recall is exact", () => {
  const passages = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 12 })).map(([start, length]) => span(start, start + length)), { minLength: 1, maxLength: 9 });
  const answers = fc.array(fc.tuple(fc.nat(8), fc.integer({ min: 1, max: 4 })).map(([start, length]) => span(start, start + length)), { minLength: 1, maxLength: 9 });
  fc.assert(fc.property(passages, answers, (passages, answers) => {
    const ranking = passages.map((_, i) => i);
    const found = evaluate(passages, answers, answers.map(() => ranking), [2]);
    let [n, d] = [0n, 1n];
    for (const answer of answers) {
      const R = relevant(passages, [answer])[0]!;
      if (R.length > 0) [n, d] = [n * BigInt(R.length) + BigInt(R.filter((i) => i < 2).length) * d, d * BigInt(R.length)];
    }
    expect(found.recall).toEqual([ratio(n, d * BigInt(answers.length))]);
  }));
});

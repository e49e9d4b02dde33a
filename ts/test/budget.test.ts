import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Headed } from "../src/budget.ts";
import { cover, fill } from "../src/budget.ts";
import { ask } from "./help.ts";

const run = (from: number, to: number, extra = 0): Headed => ({ from, to, extra });

/** A result as `0-3 5-6, 9 tokens, 2 extra, 1 chunk` and `full`. */
function brief({ context, tokens, extra, chunks, full }: ReturnType<typeof fill>): string {
  return `${context.map(({ from, to }) => `${from}-${to}`).join(" ")}, ${tokens} tokens, ${extra} extra, ${chunks} chunks${full ? ", full" : ""}`;
}

/** The rules as they are written: a set of pieces, every run looked through. */
function plain(tokens: number[], chunks: Headed[], ranking: number[], budget: number): { held: number[]; cost: number; extra: number; counted: number; full: boolean } {
  const held = new Set<number>();
  let [cost, paid, counted] = [0, 0, 0];
  const done = (full: boolean) => ({ held: [...held].sort((a, b) => a - b), cost, extra: paid, counted, full });
  for (const index of ranking) {
    const { from, to, extra } = chunks[index]!;
    const fresh = tokens.map((_, p) => p).filter((p) => from <= p && p < to && !held.has(p));
    if (fresh.length === 0) continue;
    const whole = extra + fresh.reduce((sum, p) => sum + tokens[p]!, 0);
    if (cost + whole <= budget) {
      for (const p of fresh) held.add(p);
      [cost, paid, counted] = [cost + whole, paid + extra, counted + 1];
      continue;
    }
    if (cost + extra + tokens[fresh[0]!]! <= budget) {
      [cost, paid, counted] = [cost + extra, paid + extra, counted + 1];
      for (const p of fresh) {
        if (cost + tokens[p]! > budget) break;
        held.add(p);
        cost += tokens[p]!;
      }
    }
    return done(true);
  }
  return done(false);
}

describe("fill", () => {
  test("whole chunks, and the one that does not fit up to where it does (rules 3 and 4)", () => {
    const tokens = [2, 3, 4, 1];
    const chunks = [run(0, 2), run(2, 4)];
    expect(brief(fill(tokens, chunks, [0, 1], 4))).toBe("0-1, 2 tokens, 0 extra, 1 chunks, full");
    expect(brief(fill(tokens, chunks, [0, 1], 5))).toBe("0-2, 5 tokens, 0 extra, 1 chunks, full");
    expect(brief(fill(tokens, chunks, [0, 1], 9))).toBe("0-3, 9 tokens, 0 extra, 2 chunks, full");
    expect(brief(fill(tokens, chunks, [1, 0], 7))).toBe("0-1 2-4, 7 tokens, 0 extra, 2 chunks, full");
  });
  test("what the budget holds to its last token is not full", () => {
    expect(brief(fill([2, 3, 4, 1], [run(0, 2), run(2, 4)], [0, 1], 10))).toBe("0-4, 10 tokens, 0 extra, 2 chunks");
    expect(brief(fill([2, 3, 4, 1], [run(0, 2), run(2, 4)], [0], 5))).toBe("0-2, 5 tokens, 0 extra, 1 chunks");
    expect(brief(fill([5, 5], [run(0, 1), run(0, 1)], [0, 1], 5))).toBe("0-1, 5 tokens, 0 extra, 1 chunks"); // nothing new (rule 2)
    expect(brief(fill([5, 0], [run(0, 1), run(1, 2)], [0, 1], 5))).toBe("0-2, 5 tokens, 0 extra, 2 chunks"); // nothing to pay
  });
  test("headings are paid, and are no pieces", () => {
    expect(brief(fill([2, 3], [run(0, 1, 4), run(1, 2, 4)], [1, 0], 13))).toBe("0-2, 13 tokens, 8 extra, 2 chunks");
    expect(brief(fill([2, 3], [run(0, 1, 4), run(1, 2, 4)], [1, 0], 12))).toBe("1-2, 7 tokens, 4 extra, 1 chunks, full");
    expect(brief(fill([2, 3], [run(0, 2, 4)], [0], 6))).toBe("0-1, 6 tokens, 4 extra, 1 chunks, full");
    expect(brief(fill([2, 3, 1], [run(0, 2, 4), run(2, 3)], [0, 1], 5))).toBe(", 0 tokens, 0 extra, 0 chunks, full"); // filling ends
  });
  test("a chunk pays for what is new, on both sides of what is not", () => {
    expect(brief(fill([1, 1, 1, 1, 1], [run(2, 3), run(0, 5, 1)], [0, 1], 9))).toBe("0-5, 6 tokens, 1 extra, 2 chunks");
    expect(brief(fill([1, 1, 1, 1, 1], [run(2, 3), run(0, 5, 1)], [0, 1], 5))).toBe("0-4, 5 tokens, 1 extra, 2 chunks, full");
  });
  test("of nothing", () => {
    expect(brief(fill([], [], [], 1))).toBe(", 0 tokens, 0 extra, 0 chunks");
    expect(brief(fill([1], [run(0, 1)], [], 1))).toBe(", 0 tokens, 0 extra, 0 chunks");
  });
  test("counts up to 2^53 − 1", () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(brief(fill([most, 1], [run(0, 2)], [0], most))).toBe(`0-1, ${most} tokens, 0 extra, 1 chunks, full`);
    expect(brief(fill([most], [run(0, 1, most)], [0], most))).toBe(", 0 tokens, 0 extra, 0 chunks, full");
  });

  const runs = fc.array(fc.record({ from: fc.nat(24), length: fc.integer({ min: 1, max: 8 }), extra: fc.nat(3), turn: fc.nat(14) }), { maxLength: 12 });
  const requests = fc.tuple(fc.array(fc.nat(4), { minLength: 1, maxLength: 25 }), runs, fc.integer({ min: 1, max: 40 })).map(([tokens, runs, budget]) => {
    const chunks = runs.map(({ from, length, extra }) => run(from % tokens.length, Math.min((from % tokens.length) + length, tokens.length), extra));
    const ranking = runs.map((_, i) => i).filter((i) => runs[i]!.turn < 12).sort((a, b) => runs[a]!.turn - runs[b]!.turn);
    return { tokens, chunks, ranking, budget };
  });
  test("is what the rules do piece by piece", () => {
    fc.assert(fc.property(requests, ({ tokens, chunks, ranking, budget }) => {
      const found = fill(tokens, chunks, ranking, budget);
      const wanted = plain(tokens, chunks, ranking, budget);
      expect(found.context.flatMap(({ from, to }) => tokens.map((_, p) => p).slice(from, to))).toEqual(wanted.held);
      expect([found.tokens, found.extra, found.chunks, found.full]).toEqual([wanted.cost, wanted.extra, wanted.counted, wanted.full]);
    }), { numRuns: 1000 });
  });
  test("never costs more than the budget, is made of maximal runs, and is full just if something is left out", () => {
    fc.assert(fc.property(requests, ({ tokens, chunks, ranking, budget }) => {
      const { context, tokens: cost, extra, full } = fill(tokens, chunks, ranking, budget);
      expect(cost).toBeLessThanOrEqual(budget);
      expect(cost - extra).toBe(context.reduce((sum, { from, to }) => sum + tokens.slice(from, to).reduce((a, b) => a + b, 0), 0));
      context.forEach(({ from, to }, i) => expect(from < to && (i === 0 || context[i - 1]!.to < from)).toBe(true));
      const held = (p: number): boolean => context.some(({ from, to }) => from <= p && p < to);
      const left = ranking.some((index) => tokens.some((_, p) => chunks[index]!.from <= p && p < chunks[index]!.to && !held(p)));
      expect(full).toBe(left);
    }), { numRuns: 1000 });
  });
  test("10,000 chunks of 100,000 pieces that overlap heavily take no time", () => {
    const tokens = new Array<number>(100_000).fill(1);
    const wide = Array.from({ length: 10_000 }, (_, i) => run(i, 90_000 + i, 1));
    const ranking = wide.map((_, i) => (i * 7919) % 10_000); // 7919 is prime, so each once
    const start = performance.now();
    const found = fill(tokens, wide, ranking, 1e9);
    expect([found.context, found.full]).toEqual([[{ from: 0, to: 99_999 }], false]);
    const comb = tokens.flatMap((_, p) => (p % 2 === 0 ? [run(p, p + 1)] : [])).concat(wide); // every other piece first; then each second run brings one more
    expect(fill(tokens, comb, comb.map((_, i) => i), 1e9)).toMatchObject({ context: [{ from: 0, to: 99_999 }], chunks: 55_000, extra: 5000 });
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("cover", () => {
  const range = (start: number, end: number) => ({ start, end });
  test("counts what lies in the union, whatever the order (rule 6)", () => {
    const context = [range(20, 30), range(0, 10), range(5, 12), range(12, 14), range(21, 22)];
    expect(cover(context, [range(0, 30), range(14, 20), range(13, 21), range(9, 13), range(30, 40), range(29, 40)], 1)).toEqual({ overlaps: [24, 0, 2, 4, 0, 1], hits: [true, false, true, true, false, true] });
    expect(cover([], [range(0, 1)], 1)).toEqual({ overlaps: [0], hits: [false] });
    expect(cover(context, [], "all")).toEqual({ overlaps: [], hits: [] });
  });
  test("a hit needs the minimum, half or all (rule 7)", () => {
    const context = [range(0, 3)];
    const evidence = [range(0, 6), range(0, 7), range(2, 3), range(1, 5)]; // 3 of 6, 3 of 7, 1 of 1, 2 of 4
    expect(cover(context, evidence, "half").hits).toEqual([true, false, true, true]);
    expect(cover(context, evidence, "all").hits).toEqual([false, false, true, false]);
    expect(cover(context, evidence, 3).hits).toEqual([true, true, true, false]);
    expect(cover(context, evidence, 100).hits).toEqual([false, false, true, false]);
  });
  test("is what counting point by point finds", () => {
    const ranges = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 9 })).map(([start, length]) => range(start, start + length)), { maxLength: 12 });
    fc.assert(fc.property(ranges, ranges, fc.integer({ min: 1, max: 9 }), (context, evidence, m) => {
      const overlaps = evidence.map(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i).filter((x) => context.some((c) => c.start <= x && x < c.end)).length);
      expect(cover(context, evidence, m)).toEqual({ overlaps, hits: overlaps.map((o, i) => o >= m || o === evidence[i]!.end - evidence[i]!.start) });
    }), { numRuns: 1000 });
  });
  test("is exact up to 2^53 − 1", () => {
    const most = Number.MAX_SAFE_INTEGER;
    expect(cover([range(1, most)], [range(0, most)], "half")).toEqual({ overlaps: [most - 1], hits: [true] });
    expect(cover([range(0, (most - 1) / 2)], [range(0, most)], "half").hits).toEqual([false]);
    expect(cover([range(0, (most + 1) / 2)], [range(0, most)], "half").hits).toEqual([true]);
  });
  test("100,000 ranges take no time", () => {
    const many = Array.from({ length: 100_000 }, (_, i) => range((i * 7919) % 100_003, ((i * 7919) % 100_003) + 500));
    const start = performance.now();
    cover(many, many, "all");
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe("requests", () => {
  const filling = (fields: object) => ({ op: "fill", tokens: [2, 3], chunks: [run(0, 1), run(1, 2)], ranking: [1, 0], budget: 4, ...fields });
  const covering = (fields: object) => ({ op: "cover", context: [{ start: 0, end: 3 }], evidence: [{ start: 2, end: 5 }], minimum: 1, ...fields });
  test("are answered", () => {
    expect(ask(filling({}))).toEqual({ context: [{ from: 1, to: 2 }], tokens: 3, extra: 0, chunks: 1, full: true });
    expect(ask(covering({ minimum: "half" }))).toEqual({ overlaps: [1], hits: [false] });
  });
  test.each<[string, object]>([
    ["a negative count", filling({ tokens: [2, -1] })], ["a count of 1.5", filling({ tokens: [2, 1.5] })], ["a negative extra", filling({ chunks: [run(0, 1, -1), run(1, 2)] })], ["no extra", filling({ chunks: [{ from: 0, to: 1 }], ranking: [0] })],
    ["an empty run", filling({ chunks: [run(0, 1), run(1, 1)] })], ["a run before the pieces", filling({ chunks: [run(-1, 1), run(1, 2)] })], ["a run beyond the pieces, not ranked", filling({ chunks: [run(0, 1), run(1, 3)], ranking: [0] })],
    ["a chunk twice", filling({ ranking: [0, 1, 0] })], ["a chunk that is not there", filling({ ranking: [2] })], ["chunk −1", filling({ ranking: [-1] })], ["no budget", { ...filling({}), budget: undefined }], ["true for a budget", filling({ budget: true })],
    ["an empty range", covering({ context: [{ start: 3, end: 3 }] })], ["a negative start", covering({ evidence: [{ start: -1, end: 3 }] })], ["a range with a document", covering({ evidence: [{ document: 0, start: 1, end: 3 }] })],
    ["another word", covering({ minimum: "most" })], ["half as a number", covering({ minimum: 0.5 })], ["null", covering({ minimum: null })], ["no minimum", { ...covering({}), minimum: undefined }],
    ["a negative count beside budget 0", filling({ tokens: [2, -1], budget: 0 })], ["a chunk twice beside budget 0", filling({ ranking: [0, 0], budget: 0 })], ["an empty range beside minimum 0", covering({ minimum: 0, evidence: [{ start: 4, end: 3 }] })],
  ])("bad_request: %s", (_, request) => expect(ask(request)).toBe("bad_request"));
  test.each<[string, object]>([["budget 0", filling({ budget: 0 })], ["minimum 0", covering({ minimum: 0 })], ["minimum −1", covering({ minimum: -1 })]])("bad_setting: %s", (_, request) =>
    expect(ask(request)).toBe("bad_setting"));
});

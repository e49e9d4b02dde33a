import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as fixed from "../src/fixed.ts";
import type { Chunk, Pieces } from "../src/pieces.ts";
import * as recursive from "../src/recursive.ts";
import { Refusal } from "../src/records.ts";
import * as semantic from "../src/semantic.ts";
import { sentences } from "../src/text.ts";
import { brief, cut, slices } from "./help.ts";

const prose = fc.array(fc.constantFrom("One", " two", " internationalization", ".", " Three", "!", "\n", "\n\n", "  ", " 4", "é", "🍀🍀", "?” ", "("), { maxLength: 40 }).map((parts) => parts.join(""));
const size = fc.integer({ min: 1, max: 12 });
const code = (act: () => unknown): string => {
  try {
    act();
    return "none";
  } catch (error) {
    return error instanceof Refusal ? error.code : String(error);
  }
};

function tiles(text: string, chunks: Iterable<Chunk>): void {
  expect(slices(text, chunks).join("")).toBe(text);
}

describe("fixed", () => {
  test.each([
    ["starts come from the text, not from a search for it", "tick tock ".repeat(6), 4, 2, "0-14=4 9-24=4 19-34=4 29-44=4 39-54=4 49-60=4"],
    ["overlap is in tokens", "Extraordinarily counterintuitive bioluminescence photographs: internationalization, misunderstandings, electroencephalography.", 10, 5, "0-48=10 32-83=9 48-102=8 82-126=10"],
    ["a piece larger than the size stands alone", "Grüße 🦜🦜 aus Köln", 1, 0, "0-5=3 5-8=5 8-12=1 12-17=1"],
    ["offsets count code points", `${"b".repeat(41)}🌷 and 🍀🍀 in May`, 8, 2, "0-41=11 41-56=8"],
    ["the chunk that reaches the end is the last", "red fig ripe plum", 3, 2, "0-12=3 3-17=3"],
    ["an unbroken run does not stop it", `See ${"x".repeat(2000)} end here now`, 8, 4, "0-3=1 3-2004=252 2004-2017=3"],
    ["a chunk may lie inside the one before", "See it electroencephalography ends.", 4, 2, "0-6=2 3-6=1 6-29=5 29-35=2"],
    ["nothing is lost of punctuation", "See [notes](../../notes.md)... done!!! Ok;; fine, really???", 6, 0, "0-23=6 23-43=6 43-59=4"],
    ["a huge size is one chunk", "red fig ripe plum", 1e9, 0, "0-17=4"],
    ["no text has no chunks", "", 4, 1, ""],
  ])("%s", (_, text, size, overlap, wanted) => expect(brief(fixed.chunk(cut(text), size, overlap))).toBe(wanted));

  test("refuses what is out of range (rule 5)", () => {
    for (const [size, overlap] of [[5, 5], [5, 6], [0, 0], [-1, 0], [5, -1], [4.5, 0]] as const) expect(code(() => fixed.chunk(cut("one two"), size, overlap))).toBe("bad_setting");
  });

  /** The rule as it is written, without sums or searches. */
  function literally(pieces: Pieces, S: number, O: number): Chunk[] {
    const t = Array.from(pieces, ({ tokens }) => tokens);
    const total = (from: number, to: number): number => t.slice(from, to).reduce((a, b) => a + b, 0);
    const result: Chunk[] = [];
    for (let a = 0; a < t.length; ) {
      let e = a + 1;
      while (e < t.length && total(a, e + 1) <= S) e++;
      result.push(pieces.run(a, e));
      if (e === t.length) break;
      a++;
      while (total(a, e) > O) a++;
    }
    return result;
  }
  test("is its rule, read literally", () => {
    fc.assert(fc.property(prose, size, fc.nat(11), (text, S, O) => {
      const pieces = cut(text);
      expect([...fixed.chunk(pieces, S, O % S)]).toEqual(literally(pieces, S, O % S));
      tiles(text, fixed.chunk(pieces, S));
    }));
  });
});

describe("recursive", () => {
  test.each([
    ["a sum equal to the size is within", "One two three.\nFour five six.\nSeven.\n", 10, "0-37=10"],
    ["a sum above it is not", "One two three.\nFour five six.\nSeven.\n", 9, "0-30=8 30-37=2"],
    ["two paragraphs fill a chunk", "One two three.\nFour five six.\nSeven.\n", 8, "0-30=8 30-37=2"],
    ["counts add up", "- alpha beta gamma. delta\n- epsilon zeta eta theta. iota kappa lambda\n- mu nu\n", 12, "0-26=7 26-70=11 70-78=4"],
    ["white space is a chunk too", "a \n\n  ", 4, "0-6=3"],
    ["of no text is nothing", "", 4, ""],
  ])("%s", (_, text, size, wanted) => expect(brief(recursive.chunk(cut(text), size, "newline"))).toBe(wanted));

  test("a long paragraph gives its sentences, a long sentence its windows (rule 1)", () => {
    const pieces = cut("Go now. One two three four five.\n\nEnd.");
    const leaves = recursive.leaves(pieces, 4);
    expect(Array.from({ length: leaves.length / 2 }, (_, i) => pieces.slice(leaves[2 * i]!, leaves[2 * i + 1]!))).toEqual(["Go now.", " One two three four", " five.\n\n", "End."]);
  });
  test("tiles the text; no chunk of several pieces is above the size, and no two neighbours would fit it", () => {
    fc.assert(fc.property(prose, size, fc.constantFrom("newline" as const, "blank_line" as const), (text, S, rule) => {
      const pieces = cut(text);
      const found = [...recursive.chunk(pieces, S, rule)];
      tiles(text, found);
      const single = new Set(Array.from(pieces, ({ start, end }) => `${start}-${end}`));
      for (const { start, end, tokens } of found) expect(tokens <= S || single.has(`${start}-${end}`)).toBe(true);
    }));
  });
  test("refuses a size below 1", () => expect(code(() => recursive.chunk(cut("a"), 0))).toBe("bad_setting"));
});

describe("semantic", () => {
  const matrix = (...rows: number[][]) => ({ dim: rows[0]?.length ?? 1, rows: rows.length, data: Int8Array.from(rows.flat()) });
  const animals = "Owls hunt mice. Foxes raid hens. Bread needs yeast. Cakes need sugar.";
  const vectors = matrix([127, 0], [127, 30], [0, 127], [1, 127]);

  test("breaks where neighbours are least alike, and keeps the last sentence", () => {
    const found = semantic.chunk(cut(animals), vectors, 12, 25, "newline");
    expect(brief(found.chunks)).toBe("0-32=12 32-69=9");
    expect(found.similarities).toHaveLength(3);
    expect(found.threshold).toBe(found.similarities[1]);
  });
  test("with p = 100 every joint is a break, with equal similarities too", () => {
    expect(brief(semantic.chunk(cut(animals), vectors, 100, 100).chunks)).toBe("0-15=6 15-32=6 32-51=4 51-69=5");
    expect(brief(semantic.chunk(cut(animals), matrix([1], [1], [1], [1]), 100, 0).chunks)).toBe("0-15=6 15-32=6 32-51=4 51-69=5");
  });
  test("of one sentence has no similarities, no threshold and no break", () => {
    const found = semantic.chunk(cut("Only one sentence here."), matrix([1, 2, 3]), 256);
    expect([brief(found.chunks), [...found.similarities], found.threshold]).toEqual(["0-23=5", [], null]);
    expect(brief(semantic.chunk(cut(""), matrix(), 256).chunks)).toBe("");
  });
  test("a window of a long sentence merges with nothing (rule 6)", () => {
    // No break but before the third sentence; the first is longer than 4 tokens.
    const found = semantic.chunk(cut("One two three four five. Six. Seven. Eight."), matrix([1, 0], [1, 0], [1, 2], [0, 1]), 4, 0);
    expect(slices("One two three four five. Six. Seven. Eight.", found.chunks)).toEqual(["One two three four", " five.", " Six.", " Seven. Eight."]);
  });
  test("wants one vector for each sentence", () => {
    expect(code(() => semantic.chunk(cut(animals), matrix([1], [1], [1]), 12))).toBe("bad_vectors");
    expect(code(() => semantic.chunk(cut(""), matrix([1]), 12))).toBe("bad_vectors");
    expect(code(() => semantic.chunk(cut(animals), vectors, 12, 101))).toBe("bad_setting");
  });
  test("takes the nearest rank in integers: of 101 similarities, p = 29 is index 29", () => {
    const values = Float64Array.from({ length: 101 }, (_, i) => (100 - i) / 128);
    expect([29, 57, 58].map((p) => semantic.threshold(values, p)! * 128)).toEqual([29, 57, 58]);
  });
  test("tiles the text", () => {
    fc.assert(fc.property(prose, size, fc.integer({ min: 0, max: 100 }), (text, S, p) => {
      const pieces = cut(text);
      const rows = sentences(pieces, "blank_line").length;
      const data = Int8Array.from({ length: rows * 2 }, (_, i) => ((i * 37) % 255) - 127);
      tiles(text, semantic.chunk(pieces, { dim: 2, rows, data }, S, p).chunks);
    }));
  });
});

import { readFileSync } from "node:fs";
import { Tokenizer as Library } from "@huggingface/tokenizers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { matchEnd } from "../src/pieces.ts";
import { Refusal } from "../src/records.ts";
import { CLASSES, KNOWN } from "../src/resources.ts";
import { TOKENIZER_PATH, brief, cut, slices, tokenizer } from "./help.ts";

/** The spec's pattern for characters whose classes the runtime knows alike. */
const W = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const PATTERN = new RegExp(
  `'(?:[sSſtTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^${W}\\p{L}\\p{N}]+[\\r\\n]*|[${W}]*[\\r\\n]+|[${W}]+(?![^${W}])|[${W}]+`, "gu");

function matches(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = matchEnd(text, at);
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

const scraps = fc.array(fc.constantFrom(...["a", "B", "é", "ſ", "'", "'s", "'Re", "'VE", "'lL", "'x", " ", "  ", "\t", "\n", "\r\n", "\u2028", "\u0085", "\u00a0", "\ufeff", "\u200b", "1", "½", ".", "!?", "😀", "𝔸", "𐒠", "\u0301", "東", "<|im_end|>"]), { maxLength: 14 }).map((parts) => parts.join(""));

describe("the pattern (rule 2)", () => {
  test.each([
    ["Lot 90210 (z);\n=> c3d4 yes", ["Lot", " ", "9", "0", "2", "1", "0", " (", "z", ");\n", "=>", " c", "3", "d", "4", " yes"]],
    ["it's we'LL O'Neil don'ſ 'tis", ["it", "'s", " we", "'LL", " O", "'Neil", " don", "'ſ", " '", "tis"]],
    ["a  b", ["a", " ", " b"]],
    ["a  1", ["a", " ", " ", "1"]],
    ["a  .", ["a", " ", " ."]],
    ["a \n \n b", ["a", " \n \n", " b"]],
    ["a   ", ["a", "   "]],
    ["...\r\n\nx", ["...\r\n\n", "x"]],
    ["\u3000\u3000x", ["\u3000", "\u3000x"]],
    ["\nx", ["\n", "x"]],
    ["\u2028x\u0085", ["\u2028x", "\u0085"]],
    ["\ufeffTitle", ["\ufeffTitle"]],
  ])("cuts %j", (text, wanted) => expect(matches(text)).toEqual(wanted));
  test("is what a RegExp finds", () => {
    fc.assert(fc.property(fc.oneof(scraps, fc.string({ unit: "binary" })), (text) => {
      if ([...text].some((character) => (CLASSES[character.codePointAt(0)!]! & KNOWN) === 0)) return;
      expect(matches(text)).toEqual(text.match(PATTERN) ?? []);
    }), { numRuns: 3000 });
  });
});

describe("pieces", () => {
  test("of no text are none", () => expect([...cut("")]).toEqual([]));
  test("are mapped back from NFC to the source (rule 3)", () => {
    expect(brief(cut("Cafe\u0301 nai\u0308ve re\u0301sume\u0301."))).toBe("0-5=3 5-12=2 12-21=3 21-22=1");
    expect(brief(cut("Café naïve résumé."))).toBe("0-4=3 4-10=2 10-17=3 17-18=1");
  });
  test("are joined where a cut lies inside what NFC changed", () => {
    // U+0958 decomposes for good into a letter and a mark: two matches, one piece.
    const text = "\u0958";
    expect(matches(text.normalize("NFC"))).toHaveLength(2);
    expect([...cut(text)]).toHaveLength(1);
    // Written apart, the same two matches are two pieces.
    expect([...cut(text.normalize("NFC"))]).toHaveLength(2);
  });
  test("count code points, not UTF-16 units", () => {
    const text = `${"b".repeat(41)}🌷 and 🍀🍀 in May`;
    expect(slices(text, cut(text)).join("|")).toBe(`${"b".repeat(41)}|🌷| and| 🍀🍀| in| May`);
  });
  test("take special tokens for plain text (rule 5)", () => {
    expect(brief(cut("Models end with <|endoftext|> and <|im_start|>user."))).toBe(
      "0-6=1 6-10=1 10-15=1 15-18=1 18-27=3 27-29=2 29-33=1 33-36=1 36-38=1 38-44=1 44-46=2 46-50=1 50-51=1");
  });
  test("tile the text, and each costs a token or more", () => {
    fc.assert(fc.property(scraps, (text) => {
      const found = [...cut(text)];
      expect(slices(text, found).join("")).toBe(text);
      expect(found.every(({ start, end, tokens }) => start < end && tokens > 0)).toBe(true);
    }));
  });
  test("refuse a lone surrogate", () => expect(() => cut("a\ud800")).toThrow(Refusal));
});

describe("counts (rule 4)", () => {
  const library = new Library(JSON.parse(readFileSync(TOKENIZER_PATH, "utf8")), {});
  const model = library.model as unknown as { encode(words: string[]): string[] };

  test("add up to the library's own, on ordinary text", () => {
    const words = fc.array(fc.constantFrom("The", " quick", " brown", "fox", "'s", " 2024", ", ", "über", " naïve", "東京", "\n\n", " «ça»", " 🦜🦜", "Ω", " supercalifragilistic", ".", "!", "   "), { maxLength: 20 });
    fc.assert(fc.property(words, (parts) => {
      const text = parts.join("");
      expect(cut(text).sums.at(-1)).toBe(library.encode(text).ids.length);
    }));
  });
  test.each([["a", 12500], [" ", 782], ["^", 25000]])("of 100,000 times %j", (character, tokens) =>
    expect(brief(cut(character.repeat(100_000)))).toBe(`0-100000=${tokens}`));
  test("of long runs are the library's", () => {
    const units = ["a", "th", "e", "ing", "é", "東", "s", "tion", "ab", "\u{10400}"];
    fc.assert(fc.property(fc.array(fc.constantFrom(...units), { minLength: 520, maxLength: 700 }), (parts) => {
      const text = parts.join("");
      expect(tokenizer().count(text)).toBe(library.encode(text).ids.length);
    }), { numRuns: 40 });
  });
  test("each merge comes after those that make its parts, and makes a token of its own", () => {
    // What the counting of long runs rests on.
    const made = new Map<string, number>();
    const { merges } = model as unknown as { merges: [string, string][] };
    merges.forEach(([left, right], rank) => {
      for (const part of [left, right]) if (part.length > 1 && !(made.get(part)! < rank)) throw new Error(`merge ${rank}`);
      if (made.has(left + right)) throw new Error(`merge ${rank}`);
      made.set(left + right, rank);
    });
    expect(merges).toHaveLength(151_387);
  });
  test("a million letters take seconds, and no stack", () => {
    const start = performance.now();
    expect(cut("ab".repeat(500_000)).length).toBe(1);
    expect(cut("\n".repeat(1_000_000)).length).toBe(1);
    expect(cut("\u{10400}".repeat(200_000)).length).toBe(1);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

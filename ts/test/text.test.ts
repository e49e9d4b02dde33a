import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLASSES, KNOWN, LETTER, LOWER, NUMBER, UPPER } from "../src/resources.ts";
import { isWhite, nfc, paragraphs, sentences, stripped } from "../src/text.ts";
import { brief, cut, runs } from "./help.ts";

describe("characters (rules 2 and 3)", () => {
  test("white space is the spec's list, which is neither trim's nor another runtime's", () => {
    const white = [...Array(0x10000).keys()].filter(isWhite);
    expect(white.map((point) => point.toString(16)).join(" ")).toBe("9 a b c d 20 85 a0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200a 2028 2029 202f 205f 3000");
  });
  test("classes agree with the runtime on what both know", () => {
    const classes = [[LETTER, /\p{L}/u], [NUMBER, /\p{N}/u], [UPPER, /\p{Lu}/u]] as const;
    for (let point = 0; point < 0x110000; point++) {
      if ((CLASSES[point]! & KNOWN) === 0 || (point >= 0xd800 && point < 0xe000)) continue;
      const character = String.fromCodePoint(point);
      for (const [bit, pattern] of classes) if (pattern.test(character) !== ((CLASSES[point]! & bit) !== 0)) throw new Error(`U+${point.toString(16)}`);
      if ((CLASSES[point]! & (LETTER | NUMBER)) !== 0 && (LOWER.get(point) ?? character) !== character.toLowerCase() && point !== 0x3a3)
        // What a later Unicode version gave a lower case: the runtime may not know it yet.
        expect(character.toLowerCase()).toBe(character);
    }
  });
  test("a letter of Unicode 16 is one whatever the runtime says", () => expect(CLASSES[0x1c89]! & UPPER).toBe(UPPER));
  test("what is not assigned has no class", () => expect(CLASSES[0x378]).toBe(0));
});

describe("NFC (rules 5 to 8)", () => {
  const tricky = fc.constantFrom(..."aéo\u0301\u0323\u0345\u0327ﬁ가각\u1161\u0344\u212b\u0958 \u2126\u{1d15e}\u{1d165}e", "\u{110ba}", "x");
  test("is the runtime's, for what was assigned in Unicode 14", () => {
    fc.assert(fc.property(fc.array(tricky).map((parts) => parts.join("")), (text) => void expect(nfc(text).text).toBe(text.normalize("NFC"))), { numRuns: 2000 });
  });
  test("changes each known code point as the runtime does", () => {
    for (let point = 0; point < 0x110000; point++) {
      if ((CLASSES[point]! & KNOWN) === 0 || (point >= 0xd800 && point < 0xe000)) continue;
      const text = String.fromCodePoint(point);
      if (nfc(text).text !== text.normalize("NFC")) throw new Error(point.toString(16));
      const after = `a${text}`;
      if (nfc(after).text !== after.normalize("NFC")) throw new Error(`a ${point.toString(16)}`);
    }
  });
  test("leaves alone what is not known, also between a letter and its mark", () => {
    const text = "e\u{1e6f5}\u0301";
    expect(CLASSES[0x1e6f5]! & KNOWN).toBe(0);
    expect(nfc(text).text).toBe(text);
  });
  test("maps the ends of what it changed", () => {
    // "Cafe" with a mark, "ab": one segment of two units became one.
    const { text, atoms } = nfc("Cafe\u0301ab");
    expect(text).toBe("Café" + "ab");
    expect([...atoms]).toEqual([3, 4, 5]);
  });
  test("does not slow down on a long run of marks out of order", () => {
    const text = `a${"\u0301\u0323".repeat(400)}가`;
    expect(nfc(text).text).toBe(text.normalize("NFC"));
    const start = performance.now();
    nfc(`a${"\u0301\u0323\u0334\u0345".repeat(100_000)}`);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe("paragraphs (rules 9 and 10)", () => {
  const of = (text: string, rule: "newline" | "blank_line"): string[] => runs(cut(text), paragraphs(cut(text), rule));
  test("newline: after a piece that holds a line feed; blank_line: after an empty line", () => {
    const text = "Opening words.\r\n\r\n\r\nThe middle has\r\ntwo lines.\r\n\r\nClosing words.";
    const pieces = cut(text);
    const tokens = (rule: "newline" | "blank_line"): string => {
      const starts = paragraphs(pieces, rule);
      return brief(Array.from(starts, (from, i) => pieces.run(from, starts[i + 1] ?? pieces.length)));
    };
    expect(tokens("newline")).toBe("0-20=4 20-36=4 36-50=3 50-64=3");
    expect(tokens("blank_line")).toBe("0-20=4 20-50=7 50-64=3");
  });
  test("blank_line: the piece with the first visible character starts it", () => {
    expect(of("a\n \nb", "blank_line")).toEqual(["a\n \n", "b"]);
    expect(of("a\n\n b", "blank_line")).toEqual(["a\n\n", " b"]);
    expect(of("a\n\n  b", "blank_line")).toEqual(["a\n\n ", " b"]);
    expect(of("a\r\rb", "blank_line")).toEqual(["a\r\r", "b"]);
    expect(of("a\r\nb", "blank_line")).toEqual(["a\r\nb"]);
    expect(of("a\n\u2028b", "blank_line")).toEqual(["a\n\u2028b"]);
    expect(of("a\n\n \t\n", "blank_line")).toEqual(["a\n\n \t\n"]);
  });
  test("blank_line: leading blank lines stand alone", () => {
    expect(of("\n\nab", "blank_line")).toEqual(["\n\n", "ab"]);
    expect(of("\n\n", "blank_line")).toEqual(["\n\n"]);
  });
  test("of no text are none", () => expect(of("", "newline")).toEqual([]));
});

describe("sentences (rules 11 to 15)", () => {
  const of = (text: string, rule: "newline" | "blank_line" = "newline"): string[] => runs(cut(text), sentences(cut(text), rule));
  test("begin after a stop, white space and an opening character", () => {
    expect(of("One.  Two")).toEqual(["One.", "  Two"]);
    expect(of("Dr. Smith met Mr. Lee at No. 5 on Jan. 3. They left, e.g. by bus. version 3.14 is out. see p. x.")).toEqual([
      "Dr.", " Smith met Mr.", " Lee at No.", " 5 on Jan.", " 3.", " They left, e.g. by bus. version 3.14 is out. see p. x.",
    ]);
  });
  test("take closers before and openers after", () => {
    expect(of("He said “Go!”) “Now?” she asked.")).toEqual(["He said “Go!”)", " “Now?” she asked."]);
    expect(of("Done.] [Next")).toEqual(["Done.]", " [Next"]);
    expect(of("Odd.» Next")).toEqual(["Odd.» Next"]);
  });
  test("of newline: only U+000A ends one by itself", () => {
    expect(of("One. Two.\u2028Three.\fFour.\u000bFive.\u0085Six.\nSeven.")).toEqual(["One.", " Two.", "\u2028Three.", "\fFour.", "\u000bFive.", "\u0085Six.\n", "Seven."]);
  });
  test("are not begun by a hidden letter: U+FEFF is visible", () => {
    const text = "\ufeffTitle one.\ufeffNext part. Third part.";
    expect(of(text)).toEqual(["\ufeffTitle one.\ufeffNext part.", " Third part."]);
    expect(stripped(text, 0, 22)).toBe(text.slice(0, 22));
    expect(stripped(" \u3000a\u200b b\n", 0, 7)).toBe("a\u200b b");
  });
  test("of newline: looks one piece ahead and no further", () => {
    expect(of("One. \t\r\rTwo")).toEqual(["One.", " \t\r\rTwo"]); // pieces: One . [ \t\r\r] Two
    expect(of("One.  2")).toEqual(["One.  2"]); // pieces: One . [ ] [ ] 2
    expect(of("One. \r  Two")).toEqual(["One. \r  Two"]); // pieces: One . [ \r] [ ] [ Two]
    expect(of("Is it?   ")).toEqual(["Is it?   "]);
  });
  test("of blank_line: white space may stand on either side of the joint", () => {
    expect(of("One.\nTwo", "blank_line")).toEqual(["One.\n", "Two"]);
    expect(of("One.\ntwo. Three", "blank_line")).toEqual(["One.\ntwo.", " Three"]);
    expect(of("hard-wrapped\nLine", "blank_line")).toEqual(["hard-wrapped\nLine"]);
  });
  test("of blank_line: the opening character may not lie in the next paragraph", () => {
    expect(of("One. \n\n Two", "blank_line")).toEqual(["One. \n\n", " Two"]);
    expect(of("One.\n\n  Two", "blank_line")).toEqual(["One.\n\n ", " Two"]);
  });
  test("an upper-case letter beyond U+FFFF opens one", () => expect(of("It ends. \u{10400}x")).toEqual(["It ends.", " \u{10400}x"]));
});

describe("the sentence rules, read literally", () => {
  const scraps = fc.array(fc.constantFrom("One", "two", " Two", "É", "3", ".", "!", "?", "”", ")", "“", "(", " ", "  ", "\n", "\r", "\r\n", "\t", "\u2003", "\ufeff", "🦜", "\u{10400}"), { maxLength: 16 }).map((parts) => parts.join(""));
  const white = "[\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
  const trimmed = (text: string): string => text.replace(new RegExp(`^${white}+`), "");
  const ends = (text: string): boolean => /[.!?]["'”’)\]]*$/.test(text);
  const opens = (text: string): boolean => /^[\p{Lu}\p{N}"'“‘([]/u.test(text);

  test("paragraphs and sentences of both rules", () => {
    fc.assert(fc.property(scraps, (text) => {
      const pieces = cut(text);
      const parts = Array.from({ length: pieces.length }, (_, i) => pieces.slice(i, i + 1));
      const all = parts.map((_, i) => i);

      const newline = all.filter((i) => i === 0 || parts[i - 1]!.includes("\n"));
      expect([...paragraphs(pieces, "newline")]).toEqual(newline);
      expect([...sentences(pieces, "newline")]).toEqual(all.filter((i) => {
        if (newline.includes(i)) return true;
        const first = trimmed(parts[i]!) || trimmed(parts[i + 1] ?? "");
        return ends(parts[i - 1]!.replace(/[\r\n]+$/, "")) && trimmed(parts[i]!) !== parts[i] && opens(first);
      }));

      const firstVisible = [...text.matchAll(new RegExp(`(?<!${white})${white}+`, "gu"))]
        .filter(([run]) => (run.match(/\r\n|\n|\r/g) ?? []).length > 1)
        .map(({ index, 0: run }) => index + run.length)
        .filter((at) => at < text.length);
      const blank = all.filter((i) => i === 0 || firstVisible.some((at) => pieces.bounds[i]! <= at && at < pieces.bounds[i + 1]!));
      expect([...paragraphs(pieces, "blank_line")]).toEqual(blank);
      expect([...sentences(pieces, "blank_line")]).toEqual(all.filter((i) => {
        if (blank.includes(i)) return true;
        const before = parts[i - 1]!;
        const kept = before.replace(new RegExp(`${white}+$`), "");
        const rest = text.slice(pieces.bounds[i]);
        const at = pieces.bounds[i]! + rest.length - trimmed(rest).length;
        const later = blank.find((start) => start > i);
        return ends(kept) && (kept !== before || trimmed(parts[i]!) !== parts[i]) && opens(trimmed(rest)) && (later === undefined || at < pieces.bounds[later]!);
      }));
    }), { numRuns: 3000 });
  });
});

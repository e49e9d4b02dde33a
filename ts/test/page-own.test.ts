import fc from "fast-check";
import { expect, test } from "vitest";
import { Own } from "../page/cutting.ts";
import type { Chunker, Cutting, Shown } from "../page/protocol.ts";
import { context } from "./help.ts";

const TEXT = "# The ferry\n\nBoats leave at 𝒳 nine. The sea is calm.\r\n\r\nIt is not e\u0301very day like this; bring \u202eropes and <b>oars</b>.";
const own = (): Own => new Own(() => context);

/** A cutting that was not refused. */
function cut(chunker: Chunker, text = TEXT, desk = own(), from = 0, count = 1000): Cutting {
  const answer = desk.cut(text, chunker, from, count);
  if ("error" in answer) throw new Error(answer.error.message);
  return answer.ok;
}

const ranges = (shown: Shown[]): object[] => shown.map(({ start, end, tokens }) => ({ start, end, tokens }));

test("what is shown is the engine's own reply, whatever the text and the settings", () => {
  const part = fc.constantFrom("a", "Sea. ", "\n\n", "\n", "𝒳", "e\u0301", "  ", "nine", ".", "<b>", "\u202e", "中文", "\r\n");
  const chunker = fc.oneof(
    fc.record({ kind: fc.constant("fixed"), size: fc.integer({ min: 3, max: 9 }), overlap: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ kind: fc.constant("recursive"), size: fc.integer({ min: 1, max: 9 }), paragraphs: fc.constantFrom("newline", "blank_line") }),
  );
  const desk = own();
  fc.assert(fc.property(fc.array(part, { maxLength: 60 }), chunker, (parts, settings) => {
    const text = parts.join("");
    const { shown, chunks, tokens, points } = cut(settings, text, desk);
    expect({ chunks: ranges(shown) }).toEqual(JSON.parse(desk.reply(settings)));
    expect(chunks).toBe(shown.length);
    expect(points).toBe(Array.from(text).length);
    for (const each of shown) {
      expect(each.text).toBe(Array.from(text).slice(each.start, each.end).join(""));
      expect(each.pieces.filter((_, i) => i % 2 === 1).reduce((a, b) => a + b, 0)).toBe(each.tokens);
      expect(each.pieces.at(-2)).toBe(each.text.length);
    }
    if (settings.kind === "recursive") expect(shown.reduce((sum, each) => sum + each.tokens, 0)).toBe(tokens);
  }), { numRuns: 150 });
});

test("a chunk says how much of its text stands in the chunk before", () => {
  const { shown, total, tokens } = cut({ kind: "fixed", size: 10, overlap: 4 });
  expect(shown[0]!.shared).toBe(0);
  for (const [i, { text, shared }] of shown.entries()) if (i > 0) expect(shown[i - 1]!.text.endsWith(text.slice(0, shared))).toBe(true);
  expect(shown.every(({ shared }, i) => i === 0 || shared > 0)).toBe(true);
  expect(total).toBeGreaterThan(tokens);
});

test("a page of chunks is a part of all, and stays within them", () => {
  const desk = own();
  const all = cut({ kind: "fixed", size: 5 }, TEXT, desk).shown;
  const again = desk.cut(undefined, { kind: "fixed", size: 5 }, 2, 3); // the same text, not sent again
  expect("ok" in again && ranges(again.ok.shown)).toEqual(ranges(all.slice(2, 5)));
  expect(cut({ kind: "fixed", size: 5 }, TEXT, desk, 999, 3).shown.map(({ start }) => start)).toEqual([all.at(-1)!.start]);
  expect(cut({ kind: "fixed", size: 5 }, "").chunks).toBe(0);
});

test("of a long chunk the beginning is shown, whole pieces and no half of a character", () => {
  const [words] = cut({ kind: "fixed", size: 1e6 }, "word ".repeat(5000)).shown as [Shown];
  expect(words.text).toBe("word ".repeat(5000).slice(0, words.text.length));
  expect(words.text.length).toBeLessThanOrEqual(6000);
  expect(words.left).toBe(words.end - words.text.length);
  expect(words.piecesLeft).toBe(5001 - words.pieces.length / 2); // the last blank is a piece
  const [letters] = cut({ kind: "fixed", size: 1 }, `a${"𝒳".repeat(8000)}`).shown as [Shown];
  expect(letters.text.isWellFormed()).toBe(true);
  expect(letters.left).toBe(letters.end - Array.from(letters.text).length);
});

test("an error reply comes with the engine's code and message", () => {
  const refused = (chunker: Chunker, text = TEXT): unknown => own().cut(text, chunker, 0, 9);
  expect(refused({ kind: "fixed", size: 5, overlap: 5 })).toEqual({ error: { code: "bad_setting", message: "overlap 5 must be below size 5" } });
  expect(refused({ kind: "recursive", size: null })).toMatchObject({ error: { code: "bad_request" } });
  expect(refused({ kind: "fixed", size: 1.5 })).toMatchObject({ error: { code: "bad_request" } });
  expect(refused({ kind: "fixed", size: 5 }, "\ud800")).toMatchObject({ error: { code: "bad_text" } });
  expect(refused({ kind: "semantic", size: 5, vectors: { dim: 1, int8: "" } })).toMatchObject({ error: { code: "unsupported" } });
});

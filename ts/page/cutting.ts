/**
 * A reader's own text, cut by the engine's rooms. The pieces are kept while the text stays, so that another size is answered at once
 * even for megabytes; a test holds what comes out against the engine's own reply.
 */
import type { Context } from "../src/engine.ts";
import { answer } from "../src/engine.ts";
import * as fixed from "../src/fixed.ts";
import type { Chunk, Pieces } from "../src/pieces.ts";
import { pieces as piecesOf } from "../src/pieces.ts";
import type { List } from "../src/records.ts";
import { Refusal } from "../src/records.ts";
import * as recursive from "../src/recursive.ts";
import { readRequest } from "../src/requests.ts";
import type { Chunker, Cutting, Refused, Shown } from "./protocol.ts";
import { firstWhere } from "./site.ts";

/** Of one chunk, the most UTF-16 units and pieces that are shown. */
const UNITS = 6000;
const PIECES = 1500;

interface Cut {
  key: string;
  chunks: List<Chunk>;
  longest: number;
  total: number;
}

export class Own {
  readonly #context: () => Context;
  #text = "";
  #pieces: Pieces | undefined;
  #cut: Cut | undefined;

  constructor(context: () => Context) {
    this.#context = context;
  }

  /** Cuts a text, or the last one again, and shows some of its chunks. */
  cut(text: string | undefined, chunker: Chunker, from: number, count: number): { ok: Cutting } | { error: Refused } {
    const begun = performance.now();
    if (text !== undefined && text !== this.#text) {
      this.#text = text;
      this.#pieces = this.#cut = undefined;
    }
    try {
      const { chunks, longest, total } = this.#chunks(chunker);
      const pieces = this.#pieces!;
      const first = Math.max(0, Math.min(from, chunks.length - 1));
      const shown = [];
      for (let i = first; i < Math.min(first + count, chunks.length); i++) shown.push(show(pieces, chunks.item(i), i > 0 ? chunks.item(i - 1).end : 0));
      const { length } = pieces;
      const all = { chunks: chunks.length, tokens: pieces.sums[length]!, pieces: length, points: pieces.points[length]! };
      return { ok: { ...all, longest, total, took: performance.now() - begun, from: first, shown } };
    } catch (error) {
      if (error instanceof Refusal) return { error: { code: error.code, message: error.message } };
      throw error;
    }
  }

  /** The engine's own reply about the text, as JSON: `{"chunks":[…]}`. */
  reply(chunker: Chunker): string {
    const reply = answer(this.#request(chunker), this.#context());
    return JSON.stringify("ok" in reply ? reply.ok : { error: reply.error });
  }

  #request(chunker: Chunker): object {
    return { id: "own", op: "chunk", text: this.#text, chunker };
  }

  #chunks(chunker: Chunker): Cut {
    const key = JSON.stringify(chunker);
    if (this.#cut?.key === key) return this.#cut;
    const request = readRequest(this.#request(chunker));
    if (request.op !== "chunk" || request.chunker.kind === "semantic") throw new Refusal("unsupported", "there are no vectors in this page");
    const pieces = (this.#pieces ??= piecesOf(this.#text, this.#context().tokenizer()));
    const { chunker: read } = request;
    const chunks = read.kind === "fixed" ? fixed.chunk(pieces, read.size, read.overlap) : recursive.chunk(pieces, read.size, read.paragraphs);
    let longest = 0, total = 0;
    for (let i = 0; i < chunks.length; i++) {
      const { tokens } = chunks.item(i);
      total += tokens;
      if (tokens > longest) longest = tokens;
    }
    return (this.#cut = { key, chunks, longest, total });
  }
}

/** A chunk with its text and pieces, or their beginning. `before` is where the chunk before ends. */
function show({ points, bounds, sums, text, length }: Pieces, { start, end, tokens }: Chunk, before: number): Shown {
  const at = (point: number): number => firstWhere(length, (i) => points[i]! >= point);
  const first = at(start), last = at(end);
  const base = bounds[first]!;
  const most = firstWhere(last, (i) => i > first && bounds[i]! - base > UNITS); // the first border beyond what is shown
  const stop = Math.max(bounds[last]! - base > UNITS ? most - 1 : last, first);
  let shown = stop > first ? text.slice(base, bounds[stop]!) : text.slice(base, base + UNITS); // one piece may be longer than all that is shown
  if (/[\ud800-\udbff]$/.test(shown)) shown = shown.slice(0, -1);
  const pieces: number[] = [];
  const until = Math.min(stop, first + PIECES);
  for (let i = first; i < until; i++) pieces.push(bounds[i + 1]! - base, sums[i + 1]! - sums[i]!);
  const shared = Math.min(before > start ? bounds[Math.min(at(before), stop)]! - base : 0, shown.length);
  return { start, end, tokens, text: shown, left: end - start - lengthOf(shown), shared, pieces, piecesLeft: last - until };
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

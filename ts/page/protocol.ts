/** What the page and its worker say to each other: one message, one answer, matched by number. */
import type { Question } from "./site.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A reply as it is compared: no id, no message. */
export type Value = { ok: Json } | { error: { code: string } };

/** One question of the check: a request in its short form (see `expand` in asking.ts) and the digest of the agreed value. */
export interface Item {
  stage: string;
  case: string;
  request: { [key: string]: Json };
  digest: string;
  /** Where the spec decides it. */
  spec?: string;
  /** Why the case exists, or what a corpus case asks. */
  why?: string;
  asked?: string;
  /** The columns that the texts of a printed row stand in. */
  columns?: string[];
}

/** The requests of a fixture. */
export interface Check {
  fixture: string;
  /** Whether the digests are those of golden files, not of the run that made the site. */
  golden?: boolean;
  stages: string[];
  items: Item[];
  /** How many values the command compares beside these: they are in files, raw lines, or in golden files by the group. */
  left_out?: number;
  vectors?: { [name: string]: Json };
  /** The words of the command that asks again, up to its `--case`. */
  repeat?: string[];
}

/** What requests in their short form stand on. */
export interface Ground {
  documents: string[];
  questions: Question[];
  vectors: { [name: string]: Json };
}

/** How a text is to be cut: a request's `chunker`, as the fields of the page have it. */
export type Chunker = { [key: string]: Json };

/** A chunk as the page shows it. */
export interface Shown {
  start: number;
  end: number;
  tokens: number;
  /** Its text or the beginning of that, and how many code points were left away. */
  text: string;
  left: number;
  /** How many UTF-16 units of `text` stand in the chunk before too. */
  shared: number;
  /** Pieces of `text`: the UTF-16 index of each end and the tokens, one after the other; how many pieces were left away. */
  pieces: number[];
  piecesLeft: number;
}

/** A text that was cut, and some of its chunks. */
export interface Cutting {
  chunks: number;
  /** Of the whole text: tokens, pieces, code points. */
  tokens: number;
  pieces: number;
  points: number;
  /** The most tokens of a chunk, and of all chunks together: more than `tokens` where chunks overlap. */
  longest: number;
  total: number;
  /** Milliseconds that the engine took. */
  took: number;
  from: number;
  shown: Shown[];
}

export interface Refused {
  code: string;
  message: string;
}

/** The questions to the worker, and what each is answered with. */
export interface Calls {
  /** Gives the text of tokenizer.json. */
  tokenizer: { ask: { text: string }; answer: null };
  /** Who answers: the engine's `info`. */
  info: { ask: { runtime: string }; answer: { [key: string]: Json } };
  /** What the items after it stand on. */
  ground: { ask: { ground: Ground }; answer: null };
  /** The digest of the value of an item, and milliseconds. */
  digest: { ask: { item: Item }; answer: { digest: string; took: number } };
  /** The value itself, as canonical JSON. */
  value: { ask: { item: Item }; answer: string };
  /** Cuts a text; without one, the last one again. */
  cut: { ask: { text?: string; chunker: Chunker; from: number; count: number }; answer: { ok: Cutting } | { error: Refused } };
  /** The engine's reply about the last text that was cut, as JSON. */
  reply: { ask: { chunker: Chunker }; answer: string };
}

export type Call = { [K in keyof Calls]: { seq: number; call: K } & Calls[K]["ask"] }[keyof Calls];
export type Answer = { seq: number; answer: unknown } | { seq: number; fault: string };

/** The operations that need the tokenizer. */
export const COUNTED: ReadonlySet<unknown> = new Set(["pieces", "segments", "chunk"]);

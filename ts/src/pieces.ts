/**
 * pieces (spec 05): the tokenizer's pre-tokenizer pieces of a text, with their token counts. Every chunker cuts only between pieces.
 */
import { Column } from "./columns.ts";
import { CLASSES, LETTER, NUMBER, WHITE } from "./resources.ts";
import type { Range } from "./text.ts";
import { nfc } from "./text.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { Refusal } from "./records.ts";

/** A range in code points, and the number of its tokens. */
export interface Chunk extends Range {
  readonly tokens: number;
}

/** The pieces of a text, in columns: a text has millions. Iterate for objects. */
export class Pieces implements Iterable<Chunk> {
  /** The document. */
  readonly text: string;
  /** The number of pieces. */
  readonly length: number;
  /** Where pieces begin, in UTF-16 units, and where the last one ends: `length + 1` cells. */
  readonly bounds: Uint32Array;
  /** The same in code points; the same column if the text has no astral characters. */
  readonly points: Uint32Array;
  /** The tokens before each piece, and of all: `length + 1` cells. */
  readonly sums: Uint32Array;

  constructor(text: string, bounds: Uint32Array, sums: Uint32Array) {
    this.text = text;
    this.length = bounds.length - 1;
    this.bounds = bounds;
    this.points = codePoints(text, bounds);
    this.sums = sums;
  }

  /** The run of pieces from `from` up to but not including `to`. */
  run(from: number, to: number): Chunk {
    return { start: this.points[from]!, end: this.points[to]!, tokens: this.sums[to]! - this.sums[from]! };
  }

  /** The text of a run of pieces. */
  slice(from: number, to: number): string {
    return this.text.slice(this.bounds[from], this.bounds[to]);
  }

  *[Symbol.iterator](): Generator<Chunk> {
    for (let i = 0; i < this.length; i++) yield this.run(i, i + 1);
  }
}

/**
 * The pieces of a text (rules 2 to 5).
 *
 * @throws Refusal `bad_text` if the text holds a lone surrogate.
 */
export function pieces(text: string, tokenizer: Tokenizer): Pieces {
  if (!text.isWellFormed()) throw new Refusal("bad_text", "the text holds a lone surrogate");
  const { text: normal, atoms } = nfc(text);
  const bounds = new Column(text.length >> 2);
  const sums = new Column(text.length >> 2);
  bounds.push(0);
  sums.push(0);
  let total = 0;
  let atom = 0; // the first segment that NFC changed and that ends after the last match
  let shift = 0; // a position of the source less that of its NFC, since the segment before
  for (let at = 0; at < normal.length; ) {
    const end = matchEnd(normal, at);
    total += count(normal.slice(at, end), tokenizer);
    at = end;
    while (atom < atoms.length && atoms[atom + 1]! <= end) {
      shift = atoms[atom + 2]! - atoms[atom + 1]!;
      atom += 3;
    }
    if (atom < atoms.length && atoms[atom]! < end) continue; // inside it: no position of the source
    bounds.push(end + shift);
    sums.push(total);
  }
  return new Pieces(text, bounds.done(), sums.done());
}

/** The number of tokens of one match of the pattern, never 0 (rule 4). */
export function count(match: string, tokenizer: Tokenizer): number {
  return tokenizer.count(match);
}

const CR = 0x0d, LF = 0x0a, SPACE = 0x20, APOSTROPHE = 0x27;
const NOT_OTHER = WHITE | LETTER | NUMBER;

/**
 * The end of the match that begins at `at` < text.length (rule 2). A scanner and no RegExp: it takes the classes from the pinned tables,
 * and a run of a million letters costs it no stack. Letters a to g are those of the spec's table.
 */
export function matchEnd(text: string, at: number): number {
  const length = text.length;
  const first = text.charCodeAt(at);
  let kind = CLASSES[first]!;
  let next = at + 1;
  if (first >= 0xd800 && first <= 0xdbff) {
    kind = CLASSES[text.codePointAt(at)!]!;
    next++;
  }
  if ((kind & LETTER) !== 0) return runOf(text, next, LETTER); // b
  if (first === APOSTROPHE) {
    const end = contractionEnd(text, next); // a
    if (end > 0) return end;
  }
  if ((kind & NUMBER) !== 0) return next; // c
  if (first !== CR && first !== LF && next < length && (kindAt(text, next) & LETTER) !== 0) return runOf(text, next, LETTER); // b
  if ((kind & WHITE) === 0) return othersEnd(text, next); // d
  if (first === SPACE && next < length && (kindAt(text, next) & NOT_OTHER) === 0) return othersEnd(text, next); // d
  let end = at;
  let lineEnd = 0;
  while (end < length) {
    const unit = text.charCodeAt(end);
    if ((CLASSES[unit]! & WHITE) === 0) break;
    end++;
    if (unit === LF || unit === CR) lineEnd = end;
  }
  if (lineEnd > 0) return lineEnd; // e
  return end < length && end - at > 1 ? end - 1 : end; // f, g
}

/** The class of the code point at a unit. */
function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return CLASSES[unit >= 0xd800 && unit <= 0xdbff ? text.codePointAt(at)! : unit]!;
}

/** Where the run of a class that goes on at `at` ends. */
function runOf(text: string, at: number, kind: number): number {
  const length = text.length;
  while (at < length) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      if ((CLASSES[text.codePointAt(at)!]! & kind) === 0) break;
      at += 2;
    } else if ((CLASSES[unit]! & kind) === 0) break;
    else at++;
  }
  return at;
}

/** Where visible others, and the CR and LF after them, end. */
function othersEnd(text: string, at: number): number {
  const length = text.length;
  while (at < length) {
    const unit = text.charCodeAt(at);
    if (unit >= 0xd800 && unit <= 0xdbff) {
      if ((CLASSES[text.codePointAt(at)!]! & NOT_OTHER) !== 0) return at;
      at += 2;
    } else if ((CLASSES[unit]! & NOT_OTHER) !== 0) break;
    else at++;
  }
  while (at < length && (text.charCodeAt(at) === LF || text.charCodeAt(at) === CR)) at++;
  return at;
}

/** The end of a contraction whose apostrophe stands before `at`, or 0. */
function contractionEnd(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case 0x73: case 0x53: case 0x17f: // s S ſ
    case 0x74: case 0x54: // t T
    case 0x6d: case 0x4d: // m M
    case 0x64: case 0x44: // d D
      return at + 1;
    case 0x72: case 0x52: // re
    case 0x76: case 0x56: // ve
      return (text.charCodeAt(at + 1) | 0x20) === 0x65 ? at + 2 : 0;
    case 0x6c: case 0x4c: // ll
      return (text.charCodeAt(at + 1) | 0x20) === 0x6c ? at + 2 : 0;
    default:
      return 0;
  }
}

function codePoints(text: string, bounds: Uint32Array): Uint32Array {
  let at = text.search(/[\ud800-\udbff]/);
  if (at < 0) return bounds;
  const points = new Uint32Array(bounds.length);
  let low = 0; // surrogates that count nothing, so far
  at = 0;
  for (let i = 0; i < bounds.length; i++) {
    for (; at < bounds[i]!; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) low++;
    points[i] = bounds[i]! - low;
  }
  return points;
}

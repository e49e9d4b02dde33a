/**
 * text (spec 04): code points, white space, NFC with a map back to the source, paragraphs and sentences.
 *
 * Inside the engine a position is an index of UTF-16 units, as JavaScript's strings have it. Code points are counted once, where
 * a result is handed out: see Pieces in pieces.ts.
 */
import { Column } from "./columns.ts";
import type { Pieces } from "./pieces.ts";
import { CLASSES, JOINING, KNOWN, NUMBER, UPPER, WHITE } from "./resources.ts";

/** How a text falls into paragraphs, and with them into sentences. */
export type ParagraphRule = "newline" | "blank_line";

/** A half-open range in code points. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const LF = 0x0a, CR = 0x0d;

/** Whether a code point is white space (rule 2). U+200B and U+FEFF are not. */
export function isWhite(point: number): boolean {
  return (CLASSES[point]! & WHITE) !== 0;
}

/** The pieces that start a paragraph, ascending (rules 9 and 10). */
export function paragraphs(pieces: Pieces, rule: ParagraphRule): Uint32Array {
  const { text, bounds, length } = pieces;
  const starts = new Column();
  if (length === 0) return starts.done();
  starts.push(0);
  if (rule === "newline") {
    for (let i = 1; i < length; i++) if (holdsNewline(text, bounds[i - 1]!, bounds[i]!)) starts.push(i);
    return starts.done();
  }
  let piece = 0;
  let ends = 0; // line ends in the run of white space that ends here
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if ((CLASSES[unit]! & WHITE) !== 0) {
      if (unit === LF || (unit === CR && text.charCodeAt(at + 1) !== LF)) ends++;
    } else if (ends > 0) {
      if (ends > 1) {
        const before = piece;
        while (bounds[piece + 1]! <= at) piece++;
        if (piece > before) starts.push(piece);
      }
      ends = 0;
    }
  }
  return starts.done();
}

/** The pieces that start a sentence, ascending (rules 13 and 14). */
export function sentences(pieces: Pieces, rule: ParagraphRule): Uint32Array {
  const { text, bounds, length } = pieces;
  const starts = new Column();
  if (length === 0) return starts.done();
  starts.push(0);
  if (rule === "newline") {
    for (let i = 1; i < length; i++) {
      const before = bounds[i - 1]!;
      const start = bounds[i]!;
      if (holdsNewline(text, before, start)) starts.push(i);
      else if (whiteAt(text, start) && endsSentence(text, before, lessLineEnds(text, before, start))) {
        let limit = bounds[i + 1]!;
        let visible = nextVisible(text, start, limit);
        if (visible === limit && i + 1 < length) visible = nextVisible(text, visible, (limit = bounds[i + 2]!));
        if (visible < limit && opensSentence(text, visible)) starts.push(i);
      }
    }
    return starts.done();
  }
  const fresh = paragraphs(pieces, rule);
  let paragraph = 1; // the next of them
  let visible = 0; // the first visible unit at or after this piece's start
  for (let i = 1; i < length; i++) {
    const before = bounds[i - 1]!;
    const start = bounds[i]!;
    if (fresh[paragraph] === i) {
      paragraph++;
      starts.push(i);
      continue;
    }
    if (!whiteAt(text, start) && !whiteAt(text, start - 1)) continue;
    if (!endsSentence(text, before, lessWhite(text, before, start))) continue;
    if (visible < start) visible = nextVisible(text, start, text.length);
    const paragraphEnd = paragraph < fresh.length ? bounds[fresh[paragraph]!]! : text.length;
    if (visible < paragraphEnd && opensSentence(text, visible)) starts.push(i);
  }
  return starts.done();
}

/** A text's NFC, and what became of its positions. All positions are UTF-16 units. */
export interface Normalized {
  readonly text: string;
  /** Three cells for each segment that NFC changed: its start in `text`, its end in `text`, its end in the source. */
  readonly atoms: Uint32Array;
}

const NONE = new Uint32Array(0);
const HIGH = /[\u0300-\uffff]/; // nothing below U+0300 joins

/** NFC by segments (rules 5 to 8). */
export function nfc(text: string): Normalized {
  if (!HIGH.test(text)) return { text, atoms: NONE };
  const atoms = new Column();
  const parts: string[] = [];
  let copied = 0; // up to here the source is in `parts`
  let out = 0; // the length of `parts`
  let start = 0; // of the segment
  let alone = true; // whether it is one code point that NFC cannot change
  let open = false; // whether a joining code point may still come to it
  const close = (end: number): void => {
    const segment = text.slice(start, end);
    const normal = normalize(segment);
    if (normal === segment) return;
    parts.push(text.slice(copied, start), normal);
    out += start - copied;
    atoms.push(out);
    out += normal.length;
    atoms.push(out);
    atoms.push(end);
    copied = end;
  };
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at)!;
    const kind = CLASSES[point]!;
    const joining = (kind & JOINING) !== 0;
    if (!joining || !open) {
      if (!alone) close(at);
      start = at;
      alone = !joining;
    } else alone = false;
    open = (kind & KNOWN) !== 0;
    at += point > 0xffff ? 2 : 1;
  }
  if (!alone) close(text.length);
  if (parts.length === 0) return { text, atoms: NONE };
  parts.push(text.slice(copied));
  return { text: parts.join(""), atoms: atoms.done() };
}

/** The stripped text of a range of UTF-16 units: less its white space at both ends (rule 15). */
export function stripped(text: string, start: number, end: number): string {
  const first = nextVisible(text, start, end);
  return text.slice(first, lessWhite(text, first, end));
}

/**
 * NFC of one segment. The runtime orders marks by insertion, which is quadratic in their number: a long run of them is put into
 * canonical order first.
 */
function normalize(segment: string): string {
  return (segment.length > 256 ? ordered(segment) : segment).normalize("NFC");
}

/** A segment decomposed, its marks in canonical order, in O(n log n). */
function ordered(segment: string): string {
  const points: string[] = [];
  for (const point of segment) points.push(...point.normalize("NFD"));
  // Whether b may not stand after a: the combining class of a is the greater, and b's is not 0.
  const swaps = (a: string, b: string): boolean => (a + b).normalize("NFD") !== a + b;
  // Every class but 0 is above that of U+0334 (1) or below that of U+0345 (240).
  const marks = [...new Set(points)].filter((mark) => swaps(mark, "\u0334") || swaps("\u0345", mark));
  marks.sort((a, b) => (swaps(a, b) ? 1 : swaps(b, a) ? -1 : 0));
  const ranks = new Map<string, number>();
  let rank = 0;
  marks.forEach((mark, i) => ranks.set(mark, i > 0 && swaps(mark, marks[i - 1]!) ? ++rank : rank));
  const result: string[] = [];
  let run: string[] = [];
  const flush = (): void => {
    run.sort((a, b) => ranks.get(a)! - ranks.get(b)!);
    for (const mark of run) result.push(mark);
    run = [];
  };
  for (const point of points) {
    if (ranks.has(point)) run.push(point);
    else {
      flush();
      result.push(point);
    }
  }
  flush();
  return result.join("");
}

function holdsNewline(text: string, start: number, end: number): boolean {
  for (let at = end - 1; at >= start; at--) if (text.charCodeAt(at) === LF) return true;
  return false;
}

function whiteAt(text: string, at: number): boolean {
  return (CLASSES[text.charCodeAt(at)]! & WHITE) !== 0; // no half of a surrogate pair is white space
}

/** The first visible unit of [start, end), or `end`. */
function nextVisible(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && whiteAt(text, at)) at++;
  return at;
}

function lessWhite(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && whiteAt(text, at - 1)) at--;
  return at;
}

function lessLineEnds(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && (text.charCodeAt(at - 1) === LF || text.charCodeAt(at - 1) === CR)) at--;
  return at;
}

const CLOSERS = new Set([..."\"'”’)]"].map((closer) => closer.charCodeAt(0)));
const OPENERS = new Set([..."\"'“‘(["].map((opener) => opener.charCodeAt(0)));

/** Whether text[start, end) ends a sentence (rule 11). */
function endsSentence(text: string, start: number, end: number): boolean {
  let at = end - 1;
  while (at >= start && CLOSERS.has(text.charCodeAt(at))) at--;
  if (at < start) return false;
  const unit = text.charCodeAt(at);
  return unit === 0x2e || unit === 0x21 || unit === 0x3f;
}

/** Whether the code point at a unit opens a sentence (rule 12). */
function opensSentence(text: string, at: number): boolean {
  const point = text.codePointAt(at)!;
  return (CLASSES[point]! & (UPPER | NUMBER)) !== 0 || OPENERS.has(point);
}

/**
 * Where two values first differ, and how people are told: the page's counterpart of what `chunkproof parity` prints. A test holds the two
 * against each other.
 */
import type { Json } from "./protocol.ts";
import { fromHex, grouped } from "./site.ts";

/** What stands for a value that one side does not have at all. */
export const ABSENT = "(absent)";
/** What stands for an error of one that answered, where the other gave an error. */
export const ANSWERED = "(answered, no error)";

export type Path = readonly (string | number)[];
type Table = { [key: string]: Json };

const isTable = (value: Json | undefined): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether two JSON values are the same, in whatever order their keys stand. */
export function same(one: Json, other: Json): boolean {
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, i) => same(item, other[i]!));
  if (!isTable(one) || !isTable(other)) return one === other;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && same(one[key]!, other[key]!));
}

/** The path of the first value that differs: keys in sorted order, items in order, then the length of a list. */
export function firstDifference(one: Json, other: Json): Path {
  if (isTable(one) && isTable(other)) {
    for (const key of ordered(one, other)) {
      if (!Object.hasOwn(one, key) || !Object.hasOwn(other, key)) return [key];
      if (!same(one[key]!, other[key]!)) return [key, ...firstDifference(one[key]!, other[key]!)];
    }
  }
  if (Array.isArray(one) && Array.isArray(other)) {
    const shorter = Math.min(one.length, other.length);
    for (let i = 0; i < shorter; i++) if (!same(one[i]!, other[i]!)) return [i, ...firstDifference(one[i]!, other[i]!)];
    return [shorter];
  }
  return [];
}

const READING: Record<string, number> = { start: 0, passage: 0, end: 1, score: 1, tokens: 2 };

/** All keys, those of ranges in reading order: start, end, tokens. */
function ordered(one: Table, other: Table): string[] {
  const rank = (key: string): number => (Object.hasOwn(READING, key) ? READING[key]! : 9);
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** The value at a path, or ABSENT. */
export function atPath(value: Json, path: Path): Json {
  let at: Json | undefined = value;
  for (const step of path) {
    if (typeof step === "number" ? !Array.isArray(at) : !isTable(at) || !Object.hasOwn(at, step)) return ABSENT;
    at = (at as Record<string | number, Json>)[step];
    if (at === undefined) return ABSENT;
  }
  return at;
}

/** The value at a path. Where one side answered and the other gave an error, each says so in words. */
export function shownAt(value: Json, path: Path): Json {
  const found = atPath(value, path);
  if (found !== ABSENT || !isTable(value) || path.length === 0) return found;
  if (path[0] === "error" && Object.hasOwn(value, "ok")) return ANSWERED;
  const { error } = value as { error?: Json };
  return path[0] === "ok" && isTable(error) ? `(the error ${String(error["code"])})` : found;
}

/** A path as people write it: `ok.chunks[3].end`. */
export function shownPath(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[\p{L}\p{N}_@]*[\p{L}\p{N}][\p{L}\p{N}_@]*$/u.test(step)) text += text ? `.${step}` : step;
    else text += `['${step}']`;
  }
  return text || "the whole reply";
}

/** Whether a value is the 16 lower-case hexadecimal digits of a double. */
export function isDouble(value: Json): value is string {
  return typeof value === "string" && /^[0-9a-f]{16}$/.test(value);
}

/** How many doubles lie from one to the other, signed. */
export function ulps(one: string, other: string): bigint {
  return ordinal(other) - ordinal(one);
}

function ordinal(digits: string): bigint {
  const bits = BigInt(`0x${digits}`);
  return bits >> 63n ? -(bits & ((1n << 63n) - 1n)) : bits;
}

/** Seventeen significant digits, enough to tell any two doubles apart; the layout is that of C's `%.17g`. */
export function shownDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits, power] = value.toExponential(16).split("e") as [string, string];
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 17) return plain(digits, exponent);
  return `${trimmed(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Digits `d.ddd` and an exponent, without the exponent. */
function plain(digits: string, exponent: number): string {
  const sign = digits.startsWith("-") ? "-" : "";
  const all = digits.replace(/[-.]/g, "");
  if (exponent < 0) return sign + trimmed(`0.${"0".repeat(-exponent - 1)}${all}`);
  return sign + trimmed(`${all.slice(0, exponent + 1)}.${all.slice(exponent + 1)}`);
}

const trimmed = (digits: string): string => (digits.includes(".") ? digits.replace(/\.?0*$/, "") : digits);

/** The double nearest to the fraction that `n/d` stands for; null for anything else. */
export function fraction(value: Json): number | null {
  const [, n, d] = typeof value === "string" ? (/^(\d+)\/(\d+)$/.exec(value) ?? []) : [];
  return n === undefined || Number(d) === 0 ? null : Number(n) / Number(d);
}

const LONGEST = 100;

/** A value of each side on a line of its own, doubles with their decimal and their distance from the first. */
export function valueLines(values: readonly (readonly [name: string, value: Json])[]): string[] {
  const width = Math.max(10, ...values.map(([name]) => name.length));
  const first = values[0]![1];
  return values.map(([name, value]) => {
    let shown = typeof value === "string" ? value : written(value);
    const points = Array.from(shown);
    if (points.length > LONGEST) shown = `${points.slice(0, LONGEST).join("")}… (${grouped(points.length)} characters)`;
    if (isDouble(value)) {
      shown += `   ${shownDouble(fromHex(value))}`;
      if (value !== first && isDouble(first)) shown += `   ${signed(ulps(first, value))} ulp`;
    } else {
      const exact = fraction(value);
      if (exact !== null) shown += `   ${shownDouble(exact)}`;
    }
    return line(name, shown, width);
  });
}

const signed = (value: bigint): string => (value < 0n ? "" : "+") + value.toLocaleString("en-GB");

/** JSON with keys in order and a blank after commas and colons. */
function written(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (!isTable(value)) return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}: ${written(value[key]!)}`).join(", ")}}`;
}

/** A labelled line of a report. */
export function line(label: string, text: string, width = 10): string {
  return `  ${label.padEnd(width)} ${text}`;
}

/** A word as a POSIX shell reads it back. */
export function quoted(word: string): string {
  return word !== "" && !/[^\w@%+=:,./-]/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

const AROUND = 40;
const NEAR = 80;
/** The boundaries of the first side and the other. */
export const MARKS = ["│", "┃"] as const;

/** The text, by code points, around two boundaries: forty before the first and after the last; control characters shown. */
export function excerpt(text: string, one: number, other: number): string {
  const points = Array.from(text);
  const within = (at: number): number => Math.max(0, Math.min(at, points.length));
  const [low, high] = [within(Math.min(one, other)), within(Math.max(one, other))];
  const piece = (from: number, to: number): string => points.slice(Math.max(0, from), to).join("");
  let between = piece(low, high);
  if (high - low > 2 * NEAR) between = `${piece(low, low + NEAR)} … ${piece(high - NEAR, high)}`;
  const [first, last] = one <= other ? MARKS : [MARKS[1], MARKS[0]];
  const marked = visible(piece(low - AROUND, low)) + (low !== high ? first + visible(between) + last : first) + visible(piece(high, high + AROUND));
  return (low > AROUND ? "…" : "") + marked + (high + AROUND < points.length ? "…" : "");
}

const NAMED: Record<string, string> = { "\n": "↵", "\r": "␍", "\t": "␉" };

/** A text whose invisible characters are named: what would end a line, or turn the direction of reading, does neither. */
export function visible(text: string): string {
  return text.replace(/[\p{C}\p{Z}]/gu, (character) =>
    character === " " ? character : (NAMED[character] ?? `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`),
  );
}

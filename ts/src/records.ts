/**
 * records (spec 02 and the values of 01): which lines are JSON, and which bytes a reply has.
 *
 * JSON.parse keeps the last of two equal keys and reads 1e400 as Infinity, so the reader here is our own: one pass,
 * no recursion, and what is nested too deep to be kept costs one byte a level.
 */
import canonicalize from "canonicalize";

/** The error codes of spec 01, in the order in which they are checked. */
export type Code = "bad_request" | "bad_text" | "bad_setting" | "unsupported" | "bad_vectors" | "internal";

/** A request that must be refused. `code` is compared between engines, the message is for people. */
export class Refusal extends Error {
  readonly code: Code;
  /** The request's id where it could be read all the same (a line may be JSON and yet be refused). */
  readonly id: string | null;
  constructor(code: Code, message: string, id: string | null = null) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.id = id;
  }
}

/** The deepest nesting of a request that is read; the request itself is level 1. */
export const DEEPEST = 64;

const QUOTE = 0x22, BACKSLASH = 0x5c, COMMA = 0x2c, COLON = 0x3a, ZERO = 0x30, NINE = 0x39;

/**
 * Reads one line of JSON (rule 1).
 *
 * @throws Refusal `bad_request` if it is not JSON, lists a key twice, nests deeper than 64, or writes a number beyond
 *   binary64. Where only one of the last three is wrong, the refusal carries the `id` of the outermost object.
 */
export function read(text: string): unknown {
  let at = 0;
  let fault = ""; // what is wrong with a line that is JSON by grammar
  let hidden = 0; // how many levels are open below the deepest that is kept
  let kinds = new Uint8Array(128); // 1 where the hidden level is an object
  const open: (unknown[] | Record<string, unknown>)[] = [];
  const keys: string[] = []; // the key that waits for its value, for each kept level
  let result: unknown; // the outermost value
  let idTwice = false;

  const bad = (): never => {
    throw new Refusal("bad_request", at < text.length ? `not JSON at UTF-16 unit ${at}` : "not JSON: the line ends too early");
  };
  const skip = (): number => {
    let unit = text.charCodeAt(at);
    while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++at);
    return unit; // NaN at the end
  };
  const string = (): string => {
    const start = ++at;
    let escaped = false;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) break;
      if (!(unit >= 0x20)) bad();
      if (unit === BACKSLASH) {
        escaped = true;
        const next = text.charCodeAt(at + 1);
        if (next === 0x75) {
          for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(text.charCodeAt(digit))) bad();
          at += 6;
        } else if (next === QUOTE || next === BACKSLASH || next === 0x2f || next === 0x62 || next === 0x66 || next === 0x6e || next === 0x72 || next === 0x74) at += 2;
        else bad();
      } else at++;
    }
    at++;
    return escaped ? JSON.parse(text.slice(start - 1, at)) : text.slice(start, at - 1);
  };
  const digits = (): void => {
    if (!isDigit(text.charCodeAt(at))) bad();
    while (isDigit(text.charCodeAt(at))) at++;
  };
  const number = (): number => {
    const start = at;
    if (text.charCodeAt(at) === 0x2d) at++;
    if (text.charCodeAt(at) === ZERO) at++;
    else {
      let value = 0;
      const first = at;
      while (isDigit(text.charCodeAt(at))) value = value * 10 + (text.charCodeAt(at++) - ZERO);
      if (at === first) bad();
      const next = text.charCodeAt(at);
      if (first === start && at - first <= 15 && next !== 0x2e && (next | 0x20) !== 0x65) return value;
    }
    if (text.charCodeAt(at) === 0x2e) {
      at++;
      digits();
    }
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      at++;
      const sign = text.charCodeAt(at);
      if (sign === 0x2b || sign === 0x2d) at++;
      digits();
    }
    const value = Number(text.slice(start, at));
    if (!Number.isFinite(value)) fault ||= "a number is beyond binary64";
    return value === 0 ? 0 : value; // -0 is 0
  };
  const word = (expected: string): void => {
    if (!text.startsWith(expected, at)) bad();
    at += expected.length;
  };
  const place = (value: unknown): void => {
    if (hidden > 0) return;
    if (open.length === 0) {
      result = value;
      return;
    }
    const parent = open[open.length - 1]!;
    if (Array.isArray(parent)) {
      parent.push(value);
      return;
    }
    const key = keys[keys.length - 1]!;
    if (Object.hasOwn(parent, key)) {
      fault ||= `the key ${JSON.stringify(key)} stands twice in one object`;
      if (open.length === 1 && key === "id") idTwice = true;
    }
    if (key === "__proto__") Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
    else parent[key] = value;
  };
  const key = (): void => {
    if (skip() !== QUOTE) bad();
    const name = string();
    if (hidden === 0) keys[keys.length - 1] = name;
    if (skip() !== COLON) bad();
    at++;
  };

  for (;;) {
    // One value begins here.
    const unit = skip();
    let value: unknown;
    let closed = true;
    if (unit === 0x7b || unit === 0x5b) {
      const isObject = unit === 0x7b;
      at++;
      value = isObject ? {} : [];
      place(value);
      const empty = skip() === (isObject ? 0x7d : 0x5d);
      if (open.length + hidden === DEEPEST) fault ||= `nested deeper than ${DEEPEST}`;
      if (empty) at++;
      else {
        if (open.length === DEEPEST) {
          if (hidden === kinds.length) {
            const wider = new Uint8Array(kinds.length * 2);
            wider.set(kinds);
            kinds = wider;
          }
          kinds[hidden++] = isObject ? 1 : 0;
        } else {
          open.push(value as unknown[]);
          keys.push("");
        }
        if (isObject) key();
        closed = false;
      }
    } else {
      if (unit === QUOTE) value = string();
      else if (unit === 0x2d || isDigit(unit)) value = number();
      else if (unit === 0x74) (word("true"), (value = true));
      else if (unit === 0x66) (word("false"), (value = false));
      else if (unit === 0x6e) (word("null"), (value = null));
      else bad();
      place(value);
    }
    // After a value: a comma and the next one, or the ends of what is open.
    while (closed) {
      if (open.length === 0) {
        skip();
        if (at < text.length) bad();
        if (fault !== "") throw new Refusal("bad_request", fault, idTwice ? null : idOf(result));
        return result;
      }
      const isObject = hidden > 0 ? kinds[hidden - 1] === 1 : !Array.isArray(open[open.length - 1]);
      const next = skip();
      at++;
      if (next === COMMA) {
        if (isObject) key();
        closed = false;
      } else if (next === (isObject ? 0x7d : 0x5d)) {
        if (hidden > 0) hidden--;
        else {
          open.pop();
          keys.pop();
        }
      } else {
        at--;
        bad();
      }
    }
  }
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The id of a request, or null where it could not be read (spec 01, rule 4). */
export function idOf(value: unknown): string | null {
  const id = isObject(value) && Object.hasOwn(value, "id") ? value["id"] : undefined;
  return typeof id === "string" && id.isWellFormed() ? id : null;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

function isHex(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Decodes a line's bytes; a byte order mark stays, and is then not JSON.
 *
 * @throws Refusal `bad_request` if they are not UTF-8.
 */
export function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal("bad_request", "the line is not UTF-8");
  }
}

/**
 * The canonical form of a JSON value, RFC 8785 (rule 2).
 *
 * @throws Error if the value holds NaN, an infinity or a lone surrogate.
 */
export function canonical(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("not a JSON value");
  // JSON.stringify writes a lone surrogate, and nothing else above U+001F, as an escape.
  if (/(?<!\\)(?:\\\\)*\\ud/.test(text)) throw new TypeError("a lone surrogate has no canonical form");
  return text;
}

/** The lower-case hexadecimal SHA-256 of the canonical bytes (rule 3). */
export async function digest(value: unknown): Promise<string> {
  return sha256(new TextEncoder().encode(canonical(value)));
}

/** The lower-case hexadecimal SHA-256 of bytes, by the platform's Web Crypto. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A long list of a reply, made item by item only when it is written. */
export class List<T = unknown> implements Iterable<T> {
  readonly length: number;
  readonly item: (index: number) => T;
  constructor(length: number, item: (index: number) => T) {
    this.length = length;
    this.item = item;
  }
  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.length; i++) yield this.item(i);
  }
  toJSON(): T[] {
    return Array.from(this);
  }
}

const BLOCK = 1 << 16;

/** The JSON text of a reply, in blocks of about 64 Ki units, so that no reply has to fit into one string. */
export function* blocks(value: unknown): Generator<string> {
  let block = "";
  for (const part of parts(value)) {
    block += part;
    if (block.length >= BLOCK) {
      yield block;
      block = "";
    }
  }
  if (block !== "") yield block;
}

function* parts(value: unknown): Generator<string> {
  if (value instanceof List || (Array.isArray(value) && value.some((item) => typeof item === "object"))) {
    let lead = "[";
    let run = "";
    for (const item of value as Iterable<unknown>) {
      if (holdsLists(item)) {
        yield run + lead;
        run = "";
        yield* parts(item);
      } else {
        run += lead + JSON.stringify(item);
        if (run.length >= BLOCK) {
          yield run;
          run = "";
        }
      }
      lead = ",";
    }
    yield run + (lead === "[" ? "[]" : "]");
  } else if (Array.isArray(value) && value.length > 4096) {
    yield "[";
    for (let i = 0; i < value.length; i += 4096) yield (i > 0 ? "," : "") + JSON.stringify(value.slice(i, i + 4096)).slice(1, -1);
    yield "]";
  } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    let lead = "{";
    for (const [key, inner] of Object.entries(value)) {
      yield lead + JSON.stringify(key) + ":";
      yield* parts(inner);
      lead = ",";
    }
    yield lead === "{" ? "{}" : "}";
  } else yield JSON.stringify(value);
}

function holdsLists(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof List || Array.isArray(value) || Object.values(value).some((inner) => typeof inner === "object" && inner !== null);
}

const view = new DataView(new ArrayBuffer(8));

/** A double as the 16 lower-case hexadecimal digits of its big-endian bytes; −0 as +0. */
export function hex(value: number): string {
  view.setFloat64(0, value === 0 ? 0 : value);
  return view.getUint32(0).toString(16).padStart(8, "0") + view.getUint32(4).toString(16).padStart(8, "0");
}

/** The double that 16 hexadecimal digits of either case write, or undefined if they do not or it is not finite. */
export function unhex(digits: string): number | undefined {
  if (!/^[0-9A-Fa-f]{16}$/.test(digits)) return undefined;
  view.setUint32(0, Number.parseInt(digits.slice(0, 8), 16));
  view.setUint32(4, Number.parseInt(digits.slice(8), 16));
  const value = view.getFloat64(0);
  return Number.isFinite(value) ? value : undefined;
}

const SIXES = new Int8Array(128).fill(-1);
for (const [value, letter] of [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].entries()) SIXES[letter.charCodeAt(0)] = value;

/** The bytes of base64 (RFC 4648 §4: with padding, no other characters, unused bits zero), or undefined. */
export function base64(text: string): Int8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Int8Array((text.length / 4) * 3 - padding);
  const letters = text.length - padding;
  let to = 0;
  let bits = 0;
  for (let i = 0; i < letters; i++) {
    const unit = text.charCodeAt(i);
    const six = unit < 128 ? SIXES[unit]! : -1;
    if (six < 0) return undefined;
    bits = ((bits << 6) | six) & 0xffffff;
    if (i % 4 === 1) bytes[to++] = bits >> 4;
    else if (i % 4 === 2) bytes[to++] = bits >> 2;
    else if (i % 4 === 3) bytes[to++] = bits;
  }
  if (padding === 1 && (bits & 3) !== 0) return undefined;
  if (padding === 2 && (bits & 15) !== 0) return undefined;
  return bytes;
}

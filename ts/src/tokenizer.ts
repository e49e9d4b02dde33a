/**
 * tokenizer (spec 05, rules 1 and 4): the byte-pair-encoding model of one pinned tokenizer.json, and nothing else of it: not its
 * normalizer, its pre-tokenizer or its added tokens.
 */
import { Tokenizer as Library } from "@huggingface/tokenizers";
import { Column } from "./columns.ts";
import { Refusal, sha256 } from "./records.ts";

/** The SHA-256 of the only tokenizer.json that an engine may use. */
export const TOKENIZER_SHA256 = "c0382117ea329cdf097041132f6d735924b697924d6f6fc3945713e96ce87539";

/** Counts the tokens of one match of the pattern. */
export interface Tokenizer {
  /** The number of tokens of a non-empty string (rule 4). */
  count(match: string): number;
}

/** What is used of the library's BPE model. */
interface Model {
  encode(words: string[]): string[];
  readonly merges: readonly (readonly [string, string])[];
  readonly tokens_to_ids: ReadonlyMap<string, number>;
}

/**
 * A tokenizer from the bytes of tokenizer.json, whose SHA-256 the caller has checked; most want `loadTokenizer`.
 */
export function tokenizerFrom(json: Uint8Array): Tokenizer {
  const library = new Library(JSON.parse(new TextDecoder().decode(json)), {});
  return new Counter(library.model as unknown as Model);
}

/**
 * The tokenizer of a tokenizer.json, given as its bytes or as the place to read or fetch it from; by default the file beside this module.
 *
 * @throws Error if it cannot be read, or is another file than the spec's.
 */
export async function loadTokenizer(from: Uint8Array | URL | string = new URL("./tokenizer.json", import.meta.url)): Promise<Tokenizer> {
  const json = from instanceof Uint8Array ? from : await bytesAt(from);
  const found = await sha256(new Uint8Array(json));
  if (found !== TOKENIZER_SHA256) throw new Error(wrongFile(found));
  return tokenizerFrom(json);
}

/** What to tell somebody whose tokenizer.json is not the spec's. */
export function wrongFile(sha256: string): string {
  return `this tokenizer.json has SHA-256 ${sha256}; Qwen2.5's, which the spec pins, has ${TOKENIZER_SHA256}`;
}

async function bytesAt(from: URL | string): Promise<Uint8Array> {
  const url = typeof from === "string" && /^[a-z][a-z+.-]+:/.test(from) ? new URL(from) : from;
  if (url instanceof URL && url.protocol !== "file:") {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url.href}: ${response.status} ${response.statusText}`);
    return new Uint8Array(await response.arrayBuffer());
  }
  const files = "node:fs/promises"; // in a variable, so that a bundler for browsers leaves it alone
  const { readFile } = (await import(/* @vite-ignore */ files)) as typeof import("node:fs/promises");
  return readFile(url);
}

/** The character that ByteLevel writes for each byte: printable Latin-1 for itself, the others from U+0100 on. */
const LETTERS: readonly string[] = (() => {
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    return String.fromCharCode(printable ? byte : next++);
  });
})();

/** Above this many bytes a match is merged by LongMerge. */
const LONG = 512;
/** Matches up to this many UTF-16 units are remembered, at most this many at once. */
const SHORT = 64;
const REMEMBERED = 1 << 18;

class Counter implements Tokenizer {
  readonly #model: Model;
  readonly #counts = new Map<string, number>();
  readonly #encoder = new TextEncoder();
  #long: LongMerge | undefined;

  constructor(model: Model) {
    this.#model = model;
  }

  count(match: string): number {
    const known = this.#counts.get(match);
    if (known !== undefined) return known;
    if (!match.isWellFormed()) throw new Refusal("bad_text", "the text holds a lone surrogate");
    const bytes = this.#encoder.encode(match);
    if (bytes.length > LONG) {
      this.#long ??= new LongMerge(this.#model);
      return this.#long.count(bytes);
    }
    let word = "";
    for (const byte of bytes) word += LETTERS[byte];
    const count = this.#model.encode([word]).length;
    if (match.length <= SHORT) {
      if (this.#counts.size === REMEMBERED) this.#counts.clear();
      // A slice keeps the whole text alive: remember a copy.
      this.#counts.set((" " + match).slice(1), count);
    }
    return count;
  }
}

/**
 * The same merges on columns of integers. The library keeps an object for each byte and one for each candidate: a run of a million
 * letters would take it many seconds and most of a gigabyte. A test holds the two against each other.
 */
class LongMerge {
  readonly #bytes: Int32Array; // token of each single byte
  readonly #keys: Float64Array; // open addressing: left·2^18 + right, or −1
  readonly #ranks: Int32Array;
  readonly #merged: Int32Array;
  readonly #mask: number;
  readonly #size: number; // the number of merges

  constructor(model: Model) {
    const ids = model.tokens_to_ids;
    this.#bytes = Int32Array.from(LETTERS, (letter) => ids.get(letter)!);
    this.#size = model.merges.length;
    const size = 1 << 19; // for 151,387 merges
    this.#mask = size - 1;
    this.#keys = new Float64Array(size).fill(-1);
    this.#ranks = new Int32Array(size);
    this.#merged = new Int32Array(size);
    model.merges.forEach(([left, right], rank) => {
      const a = ids.get(left)!;
      const b = ids.get(right)!;
      const slot = this.#slot(a, b);
      this.#keys[slot] = a * 262144 + b;
      this.#ranks[slot] = rank;
      this.#merged[slot] = ids.get(left + right)!;
    });
  }

  #slot(a: number, b: number): number {
    const key = a * 262144 + b;
    let slot = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b)) >>> 11 & this.#mask;
    for (let found = this.#keys[slot]!; found !== -1 && found !== key; found = this.#keys[slot]!) slot = (slot + 1) & this.#mask;
    return slot;
  }

  count(bytes: Uint8Array): number {
    const n = bytes.length;
    const token = Int32Array.from(bytes, (byte) => this.#bytes[byte]!);
    const next = new Int32Array(n); // the place of the next token
    const previous = new Int32Array(n);
    const rankAt = new Int32Array(n).fill(-1); // of the pair that begins here
    // The places that were offered for each rank, as linked lists. A pair that a merge brings about always has a higher rank than
    // that merge, since this model makes each token by one merge, after those of its parts: so ranks are done in one ascent.
    const heads = new Int32Array(this.#size).fill(-1);
    const places = new Column(n);
    const links = new Column(n);
    const offer = (at: number): void => {
      const after = next[at]!;
      const slot = after < n ? this.#slot(token[at]!, token[after]!) : -1;
      if (slot < 0 || this.#keys[slot]! < 0) {
        rankAt[at] = -1;
        return;
      }
      const rank = this.#ranks[slot]!;
      rankAt[at] = rank;
      links.push(heads[rank]! + 1);
      heads[rank] = places.length;
      places.push(at);
    };
    for (let i = 0; i < n; i++) {
      next[i] = i + 1;
      previous[i] = i - 1;
    }
    for (let i = n - 1; i >= 0; i--) offer(i);
    let count = n;
    for (let rank = 0; rank < heads.length; rank++) {
      if (heads[rank]! < 0) continue;
      const here = new Column();
      for (let entry = heads[rank]! + 1; entry > 0; entry = links.at(entry - 1)) here.push(places.at(entry - 1));
      for (const at of here.done().sort()) {
        if (rankAt[at] !== rank) continue; // merged or changed since
        const after = next[at]!;
        token[at] = this.#merged[this.#slot(token[at]!, token[after]!)]!;
        rankAt[after] = -1;
        const beyond = next[after]!;
        next[at] = beyond;
        if (beyond < n) previous[beyond] = at;
        count--;
        offer(at);
        if (at > 0) offer(previous[at]!);
      }
    }
    return count;
  }
}

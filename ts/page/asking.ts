/** The check's requests, from their short form to the digest of the value that is compared. Runs in the worker. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Context } from "../src/engine.ts";
import { answer } from "../src/engine.ts";
import { canonical } from "../src/records.ts";
import type { Ground, Item, Json, Value } from "./protocol.ts";
import { Points } from "./site.ts";

/** The lower-case hexadecimal SHA-256 of a text's UTF-8. By a library, since browsers hide their own from pages that came by plain http. */
export function hashOf(text: string): string {
  return bytesToHex(sha256(new TextEncoder().encode(text)));
}

/** What stands for what in a request's short form. */
type Short = { [key: string]: Json };
const PARTS = ["similarities", "threshold"];

/** Asks the engine items, one after the other; what one item rests on of another is kept. */
export class Asking {
  readonly #ground: Ground;
  readonly #context: () => Context;
  readonly #documents: Points[];
  /** Of each case whose rankings were asked for, the passages, best first. */
  readonly #rankings = new Map<string, number[][]>();
  /** A semantic reply is compared part by part: the last one is kept, by the request's line. */
  #last: { line: string; value: Value } | undefined;

  constructor(ground: Ground, context: () => Context) {
    this.#ground = ground;
    this.#context = context;
    this.#documents = ground.documents.map((text) => new Points(text));
  }

  /** The digest of an item's value. */
  digest(item: Item): string {
    return hashOf(this.value(item));
  }

  /** The canonical JSON of an item's value. */
  value(item: Item): string {
    const line = JSON.stringify({ id: item.case, ...this.expand(item.request) });
    const kept = this.#last?.line === line ? this.#last.value : this.#ask(line);
    this.#last = item.request["op"] === "chunk" ? { line, value: kept } : undefined;
    if (item.stage === "rankings" && "ok" in kept) this.#note(item.case, kept.ok);
    return canonical(partOf(kept, item.stage));
  }

  /** The reply to a line, without id and message. */
  #ask(line: string): Value {
    const reply = answer(line, this.#context());
    return "ok" in reply ? { ok: JSON.parse(JSON.stringify(reply.ok)) } : { error: { code: reply.error.code } };
  }

  #note(name: string, ok: Json): void {
    const { rankings } = ok as unknown as { rankings: { passage: number }[][] };
    this.#rankings.set(name, rankings.map((ranking) => ranking.map(({ passage }) => passage)));
  }

  /** A request in full: whatever stands for a text, a list of them, vectors or rankings is put in its place. */
  expand(request: Short): Short {
    return Object.fromEntries(Object.entries(request).map(([key, value]) => [key, this.#expanded(value)]));
  }

  #expanded(value: Json): Json {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    const [mark, ...more] = Object.keys(value);
    if (mark === undefined) return value;
    const given = value[mark]!;
    if (more.length === 0)
      switch (mark) {
        case "$document": return this.#document(given as number).text;
        case "$slices": return triples(given).map(([document, start, end]) => this.#document(document).slice(start, end));
        case "$spans": return triples(given).map(([document, start, end]) => ({ document, start, end }));
        case "$queries": return this.#ground.questions.map(({ text }) => text);
        case "$answers": return this.#ground.questions.map(({ document, start, end }) => ({ document, start, end }));
        case "$vectors": return this.#vectors(given as string);
        case "$rankings": return this.#ranked(given as string);
      }
    const inner = value["vectors"]; // a chunker's
    return inner === undefined ? value : { ...value, vectors: this.#expanded(inner) };
  }

  #document(index: number): Points {
    const found = this.#documents[index];
    if (!found) throw new Error(`the report has no document ${index}`);
    return found;
  }

  #vectors(name: string): Json {
    const found = this.#ground.vectors[name];
    if (found === undefined) throw new Error(`the report has no vectors ${name}`);
    return found;
  }

  #ranked(name: string): number[][] {
    const found = this.#rankings.get(name);
    if (!found) throw new Error(`the rankings of ${name} have not been asked for`);
    return found;
  }
}

function* cells(flat: number[]): Generator<[number, number, number]> {
  for (let i = 0; i + 2 < flat.length; i += 3) yield [flat[i]!, flat[i + 1]!, flat[i + 2]!];
}

function triples(flat: Json): [number, number, number][] {
  return [...cells(flat as number[])];
}

/** What a stage compares of a reply: of a semantic one similarities and threshold are stages of their own. */
export function partOf(value: Value, stage: string): Value {
  if (!("ok" in value) || !(PARTS.includes(stage) || stage === "chunks")) return value;
  const ok = value.ok as Short;
  const kept = Object.entries(ok).filter(([key]) => (stage === "chunks" ? !PARTS.includes(key) : key === stage));
  return { ok: Object.fromEntries(kept) };
}

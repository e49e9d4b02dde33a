/**
 * requests (spec 01): the fields of every operation, as a table, and the order in which errors are found.
 *
 * Reading a request throws `bad_request` at once; a lone surrogate and a setting outside its range are only noted, since whatever is
 * `bad_request` anywhere in the request comes first.
 */
import type { Unit } from "./bootstrap.ts";
import type { Span } from "./metrics.ts";
import { Refusal, isObject, unhex } from "./records.ts";
import type { Range } from "./text.ts";

/** What was found while reading that is no `bad_request`. */
interface Notes {
  text: string;
  setting: string;
}

/** Reads a JSON value as T, or throws. `at` names the place for people. */
type Reader<T> = (value: unknown, at: string, notes: Notes) => T;

type Read<F> = { -readonly [K in keyof F]: F[K] extends Reader<infer T> ? T : never };
type Fields = Readonly<Record<string, Reader<unknown>>>;

function wrong(at: string, expected: string): never {
  throw new Refusal("bad_request", `${at} must be ${expected}`);
}

const text: Reader<string> = (value, at, notes) => {
  if (typeof value !== "string") wrong(at, "a string");
  if (!value.isWellFormed()) notes.text ||= `${at} holds a lone surrogate`;
  return value;
};

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

function noteRange(value: number, min: number, max: number, at: string, notes: Notes): void {
  if (value < min || value > max) notes.setting ||= `${at} must be ${max === Infinity ? `at least ${min}` : `${min} … ${max}`}`;
}

/** An integer; outside `min` … `max` it is a bad setting. */
const integer = (min = -Infinity, max = Infinity): Reader<number> => (value, at, notes) => {
  if (!isInteger(value)) wrong(at, "an integer");
  noteRange(value, min, max, at, notes);
  return value === 0 ? 0 : value;
};

/** An integer ≥ 0 that is no setting: below 0 the request is bad. */
const count: Reader<number> = (value, at) => {
  if (!isInteger(value) || value < 0) wrong(at, "an integer of at least 0");
  return value === 0 ? 0 : value;
};

/** A number; outside `min` … `max` it is a bad setting. */
const number = (min = -Infinity, max = Infinity): Reader<number> => (value, at, notes) => {
  if (typeof value !== "number" || !Number.isFinite(value)) wrong(at, "a number");
  noteRange(value, min, max, at, notes);
  return value === 0 ? 0 : value;
};

const double: Reader<number> = (value, at) => {
  const read = typeof value === "string" ? unhex(value) : undefined;
  return read ?? wrong(at, "16 hexadecimal digits of a finite double");
};

const oneOf = <T extends string>(...names: readonly T[]): Reader<T> => (value, at) => {
  if (typeof value !== "string" || !(names as readonly string[]).includes(value)) wrong(at, `one of ${names.join(", ")}`);
  return value as T;
};

const list = <T>(item: Reader<T>): Reader<T[]> => (value, at, notes) => {
  if (!Array.isArray(value)) wrong(at, "a list");
  const place = `an item of ${at}`;
  return value.map((inner) => item(inner, place, notes));
};

const twoIntegers: Reader<readonly [number, number]> = (value, at) => {
  if (!Array.isArray(value) || value.length !== 2 || !isInteger(value[0]) || !isInteger(value[1])) wrong(at, "two integers");
  return value as unknown as readonly [number, number];
};

/** A fraction [n, d] of two integers; n below `least` and d below 1 are bad settings. */
const fractionOf = (least: number): Reader<readonly [number, number]> => (value, at, notes) => {
  const read = twoIntegers(value, at, notes);
  if (read[0] < least || read[1] < 1) notes.setting ||= `${at} must be [n, d] with n at least ${least} and d at least 1`;
  return read;
};

const DEFAULTS = new WeakMap<Reader<unknown>, unknown>();

/** A field that may be left out. */
const optional = <T>(reader: Reader<T>, otherwise: T): Reader<T> => {
  const field: Reader<T> = (value, at, notes) => reader(value, at, notes);
  DEFAULTS.set(field, otherwise);
  return field;
};

const object = <F extends Fields>(fields: F, check?: (value: Read<F>, notes: Notes) => void): Reader<Read<F>> => {
  const entries = Object.entries(fields);
  return (value, at, notes) => {
    if (!isObject(value)) wrong(at, "an object");
    for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) throw new Refusal("bad_request", `${at} has an unknown field ${JSON.stringify(name)}`);
    const result: Record<string, unknown> = {};
    for (const [name, reader] of entries) {
      if (Object.hasOwn(value, name)) result[name] = reader(value[name], name, notes);
      else if (DEFAULTS.has(reader)) result[name] = DEFAULTS.get(reader);
      else throw new Refusal("bad_request", `${at} lacks the field ${name}`);
    }
    check?.(result as Read<F>, notes);
    return result as Read<F>;
  };
};

/** An object whose other fields depend on the name in one of them. */
const byName = <C extends Readonly<Record<string, Reader<unknown>>>>(field: string, cases: C): Reader<C[keyof C] extends Reader<infer T> ? T : never> =>
  (value, at, notes) => {
    if (!isObject(value)) wrong(at, "an object");
    const name = Object.hasOwn(value, field) ? value[field] : undefined;
    if (typeof name !== "string" || !Object.hasOwn(cases, name)) wrong(`${at}'s ${field}`, `one of ${Object.keys(cases).join(", ")}`);
    return cases[name]!(value, at, notes) as never;
  };

const is = <T extends string>(name: T): Reader<T> => oneOf(name);

const size = integer(1);
const paragraphs = optional(oneOf("newline", "blank_line"), "blank_line");
const percentile = integer(0, 100);
const pool = optional(integer(1), 50);
const depth = optional(integer(1), 50);
const seed = integer(0, 4294967295);

/** Vectors inline, as base64. */
const inlineVectors = object({ dim: integer(1), int8: text });
/** Vectors in an Arrow file. */
const arrowVectors = object({
  arrow: text,
  sha256: text,
  column: text,
  rows: optional<readonly [number, number] | null>(twoIntegers, null),
});
export type InlineVectors = ReturnType<typeof inlineVectors>;
export type ArrowVectors = ReturnType<typeof arrowVectors>;
export type Vectors = InlineVectors | ArrowVectors;

const vectors: Reader<Vectors> = (value, at, notes) =>
  isObject(value) && Object.hasOwn(value, "arrow") ? arrowVectors(value, at, notes) : inlineVectors(value, at, notes);

const chunker = byName("kind", {
  fixed: object({ kind: is("fixed"), size, overlap: optional(integer(0), 0) }, (value, notes) => {
    if (value.overlap >= value.size) notes.setting ||= `overlap ${value.overlap} must be below size ${value.size}`;
  }),
  recursive: object({ kind: is("recursive"), size, paragraphs }),
  semantic: object({ kind: is("semantic"), size, vectors, percentile: optional(percentile, 25), paragraphs }),
});

const bm25 = object({ kind: is("bm25"), k1: optional(number(0), 1.2), b: optional(number(0, 1), 0.75) });
const withVectors = byName("kind", {
  dense: object({ kind: is("dense"), precision: optional(oneOf("int8", "int4", "binary"), "int8") }),
  rrf: object({ kind: is("rrf"), k: optional(integer(0), 60), pool }),
  weighted: object({ kind: is("weighted"), alpha: optional(number(0, 1), 0.5), pool }),
});

const span: Reader<Span> = (value, at, notes) => {
  const read = spanFields(value, at, notes);
  if (read.document < 0 || read.start < 0 || read.start >= read.end) wrong(at, "a range with document and start at least 0 and start below end");
  return read;
};
const spanFields = object({ document: integer(), start: integer(), end: integer() });

const id = text;
const rankFields = { id, op: is("rank"), passages: list(text), queries: list(text), depth };
const rankBm25 = object({ ...rankFields, method: bm25 });
const rankVectors = object({ ...rankFields, method: withVectors, passage_vectors: vectors, query_vectors: vectors });

const rank: Reader<ReturnType<typeof rankBm25> | ReturnType<typeof rankVectors>> = (value, at, notes) => {
  const method = isObject(value) ? value["method"] : undefined;
  const isBm25 = isObject(method) && Object.hasOwn(method, "kind") && method["kind"] === "bm25";
  return isBm25 ? rankBm25(value, at, notes) : rankVectors(value, at, notes);
};

/** Refuses a ranking that names one twice or one that is not there. `seen` has a cell for each that is; `mark` is no other ranking's. */
function checkRanking(ranking: readonly number[], seen: Uint32Array, mark: number): void {
  for (const index of ranking) {
    if (index < 0 || index >= seen.length) wrong("a ranking", "of what is there");
    if (seen[index] === mark) wrong("a ranking", "without repetition");
    seen[index] = mark;
  }
}

const evaluate = object(
  { id, op: is("evaluate"), passages: list(span), answers: list(span), rankings: list(list(integer())), cutoffs: optional(list(integer(1)), [1, 3, 5, 10, 20]) },
  (value, notes) => {
    if (value.rankings.length !== value.answers.length) wrong("rankings", "one for each answer");
    const seen = new Uint32Array(value.passages.length);
    value.rankings.forEach((ranking, i) => checkRanking(ranking, seen, i + 1));
    if (value.cutoffs.length === 0 || new Set(value.cutoffs).size < value.cutoffs.length) notes.setting ||= "cutoffs must be distinct, and not empty";
  },
);

const headed = object({ from: integer(), to: integer(), extra: count });
const fill = object({ id, op: is("fill"), tokens: list(count), chunks: list(headed), ranking: list(integer()), budget: integer(1) }, (value) => {
  for (const { from, to } of value.chunks) if (from < 0 || from >= to || to > value.tokens.length) wrong("a chunk", "a run of at least one of the pieces");
  checkRanking(value.ranking, new Uint32Array(value.chunks.length), 1);
});

const range: Reader<Range> = (value, at, notes) => {
  const read = rangeFields(value, at, notes);
  if (read.start < 0 || read.start >= read.end) wrong(at, "a range with start at least 0 and below end");
  return read;
};
const rangeFields = object({ start: integer(), end: integer() });

const words = oneOf("half", "all");
const least = integer(1);
const minimum: Reader<number | "half" | "all"> = (value, at, notes) => (typeof value === "string" ? words : least)(value, at, notes);

/** A unit [c, q]: a number and an integer, neither below 0. */
const unit: Reader<Unit> = (value, at) => {
  if (!Array.isArray(value) || value.length !== 2) wrong(at, "a pair [c, q]");
  const [c, q] = value;
  if (typeof c !== "number" || !Number.isFinite(c) || c < 0) wrong(`the c of ${at}`, "a number of at least 0");
  if (!isInteger(q) || q < 0) wrong(`the q of ${at}`, "an integer of at least 0");
  return [c, q];
};
const bootstrap = object(
  { id, op: is("bootstrap"), treatment: list(unit), baseline: list(unit), resamples: optional(integer(1, 1_000_000), 10_000), seed: optional(seed, 1) },
  ({ treatment, baseline }) => {
    if (treatment.length === 0 || treatment.length !== baseline.length) wrong("treatment and baseline", "of one length, and not empty");
  },
);

const numbersFields = { id, op: is("numbers") };
const numbers = byName("kind", {
  ln: object({ ...numbersFields, kind: is("ln"), fractions: list(fractionOf(1)) }),
  ratio: object({ ...numbersFields, kind: is("ratio"), fractions: list(fractionOf(0)) }),
  sum: object({ ...numbersFields, kind: is("sum"), values: list(double) }),
  print: object({ ...numbersFields, kind: is("print"), values: list(double), decimals: integer(0, 100) }),
  percentile: object({ ...numbersFields, kind: is("percentile"), values: list(double), percentile }),
  mean: object({ ...numbersFields, kind: is("mean"), fractions: list(fractionOf(0)) }),
  random: object({ ...numbersFields, kind: is("random"), seed, count: integer(0, 1_000_000) }),
  sample: object({ ...numbersFields, kind: is("sample"), seed, population: integer(0, 10_000_000), count: integer(0) }, (value, notes) => {
    if (value.count > value.population) notes.setting ||= `count ${value.count} must be at most population ${value.population}`;
  }),
  canonical: object({ ...numbersFields, kind: is("canonical"), values: list(number()) }),
});

const quantizeRow: Reader<number[]> = (value, at, notes) => {
  if (Array.isArray(value) && value.length === 0) wrong(at, "not empty");
  return list(number())(value, at, notes);
};

/** Every operation of the spec. */
const operations = {
  info: object({ id, op: is("info") }),
  pieces: object({ id, op: is("pieces"), text }),
  segments: object({ id, op: is("segments"), text, paragraphs }),
  chunk: object({ id, op: is("chunk"), text, chunker }),
  rank,
  evaluate,
  terms: object({ id, op: is("terms"), text }),
  quantize: object({ id, op: is("quantize"), vectors: list(quantizeRow), to: oneOf("int8", "int4", "binary") }),
  fill,
  cover: object({ id, op: is("cover"), context: list(range), evidence: list(range), minimum }),
  bootstrap,
  numbers,
} as const;

/** The names of the operations. */
export const OPERATIONS = Object.keys(operations) as readonly (keyof typeof operations)[];

/** A request that has been read, with its defaults filled in. */
export type Request = { [O in keyof typeof operations]: ReturnType<(typeof operations)[O]> }[keyof typeof operations];
/** The request of one operation. */
export type RequestOf<O extends Request["op"]> = Extract<Request, { op: O }>;

const request = byName("op", operations) as Reader<Request>;

/**
 * Reads a request from a JSON value.
 *
 * @throws Refusal `bad_request`, else `bad_text`, else `bad_setting`
 */
export function readRequest(value: unknown): Request {
  const notes: Notes = { text: "", setting: "" };
  if (!isObject(value)) wrong("a request", "an object");
  const read = request(value, "the request", notes);
  if (notes.text !== "") throw new Refusal("bad_text", notes.text);
  if (notes.setting !== "") throw new Refusal("bad_setting", notes.setting);
  return read;
}

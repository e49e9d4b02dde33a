/**
 * engine (spec 01): a request in, a reply out. Pure but for what the context brings, so that it runs in Node, and in a browser's worker.
 */
import * as bm25 from "./bm25.ts";
import { bootstrap as bootstrapOf } from "./bootstrap.ts";
import * as budget from "./budget.ts";
import * as fixed from "./fixed.ts";
import type { Ranked } from "./fusion.ts";
import * as fusion from "./fusion.ts";
import * as metrics from "./metrics.ts";
import * as numerics from "./numerics.ts";
import type { Pieces } from "./pieces.ts";
import { pieces as piecesOf } from "./pieces.ts";
import type { Code } from "./records.ts";
import { List, Refusal, base64, canonical, decode, hex, idOf, read } from "./records.ts";
import * as recursive from "./recursive.ts";
import type { ArrowVectors, InlineVectors, Request, RequestOf, Vectors } from "./requests.ts";
import { OPERATIONS, readRequest } from "./requests.ts";
import { UNICODE } from "./resources.ts";
import * as semantic from "./semantic.ts";
import type { Range } from "./text.ts";
import { paragraphs, sentences } from "./text.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { TOKENIZER_SHA256 } from "./tokenizer.ts";
import type { Matrix } from "./vectors.ts";
import * as vectors from "./vectors.ts";

/** The version of the spec that the engine answers by. */
export const SPEC = "1.0.0";

/** What an engine has around it. */
export interface Context {
  /** This engine's version. */
  readonly version: string;
  /** What runs it, e.g. `Node 20.20.2`. */
  readonly runtime: string;
  /** The tokenizer, loaded when it is first asked for. */
  readonly tokenizer: () => Tokenizer;
  /** Reads vectors from an Arrow file, or throws a Refusal `bad_vectors`; left out where there are no files. */
  readonly arrow?: (vectors: ArrowVectors) => Matrix;
}

/** A reply; lists in `ok` may be `List`s, which JSON.stringify and `blocks` both write as arrays. */
export type Reply =
  | { readonly id: string | null; readonly ok: unknown }
  | { readonly id: string | null; readonly error: { readonly code: Code; readonly message: string } };

/**
 * Answers a request: a line as text or bytes, or the object that it writes. Never throws.
 */
export function answer(request: string | Uint8Array | object, context: Context): Reply {
  let id: string | null = null;
  try {
    const value = request instanceof Uint8Array ? read(decode(request)) : typeof request === "string" ? read(request) : request;
    id = idOf(value);
    return { id, ok: perform(readRequest(value), context) };
  } catch (error) {
    if (error instanceof Refusal) return { id: id ?? error.id, error: { code: error.code, message: error.message } };
    return { id, error: { code: "internal", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) } };
  }
}

/** The reply to a line that was longer than an engine reads. */
export function tooLong(limit: number): Reply {
  return { id: null, error: { code: "bad_request", message: `a line is longer than ${limit} bytes` } };
}

function perform(request: Request, context: Context): unknown {
  switch (request.op) {
    case "info":
      return {
        engine: "chunkproof-ts", version: context.version, spec: SPEC, runtime: context.runtime, unicode: UNICODE,
        tokenizer: `sha256:${TOKENIZER_SHA256}`, ops: OPERATIONS,
      };
    case "pieces": {
      const found = piecesOf(request.text, context.tokenizer());
      return { pieces: new List(found.length, (i) => found.run(i, i + 1)) };
    }
    case "segments": {
      const found = piecesOf(request.text, context.tokenizer());
      return { paragraphs: ranges(found, paragraphs(found, request.paragraphs)), sentences: ranges(found, sentences(found, request.paragraphs)) };
    }
    case "chunk":
      return chunk(request, context);
    case "rank":
      return { rankings: rank(request, context).map(ranking) };
    case "evaluate":
      return evaluate(request);
    case "terms":
      return { terms: bm25.terms(request.text) };
    case "quantize":
      return { vectors: quantize(request) };
    case "fill":
      return budget.fill(request.tokens, request.chunks, request.ranking, request.budget);
    case "cover":
      return budget.cover(request.context, request.evidence, request.minimum);
    case "bootstrap":
      return bootstrap(request);
    case "numbers":
      return numbers(request);
  }
}

function ranges(pieces: Pieces, starts: Uint32Array): List<Range> {
  const { points } = pieces;
  return new List(starts.length, (i) => ({ start: points[starts[i]!]!, end: points[starts[i + 1] ?? pieces.length]! }));
}

function chunk(request: RequestOf<"chunk">, context: Context): unknown {
  const { chunker } = request;
  if (chunker.kind === "semantic") {
    const matrix = matricesOf([chunker.vectors], context)[0]!;
    const found = semantic.chunk(piecesOf(request.text, context.tokenizer()), matrix, chunker.size, chunker.percentile, chunker.paragraphs);
    const { similarities } = found;
    return { chunks: found.chunks, similarities: new List(similarities.length, (i) => hex(similarities[i]!)), threshold: found.threshold === null ? null : hex(found.threshold) };
  }
  const pieces = piecesOf(request.text, context.tokenizer());
  return { chunks: chunker.kind === "fixed" ? fixed.chunk(pieces, chunker.size, chunker.overlap) : recursive.chunk(pieces, chunker.size, chunker.paragraphs) };
}

function rank(request: RequestOf<"rank">, context: Context): Ranked[] {
  const { passages, queries, depth } = request;
  if (!("passage_vectors" in request)) return bm25.rank(passages, queries, request.method.k1, request.method.b, depth);
  const { method } = request;
  const [stored, asked] = matricesOf([request.passage_vectors, request.query_vectors], context) as [Matrix, Matrix];
  if (stored.rows !== passages.length) throw new Refusal("bad_vectors", `${stored.rows} vectors for ${passages.length} passages`);
  if (asked.rows !== queries.length) throw new Refusal("bad_vectors", `${asked.rows} vectors for ${queries.length} queries`);
  if (method.kind === "dense") return vectors.dense(stored, asked, method.precision, depth);
  // Only the pools count in a fusion, so neither ranking is made longer than its pool.
  const dense = vectors.dense(stored, asked, "int8", method.pool);
  const lexical = bm25.rank(passages, queries, undefined, undefined, method.pool);
  return lexical.map((ranking, q) =>
    method.kind === "rrf"
      ? fusion.rrf(ranking, dense[q]!, passages.length, method.k, method.pool, depth)
      : fusion.weighted(ranking, dense[q]!, passages.length, method.alpha, method.pool, depth),
  );
}

function ranking({ passages, scores }: Ranked): List {
  return new List(passages.length, (i) => ({ passage: passages[i]!, score: hex(scores[i]!) }));
}

function evaluate(request: RequestOf<"evaluate">): unknown {
  const { cutoffs } = request;
  const found = metrics.evaluate(request.passages, request.answers, request.rankings, cutoffs);
  const write = ({ n, d }: numerics.Fraction): string => `${n}/${d}`;
  const mean: Record<string, string> = {};
  cutoffs.forEach((k, i) => (mean[`recall@${k}`] = hex(found.recall[i]!)));
  mean["mrr@10"] = hex(found.reciprocalRank);
  mean["ndcg@10"] = hex(found.ndcg);
  return {
    lost: found.lost,
    questions: new List(found.questions.length, (i) => {
      const question = found.questions[i]!;
      return {
        relevant: question.relevant,
        recall: Object.fromEntries(cutoffs.map((k, c) => [k, write(question.recall[c]!)])),
        "mrr@10": write(question.reciprocalRank),
        "ndcg@10": hex(question.ndcg),
      };
    }),
    mean,
  };
}

function quantize(request: RequestOf<"quantize">): List {
  const dim = request.vectors[0]?.length;
  if (request.vectors.some((vector) => vector.length !== dim)) throw new Refusal("bad_vectors", "vectors must have equal lengths");
  const rows = request.vectors.map((vector) => vectors.atPrecision(vectors.int8(vector), request.to));
  return new List(rows.length, (i) => Array.from(rows[i]!));
}

function bootstrap({ treatment, baseline, resamples, seed }: RequestOf<"bootstrap">): unknown {
  const { difference, interval, p, atMostZero, atLeastZero } = bootstrapOf(treatment, baseline, resamples, seed);
  return { difference: hex(difference), interval: interval.map(hex), p: hex(p), at_most_zero: atMostZero, at_least_zero: atLeastZero };
}

function numbers(request: RequestOf<"numbers">): unknown {
  switch (request.kind) {
    case "ln":
      return { values: request.fractions.map(([n, d]) => hex(numerics.ln(n, d))) };
    case "ratio":
      return { values: request.fractions.map(([n, d]) => hex(numerics.ratio(n, d))) };
    case "sum": {
      const value = numerics.sum(request.values);
      if (!Number.isFinite(value)) throw new Refusal("bad_setting", "the sum is not finite");
      return { value: hex(value) };
    }
    case "print":
      return { texts: request.values.map((value) => numerics.print(value, request.decimals)) };
    case "percentile": {
      const value = numerics.percentile(request.values, request.percentile);
      return { value: value === null ? null : hex(value) };
    }
    case "mean":
      return { value: hex(numerics.mean(request.fractions.map(([n, d]) => ({ n, d })))) };
    case "random": {
      const draw = numerics.random(request.seed);
      return { values: Array.from({ length: request.count }, () => hex(draw())) };
    }
    case "sample":
      return { indices: Array.from(numerics.sample(request.seed, request.population, request.count)) };
    case "canonical":
      return { texts: request.values.map(canonical) };
  }
}

/** The matrices of a request's vectors. What an engine lacks is found before what is wrong with any of them. */
function matricesOf(given: readonly Vectors[], context: Context): Matrix[] {
  if (context.arrow === undefined && given.some((form) => "arrow" in form)) throw new Refusal("unsupported", "this engine reads no files");
  return given.map((form) => ("arrow" in form ? context.arrow!(form) : inline(form)));
}

function inline({ dim, int8 }: InlineVectors): Matrix {
  const data = base64(int8);
  if (data === undefined) throw new Refusal("bad_vectors", "int8 is not base64");
  if (data.length % dim !== 0) throw new Refusal("bad_vectors", `${data.length} bytes are no multiple of dim ${dim}`);
  return { dim, rows: data.length / dim, data };
}

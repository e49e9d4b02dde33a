import { describe, expect, test } from "vitest";
import { answer } from "../src/engine.ts";
import { ask, context } from "./help.ts";

const text = "Owls hunt mice. Foxes raid hens.";
const two = { dim: 2, int8: "fwB/Hg==" }; // two rows of two
const fixed = (fields: object) => ({ op: "chunk", text, chunker: { kind: "fixed", ...fields } });
const semantic = (vectors: unknown, fields: object = {}) => ({ op: "chunk", text, chunker: { kind: "semantic", size: 9, vectors, ...fields } });
const rank = (method: object, fields: object = {}) => ({ op: "rank", passages: ["sea", "wind"], queries: ["sea"], method, ...fields });
const withVectors = { passage_vectors: { dim: 1, int8: "AQI=" }, query_vectors: { dim: 1, int8: "AQ==" } };
const evaluate = (fields: object) => ({ op: "evaluate", passages: [{ document: 0, start: 0, end: 5 }], answers: [{ document: 0, start: 1, end: 2 }], rankings: [[0]], ...fields });
const numbers = (kind: string, fields: object) => ({ op: "numbers", kind, ...fields });

describe("replies", () => {
  test("info names what answers", () => {
    expect(ask({ op: "info" })).toMatchObject({ engine: "chunkproof-ts", spec: "1.0.0", unicode: "18.0.0", ops: ["info", "pieces", "segments", "chunk", "rank", "evaluate", "terms", "quantize", "fill", "cover", "bootstrap", "numbers"] });
  });
  test("every operation answers", () => {
    expect(ask({ op: "pieces", text: "Hi, 7" })).toEqual({ pieces: [{ start: 0, end: 2, tokens: 1 }, { start: 2, end: 3, tokens: 1 }, { start: 3, end: 4, tokens: 1 }, { start: 4, end: 5, tokens: 1 }] });
    expect(ask({ op: "segments", text })).toEqual({ paragraphs: [{ start: 0, end: 32 }], sentences: [{ start: 0, end: 15 }, { start: 15, end: 32 }] });
    expect(ask({ op: "segments", text: "" })).toEqual({ paragraphs: [], sentences: [] });
    expect(ask(fixed({ size: 1e9 }))).toEqual({ chunks: [{ start: 0, end: 32, tokens: 12 }] });
    expect(ask(semantic(two))).toEqual({ chunks: [{ start: 0, end: 15, tokens: 6 }, { start: 15, end: 32, tokens: 6 }], similarities: ["3fef249572bf904d"], threshold: "3fef249572bf904d" });
    expect(ask(rank({ kind: "bm25" }, { depth: 1 }))).toMatchObject({ rankings: [[{ passage: 0 }]] });
    expect(ask(rank({ kind: "dense" }, withVectors))).toEqual({ rankings: [[{ passage: 0, score: "3ff0000000000000" }, { passage: 1, score: "3ff0000000000000" }]] });
    expect(ask(rank({ kind: "weighted", alpha: 0 }, withVectors))).toEqual({ rankings: [[{ passage: 0, score: "3ff0000000000000" }, { passage: 1, score: "0000000000000000" }]] });
    expect(ask(rank({ kind: "rrf", k: 0 }, withVectors))).toEqual({ rankings: [[{ passage: 0, score: "4000000000000000" }, { passage: 1, score: "3ff0000000000000" }]] });
    expect(ask(evaluate({ cutoffs: [7] }))).toEqual({
      lost: [], questions: [{ relevant: [0], recall: { 7: "1/1" }, "mrr@10": "1/1", "ndcg@10": "3ff0000000000000" }],
      mean: { "recall@7": "3ff0000000000000", "mrr@10": "3ff0000000000000", "ndcg@10": "3ff0000000000000" },
    });
    expect(ask({ op: "terms", text: "The Sea the" })).toEqual({ terms: ["sea"] });
    expect(ask({ op: "quantize", vectors: [[1, -0.5], [0, 0]], to: "int4" })).toEqual({ vectors: [[7, -4], [0, 0]] });
    expect(ask(numbers("ln", { fractions: [[156, 19]] }))).toEqual({ values: ["4000d7e4e20077a1"] });
    expect(ask(numbers("ratio", { fractions: [[0, 3], [1, 3]] }))).toEqual({ values: ["0000000000000000", "3fd5555555555555"] });
    expect(ask(numbers("sum", { values: ["8000000000000000"] }))).toEqual({ value: "0000000000000000" });
    expect(ask(numbers("print", { values: ["3FE0000000000000"], decimals: 0 }))).toEqual({ texts: ["1"] });
    expect(ask(numbers("percentile", { values: [], percentile: 3 }))).toEqual({ value: null });
    expect(ask(numbers("mean", { fractions: [[1, 10], [2, 10]] }))).toEqual({ value: "3fc3333333333333" });
    expect(ask(numbers("mean", { fractions: [] }))).toEqual({ value: "0000000000000000" });
    expect(ask(numbers("random", { seed: 0, count: 1 }))).toEqual({ values: ["3fd10d2d18800000"] });
    expect(ask(numbers("sample", { seed: 1, population: 3, count: 3 }))).toEqual({ indices: [0, 1, 2] });
    expect(ask(numbers("canonical", { values: [1e-7, 1e21, -0] }))).toEqual({ texts: ["1e-7", "1e+21", "0"] });
  });
  test("5.0 is the number 5", () => {
    const line = (size: string): string => `{"id":"1","op":"chunk","text":"a b","chunker":{"kind":"fixed","size":${size}}}`;
    expect(answer(line("5.0"), context)).toMatchObject({ ok: {} });
    expect(answer(line("0.5e1"), context)).toMatchObject({ ok: {} });
  });
  test("the id comes back, or null where it could not be read", () => {
    expect(answer('{"id":"é","op":"x"}', context)).toMatchObject({ id: "é", error: { code: "bad_request" } });
    expect(answer('{"id":7,"op":"info"}', context)).toMatchObject({ id: null, error: { code: "bad_request" } });
    expect(answer('{"id":"\\ud800","op":"info"}', context)).toMatchObject({ id: null, error: { code: "bad_text" } });
    expect(answer('{"op":"info"}', context)).toMatchObject({ id: null });
    expect(answer("[]", context)).toMatchObject({ id: null, error: { code: "bad_request" } });
    expect(answer(Uint8Array.of(0x22, 0xff, 0x22), context)).toMatchObject({ id: null, error: { code: "bad_request" } });
  });
});

describe("bad_request", () => {
  test.each<[string, object]>([
    ["an unknown operation", { op: "fly" }], ["one named like a method", { op: "toString" }], ["no operation", {}], ["an unknown field", { op: "info", x: 1 }],
    ["a missing field", { op: "pieces" }], ["null for a default", { op: "segments", text, paragraphs: null }], ["an unknown paragraph rule", { op: "segments", text, paragraphs: "line" }],
    ["an unknown kind", { op: "chunk", text, chunker: { kind: "late", size: 1 } }], ["no kind", { op: "chunk", text, chunker: { size: 1 } }],
    ["1.5 for an integer", fixed({ size: 4.5 })], ["a string for an integer", fixed({ size: "5" })], ["true for an integer", fixed({ size: true })], ["null for an integer", fixed({ size: null })],
    ["an integer beyond 2^53 − 1", fixed({ size: 2 ** 53 })], ["a field of another kind", fixed({ size: 5, paragraphs: "newline" })],
    ["vectors for bm25", rank({ kind: "bm25" }, withVectors)], ["no vectors for dense", rank({ kind: "dense" })], ["k1 for rrf", rank({ kind: "rrf", k1: 1 }, withVectors)], ["an unknown precision", rank({ kind: "dense", precision: "int2" }, withVectors)],
    ["both forms of vectors", semantic({ ...two, arrow: "a", sha256: "", column: "" })], ["rows that are no pair", semantic({ arrow: "a", sha256: "", column: "", rows: [1] })],
    ["an empty range", evaluate({ passages: [{ document: 0, start: 5, end: 5 }] })], ["a negative document", evaluate({ answers: [{ document: -1, start: 0, end: 5 }] })], ["a negative start", evaluate({ answers: [{ document: 0, start: -1, end: 5 }] })],
    ["a passage twice", evaluate({ rankings: [[0, 0]] })], ["a passage that is not there", evaluate({ rankings: [[1]] })], ["a ranking too many", evaluate({ rankings: [[0], [0]] })],
    ["a double of 15 digits", numbers("sum", { values: ["3ff000000000000"] })], ["an infinite double", numbers("sum", { values: ["7ff0000000000000"] })], ["a fraction of one number", numbers("ln", { fractions: [[1]] })], ["a fraction of no integers", numbers("ln", { fractions: [[1.5, 1]] })],
    ["an empty vector", { op: "quantize", vectors: [[]], to: "int8" }], ["true for a number", { op: "quantize", vectors: [[true]], to: "int8" }], ["a mean of no integers", numbers("mean", { fractions: [[1, 2], [1, 0.5]] })], ["no percentile", numbers("percentile", { values: [] })],
  ])("%s", (_, request) => expect(ask(request)).toBe("bad_request"));
});

describe("bad_setting", () => {
  test.each<[string, object]>([
    ["size 0", fixed({ size: 0 })], ["overlap = size", fixed({ size: 5, overlap: 5 })], ["overlap −1", fixed({ size: 5, overlap: -1 })], ["percentile 101", semantic(two, { percentile: 101 })],
    ["dim 0", semantic({ dim: 0, int8: "" })], ["k1 −1", rank({ kind: "bm25", k1: -1 })], ["b 1.5", rank({ kind: "bm25", b: 1.5 })], ["depth 0", rank({ kind: "bm25" }, { depth: 0 })], ["pool 0", rank({ kind: "rrf", pool: 0 }, withVectors)],
    ["alpha 2", rank({ kind: "weighted", alpha: 2 }, withVectors)], ["k −1", rank({ kind: "rrf", k: -1 }, withVectors)], ["no cutoffs", evaluate({ cutoffs: [] })], ["cutoff 0", evaluate({ cutoffs: [0] })], ["a cutoff twice", evaluate({ cutoffs: [1, 1] })],
    ["a mean of n/0", numbers("mean", { fractions: [[1, 0]] })], ["a mean of −1/2", numbers("mean", { fractions: [[-1, 2]] })], ["ln 0", numbers("ln", { fractions: [[0, 1]] })], ["n/0", numbers("ratio", { fractions: [[1, 0]] })], ["101 decimals", numbers("print", { values: [], decimals: 101 })], ["a seed of 33 bits", numbers("random", { seed: 2 ** 32, count: 0 })],
    ["a sample above the population", numbers("sample", { seed: 0, population: 2, count: 3 })], ["an infinite sum", numbers("sum", { values: ["7fefffffffffffff", "7fefffffffffffff"] })],
    ["an infinite score", { op: "rank", passages: ["sea sea"], queries: ["sea"], method: { kind: "bm25", k1: 1e308 } }],
  ])("%s", (_, request) => expect(ask(request)).toBe("bad_setting"));
});

describe("bad_vectors", () => {
  test.each<[string, object]>([
    ["not base64", semantic({ dim: 2, int8: "fwB/Hg" })], ["no multiple of dim", semantic({ dim: 3, int8: "fwB/Hg==" })], ["a vector too few", semantic({ dim: 4, int8: "fwB/Hg==" })], ["unequal lengths", { op: "quantize", vectors: [[1], [1, 2]], to: "int8" }],
    ["too large for 127", { op: "quantize", vectors: [[1e308]], to: "binary" }], ["another dim, without rows", { op: "rank", passages: [], queries: [], method: { kind: "dense" }, passage_vectors: { dim: 1, int8: "" }, query_vectors: { dim: 2, int8: "" } }],
    ["a passage too many", rank({ kind: "rrf" }, { ...withVectors, passages: ["sea"] })],
  ])("%s", (_, request) => expect(ask(request)).toBe("bad_vectors"));
});

describe("the order of errors", () => {
  test("bad_request, wherever it stands, comes first", () => {
    expect(ask({ op: "chunk", text: "\ud800", chunker: { kind: "fixed", size: 0, x: 1 } })).toBe("bad_request");
    expect(ask({ ...evaluate({ cutoffs: [] }), rankings: [[3]] })).toBe("bad_request");
  });
  test("then bad_text, bad_setting, unsupported, bad_vectors", () => {
    const file = { arrow: "a", sha256: "", column: "v" };
    expect(ask({ op: "chunk", text: "\ud800", chunker: { kind: "fixed", size: 0 } })).toBe("bad_text");
    expect(ask(semantic({ ...file, column: "\udc00" }, { size: 0 }))).toBe("bad_text");
    expect(ask(semantic(file, { size: 0 }))).toBe("bad_setting");
    expect(ask(semantic(file))).toBe("unsupported"); // this context reads no files
    expect(ask(rank({ kind: "dense" }, { passage_vectors: { dim: 1, int8: "?" }, query_vectors: file }))).toBe("unsupported");
  });
  test("a fault of the engine is internal", () => {
    const broken = { ...context, tokenizer: () => { throw new Error("gone"); } };
    expect(answer({ id: "1", op: "pieces", text: "a" }, broken)).toEqual({ id: "1", error: { code: "internal", message: "Error: gone" } });
  });
});

test("200 queries of 300 passages are ranked within a second", () => {
  const passages = Array.from({ length: 300 }, (_, i) => Array.from({ length: 200 }, (_, j) => `w${(i * 7 + j * 13) % 997}`).join(" "));
  const queries = passages.slice(0, 200).map((passage) => passage.slice(0, 60));
  const matrix = (rows: number) => ({ dim: 384, int8: Buffer.from(Int8Array.from({ length: rows * 384 }, (_, i) => (i * 31) % 127)).toString("base64") });
  const request = { op: "rank", passages, queries, method: { kind: "rrf" }, passage_vectors: matrix(300), query_vectors: matrix(200) };
  ask(request);
  const start = performance.now();
  ask(request);
  expect(performance.now() - start).toBeLessThan(2000);
});

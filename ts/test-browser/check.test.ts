/** Part 3, "Check it here", as a reader uses it: press, listen, read, keep the result; and what they see when something is damaged. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hashOf } from "../page/asking.ts";
import type { Check, Json } from "../page/protocol.ts";
import { grouped, type Site } from "../page/site.ts";
import { canonical } from "../src/records.ts";
import type { Visit } from "./browsers.ts";
import { PROTOCOLS, copyOf, dataOf, inEachBrowser, listen, press, read, type Person, type Protocol } from "./person.ts";
import { EMBEDDED, chunkproof } from "./sites.ts";

const ENGINE = resolve(import.meta.dirname, "../dist/engine.mjs");
/** A case that the damaged reports differ in. */
const [STAGE, CASE] = ["chunks", "fixed-256/ferry"];
const AGAIN = "Check it again";
type Chunks = { ok: { chunks: { end: number }[] } };

/** Waits until the check has ended, and its button asks for another. */
async function ended(visit: Visit): Promise<void> {
  await visit.page.waitForSelector(`#check .banner`, { timeout: 100_000 });
  await visit.page.waitForFunction((words) => document.querySelector("#check .primary")!.textContent === words, {}, AGAIN);
}

async function checked(visit: Visit, words = "Check it now"): Promise<string> {
  await press(visit, "check", words);
  await ended(visit);
  return read(visit, "#check .banner");
}

/** A copy of mini's report in which the golden value of a case is another one: the seventh letter after the right end. */
function damaged(person: Person): { folder: string; golden: Chunks; document: string } {
  const folder = copyOf(person.sites["mini"]!);
  const golden = dataOf<Record<string, Record<string, Chunks>>>(folder, "golden");
  const check = dataOf<Check>(folder, "check");
  const value = golden[STAGE]![CASE]!;
  value.ok.chunks[1]!.end += 7;
  check.items.find(({ stage, case: name }) => stage === STAGE && name === CASE)!.digest = hashOf(canonical(value as unknown as Json));
  write(folder, "check", "chunkproofCheck", check);
  write(folder, "golden", "chunkproofGolden", golden);
  return { folder, golden: value, document: dataOf<{ site: Site }>(folder, "site").site.documents[0]!.text };
}

function write(folder: string, name: string, variable: string, value: unknown): void {
  writeFileSync(join(folder, "data", `${name}.js`), `window.${variable} = ${JSON.stringify(value).replaceAll("<", "\\u003c")};\n`);
}

/** A program that answers as the engine does, but for that one case, where it ends a chunk seven letters late. */
function wrongEngine(document: string): string {
  const folder = mkdtempSync(join(tmpdir(), "chunkproof-wrong-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "wrong.mjs");
  writeFileSync(path, `import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const engine = spawn(process.execPath, [${JSON.stringify(ENGINE)}], { stdio: ["pipe", "pipe", "inherit"] });
const wrong = new Set();
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, op, text, chunker } = JSON.parse(line);
  if (op === "chunk" && chunker.kind === "fixed" && chunker.size === 256 && !chunker.overlap && text === ${JSON.stringify(document)}) wrong.add(id);
  engine.stdin.write(line + "\\n");
}).on("close", () => engine.stdin.end());
createInterface({ input: engine.stdout }).on("line", (line) => {
  const reply = JSON.parse(line);
  if (wrong.has(reply.id)) reply.ok.chunks[1].end += 7;
  process.stdout.write(JSON.stringify(reply) + "\\n");
});
`);
  return `${process.execPath} ${path}`;
}

/** What `parity` prints of an engine that differs. */
function parityOn(engine: string): string {
  try {
    return chunkproof(["parity", "--fixture", "mini", "--engine", engine, "--engine", "py", "--case", CASE, "--stage", STAGE]).toString();
  } catch (failed) {
    return String((failed as { stdout: Buffer }).stdout);
  }
}

/** The lines of a report that say what differs and where, with neutral names for the two sides and single blanks. */
function told(report: string, one: string, other: string): string[] {
  const lines = report.split("\n").map((line) => line.replace(new RegExp(`\\b${one}\\b`, "g"), "A").replace(new RegExp(`\\b${other}\\b`, "g"), "B").replace(/\s+/g, " "));
  return lines.filter((line) => line.startsWith(" ") && !/^ (golden|repeat) /.test(line));
}

inEachBrowser((person) => {
  // The large fixtures take seconds: each of them once a browser, and by both protocols over the two browsers.
  const asked = EMBEDDED.flatMap((name) => PROTOCOLS.filter((protocol) => !["edge", "atlas"].includes(name) || (protocol === "file") === (person.name === "chromium") === (name === "atlas")).map((protocol): [string, Protocol] => [name, protocol]));

  test.each(asked)("every reply of %s over %s: is bit for bit as recorded, and the reader hears so and keeps it", async (name, protocol) => {
    const folder = person.sites[name]!;
    const visit = await person.visit(folder, { protocol });
    const heard = await listen(visit);
    const { items, left_out = 0 } = dataOf<Check>(folder, "check");
    const banner = await checked(visit);
    expect(banner).toMatch(new RegExp(`^✓ All ${grouped(items.length)} replies of ${name}, made anew in this browser, are bit for bit the golden ones`));
    expect(items.length).toBeGreaterThan(100);
    expect((await read(visit, "#check table")).match(/✓ all alike/g)).toHaveLength(new Set(items.map(({ stage }) => stage)).size);
    const said = await heard();
    expect(said[0]).toBe("The check has begun");
    expect(said.some((sentence) => sentence.endsWith("percent checked"))).toBe(true);
    await expect.poll(async () => (await heard()).at(-1)).toBe(banner);

    await press(visit, "check", "Download the result (JSON)");
    const result = JSON.parse(await person.download(`chunkproof-check-${name}.json`));
    const { site } = dataOf<{ site: Site }>(folder, "site");
    expect(result).toMatchObject({ fixture: name, held: true, complete: true, digest: site.table?.parity.digest ?? null, asked: items.length, of: items.length, left_out, cause: null });
    expect(result.engine).toMatchObject({ engine: "chunkproof-ts", runtime: expect.stringMatching(person.name === "firefox" ? /^Firefox \d/ : /^Chrome \d/) });
    expect(result.items.map(({ browser }: { browser: string }) => browser)).toEqual(items.map(({ digest }) => digest));
    // What the page asks and what it leaves out is what `parity --json` compared.
    const [compared] = site.parity!["fixtures"] as { stages: { cases: number }[] }[];
    expect(items.length + left_out).toBe(compared!.stages.reduce((sum, { cases }) => sum + cases, 0));
  });

  test("a check can be stopped, and what was asked until then is said", async () => {
    const visit = await person.visit(person.sites["edge"]!);
    await press(visit, "check", "Check it now");
    await visit.page.waitForFunction(() => /^\d+ of /.test(document.querySelector("#check .check-now")!.textContent));
    await press(visit, "check", "Stop");
    await ended(visit);
    expect(await read(visit, "#check .banner")).toMatch(/^Stopped after [\d,]+ of [\d,]+ replies\. Nothing has differed so far\.$/);
    await press(visit, "check", "Download the result (JSON)");
    expect(JSON.parse(await person.download("chunkproof-check-edge.json"))).toMatchObject({ held: false, complete: false, cause: null });
  });

  test("a golden value that differs is reported in the words of parity, and its command asks that case again", async () => {
    const { folder, document } = damaged(person);
    const visit = await person.visit(folder);
    const heard = await listen(visit);
    const banner = await checked(visit);
    expect(banner).toMatch(/^✗ 1 of \d+ replies is not as recorded\.$/);
    expect(await visit.page.$eval("#check .stage-bad", (row) => (row as HTMLElement).innerText.replace(/\s+/g, " "))).toMatch(/^chunks .* ✗ 1 differs/);
    const report = await read(visit, "#check .verdict");
    const parity = parityOn(wrongEngine(document));
    expect(report).toMatch(/^✗ check: the golden files and chunkproof-ts [\d.]+ \((Chrome|Firefox) [\d.]+\) differ in 1 of \d+ stages of mini$/m);
    expect(parity).toMatch(/^✗ parity: chunkproof-ts [\d.]+ and chunkproof-py [\d.]+ differ in 1 of \d+ stages of mini$/m);
    const lines = told(report, "golden", "browser");
    expect(lines).toEqual(told(parity, "chunkproof-ts", "py"));
    expect(lines.map((line) => line.split(" ")[1])).toEqual(["stage", "case", "spec", "at", "A", "B", "asked", "context", "│"]);
    await expect.poll(async () => (await heard()).at(-1)).toBe(`${banner} The first is at ok.chunks[1].end of ${CASE}, stage ${STAGE}.`);

    const repeat = /^ {2}repeat +chunkproof (.+)$/m.exec(report)![1]!;
    expect(chunkproof(repeat.split(" ")).toString()).toContain("✓ parity held");

    await press(visit, "check", "Download the result (JSON)");
    const result = JSON.parse(await person.download("chunkproof-check-mini.json"));
    expect(result).toMatchObject({ held: false, complete: true, cause: { stage: STAGE, case: CASE, at: "ok.chunks[1].end" } });
    expect(result.stages.find(({ stage }: { stage: string }) => stage === STAGE).differ).toEqual([CASE]);
    const { golden, browser } = result.cause.values;
    expect(golden - browser).toBe(7);
  });

  test("a digest that is damaged by itself is called so", async () => {
    const folder = copyOf(person.sites["mini"]!);
    const check = dataOf<Check>(folder, "check");
    const item = check.items.at(-1)!;
    item.digest = item.digest.replace(/^./, (digit) => (digit === "0" ? "1" : "0"));
    write(folder, "check", "chunkproofCheck", check);
    const visit = await person.visit(folder, { protocol: "http" });
    expect(await checked(visit)).toMatch(/^✗/);
    expect(await read(visit, "#check .verdict")).toContain(`golden     sha256 ${item.digest}`);
    expect(await read(visit, "#check .verdict")).toContain("data/check.js or data/golden.js is damaged");
  });

  const HALF = (text: string): string => text.slice(0, text.length / 2);
  /** A worker that is whole as a file and is no program any more. */
  const broken = (text: string): string => `window.chunkproofWorker = ${JSON.stringify(HALF(text))};`;
  test.each<[string, string, null | ((text: string) => string), RegExp, Protocol, RegExp[]]>([
    ["check.js is missing", "check", null, /data\/check\.js could not be loaded: it belongs beside this page/, "http", [/404|check\.js/]],
    ["check.js is cut off", "check", HALF, /data\/check\.js does not hold what it should/, "file", [/SyntaxError|string|unterminated|Unexpected|Invalid/i]],
    ["worker.js is missing", "worker", null, /data\/worker\.js could not be loaded: it belongs beside this page/, "file", [/worker\.js|ERR_FILE_NOT_FOUND/]],
    ["worker.js is cut off", "worker", HALF, /data\/worker\.js does not hold what it should/, "http", [/SyntaxError|string|unterminated|Unexpected|Invalid/i]],
    ["the program in worker.js is cut off", "worker", broken, /the engine stopped/, "http", [/SyntaxError|string|unterminated|Unexpected|missing/i]],
    ["tokenizer.js is another file", "tokenizer", () => 'window.chunkproofTokenizer = "{}";', /data\/tokenizer\.js is not what it should be/, "file", []],
  ])("%s: a sentence says so, and once it is mended the check goes on", async (_, name, damage, words, protocol, expected) => {
    const whole = person.sites["mini"]!;
    const folder = copyOf(whole);
    const loaded = name === "tokenizer" || damage === broken;
    const path = join(folder, "data", `${name}.js`);
    if (damage) writeFileSync(path, damage(readFileSync(path, "utf8")));
    else rmSync(path);
    const visit = await person.visit(folder, { protocol, expected });
    const banner = await checked(visit);
    expect(banner).toMatch(/^✗ The check could not go on: /);
    expect(banner).toMatch(words);
    cpSync(join(whole, "data"), join(folder, "data"), { recursive: true });
    if (!loaded) return void expect(await checked(visit, AGAIN)).toMatch(/^✓ All/);
    expect(await checked(visit, AGAIN)).toMatch(words); // a file that did load is not asked for again until the page is
    await visit.go();
    expect(await checked(visit)).toMatch(/^✓ All/);
  });
});

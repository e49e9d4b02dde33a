// Builds the report's page into a folder: index.html, page.css, page.js, worker.js, and the licences of what is inside.
//
// Pages opened from a folder may run classic scripts alone, so each script is one file without imports.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, transform } from "esbuild";

/** Writes the page of ts/ (`here`) into `folder`; the paths of what went into its scripts. */
export async function page(here, folder) {
  mkdirSync(folder, { recursive: true });
  const shared = {
    absWorkingDir: here, bundle: true, format: "iife", platform: "browser", target: "es2023", minify: true, charset: "utf8",
    legalComments: "none", logLevel: "warning", metafile: true,
    logOverride: { "empty-import-meta": "silent" }, // where the tokenizer's file lies by default: the page gives its text instead
  };
  const entries = ["main", "worker"].filter((name) => existsSync(join(here, "page", `${name}.ts`)));
  const built = await Promise.all(
    entries.map((name) => build({ ...shared, entryPoints: [`page/${name}.ts`], outfile: join(folder, name === "main" ? "page.js" : `${name}.js`) })),
  );
  copyFileSync(join(here, "page/index.html"), join(folder, "index.html"));
  writeFileSync(join(folder, "page.css"), await styles(join(here, "page")));
  return built.flatMap(({ metafile }) => Object.keys(metafile.inputs));
}

/** What is shared, then what each view brings: one style sheet. */
async function styles(folder) {
  const own = readdirSync(folder).filter((name) => name.endsWith(".css") && name !== "page.css").sort();
  const sheets = ["page.css", ...own].map((name) => readFileSync(join(folder, name), "utf8"));
  return (await transform(sheets.join("\n"), { loader: "css", minify: true, charset: "utf8" })).code;
}

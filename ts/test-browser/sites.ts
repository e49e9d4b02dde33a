/**
 * The reports that the tests open. Those that `nox -s site` has made are taken from the folder named by CHUNKPROOF_SITES; every other
 * one is made before the first test, by the `chunkproof` on the PATH, or by what CHUNKPROOF says in its place.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { browsers } from "./browsers.ts";
import { hostile } from "./hostile.ts";

/** Every fixture that is embedded, and one whose texts try to be HTML. */
export const EMBEDDED = ["mini", "edge", "atlas", "papers"] as const;

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of each report, by the name of its fixture. */
    sites: Record<string, string>;
  }
}

export default function setup(project: TestProject): () => void {
  const sites: Record<string, string> = {};
  const folder = mkdtempSync(join(tmpdir(), "chunkproof-sites-"));
  const given = process.env["CHUNKPROOF_SITES"];
  const names = browsers().length > 0 ? [...EMBEDDED, "hostile"] : [];
  for (const name of names) {
    const made = given && resolve(given, name);
    if (made && existsSync(join(made, "index.html"))) sites[name] = made;
    else make(name, (sites[name] = join(folder, name)), folder);
  }
  project.provide("sites", sites);
  return () => rmSync(folder, { recursive: true, force: true });
}

function make(name: string, out: string, folder: string): void {
  const fixture = name === "hostile" ? hostile(join(folder, "fixture", "hostile")) : name;
  const words = ["report", "--fixture", fixture, "--out", out];
  if (name === "papers") {
    const budget = join(folder, "budget.json");
    writeFileSync(budget, chunkproof(["budget", "run", "--dataset", "papers", "--json", "--curves", join(folder, "curves.svg")]));
    words.push("--budget", budget);
  }
  chunkproof(words);
}

/** Runs the program; what it printed. */
export function chunkproof(words: string[]): Buffer {
  const [program, ...before] = (process.env["CHUNKPROOF"] ?? "chunkproof").split(" ");
  return execFileSync(program!, [...before, ...words], { stdio: ["ignore", "pipe", "inherit"], maxBuffer: 1 << 28 });
}

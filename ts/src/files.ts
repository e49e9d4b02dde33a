/** files (spec 01, Vectors): matrices in Arrow files below the engine's working folder. Node only. */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve, sep } from "node:path";
import { columnOf } from "./arrow.ts";
import { Refusal } from "./records.ts";
import type { ArrowVectors } from "./requests.ts";
import type { Matrix } from "./vectors.ts";

/**
 * Reads vectors from an Arrow IPC file.
 *
 * @param folder the folder that paths start at and may not leave
 * @throws Refusal `bad_vectors`
 */
export function readArrow(vectors: ArrowVectors, folder: string): Matrix {
  try {
    const bytes = readFileSync(fileAt(vectors.arrow, folder));
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== vectors.sha256) throw new Error(`has SHA-256 ${found}`);
    const { dim, parts } = columnOf(bytes, vectors.column);
    const total = parts.reduce((sum, part) => sum + part.length, 0) / dim;
    const [from, to] = vectors.rows ?? [0, total];
    if (from < 0 || from > to || to > total) throw new Error(`has ${total} rows, not ${from} to ${to}`);
    return { dim, rows: to - from, data: joined(parts, from * dim, to * dim) };
  } catch (error) {
    throw new Refusal("bad_vectors", `${JSON.stringify(vectors.arrow)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The file that a path names. @throws Error if it names none, or one that is not below the folder */
function fileAt(path: string, folder: string): string {
  if (path === "" || isAbsolute(path) || path.split("/").includes("..")) throw new Error("is no path below the working folder");
  const home = realpathSync(folder);
  const real = realpathSync(resolve(home, path));
  if (!real.startsWith(home.endsWith(sep) ? home : home + sep)) throw new Error("leads out of the working folder");
  if (!statSync(real).isFile()) throw new Error("is no file");
  return real;
}

/** The cells from `from` up to `to` of parts that follow one another. */
function joined(parts: readonly Int8Array[], from: number, to: number): Int8Array {
  const data = new Int8Array(to - from);
  let start = 0; // of the part
  for (const part of parts) {
    const cells = part.subarray(Math.max(from - start, 0), Math.max(to - start, 0));
    if (cells.length > 0) data.set(cells, Math.max(start - from, 0));
    start += part.length;
  }
  return data;
}

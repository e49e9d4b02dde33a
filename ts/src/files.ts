/** files (spec 01, Vectors): matrices in Arrow files below the engine's working folder. Node only. */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, resolve, sep } from "node:path";
import { RecordBatchReader } from "apache-arrow";
import { Refusal } from "./records.ts";
import type { ArrowVectors } from "./requests.ts";
import type { Matrix } from "./vectors.ts";

/** Arrow's numbers for the types that a column of vectors is made of. */
const INT = 2, FIXED_SIZE_LIST = 16;

/**
 * Reads vectors from an Arrow IPC file.
 *
 * @param folder the folder that paths start at and may not leave
 * @throws Refusal `bad_vectors`
 */
export function readArrow(vectors: ArrowVectors, folder: string): Matrix {
  const bytes = bytesOf(vectors.arrow, folder);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== vectors.sha256) throw refusal(vectors, `has SHA-256 ${found}`);
  const { dim, parts } = columnOf(vectors, bytes);
  const total = parts.reduce((sum, part) => sum + part.length, 0) / dim;
  const [from, to] = vectors.rows ?? [0, total];
  if (from < 0 || from > to || to > total) throw refusal(vectors, `has ${total} rows, not ${from} to ${to}`);
  const data = new Int8Array(total * dim);
  let at = 0;
  for (const part of parts) {
    data.set(part, at);
    at += part.length;
  }
  return { dim, rows: to - from, data: data.subarray(from * dim, to * dim) };
}

function refusal({ arrow }: ArrowVectors, what: string): Refusal {
  return new Refusal("bad_vectors", `${JSON.stringify(arrow)} ${what}`);
}

function bytesOf(path: string, folder: string): Uint8Array {
  const refuse = (what: string): Refusal => new Refusal("bad_vectors", `${JSON.stringify(path)} ${what}`);
  if (path === "" || path.startsWith("/") || isAbsolute(path) || path.split("/").includes("..")) throw refuse("is no path below the working folder");
  try {
    const home = realpathSync(folder);
    const real = realpathSync(resolve(home, path));
    if (!real.startsWith(home.endsWith(sep) ? home : home + sep)) throw refuse("leads out of the working folder");
    if (!statSync(real).isFile()) throw refuse("is no file");
    return readFileSync(real);
  } catch (error) {
    throw error instanceof Refusal ? error : refuse("cannot be read");
  }
}

function columnOf(vectors: ArrowVectors, bytes: Uint8Array): { dim: number; parts: Int8Array[] } {
  const magic = "ARROW1";
  const ends = [bytes.subarray(0, magic.length), bytes.subarray(bytes.length - magic.length)];
  if (bytes.length < 2 * magic.length || ends.some((end) => Buffer.from(end).toString("latin1") !== magic)) throw refusal(vectors, "is no Arrow IPC file");
  try {
    const reader = RecordBatchReader.from(bytes);
    reader.open();
    const index = reader.schema.fields.findIndex((field) => field.name === vectors.column);
    const field = reader.schema.fields[index];
    if (field === undefined) throw refusal(vectors, `has no column ${JSON.stringify(vectors.column)}`);
    const type = field.type as { typeId: number; listSize?: number; children?: { type: { typeId: number; bitWidth?: number; isSigned?: boolean } }[] };
    const inner = type.children?.[0]?.type;
    const dim = type.listSize ?? 0;
    if (type.typeId !== FIXED_SIZE_LIST || inner?.typeId !== INT || inner.bitWidth !== 8 || inner.isSigned !== true || dim < 1) throw refusal(vectors, `has a column of ${String(field.type)}, not of FixedSizeList<int8>`);
    const parts: Int8Array[] = [];
    for (const batch of reader) {
      const data = batch.data.children[index]!;
      const values = data.children[0]!;
      if (data.nullCount > 0 || values.nullCount > 0) throw refusal(vectors, "holds nulls");
      const cells = values.values as Int8Array;
      const first = data.offset * dim;
      if (cells.length < first + data.length * dim) throw refusal(vectors, "is cut short");
      parts.push(cells.subarray(first, first + data.length * dim));
    }
    return { dim, parts };
  } catch (error) {
    throw error instanceof Refusal ? error : refusal(vectors, `cannot be read as Arrow: ${error instanceof Error ? error.message : String(error)}`);
  }
}

// Writes spec/unicode-18.0.json, the character tables that spec/04-text.md pins, from the Unicode
// Character Database as packaged in @unicode/unicode-18.0.0 and @unicode/unicode-14.0.0.
//
//   npm install --no-save @unicode/unicode-18.0.0 @unicode/unicode-14.0.0 && node scripts/unicode-tables.mjs
//
// The file is committed; it changes only with the spec's Unicode version. Two test suites compare it
// with what their runtime knows of the same code points.
import { writeFileSync } from "node:fs";

const from = async (version, path) => (await import(`@unicode/unicode-${version}/${path}/code-points.mjs`)).default;

/** Sorted code points as inclusive [first, last] pairs. */
function ranges(points) {
  const out = [];
  for (const point of [...points].sort((a, b) => a - b)) {
    const last = out.at(-1);
    if (last && last[1] === point - 1) last[1] = point;
    else out.push([point, point]);
  }
  return out;
}

const only = (points, keep) => points.filter((point) => keep.has(point));

const letters = await from("18.0.0", "General_Category/Letter");
const numbers = await from("18.0.0", "General_Category/Number");
const upper = await from("18.0.0", "General_Category/Uppercase_Letter");
const words = new Set([...letters, ...numbers]);
const cased = only(await from("18.0.0", "Binary_Property/Cased"), words);
const ignorable = only(await from("18.0.0", "Binary_Property/Case_Ignorable"), words);

const simple = (await import("@unicode/unicode-18.0.0/Simple_Case_Mapping/Lowercase/code-points.mjs")).default;
const special = (await import("@unicode/unicode-18.0.0/Special_Casing/Lowercase/code-points.mjs")).default;
const lower = new Map();
for (const [point, to] of simple) if (words.has(point)) lower.set(point, [to].flat());
for (const [point, to] of special) if (words.has(point)) lower.set(point, [to].flat());

// What NFC may join to a character before it, or change: by the oldest Unicode version that a supported
// runtime has (14.0), since normalisation of what was assigned then never changes again.
const assigned = new Set(await from("14.0.0", "Binary_Property/Assigned"));
const marks = await from("14.0.0", "General_Category/Mark");
const joins = new Set();
for (const point of assigned) {
  if (point >= 0xd800 && point <= 0xdfff) continue;
  const character = String.fromCodePoint(point);
  if (character.normalize("NFC") !== character) joins.add(point); // NFC_Quick_Check = No
  const parts = [...character.normalize("NFD")];
  if (parts.length > 1 && character.normalize("NFC") === character && !(point >= 0xac00 && point <= 0xd7a3))
    joins.add(parts.at(-1).codePointAt(0)); // the second half of a composition: Maybe
}
for (let point = 0x1161; point <= 0x1175; point++) joins.add(point);
for (let point = 0x11a8; point <= 0x11c2; point++) joins.add(point);
// A mark has a combining class other than 0 exactly if some order of it and another mark is not canonical.
for (const point of marks) {
  const mark = String.fromCodePoint(point);
  if (mark.normalize("NFD") !== mark) continue; // a composed mark that NFC keeps is a starter
  const swaps = (other) => (mark + other).normalize("NFD") !== mark.normalize("NFD") + other.normalize("NFD") ||
    (other + mark).normalize("NFD") !== other.normalize("NFD") + mark.normalize("NFD");
  if (["\u0334", "\u0301", "\u0345"].some(swaps)) joins.add(point);
}

const tables = {
  unicode: "18.0.0",
  letter: ranges(letters),
  number: ranges(numbers),
  upper: ranges(upper),
  cased: ranges(cased),
  case_ignorable: ranges(ignorable),
  lower: [...lower].sort((a, b) => a[0] - b[0]).map(([point, to]) => [point, ...to]),
  nfc: "14.0.0",
  nfc_assigned: ranges(assigned),
  nfc_joining: ranges(joins),
};
const lines = Object.entries(tables).map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
writeFileSync(new URL("../../spec/unicode-18.0.json", import.meta.url), `{\n${lines.join(",\n")}\n}\n`);

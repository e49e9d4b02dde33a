/** What a check that found a difference says: the cause, where the spec decides it, and what to type. */
import { ABSENT, MARKS, atPath, excerpt, firstDifference, line, quoted, same, shownAt, shownPath, valueLines, visible, type Path } from "./difference.ts";
import type { Check, Item, Json } from "./protocol.ts";
import { grouped, type Site } from "./site.ts";

/** The golden values as the golden files have them: large ones in a compact form, or in part beside their digest. */
export type Golden = { [stage: string]: { [name: string]: Json } };

/** How an item came out. */
export interface Outcome {
  item: Item;
  digest: string;
}

/** The first difference of a check. */
export interface Cause {
  stage: string;
  case: string;
  spec: string;
  at: string;
  why: string;
  values: { golden: Json; browser: Json };
}

interface Found {
  path: Path | null;
  at: string;
  golden: Json;
  browser: Json;
  /** The two values as they were compared. */
  whole: [Json, Json];
  state: string;
}

type Table = { [key: string]: Json };
const PARTS = ["similarities", "threshold"];

/** The browser's value and the golden one in the same form: as the golden file has it. Null where that file has no such case. */
export function alike(item: Item, golden: Golden, mine: Table): [Table, Table] | null {
  const { stage } = item;
  const stored = (golden[stage]?.[item.case] ?? (PARTS.includes(stage) ? golden["chunks"]?.[item.case] : undefined)) as Table | undefined;
  if (stored === undefined) return null;
  const theirs = stored["ok"] as Table | undefined;
  const ours = mine["ok"] as Table | undefined;
  if (!theirs || !ours) return [without(stored, "sha256"), mine];
  if (stage === "pieces" && theirs["lengths"]) return [{ ok: { pieces: pieces(theirs["lengths"] as number[], theirs["tokens"] as number[]) } }, mine];
  if (stage === "rankings" && stored["sha256"]) return [{ ok: { rankings: ranked(theirs["passages"]!) } }, { ok: { rankings: passages(ours["rankings"]!) } }];
  if (stage === "table") return [{ ok: row(item, theirs) }, { ok: printed(item, ours["texts"] as string[]) }];
  const keys = Object.keys(theirs).filter((key) => (stage === "chunks" ? !PARTS.includes(key) : !PARTS.includes(stage) || key === stage));
  return [{ ok: pick(theirs, keys) }, { ok: stored["sha256"] ? pick(ours, keys) : ours }];
}

const pick = (table: Table, keys: string[]): Table => Object.fromEntries(keys.filter((key) => Object.hasOwn(table, key)).map((key) => [key, table[key]!]));
const without = (table: Table, key: string): Table => pick(table, Object.keys(table).filter((each) => each !== key));

function pieces(lengths: number[], tokens: number[]): Json[] {
  let at = 0;
  return lengths.map((length, i) => ({ start: at, end: (at += length), tokens: tokens[i]! }));
}

const ranked = (lists: Json): Json => (lists as number[][]).map((ranking) => ranking.map((passage) => ({ passage })));
const passages = (rankings: Json): Json => (rankings as { passage: number }[][]).map((ranking) => ranking.map(({ passage }) => ({ passage })));
const row = ({ columns = [] }: Item, figures: Table): Table => (columns.length ? pick(figures, columns) : figures);
const printed = ({ columns = [] }: Item, texts: string[]): Table => (columns.length ? Object.fromEntries(columns.map((name, i) => [name, texts[i] ?? ABSENT])) : { texts });

function find({ item, digest }: Outcome, golden: Golden, mine: Table): Found {
  const pair = alike(item, golden, mine);
  const digests = { at: "the digest of the whole value", golden: `sha256 ${item.digest}`, browser: `sha256 ${digest}`, path: null };
  if (!pair) return { ...digests, whole: [ABSENT, mine], state: "the golden values beside this page do not have this case" };
  if (!same(...pair)) {
    const path = firstDifference(...pair);
    return { path, at: shownPath(path), golden: shownAt(pair[0], path), browser: shownAt(pair[1], path), whole: pair, state: "" };
  }
  const stored = golden[item.stage]?.[item.case] as Table | undefined;
  const rest = { rankings: "the passages agree; of the scores the golden file keeps the digest alone", metrics: "lost questions and means agree; of each question the golden file keeps the digest alone" }[item.stage];
  const state = stored?.["sha256"] === item.digest && rest ? rest : "the golden value is the browser's own, yet the digest beside it is another one: data/check.js or data/golden.js is damaged";
  return { ...digests, whole: pair, state };
}

/** The report of a check that found differences, and its cause as data. `mine` is the browser's value of the first. */
export function report(check: Check, differing: Outcome[], golden: Golden, mine: Json, site: Site, engine: string): { text: string; cause: Cause } {
  const [first] = differing as [Outcome];
  const { item } = first;
  const found = find(first, golden, mine as Table);
  const spec = placeOf(item, found.whole);
  const stages = check.stages.filter((stage) => differing.some((each) => each.item.stage === stage));
  const lines = [`✗ check: the golden files and ${engine} differ in ${stages.length} of ${check.stages.length} stages of ${check.fixture}`, ""];
  lines.push(line("stage", item.stage), line("case", `${check.fixture}/${item.case}`));
  if (spec) lines.push(line("spec", spec));
  lines.push(line("at", found.at), ...valueLines([["golden", found.golden], ["browser", found.browser]]));
  if (item.why) lines.push(line("why", item.why));
  else if (item.asked) lines.push(line("asked", item.asked));
  for (const [label, text] of found.path ? context(item, found.path, found.whole, site) : []) lines.push(line(label, text));
  if (found.state) lines.push(line("state", found.state));
  const others = differing.slice(1).filter((each) => each.item.stage === item.stage);
  if (others.length) lines.push(line("also", `${grouped(others.length)} more of this stage: ${others.slice(0, 3).map((each) => each.item.case).join(", ")}${others.length > 3 ? ", …" : ""}`));
  const rest = stages.filter((stage) => stage !== item.stage).map((stage) => `${stage} (${grouped(differing.filter((each) => each.item.stage === stage).length)})`);
  if (rest.length) lines.push(line("others", `also differ: ${rest.join(", ")}`));
  lines.push("", line("repeat", repeat(check, item)));
  const values = { golden: found.golden, browser: found.browser };
  return { text: lines.join("\n"), cause: { stage: item.stage, case: item.case, spec, at: found.at, why: item.why ?? item.asked ?? "", values } };
}

/** Where the spec decides it: the rule, and the errors where one of the replies is an error. */
function placeOf({ spec = "" }: Item, whole: Json[]): string {
  const errors = whole.some((value) => value !== null && typeof value === "object" && "error" in value);
  return errors && spec && !spec.startsWith("01-wire.md") ? `${spec}; 01-wire.md § Errors` : spec;
}

/** The command that repeats only that case at that stage. */
export function repeat({ repeat = [], fixture }: Check, { stage, case: name }: Item): string {
  const words = repeat.length ? repeat : ["chunkproof", "parity", "--fixture", fixture];
  return [...words, "--case", name, "--stage", stage].map(quoted).join(" ");
}

type Line = readonly [label: string, text: string];
const RANGES = ["pieces", "chunks", "paragraphs", "sentences"];

/** Labelled lines that show the place: text with boundaries, the sentences of a similarity, the query of a ranking. */
function context(item: Item, path: Path, whole: [Json, Json], site: Site): Line[] {
  const { request, stage } = item;
  const [, list, index, key] = path;
  const document = (request["text"] as Table | undefined)?.["$document"];
  const text = typeof request["text"] === "string" ? request["text"] : site.documents[document as number]?.text;
  if (text !== undefined && typeof index === "number") {
    if (["pieces", "segments", "chunks"].includes(stage) && RANGES.includes(String(list))) return boundaries(text, path, key === "start" ? "start" : "end", whole);
    if (stage === "similarities") return joint(text, index, site.sentences[document as number]);
  }
  if (stage === "rankings" && typeof index === "number") return ranks(item, path, whole, site);
  return [];
}

function boundaries(text: string, path: Path, key: string, whole: [Json, Json]): Line[] {
  const [here, there] = whole.map((value) => {
    const edge = atPath(value, [...path.slice(0, 3), key]);
    return typeof edge === "number" ? edge : Array.from(text).length;
  }) as [number, number];
  const shown = here === there ? `${MARKS[0]} both ${here}` : `${MARKS[0]} golden ${here}   ${MARKS[1]} browser ${there}`;
  return [["context", excerpt(text, here, there)], ["", shown]];
}

function joint(text: string, index: number, sentences: number[] | undefined): Line[] {
  const end = sentences?.[2 * index + 1];
  const between: Line = ["context", `between sentences ${index} and ${index + 1}`];
  return end === undefined ? [between] : [between, ["", excerpt(text, end, end)]];
}

function ranks({ request }: Item, path: Path, whole: [Json, Json], site: Site): Line[] {
  const query = Array.isArray(request["queries"]) ? request["queries"][path[2] as number] : site.questions[path[2] as number]?.text;
  const lines: Line[] = query === undefined ? [] : [["query", visible(String(query)).slice(0, 80)]];
  const rank = path[3];
  if (typeof rank !== "number") return lines;
  return [...lines, ...whole.map((value, side): Line => {
    return ["", `rank ${rank + 1} of ${["golden", "browser"][side]}: passage ${String(atPath(value, [...path.slice(0, 4), "passage"]))}`];
  })];
}

/** A chunk as text to read: what stands around it, the answers marked in it, and where the tracks cut. Text enters as text nodes alone. */
import type { Scene } from "./stretch.ts";
import { h } from "./site.ts";

const AROUND = 160; // code points of what stands before and after

const LETTERS = { fixed: "F", recursive: "R", semantic: "S" } as const;

/** The chunk that is looked at, or as much of it as has been read, in small parts that each carry their marks. */
export function reading(scene: Scene): Node[] {
  const track = scene.tracks[scene.active];
  const chunk = track?.chunks[scene.chunk];
  if (!track || !chunk) return [];
  const { doc, at } = scene;
  const from = Math.max(0, chunk.start - AROUND), to = Math.min(doc.length, chunk.end + AROUND);
  const answers = scene.answers.filter(([, { start, end }]) => end > from && start < to);
  const cuts = cutsWithin(scene, from, to);
  const borders = new Set([from, to, chunk.start, chunk.end, ...cuts.keys(), ...answers.flatMap(([, { start, end }]) => [start, end])]);
  if (at !== null) borders.add(at);
  const sorted = [...borders].filter((point) => point >= from && point <= to).sort((a, b) => a - b);
  const parts: Node[] = from > 0 ? [ellipsis()] : [];
  sorted.forEach((start, i) => {
    if (start !== from || start === chunk.start) parts.push(...(cuts.get(start) ?? []).map(caret));
    const end = sorted[i + 1];
    if (end === undefined) return;
    const holding = answers.filter(([, answer]) => answer.start < end && answer.end > start);
    const inside = start >= chunk.start && end <= chunk.end;
    const unread = at !== null && start >= at;
    const classes = [inside ? "inside" : "around", unread && "unread", holding.some(([index]) => track.lost.has(index)) && "cut", holding.some(([index]) => index === scene.question) && "chosen"];
    const part = h(holding.length ? "mark" : "span", { class: classes.filter(Boolean).join(" ") }, doc.points.slice(start, end));
    parts.push(part);
  });
  if (to < doc.length) parts.push(ellipsis());
  return parts;
}

const ellipsis = (): Node => h("span", { class: "around", "aria-hidden": "true" }, "…");

type Cut = { name: string; kind: keyof typeof LETTERS };

/** The tracks that end a chunk at each place. */
function cutsWithin(scene: Scene, from: number, to: number): Map<number, Cut[]> {
  const cuts = new Map<number, Cut[]>();
  for (const { config, chunks } of scene.tracks) {
    for (const { end } of chunks) {
      if (end < from || end > to || (scene.at !== null && end > scene.at)) continue;
      cuts.set(end, [...(cuts.get(end) ?? []), { name: config.name, kind: config.kind }]);
    }
  }
  return cuts;
}

/** A cut in the text: a stroke with the kind's letter, which assistive technology hears as words. */
function caret({ name, kind }: Cut): Node {
  return h("span", { class: `caret k-${kind}`, role: "img", "aria-label": `(${name} cuts here)`, title: `${name} cuts here`, "data-letter": LETTERS[kind] });
}

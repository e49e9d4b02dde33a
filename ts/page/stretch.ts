/** A stretch of a document as a picture: its sentences and answers, the chunks of each track aligned with them, and the similarity curve. */
import { breaks, filling, type Curve, type Doc, type Track } from "./model.ts";
import { grouped, s, type Question } from "./site.ts";

/** What is to be drawn. */
export interface Scene {
  readonly doc: Doc;
  readonly tracks: readonly Track[];
  /** The answers in the document, by the question's number. */
  readonly answers: readonly (readonly [number, Question])[];
  /** The question that was chosen; −1 if none. */
  readonly question: number;
  /** The track that steps, and its chunk that is looked at. */
  readonly active: number;
  readonly chunk: number;
  /** How far the chunkers have read, in code points; null: all the cuts are shown. */
  readonly at: number | null;
  /** The stretch, in code points. */
  readonly from: number;
  readonly span: number;
}

const LABEL = 24, TEXT = 16, BAR = 34, GAP = 20, PLOT = 104, AXIS = 26;

/** The height of the picture in pixels. */
export function heightOf(tracks: readonly Track[]): number {
  return LABEL + TEXT + GAP + tracks.length * (LABEL + BAR + GAP) + (curveOf(tracks) ? LABEL + PLOT + 8 : 0) + AXIS;
}

/** The curve that stands below the tracks: that of the first one which has any. */
export const curveOf = (tracks: readonly Track[]): Curve | null => tracks.find(({ curve }) => curve)?.curve ?? null;

/** The running count of a track, in words. */
export function count(scene: Scene, track: Track): string {
  if (!track.chunks.length) return "no chunks";
  const active = scene.tracks[scene.active] === track;
  const index = scene.at === null ? (active ? scene.chunk : -1) : filling(track, scene.at);
  if (index < 0) return `${grouped(track.chunks.length)} chunks`;
  const chunk = track.chunks[index]!;
  const tokens = scene.at === null ? chunk.tokens : Math.min(chunk.tokens, scene.doc.tokensTo(scene.at) - scene.doc.tokensTo(chunk.start));
  return `chunk ${grouped(index + 1)} · ${grouped(tokens)} of ${grouped(track.config.chunker.size)} tokens`;
}

/** How much larger than usual the reader's letters are: pictures grow with them. */
export const scale = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** Gives an SVG element its size, in pixels as they are with usual letters. */
export function sized(svg: SVGSVGElement, width: number, height: number): void {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", String(width * scale()));
  svg.setAttribute("height", String(height * scale()));
}

/** Draws a scene into an SVG element of this width. */
export function draw(svg: SVGSVGElement, scene: Scene, width: number): void {
  const height = heightOf(scene.tracks);
  sized(svg, width, height);
  svg.replaceChildren(...new Picture(scene, width, height).parts());
}

class Picture {
  readonly #scene: Scene;
  readonly #width: number;
  readonly #height: number;

  constructor(scene: Scene, width: number, height: number) {
    [this.#scene, this.#width, this.#height] = [scene, width, height];
  }

  parts(): SVGElement[] {
    const { tracks } = this.#scene;
    const curve = curveOf(tracks);
    const parts = [hatch("hatch"), this.#band(), ...this.#sentences()];
    let y = LABEL + TEXT + GAP;
    tracks.forEach((track, i) => {
      if (curve && track.curve === curve) parts.push(...this.#breaks(curve, y + LABEL));
      parts.push(this.#track(track, i, y));
      y += LABEL + BAR + GAP;
    });
    if (curve) parts.push(this.#curve(curve, y));
    parts.push(...this.#axis(this.#height - AXIS), ...this.#head(y + (curve ? LABEL + PLOT : 0)));
    return parts;
  }

  #x(point: number): number {
    const { from, span } = this.#scene;
    return Math.round(((point - from) / span) * this.#width * 100) / 100;
  }

  #visible(start: number, end: number): boolean {
    const { from, span } = this.#scene;
    return end > from && start < from + span;
  }

  /** The chosen answer, from top to bottom. */
  #band(): SVGElement {
    const chosen = this.#scene.answers.find(([index]) => index === this.#scene.question)?.[1];
    if (!chosen || !this.#visible(chosen.start, chosen.end)) return s("g");
    const x = this.#x(chosen.start), wide = Math.max(4, this.#x(chosen.end) - x);
    return s("rect", { class: "band", x: x - 3, y: LABEL - 6, width: wide + 6, height: this.#height - AXIS - LABEL + 6, rx: 3 });
  }

  /** The text, a bar for each sentence, with the answers over it. */
  #sentences(): SVGElement[] {
    const { doc, answers } = this.#scene;
    const parts: SVGElement[] = [label(0, 15, "the text, a bar for each sentence")];
    doc.sentences.forEach((start, i) => {
      const end = doc.sentences[i + 1] ?? doc.length;
      if (!this.#visible(start, end)) return;
      const x = this.#x(start);
      parts.push(s("rect", { class: "sentence", x, y: LABEL + 4, width: Math.max(1, this.#x(end) - x - 2), height: TEXT - 8, rx: 2 }));
    });
    for (const [index, { start, end }] of answers) if (this.#visible(start, end)) parts.push(this.#mark(start, end, LABEL - 1, TEXT + 2, index === this.#scene.question ? "answer chosen" : "answer"));
    return parts;
  }

  #mark(start: number, end: number, y: number, height: number, kind: string): SVGElement {
    const x = this.#x(start);
    return s("rect", { class: kind, x, y, width: Math.max(4, this.#x(end) - x), height, rx: 1.5 });
  }

  #track(track: Track, index: number, top: number): SVGElement {
    const scene = this.#scene;
    const { config, chunks, overlaps, lost } = track;
    const active = index === scene.active;
    const group = s("g", { class: `track k-${config.kind}${active ? " active" : ""}` });
    group.append(
      s("text", { class: "name", x: 0, y: top + 15 }, `${active ? "▸ " : ""}${config.name}`),
      s("text", { class: "count", x: this.#width, y: top + 15, "text-anchor": "end" }, count(scene, track)),
    );
    const y = top + LABEL;
    group.append(s("rect", { class: "bed", x: 0, y, width: this.#width, height: BAR, rx: 3 }));
    const numbers: SVGElement[] = []; // over the marks, so that both can be read
    chunks.forEach((chunk, i) => {
      if (!this.#visible(chunk.start, chunk.end)) return;
      const [bar, ...number] = this.#chunk(track, i, overlaps ? y + (i % 2) * (BAR / 2) : y, overlaps ? BAR / 2 : BAR);
      if (bar) group.append(bar);
      numbers.push(...number);
    });
    for (const [question, { start, end }] of scene.answers) {
      if (!this.#visible(start, end) || (scene.at !== null && scene.at < end)) continue;
      const kind = `answer${lost.has(question) ? " cut" : ""}${question === scene.question ? " chosen" : ""}`;
      group.append(this.#mark(start, end, y + 5, BAR - 10, kind));
      if (lost.has(question)) group.append(s("rect", { class: "hatched", x: this.#x(start), y: y + 1, width: Math.max(6, this.#x(end) - this.#x(start)), height: BAR - 2, rx: 1.5, fill: "url(#hatch)" }));
    }
    group.append(...numbers);
    return group;
  }

  #chunk(track: Track, index: number, y: number, height: number): SVGElement[] {
    const { at, active, chunk: looked, tracks } = this.#scene;
    const chunk = track.chunks[index]!;
    if (at !== null && at <= chunk.start && at > 0) return []; // not begun
    const x = this.#x(chunk.start) + 1;
    const wide = (end: number): number => Math.max(1, this.#x(end) - x - 1);
    const shade = index % 2 ? "odd" : "even";
    if (at !== null && at < chunk.end) return [s("rect", { class: `chunk filling ${shade}`, x, y, width: wide(Math.max(at, chunk.start)), height, rx: 3 })];
    const chosen = tracks[active] === track && (at === null ? index === looked : index === filling(track, at));
    const parts: SVGElement[] = [s("rect", { class: `chunk ${shade}${chosen ? " looked" : ""}`, x, y, width: wide(chunk.end), height, rx: 3 })];
    const left = Math.max(0, x), right = Math.min(this.#width, x + wide(chunk.end));
    const digits = grouped(chunk.tokens);
    if (right - left > digits.length * 8 + 12) parts.push(s("text", { class: "tokens", x: (left + right) / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, digits));
    return parts;
  }

  /** Lines from each break in the curve up to the track that cuts there. */
  #breaks(curve: Curve, top: number): SVGElement[] {
    const parts: SVGElement[] = [];
    const bottom = top + BAR + GAP + LABEL + PLOT;
    curve.joints.forEach((joint, i) => {
      if (!breaks(curve, i) || !this.#visible(joint, joint + 1) || (this.#scene.at !== null && this.#scene.at < joint)) return;
      parts.push(s("line", { class: "break", x1: this.#x(joint), x2: this.#x(joint), y1: top, y2: bottom }));
    });
    return parts;
  }

  #curve(curve: Curve, top: number): SVGElement {
    const { joints, values, threshold } = curve;
    const low = Math.min(0, ...values), high = Math.max(0.2, ...values);
    const bottom = top + LABEL + PLOT;
    const y = (value: number): number => Math.round((bottom - 4 - ((value - low) / (high - low)) * (PLOT - 12)) * 100) / 100;
    const seen = joints.map((joint, i) => [joint, i] as const).filter(([joint]) => this.#near(joint) && (this.#scene.at === null || joint <= this.#scene.at));
    const group = s("g", { class: "curve" });
    group.append(
      label(0, top + 15, this.#width < 440 ? "similarity to the next" : "similarity of each sentence to the next"),
      s("rect", { class: "bed", x: 0, y: top + LABEL, width: this.#width, height: PLOT, rx: 3 }),
      s("polyline", { class: "line", points: seen.map(([joint, i]) => `${this.#x(joint)},${y(values[i]!)}`).join(" ") }),
      ...seen.filter(([joint]) => this.#visible(joint, joint + 1)).map(([joint, i]) => point(this.#x(joint), y(values[i]!), breaks(curve, i))),
    );
    if (threshold === null) return group;
    group.append(
      s("line", { class: "threshold", x1: 0, x2: this.#width, y1: y(threshold), y2: y(threshold) }),
      s("text", { class: "count", x: this.#width, y: top + 15, "text-anchor": "end" }, `threshold ${threshold.toFixed(3)}`),
    );
    return group;
  }

  /** In the stretch, or so near that a line to it crosses it. */
  #near(point: number): boolean {
    const { from, span } = this.#scene;
    return point > from - span / 2 && point < from + span * 1.5;
  }

  #axis(top: number): SVGElement[] {
    const { from, span } = this.#scene;
    const step = [100, 200, 500, 1000, 2000, 5000, 10000].find((each) => (each / span) * this.#width > 110) ?? 20000;
    const parts: SVGElement[] = [s("line", { class: "axis", x1: 0, x2: this.#width, y1: top + 4, y2: top + 4 })];
    for (let at = Math.ceil(from / step) * step; at <= from + span; at += step) {
      const x = this.#x(at);
      const anchor = x < 40 ? "start" : x > this.#width - 60 ? "end" : "middle";
      parts.push(s("line", { class: "axis", x1: x, x2: x, y1: top + 4, y2: top + 8 }), s("text", { class: "tick", x, y: top + 22, "text-anchor": anchor }, grouped(at)));
    }
    return parts;
  }

  /** Where the chunkers have got to. */
  #head(bottom: number): SVGElement[] {
    const { at } = this.#scene;
    if (at === null || !this.#visible(at - 1, at + 1)) return [];
    const x = this.#x(at);
    return [s("line", { class: "head", x1: x, x2: x, y1: LABEL - 6, y2: bottom }), s("path", { class: "head", d: `M${x - 5},${LABEL - 10}h10l-5,7z` })];
  }
}

const label = (x: number, y: number, text: string): SVGElement => s("text", { class: "label", x, y }, text);

/** A joint on the curve: a ring, or where it is a break a filled square, so that shape tells them apart too. */
function point(x: number, y: number, isBreak: boolean): SVGElement {
  return isBreak ? s("rect", { class: "dip", x: x - 4, y: y - 4, width: 8, height: 8 }) : s("circle", { class: "joint", cx: x, cy: y, r: 3 });
}

/** The pattern of what is lost. */
export function hatch(id: string): SVGElement {
  return s("defs", {}, s("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { class: "hatch-ground", width: 7, height: 7 }), s("line", { class: "hatch-line", x1: 0, y1: 0, x2: 0, y2: 7 })));
}

/** The same stretch as rows of words, for those who cannot see it: chunks of each track, then answers, then breaks. */
export function rows(scene: Scene): string[][] {
  const { doc, tracks, answers, from, span } = scene;
  const within = (start: number, end: number): boolean => end > from && start < from + span;
  const place = (start: number, end: number): string => `${grouped(start)} – ${grouped(end)}`;
  const found = tracks.flatMap((track) => track.chunks.map((chunk, i) => [track, chunk, i] as const).filter(([, { start, end }]) => within(start, end))
    .map(([, chunk, i]) => [track.config.name, `chunk ${grouped(i + 1)} of ${grouped(track.chunks.length)}`, place(chunk.start, chunk.end), `${grouped(chunk.tokens)} tokens`]));
  for (const [index, { start, end }] of answers) {
    if (!within(start, end)) continue;
    const cut = tracks.filter(({ lost }) => lost.has(index)).map(({ config }) => config.name);
    found.push(["text", `answer “${doc.points.slice(start, end)}”`, place(start, end), cut.length ? `lost at ${cut.join(", ")}` : "held whole in every track"]);
  }
  const curve = curveOf(tracks);
  curve?.joints.forEach((joint, i) => {
    if (within(joint, joint + 1)) found.push(["similarity", `sentence ${grouped(i + 1)} to the next`, grouped(joint), `${curve.values[i]!.toFixed(3)}${breaks(curve, i) ? ", a break" : ""}`]);
  });
  return found;
}

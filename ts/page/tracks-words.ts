/** What stands around the picture of part 1: its sentence, its legend, its keys, and the map of the whole document. */
import type { Track } from "./model.ts";
import { grouped, h, s } from "./site.ts";
import { curveOf, hatch, sized, type Scene } from "./stretch.ts";

/** What the figure shows, in one sentence. */
export function sentence({ doc, tracks, answers, question, from, span }: Scene): string {
  const chosen = answers.find(([index]) => index === question)?.[1];
  if (!chosen) return `The stretch of “${doc.id}” around character ${grouped(Math.round(from + span / 2))}, cut by ${listed(tracks.map(({ config }) => config.name))}.`;
  const answer = doc.points.slice(chosen.start, chosen.end);
  const names = (losing: boolean): string[] => tracks.filter(({ lost }) => lost.has(question) === losing).map(({ config }) => config.name);
  return `“${chosen.text}” The answer is “${shortened(answer, 140)}”: ${fate(names(true), names(false))}.`;
}

/** Which tracks lose an answer, and which hold it. */
function fate(cut: readonly string[], held: readonly string[]): string {
  if (!cut.length) return `${listed(held)} ${held.length > 1 ? "all hold it" : "holds it"} whole`;
  const lost = `no chunk of ${listed(cut, "or")} holds it whole`;
  return held.length ? `${lost}; ${listed(held)} ${held.length > 1 ? "do" : "does"}` : lost;
}

/** The whole document as a strip: where answers are, which of them are lost in a track, and where the stretch lies. */
export function drawMap(svg: SVGSVGElement, scene: Scene, width: number): void {
  const height = 22;
  const x = (point: number): number => (point / Math.max(1, scene.doc.length)) * width;
  sized(svg, width, height);
  svg.replaceChildren(
    s("rect", { class: "bed", x: 0, y: 4, width, height: height - 8, rx: 3 }),
    ...scene.answers.map(([index, { start, end }]) => {
      const lost = scene.tracks.some((track) => track.lost.has(index));
      return s("rect", { class: lost ? "lost-tick" : "tick", x: x(start), y: lost ? 0 : 6, width: Math.max(2, x(end) - x(start)), height: lost ? height : height - 12 });
    }),
    s("rect", { class: "window", x: x(scene.from) + 1, y: 1, width: Math.max(6, x(scene.span) - 2), height: height - 2, rx: 4 }),
  );
}

export function legend(tracks: readonly Track[]): Node {
  const swatch = (...children: SVGElement[]): SVGElement => s("svg", { width: 30, height: 18, viewBox: "0 0 30 18", "aria-hidden": "true" }, ...children);
  const items: [SVGElement, string][] = [
    ...tracks.map(({ config: { kind } }): [SVGElement, string] => [swatch(s("g", { class: `track k-${kind}` }, s("rect", { class: "chunk even", x: 1, y: 1, width: 28, height: 16, rx: 3 }))), `a ${kind} chunk, with its tokens`]),
    [swatch(s("rect", { class: "answer", x: 8, y: 2, width: 14, height: 14 })), "an answer"],
    [swatch(hatch("hatch-legend"), s("rect", { class: "hatched", x: 5, y: 1, width: 20, height: 16, fill: "url(#hatch-legend)" })), "an answer that no chunk of the track holds whole"],
  ];
  if (curveOf(tracks)) {
    items.push(
      [swatch(s("line", { class: "threshold", x1: 0, x2: 30, y1: 9, y2: 9 })), "the threshold"],
      [swatch(s("line", { class: "break", x1: 15, x2: 15, y1: 0, y2: 18 }), s("rect", { class: "dip", x: 11, y: 6, width: 8, height: 8 })), "a break: sentences so unlike that the semantic chunker cuts"],
    );
  }
  items.push([swatch(s("line", { class: "axis", x1: 1, x2: 29, y1: 6, y2: 6 }), s("line", { class: "axis", x1: 15, x2: 15, y1: 6, y2: 12 })), "characters (Unicode code points) from the start of the document"]);
  return h("ul", { class: "legend" }, ...items.map(([picture, words]) => h("li", {}, picture, words)));
}

export function keysHint(): HTMLElement {
  const key = (name: string): Node => h("kbd", {}, name);
  return h("p", { class: "hint keys" }, "In the figure: ", key("Space"), " plays and pauses, ", key("←"), " ", key("→"), " step by chunk, ", key("↑"), " ", key("↓"), " choose the track.");
}

/** a, b and c. */
function listed(names: readonly string[], word = "and"): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`;
}

export function shortened(text: string, most: number): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join("").trimEnd()}…`;
}

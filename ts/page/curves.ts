/** The figures of part 2, drawn by Observable Plot from what the table prints: recall over depth and over chunk size, and cuts by chance. */
import * as Plot from "@observablehq/plot";
import { asTable, words } from "./figures.ts";
import { asPicture } from "./plots.ts";
import { h, onWidth, s, type Config, type Exact, type Row, type Site } from "./site.ts";

const KINDS = ["fixed", "recursive", "semantic"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "star", "cross", "wye"] as const;
const DASHES = ["", "7 4", "2 3", "10 3 2 3"];
const SPACE = 17; // pixels between two labels

interface Point {
  readonly series: string;
  readonly kind: string;
  readonly x: number;
  readonly y: number;
  readonly title: string;
}

/** How a series looks: its kind's colour, and a dash and a symbol of its own within the kind. */
interface Look {
  readonly colour: string;
  readonly dash: string;
  readonly symbol: (typeof SYMBOLS)[number];
}

/** Recall over k, a line for each config. */
export function overDepth(site: Site, rows: readonly Row[]): HTMLElement {
  const depths = Object.keys(rows[0] ?? {}).filter((key) => key.startsWith("recall@")).map((key) => Number(key.slice(7)));
  const points = rows.flatMap((row) => depths.map((k) => pointOf(site, row, `recall@${k}`, k, String(row["config"]))));
  const table = asTable("Recall among the first k results, by config", ["config", ...depths.map((k) => `k = ${k}`)], rows.map((row) => [row["config"], ...depths.map((k) => row[`recall@${k}`])]));
  return lines(points.filter(({ y }) => !Number.isNaN(y)), {
    title: "Recall over k", sentence: "The further down the list one looks, the more answers are found; a higher line finds more.",
    x: { type: "log", label: "k, the results looked at", ticks: depths }, y: "recall", table,
  });
}

/** Recall over chunk size, a line for each kind of chunker. */
export function overSize(site: Site, rows: readonly Row[], metric: string): HTMLElement {
  const configs = new Map(site.configs.map((config) => [config.name, config]));
  const points = rows.flatMap((row) => {
    const config = configs.get(String(row["config"]));
    return config ? [pointOf(site, row, metric, config.chunker.size, seriesOf(config))] : [];
  }).filter(({ y }) => !Number.isNaN(y));
  const sizes = [...new Set(points.map(({ x }) => x))].sort((a, b) => a - b);
  const table = asTable(`${metric} by chunk size`, ["config", "size", metric], rows.map((row) => [row["config"], String(configs.get(String(row["config"]))?.chunker.size ?? ""), row[metric]]));
  return lines(points, {
    title: "Recall over chunk size", sentence: `${metric} against the most tokens that a chunk may have; larger chunks are easier to hit, and cost more to read.`,
    x: { type: "log", label: "chunk size in tokens", ticks: sizes }, y: metric, table,
  });
}

const seriesOf = ({ kind, chunker }: Config): string => (chunker.overlap ? `${kind}, overlapping` : kind);

function pointOf(site: Site, row: Row, metric: string, x: number, series: string): Point {
  const exact: Exact | undefined = site.table?.exact?.[`${row["config"]}/${row["method"]}`]?.[metric];
  const kind = site.configs.find(({ name }) => name === row["config"])?.kind ?? "fixed";
  const printed = row[metric];
  return { series, kind, x, y: printed === null || printed === undefined ? NaN : Number(printed), title: `${row["config"]}\n${metric} ${printed}${exact ? `\n${words(exact)}` : ""}` };
}

interface Chart {
  readonly title: string;
  readonly sentence: string;
  readonly x: { type: "log"; label: string; ticks: readonly number[] };
  readonly y: string;
  readonly table: HTMLElement;
}

/** Colour by kind; within a kind the series differ by dash and symbol, so that nobody needs the colour. */
function looks(points: readonly Point[]): Map<string, Look> {
  const found = new Map<string, Look>();
  const seen: Record<string, number> = {};
  for (const { series, kind } of points) {
    if (found.has(series)) continue;
    const nth = (seen[kind] = (seen[kind] ?? -1) + 1);
    found.set(series, { colour: KINDS.includes(kind) ? `var(--${kind})` : "currentColor", dash: DASHES[nth % DASHES.length]!, symbol: SYMBOLS[found.size % SYMBOLS.length]! });
  }
  return found;
}

/** A figure of lines with a name at each line's end. */
function lines(points: readonly Point[], chart: Chart): HTMLElement {
  const look = looks(points);
  const series = [...look.keys()];
  const longest = Math.max(0, ...series.map((name) => name.length));
  const box = h("div", { class: "plot" });
  onWidth(box, (width) => {
    const height = Math.round(Math.min(400, Math.max(280, width * 0.62)));
    // On a narrow screen the names stand in the legend alone.
    const names = width >= 460;
    const options = (labels: Plot.Markish[]): Plot.PlotOptions => ({
      width, height, marginLeft: 44, marginRight: names ? longest * 7.2 + 22 : 16, marginTop: 26, marginBottom: 42, className: "chart",
      x: { ...chart.x, ticks: [...chart.x.ticks], tickFormat: (value: number) => String(value), inset: 6 },
      y: { label: chart.y, grid: true, nice: true, ticks: 6 },
      marks: [
        ...series.map((name) => Plot.line(points.filter((point) => point.series === name), { x: "x", y: "y", stroke: look.get(name)!.colour, strokeWidth: 1.75, strokeDasharray: look.get(name)!.dash, sort: "x" })),
        ...series.map((name) => Plot.dot(points.filter((point) => point.series === name), { x: "x", y: "y", stroke: look.get(name)!.colour, fill: "var(--card)", symbol: look.get(name)!.symbol, r: 4.5, strokeWidth: 1.75 })),
        Plot.tip(points, Plot.pointer({ x: "x", y: "y", title: "title", fill: "var(--card)", stroke: "var(--strong-line)" })),
        ...labels,
      ],
    });
    let plot = Plot.plot(options([]));
    if (names) plot = Plot.plot(options(endLabels(points, series, look, plot)));
    box.replaceChildren(asPicture(plot, `${chart.title}. The data stand in the table below.`));
  });
  return h("figure", { class: "card" }, h("figcaption", {}, h("strong", {}, chart.title), h("span", { class: "sentence" }, chart.sentence)), box, legend(series, look), chart.table);
}

/** The name of each series at its last point, moved apart where they would touch. */
function endLabels(points: readonly Point[], series: readonly string[], look: ReadonlyMap<string, Look>, plot: Plot.Plot): Plot.Markish[] {
  const y = plot.scale("y")!;
  const bottom = (y.apply(([...y.domain!] as number[])[0]) as number) + 4;
  const ends = series.map((name) => {
    const last = points.filter((point) => point.series === name).reduce((a, b) => (b.x >= a.x ? b : a));
    return { name, x: last.x, wanted: y.apply(last.y) as number, place: 0 };
  }).sort((a, b) => a.wanted - b.wanted);
  for (const x of new Set(ends.map((end) => end.x))) {
    const beside = ends.filter((end) => end.x === x);
    let floor = -Infinity;
    for (const end of beside) floor = end.place = Math.max(end.wanted, floor + SPACE);
    // What was pushed below the axis goes up again.
    let ceiling = bottom;
    for (const end of beside.toReversed()) ceiling = (end.place = Math.min(end.place, ceiling)) - SPACE;
  }
  return ends.map(({ name, x, place }) => Plot.text([name], { x: () => x, y: () => y.invert!(place) as number, text: () => name, textAnchor: "start", dx: 12, fill: look.get(name)!.colour, fontWeight: 600, fontSize: 12.5 }));
}

function legend(series: readonly string[], look: ReadonlyMap<string, Look>): HTMLElement {
  return h("ul", { class: "legend" }, ...series.map((name) => {
    const { colour, dash, symbol } = look.get(name)!;
    const mark = Plot.plot({ width: 34, height: 16, margin: 0, axis: null, x: { domain: [0, 2] }, y: { domain: [0, 2] }, marks: [
      Plot.line([[0.1, 1], [1.9, 1]], { stroke: colour, strokeWidth: 1.75, strokeDasharray: dash }),
      Plot.dot([[1, 1]], { stroke: colour, fill: "var(--card)", symbol, r: 4.5, strokeWidth: 1.75 }),
    ] });
    mark.setAttribute("aria-hidden", "true");
    return h("li", {}, mark, name);
  }));
}

/** Cuts that chance would make beside those that were seen. */
export function chances(rows: readonly Row[]): HTMLElement {
  const data = rows.map((row) => ({ config: String(row["config"]), expected: number(row["expected"]), low: number(row["low"]), high: number(row["high"]), seen: number(row["seen"]) }));
  const ranged = data.filter(({ low, high }) => low !== null && high !== null);
  const box = h("div", { class: "plot" });
  onWidth(box, (width) => {
    box.replaceChildren(asPicture(Plot.plot({
      width, height: 52 + data.length * 34, marginLeft: 112, marginRight: 20, marginTop: 10, marginBottom: 40, className: "chart",
      x: { label: "answers cut", grid: true, zero: true, nice: true, tickFormat: (value: number) => (Number.isInteger(value) ? String(value) : "") },
      y: { type: "band", label: null, domain: data.map(({ config }) => config), tickSize: 0 },
      marks: [
        Plot.barX(ranged, { y: "config", x1: "low", x2: "high", fill: "var(--fixed)", fillOpacity: 0.22, stroke: "var(--fixed)", insetTop: 8, insetBottom: 8, rx: 4 }),
        Plot.tickX(ranged, { y: "config", x: "expected", stroke: "var(--fixed)", strokeWidth: 2.5, insetTop: 3, insetBottom: 3 }),
        Plot.dot(data.filter(({ seen }) => seen !== null), { y: "config", x: "seen", fill: "var(--lost)", stroke: "var(--card)", strokeWidth: 1.5, r: 6.5, symbol: "diamond" }),
        Plot.tip(data, Plot.pointerY({ y: "config", x: "seen", fill: "var(--card)", stroke: "var(--strong-line)", title: ({ config, seen, expected, low, high }) => `${config}\nseen ${seen}${expected === null ? "\nits cuts follow the text, so chance says nothing" : `\nexpected ${expected}\nby chance ${low} to ${high}`}` })),
      ],
    }), "Answers that are cut: expected by chance, with its range, and seen. The data stand in the table below."));
  });
  const swatch = (...children: SVGElement[]): SVGElement => s("svg", { width: 30, height: 18, viewBox: "0 0 30 18", "aria-hidden": "true" }, ...children);
  const columns = Object.keys(rows[0]!);
  return h("figure", { class: "card chances" }, box,
    h("ul", { class: "legend" },
      h("li", {}, swatch(s("rect", { class: "range", x: 1, y: 4, width: 28, height: 10, rx: 4 })), "what chance would do"),
      h("li", {}, swatch(s("line", { class: "expected", x1: 15, x2: 15, y1: 1, y2: 17 })), "expected"),
      h("li", {}, swatch(s("path", { class: "seen", d: "M15,1l7,8l-7,8l-7,-8z" })), "seen"),
      h("li", {}, "no bar: cuts that follow the text, of which chance says nothing")),
    asTable("Answers that are cut, expected and seen", columns.map((column) => (column === "inside_sentence_percent" ? "inside a sentence %" : column.replaceAll("_", " "))), rows.map((row) => columns.map((column) => row[column]))));
}

const number = (text: string | null | undefined): number | null => (text === null || text === undefined ? null : Number(text));

/** The figure of part 5: recall over budget, a line a policy, and the interval of each policy's difference to the baseline. */
import * as Plot from "@observablehq/plot";
import { inWords, measured, type Budget, type Measure } from "./budget.ts";
import { asPicture } from "./plots.ts";
import { grouped, h, onWidth, scrolling } from "./site.ts";

/** How each policy is drawn: the hue says the family, the dashes the size; no two policies share both. */
const STYLES: Record<string, { hue: string; dash: string }> = {
  "fixed-128": { hue: "--fixed", dash: "2 3" },
  "fixed-128-o32": { hue: "--fixed-lapped", dash: "2 3" },
  "fixed-256": { hue: "--fixed", dash: "7 3" },
  "fixed-256-o64": { hue: "--fixed-lapped", dash: "7 3" },
  "fixed-512": { hue: "--fixed", dash: "" },
  "fixed-512-o128": { hue: "--fixed-lapped", dash: "" },
  paragraphs: { hue: "--ink", dash: "" },
  headed: { hue: "--lost", dash: "" },
  "sentence-windows": { hue: "--semantic", dash: "" },
  first: { hue: "--soft", dash: "1 4" },
};
const style = (policy: string): { stroke: string; dash: string } => {
  const { hue, dash } = STYLES[policy] ?? { hue: "--accent", dash: "9 3 2 3" };
  return { stroke: `var(${hue})`, dash };
};

interface Mark {
  policy: string;
  budget: number;
  value: number;
  printed: string;
  low: number | undefined;
  high: number | undefined;
}

/** The curves with their legend, whose buttons bring one policy forward, and the same figures as a table. */
export function curves(budget: Budget, measure: Measure, tokens: number): HTMLElement {
  const marks = points(budget, measure);
  const policies = [...new Set(marks.map(({ policy }) => policy))];
  const plot = h("div", { class: "budget-plot" });
  let forward: string | undefined;
  let width = 0;
  const draw = (): void => plot.replaceChildren(lines(marks, width, forward, measure, budget.protocol.baseline));
  onWidth(plot, (found) => { width = found; draw(); });
  const key = h("ul", { class: "legend budget-key", "aria-label": "Policies; press one to bring it forward" }, ...policies.map((policy) => {
    const { stroke, dash } = style(policy);
    const button = h("button", { type: "button", "aria-pressed": "false", title: inWords(policy), click: () => {
      forward = forward === policy ? undefined : policy;
      for (const each of key.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === button && forward !== undefined));
      draw();
    } }, swatch(stroke, dash), policy);
    return h("li", {}, button);
  }));
  const sentence = `Further up is better: each line is the share of questions for which the context holds ${measured(measure)}, for more and more tokens. `
    + `Press a name to bring its line forward, with its 95 % interval over papers drawn again as a band; until then that of ${budget.protocol.baseline} is shown.`;
  return h("div", {}, h("p", { class: "sentence" }, sentence), h("figure", { class: "card" }, plot, key), asTable(marks, policies), differences(budget, measure, tokens));
}

function points({ curves: given, rows }: Budget, measure: Measure): Mark[] {
  return (given?.length ? given : rows).map((row) => {
    const interval = row[`${measure}_rate_interval`] as [number, number] | null | undefined;
    return { policy: row.policy, budget: row.budget, value: row[measure] as number, printed: String(row.printed[measure]), low: interval?.[0], high: interval?.[1] };
  });
}

function lines(marks: Mark[], width: number, forward: string | undefined, measure: Measure, baseline: string): Element {
  const budgets = [...new Set(marks.map(({ budget }) => budget))].sort((a, b) => a - b);
  const narrow = width < 520;
  const order = [...new Set(marks.map(({ policy }) => policy))].sort((a, b) => Number(a === forward) - Number(b === forward));
  const band = marks.filter(({ policy, low }) => policy === (forward ?? baseline) && low !== undefined);
  const svg = Plot.plot({
    width, height: narrow ? 300 : 420, marginLeft: 46, marginRight: 14, marginBottom: 42,
    style: { fontSize: "13px", background: "transparent", fontFamily: "inherit" },
    x: { type: "log", domain: [budgets[0]!, budgets.at(-1)!], ticks: narrow ? budgets.filter((_, i) => i % 2 === 0) : budgets, tickFormat: (each: number) => grouped(each), label: "budget in tokens", insetLeft: 10, insetRight: 10 },
    y: { domain: [0, 1], grid: true, ticks: 5, tickFormat: (each: number) => `${Math.round(each * 100)} %`, label: null },
    marks: [
      Plot.ruleY([0]),
      ...(band.length ? [Plot.areaY(band, { x: "budget", y1: "low", y2: "high", fill: style(forward ?? baseline).stroke, fillOpacity: forward ? 0.2 : 0.1 })] : []),
      ...order.flatMap((policy) => {
        const own = marks.filter((mark) => mark.policy === policy);
        const { stroke, dash } = style(policy);
        const dim = forward !== undefined && policy !== forward;
        const strong = policy === forward || policy === baseline;
        return [
          Plot.lineY(own, { x: "budget", y: "value", stroke, strokeDasharray: dash || "none", strokeWidth: strong ? 3 : 1.8, strokeOpacity: dim ? 0.25 : 1 }),
          Plot.dot(own, { x: "budget", y: "value", fill: stroke, r: strong ? 4 : 3, fillOpacity: dim ? 0.25 : 1 }),
        ];
      }),
      Plot.tip(marks, Plot.pointer({ x: "budget", y: "value", title: (mark: Mark) => `${mark.policy}\n${mark.printed} at ${grouped(mark.budget)} tokens`, fill: "var(--card)" })),
    ],
  });
  return asPicture(svg, `Share of questions with evidence in the context (${measure}) over the budget in tokens, a line for each of ${order.length} policies. The figures are in the table below.`);
}

/** What a line looks like, for the legend. */
function swatch(stroke: string, dash: string): Element {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width: "30", height: "12", "aria-hidden": "true" })) svg.setAttribute(name, value);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", "M1 6H29");
  line.setAttribute("style", `stroke:${stroke};stroke-width:3;stroke-dasharray:${dash || "none"}`);
  svg.append(line);
  return svg;
}

/** The intervals of the differences to the baseline at one budget. */
function differences({ rows, protocol }: Budget, measure: Measure, tokens: number): HTMLElement | string {
  const [difference, interval] = measure === "any" ? ["difference", "interval"] : ["strict_difference", "strict_interval"];
  const known = rows.filter((row) => row.budget === tokens && row[difference] !== null && row[interval]).map((row): Gap => {
    const [low, high] = row[interval] as [number, number];
    return { policy: row.policy, difference: row[difference] as number, low, high, title: `${String(row.printed[difference])} (${(row.printed[interval] as [string, string]).join(" … ")})` };
  });
  if (known.length === 0) return "";
  const plot = h("div", { class: "budget-plot" });
  onWidth(plot, (width) => plot.replaceChildren(forest(known, protocol.baseline, width)));
  return h("div", {},
    h("h3", {}, `Ahead of ${protocol.baseline}, or behind`),
    h("p", { class: "sentence" }, `Each policy’s difference to ${protocol.baseline} at ${grouped(tokens)} tokens: the dot is the difference, the bar its 95 % interval over papers drawn again. A bar that crosses the line at 0 means that these papers do not decide.`),
    h("figure", { class: "card" }, plot));
}

interface Gap {
  policy: string;
  difference: number;
  low: number;
  high: number;
  title: string;
}

function forest(gaps: Gap[], baseline: string, width: number): Element {
  const narrow = width < 520;
  const stroke = ({ policy }: Gap): string => style(policy).stroke;
  const svg = Plot.plot({
    width, height: gaps.length * 28 + 60, marginLeft: 136, marginRight: 16, marginBottom: 42,
    style: { fontSize: "13px", background: "transparent", fontFamily: "inherit" },
    x: { label: `difference to ${baseline}`, ticks: narrow ? 3 : 7, grid: true, nice: true, tickFormat: (each: number) => `${each > 0 ? "+" : each < 0 ? "−" : ""}${Math.abs(each)}` },
    y: { domain: gaps.map(({ policy }) => policy), label: null, tickSize: 0 },
    marks: [
      Plot.ruleX([0], { strokeWidth: 1.5 }),
      Plot.ruleY(gaps, { x1: "low", x2: "high", y: "policy", stroke, strokeWidth: 3 }),
      Plot.dot(gaps, { x: "difference", y: "policy", fill: stroke, stroke: "var(--card)", r: 5.5 }),
      Plot.tip(gaps, Plot.pointerY({ x: "difference", y: "policy", title: ({ policy, title }: Gap) => `${policy}\n${title}`, fill: "var(--card)" })),
    ],
  });
  return asPicture(svg, `Difference of each policy to ${baseline} with its interval: ${gaps.map(({ policy, title }) => `${policy} ${title}`).join("; ")}.`);
}

function asTable(marks: Mark[], policies: string[]): HTMLElement {
  const budgets = [...new Set(marks.map(({ budget }) => budget))].sort((a, b) => a - b);
  const of = (policy: string, budget: number): string => marks.find((mark) => mark.policy === policy && mark.budget === budget)?.printed ?? "–";
  return h("details", {}, h("summary", {}, "The figures of this picture"),
    scrolling("Figures of the curves", h("table", { class: "data" },
      h("caption", { class: "visually-hidden" }, "Share of questions covered, by policy and budget in tokens"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Policy"), ...budgets.map((budget) => h("th", { scope: "col", class: "number" }, grouped(budget))))),
      h("tbody", {}, ...policies.map((policy) => h("tr", {}, h("th", { scope: "row" }, policy), ...budgets.map((budget) => h("td", { class: "number" }, of(policy, budget)))))))));
}

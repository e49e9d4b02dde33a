/** Part 5: how often the evidence is in a context of so many tokens, by policy, and what one question's contexts look like. */
import { curves } from "./budget-curves.ts";
import { picture, type Picture } from "./budget-picture.ts";
import { announce, grouped, h, type Mount } from "./site.ts";

/** Which questions count: the evidence of some annotator is whole in the context, or that of all annotators. */
export type Measure = "any" | "strict";

interface Interval {
  low: string;
  high: string;
}

/** A policy at a budget: figures as the engines printed them, counts as whole numbers. */
export interface Row {
  policy: string;
  budget: number;
  any: string;
  strict: string;
  difference?: string | null;
  /** Of the difference to the baseline. */
  interval?: Interval | null;
  [column: string]: unknown;
}

interface Slice {
  slice: string;
  value: string;
  questions: number;
  rows: { policy: string; any: string; strict: string }[];
  said?: string | null;
}

export interface Point extends Partial<Interval> {
  budget: number;
  any: string;
  strict: string;
}

/** What `chunkproof budget run --json` prints, as far as it is shown. */
export interface Budget {
  papers: number;
  questions: number;
  rows: Row[];
  slices?: Slice[];
  curves?: { policy: string; points: Point[] }[];
  decision?: { sentence?: string; budget?: number; baseline?: string } | null;
}

const MEASURES: [Measure, string][] = [
  ["any", "all the evidence that one annotator marked"],
  ["strict", "all the evidence that any annotator marked"],
];

/** The columns of the table, where the data has them: heading, and what it means. */
const COLUMNS: [key: string, heading: string, about: string][] = [
  ["any", "any", "share of questions with the whole evidence of an annotator in the context"],
  ["strict", "strict", "share of questions with the evidence of all annotators in the context"],
  ["any_share", "share, any", "mean share of an annotator’s evidence paragraphs in the context, of the annotator who fares best"],
  ["strict_share", "share, strict", "mean share of all annotators’ evidence paragraphs in the context"],
  ["precision", "precision", "share of the context’s tokens that are evidence"],
  ["difference", "difference", "to the baseline, of all questions"],
  ["interval", "95 % interval", "of the difference, over papers drawn again"],
  ["p", "p, Holm", "chance of such a difference if there were none, corrected for the number of policies"],
  ["holm", "p, Holm", "chance of such a difference if there were none, corrected for the number of policies"],
  ["verdict", "verdict", "by the rule that was fixed before the run"],
  ["chunks", "chunks", "used for a question, on average"],
  ["tokens", "tokens", "used for a question, on average"],
  ["full", "full", "how often a chunk did not fit whole"],
];

/** A policy's name in words. */
export function inWords(policy: string): string {
  const [, size, overlap] = /^fixed-(\d+)(?:-o(\d+))?$/.exec(policy) ?? [];
  if (size) return `windows of ${size} tokens${overlap ? `, ${overlap} of them shared with the one before` : ""}`;
  const known: Record<string, string> = {
    paragraphs: "paragraphs as the paper has them",
    headed: "paragraphs, each with its section’s heading",
    "sentence-windows": "a sentence with its neighbours",
    first: "the beginning of the paper, without any search",
  };
  return known[policy] ?? policy;
}

export const mount: Mount = (root, site) => {
  const budget = site.budget as Budget | null | undefined;
  if (!budget?.rows?.length) {
    root.hidden = true;
    return;
  }
  root.classList.add("budget");
  new View(root, budget, (site.budget_picture as Picture[] | null | undefined) ?? []);
};

class View {
  readonly #budget: Budget;
  readonly #figure = h("div");
  readonly #table = h("div");
  readonly #slices = h("div");
  #measure: Measure = "any";
  #tokens: number;

  constructor(root: HTMLElement, budget: Budget, pictures: Picture[]) {
    this.#budget = budget;
    const budgets = this.#budgets();
    const decided = budget.decision?.budget ?? 1000;
    this.#tokens = budgets.includes(decided) ? decided : budgets[0]!;
    root.append(
      this.#verdict(),
      this.#controls(budgets),
      h("h3", {}, "Evidence found, by budget"), this.#figure,
      h("h3", {}, "Every policy at this budget"), this.#table,
    );
    if (budget.slices?.length) root.append(h("h3", {}, "Kinds of question"), this.#slices);
    if (pictures.length) root.append(h("h3", {}, "One question, looked at closely"), picture(pictures));
    this.#draw();
  }

  #budgets(): number[] {
    return [...new Set(this.#budget.rows.map(({ budget }) => budget))].sort((a, b) => a - b);
  }

  /** What the rule says, as the program wrote it. */
  #verdict(): HTMLElement | string {
    const sentence = this.#budget.decision?.sentence;
    return sentence ? h("p", { class: "card budget-verdict" }, sentence) : "";
  }

  #controls(budgets: number[]): HTMLElement {
    const measures = MEASURES.map(([measure, about]) => this.#radio("budget-measure", measure, [h("strong", {}, measure), `: ${about}`], measure === this.#measure, () => {
      this.#measure = measure;
      this.#draw();
      announce(`Counted now: ${about}`);
    }));
    const limits = budgets.map((tokens) => this.#radio("budget-tokens", String(tokens), [`${grouped(tokens)} tokens`], tokens === this.#tokens, () => {
      this.#tokens = tokens;
      this.#draw();
      announce(`The table is that of ${grouped(tokens)} tokens`);
    }));
    return h("div", { class: "budget-controls" },
      h("fieldset", {}, h("legend", {}, "A question counts when the context holds"), ...measures),
      h("fieldset", {}, h("legend", {}, "Budget of the table"), ...limits));
  }

  #radio(name: string, value: string, label: (Node | string)[], checked: boolean, change: () => void): HTMLElement {
    return h("label", { class: "budget-choice" }, h("input", { type: "radio", name, value, checked, change }), h("span", {}, ...label));
  }

  #draw(): void {
    this.#figure.replaceChildren(curves(this.#budget, this.#measure));
    this.#table.replaceChildren(this.#rows());
    if (this.#budget.slices?.length) this.#slices.replaceChildren(this.#sliced(this.#budget.slices));
  }

  #rows(): HTMLElement {
    const rows = this.#budget.rows.filter(({ budget }) => budget === this.#tokens);
    const present = COLUMNS.filter(([key]) => rows.some((row) => row[key] !== null && row[key] !== undefined));
    const best = most(rows, this.#measure);
    const cells = (row: Row): HTMLElement[] => present.map(([key]) =>
      h("td", { class: `number${key === this.#measure ? " counted" : ""}` }, shown(row[key]), key === this.#measure && best.has(row.policy) ? mark() : null));
    return region(`Every policy at ${grouped(this.#tokens)} tokens`, h("table", { class: "data" },
      h("caption", {}, `${grouped(this.#budget.questions)} questions about ${grouped(this.#budget.papers)} papers, ${grouped(this.#tokens)} tokens each. ▲ marks the best.`),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Policy"), ...present.map(([, heading, about]) => h("th", { scope: "col", class: "number", title: about }, heading)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, h("th", { scope: "row", title: inWords(row.policy) }, row.policy), ...cells(row))))),
    legend(present));
  }

  #sliced(slices: Slice[]): HTMLElement {
    const policies = slices[0]!.rows.map(({ policy }) => policy);
    const body: HTMLElement[] = [];
    for (const [i, { slice, value, questions, rows }] of slices.entries()) {
      if (slices[i - 1]?.slice !== slice) body.push(h("tr", { class: "budget-cut" }, h("th", { scope: "rowgroup", colspan: policies.length + 2 }, CUTS[slice] ?? slice)));
      const best = most(rows, this.#measure);
      body.push(h("tr", {}, h("th", { scope: "row" }, value.replaceAll("_", " ")), h("td", { class: "number" }, grouped(questions)),
        ...policies.map((policy) => h("td", { class: `number${best.has(policy) ? " counted" : ""}` }, rows.find((row) => row.policy === policy)?.[this.#measure] ?? "–", best.has(policy) ? mark() : null))));
    }
    const said = slices.map(({ said }) => said).filter((each) => typeof each === "string");
    return h("div", {},
      h("p", { class: "sentence" }, "The same figure among questions of one kind, where another policy may be ahead. ▲ marks the best of a row; a row of few questions says little."),
      region("Kinds of question", h("table", { class: "data" },
        h("caption", { class: "visually-hidden" }, "Share of questions covered, by kind of question and policy"),
        h("thead", {}, h("tr", {}, ...["Kind", "Questions", ...policies].map((name, i) => h("th", { scope: "col", class: i ? "number" : null }, name)))),
        h("tbody", {}, ...body))),
      ...said.map((each) => h("p", { class: "sentence" }, each)));
  }
}

/** The slices' names in words. */
const CUTS: Record<string, string> = {
  answer: "By the form of the answer",
  evidence: "By the number of evidence paragraphs",
  section: "By the section where the evidence lies",
  position: "By the place of the first evidence in the paper",
};

/** The policies with the greatest printed figure. */
function most(rows: { policy: string; any: string; strict: string }[], measure: Measure): Set<string> {
  const top = Math.max(...rows.map((row) => Number(row[measure])));
  return new Set(rows.filter((row) => Number(row[measure]) === top).map(({ policy }) => policy));
}

const mark = (): HTMLElement => h("span", { class: "budget-best" }, " ▲", h("span", { class: "visually-hidden" }, " best"));

/** A cell, whatever the JSON has for it. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return grouped(value);
  if (typeof value === "object" && "low" in value && "high" in value) return `${minus(String(value.low))} … ${minus(String(value.high))}`;
  return minus(String(value));
}

const minus = (text: string): string => text.replace(/^-/, "−");

/** Something wide that is scrolled by itself, by keyboard too. */
function region(name: string, ...children: (Node | string)[]): HTMLElement {
  return h("div", {}, h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, children[0]!), ...children.slice(1));
}

function legend(columns: [string, string, string][]): HTMLElement {
  return h("details", {}, h("summary", {}, "What the columns mean"),
    h("dl", { class: "budget-terms" }, ...columns.flatMap(([, heading, about]) => [h("dt", {}, heading), h("dd", {}, about)])));
}

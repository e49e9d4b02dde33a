/** Part 5: how often the evidence is in a context of so many tokens, by policy, and what one question's contexts look like. */
import { curves } from "./budget-curves.ts";
import { picture, type Picture } from "./budget-picture.ts";
import { announce, grouped, h, scrolling, type Mount } from "./site.ts";

/** Which questions count: the evidence of some annotator is whole in the context, or that of all annotators. */
export type Measure = "any" | "strict";

/** Figures as the engines printed them, by column; intervals are two of them. */
type Printed = Record<string, string | [low: string, high: string] | null>;

/** A policy at a budget: figures as doubles, and as they are printed. */
export interface Row {
  policy: string;
  budget: number;
  printed: Printed;
  verdict?: string | null;
  [column: string]: unknown;
}

/** Questions of one kind, by policy: how many are covered at the budget of the decision. */
interface Slice {
  cut: string;
  name: string;
  papers: number;
  questions: number;
  printed: Record<string, string>;
  winners: string[];
  /** What it says, where another policy is ahead than over all questions. */
  paragraph?: string | null;
}

/** What `chunkproof budget run --json` prints, as far as it is shown. */
export interface Budget {
  dataset: { name: string; split: string };
  protocol: { name: string; digest: string; baseline: string };
  final: boolean;
  papers: number;
  scored: number;
  digest: string;
  rows: Row[];
  index: Record<string, { chunks: number; tokens: number; postings: number }>;
  decision?: { measure?: string; budget?: number; sentence: string } | null;
  slices?: Slice[];
  top_k?: { sentences: string[] } | null;
  curves?: Row[];
}

const MEASURES: [Measure, string][] = [
  ["any", "all the evidence that one annotator marked"],
  ["strict", "all the evidence that any annotator marked"],
];

/** What is counted, in words. */
export const measured = (measure: Measure): string => MEASURES.find(([each]) => each === measure)![1];

/** The columns of the table: where the figure is printed, by measure, its heading, and what it means. */
const COLUMNS: [keys: Record<Measure, string>, heading: string, about: string][] = [
  [{ any: "any", strict: "strict" }, "found", "share of questions with that evidence in the context"],
  [{ any: "any_rate_interval", strict: "strict_rate_interval" }, "95 % interval", "of that share, over papers drawn again"],
  [{ any: "difference", strict: "strict_difference" }, "difference", "of that share to the baseline’s"],
  [{ any: "interval", strict: "strict_interval" }, "95 % interval of it", "of the difference, over papers drawn again; one that holds 0 decides nothing"],
  [{ any: "holm", strict: "strict_holm" }, "Holm’s p", "how often chance alone would give such a difference, corrected for the number of policies"],
  [{ any: "any_share", strict: "strict_share" }, "paragraphs", "share of the evidence paragraphs in the context, on average"],
  [{ any: "any_tokens", strict: "strict_tokens" }, "evidence", "share of the evidence tokens in the context, on average"],
  [{ any: "precision", strict: "precision" }, "precision", "share of the context’s tokens that are evidence, on average"],
  [{ any: "chunks", strict: "chunks" }, "chunks", "in the context, on average"],
  [{ any: "tokens", strict: "tokens" }, "tokens", "in the context, headings included, on average"],
  [{ any: "full", strict: "full" }, "full", "share of questions for which a chunk did not fit whole"],
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
  #measure: Measure = "any";
  readonly #decided: number;
  #tokens: number;

  constructor(root: HTMLElement, budget: Budget, pictures: Picture[]) {
    this.#budget = budget;
    const budgets = this.#budgets();
    this.#decided = budget.decision?.budget ?? 1000;
    this.#tokens = budgets.includes(this.#decided) ? this.#decided : budgets[0]!;
    root.append(
      this.#verdict(),
      this.#controls(budgets),
      h("h3", {}, "Evidence found, by budget"), this.#figure,
      h("h3", {}, "Every policy at this budget"), this.#table,
    );
    if (budget.slices?.length) root.append(h("h3", {}, "Kinds of question"), sliced(budget.slices, this.#decided));
    if (budget.top_k?.sentences.length) root.append(h("h3", {}, "What the same number of chunks would have said"), topK(budget.top_k.sentences));
    if (pictures.length) root.append(h("h3", {}, "One question, looked at closely"), picture(pictures));
    root.append(this.#source());
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
    this.#figure.replaceChildren(curves(this.#budget, this.#measure, this.#tokens));
    this.#table.replaceChildren(this.#rows());
  }

  #rows(): HTMLElement {
    const { papers, scored, protocol, index } = this.#budget;
    const rows = this.#budget.rows.filter(({ budget }) => budget === this.#tokens);
    const columns = COLUMNS.map(([keys, heading, about]) => [keys[this.#measure], heading, about] as const).filter(([key]) => rows.some(({ printed }) => printed[key]));
    const best = Math.max(...rows.map((row) => row[this.#measure] as number));
    const line = (row: Row): HTMLElement => h("tr", { class: row.policy === protocol.baseline ? "budget-baseline" : null },
      h("th", { scope: "row", title: inWords(row.policy) }, row.policy),
      ...columns.map(([key], i) => number(shown(row.printed[key]), i === 0 && row[this.#measure] === best)),
      number(index[row.policy]?.chunks ? grouped(index[row.policy]!.chunks) : "–"),
      h("td", {}, row.verdict ?? "–"));
    const about: [string, string][] = [...columns.map(([, heading, about]): [string, string] => [heading, about]),
      ["index", "chunks in the index of all papers"], ["verdict", "by the rule that was fixed before the run, at its one budget"]];
    return h("div", {},
      h("p", { class: "sentence" }, `${grouped(scored)} questions about ${grouped(papers)} papers, ${grouped(this.#tokens)} tokens for each. ▲ marks the largest share; ${protocol.baseline} is the baseline.`),
      scrolling(`Every policy at ${grouped(this.#tokens)} tokens`, h("table", { class: "data" },
        h("caption", { class: "visually-hidden" }, `Every policy at ${grouped(this.#tokens)} tokens`),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "policy"), ...about.map(([heading, about]) => h("th", { scope: "col", class: heading === "verdict" ? null : "number", title: about }, heading)))),
        h("tbody", {}, ...rows.map(line)))),
      h("details", {}, h("summary", {}, "What the columns and policies are"),
        h("dl", { class: "budget-terms" }, ...[...about, ...rows.map(({ policy }): [string, string] => [policy, inWords(policy)])].flatMap(([name, about]) => [h("dt", {}, name), h("dd", {}, about)]))));
  }

  /** What the figures rest on. */
  #source(): HTMLElement {
    const { dataset, protocol, final, digest } = this.#budget;
    return h("p", { class: "sentence budget-source" },
      `${final ? "The final run" : "A run for development"} on ${dataset.name}${dataset.split ? ` (${dataset.split})` : ""} under protocol ${protocol.name}, `, h("code", { class: "digest" }, protocol.digest), ". Digest of the result: ", h("code", { class: "digest" }, digest));
  }
}

/** The slices as a table, a row each, and what those say in which another policy is ahead. */
function sliced(slices: Slice[], budget: number): HTMLElement {
  const policies = Object.keys(slices[0]!.printed);
  const bodies = [...new Set(slices.map(({ cut }) => cut))].map((cut) => h("tbody", {},
    h("tr", { class: "budget-cut" }, h("th", { scope: "rowgroup", colspan: policies.length + 2 }, CUTS[cut] ?? cut)),
    ...slices.filter((slice) => slice.cut === cut).map(({ name, questions, printed, winners }) => h("tr", {},
      h("th", { scope: "row" }, name === "yes_no" ? "yes/no" : name.replaceAll("_", " ")), number(grouped(questions)),
      ...policies.map((policy) => number(printed[policy] ?? "–", winners.includes(policy) && winners.length < policies.length))))));
  const said = slices.flatMap(({ paragraph }) => (paragraph ? [h("li", {}, paragraph)] : []));
  return h("div", {},
    h("p", { class: "sentence" }, `The share of questions with all of one annotator’s evidence within ${grouped(budget)} tokens, among questions of one kind. ▲ marks the largest of a row; a row of few questions says little.`),
    scrolling("Kinds of question", h("table", { class: "data" },
      h("caption", { class: "visually-hidden" }, "Share of questions covered, by kind of question and policy"),
      h("thead", {}, h("tr", {}, ...["kind", "questions", ...policies].map((name, i) => h("th", { scope: "col", class: i ? "number" : null }, name)))),
      ...bodies)),
    said.length ? h("details", {}, h("summary", {}, `Where another policy is ahead (${said.length})`), h("ul", { class: "budget-said" }, ...said)) : null);
}

function topK(sentences: string[]): HTMLElement {
  return h("div", {},
    h("p", { class: "sentence" }, "Systems are often compared at the same number of chunks, which lets larger chunks send more text. The same questions, compared in that way:"),
    h("ul", { class: "budget-said" }, ...sentences.map((sentence) => h("li", {}, sentence))));
}

/** The slices' names in words. */
const CUTS: Record<string, string> = {
  answer: "Form of the answer",
  evidence: "Evidence paragraphs",
  section: "Section of the evidence",
  position: "First evidence stands in the",
};

function number(text: string, best = false): HTMLElement {
  return h("td", { class: best ? "number counted" : "number" }, text, best ? h("span", { class: "budget-best" }, " ▲", h("span", { class: "visually-hidden" }, " largest")) : null);
}

/** A cell: a figure, or the two ends of an interval. */
function shown(value: Printed[string] | undefined): string {
  if (value === null || value === undefined) return "–";
  return typeof value === "string" ? value : value.join(" … ");
}

/** The picture of one question: the paper as a strip, its evidence marked, and what each policy put into the budget. */
import { inWords } from "./budget.ts";
import { announce, grouped, h, onWidth, s } from "./site.ts";

/** Half-open ranges of code points. */
type Ranges = [start: number, end: number][];

export interface Picture {
  paper: string;
  title?: string;
  question: string;
  budget?: number;
  /** Of the paper, in code points. */
  length: number;
  evidence: Ranges;
  policies: { policy: string; context: Ranges; tokens: number; any?: number | boolean; strict?: number | boolean }[];
}

const ROW = 26;
const BAR = 14;
/** No range is drawn narrower, in pixels, so that a sentence in a long paper is still seen. */
const LEAST = 2;

export function picture(pictures: Picture[]): HTMLElement {
  const select = h("select", { id: "budget-question" }, ...pictures.map(({ question }, i) => h("option", { value: i }, question)));
  const place = h("div");
  const show = (index: number): void => {
    select.value = String(index);
    before.disabled = index === 0;
    after.disabled = index === pictures.length - 1;
    place.replaceChildren(one(pictures[index]!));
  };
  const step = (by: number) => () => {
    const next = Math.max(0, Math.min(pictures.length - 1, Number(select.value) + by));
    show(next);
    announce(pictures[next]!.question);
  };
  const before = h("button", { type: "button", click: step(-1) }, "Previous question");
  const after = h("button", { type: "button", click: step(1) }, "Next question");
  select.addEventListener("change", () => show(Number(select.value)));
  show(0);
  return h("div", {},
    h("p", { class: "sentence" }, "The strip is the whole paper, from its first word at the left to its last at the right. Yellow columns are where the evidence stands; in each row, the bars are what that policy sent within the budget. Bars that fill a column have found it."),
    h("div", { class: "bar budget-pick" }, h("div", { class: "field" }, h("label", { for: "budget-question" }, "Question"), select), before, after),
    place);
}

function one({ paper, title, question, budget, length, evidence, policies }: Picture): HTMLElement {
  const rows = policies.map(({ policy, context, tokens, any }) => {
    const strip = h("div", { class: "budget-strip" });
    onWidth(strip, (width) => strip.replaceChildren(drawn(width, length, evidence, context)));
    const found = any === undefined ? "" : Number(any) ? " ✓" : " ✗";
    return h("div", { class: "budget-row" },
      h("span", { class: "budget-name", title: inWords(policy) }, policy, found ? h("b", { class: Number(any) ? "held" : "not-held" }, found) : null), strip, h("span", { class: "budget-used" }, grouped(tokens)));
  });
  const spans = (ranges: Ranges): string => (ranges.length ? ranges.map(([start, end]) => `${grouped(start)}–${grouped(end)}`).join(", ") : "nothing");
  return h("figure", { class: "card" },
    h("figcaption", {}, h("strong", { dir: "auto" }, question), h("span", { class: "budget-paper" }, " in ", h("bdi", {}, title ?? paper), `, ${grouped(length)} characters${budget ? `; budget ${grouped(budget)} tokens` : ""}`)),
    h("div", { class: "budget-rows", "aria-hidden": "true" }, h("div", { class: "budget-row budget-heads" }, h("span", {}, "policy"), h("span", {}, "the paper"), h("span", { class: "budget-used" }, "tokens")), ...rows),
    h("ul", { class: "legend" }, h("li", {}, sample("evidence"), "evidence"), h("li", {}, sample("sent"), "what the policy put into the context"), h("li", {}, sample("hit"), "evidence that is in the context"),
      h("li", {}, h("b", { class: "held" }, "✓"), "enough of each evidence paragraph is there"), h("li", {}, h("b", { class: "not-held" }, "✗"), "not enough")),
    h("details", {}, h("summary", {}, "The same in words"),
      h("p", {}, `Evidence stands at ${spans(evidence)}.`),
      h("ul", {}, ...policies.map(({ policy, context, tokens, any }) => h("li", {}, h("strong", {}, policy), ` (${inWords(policy)}), ${grouped(tokens)} tokens${any === undefined ? "" : Number(any) ? ", covers it" : ", does not cover it"}: ${spans(context)}`)))));
}

/** A row: columns of evidence, bars of context, and where they meet hatched. */
function drawn(width: number, length: number, evidence: Ranges, context: Ranges): SVGElement {
  const at = (point: number): number => (point / length) * width;
  const bar = (name: string, [start, end]: [number, number], y: number, height: number): SVGElement =>
    s("rect", { class: name, x: Math.min(at(start), width - LEAST).toFixed(1), y, width: Math.max(LEAST, at(end) - at(start)).toFixed(1), height });
  const meeting = evidence.flatMap(([from, to]) => context.map(([start, end]): [number, number] => [Math.max(from, start), Math.min(to, end)])).filter(([start, end]) => start < end);
  const top = (ROW - BAR) / 2;
  return s("svg", { width, height: ROW, viewBox: `0 0 ${width} ${ROW}` },
    s("path", { class: "paper", d: `M0 ${ROW / 2}H${width}` }),
    ...evidence.map((range) => bar("evidence", range, 0, ROW)),
    ...context.map((range) => bar("sent", range, top, BAR)),
    ...meeting.map((range) => bar("hit", range, top, BAR)));
}

function sample(kind: string): SVGElement {
  return s("svg", { width: 22, height: 14, class: "budget-sample", "aria-hidden": "true" }, kind === "hit" ? s("rect", { class: "evidence", width: 22, height: 14 }) : null,
    s("rect", { class: kind, width: 22, height: kind === "hit" ? 8 : 14, y: kind === "hit" ? 3 : 0 }));
}

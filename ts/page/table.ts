/** Part 2: the table as both engines printed it, sortable, with the exact value behind each figure; curves.ts draws what it says. */
import { chances, overDepth, overSize } from "./curves.ts";
import { Figures, Tip, type Column, type Line } from "./figures.ts";
import { h, scrolling, type Mount, type Row, type Site } from "./site.ts";

const CONFIG: Column = { key: "config", title: "config", words: true, means: "The chunker and its size in tokens; o is for overlap." };
const METHOD: Column = { key: "method", title: "method", words: true, means: "How chunks are ranked: by words (bm25), by vectors (dense), or both (rrf, weighted)." };

const CHUNKING: readonly Column[] = [
  CONFIG,
  { key: "chunks", title: "chunks", means: "How many chunks all documents become." },
  { key: "mean_tokens", title: "mean tokens", means: "The mean number of tokens in a chunk." },
  { key: "max_tokens", title: "max tokens", means: "The tokens of the longest chunk." },
  { key: "lost", title: "lost", means: "Answers that no chunk holds whole." },
  { key: "long", title: "long", means: "Chunks that are longer than the model that makes vectors can read." },
];

const METRICS: readonly Column[] = [
  ...[1, 3, 5, 10, 20].map((k): Column => ({ key: `recall@${k}`, title: `recall@${k}`, share: true, means: `Of the chunks that hold the answer, the share among the first ${k} results; the mean over all questions.` })),
  { key: "mrr@10", title: "mrr@10", share: true, means: "1 for an answer in the first result, 1/2 in the second, down to the tenth; the mean over all questions." },
  { key: "ndcg@10", title: "ndcg@10", share: true, means: "How near the first ten results are to the best order; the mean over all questions." },
];

export const mount: Mount = (root, site) => {
  const { table, cuts } = site;
  if (!table?.rows.length && !table?.chunking.length && !cuts?.cuts.length) {
    root.hidden = true;
    return;
  }
  const tip = new Tip();
  root.append(tip.element);
  if (table?.rows.length) root.append(...retrieval(site, table.rows, tip), ...curves(site, table.rows));
  if (table?.chunking.length) root.append(...chunking(site, table.chunking, tip));
  if (cuts?.cuts.length) root.append(...chance(site, cuts.cuts));
};

/** The rows with what stands behind them. */
function lines(site: Site, rows: readonly Row[], name: (row: Row) => string): Line[] {
  return rows.map((row) => ({ row, exact: site.table?.exact?.[name(row)], command: site.repeat?.[name(row)] }));
}

function retrieval(site: Site, rows: readonly Row[], tip: Tip): Node[] {
  const all = lines(site, rows, (row) => `${row["config"]}/${row["method"]}`);
  const columns = [CONFIG, METHOD, ...METRICS.filter(({ key }) => key in rows[0]!)];
  const figures = new Figures(site.wording?.["table"] ?? `${site.fixture}: how often each search finds the answer`, columns, tip);
  const methods = choice("table-method", "all methods", rows, "method");
  const configs = choice("table-config", "all configs", rows, "config");
  methods.value = String(rows[0]!["method"]);
  const count = h("p", { class: "hint", role: "status" });
  const show = (): void => {
    const chosen = all.filter(({ row }) => (!methods.value || row["method"] === methods.value) && (!configs.value || row["config"] === configs.value));
    figures.show(chosen);
    count.textContent = `${chosen.length} of ${all.length} rows`;
  };
  for (const select of [methods, configs]) select.addEventListener("change", show);
  show();
  return [
    h("h3", {}, "The table"),
    h("p", { class: "sentence" }, "A row is a way of cutting with a way of searching: bm25 by words, dense by meaning, rrf and weighted by both. More is better, and the best of each column is bold. Rest on a figure, or focus it and use the arrow keys, for its exact value."),
    h("div", { class: "bar table-bar" }, labelled("Method", methods), labelled("Config", configs), count),
    scrolling("The table", figures.table), glossary(columns),
  ];
}

function chunking(site: Site, rows: readonly Row[], tip: Tip): Node[] {
  const columns = CHUNKING.filter(({ key }) => key in rows[0]!);
  const figures = new Figures("Chunks of each config", columns, tip);
  figures.show(lines(site, rows, (row) => String(row["config"])));
  return [
    h("h3", {}, "How the texts were cut"),
    h("p", { class: "sentence" }, "Short chunks are many and break more answers; a lost answer cannot be found whole by any search."),
    scrolling("How the texts were cut", figures.table), glossary(columns),
  ];
}

function curves(site: Site, rows: readonly Row[]): Node[] {
  const methods = choice("curve-method", null, rows, "method");
  const depths = h("select", { id: "curve-depth" }, ...METRICS.filter(({ key }) => key.startsWith("recall@") && key in rows[0]!).map(({ key }) => h("option", { value: key, selected: key === "recall@5" }, key)));
  const [left, right] = [h("div", { class: "curve-figure" }), h("div", { class: "curve-figure" })];
  const draw = (): void => {
    const chosen = rows.filter((row) => row["method"] === methods.value);
    left.replaceChildren(overDepth(site, chosen));
    right.replaceChildren(overSize(site, chosen, depths.value));
  };
  for (const select of [methods, depths]) select.addEventListener("change", draw);
  draw();
  return [
    h("h3", {}, "The same as curves"),
    h("div", { class: "bar table-bar" }, labelled("Method of both figures", methods), labelled("Depth of the second", depths)),
    h("div", { class: "pair" }, left, right),
  ];
}

function chance(site: Site, rows: readonly Row[]): Node[] {
  const said = site.wording?.["cuts"];
  return [
    h("h3", {}, "Are the lost answers bad luck?"),
    h("p", { class: "sentence" }, `A window that ends after a fixed number of tokens cuts some answers by chance alone; the range holds at least 95 % of what chance would do.${said ? ` Here, ${said}.` : ""}`),
    chances(rows),
  ];
}

/** A list of what a column holds, to choose from. */
function choice(id: string, all: string | null, rows: readonly Row[], key: string): HTMLSelectElement {
  const values = [...new Set(rows.map((row) => String(row[key])))];
  return h("select", { id }, ...(all === null ? [] : [h("option", { value: "" }, all)]), ...values.map((value) => h("option", { value }, value)));
}

function labelled(name: string, control: HTMLElement): HTMLElement {
  return h("div", { class: "field" }, h("label", { for: control.id }, name), control);
}

function glossary(columns: readonly Column[]): Node {
  return h("details", {}, h("summary", {}, "What the columns mean"), h("dl", { class: "glossary" }, ...columns.flatMap(({ title, means }) => [h("dt", {}, title), h("dd", {}, means)])));
}

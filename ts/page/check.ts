/** Part 3: the fixture's requests, answered by the engine in this browser and held against the golden digests. */
import { engine, type Engine } from "./client.ts";
import { COUNTED, type Check, type Item, type Json } from "./protocol.ts";
import { announce, copyButton, grouped, h, load, type Mount, type Site } from "./site.ts";
import { save } from "./save.ts";
import { report, type Cause, type Golden, type Outcome } from "./verdict.ts";

/** What each stage asks, in words. */
const STAGES: Record<string, string> = {
  wire: "what is refused before an operation is known",
  numbers: "logarithms, sums, rounding, random numbers",
  pieces: "the smallest units of each text, with their token counts",
  segments: "paragraphs and sentences",
  similarities: "how like each sentence is to the next",
  threshold: "below which similarity a cut falls",
  chunks: "where each chunker cuts",
  rankings: "the order in which each search puts the chunks",
  metrics: "recall and the other measures, by question",
  budget: "what fits into a budget of tokens",
  table: "the printed figures",
};

/** How far a check has come. */
interface Run {
  check: Check;
  info: { [key: string]: Json };
  outcomes: Outcome[];
  differing: Outcome[];
  /** Milliseconds since the start. */
  took: number;
  ended: "" | "all" | "stopped";
  cause: Cause | null;
}

export const mount: Mount = (root, site) => {
  if (site.documents.length === 0 && !site.parity) {
    root.hidden = true;
    return;
  }
  new View(root, site);
};

class View {
  readonly #root: HTMLElement;
  readonly #site: Site;
  readonly #button = h("button", { type: "button", class: "primary", click: () => this.#press() }, "Check it now");
  readonly #bar = h("progress", { max: 1, value: 0, "aria-label": "Progress of the check", hidden: true });
  readonly #now = h("p", { class: "check-now" }, "The engine and its tokenizer (7 MB) are loaded from beside this page when you press the button.");
  readonly #result = h("div", { class: "check-result" });
  readonly #stages = h("div", { class: "check-stages scroll" });
  #running = false;
  #stop = false;
  #drawn = 0;

  constructor(root: HTMLElement, site: Site) {
    this.#root = root;
    this.#site = site;
    root.classList.add("check");
    root.append(h("div", { class: "check-bar" }, this.#button, this.#bar), this.#now, this.#result, this.#stages);
  }

  #press(): void {
    if (this.#running) this.#stop = true;
    else void this.#start();
  }

  async #start(): Promise<void> {
    this.#running = true;
    this.#stop = false;
    this.#button.textContent = "Stop";
    this.#result.replaceChildren();
    this.#bar.hidden = false;
    this.#bar.removeAttribute("value");
    this.#say("Loading the requests and the engine …");
    announce("The check has begun");
    try {
      const run = await this.#run();
      await this.#tell(run);
    } catch (fault) {
      this.#fail(fault instanceof Error ? fault.message : String(fault));
    }
    this.#running = false;
    this.#bar.hidden = true;
    this.#button.textContent = "Check it again";
    this.#root.dataset["ended"] = "true";
  }

  async #run(): Promise<Run> {
    const [check, worker] = await Promise.all([load<Check>("check"), engine()]);
    const run: Run = { check, info: await worker.info(), outcomes: [], differing: [], took: 0, ended: "", cause: null };
    await worker.ground({ documents: this.#site.documents.map(({ text }) => text), questions: this.#site.questions, vectors: check.vectors ?? {} });
    if (!this.#stop && check.items.some(({ request }) => COUNTED.has(request["op"]))) {
      this.#say("Loading the tokenizer …");
      await worker.counting();
    }
    const begun = performance.now();
    this.#bar.max = check.items.length;
    let quarter = 1;
    for (const item of check.items) {
      if (this.#stop) break;
      const { digest } = await worker.call("digest", { item });
      run.outcomes.push({ item, digest });
      if (digest !== item.digest) run.differing.push({ item, digest });
      run.took = performance.now() - begun;
      this.#progress(run, item);
      if (run.outcomes.length >= (quarter * check.items.length) / 4 && quarter < 4) announce(`${25 * quarter++} percent checked${run.differing.length ? ", and something differs" : ""}`);
    }
    run.ended = run.outcomes.length === check.items.length ? "all" : "stopped";
    this.#drawStages(run);
    return run;
  }

  /** Shows how far it is, at most once a frame. */
  #progress(run: Run, item: Item): void {
    const frame = performance.now();
    if (frame - this.#drawn < 60) return;
    this.#drawn = frame;
    this.#bar.value = run.outcomes.length;
    this.#say(`${grouped(run.outcomes.length)} of ${grouped(run.check.items.length)} · ${item.stage} · ${item.case}`);
    this.#drawStages(run);
  }

  #say(sentence: string): void {
    this.#now.textContent = sentence;
  }

  #drawStages({ check, outcomes, differing }: Run): void {
    const count = (list: readonly (Item | Outcome)[], stage: string): number => list.filter((each) => ("item" in each ? each.item : each).stage === stage).length;
    const rows = check.stages.map((stage) => {
      const [all, done, bad] = [count(check.items, stage), count(outcomes, stage), count(differing, stage)];
      const state = bad ? "bad" : done < all ? "open" : "good";
      const words = bad ? `✗ ${grouped(bad)} differ${bad === 1 ? "s" : ""}` : done === 0 ? "–" : done < all ? `${grouped(done)} so far` : "✓ all alike";
      return h("tr", { class: `stage-${state}` },
        h("th", { scope: "row" }, stage), h("td", { class: "about" }, STAGES[stage] ?? ""), h("td", { class: "number" }, grouped(all)), h("td", { class: "state" }, words));
    });
    this.#stages.replaceChildren(h("table", { class: "data" },
      h("caption", {}, this.#site.documents.length ? "Each stage rests on those before it; the first that differs is the cause." : "Each request stands alone."),
      h("thead", {}, h("tr", {}, ...["Stage", "What is asked", "Requests", "Digests"].map((name, i) => h("th", { scope: "col", class: i === 2 ? "number" : null }, name)))),
      h("tbody", {}, ...rows)));
  }

  /** Says how it came out. */
  async #tell(run: Run): Promise<void> {
    const { check, outcomes, differing, ended } = run;
    const seconds = `${(run.took / 1000).toLocaleString("en-GB", { maximumFractionDigits: 1 })} s`;
    const whose = check.golden === false ? "what both engines gave when this report was made" : "the golden ones";
    const rest = check.left_out ? ` The command compares ${grouped(check.left_out)} values more, which are not asked here: raw lines, files, whole experiments.` : "";
    this.#say(`${grouped(outcomes.length)} of ${grouped(check.items.length)} requests in ${seconds}, by ${nameOf(run.info)}.${rest}`);
    if (differing.length) return this.#differ(run);
    const sentence = ended === "all"
      ? `✓ All ${grouped(outcomes.length)} replies of ${check.fixture}, made anew in this browser, are bit for bit ${whose}.`
      : `Stopped after ${grouped(outcomes.length)} of ${grouped(check.items.length)} replies. Nothing has differed so far.`;
    this.#result.replaceChildren(h("p", { class: ended === "all" ? "banner good" : "banner open", tabindex: "-1" }, sentence), this.#downloads(run));
    announce(sentence);
  }

  async #differ(run: Run): Promise<void> {
    const { check, differing } = run;
    const sentence = `✗ ${grouped(differing.length)} of ${grouped(run.outcomes.length)} replies ${differing.length === 1 ? "is" : "are"} not as recorded.`;
    const banner = h("p", { class: "banner bad", tabindex: "-1" }, sentence);
    this.#result.replaceChildren(banner);
    const worker: Engine = await engine();
    const [mine, golden] = await Promise.all([worker.call("value", { item: differing[0]!.item }), load<Golden>("golden").catch(() => ({}) as Golden)]);
    const { text, cause } = report(check, differing, golden, JSON.parse(mine), this.#site, nameOf(run.info));
    run.cause = cause;
    this.#result.append(
      h("p", {}, "The first difference of the first stage that differs, as ", h("code", {}, "chunkproof parity"), " reports one:"),
      h("pre", { class: "verdict", tabindex: "0", role: "region", "aria-label": "Report of the first difference", dir: "ltr" }, text),
      h("div", { class: "bar" }, copyButton(() => text, "Copy the report"), this.#download(run)),
    );
    announce(`${sentence} The first is at ${cause.at} of ${cause.case}, stage ${cause.stage}.`);
  }

  #fail(why: string): void {
    const sentence = `✗ The check could not go on: ${why}`;
    this.#say("");
    this.#result.replaceChildren(h("p", { class: "banner bad" }, sentence));
    announce(sentence);
  }

  #downloads(run: Run): HTMLElement {
    return h("div", { class: "bar" }, this.#download(run));
  }

  #download(run: Run): HTMLElement {
    return h("button", { type: "button", class: "copy", click: () => save(`chunkproof-check-${run.check.fixture}.json`, `${JSON.stringify(asData(run, this.#site), null, 1)}\n`) }, "Download the result (JSON)");
  }
}

const nameOf = (info: { [key: string]: Json }): string => `${String(info["engine"])} ${String(info["version"])} (${String(info["runtime"])})`;

/** A check's outcome as a program reads it, with the names that `parity --json` uses. */
export function asData(run: Run, site: Site): Json {
  const { check, outcomes, differing } = run;
  const stages = check.stages.map((stage) => {
    const of = (list: Outcome[]): Outcome[] => list.filter(({ item }) => item.stage === stage);
    return { stage, cases: of(outcomes).length, differ: of(differing).map(({ item }) => item.case) };
  });
  return {
    fixture: check.fixture,
    held: run.ended === "all" && differing.length === 0,
    complete: run.ended === "all",
    digest: site.table?.parity.digest ?? null,
    engine: run.info,
    asked: outcomes.length,
    of: check.items.length,
    left_out: check.left_out ?? 0,
    milliseconds: Math.round(run.took),
    stages,
    cause: run.cause as unknown as Json,
    items: outcomes.map(({ item, digest }) => ({ stage: item.stage, case: item.case, golden: item.digest, browser: digest })),
  };
}

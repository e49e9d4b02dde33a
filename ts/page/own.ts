/** Part 4: the reader's own text, cut in the worker while they type. */
import { engine, type Engine } from "./client.ts";
import { quoted } from "./difference.ts";
import { item } from "./own-chunks.ts";
import { Source } from "./own-source.ts";
import type { Chunker, Cutting } from "./protocol.ts";
import { save } from "./save.ts";
import { announce, copy, copyButton, grouped, h, type Mount, type Site } from "./site.ts";

/** How long typing has to pause, in milliseconds, and how long before the result is said aloud. */
const PAUSE = 40;
const SILENCE = 900;
/** Twenty chunks at a time, so that a text of megabytes costs the page no more than a short one. */
const PAGE = 20;
const WHY_NOT = "The semantic chunker is not available here. It compares sentences by their vectors, and those are made by an embedding model that this page does not have and must ask no server for. With vectors of your own, the command below does it.";
const KINDS: [Kind, string][] = [
  ["fixed", "windows of at most so many tokens"],
  ["recursive", "keeps paragraphs, then sentences, whole where they fit"],
  ["semantic", "cuts where a sentence is unlike the next"],
];

type Kind = "fixed" | "recursive" | "semantic";

export const mount: Mount = (root, site) => {
  new View(root, site);
};

class View {
  readonly #root: HTMLElement;
  readonly #source: Source;
  readonly #size = number("own-size", "256", 1);
  readonly #overlap = number("own-overlap", "0", 0);
  readonly #rule = h("select", { id: "own-rule" },
    h("option", { value: "blank_line" }, "a blank line ends a paragraph"), h("option", { value: "newline" }, "every line end ends a paragraph"));
  readonly #overlapField = field("Overlap", this.#overlap, "tokens shared with the chunk before, at most");
  readonly #ruleField = field("Paragraphs", this.#rule, "");
  readonly #pieces = h("input", { type: "checkbox", id: "own-pieces", change: () => this.#draw() });
  readonly #status = h("p", { class: "own-status" });
  readonly #command = h("code", { class: "own-command", tabindex: "0", role: "region", "aria-label": "The equivalent command" });
  readonly #pager = h("nav", { class: "own-pager", "aria-label": "Pages of chunks", hidden: true });
  readonly #list = h("ol", { class: "own-chunks" });
  readonly #output: HTMLElement;
  #kind: Kind = "recursive";
  /** The engine that has a text, and the text. */
  #sent: { to: Engine; text: string } | undefined;
  #from = 0;
  #last: Cutting | undefined;
  #busy = false;
  #again = false;
  #timer = 0;
  #saying = 0;

  constructor(root: HTMLElement, site: Site) {
    this.#root = root;
    this.#source = new Source(site, { changed: () => this.#changed(), refused: (why) => this.#refuse(why) });
    for (const input of [this.#size, this.#overlap]) input.addEventListener("input", () => this.#changed());
    this.#rule.addEventListener("change", () => this.#changed());
    this.#output = h("div", { class: "own-output" }, this.#status, h("div", { class: "bar" }, this.#copyJson(), this.#saveJson(), copyButton(() => this.#line(), "Copy the command")), this.#command, this.#pager, this.#list);
    root.classList.add("own");
    root.append(this.#source.element, this.#settings(), this.#output);
    this.#fit();
    this.#say("Nothing has been cut yet: the engine and its tokenizer (7 MB) are loaded when you type, paste, drop or press “Cut it”.");
  }

  #settings(): HTMLElement {
    const radios = KINDS.map(([kind, about]) => {
      const input = h("input", { type: "radio", name: "own-kind", value: kind, checked: kind === this.#kind, change: () => this.#choose(kind) });
      return h("label", { class: "own-kind" }, input, h("span", {}, h("strong", {}, kind), ` ${about}`));
    });
    return h("div", { class: "own-settings" },
      h("fieldset", {}, h("legend", {}, "Chunker"), ...radios),
      field("Size", this.#size, "tokens of a chunk, at most"), this.#overlapField, this.#ruleField,
      h("label", { class: "own-kind" }, this.#pieces, h("span", {}, h("strong", {}, "Show pieces"), ", and the tokens of each that has more than one")),
      h("div", { class: "bar" }, h("button", { type: "button", class: "primary", click: () => this.#now() }, "Cut it")));
  }

  #choose(kind: Kind): void {
    this.#kind = kind;
    this.#fit();
    this.#changed();
  }

  /** Shows the fields that the chunker has. */
  #fit(): void {
    this.#overlapField.hidden = this.#kind !== "fixed";
    this.#ruleField.hidden = this.#kind === "fixed";
    this.#command.textContent = this.#line();
  }

  /** The request's chunker. What a field does not hold as a number is sent as null: the engine refuses it by name. */
  #chunker(): Chunker {
    const value = (input: HTMLInputElement): number | null => (input.value.trim() === "" ? null : Number(input.value));
    const base = { kind: this.#kind, size: value(this.#size) };
    return this.#kind === "fixed" ? { ...base, overlap: value(this.#overlap) } : { ...base, paragraphs: this.#rule.value };
  }

  /** The command that cuts the same text in the same way. */
  #line(): string {
    const options = Object.entries(this.#chunker()).filter(([, value]) => value !== null);
    const more = this.#kind === "semantic" ? ["--vectors", "VECTORS.arrow"] : [];
    return ["chunkproof", "chunk", this.#source.name || "FILE", ...options.flatMap(([key, value]) => [`--${key}`, String(value)]), ...more].map(quoted).join(" ");
  }

  /** Something is other than it was: cut again after a pause, from the first chunk. */
  #changed(): void {
    this.#from = 0;
    this.#command.textContent = this.#line();
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#update(), PAUSE);
  }

  #now(): void {
    clearTimeout(this.#timer);
    void this.#update();
  }

  /** Asks the worker for what is wanted now. One question at a time: what changes meanwhile is asked for afterwards. */
  async #update(): Promise<void> {
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    this.#root.setAttribute("aria-busy", "true");
    try {
      while (this.#again) {
        this.#again = false;
        await this.#ask();
      }
    } catch (fault) {
      this.#sent = undefined;
      this.#refuse(fault instanceof Error ? fault.message : String(fault));
    }
    this.#busy = false;
    this.#root.removeAttribute("aria-busy");
  }

  async #ask(): Promise<void> {
    if (this.#kind === "semantic") {
      this.#clear();
      this.#tell(WHY_NOT);
      return;
    }
    const worker = await engine();
    if (this.#sent?.to !== worker) {
      this.#sent = undefined;
      this.#say("Loading the tokenizer …");
      await worker.counting();
    }
    const { text } = this.#source;
    const ask = { chunker: this.#chunker(), from: this.#from, count: PAGE };
    const answer = await worker.call("cut", this.#sent?.text === text ? ask : { ...ask, text });
    this.#sent = { to: worker, text };
    if (this.#again) return;
    if ("error" in answer) this.#refuse(answer.error.message, answer.error.code);
    else this.#show(answer.ok);
  }

  #show(cutting: Cutting): void {
    this.#last = cutting;
    const { chunks, tokens, pieces, points, longest, total, took } = cutting;
    const twice = total > tokens ? `; ${grouped(total - tokens)} tokens are in more than one chunk` : "";
    const sentence = chunks === 0 ? "No chunks: the text is empty." : `${grouped(chunks)} chunk${chunks === 1 ? "" : "s"}, the longest of ${count(longest, "token")}${twice}.`;
    this.#tell(`${sentence} The text has ${count(points, "character")} in ${count(pieces, "piece")} of ${count(tokens, "token")}. Cut in ${grouped(Math.max(1, Math.round(took)))} ms.`, sentence);
    this.#draw();
  }

  #draw(): void {
    if (!this.#last) return;
    const { from, shown, chunks, longest } = this.#last;
    const size = Number(this.#size.value) || longest;
    this.#list.start = from + 1;
    this.#list.replaceChildren(...shown.map((chunk, i) => item(chunk, from + i, chunks, size, this.#pieces.checked)));
    this.#page(this.#last);
    this.#root.dataset["chunks"] = String(chunks);
  }

  #page({ from, shown, chunks }: Cutting): void {
    this.#pager.hidden = chunks <= PAGE;
    const to = (first: number, label: string, off: boolean): HTMLElement => h("button", { type: "button", disabled: off, click: () => this.#go(first) }, label);
    const last = Math.floor((chunks - 1) / PAGE) * PAGE;
    const jump = h("input", { type: "number", min: 1, max: chunks, value: from + 1, "aria-label": "Go to chunk", class: "own-number" });
    jump.addEventListener("change", () => this.#go(Math.floor((Math.max(1, Math.min(chunks, Number(jump.value) || 1)) - 1) / PAGE) * PAGE));
    const focused = Array.from(this.#pager.children).indexOf(document.activeElement ?? this.#pager);
    this.#pager.replaceChildren(to(0, "First", from === 0), to(from - PAGE, "Previous", from === 0), jump, h("span", {}, `to ${grouped(from + shown.length)} of ${grouped(chunks)}`), to(from + PAGE, "Next", from + PAGE >= chunks), to(last, "Last", from >= last));
    const again = this.#pager.children[focused];
    if (again instanceof HTMLElement) (again.matches(":disabled") ? jump : again).focus();
  }

  #go(from: number): void {
    this.#from = Math.max(0, from);
    this.#now();
  }

  /** Says why there is nothing to see: by the code of an error reply, or in the page's own words. */
  #refuse(message: string, code?: string): void {
    this.#clear();
    this.#output.classList.add("refused");
    this.#tell(code ? `✗ The engine refuses this, ${code}: ${message}` : `✗ ${message}`);
  }

  #clear(): void {
    this.#last = undefined;
    this.#list.replaceChildren();
    this.#pager.hidden = true;
    delete this.#root.dataset["chunks"];
  }

  #say(sentence: string): void {
    this.#status.textContent = sentence;
  }

  /** Shows a sentence, and says it or its beginning aloud once the reader has paused. */
  #tell(sentence: string, aloud = sentence): void {
    if (this.#last) this.#output.classList.remove("refused");
    this.#say(sentence);
    clearTimeout(this.#saying);
    this.#saying = window.setTimeout(() => announce(aloud), SILENCE);
  }

  /** The engine's reply as JSON; nothing where there is none. */
  async #json(): Promise<string | undefined> {
    return this.#last && this.#sent?.to.call("reply", { chunker: this.#chunker() });
  }

  #copyJson(): HTMLElement {
    const label = "Copy the JSON";
    const button = h("button", { type: "button", class: "copy" }, label);
    button.addEventListener("click", async () => {
      const text = await this.#json();
      const said = text === undefined ? "Nothing to copy yet" : (await copy(text)) ? "Copied" : "The clipboard is not open to this page: download it instead";
      button.textContent = said;
      announce(said);
      setTimeout(() => (button.textContent = label), 2000);
    });
    return button;
  }

  #saveJson(): HTMLElement {
    const click = async (): Promise<void> => {
      const text = await this.#json();
      if (text === undefined) announce("Nothing to download yet");
      else save("chunks.json", `${text}\n`);
    };
    return h("button", { type: "button", class: "copy", click: () => void click() }, "Download the JSON");
  }
}

const count = (value: number, what: string): string => `${grouped(value)} ${what}${value === 1 ? "" : "s"}`;

function number(id: string, value: string, min: number): HTMLInputElement {
  return h("input", { type: "number", id, value, min, step: 1, inputmode: "numeric", class: "own-number" });
}

function field(label: string, control: HTMLElement, about: string): HTMLElement {
  return h("div", { class: "own-field" }, h("label", { for: control.id }, label), control, about ? h("span", { class: "hint" }, about) : null);
}

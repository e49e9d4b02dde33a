/** Part 4: the reader's own text, cut in the worker while they type. */
import { engine } from "./client.ts";
import { save } from "./check.ts";
import { quoted, visible } from "./difference.ts";
import type { Chunker, Cutting, Shown } from "./protocol.ts";
import { announce, copy, copyButton, grouped, h, type Mount, type Site } from "./site.ts";

/** The largest text, in bytes of UTF-8, and the longest, in UTF-16 units, that is edited in a field and not merely held. */
const MOST = 5_000_000;
const EDITED = 400_000;
/** How long typing has to pause, in milliseconds. */
const PAUSE = 40;
const PAGE = 20;
const START = "Paste a text here. It is cut while you type.\n\nA chunk is a run of pieces, and a piece one or more tokens. No chunker cuts inside a piece.\n";

type Kind = "fixed" | "recursive" | "semantic";
/** A text that is shown in part and not edited: too long for a field, or a file whose line ends a field would change. */
interface Held {
  name: string;
  text: string;
}

export const mount: Mount = (root, site) => {
  new View(root, site);
};

class View {
  readonly #site: Site;
  readonly #root: HTMLElement;
  readonly #area = h("textarea", { id: "own-text", rows: 9, spellcheck: "false", dir: "auto", autocomplete: "off", "aria-describedby": "own-hint", input: () => this.#typed() });
  readonly #holder = h("div", { class: "own-held", hidden: true });
  readonly #file = h("input", { type: "file", id: "own-file", class: "visually-hidden", accept: "text/*,.md,.markdown,.txt,.rst,.tex,.csv,.json,.html", change: () => void this.#picked() });
  readonly #size = number("own-size", "256", 1);
  readonly #overlap = number("own-overlap", "0", 0);
  readonly #rule = h("select", { id: "own-rule", change: () => this.#changed() },
    h("option", { value: "blank_line" }, "a blank line ends a paragraph"), h("option", { value: "newline" }, "every line end ends a paragraph"));
  readonly #pieces = h("input", { type: "checkbox", id: "own-pieces", change: () => this.#draw() });
  readonly #fields: Record<"overlap" | "rule", HTMLElement>;
  readonly #status = h("p", { class: "own-status", role: "status" });
  readonly #command = h("code", { class: "own-command" });
  readonly #pager = h("nav", { class: "own-pager", "aria-label": "Pages of chunks", hidden: true });
  readonly #list = h("ol", { class: "own-chunks" });
  readonly #output = h("div", { class: "own-output" });
  #kind: Kind = "recursive";
  #held: Held | undefined;
  #name = "";
  #sent: string | undefined; // the text that the worker has
  #from = 0;
  #last: Cutting | undefined;
  #busy = false;
  #again = false;
  #timer = 0;

  constructor(root: HTMLElement, site: Site) {
    this.#root = root;
    this.#site = site;
    this.#fields = {
      overlap: field("Overlap", this.#overlap, "tokens shared with the chunk before, at most"),
      rule: field("Paragraphs", this.#rule, ""),
    };
    this.#area.value = START;
    this.#area.addEventListener("paste", (event) => this.#pasted(event));
    for (const input of [this.#size, this.#overlap]) input.addEventListener("input", () => this.#changed());
    root.classList.add("own");
    root.append(this.#source(), this.#settings(), this.#output);
    this.#output.append(this.#status, h("div", { class: "own-take" }, h("div", { class: "own-buttons" }, this.#copyJson(), this.#saveJson(), copyButton(() => this.#line(), "Copy the command")), this.#command), this.#pager, this.#list);
    for (const name of ["dragover", "drop"] as const) root.addEventListener(name, (event) => this.#dragged(event));
    root.addEventListener("dragleave", () => root.classList.remove("dropping"));
    this.#fit();
    this.#say("Nothing has been cut yet: the engine and its tokenizer (7 MB) are loaded when you type, paste, drop or press a button.");
  }

  #source(): HTMLElement {
    const documents = this.#site.documents.slice(0, 12).map(({ id }, i) => h("option", { value: i }, id));
    const choose = h("select", { "aria-label": "A document of this report as the text" }, h("option", { value: "" }, "or a document of this report …"), ...documents);
    choose.addEventListener("change", () => {
      const found = this.#site.documents[Number(choose.value)];
      if (choose.value !== "" && found) this.#take(found.text, `${found.id}.txt`);
      choose.value = "";
    });
    return h("div", { class: "own-source" },
      h("label", { for: "own-text" }, "Text or Markdown"), this.#area, this.#holder,
      h("div", { class: "own-buttons" }, h("label", { class: "button", for: "own-file" }, "Open a file"), this.#file, documents.length ? choose : null,
        h("button", { type: "button", click: () => this.#now() }, "Cut it")),
      h("p", { id: "own-hint", class: "hint" }, "Type, paste, or drop a file here: up to 5 MB. It stays in this browser; the page cannot send it anywhere."));
  }

  #settings(): HTMLElement {
    const kinds: [Kind, string][] = [["fixed", "windows of at most so many tokens"], ["recursive", "keeps paragraphs, then sentences, whole where they fit"], ["semantic", "cuts where a sentence is unlike the next"]];
    const radios = kinds.map(([kind, about]) => {
      const input = h("input", { type: "radio", name: "own-kind", value: kind, checked: kind === this.#kind, change: () => this.#choose(kind) });
      return h("label", { class: "own-kind" }, input, h("span", {}, h("strong", {}, kind), ` ${about}`));
    });
    return h("div", { class: "own-settings" },
      h("fieldset", {}, h("legend", {}, "Chunker"), ...radios),
      field("Size", this.#size, "tokens of a chunk, at most"), this.#fields.overlap, this.#fields.rule,
      h("label", { class: "own-kind" }, this.#pieces, h("span", {}, h("strong", {}, "Show pieces"), " and the tokens of each that has more than one")));
  }

  #choose(kind: Kind): void {
    this.#kind = kind;
    this.#fit();
    this.#changed();
  }

  /** Shows the fields that the chunker has. */
  #fit(): void {
    this.#fields.overlap.hidden = this.#kind !== "fixed";
    this.#fields.rule.hidden = this.#kind === "fixed";
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
    return ["chunkproof", "chunk", this.#name || "FILE", ...options.flatMap(([key, value]) => [`--${key}`, String(value)]), ...more].map(quoted).join(" ");
  }

  get #text(): string {
    return this.#held?.text ?? this.#area.value;
  }

  #typed(): void {
    this.#name = "";
    this.#changed();
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
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    this.#root.setAttribute("aria-busy", "true");
    try {
      do {
        this.#again = false;
        await this.#ask();
      } while (this.#again);
    } catch (fault) {
      this.#sent = undefined;
      this.#refuse("this page", fault instanceof Error ? fault.message : String(fault));
    }
    this.#busy = false;
    this.#root.removeAttribute("aria-busy");
  }

  async #ask(): Promise<void> {
    if (this.#kind === "semantic") return this.#explain();
    const worker = await engine();
    if (this.#sent === undefined) {
      this.#say("Loading the tokenizer …");
      await worker.counting();
    }
    const text = this.#text;
    if (text.length > EDITED) this.#say(`Cutting ${grouped(text.length)} characters …`);
    const ask = { chunker: this.#chunker(), from: this.#from, count: PAGE };
    const answer = await worker.call("cut", this.#sent === text ? ask : { ...ask, text });
    this.#sent = text;
    if ("error" in answer) this.#refuse(answer.error.code, answer.error.message);
    else if (!this.#again) this.#show(answer.ok);
  }

  #show(cutting: Cutting): void {
    this.#last = cutting;
    this.#output.classList.remove("refused");
    const { chunks, tokens, pieces, points, longest, total, took } = cutting;
    const shared = total > tokens ? `, ${grouped(total - tokens)} of them twice` : "";
    this.#say(`${grouped(chunks)} chunk${chunks === 1 ? "" : "s"} of ${grouped(longest)} tokens at most. The text has ${grouped(points)} characters in ${grouped(pieces)} pieces of ${grouped(tokens)} tokens${shared}. ${grouped(Math.max(1, Math.round(took)))} ms.`);
    this.#draw();
  }

  #draw(): void {
    const cutting = this.#last;
    if (!cutting) return;
    const { from, shown, chunks } = cutting;
    const size = Number(this.#size.value) || cutting.longest;
    this.#list.start = from + 1;
    this.#list.replaceChildren(...shown.map((chunk, i) => item(chunk, from + i, chunks, size, this.#pieces.checked)));
    this.#page(cutting);
    this.#root.dataset["chunks"] = String(chunks);
  }

  /** Twenty chunks at a time, so that a text of megabytes costs the page no more than a short one. */
  #page({ from, shown, chunks }: Cutting): void {
    this.#pager.hidden = chunks <= PAGE;
    const to = (first: number, label: string, off: boolean): HTMLElement => h("button", { type: "button", disabled: off, click: () => this.#go(first) }, label);
    const last = Math.floor((chunks - 1) / PAGE) * PAGE;
    const jump = h("input", { type: "number", min: 1, max: chunks, value: from + 1, "aria-label": "Go to chunk", class: "own-jump" });
    jump.addEventListener("change", () => this.#go(Math.floor((Math.max(1, Math.min(chunks, Number(jump.value) || 1)) - 1) / PAGE) * PAGE));
    const focused = this.#pager.contains(document.activeElement) ? [...this.#pager.children].indexOf(document.activeElement!) : -1;
    this.#pager.replaceChildren(to(0, "First", from === 0), to(from - PAGE, "Previous", from === 0), jump, h("span", {}, `to ${grouped(from + shown.length)} of ${grouped(chunks)}`), to(from + PAGE, "Next", from + PAGE >= chunks), to(last, "Last", from >= last));
    const again = this.#pager.children[focused];
    if (again instanceof HTMLElement) again.focus();
  }

  #go(from: number): void {
    this.#from = Math.max(0, from);
    this.#now();
    announce(`Chunks from ${this.#from + 1}`);
  }

  /** An error reply, as the engine gives it. */
  #refuse(code: string, message: string): void {
    this.#clear();
    this.#output.classList.add("refused");
    this.#status.replaceChildren("The engine refuses this: ", h("code", {}, code), `, ${message}`);
  }

  #explain(): void {
    this.#clear();
    this.#say("The semantic chunker is not available here: it compares sentences by their vectors, and those are made by an embedding model that this page does not have and must not ask a server for. With vectors of your own, use the command below.");
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

  #pasted(event: ClipboardEvent): void {
    const file = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (file && text === "") void this.#open(file);
    else if (this.#area.value.length + text.length <= EDITED) return; // the field takes it
    else this.#take(text, "");
    event.preventDefault();
  }

  #dragged(event: DragEvent): void {
    const { dataTransfer } = event;
    if (!dataTransfer) return;
    event.preventDefault();
    const over = event.type === "dragover";
    this.#root.classList.toggle("dropping", over);
    if (over) return void (dataTransfer.dropEffect = "copy");
    const file = dataTransfer.files[0];
    if (file) void this.#open(file);
    else this.#take(dataTransfer.getData("text/plain"), "");
  }

  async #picked(): Promise<void> {
    const file = this.#file.files?.[0];
    if (file) await this.#open(file);
    this.#file.value = "";
  }

  /** A file's text, byte for byte: no line end is changed, no byte order mark taken away. */
  async #open(file: File): Promise<void> {
    if (file.size > MOST) return this.#tooLong(file.size, file.name);
    try {
      this.#take(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer()), file.name);
    } catch (fault) {
      this.#refuse("this page", fault instanceof TypeError ? `${file.name} is not UTF-8 text` : `${file.name} cannot be read`);
    }
  }

  /** Takes a text into the field, or beside it where the field would be slow or change it. */
  #take(text: string, name: string): void {
    if (text.length > MOST / 3 && new Blob([text]).size > MOST) return this.#tooLong(new Blob([text]).size, name);
    this.#name = name;
    if (text.length <= EDITED && !text.includes("\r")) {
      this.#hold(undefined);
      this.#area.value = text;
    } else this.#hold({ name, text });
    this.#changed();
  }

  #tooLong(bytes: number, name: string): void {
    const megabytes = (bytes / 1e6).toLocaleString("en-GB", { maximumFractionDigits: 1 });
    this.#refuse("this page", `${name || "this text"} has ${megabytes} MB, and more than 5 MB are not taken here; the command line takes any size: chunkproof chunk ${quoted(name || "FILE")} --kind ${this.#kind} --size ${this.#size.value}`);
  }

  #hold(held: Held | undefined): void {
    this.#held = held;
    this.#area.hidden = held !== undefined;
    this.#holder.hidden = held === undefined;
    if (!held) return;
    const clear = h("button", { type: "button", click: () => this.#release() }, "Take another text");
    this.#holder.replaceChildren(
      h("p", {}, h("strong", {}, held.name || "The text that you pasted"), ` is held as it is, ${grouped(held.text.length)} characters long; it begins:`),
      h("pre", { dir: "auto" }, held.text.slice(0, 600)), clear);
  }

  #release(): void {
    this.#hold(undefined);
    this.#name = this.#area.value = "";
    this.#area.focus();
    this.#changed();
  }

  async #json(): Promise<string | undefined> {
    if (!this.#last) return undefined;
    return (await engine()).call("reply", { chunker: this.#chunker() });
  }

  #copyJson(): HTMLElement {
    const button = h("button", { type: "button" }, "Copy the JSON");
    button.addEventListener("click", async () => {
      const text = await this.#json();
      const done = text !== undefined && (await copy(text));
      const said = text === undefined ? "There is nothing to copy yet" : done ? "Copied" : "The clipboard is not open to this page: download it instead";
      button.textContent = said;
      announce(said);
      setTimeout(() => (button.textContent = "Copy the JSON"), 2000);
    });
    return button;
  }

  #saveJson(): HTMLElement {
    return h("button", { type: "button", click: async () => {
      const text = await this.#json();
      if (text !== undefined) save("chunks.json", `${text}\n`);
      else announce("There is nothing to download yet");
    } }, "Download the JSON");
  }
}

function number(id: string, value: string, min: number): HTMLInputElement {
  return h("input", { type: "number", id, value, min, step: 1, inputmode: "numeric", class: "own-number" });
}

function field(label: string, control: HTMLElement, about: string): HTMLElement {
  return h("div", { class: "own-field" }, h("label", { for: control.id }, label), control, about ? h("span", { class: "hint" }, about) : null);
}

/** A chunk: where it stands, how full it is, and its text. */
function item(chunk: Shown, index: number, count: number, size: number, pieces: boolean): HTMLElement {
  const { start, end, tokens, left } = chunk;
  const fill = h("span", { class: "own-fill", "aria-hidden": "true" });
  fill.style.setProperty("--fill", `${Math.min(100, (100 * tokens) / size)}%`);
  const text = h("div", { class: "own-chunk", dir: "auto" }, ...(pieces ? inPieces(chunk) : plain(chunk)));
  const rest = left > 0 ? h("p", { class: "hint" }, `… and ${grouped(left)} characters more`) : null;
  return h("li", { value: index + 1 }, h("div", { class: "own-head" }, `${grouped(index + 1)} of ${grouped(count)} · [${start}, ${end}) · ${grouped(tokens)} token${tokens === 1 ? "" : "s"}`, fill), text, rest);
}

/** The text, what it shares with the chunk before marked. */
function plain({ text, shared }: Shown): (Node | string)[] {
  return shared > 0 ? [h("mark", { class: "own-shared", title: "also in the chunk before" }, text.slice(0, shared)), text.slice(shared)] : [text];
}

/** The text piece by piece. Characters that cannot be seen are named, so that a direction override is read and not obeyed. */
function inPieces({ text, pieces, piecesLeft, shared }: Shown): Node[] {
  const spans: Node[] = [];
  for (let i = 0, from = 0; i < pieces.length; from = pieces[i]!, i += 2) {
    const [end, tokens] = [pieces[i]!, pieces[i + 1]!];
    const shown = visible(text.slice(from, end)).replaceAll("↵", "↵\n");
    const kind = `own-piece${end <= shared ? " own-shared" : ""}`;
    spans.push(h("span", { class: kind }, shown, tokens > 1 ? h("sub", {}, String(tokens)) : null));
  }
  if (piecesLeft > 0) spans.push(h("span", { class: "hint" }, ` … and ${grouped(piecesLeft)} pieces more`));
  return spans;
}

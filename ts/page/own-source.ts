/** Where the reader's own text comes from: typed, pasted, dropped, a file, or a document of the report. */
import { quoted } from "./difference.ts";
import { grouped, h, type Site } from "./site.ts";

/** The largest text, in bytes of UTF-8, and the longest, in UTF-16 units, that is edited in a field and not merely held. */
const MOST = 5_000_000;
const EDITED = 400_000;
const START = "Paste a text here. It is cut while you type.\n\nA chunk is a run of pieces, and a piece is one or more tokens. No chunker cuts inside a piece.\n";

/** Whom a source tells. */
interface Listener {
  changed(): void;
  refused(why: string): void;
}

export class Source {
  readonly element: HTMLElement;
  /** The name of the file that the text is, or nothing. */
  name = "";
  readonly #listener: Listener;
  readonly #area = h("textarea", { id: "own-text", rows: 9, spellcheck: "false", dir: "auto", autocomplete: "off", "aria-describedby": "own-hint" });
  readonly #file = h("input", { type: "file", id: "own-file", hidden: true, "aria-label": "A text file", accept: "text/*,.md,.markdown,.txt,.rst,.tex,.csv,.json,.html" });
  /** Beside the field: a text that is too long for it, or a file whose line ends a field would change. */
  readonly #holder = h("div", { class: "own-held", hidden: true });
  #held: string | undefined;

  constructor(site: Site, listener: Listener) {
    this.#listener = listener;
    this.#area.value = START;
    this.#area.addEventListener("input", () => {
      this.name = "";
      listener.changed();
    });
    this.#area.addEventListener("paste", (event) => this.#pasted(event));
    this.#file.addEventListener("change", () => void this.#picked());
    this.element = h("div", { class: "own-source" },
      h("label", { for: "own-text" }, "Text or Markdown"), this.#area, this.#holder,
      h("div", { class: "bar" }, h("button", { type: "button", click: () => this.#file.click() }, "Open a file"), this.#file, this.#documents(site)),
      h("p", { id: "own-hint", class: "hint" }, "Type, paste, or drop a file anywhere on this page: up to 5 MB. It stays in this browser; the page cannot send it anywhere."));
    for (const name of ["dragover", "drop"] as const) document.addEventListener(name, (event) => this.#dragged(event));
    document.addEventListener("dragleave", () => this.element.classList.remove("dropping"));
  }

  get text(): string {
    return this.#held ?? this.#area.value;
  }

  /** Takes a text into the field, or beside it where the field would be slow or change it. Its bytes are counted only where nobody has. */
  take(text: string, name: string, bytes = text.length > MOST / 3 ? new Blob([text]).size : 0): void {
    if (bytes > MOST) return this.#tooLong(bytes, name);
    this.name = name;
    this.#hold(text.length > EDITED || text.includes("\r") ? text : undefined);
    if (this.#held === undefined) this.#area.value = text;
    this.#listener.changed();
  }

  #documents(site: Site): HTMLElement | null {
    if (site.documents.length === 0) return null;
    const choose = h("select", { "aria-label": "A document of this report as the text" },
      h("option", { value: "" }, "or a document of this report …"), ...site.documents.map(({ id }, i) => h("option", { value: i }, id)));
    choose.addEventListener("change", () => {
      const found = choose.value === "" ? undefined : site.documents[Number(choose.value)];
      if (found) this.take(found.text, `${found.id}.txt`);
      choose.value = "";
    });
    return choose;
  }

  #pasted(event: ClipboardEvent): void {
    const file = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (file && text === "") void this.#open(file);
    else if (this.#area.value.length + text.length <= EDITED) return; // the field takes it
    else this.take(text, "");
    event.preventDefault();
  }

  /** A file is taken wherever it falls, or the browser would leave the page for it; text alone only where it is dropped on purpose. */
  #dragged(event: DragEvent): void {
    const { dataTransfer, target } = event;
    const inside = target instanceof Node && this.element.contains(target);
    if (!dataTransfer || (!dataTransfer.types.includes("Files") && (!inside || target === this.#area))) return;
    event.preventDefault();
    const over = event.type === "dragover";
    this.element.classList.toggle("dropping", over);
    if (over) {
      dataTransfer.dropEffect = "copy";
      return;
    }
    const file = dataTransfer.files[0];
    if (file) void this.#open(file);
    else this.take(dataTransfer.getData("text/plain"), "");
    this.element.scrollIntoView({ block: "nearest" });
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
      this.take(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer()), file.name, file.size);
    } catch (fault) {
      this.#listener.refused(fault instanceof TypeError ? `${file.name} is not UTF-8 text` : `${file.name} cannot be read`);
    }
  }

  #tooLong(bytes: number, name: string): void {
    const megabytes = (bytes / 1e6).toLocaleString("en-GB", { maximumFractionDigits: 1 });
    this.#listener.refused(`${name || "This text"} has ${megabytes} MB, and this page takes up to 5; the command takes any size: chunkproof chunk ${quoted(name || "FILE")} --kind recursive --size 256`);
  }

  #hold(text: string | undefined): void {
    this.#held = text;
    this.#area.hidden = text !== undefined;
    this.#holder.hidden = text === undefined;
    if (text === undefined) return this.#holder.replaceChildren();
    this.#holder.replaceChildren(
      h("p", {}, h("bdi", {}, h("strong", {}, this.name || "The text that you gave")), ` is held as it is, ${grouped(text.length)} characters long. It begins:`),
      h("pre", { dir: "auto", tabindex: "0", role: "region", "aria-label": "The beginning of the text" }, text.slice(0, 600)),
      h("button", { type: "button", click: () => this.#release() }, "Take another text"));
  }

  #release(): void {
    this.#hold(undefined);
    this.name = this.#area.value = "";
    this.#area.focus();
    this.#listener.changed();
  }
}

/** Tables of figures that can be sorted, and the exact value behind a figure where the pointer or the focus is. */
import { announce, copyButton, h, scrolling, type Exact, type Row } from "./site.ts";

export interface Column {
  readonly key: string;
  readonly title: string;
  /** What the column means, in one sentence. */
  readonly means: string;
  /** Words, and the heading of their row; figures are aligned right. */
  readonly words?: boolean;
  /** Between 0 and 1, the more the better: a bar shows how much, and the best of a column is bold. */
  readonly share?: boolean;
}

export interface Line {
  readonly row: Row;
  readonly exact: Record<string, Exact> | undefined;
  /** What recomputes it. */
  readonly command: string | undefined;
}

const NOTHING = "–";

/** A table whose rows are sorted by a press on a heading. `show` gives it other rows. */
export class Figures {
  readonly table: HTMLTableElement;
  readonly #columns: readonly Column[];
  readonly #body = h("tbody");
  readonly #heads = new Map<Column, HTMLTableCellElement>();
  readonly #tip: Tip;
  #lines: readonly Line[] = [];
  #by: Column | null = null;
  #down = false;

  constructor(caption: string, columns: readonly Column[], tip: Tip) {
    this.#columns = columns;
    this.#tip = tip;
    const commands = h("th", { scope: "col", class: "how" }, h("span", { class: "visually-hidden" }, "The command that recomputes the row"));
    this.table = h("table", { class: "data figures" }, h("caption", {}, h("span", { class: "caption" }, caption)), h("thead", {}, h("tr", {}, ...columns.map((column) => this.#head(column)), commands)), this.#body);
    this.table.addEventListener("keydown", (event) => this.#move(event));
  }

  show(lines: readonly Line[]): void {
    this.#lines = lines;
    this.#draw();
  }

  #head(column: Column): HTMLTableCellElement {
    const button = h("button", { type: "button", class: "sort", title: column.means, click: () => this.#sort(column) }, column.title);
    const head = h("th", { scope: "col", class: column.words ? "" : "number", "aria-sort": "none" }, button);
    this.#heads.set(column, head);
    return head;
  }

  /** Figures fall first, words rise first; a second press turns the order round. */
  #sort(column: Column): void {
    this.#down = this.#by === column ? !this.#down : !column.words;
    this.#by = column;
    for (const [each, head] of this.#heads) head.setAttribute("aria-sort", each !== column ? "none" : this.#down ? "descending" : "ascending");
    this.#draw();
    announce(`Sorted by ${column.title}, ${this.#down ? "descending" : "ascending"}`);
  }

  #draw(): void {
    const by = this.#by;
    const lines = by ? this.#lines.toSorted((a, b) => compare(a, b, by, this.#down)) : this.#lines;
    const best = new Map(this.#columns.filter(({ share }) => share).map((column) => [column, Math.max(...lines.map((line) => magnitude(line, column) ?? -Infinity))]));
    this.#body.replaceChildren(...lines.flatMap((line) => this.#row(line, best)));
    this.#body.querySelector("td")?.setAttribute("tabindex", "0");
  }

  #row({ row, exact, command }: Line, best: ReadonlyMap<Column, number>): Node[] {
    const cells = this.#columns.map((column, i) => {
      const value = row[column.key] ?? NOTHING;
      if (column.words) return i === 0 ? h("th", { scope: "row" }, value) : h("td", { class: "words", tabindex: -1 }, value);
      const cell = h("td", { class: "number", tabindex: -1 }, value);
      const is = magnitude({ row, exact, command }, column);
      if (column.share && is !== null) {
        cell.classList.add("share");
        cell.style.setProperty("--share", `${is * 100}%`);
        if (is === best.get(column)) cell.classList.add("best");
      }
      const behind = exact?.[column.key];
      if (behind) this.#tip.serve(cell, words(behind));
      return cell;
    });
    const name = this.#columns.filter(({ words }) => words).map(({ key }) => row[key]).join(" ");
    const [how, below] = recompute(name, command, this.#columns.length + 1);
    return [h("tr", {}, ...cells, h("td", { class: "how" }, how)), ...(below ? [below] : [])];
  }

  /** Arrow keys go from figure to figure; Tab leaves the figures, so that nobody has to pass hundreds of them. */
  #move(event: KeyboardEvent): void {
    const cell = (event.target as Element).closest("td");
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!cell || !step || event.target !== cell) return;
    const rows = [...this.#body.rows].filter((row) => !row.classList.contains("below"));
    const row = rows[rows.indexOf(cell.parentElement as HTMLTableRowElement) + step[0]!];
    const next = row?.cells[cell.cellIndex + step[1]!];
    if (!(next instanceof HTMLTableCellElement) || !next.hasAttribute("tabindex")) return;
    event.preventDefault();
    cell.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }
}

/** A button that opens a row below with the command in it. */
function recompute(name: string, command: string | undefined, span: number): [Node | string, HTMLElement?] {
  if (!command) return [""];
  const below = h("tr", { class: "below", hidden: true }, h("td", { colspan: span }, h("div", { class: "command" }, h("code", {}, command), copyButton(() => command, "Copy", `Copy the command that recomputes ${name}`))));
  const button = h("button", { type: "button", class: "how-button", "aria-expanded": "false", "aria-label": `Recompute ${name}: show the command` }, "recompute");
  button.addEventListener("click", () => {
    below.hidden = !below.hidden;
    button.setAttribute("aria-expanded", String(!below.hidden));
  });
  return [button, below];
}

/** An exact value in words. */
export function words({ fraction, hex, decimal }: Exact): string {
  return fraction !== undefined ? `exactly ${fraction}` : `${decimal ?? ""}, the double ${hex ?? ""}`;
}

/** What a row is sorted by: the exact value where there is one, else the figure as it is printed. */
function magnitude({ row, exact }: Line, { key }: Column): number | null {
  const printed = row[key];
  if (printed === null || printed === undefined) return null;
  const behind = exact?.[key];
  if (behind?.fraction !== undefined) {
    const [above, below] = behind.fraction.split("/");
    return Number(above) / Number(below ?? 1);
  }
  return Number(behind?.decimal ?? printed);
}

function compare(a: Line, b: Line, column: Column, down: boolean): number {
  const sign = down ? -1 : 1;
  if (column.words) return sign * (a.row[column.key] ?? "").localeCompare(b.row[column.key] ?? "", "en", { numeric: true });
  const [one, other] = [magnitude(a, column), magnitude(b, column)];
  if (one === null || other === null) return Number(one === null) - Number(other === null); // what is missing is last either way
  return sign * (one - other);
}

/** The one bubble of a page part: beside what is hovered or focused, gone with Escape, and read out as its description. */
export class Tip {
  readonly element = h("div", { class: "tip", role: "tooltip", id: "tip", hidden: true });
  #of: HTMLElement | null = null;

  constructor() {
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.#hide());
    // It stays while the pointer is on it.
    this.element.addEventListener("pointerleave", () => this.#hide());
    addEventListener("scroll", () => this.#place(), { passive: true, capture: true });
  }

  /** Shows `text` whenever an element is hovered or focused. */
  serve(element: HTMLElement, text: string): void {
    element.dataset["exact"] = text;
    const show = (): void => this.#show(element);
    element.addEventListener("pointerenter", show);
    element.addEventListener("focus", show);
    element.addEventListener("blur", () => this.#hide());
    element.addEventListener("pointerleave", (event) => event.relatedTarget !== this.element && document.activeElement !== element && this.#hide());
  }

  #show(element: HTMLElement): void {
    this.#hide();
    this.#of = element;
    this.element.textContent = element.dataset["exact"]!;
    this.element.hidden = false;
    element.setAttribute("aria-describedby", this.element.id);
    this.#place();
  }

  #hide(): void {
    this.#of?.removeAttribute("aria-describedby");
    this.#of = null;
    this.element.hidden = true;
  }

  #place(): void {
    if (!this.#of) return;
    const { left, top, width, bottom } = this.#of.getBoundingClientRect();
    const own = this.element.getBoundingClientRect();
    const x = Math.min(document.documentElement.clientWidth - own.width - 8, Math.max(8, left + width / 2 - own.width / 2));
    const above = top - own.height - 2;
    this.element.style.setProperty("left", `${x}px`);
    this.element.style.setProperty("top", `${above > 4 ? above : bottom + 2}px`);
  }
}

/** What a figure shows, as a table that can be opened below it. */
export function asTable(caption: string, heads: readonly string[], rows: readonly (readonly (string | null | undefined)[])[]): HTMLDetailsElement {
  return h("details", { class: "alternative" }, h("summary", {}, "The figure as a table"),
    scrolling(caption, h("table", { class: "data" },
      h("caption", {}, h("span", { class: "caption" }, caption)),
      h("thead", {}, h("tr", {}, ...heads.map((head, i) => h("th", { scope: "col", class: i ? "number" : "" }, head)))),
      h("tbody", {}, ...rows.map(([first, ...cells]) => h("tr", {}, h("th", { scope: "row" }, first ?? NOTHING), ...cells.map((cell) => h("td", { class: "number" }, cell ?? NOTHING))))))));
}

/**
 * What every view of the report stands on: the types of its data, positions in texts, files that are loaded when they are needed,
 * and elements made without HTML, so that no document's text is ever read as markup.
 */

export type Kind = "fixed" | "recursive" | "semantic";

/** A figure as it was before it was rounded: a fraction where it is one, else the digits of its double. */
export interface Exact {
  fraction?: string;
  hex?: string;
  decimal?: string;
}

/** A row of a table: figures as the engines printed them; null where a figure can't be had. */
export type Row = Record<string, string | null>;

export interface Table {
  fixture: string;
  parity: { held: boolean; digest: string };
  chunking: Row[];
  rows: Row[];
  /** By `config` or `config/method`, then by column. */
  exact?: Record<string, Record<string, Exact>>;
  notes?: string[];
}

export interface Cuts {
  fixture: string;
  parity: { held: boolean; digest: string };
  cuts: Row[];
  notes?: string[];
}

export interface Config {
  name: string;
  kind: Kind;
  chunker: { size: number; overlap?: number; percentile?: number } & Record<string, unknown>;
}

/** A question and where its answer stands, in code points of its document. */
export interface Question {
  id: string;
  document: number;
  text: string;
  start: number;
  end: number;
}

/** Everything that the page shows. Whatever a fixture does not have is absent, null or empty. */
export interface Site {
  fixture: string;
  title: string;
  version: string;
  spec: string;
  documents: { id: string; text: string }[];
  questions: Question[];
  configs: Config[];
  /** Of each document end and tokens of every piece, one after the other. */
  pieces: number[][];
  /** Of each document start and end of every sentence, one after the other. */
  sentences: number[][];
  /** Of each config and document start, end and tokens of every chunk, one after the other. */
  chunks: Record<string, number[][]>;
  /** Of each semantic config and document the similarity of every sentence to the next: the hex digits of doubles. */
  similarities: Record<string, string[][]>;
  thresholds: Record<string, (string | null)[]>;
  /** Of each config the questions whose answer no chunk holds whole. */
  lost: Record<string, number[]>;
  table?: Table | null;
  cuts?: Cuts | null;
  /** The commands that recompute a row, by `config` or `config/method`. */
  repeat?: Record<string, string>;
  parity?: Record<string, unknown> | null;
  budget?: unknown;
  budget_picture?: unknown;
  wording?: Record<string, string>;
}

/** Files that hold data as scripts, by the name of the global that each one sets. */
const LAZY = {
  worker: "chunkproofWorker",
  check: "chunkproofCheck",
  golden: "chunkproofGolden",
  tokenizer: "chunkproofTokenizer",
} as const;

/** What a view draws into, and what it draws. A view whose data is absent sets `root.hidden`. */
export type Mount = (root: HTMLElement, site: Site) => void;

type Globals = typeof globalThis & Record<string, unknown>;

/** The data of the page. */
export function site(): Site {
  const held = (globalThis as Globals)["chunkproof"] as { site: Site } | undefined;
  if (!held) throw new Error("data/site.js is missing beside this page, or is not a report's");
  return held.site;
}

const loading = new Map<string, Promise<unknown>>();

/** A file of data/, loaded once and by a script element, which pages opened from a folder may use too. */
export function load<T>(name: keyof typeof LAZY): Promise<T> {
  const global = LAZY[name];
  let promise = loading.get(name);
  if (!promise) {
    promise = new Promise<unknown>((resolve, reject) => {
      const held = (): unknown => (globalThis as Globals)[global];
      if (held() !== undefined) return resolve(held());
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onload = () => (held() === undefined ? reject(new Error(`data/${name}.js does not hold what it should`)) : resolve(held()));
      script.onerror = () => reject(new Error(`data/${name}.js could not be loaded: it belongs beside this page`));
      document.head.append(script);
    });
    loading.set(name, promise);
    promise.catch(() => loading.delete(name));
  }
  return promise as Promise<T>;
}

/** Positions in a text: offsets are code points, strings are UTF-16. Astral characters are found once. */
export class Points {
  readonly text: string;
  /** The length in code points. */
  readonly length: number;
  /** The code points that take two units, ascending. */
  readonly #astral: Uint32Array;

  constructor(text: string) {
    this.text = text;
    const found: number[] = [];
    let point = 0;
    for (let at = 0; at < text.length; at++, point++) {
      if (text.codePointAt(at)! > 0xffff) {
        found.push(point);
        at++;
      }
    }
    this.length = point;
    this.#astral = Uint32Array.from(found);
  }

  /** The UTF-16 index of a code point. */
  unit(point: number): number {
    return point + firstWhere(this.#astral.length, (i) => this.#astral[i]! >= point);
  }

  /** The code point of a UTF-16 index. */
  point(unit: number): number {
    return unit - firstWhere(this.#astral.length, (i) => this.#astral[i]! + i + 1 >= unit);
  }

  slice(start: number, end: number): string {
    return this.text.slice(this.unit(start), this.unit(end));
  }
}

/** The first index below `length` for which a property holds that never ends once it has begun; `length` if there is none. */
export function firstWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0, high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The double of 16 hexadecimal digits. */
export function fromHex(hex: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${hex}`));
  return view.getFloat64(0);
}

/** A whole number as people read it: 12,345. */
export const grouped = (value: number): string => value.toLocaleString("en-GB");

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function fill<E extends Element>(element: E, props: Props, children: Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element with attributes, listeners (values that are functions) and children; strings become text nodes, never HTML. */
export function h<T extends keyof HTMLElementTagNameMap>(tag: T, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[T] {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. */
export function s<T extends keyof SVGElementTagNameMap>(tag: T, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[T] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

let cleared = 0;

/** Says something to those who listen to the page. The same sentence twice is said twice. */
export function announce(sentence: string): void {
  const live = document.getElementById("live");
  if (!live) return;
  live.textContent = "";
  clearTimeout(cleared);
  cleared = window.setTimeout(() => (live.textContent = sentence), 60);
}

/** Puts a text on the clipboard; whether that was allowed. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where the modern way is forbidden, as from a folder in some browsers: the selection of a field that nobody sees.
    const field = h("textarea", { class: "visually-hidden", readonly: true, "aria-hidden": "true" });
    field.value = text;
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    if (focused instanceof HTMLElement) focused.focus();
    return done;
  }
}

/** A button that copies what `text` gives, and says so. */
export function copyButton(text: () => string, label = "Copy", name?: string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "copy", "aria-label": name }, label);
  let back = 0;
  button.addEventListener("click", async () => {
    const done = await copy(text());
    button.textContent = done ? "Copied" : "Select and copy by hand";
    announce(done ? "Copied to the clipboard" : "The clipboard is not open to this page");
    clearTimeout(back);
    back = window.setTimeout(() => (button.textContent = label), 2000);
  });
  return button;
}

/** Something wide that is scrolled by itself, by keyboard too; as long as more of it lies beyond, its edge says so. */
export function scrolling(name: string, child: HTMLElement): HTMLElement {
  const box = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, child);
  const look = (): void => void box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  box.addEventListener("scroll", look, { passive: true });
  const observer = new ResizeObserver(look);
  observer.observe(box);
  observer.observe(child);
  return box;
}

/** Whether the reader asks for less motion. */
export const stillness = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Calls `draw` with the width of an element, at once and whenever that changes. */
export function onWidth(element: HTMLElement, draw: (width: number) => void): void {
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry!.contentRect.width);
    if (width > 0 && width !== last) draw((last = width));
  }).observe(element);
}

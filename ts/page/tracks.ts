/** Part 1: one text, cut three ways. What can be operated, and the state behind it; stretch.ts draws, marks.ts shows the text. */
import { Clock } from "./animation.ts";
import { lostList } from "./lost.ts";
import { reading } from "./marks.ts";
import { chunkAt, filling, Model, reason, type Doc, type Track } from "./model.ts";
import { announce, grouped, h, onWidth, s, scrolling, stillness, type Config, type Mount } from "./site.ts";
import { draw, rows, scale, type Scene } from "./stretch.ts";
import { drawMap, keysHint, legend, sentence, shortened } from "./tracks-words.ts";

const DENSITY = 4.2; // code points a pixel
const NARROWEST = 2200; // code points of a stretch, however narrow the screen
const LEAD = 0.7; // where in the stretch the reading stands once the window slides

export const mount: Mount = (root, site) => {
  const model = new Model(site);
  if (!site.documents.length || !model.kinds().size) {
    root.hidden = true;
    return;
  }
  root.append(...new Player(model).elements());
};

class Player {
  readonly #model: Model;
  readonly #clock = new Clock((tokens) => this.#read(tokens));
  // what is shown
  #document = 0;
  #question = -1;
  #configs: Config[];
  #active = 0;
  #chunk = 0;
  #at: number | null = null;
  #from = 0;
  #width = 960;
  #written = 0;
  // where it is shown
  readonly #svg = s("svg", { role: "img", class: "stretch", "aria-labelledby": "stretch-words" });
  readonly #map = s("svg", { class: "map", "aria-hidden": "true" });
  readonly #place = h("input", { type: "range", id: "place", min: 0, step: 1 });
  readonly #words = h("figcaption", { id: "stretch-words", class: "sentence" });
  readonly #head = h("h3", { class: "chunk-head" });
  readonly #why = h("p", { class: "why" });
  readonly #pane = h("p", { class: "pane text", dir: "auto", lang: "" });
  readonly #play = h("button", { type: "button", class: "primary play" });
  readonly #all = h("button", { type: "button" }, "Show all cuts");
  readonly #documents = h("select", { id: "document" });
  readonly #questions = h("select", { id: "question" });
  readonly #rows = h("tbody");
  readonly #alternative = h("details", { class: "alternative" });
  readonly #box = h("div", { class: "player", role: "group", tabindex: 0, "aria-label": "The stretch. Space plays and pauses, left and right arrows step by chunk, up and down arrows choose the track." });

  constructor(model: Model) {
    this.#model = model;
    this.#configs = [...model.kinds().values()].map((configs) => configs.find(({ chunker }) => chunker.size === 256) ?? configs[0]!);
    const first = this.#configs.map(({ name }) => model.site.lost[name]?.[0]).find((index) => index !== undefined);
    if (first !== undefined) this.#aim(first);
    else this.#question = model.questions(0)[0]?.[0] ?? -1;
  }

  elements(): Node[] {
    this.#fillDocuments();
    this.#fillQuestions();
    this.#operate();
    const figure = h("figure", { class: "card" }, this.#controls(), this.#words, this.#box, legend(this.#tracks), keysHint(), this.#alternativeOf());
    this.#box.append(this.#svg);
    onWidth(this.#box, (width) => {
      this.#width = Math.round(width / scale());
      if (this.#question >= 0 && this.#at === null) this.#centre();
      this.#draw();
    });
    const place = h("div", { class: "place" }, h("label", { for: "place" }, "Place in the document"), this.#map, this.#place);
    this.#box.after(place);
    const key = h("p", { class: "hint" }, "The chunk’s own text is shaded; what stands before and after it is grey. A stroke with a letter is a cut: F fixed, R recursive, S semantic.");
    const pane = h("div", { class: "reading" }, this.#head, this.#why, key, this.#pane);
    const lost = lostList(this.#model.site, this.#configs.map(({ name }) => name), (question, config) => this.#goLost(question, config));
    return [h("div", { class: "cut-three" }, figure, h("div", { class: "beneath" }, pane, lost))];
  }

  get #doc(): Doc {
    return this.#model.document(this.#document);
  }

  get #tracks(): Track[] {
    return this.#configs.map((config) => this.#model.track(config, this.#document));
  }

  get #span(): number {
    return Math.max(1, Math.min(this.#doc.length, Math.max(NARROWEST, this.#width * DENSITY)));
  }

  get #scene(): Scene {
    return {
      doc: this.#doc, tracks: this.#tracks, answers: this.#model.questions(this.#document), question: this.#question,
      active: this.#active, chunk: this.#chunk, at: this.#at, from: this.#from, span: this.#span,
    };
  }

  // --- what the reader does

  #operate(): void {
    this.#play.addEventListener("click", () => this.#toggle());
    this.#all.addEventListener("click", () => {
      this.#pause();
      this.#at = null;
      this.#draw();
      announce("All cuts are shown");
    });
    this.#documents.addEventListener("change", () => this.#open(Number(this.#documents.value)));
    this.#questions.addEventListener("change", () => this.#go(Number(this.#questions.value)));
    this.#place.addEventListener("input", () => {
      this.#pause();
      this.#at = null;
      this.#from = Number(this.#place.value);
      this.#chunk = chunkAt(this.#tracks[this.#active]!, this.#from + this.#span / 2);
      this.#draw();
    });
    this.#box.addEventListener("keydown", (event) => {
      const act = event.altKey || event.ctrlKey || event.metaKey ? undefined : this.#keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  readonly #keys: Record<string, () => void> = {
    " ": () => this.#toggle(),
    ArrowRight: () => this.#step(1),
    ArrowLeft: () => this.#step(-1),
    ArrowDown: () => this.#choose(this.#active + 1),
    ArrowUp: () => this.#choose(this.#active - 1),
    Home: () => this.#look(0),
    End: () => this.#look(this.#tracks[this.#active]!.chunks.length - 1),
  };

  #toggle(): void {
    if (this.#clock.running) {
      this.#pause();
      this.#draw();
      this.#say();
    } else if (stillness()) this.#step(1); // stills alone: each press shows the next chunk
    else this.#start();
  }

  /** Goes on from where it was paused, else from the first chunk that begins in the stretch. */
  #start(): void {
    const doc = this.#doc;
    if (this.#at === null || this.#at >= doc.length) {
      if (this.#at !== null) this.#from = 0;
      const { chunks } = this.#tracks[this.#active]!;
      this.#at = chunks.find(({ start }) => start >= this.#from)?.start ?? 0;
    }
    this.#clock.start(doc.tokensTo(this.#at));
    this.#svg.scrollIntoView({ block: "nearest" }); // what plays is seen, and moves nothing if it is already
    this.#draw();
    announce("Playing");
  }

  #pause(): void {
    this.#clock.stop();
  }

  /** The clock has come so far. */
  #read(tokens: number): void {
    const doc = this.#doc;
    this.#at = tokens >= doc.tokens ? doc.length : doc.pointAt(tokens);
    this.#chunk = filling(this.#tracks[this.#active]!, this.#at);
    this.#slide(this.#at);
    if (this.#at >= doc.length) {
      this.#pause();
      announce("The document has been read");
    }
    this.#draw();
  }

  #step(by: number): void {
    this.#look(this.#chunk + by);
  }

  /** Looks at a chunk of the active track. */
  #look(index: number): void {
    this.#pause();
    const { chunks } = this.#tracks[this.#active]!;
    if (!chunks.length) return;
    this.#chunk = Math.min(chunks.length - 1, Math.max(0, index));
    const { start, end } = chunks[this.#chunk]!;
    if (this.#at !== null) this.#at = end;
    if (start < this.#from || end > this.#from + this.#span) this.#from = this.#clamp(start - (this.#span - (end - start)) / 2);
    this.#draw();
    this.#say();
  }

  #choose(track: number): void {
    this.#active = Math.min(this.#configs.length - 1, Math.max(0, track));
    const now = this.#tracks[this.#active]!;
    this.#chunk = this.#at === null ? chunkAt(now, this.#middle()) : filling(now, this.#at);
    this.#draw();
    this.#say();
  }

  #open(document: number): void {
    this.#pause();
    [this.#document, this.#question, this.#at, this.#from] = [document, -1, null, 0];
    this.#chunk = 0;
    this.#fillQuestions();
    this.#draw();
  }

  /** Goes to a question's answer. */
  #go(question: number): void {
    this.#pause();
    if (question < 0) this.#question = -1;
    else this.#aim(question);
    this.#at = null;
    this.#documents.value = String(this.#document);
    this.#fillQuestions();
    this.#draw();
    this.#say();
  }

  #aim(question: number): void {
    this.#question = question;
    this.#document = this.#model.site.questions[question]!.document;
    this.#centre();
    this.#chunk = chunkAt(this.#tracks[this.#active]!, this.#middle());
  }

  #middle(): number {
    const chosen = this.#model.site.questions[this.#question];
    const within = chosen && chosen.start >= this.#from && chosen.start < this.#from + this.#span;
    return within ? chosen.start : this.#from + this.#span / 2;
  }

  #centre(): void {
    const { start, end } = this.#model.site.questions[this.#question]!;
    this.#from = this.#clamp((start + end - this.#span) / 2);
  }

  #slide(at: number): void {
    if (at > this.#from + this.#span * LEAD || at < this.#from) this.#from = this.#clamp(at - this.#span * LEAD);
  }

  #clamp(from: number): number {
    return Math.round(Math.max(0, Math.min(this.#doc.length - this.#span, from)));
  }

  // --- what is drawn

  #draw(): void {
    this.#from = this.#clamp(this.#from);
    const scene = this.#scene;
    draw(this.#svg, scene, this.#width);
    drawMap(this.#map, scene, this.#width);
    this.#label();
    // Text and words are heavier than the picture: while it plays, ten times a second are enough.
    const now = performance.now();
    if (this.#clock.running && now - this.#written < 100) return;
    this.#written = now;
    this.#write(scene);
  }

  #label(): void {
    const label = this.#clock.running ? "Pause" : stillness() ? "Next still" : this.#at === null || this.#at >= this.#doc.length ? "Play" : "Go on";
    if (this.#play.textContent !== label) this.#play.textContent = label;
    this.#all.disabled = this.#at === null;
  }

  #write(scene: Scene): void {
    const track = scene.tracks[scene.active]!;
    const chunk = track.chunks[scene.chunk];
    this.#words.textContent = sentence(scene);
    this.#head.textContent = chunk ? `${track.config.name}: chunk ${grouped(scene.chunk + 1)} of ${grouped(track.chunks.length)}` : track.config.name;
    const whole = chunk && (scene.at === null || scene.at >= chunk.end);
    this.#why.textContent = !chunk ? "" : `Characters ${grouped(chunk.start)} to ${grouped(chunk.end)}, ${grouped(chunk.tokens)} tokens. ${whole ? reason(track, scene.doc, scene.chunk) : "Still being filled."}`;
    this.#pane.replaceChildren(...reading(scene));
    this.#place.max = String(Math.max(0, scene.doc.length - scene.span));
    this.#place.value = String(scene.from);
    this.#place.disabled = scene.span >= scene.doc.length;
    this.#place.setAttribute("aria-valuetext", `characters ${grouped(scene.from)} to ${grouped(Math.round(scene.from + scene.span))} of ${grouped(scene.doc.length)}`);
    if (this.#alternative.open) this.#list(scene);
  }

  #say(): void {
    announce(`${this.#head.textContent}. ${this.#why.textContent}`);
  }

  #list(scene: Scene): void {
    this.#rows.replaceChildren(...rows(scene).map(([track, ...cells]) => h("tr", {}, h("th", { scope: "row" }, track), ...cells.map((cell) => h("td", {}, h("bdi", {}, cell))))));
  }

  // --- what there is to operate

  #controls(): Node {
    const speed = h("select", { id: "speed" }, ...[[60, "slow"], [160, "normal"], [500, "fast"]].map(([value, name]) => h("option", { value: value as number, selected: value === 160 }, name as string)));
    speed.addEventListener("change", () => (this.#clock.speed = Number(speed.value)));
    const step = (by: number, name: string, sign: string): Node => {
      const button = h("button", { type: "button", "aria-label": `${name} chunk`, title: `${name} chunk`, click: () => this.#step(by) }, sign);
      return button;
    };
    const track = [...this.#model.kinds().values()].map((configs, i) => this.#trackSelect(configs, i));
    return h("div", { class: "controls" },
      h("div", { class: "bar" }, field("Document", this.#documents), field("Question", this.#questions, "grow")),
      h("div", { class: "bar transport" },
        h("div", { class: "group" }, this.#play, step(-1, "Previous", "‹"), step(1, "Next", "›"), this.#all),
        stillness() ? "" : field("Speed", speed, "inline"),
        h("div", { class: "tracks" }, ...track),
      ),
      stillness() ? h("p", { class: "hint" }, "Your system asks for less motion, so there are stills in place of an animation.") : "");
  }

  /** Which config of a kind is on its track. */
  #trackSelect(configs: readonly Config[], index: number): Node {
    const kind = configs[0]!.kind;
    const select = h("select", { id: `track-${kind}` }, ...configs.map(({ name }) => h("option", { value: name, selected: this.#configs[index]!.name === name }, name)));
    select.addEventListener("change", () => {
      this.#configs[index] = configs.find(({ name }) => name === select.value)!;
      this.#choose(index);
    });
    return field(`Track ${index + 1}: ${kind}`, select);
  }

  #fillDocuments(): void {
    this.#documents.append(...this.#model.site.documents.map(({ id }, i) => h("option", { value: i }, id)));
    this.#documents.value = String(this.#document);
  }

  #fillQuestions(): void {
    this.#questions.replaceChildren(
      h("option", { value: -1 }, "none"),
      ...this.#model.questions(this.#document).map(([index, { text }]) => h("option", { value: index }, shortened(text, 100))),
    );
    this.#questions.value = String(this.#question);
  }

  /** Goes to an answer that a config loses, with that config on its track. */
  #goLost(question: number, name: string): void {
    const config = this.#model.site.configs.find((each) => each.name === name)!;
    const index = this.#configs.findIndex(({ kind }) => kind === config.kind);
    this.#configs[index] = config;
    this.#active = index;
    const select = document.getElementById(`track-${config.kind}`);
    if (select instanceof HTMLSelectElement) select.value = name;
    this.#go(question);
    this.#box.focus({ preventScroll: true });
    this.#words.scrollIntoView({ block: "start", behavior: stillness() ? "auto" : "smooth" });
  }

  #alternativeOf(): Node {
    this.#alternative.append(
      h("summary", {}, "The figure as a table"),
      scrolling("The figure as a table", h("table", { class: "data" }, h("caption", {}, "What stands in this stretch, track by track"), h("thead", {}, h("tr", {}, ...["Track", "What", "Characters", "How much"].map((name) => h("th", { scope: "col" }, name)))), this.#rows)),
    );
    this.#alternative.addEventListener("toggle", () => this.#alternative.open && this.#list(this.#scene));
    return this.#alternative;
  }
}

function field(name: string, control: HTMLElement, kind = ""): HTMLElement {
  return h("div", { class: `field ${kind}`.trim() }, h("label", { for: control.id }, name), control);
}

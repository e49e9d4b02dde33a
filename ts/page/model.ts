/** The site's flat lists as things to draw: documents with their pieces and sentences, and the chunks of each config. */
import { firstWhere, fromHex, Points, type Config, type Kind, type Question, type Site } from "./site.ts";

/** A range in code points, and the number of its tokens. */
export interface Chunk {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
}

/** The curve that a semantic chunker cuts by. */
export interface Curve {
  /** Where each sentence but the first begins, in code points. */
  readonly joints: readonly number[];
  /** The similarity at each joint: of the sentence before to the one after. */
  readonly values: readonly number[];
  readonly threshold: number | null;
}

/** A document, ready to be drawn. */
export class Doc {
  readonly id: string;
  readonly points: Points;
  /** The starts of the sentences, in code points. */
  readonly sentences: readonly number[];
  /** Where pieces end, in code points. */
  readonly #ends: number[] = [];
  /** The tokens up to each piece's end. */
  readonly #sums: number[] = [];

  constructor(id: string, text: string, pieces: readonly number[], sentences: readonly number[]) {
    this.id = id;
    this.points = new Points(text);
    this.sentences = sentences.filter((_, i) => i % 2 === 0);
    for (let i = 0, sum = 0; i < pieces.length; i += 2) {
      this.#ends.push(pieces[i]!);
      this.#sums.push((sum += pieces[i + 1]!));
    }
  }

  get length(): number {
    return this.points.length;
  }

  get tokens(): number {
    return this.#sums.at(-1) ?? 0;
  }

  /** The tokens of the pieces that end at a code point or before it. */
  tokensTo(point: number): number {
    return this.#sums[firstWhere(this.#ends.length, (i) => this.#ends[i]! > point) - 1] ?? 0;
  }

  /** The end of the last piece that is whole within so many tokens. */
  pointAt(tokens: number): number {
    return this.#ends[firstWhere(this.#sums.length, (i) => this.#sums[i]! > tokens) - 1] ?? 0;
  }

  /** The tokens of the piece that begins at a code point; 0 at the end. */
  pieceAt(point: number): number {
    const i = firstWhere(this.#ends.length, (at) => this.#ends[at]! > point);
    return (this.#sums[i] ?? 0) - (i < this.#sums.length ? (this.#sums[i - 1] ?? 0) : 0);
  }
}

/** A config's cuts of one document. */
export interface Track {
  readonly config: Config;
  readonly chunks: readonly Chunk[];
  /** Whether chunks overlap, so that they need two lanes. */
  readonly overlaps: boolean;
  readonly curve: Curve | null;
  /** The questions whose answer no chunk holds whole. */
  readonly lost: ReadonlySet<number>;
}

/** The chunk of a track that holds a code point: the last one that begins there or before. */
export function chunkAt(track: Track, point: number): number {
  return Math.max(0, firstWhere(track.chunks.length, (i) => track.chunks[i]!.start > point) - 1);
}

/** The chunk that is being filled once a track has been read up to a code point: the first that does not end before it. */
export function filling(track: Track, at: number): number {
  return Math.min(track.chunks.length - 1, firstWhere(track.chunks.length, (i) => track.chunks[i]!.end >= at));
}

/** Why a chunk ends where it does, in words. */
export function reason(track: Track, doc: Doc, index: number): string {
  const chunk = track.chunks[index]!;
  if (chunk.end >= doc.length) return "The document ends there.";
  const { curve, config } = track;
  const joint = curve ? firstWhere(curve.joints.length, (i) => curve.joints[i]! >= chunk.end) : -1;
  if (curve?.joints[joint] === chunk.end && breaks(curve, joint)) {
    return `It ends because the next sentence is unlike the one before: similarity ${curve.values[joint]!.toFixed(3)}, threshold ${curve.threshold!.toFixed(3)}.`;
  }
  if (chunk.tokens + doc.pieceAt(chunk.end) > config.chunker.size) return "It is full: the next piece of text would not fit.";
  return config.kind === "fixed" ? "" : "It ends between sentences or paragraphs: what comes next would not fit whole.";
}

/** Whether a joint is a break: its similarity is at the threshold or below. */
export function breaks(curve: Curve, joint: number): boolean {
  return curve.threshold !== null && curve.values[joint]! <= curve.threshold;
}

/** The site, with what has been prepared kept. */
export class Model {
  readonly site: Site;
  readonly #documents = new Map<number, Doc>();
  readonly #tracks = new Map<string, Track>();

  constructor(site: Site) {
    this.site = site;
  }

  document(index: number): Doc {
    return kept(this.#documents, index, () => {
      const { id, text } = this.site.documents[index]!;
      return new Doc(id, text, this.site.pieces[index] ?? [], this.site.sentences[index] ?? []);
    });
  }

  track(config: Config, document: number): Track {
    return kept(this.#tracks, `${config.name} ${document}`, () => {
      const flat = this.site.chunks[config.name]?.[document] ?? [];
      const chunks: Chunk[] = [];
      for (let i = 0; i < flat.length; i += 3) chunks.push({ start: flat[i]!, end: flat[i + 1]!, tokens: flat[i + 2]! });
      return {
        config, chunks, curve: this.#curve(config.name, document), lost: this.lost(config.name),
        overlaps: chunks.some((chunk, i) => i > 0 && chunk.start < chunks[i - 1]!.end),
      };
    });
  }

  lost(config: string): ReadonlySet<number> {
    return new Set(this.site.lost[config] ?? []);
  }

  /** The configs of each kind that is there, kinds in the order in which the fixture has them. */
  kinds(): Map<Kind, Config[]> {
    const kinds = new Map<Kind, Config[]>();
    for (const config of this.site.configs) if (this.site.chunks[config.name]) kinds.set(config.kind, [...(kinds.get(config.kind) ?? []), config]);
    return kinds;
  }

  /** The questions of a document with their numbers. */
  questions(document: number): [number, Question][] {
    return [...this.site.questions.entries()].filter(([, question]) => question.document === document);
  }

  #curve(config: string, document: number): Curve | null {
    const digits = this.site.similarities[config]?.[document];
    if (!digits?.length) return null;
    const threshold = this.site.thresholds[config]?.[document] ?? null;
    return { joints: this.document(document).sentences.slice(1), values: digits.map(fromHex), threshold: threshold === null ? null : fromHex(threshold) };
  }
}

function kept<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

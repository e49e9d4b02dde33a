/** metrics (spec 12): when a passage answers a question, and the figures of the table, exactly. */
import { firstWhere } from "./columns.ts";
import type { Fraction } from "./numerics.ts";
import { fraction, mean, sum } from "./numerics.ts";
import { unhex } from "./records.ts";
import type { Range } from "./text.ts";

/** A range of a document, in code points. */
export interface Span extends Range {
  readonly document: number;
}

/** How one question fared. */
export interface Question {
  /** The passages that hold the whole answer, ascending. None: the question is lost. */
  readonly relevant: readonly number[];
  /** One for each cutoff. */
  readonly recall: readonly Fraction[];
  readonly reciprocalRank: Fraction;
  readonly ndcg: number;
}

/** How all questions fared; means count lost ones as 0. */
export interface Evaluation {
  readonly lost: readonly number[];
  readonly questions: readonly Question[];
  readonly recall: readonly number[];
  readonly reciprocalRank: number;
  readonly ndcg: number;
}

const ZERO: Fraction = { n: 0, d: 1 };

/** c(r), the doubles nearest to 1/log2(r + 1), for r = 1 … 10 (rule 5). */
const GAINS: readonly number[] = [
  "3ff0000000000000", "3fe430939835353d", "3fe0000000000000", "3fdb903469050f73", "3fd8c23246dc0a9f",
  "3fd6cc193acea9b5", "3fd5555555555555", "3fd430939835353d", "3fd34413509f79ff", "3fd28009c1dd6454",
].map((digits) => unhex(digits)!);

/** For each answer the passages of its document that hold it whole, ascending (rule 1). */
export function relevant(passages: readonly Span[], answers: readonly Span[]): number[][] {
  const documents = new Map<number, number[]>();
  passages.forEach((passage, i) => {
    const list = documents.get(passage.document);
    if (list === undefined) documents.set(passage.document, [i]);
    else list.push(i);
  });
  const finders = new Map<number, Finder>();
  return answers.map((answer) => {
    const list = documents.get(answer.document);
    if (list === undefined) return [];
    let finder = finders.get(answer.document);
    if (finder === undefined) finders.set(answer.document, (finder = new Finder(passages, list)));
    return finder.holding(answer);
  });
}

/**
 * recall@k = |R ∩ first k of the ranking| ÷ |R| for each cutoff; 0 for a lost question (rule 3).
 *
 * @param ranking passages, best first, none twice
 */
export function recall(relevant: readonly number[], ranking: readonly number[], cutoffs: readonly number[]): Fraction[] {
  const ranks = relevantRanks(relevant, ranking, Infinity);
  return cutoffs.map((k) => (relevant.length === 0 ? ZERO : fraction(firstWhere(0, ranks.length, (i) => ranks[i]! > k), relevant.length)));
}

/** mrr@10: 1/r for the first relevant passage at rank r ≤ 10, else 0 (rule 4). */
export function reciprocalRank(relevant: readonly number[], ranking: readonly number[]): Fraction {
  const first = relevantRanks(relevant, ranking, 10)[0];
  return first === undefined ? ZERO : { n: 1, d: first };
}

/** ndcg@10 with gains of 1; 0 for a lost question (rule 5). */
export function ndcg(relevant: readonly number[], ranking: readonly number[]): number {
  if (relevant.length === 0) return 0;
  const dcg = sum(relevantRanks(relevant, ranking, 10).map((rank) => GAINS[rank - 1]!));
  return dcg / sum(GAINS.slice(0, relevant.length));
}

/**
 * Every question's metrics and their means (rules 2 and 6).
 *
 * @param rankings one for each answer: passages, best first, none twice
 * @param cutoffs the k of recall@k, integers ≥ 1
 */
export function evaluate(passages: readonly Span[], answers: readonly Span[], rankings: readonly (readonly number[])[], cutoffs: readonly number[] = [1, 3, 5, 10, 20]): Evaluation {
  const questions = relevant(passages, answers).map((found, i): Question => {
    const ranking = rankings[i]!;
    return { relevant: found, recall: recall(found, ranking, cutoffs), reciprocalRank: reciprocalRank(found, ranking), ndcg: ndcg(found, ranking) };
  });
  const lost: number[] = [];
  questions.forEach((question, i) => {
    if (question.relevant.length === 0) lost.push(i);
  });
  return {
    lost,
    questions,
    recall: cutoffs.map((_, i) => mean(questions.map((question) => question.recall[i]!))),
    reciprocalRank: mean(questions.map((question) => question.reciprocalRank)),
    ndcg: questions.length === 0 ? 0 : sum(questions.map((question) => question.ndcg)) / questions.length,
  };
}

/** The ranks, from 1 to `last`, at which a relevant passage stands. */
function relevantRanks(relevant: readonly number[], ranking: readonly number[], last: number): number[] {
  const wanted = new Set(relevant);
  const ranks: number[] = [];
  for (let r = 1; r <= Math.min(last, ranking.length); r++) if (wanted.has(ranking[r - 1]!)) ranks.push(r);
  return ranks;
}

/** Finds a document's passages that hold a span, at a cost that grows with how many there are and the logarithm of how many there could be. */
class Finder {
  readonly #passages: readonly Span[];
  readonly #byStart: number[];
  readonly #leaves: number;
  readonly #ends: Float64Array; // the greatest end of each part, as a heap-shaped tree

  constructor(passages: readonly Span[], indices: readonly number[]) {
    this.#passages = passages;
    this.#byStart = [...indices].sort((a, b) => passages[a]!.start - passages[b]!.start);
    let leaves = 1;
    while (leaves < indices.length) leaves *= 2;
    this.#leaves = leaves;
    this.#ends = new Float64Array(2 * leaves).fill(-1);
    this.#byStart.forEach((index, i) => (this.#ends[leaves + i] = passages[index]!.end));
    for (let i = leaves - 1; i > 0; i--) this.#ends[i] = Math.max(this.#ends[2 * i]!, this.#ends[2 * i + 1]!);
  }

  holding(answer: Span): number[] {
    // How many passages start early enough.
    const before = firstWhere(0, this.#byStart.length, (i) => this.#passages[this.#byStart[i]!]!.start > answer.start);
    const found: number[] = [];
    const search = (node: number, first: number, width: number): void => {
      if (first >= before || this.#ends[node]! < answer.end) return;
      if (width === 1) found.push(this.#byStart[first]!);
      else {
        search(2 * node, first, width / 2);
        search(2 * node + 1, first + width / 2, width / 2);
      }
    };
    search(1, 0, this.#leaves);
    return found.sort((a, b) => a - b);
  }
}

/**
 * The TypeScript engine in a worker: the same `answer` as the command's. One message is one call, so that a stopped check simply sends no
 * more, and a reader's typing need not wait for more than one item of it.
 */
import { Desk } from "./desk.ts";
import type { Answer, Call } from "./protocol.ts";

interface Scope {
  onmessage: ((event: { data: Call }) => void) | null;
  postMessage(answer: Answer): void;
}

const scope = globalThis as unknown as Scope;
const desk = new Desk();

scope.onmessage = ({ data }) => {
  let answer: Answer;
  try {
    answer = { seq: data.seq, answer: desk.answer(data) };
  } catch (fault) {
    answer = { seq: data.seq, fault: fault instanceof Error ? fault.message : String(fault) };
  }
  scope.postMessage(answer);
};

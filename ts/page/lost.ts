/** The answers that no chunk of a config holds whole, as a list in which each can be gone to. */
import { grouped, h, type Site } from "./site.ts";

/** Goes to a question, with the config that loses its answer. */
type Go = (question: number, config: string) => void;

/** The list with its heading; nothing if no config's lost answers are known. `shown` are the configs that are on the tracks. */
export function lostList(site: Site, shown: readonly string[], go: Go): Node | "" {
  const counted = site.configs.map(({ name }) => name).filter((name) => site.lost[name]);
  if (!counted.length) return "";
  const at = h("select", { id: "lost-at" }, ...counted.map((name) => h("option", { value: name }, name)));
  const [count, list] = [h("p", { class: "lost-count" }), h("ol", { class: "lost-list" })];
  const fill = (): void => {
    const lost = site.lost[at.value] ?? [];
    count.textContent = `${grouped(lost.length)} of ${grouped(site.questions.length)} answers are in no chunk of ${at.value} as a whole.`;
    list.replaceChildren(...lost.map((index) => entry(site, index, () => go(index, at.value))));
  };
  at.value = shown.find((name) => site.lost[name]?.length) ?? counted[0]!;
  at.addEventListener("change", fill);
  fill();
  return h("div", { class: "lost" }, h("h3", {}, h("label", { for: "lost-at" }, "Lost at "), at), count, list);
}

function entry(site: Site, index: number, click: () => void): Node {
  const question = site.questions[index]!;
  return h("li", {}, h("button", { type: "button", click }, h("bdi", {}, question.text), h("span", { class: "where" }, site.documents[question.document]!.id)));
}

/** Chunks of the reader's own text as they are shown: text nodes alone, each chunk isolated in its direction of reading. */
import { visible } from "./difference.ts";
import type { Shown } from "./protocol.ts";
import { grouped, h } from "./site.ts";

/** A chunk: where it stands, how full it is, and its text. */
export function item(chunk: Shown, index: number, count: number, size: number, pieces: boolean): HTMLElement {
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
    // The count stands in an attribute that the style sheet shows: what is selected and copied is the text alone.
    spans.push(h("span", { class: kind, "data-tokens": tokens > 1 ? tokens : null }, shown));
  }
  if (piecesLeft > 0) spans.push(h("span", { class: "hint" }, ` … and ${grouped(piecesLeft)} pieces more`));
  return spans;
}

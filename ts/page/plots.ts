/** Figures of Observable Plot as pictures: one name for the whole, none for what is inside. */

/** Makes a plot a picture that is called `words`. Plot names each group of marks, which a picture's parts may not have. */
export function asPicture(plot: Element, words: string): Element {
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", words);
  for (const group of plot.querySelectorAll("g[aria-label]")) {
    group.setAttribute("data-mark", group.getAttribute("aria-label")!);
    group.removeAttribute("aria-label");
  }
  for (const part of plot.querySelectorAll("[aria-description]")) part.removeAttribute("aria-description");
  return plot;
}

/** Pictures of a report: each part at three widths, light and dark, to be looked at; or the one that README shows. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Visitor, type Name } from "./browsers.ts";

/** A telephone, a laptop, a projector. */
export const WIDTHS = [360, 1280, 1920];

/** Writes `<browser>-<width>-<scheme>-<part>.png` of a site into a folder, motion off; the paths. */
export async function shots(site: string, folder: string, names: Name[] = ["chromium"], widths: number[] = WIDTHS): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const made: string[] = [];
  for (const name of names) {
    for (const scheme of ["light", "dark"] as const) {
      const visitor = await Visitor.start(name, { scheme, still: true });
      try {
        for (const width of widths) {
          const visit = await visitor.open(pathToFileURL(join(resolve(site), "index.html")).href, { width, height: 900, scheme, still: true });
          await new Promise((done) => setTimeout(done, 300)); // figures are drawn once their width is known
          for (const section of await visit.page.$$("body > header, main > section:not([hidden]), body > footer")) {
            const part = await section.evaluate((element) => element.id || element.localName);
            const path = join(folder, `${name}-${width}-${scheme}-${part}.png`);
            await section.screenshot({ path: path as `${string}.png` });
            made.push(path);
          }
          await visit.close();
        }
      } finally {
        await visitor.close();
      }
    }
  }
  return made;
}

/** Writes README's picture: one text cut three ways, from the heading to the legend, on a laptop, light. */
export async function portrait(site: string, path: string): Promise<void> {
  const visitor = await Visitor.start("chromium");
  try {
    const visit = await visitor.open(pathToFileURL(join(resolve(site), "index.html")).href, { width: 1280, height: 1200 });
    await new Promise((done) => setTimeout(done, 300));
    const clip = await visit.page.evaluate(() => {
      const [head, figure] = ["#tracks h2", "#tracks figure"].map((selector) => document.querySelector(selector)!.getBoundingClientRect()) as [DOMRect, DOMRect];
      return { x: 0, y: Math.round(head.top + scrollY - 16), width: 1280, height: Math.round(figure.bottom - head.top + 32) };
    });
    await visit.page.screenshot({ path: path as `${string}.png`, clip, captureBeyondViewport: true });
  } finally {
    await visitor.close();
  }
}

/** Writes the pictures that were asked for; their paths. */
export async function main(site: string, out: string, names: string[]): Promise<string[]> {
  if (!out.endsWith(".png")) return shots(site, out, names.length ? (names as Name[]) : undefined);
  await portrait(site, out);
  return [out];
}

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

/** Writes README's picture: the first screen of the report on a laptop, light. */
export async function portrait(site: string, path: string): Promise<void> {
  const visitor = await Visitor.start("chromium", { still: true });
  try {
    const visit = await visitor.open(pathToFileURL(join(resolve(site), "index.html")).href, { width: 1280, height: 800, still: true });
    await visit.page.evaluate(() => document.getElementById("tracks")!.scrollIntoView());
    await new Promise((done) => setTimeout(done, 300));
    await visit.page.screenshot({ path: path as `${string}.png` });
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

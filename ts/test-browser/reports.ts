/** Reports as the tests meet them: what their folder holds, and the two ways in which a reader opens it. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import type { Site } from "../page/site.ts";
import { browsers, Visitor, type Visit } from "./browsers.ts";
import { dataOf } from "./person.ts";
import { serve } from "./serve.ts";

/** From a folder, and from a server. */
export const WAYS = ["file", "http"] as const;
export type Way = (typeof WAYS)[number];

/** The data that a report shows, out of the file that it lies in. Where no browser is, no report is made, and nothing is held. */
export const held = (folder: string | undefined): Site => (folder === undefined ? ({} as Site) : dataOf<{ site: Site }>(folder, "site").site);

/** A report's address, and how to take it away again. */
export async function address(way: Way, folder: string): Promise<{ address: string; close: () => Promise<void> }> {
  return way === "http" ? serve(folder) : { address: pathToFileURL(join(folder, "index.html")).href, close: async () => undefined };
}

/** The same tests of one report in every browser and over both ways; the page is opened anew for each. Whatever a test did, the page has complained of nothing and asked nobody else. */
export function inEveryWay(part: string, folder: string, tests: (reading: { page: Page }) => void): void {
  describe.each(browsers())(`${part}, in %s`, (name) => {
    let visitor: Visitor;
    beforeAll(async () => void (visitor = await Visitor.start(name)));
    afterAll(() => visitor.close());

    describe.each(WAYS)("over %s", (way) => {
      const reading = {} as { page: Page };
      let visit: Visit, close: () => Promise<void>;
      beforeAll(async () => {
        const report = await address(way, folder);
        close = report.close;
        visit = await visitor.open(report.address);
        reading.page = visit.page;
      });
      beforeEach(() => visit.go());
      afterEach(() => expect([visit.complaints, visit.elsewhere]).toEqual([[], []]));
      afterAll(() => close());
      tests(reading);
    });
  });
}

/** The words of the first element, of every element that a selector finds. */
export const text = (page: Page, selector: string): Promise<string> => page.$eval(selector, (element) => element.textContent ?? "");
export const texts = (page: Page, selector: string): Promise<string[]> => page.$$eval(selector, (elements) => elements.map((element) => element.textContent ?? ""));

/** The words of a table's body, row by row. */
export const cells = (page: Page, table: string): Promise<string[][]> =>
  page.$eval(table, (element) => [...element.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent ?? "")));

/** Waits until the page stands still, which scrolls smoothly to what was asked for. */
export const settled = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise<void>((resolve) => {
    let last = NaN, same = 0;
    const look = (): void => {
      same = scrollY === last ? same + 1 : 0;
      last = scrollY;
      if (same > 5) resolve();
      else requestAnimationFrame(look);
    };
    look();
  }));

/** Gives an element the keyboard's focus. */
export const focus = (page: Page, selector: string): Promise<void> => page.$eval(selector, (element) => (element as HTMLElement).focus());

export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

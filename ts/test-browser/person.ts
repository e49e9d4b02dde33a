/** What a person does with a report: starts it in a browser, presses, types, drops a file, listens, keeps a download. */
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ElementHandle } from "puppeteer-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { browsers, Visitor, type Look, type Name, type Visit } from "./browsers.ts";
import { serve } from "./serve.ts";

export type Protocol = "file" | "http";
export const PROTOCOLS: Protocol[] = ["file", "http"];

/** One browser, for all tests of a file. */
export class Person {
  readonly name: Name;
  readonly sites: Record<string, string> = inject("sites");
  #visitor: Visitor | undefined;
  readonly #open: { visit: Visit; expected: RegExp[] }[] = [];

  constructor(name: Name) {
    this.name = name;
  }

  async start(): Promise<void> {
    this.#visitor = await Visitor.start(this.name);
  }

  async end(): Promise<void> {
    await this.#visitor?.close();
  }

  get downloads(): string {
    return this.#visitor!.downloads;
  }

  /** Opens a report's folder. `expected` are complaints without which this visit would be no test. */
  async visit(folder: string, { protocol = "file", expected = [], look }: { protocol?: Protocol; expected?: RegExp[]; look?: Look } = {}): Promise<Visit> {
    let address = pathToFileURL(join(folder, "index.html")).href;
    if (protocol === "http") {
      const server = await serve(folder);
      onTestFinished(server.close);
      address = `${server.address}index.html`;
    }
    const visit = await this.#visitor!.open(address, look);
    this.#open.push({ visit, expected });
    return visit;
  }

  /** Closes what a test opened. Whatever it did, the page has complained of nothing and asked nobody else. */
  async leave(): Promise<void> {
    const all = this.#open.splice(0);
    for (const { visit } of all) await visit.close();
    for (const { visit, expected } of all) {
      expect(visit.complaints.filter((each) => !expected.some((words) => words.test(each)))).toEqual([]);
      expect(visit.elsewhere).toEqual([]);
    }
  }

  /** The content of the next download of this name, which is then gone. */
  async download(name: string): Promise<string> {
    const path = join(this.downloads, name);
    await until(() => existsSync(path) && statSync(path).size > 0 && readdirSync(this.downloads).every((each) => !/\.(part|crdownload)$/.test(each)));
    const text = readFileSync(path, "utf8");
    rmSync(path);
    return text;
  }
}

/** The same tests in every browser that is here, one of each for the whole file. */
export function inEachBrowser(tests: (person: Person) => void): void {
  const names = browsers();
  if (names.length === 0) return test.skip("no browser is here");
  describe.each(names)("in %s", (name) => {
    const person = new Person(name);
    beforeAll(() => person.start());
    afterEach(() => person.leave());
    afterAll(() => person.end());
    tests(person);
  });
}

/** A copy of a report that a test may damage. */
export function copyOf(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), "chunkproof-damaged-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** The value that a file of a report's data/ sets. */
export function dataOf<T>(folder: string, name: string): T {
  const text = readFileSync(join(folder, "data", `${name}.js`), "utf8");
  return new Function("window", `${text}; return Object.values(window)[0];`)({}) as T;
}

/** Waits for something outside of the browser. */
export async function until(holds: () => boolean, milliseconds = 20_000): Promise<void> {
  const last = Date.now() + milliseconds;
  while (!holds()) {
    if (Date.now() > last) throw new Error(`not within ${milliseconds} ms: ${holds}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Presses the button or link in a section that reads so, once; it is returned. */
export async function press(visit: Visit, section: string, words: string): Promise<ElementHandle> {
  const found = await visit.page.waitForSelector(`#${section} ::-p-xpath(.//*[self::button or self::a][normalize-space()=${JSON.stringify(words)}])`, { visible: true });
  await found!.click();
  return found as ElementHandle;
}

/** Begins to write down what the live region says. */
export async function listen(visit: Visit): Promise<() => Promise<string[]>> {
  await visit.page.evaluate(() => {
    const heard: string[] = ((globalThis as unknown as { heard: string[] }).heard = []);
    const region = document.querySelector('[role="status"][aria-live="polite"]')!;
    new MutationObserver(() => { if (region.textContent) heard.push(region.textContent); }).observe(region, { childList: true });
  });
  return () => visit.page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
}

/** What the first element of a kind reads, as it is laid out. */
export async function read(visit: Visit, selector: string): Promise<string> {
  return visit.page.$eval(selector, (element) => (element as HTMLElement).innerText.trim());
}

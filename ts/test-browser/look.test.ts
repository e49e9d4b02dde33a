/** The report as a whole, for everyone who opens it: accessible, quiet, quick, small, readable at any width, by keyboard and on paper. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { AxeResults } from "axe-core";
import type { Page } from "puppeteer-core";
import { browsers, Visitor } from "./browsers.ts";
import { address, pause, settled, text, texts, WAYS } from "./reports.ts";
import { EMBEDDED } from "./sites.ts";
import { WIDTHS } from "./shots.ts";

const sites = inject("sites");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const FIGURE = "#tracks .stretch rect, #budget .budget-plot svg path"; // of whichever part is the first with figures

const fileOf = async (site: string): Promise<string> => (await address("file", sites[site]!)).address;

/** What axe finds fault with: rule, place and what to do, a line each. */
async function faults(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    (values) => (window as unknown as { axe: { run: (context: Document, options: object) => Promise<AxeResults> } }).axe.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"], preload: false }),
    RULES,
  ));
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`));
}

/** Opens and operates what a reader can open and operate without an engine. */
async function operate(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const selector of [".how-button", ".budget-key button", ".sort", ".lost-list button", "input[value='strict']", "button[title='Next chunk']"]) document.querySelector<HTMLElement>(selector)?.click();
  });
  await settled(page);
}

/** What stands out of the page's right edge and can't be scrolled to by itself. */
const overflowing = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const out = [...document.querySelectorAll<HTMLElement | SVGElement>("body *")].filter((element) => {
      const { right, width: own, height } = element.getBoundingClientRect();
      return own > 0 && height > 0 && right > width + 1 && !element.closest(".scroll, svg, pre, .visually-hidden, select");
    });
    const whole = document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} wide`] : [];
    return [...whole, ...out.map((element) => `${element.localName}.${element.getAttribute("class") ?? ""} ${element.textContent!.slice(0, 40)}`)];
  });

describe.each(browsers())("the report in %s", (name) => {
  let visitor: Visitor;
  beforeAll(async () => void (visitor = await Visitor.start(name)));
  afterAll(() => visitor.close());

  test.each(EMBEDDED)("axe finds nothing on %s, as it opens and after its parts are operated", async (site) => {
    const visit = await visitor.open(await fileOf(site));
    if (name === "chromium") expect(await faults(visit.page)).toEqual([]);
    await operate(visit.page);
    expect(await faults(visit.page)).toEqual([]);
    expect([visit.complaints, visit.elsewhere]).toEqual([[], []]);
    await visit.close();
  });

  describe.each(WAYS)("over %s", (way) => {
    test.each(["atlas", "papers"])("the first figure of %s is there within 1.5 s, without the tokenizer and without a word to anyone", async (site) => {
      const report = await address(way, sites[site]!);
      const visit = await visitor.open(report.address);
      // Opened anew, with somebody who looks from the start.
      await visit.page.evaluateOnNewDocument((selector) => {
        new MutationObserver((_, observer) => {
          if (!document.querySelector(selector)) return;
          observer.disconnect();
          requestAnimationFrame(() => requestAnimationFrame((now) => Object.assign(window, { shown: now })));
        }).observe(document, { childList: true, subtree: true });
      }, FIGURE);
      await visit.go();
      await visit.page.waitForFunction(() => "shown" in window);
      const shown = await visit.page.evaluate(() => (window as unknown as { shown: number }).shown);
      if (process.env["CHUNKPROOF_TIMES"]) console.log(`${name}, ${way}, ${site}: ${Math.round(shown)} ms`);
      expect(shown).toBeLessThan(1500);
      expect(await visit.page.evaluate(() => [...document.scripts].map((script) => script.getAttribute("src")))).toEqual(["data/site.js", "page.js"]);
      expect(visit.files.filter((file) => /tokenizer|worker|check|golden/.test(file))).toEqual([]); // Firefox does not tell of files
      expect([visit.complaints, visit.elsewhere]).toEqual([[], []]);
      await visit.close();
      await report.close();
    });
  });

  test("the page's own policy forbids every connection", async () => {
    const visit = await visitor.open(await fileOf("mini"));
    const broken = await visit.page.evaluate(async () => {
      const found: string[] = [];
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => found.push(effectiveDirective));
      await fetch("http://127.0.0.1:9/").catch(() => undefined);
      await new Promise((done) => Object.assign(new Image(), { src: "http://127.0.0.1:9/a.png", onerror: done }));
      await new Promise((done) => document.head.append(Object.assign(document.createElement("script"), { src: "http://127.0.0.1:9/a.js", onerror: done })));
      return found.map((directive) => directive.replace("script-src-elem", "script-src"));
    });
    expect(new Set(broken)).toEqual(new Set(["connect-src", "img-src", "script-src"]));
    await visit.close();
  });

  test.each(EMBEDDED)("%s is as wide as the window, and no wider, on a telephone, a laptop and a projector", async (site) => {
    const visit = await visitor.open(await fileOf(site));
    await operate(visit.page);
    for (const width of [320, ...WIDTHS]) {
      await visit.page.setViewport({ width, height: 900 });
      await pause(150); // figures are drawn again once their width is known
      expect([width, ...(await overflowing(visit.page))]).toEqual([width]);
    }
    await visit.close();
  });

  test.each(["atlas", "papers"])("every part of %s is reached by keyboard, in the order of the page, and seen when it is", async (site) => {
    const visit = await visitor.open(await fileOf(site), { still: true });
    const { page } = visit;
    await page.evaluate(() => (document.documentElement.style.scrollBehavior = "auto"));
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => [document.activeElement!.textContent, document.activeElement!.getBoundingClientRect().top >= 0])).toEqual(["Skip to the report", true]);
    await page.keyboard.press("Enter");
    expect(await page.evaluate(() => document.activeElement!.id)).toBe("main");

    const sections = new Set<string>();
    const faulty = await page.evaluateHandle(() => [] as string[]);
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press("Tab");
      const section = await page.evaluate((found) => {
        const element = document.activeElement as HTMLElement;
        if (element === document.body || !element.closest("main, footer")) return null;
        const { top, bottom, width } = element.getBoundingClientRect();
        const label = `${element.localName}#${element.id}.${element.className} ${element.textContent!.slice(0, 30)}`;
        if (width === 0 || bottom < 0 || top > innerHeight) found.push(`out of sight: ${label}`);
        const style = getComputedStyle(element);
        if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2) found.push(`no outline: ${label}`);
        const before = (window as { before?: Element }).before;
        if (before && !(before.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) found.push(`out of order: ${label}`);
        (window as { before?: Element }).before = element;
        return element.closest("section")?.id ?? "";
      }, faulty);
      if (section === null) break;
      sections.add(section);
    }
    expect(await faulty.jsonValue()).toEqual([]);
    expect([...sections]).toEqual(await page.$$eval("main > section", (all) => all.filter((section) => !section.hidden).map((section) => section.id)));
    await visit.close();
  });

  test.each(["atlas", "papers"])("no press takes the focus away on %s", async (site) => {
    const visit = await visitor.open(await fileOf(site), { still: true });
    const lost = await visit.page.evaluate(async () => {
      const found: string[] = [];
      const frame = (): Promise<void> => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const controls = [...document.querySelectorAll<HTMLButtonElement>("#tracks button, #table button, #budget button, #budget input")].filter(({ disabled }) => !disabled);
      for (const control of controls.filter((_, i) => i < 40 || i > controls.length - 20)) {
        if (!control.isConnected || control.disabled) continue;
        control.focus();
        for (let i = 0; i < 3; i++) control.click();
        await frame();
        if (document.activeElement === document.body || !document.activeElement!.checkVisibility()) found.push(`${control.className} ${control.textContent}`);
      }
      return found;
    });
    expect(lost).toEqual([]);
    await visit.close();
  });

  test.each(EMBEDDED)("headings of %s go down step by step, and its parts are landmarks with names", async (site) => {
    const visit = await visitor.open(await fileOf(site));
    const levels = await visit.page.$$eval("h1, h2, h3, h4, h5, h6", (all) => all.filter((each) => each.checkVisibility()).map(({ localName }) => Number(localName[1])));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    levels.forEach((level, i) => expect(level).toBeLessThanOrEqual((levels[i - 1] ?? 0) + 1));
    expect(await visit.page.$$eval("main, header, footer, nav", (all) => all.filter((each) => each.checkVisibility()).map(({ localName }) => localName).sort())).toEqual(["footer", "header", "main", "nav"]);
    const [links, titles] = [await texts(visit.page, "nav a"), await texts(visit.page, "main > section:not([hidden]) > h2")];
    expect(links).toEqual(titles);
    expect(await text(visit.page, "footer")).toContain("Nothing leaves your browser");
    await visit.close();
  });
});

/** Chromium alone changes its colours and its medium while it runs. */
describe.skipIf(!browsers().includes("chromium"))("the report in other lights", () => {
  let visitor: Visitor;
  beforeAll(async () => void (visitor = await Visitor.start("chromium")));
  afterAll(() => visitor.close());

  test.each(EMBEDDED)("axe finds nothing on %s in the dark either", async (site) => {
    const visit = await visitor.open(await fileOf(site), { scheme: "dark" });
    expect(await visit.page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.body).backgroundColor)).toBe("rgb(20, 22, 27)");
    await operate(visit.page);
    expect(await faults(visit.page)).toEqual([]);
    await visit.close();
  });

  test.each(["atlas", "papers"])("axe finds nothing on %s on a telephone", async (site) => {
    const visit = await visitor.open(await fileOf(site), { width: 360 });
    await operate(visit.page);
    expect(await faults(visit.page)).toEqual([]);
    await visit.close();
  });

  test("axe finds nothing in what the engine has answered: a check, and a text of one's own", async () => {
    const visit = await visitor.open(await fileOf("mini"));
    const { page } = visit;
    await page.$eval("#check .primary", (button) => (button as HTMLElement).click());
    await page.type("#own textarea", "The first sentence of a text. The second is a little longer than that.");
    await page.waitForSelector("#own .own-chunks li", { timeout: 60_000 });
    await page.waitForSelector("#check .banner", { timeout: 60_000 });
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    expect(await faults(page)).toEqual([]);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    expect(await faults(page)).toEqual([]);
    expect([visit.complaints, visit.elsewhere]).toEqual([[], []]);
    await visit.close();
  });

  test.each(["atlas", "papers"])("on paper %s has its figures and tables, and nothing to press", async (site) => {
    const visit = await visitor.open(await fileOf(site), { width: 720, scheme: "dark" }); // what a sheet of A4 holds
    await visit.page.emulateMediaType("print");
    await pause(150);
    const seen = (selector: string): Promise<number> => visit.page.$$eval(selector, (all) => all.filter((each) => each.checkVisibility()).length);
    expect(await seen("button:not(.sort, .budget-key button), input, nav, .skip, textarea")).toBe(0);
    expect(await seen("thead .sort, thead th")).toBeGreaterThan(8); // a table without its headings says nothing
    expect(await seen("#tracks .legend li, .budget-key li")).toBeGreaterThan(5);
    const edges = await visit.page.$$eval("main table.data", (tables) => tables.filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().right - innerWidth));
    expect(Math.max(...edges)).toBeLessThanOrEqual(0);
    expect(await seen("#tracks .stretch, #table .plot svg, #budget .budget-plot svg")).toBeGreaterThan(1);
    expect(await seen("table.data")).toBeGreaterThan(0);
    expect(await visit.page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor])).toEqual(["rgb(28, 31, 38)", "rgb(255, 255, 255)"]);
    await visit.close();
  });
});

test.skipIf(!sites["atlas"]).each(EMBEDDED)("without the tokenizer's file %s is under 3 MB compressed", (site) => {
  const files = readdirSync(sites[site]!, { recursive: true, encoding: "utf8" }).map((file) => join(sites[site]!, file)).filter((path) => statSync(path).isFile() && !path.endsWith("tokenizer.js"));
  const size = files.reduce((sum, path) => sum + gzipSync(readFileSync(path)).length, 0);
  if (process.env["CHUNKPROOF_TIMES"]) console.log(`${site}: ${(size / 1e6).toFixed(2)} MB`);
  expect(files.length).toBeGreaterThan(7);
  expect(size).toBeLessThan(3_000_000);
});

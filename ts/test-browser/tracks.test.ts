/** Part 1, operated as a reader would: one text with the cuts of three chunkers, played, stepped through, and searched for lost answers. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Page } from "puppeteer-core";
import { fromHex, grouped, Points, type Site } from "../page/site.ts";
import { browsers, Visitor } from "./browsers.ts";
import { address, cells, focus, held, inEveryWay, pause, settled, text, texts } from "./reports.ts";

const folder = inject("sites")["atlas"]!;
const site = held(folder);
const TRACKS = ["fixed-256", "recursive-256", "semantic-256"];

/** Chunks of a document: start, end, tokens. */
function chunks(config: string, document: number): [start: number, end: number, tokens: number][] {
  const flat = site.chunks[config]![document]!;
  return Array.from({ length: flat.length / 3 }, (_, i) => [flat[3 * i]!, flat[3 * i + 1]!, flat[3 * i + 2]!]);
}

/** The document and the stretch of it that is shown, in code points. */
async function stretch(page: Page): Promise<{ document: number; from: number; to: number }> {
  const document = Number(await page.$eval("#document", (select) => (select as HTMLSelectElement).value));
  const said = await page.$eval("#place", (place) => place.getAttribute("aria-valuetext")!);
  const [from, to] = said.match(/[\d,]+/g)!.map((each) => Number(each.replaceAll(",", "")));
  return { document, from: from!, to: to! };
}

const within = (start: number, end: number, shown: { from: number; to: number }): boolean => end > shown.from && start < shown.to;
const heading = (page: Page): Promise<string> => text(page, ".chunk-head");
const picture = (page: Page): Promise<string> => page.$eval(".stretch", (svg) => svg.innerHTML);

inEveryWay("one text, cut three ways", folder, (reading) => {
  let page: Page;
  beforeAll(() => void ({ page } = reading));

  test("three tracks lie over the same stretch, a bar for each chunk where the chunk stands", async () => {
    const shown = await stretch(page);
    expect(await texts(page, ".stretch .name")).toEqual(TRACKS.map((config, i) => (i ? config : `▸ ${config}`)));
    const [width, bars] = await page.$eval(".stretch", (svg) => [
      (svg as SVGSVGElement).viewBox.baseVal.width,
      [...svg.querySelectorAll(".track")].map((track) => [...track.querySelectorAll("rect.chunk")].map((bar) => [Number(bar.getAttribute("x")), Number(bar.getAttribute("width"))])),
    ] as const);
    const scale = width / (shown.to - shown.from);
    TRACKS.forEach((config, i) => {
      const expected = chunks(config, shown.document).filter(([start, end]) => within(start, end, shown));
      expect(expected.length).toBeGreaterThan(2);
      expect(bars[i]).toHaveLength(expected.length);
      expected.forEach(([start, end], j) => {
        expect(bars[i]![j]![0]! - (start - shown.from) * scale).toBeCloseTo(1, 0);
        expect(bars[i]![j]![0]! + bars[i]![j]![1]! - (end - shown.from) * scale).toBeCloseTo(-1, 0);
      });
    });
  });

  test("the curve dips to the threshold or below it exactly where the semantic chunker breaks", async () => {
    const shown = await stretch(page);
    const threshold = fromHex(site.thresholds["semantic-256"]![shown.document]!);
    const joints = site.sentences[shown.document]!.filter((_, i) => i % 2 === 0).slice(1);
    const values = site.similarities["semantic-256"]![shown.document]!.map(fromHex);
    const seen = joints.flatMap((joint, i) => (within(joint, joint + 1, shown) ? [values[i]!] : []));
    const drawn = await page.$eval(".curve", (curve) => {
      const all = (selector: string, attribute: string): number[] => [...curve.querySelectorAll(selector)].map((mark) => Number(mark.getAttribute(attribute)));
      return { threshold: all(".threshold", "y1")[0]!, above: all(".joint", "cy"), below: all(".dip", "y").map((y) => y + 4), points: curve.querySelector(".line")!.getAttribute("points")!.split(" ").length };
    });
    expect(await text(page, ".curve")).toContain(`threshold ${threshold.toFixed(3)}`);
    expect([drawn.above.length, drawn.below.length]).toEqual([seen.filter((value) => value > threshold).length, seen.filter((value) => value <= threshold).length]);
    expect(drawn.below.length).toBeGreaterThan(0);
    expect(drawn.points).toBeGreaterThanOrEqual(seen.length);
    expect(Math.max(...drawn.above)).toBeLessThan(drawn.threshold); // up is less in SVG
    expect(Math.min(...drawn.below)).toBeGreaterThanOrEqual(drawn.threshold);
    expect(await page.$$eval(".stretch .break", (lines) => lines.length)).toBe(drawn.below.length);
  });

  test("it plays: chunks fill up to their size, the count runs, the window slides; it pauses, and goes on by the keyboard", async () => {
    const before = await stretch(page);
    await page.select("#speed", "500");
    await page.click(".play");
    expect(await text(page, ".play")).toBe("Pause");
    await settled(page);
    expect(await page.$eval(".stretch", (svg) => svg.getBoundingClientRect().bottom <= innerHeight + 1)).toBe(true);
    const counts = await page.evaluate(() => new Promise<string[]>((resolve) => {
      const seen: string[] = [];
      const look = (): void => {
        seen.push(document.querySelector(".track.active .count")!.textContent!);
        if (seen.length < 30) requestAnimationFrame(look);
        else resolve(seen);
      };
      look();
    }));
    const numbers = counts.map((count) => /^chunk ([\d,]+) · (\d+) of 256 tokens$/.exec(count)!.slice(1).map((each) => Number(each.replace(",", ""))));
    expect(new Set(counts).size).toBeGreaterThan(5);
    numbers.forEach(([chunk, tokens], i) => {
      const [earlier, fewer] = numbers[i - 1] ?? [0, 0];
      expect(tokens).toBeLessThanOrEqual(256);
      expect(chunk! > earlier! || (chunk === earlier && tokens! >= fewer!)).toBe(true);
    });
    expect(await page.$$eval(".chunk.filling", (bars) => bars.length)).toBeGreaterThan(0);
    await page.waitForFunction((from) => Number((document.querySelector("#place") as HTMLInputElement).value) > from, { timeout: 15_000 }, before.from);

    await page.click(".play");
    expect(await text(page, ".play")).toBe("Go on");
    const still = await picture(page);
    await pause(250);
    expect(await picture(page)).toBe(still);

    await focus(page, ".player");
    await page.keyboard.press(" ");
    expect(await text(page, ".play")).toBe("Pause");
    await page.waitForFunction((then) => document.querySelector(".stretch")!.innerHTML !== then, {}, still);
    await page.keyboard.press(" ");
    expect(await text(page, ".play")).toBe("Go on");
    await page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent === "Show all cuts")!.click());
    expect(await text(page, ".play")).toBe("Play");
    expect(await page.$$(".chunk.filling")).toEqual([]);
  });

  test("arrow keys step by chunk and choose the track; the chunk's text is shown, code point by code point", async () => {
    await focus(page, ".player");
    await page.keyboard.press("Home");
    const { document: shown } = await stretch(page);
    const points = new Points(site.documents[shown]!.text);
    const count = (config: string): number => chunks(config, shown).length;
    expect(await heading(page)).toBe(`fixed-256: chunk 1 of ${count("fixed-256")}`);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await heading(page)).toBe(`fixed-256: chunk 3 of ${count("fixed-256")}`);
    const [start, end, tokens] = chunks("fixed-256", shown)[2]!;
    expect((await texts(page, ".pane .inside")).join("")).toBe(points.slice(start, end));
    expect(await text(page, ".why")).toContain(`Characters ${grouped(start)} to ${grouped(end)}, ${grouped(tokens)} tokens.`);
    await page.keyboard.press("ArrowLeft");
    expect(await heading(page)).toBe(`fixed-256: chunk 2 of ${count("fixed-256")}`);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    expect(await heading(page)).toBe(`recursive-256: chunk ${count("recursive-256")} of ${count("recursive-256")}`);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown"); // there is no fourth
    expect(await heading(page)).toMatch(/^semantic-256: /);
    await page.waitForFunction((said) => document.getElementById("live")!.textContent!.startsWith(said), {}, await heading(page));
  });

  test("it starts at any question of any document", async () => {
    const document = site.documents.length - 1;
    await page.select("#document", String(document));
    const asked = site.questions.map((question, index) => ({ ...question, index })).filter((question) => question.document === document);
    expect((await texts(page, "#question option")).slice(1)).toHaveLength(asked.length);
    const { index, text: question, start, end } = asked.at(-1)!;
    await page.select("#question", String(index));
    const shown = await stretch(page);
    expect(shown.document).toBe(document);
    expect(shown.from <= start && end <= shown.to).toBe(true);
    expect(await text(page, "#stretch-words")).toContain(question);
    await page.click(".play");
    await page.waitForSelector(".chunk.filling");
    await settled(page);
    await page.click(".play");
    expect((await stretch(page)).from).toBeGreaterThanOrEqual(shown.from);
  });

  test("“lost at” lists exactly the questions that the engines call lost, of every config", async () => {
    for (const { name: config } of site.configs) {
      await page.select("#lost-at", config);
      expect(await texts(page, ".lost-list bdi")).toEqual(site.lost[config]!.map((index) => site.questions[index]!.text));
      expect(await text(page, ".lost-count")).toContain(`${site.lost[config]!.length} of ${site.questions.length}`);
    }
  });

  test.each(["click", "Enter"])("a %s on a lost question goes there, and its answer is hatched in the tracks that lose it", async (how) => {
    await page.select("#lost-at", "fixed-256");
    const nth = how === "click" ? 1 : 3;
    const index = site.lost["fixed-256"]![nth]!;
    const { start, end, document: where, text: question } = site.questions[index]!;
    const entry = `.lost-list li:nth-child(${nth + 1}) button`;
    if (how === "click") await page.click(entry);
    else {
      await focus(page, entry);
      await page.keyboard.press("Enter");
    }
    await settled(page);
    const shown = await stretch(page);
    expect(shown.document).toBe(where);
    expect(await page.$eval("#question", (select) => (select as HTMLSelectElement).value)).toBe(String(index));
    expect(await page.evaluate(() => document.activeElement!.className)).toBe("player");
    const sentence = await text(page, "#stretch-words");
    expect(sentence).toContain(question);
    expect(sentence).toMatch(/no chunk of .*fixed-256.* holds it whole/);

    const places = await page.$eval(".stretch", (svg) => [...svg.querySelectorAll(".track")].map((track) => [...track.querySelectorAll(".hatched")].map((mark) => Number(mark.getAttribute("x")))));
    const width = await page.$eval(".stretch", (svg) => (svg as SVGSVGElement).viewBox.baseVal.width);
    const x = ((start - shown.from) / (shown.to - shown.from)) * width;
    expect(places.map((track) => track.some((at) => Math.abs(at - x) < 1))).toEqual(TRACKS.map((config) => site.lost[config]!.includes(index)));
    expect((await texts(page, ".pane mark.cut.chosen")).join("")).toBe(new Points(site.documents[where]!.text).slice(start, end));
    const top = await page.$eval("#stretch-words", (words) => words.getBoundingClientRect().top);
    expect(top).toBeGreaterThanOrEqual(-1);
    expect(top).toBeLessThan(900);
  });

  test("the figure as a table says the same in words", async () => {
    await page.click("#tracks .alternative summary");
    const shown = await stretch(page);
    const rows = await cells(page, "#tracks .alternative table");
    const of = (track: string): string[][] => rows.filter(([first]) => first === track).map((row) => row.slice(1));
    for (const config of TRACKS) {
      const all = chunks(config, shown.document);
      const expected = all.flatMap(([start, end, tokens], i) => (within(start, end, shown) ? [[`chunk ${i + 1} of ${all.length}`, `${grouped(start)} – ${grouped(end)}`, `${tokens} tokens`]] : []));
      expect(of(config)).toEqual(expected);
    }
    const asked = site.questions.filter((question) => question.document === shown.document && within(question.start, question.end, shown));
    expect(of("text").map(([, place]) => place)).toEqual(asked.map(({ start, end }) => `${grouped(start)} – ${grouped(end)}`));
    expect(of("text").some(([, , fate]) => fate!.startsWith("lost at fixed-256"))).toBe(true);
    expect(of("similarity").filter(([, , value]) => value!.endsWith("a break"))).toHaveLength(await page.$$eval(".curve .dip", (dips) => dips.length));
    expect(await page.$eval(".stretch", (svg) => document.getElementById(svg.getAttribute("aria-labelledby")!)!.textContent)).toBe(await text(page, "#stretch-words"));
  });
});

describe.each(browsers())("without a text, in %s", (name) => {
  let visitor: Visitor;
  beforeAll(async () => void (visitor = await Visitor.start(name)));
  afterAll(() => visitor.close());

  test("a report without documents does not show this part", async () => {
    const { address: edge } = await address("file", inject("sites")["edge"]!);
    const visit = await visitor.open(edge);
    expect(held(inject("sites")["edge"]!).documents).toEqual([]);
    expect(await visit.page.$eval("#tracks", (section) => (section as HTMLElement).hidden)).toBe(true);
    expect(await visit.page.$$("nav a[href='#tracks']")).toEqual([]);
    await visit.close();
  });
});

describe.each(browsers())("with less motion, in %s", (name) => {
  test("there are stills: each press shows the next chunk, and nothing moves by itself", async () => {
    const visitor = await Visitor.start(name, { still: true });
    try {
      const { page, complaints } = await visitor.open((await address("file", folder)).address, { still: true });
      expect(await text(page, ".play")).toBe("Next still");
      const first = Number(/chunk (\d+)/.exec(await heading(page))![1]);
      await page.click(".play");
      expect(await heading(page)).toContain(`chunk ${first + 1} of`);
      const still = await picture(page);
      await pause(300);
      expect(await picture(page)).toBe(still);
      expect(await page.evaluate(() => [document.getAnimations().length, getComputedStyle(document.documentElement).scrollBehavior])).toEqual([0, "auto"]);
      expect(await page.$$("#speed")).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      await visitor.close();
    }
  });
});

// The figures of a report are those of one fixture; a config that is missing would make the tests above say nothing.
test.skipIf(!folder)("atlas has what these tests look for", () => {
  expect(site.configs.map(({ name }) => name)).toEqual(expect.arrayContaining(TRACKS));
  expect(site.lost["fixed-256"]!.length).toBeGreaterThan(3);
  expect((site satisfies Site).similarities["semantic-256"]).toHaveLength(site.documents.length);
});

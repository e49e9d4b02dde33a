/** Part 5, operated as a reader would: how often the evidence is within a budget of tokens, and what one question's contexts look like. */
import { beforeAll, expect, inject, test } from "vitest";
import type { Page } from "puppeteer-core";
import type { Budget, Measure, Row } from "../page/budget.ts";
import type { Picture } from "../page/budget-picture.ts";
import { grouped } from "../page/site.ts";
import { cells, focus, held, inEveryWay, text, texts } from "./reports.ts";

const folder = inject("sites")["papers"]!;
const site = held(folder);
const budget = site.budget as Budget;
const pictures = site.budget_picture as Picture[];
const POLICIES = [...new Set(budget?.rows.map(({ policy }) => policy))];

/** The columns of the table, by measure, as the JSON names them. */
const KEYS: Record<Measure, string[]> = {
  any: ["any", "any_rate_interval", "difference", "interval", "holm", "any_share", "any_tokens", "precision", "chunks", "tokens", "full"],
  strict: ["strict", "strict_rate_interval", "strict_difference", "strict_interval", "strict_holm", "strict_share", "strict_tokens", "precision", "chunks", "tokens", "full"],
};

/** A row as the table shows it; its mark of the largest is left out on both sides. */
function line(row: Row, measure: Measure): string[] {
  const figures = KEYS[measure].map((key) => [row.printed[key] ?? []].flat()).map((figure) => figure.join(" … ") || "–");
  return [row.policy, ...figures, budget.index[row.policy]?.chunks ? grouped(budget.index[row.policy]!.chunks) : "–", row.verdict ?? "–"];
}

const plain = (rows: string[][]): string[][] => rows.map((row) => row.map((cell) => cell.replace(" ▲ largest", "")));
const TABLE = "[aria-label^='Every policy at'] table";

inEveryWay("the budget experiment", folder, (reading) => {
  let page: Page;
  beforeAll(() => void ({ page } = reading));

  const curveTable = async (): Promise<string[][]> => cells(page, "[aria-label='Figures of the curves'] table");
  const curveOf = (measure: Measure): string[][] => {
    const points = budget.curves?.length ? budget.curves : budget.rows;
    return POLICIES.map((policy) => [policy, ...points.filter((point) => point.policy === policy).map((point) => String(point.printed[measure]))]);
  };

  test("it says first what the rule says", async () => {
    expect(await text(page, ".budget-verdict")).toBe(budget.decision!.sentence);
  });

  test("a press on strict, or an arrow key, shows the figures of strict; the table shows any budget", async () => {
    const at = (tokens: number): Row[] => budget.rows.filter((row) => row.budget === tokens);
    expect(plain(await cells(page, TABLE))).toEqual(at(1000).map((row) => line(row, "any")));
    await page.click("input[name='budget-measure'][value='strict']");
    expect(plain(await cells(page, TABLE))).toEqual(at(1000).map((row) => line(row, "strict")));
    await focus(page, "input[name='budget-measure'][value='strict']");
    await page.keyboard.press("ArrowUp");
    expect(plain(await cells(page, TABLE))).toEqual(at(1000).map((row) => line(row, "any")));
    expect(await page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe("any");
    for (const tokens of [500, 2000]) {
      await page.click(`input[name='budget-tokens'][value='${tokens}']`);
      expect(plain(await cells(page, TABLE))).toEqual(at(tokens).map((row) => line(row, "any")));
    }
  });

  test("the largest share is marked", async () => {
    const rows = budget.rows.filter((row) => row.budget === 1000);
    const most = Math.max(...rows.map((row) => row["any"] as number));
    const marked = (await cells(page, TABLE)).filter(([, found]) => found!.includes("▲")).map(([policy]) => policy);
    expect(marked).toEqual(rows.filter((row) => row["any"] === most).map(({ policy }) => policy));
  });

  test("the curves have a line for each policy and a band for an interval, and carry their figures as a table", async () => {
    await page.waitForSelector(".budget-plot svg");
    expect(await curveTable()).toEqual(curveOf("any"));
    const any = await page.$eval(".budget-plot", (plot) => ({ lines: plot.querySelectorAll("g[data-mark='line'] path").length, bands: plot.querySelectorAll("g[data-mark='area'] path").length, picture: plot.innerHTML }));
    expect([any.lines, any.bands]).toEqual([POLICIES.length, 1]);
    await page.click("input[name='budget-measure'][value='strict']");
    await page.waitForSelector(".budget-plot svg");
    expect(await curveTable()).toEqual(curveOf("strict"));
    expect(await page.$eval(".budget-plot", (plot) => plot.innerHTML)).not.toBe(any.picture);
  });

  test("a policy's name brings its line and its interval forward", async () => {
    await page.waitForSelector(".budget-plot svg");
    const band = (): Promise<string> => page.$eval(".budget-plot g[data-mark='area'] path", (path) => path.getAttribute("d")!);
    const before = await band();
    const key = `.budget-key li:nth-child(${POLICIES.indexOf("headed") + 1}) button`;
    await focus(page, key);
    await page.keyboard.press("Enter");
    expect(await page.$eval(key, (button) => button.getAttribute("aria-pressed"))).toBe("true");
    expect(await band()).not.toBe(before);
    await page.keyboard.press("Enter");
    expect(await band()).toBe(before);
  });

  test("each policy's difference to the baseline is drawn with its interval, in words too", async () => {
    const said = await page.waitForSelector("svg[aria-label^='Difference of each policy']").then((svg) => svg!.evaluate((element) => element.getAttribute("aria-label")!));
    const rows = budget.rows.filter((row) => row.budget === 1000 && row["interval"]);
    expect(rows.length).toBe(POLICIES.length - 1);
    for (const { policy, printed } of rows) expect(said).toContain(`${policy} ${printed["difference"]} (${(printed["interval"] as string[]).join(" … ")})`);
    expect(await page.$$eval("svg[aria-label^='Difference of each policy'] g[data-mark='dot'] circle", (dots) => dots.length)).toBe(rows.length);
  });

  test("the slices are those of the JSON, with what they say where another policy is ahead", async () => {
    const slices = budget.slices!;
    const rows = (await cells(page, "[aria-label='Kinds of question'] table")).filter((row) => row.length > 1);
    expect(plain(rows).map((row) => row.slice(1))).toEqual(slices.map(({ questions, printed }) => [String(questions), ...POLICIES.map((policy) => printed[policy])]));
    expect(rows.map((row) => POLICIES.filter((_, i) => row[i + 2]!.includes("▲")))).toEqual(slices.map(({ winners }) => (winners.length < POLICIES.length ? POLICIES.filter((policy) => winners.includes(policy)) : [])));
    expect(await texts(page, "details .budget-said li")).toEqual(slices.flatMap(({ paragraph }) => paragraph ?? []));
  });

  test("the picture of a question: the paper as a strip, evidence marked, what each policy sent", async () => {
    expect(pictures.length).toBeGreaterThan(2);
    const look = async ({ question, length, evidence, policies }: Picture): Promise<void> => {
      expect(await text(page, "figure:has(.budget-rows) figcaption strong")).toBe(question);
      await page.waitForFunction((count) => document.querySelectorAll(".budget-strip svg").length === count, {}, policies.length);
      const strips = await page.$$eval(".budget-strip svg", (svgs) => svgs.map((svg) => {
        const width = Number(svg.getAttribute("width"));
        const ranges = (name: string): [number, number][] => [...svg.querySelectorAll(`rect.${name}`)].map((bar) => [Number(bar.getAttribute("x")) / width, Number(bar.getAttribute("width")) / width]);
        return { evidence: ranges("evidence"), sent: ranges("sent"), hit: ranges("hit").length };
      }));
      policies.forEach(({ context }, i) => {
        expect([strips[i]!.evidence.length, strips[i]!.sent.length]).toEqual([evidence.length, context.length]);
        context.forEach(([start, end], j) => {
          expect(strips[i]!.sent[j]![0]).toBeCloseTo(start / length, 2);
          expect(strips[i]!.sent[j]![1]).toBeCloseTo((end - start) / length, 2);
        });
        const meetings = evidence.flatMap(([from, to]) => context.filter(([start, end]) => start < to && end > from));
        expect(strips[i]!.hit).toBe(meetings.length);
      });
      const words = (await texts(page, "figure:has(.budget-rows) details li")).map((each) => each.replaceAll(",", ""));
      policies.forEach(({ policy, context, tokens, any }, i) => {
        expect(words[i]).toContain(policy);
        expect(words[i]).toContain(`${tokens} tokens ${any ? "covers it" : "does not cover it"}`);
        for (const [start, end] of context) expect(words[i]).toContain(`${start}–${end}`);
      });
    };
    await look(pictures[0]!);
    await page.select("#budget-question", "2");
    await look(pictures[2]!);
    await page.evaluate(() => [...document.querySelectorAll("button")].find((button) => button.textContent === "Previous question")!.focus());
    await page.keyboard.press("Enter");
    await look(pictures[1]!);
  });

  test("it names the protocol and the digest of what it shows", async () => {
    expect(await texts(page, ".budget-source .digest")).toEqual([budget.protocol.digest, budget.digest]);
  });
});

test.skipIf(!folder)("papers has what these tests look for", () => {
  expect(POLICIES).toContain(budget.protocol.baseline);
  expect(budget.curves!.length).toBeGreaterThan(budget.rows.length);
  expect(budget.slices!.some(({ paragraph }) => paragraph)).toBe(true);
});

/** Part 2, operated as a reader would: the table sorted, the exact value behind a figure, the curves, and chance. */
import { beforeAll, expect, inject, test } from "vitest";
import type { Page } from "puppeteer-core";
import type { Exact, Row } from "../page/site.ts";
import { cells, focus, held, inEveryWay, text, texts } from "./reports.ts";

const folder = inject("sites")["atlas"]!;
const site = held(folder);
const table = site.table!;
const COLUMNS = ["config", "method", "recall@1", "recall@3", "recall@5", "recall@10", "recall@20", "mrr@10", "ndcg@10"];
const FIGURES = "[aria-label='The table'] table";

const nameOf = (row: Row): string => `${row["config"]}/${row["method"]}`;
const exactOf = (row: Row, column: string): Exact | undefined => table.exact![nameOf(row)]?.[column];

/** What a figure is, in the words that the bubble should have. */
const said = ({ fraction, decimal, hex }: Exact): string => (fraction === undefined ? `${decimal}, the double ${hex}` : `exactly ${fraction}`);

function valueOf(row: Row, column: string): number {
  const { fraction, decimal } = exactOf(row, column)!;
  const [above, below = "1"] = (fraction ?? decimal!).split("/");
  return Number(above) / Number(below);
}

/** The rows that are shown, without the cell that holds the button. */
const shown = async (page: Page): Promise<string[][]> => (await cells(page, FIGURES)).filter((row) => row.length > 2).map((row) => row.slice(0, -1));
const printed = (rows: Row[]): string[][] => rows.map((row) => COLUMNS.map((column) => row[column]!));
const orders = (page: Page): Promise<(string | null)[]> => page.$eval(FIGURES, (element) => [...element.querySelectorAll("thead th[aria-sort]")].map((head) => head.getAttribute("aria-sort")));

inEveryWay("what the search finds", folder, (reading) => {
  let page: Page;
  beforeAll(() => void ({ page } = reading));

  test("every row of the table's JSON is there, as it is printed", async () => {
    await page.select("#table-method", "");
    expect(await shown(page)).toEqual(printed(table.rows));
    const chunking = (await cells(page, "[aria-label='How the texts were cut'] table")).filter((row) => row.length > 2).map((row) => row.slice(0, -1));
    expect(chunking).toEqual(table.chunking.map((row) => ["config", "chunks", "mean_tokens", "max_tokens", "lost", "long"].map((column) => row[column])));
  });

  test("rows are chosen by method and by config", async () => {
    expect(await shown(page)).toEqual(printed(table.rows.filter(({ method }) => method === table.rows[0]!["method"])));
    await page.select("#table-method", "");
    await page.select("#table-config", "recursive-256");
    expect(await shown(page)).toEqual(printed(table.rows.filter(({ config }) => config === "recursive-256")));
  });

  test("a press on a heading sorts by the exact values, a second turns the order round; the keyboard does it too", async () => {
    await page.select("#table-method", "");
    const down = table.rows.toSorted((a, b) => valueOf(b, "recall@5") - valueOf(a, "recall@5"));
    const button = `${FIGURES} thead th:nth-child(5) button`;
    await page.click(button);
    expect(await orders(page)).toEqual(COLUMNS.map((column) => (column === "recall@5" ? "descending" : "none")));
    expect(await shown(page)).toEqual(printed(down));
    await focus(page, button);
    await page.keyboard.press("Enter");
    expect(await orders(page)).toEqual(COLUMNS.map((column) => (column === "recall@5" ? "ascending" : "none")));
    expect(await shown(page)).toEqual(printed(table.rows.toSorted((a, b) => valueOf(a, "recall@5") - valueOf(b, "recall@5"))));
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe("recall@5");
    await page.waitForFunction(() => document.getElementById("live")!.textContent === "Sorted by recall@5, ascending");

    await focus(page, `${FIGURES} thead th:nth-child(2) button`);
    await page.keyboard.press(" ");
    expect((await orders(page))[1]).toBe("ascending");
    const methods = (await shown(page)).map(([, method]) => method);
    expect(methods).toEqual(methods.toSorted((a, b) => a!.localeCompare(b!, "en", { numeric: true })));
  });

  test("the pointer on a figure shows exactly what it is, and Escape takes that away", async () => {
    const row = table.rows[0]!;
    for (const column of ["recall@5", "ndcg@10"]) {
      await page.hover(`${FIGURES} tbody tr:first-child > :nth-child(${COLUMNS.indexOf(column) + 1})`);
      await page.waitForSelector(".tip:not([hidden])");
      expect(await text(page, ".tip")).toBe(said(exactOf(row, column)!));
    }
    await page.keyboard.press("Escape");
    expect(await page.$(".tip:not([hidden])")).toBeNull();
  });

  test("so does the focus, on every figure: Tab comes to the figures once, the arrows go through them", async () => {
    await focus(page, `${FIGURES} tbody td[tabindex="0"]`);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    const second = table.rows.filter(({ method }) => method === table.rows[0]!["method"])[1]!;
    expect(await text(page, ".tip:not([hidden])")).toBe(said(exactOf(second, "recall@1")!));
    expect(await page.evaluate(() => document.getElementById(document.activeElement!.getAttribute("aria-describedby")!)!.textContent)).toBe(said(exactOf(second, "recall@1")!));

    await page.select("#table-method", "");
    const found = await page.$eval(FIGURES, (element) => [...element.querySelectorAll<HTMLElement>("tbody td.number")].map((cell) => {
      cell.focus();
      return document.querySelector<HTMLElement>(".tip:not([hidden])")?.textContent;
    }));
    expect(found).toEqual(table.rows.flatMap((row) => COLUMNS.slice(2).map((column) => said(exactOf(row, column)!))));
    expect(await page.$eval(FIGURES, (element) => element.querySelectorAll("tbody td[tabindex='0']").length)).toBe(1);
  });

  test("each row has the command that recomputes it", async () => {
    await page.select("#table-method", "");
    const button = `${FIGURES} .how-button`;
    await page.click(button);
    expect(await page.$eval(button, (each) => each.getAttribute("aria-expanded"))).toBe("true");
    expect(await page.$eval(`${FIGURES} tr.below:not([hidden]) code`, (code) => code.textContent)).toBe(site.repeat![nameOf(table.rows[0]!)]);
    expect(await texts(page, `${FIGURES} .below code`)).toEqual(table.rows.map((row) => site.repeat![nameOf(row)]));
    await focus(page, button);
    await page.keyboard.press("Enter");
    expect(await page.$(`${FIGURES} tr.below:not([hidden])`)).toBeNull();
  });

  test("the curves are the table's figures, of the method that is chosen, each dot at its height", async () => {
    const method = [...new Set(table.rows.map((row) => row["method"]!))][1]!;
    await page.select("#curve-method", method);
    const rows = table.rows.filter((row) => row["method"] === method);
    const depths = COLUMNS.filter((column) => column.startsWith("recall@"));
    expect(await cells(page, ".curve-figure:first-child .alternative table")).toEqual(rows.map((row) => [row["config"], ...depths.map((column) => row[column])]));
    await page.select("#curve-depth", "recall@10");
    const sizes = new Map(site.configs.map(({ name: config, chunker }) => [config, String(chunker.size)]));
    expect(await cells(page, ".curve-figure:last-child .alternative table")).toEqual(rows.map((row) => [row["config"], sizes.get(row["config"]!), row["recall@10"]]));

    await page.waitForSelector(".curve-figure:first-child .plot svg");
    const dots = await page.$eval(".curve-figure:first-child .plot svg", (svg) => [...svg.querySelectorAll("g[data-mark='dot'] > *")].map((dot) => Number(dot.getAttribute("cy") ?? /,([\d.]+)\)/.exec(dot.getAttribute("transform")!)![1])));
    const values = rows.flatMap((row) => depths.map((column) => Number(row[column])));
    expect(dots).toHaveLength(values.length);
    const byHeight = values.map((value, i) => ({ value, y: dots[i]! })).sort((a, b) => b.value - a.value);
    byHeight.forEach(({ value, y }, i) => i > 0 && (value < byHeight[i - 1]!.value ? expect(y).toBeGreaterThan(byHeight[i - 1]!.y) : expect(y).toBeCloseTo(byHeight[i - 1]!.y, 3)));
    expect(await page.$$eval(".curve-figure:first-child .legend li", (items) => items.map((item) => (item as HTMLElement).innerText.trim()))).toEqual(rows.map((row) => row["config"]));
  });

  test("cuts that were seen stand beside those that chance would make, with the range", async () => {
    const rows = site.cuts!.cuts;
    expect(await cells(page, ".chances .alternative table")).toEqual(rows.map((row) => Object.keys(rows[0]!).map((column) => row[column] ?? "–")));
    const drawn = await page.waitForSelector(".chances .plot svg").then((svg) => svg!.evaluate((element) => ({
      ranges: [...element.querySelectorAll("g[data-mark='bar'] rect")].map((bar) => [Number(bar.getAttribute("x")), Number(bar.getAttribute("x")) + Number(bar.getAttribute("width"))]),
      seen: [...element.querySelectorAll("g[data-mark='dot'] path")].map((dot) => Number(/\(([\d.]+),/.exec(dot.getAttribute("transform")!)![1])),
    })));
    const ranged = rows.filter(({ low }) => low !== null);
    expect([drawn.ranges.length, drawn.seen.length]).toEqual([ranged.length, rows.length]);
    expect(ranged.length).toBeGreaterThan(3);
    ranged.forEach(({ low, high, seen }, i) => {
      const [from, to] = drawn.ranges[i]!;
      expect(drawn.seen[rows.indexOf(ranged[i]!)]! >= from! && drawn.seen[rows.indexOf(ranged[i]!)]! <= to!).toBe(Number(low) <= Number(seen) && Number(seen) <= Number(high));
    });
    expect(await text(page, "#table")).toContain(site.wording!["cuts"]);
  });
});

test.skipIf(!folder)("atlas has what these tests look for", () => {
  expect(Object.keys(table.rows[0]!)).toEqual(expect.arrayContaining(COLUMNS));
  expect(new Set(table.rows.map((row) => row["method"])).size).toBeGreaterThan(2);
});

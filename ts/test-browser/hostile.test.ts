/** Texts that try to be something else, in every place where the page shows one: nothing of them is interpreted. */
import { expect, test } from "vitest";
import type { Visit } from "./browsers.ts";
import { MARK, TEXT } from "./hostile.ts";
import { PROTOCOLS, inEachBrowser, press, type Person } from "./person.ts";

const IMAGE = `<img src="stolen.png" onerror="window.${MARK} = 'image'">`;
const SCRIPT = `<script>window.${MARK} = "script"</script>`;

/** Nothing ran, nothing was asked for, no element came into being; whatever holds an override keeps it to itself. */
async function unmoved(visit: Visit): Promise<void> {
  await new Promise((done) => setTimeout(done, 200)); // an image's fault comes late
  const found = await visit.page.evaluate((mark) => ({
    mark: (globalThis as unknown as Record<string, unknown>)[mark],
    images: document.querySelectorAll("img, iframe, object, embed, base, meta[http-equiv=refresh]").length,
    scripts: [...document.scripts].map((script) => script.getAttribute("src")).filter((src) => !/^(page|data\/\w+)\.js$/.test(src ?? "")),
    handlers: [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on"))).map(({ localName }) => localName),
    // A direction override ends with its block at the latest; text beside it in the same block has to be isolated from it.
    astray: (() => {
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found: string[] = [];
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {
        if (!/[\u202a-\u202e\u2066-\u2069]/.test(node.nodeValue!) || node.parentElement!.closest("script, option, [hidden]")) continue;
        let element = node.parentElement!;
        while (getComputedStyle(element).unicodeBidi === "normal" && getComputedStyle(element).display === "inline") element = element.parentElement!;
        if (getComputedStyle(element).unicodeBidi === "normal" && element.textContent !== node.nodeValue) found.push(`${element.localName}.${element.className}: ${element.textContent}`);
      }
      return found;
    })(),
  }), MARK);
  expect(found).toEqual({ mark: undefined, images: 0, scripts: [], handlers: [], astray: [] });
  expect(visit.requests.filter((url) => url.includes("stolen"))).toEqual([]);
}

const reads = (visit: Visit, selector: string): Promise<string> => visit.page.$eval(selector, (element) => element.textContent);

inEachBrowser((person: Person) => {
  test.each(PROTOCOLS)("a report of hostile documents, questions and title shows them letter by letter, over %s:", async (protocol) => {
    const visit = await person.visit(person.sites["hostile"]!, { protocol });
    expect(await reads(visit, "#facts")).toContain(`${IMAGE} and other titles`);
    const options = await visit.page.$$eval("#tracks option", (all) => all.map((option) => option.textContent));
    expect(options.some((text) => text.includes(SCRIPT))).toBe(true);
    await unmoved(visit);
    for (const summary of await visit.page.$$("details > summary")) await summary.click();
    // Each question in turn, with its answer in the picture and in the rows of words beside it.
    for (const value of await visit.page.$$eval("#tracks select", (all) => all.flatMap((select) => [...select.options].map((option) => [`#${select.id}`, option.value])))) {
      await visit.page.select(value[0]!, value[1]!);
      await new Promise((done) => setTimeout(done, 50));
    }
    await unmoved(visit);
  });

  test("the check of a hostile report asks the engine these texts, and a difference shows them", async () => {
    const visit = await person.visit(person.sites["hostile"]!);
    await visit.page.evaluate(() => {
      // Every digest is a wrong one, as soon as the requests are there.
      let held: { items: { digest: string }[] };
      Object.defineProperty(globalThis, "chunkproofCheck", { get: () => held, set: (check) => { for (const item of (held = check).items) item.digest = "0".repeat(64); } });
    });
    await press(visit, "check", "Check it now");
    await visit.page.waitForSelector("#check .verdict", { timeout: 60_000 });
    await unmoved(visit);
  });

  test.each(["recursive", "fixed"])("the reader's own hostile text is cut by the %s chunker and shown as it is, and so is its file's name", async (kind) => {
    const visit = await person.visit(person.sites["mini"]!);
    const name = `${SCRIPT.replaceAll("/", "")} \u202Etxt.${IMAGE}`;
    await visit.page.locator(`#own input[value=${kind}]`).click();
    await visit.page.$eval("#own", (target, text, called) => {
      const data = new DataTransfer();
      data.items.add(new File([text], called, { type: "text/html" }));
      target.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, TEXT, name);
    await visit.page.waitForSelector("#own .own-chunk", { timeout: 30_000 });
    expect(await reads(visit, "#own .own-chunks .own-chunk")).toBe(TEXT); // one chunk of at most 256 tokens
    expect(await reads(visit, "#own .own-command")).toContain("<script>window.");
    await unmoved(visit);
    await visit.page.locator("#own-pieces").click();
    await visit.page.waitForSelector("#own .own-piece");
    const pieces = await reads(visit, "#own .own-chunk");
    expect(pieces).toContain("<U+202E>");
    expect(pieces).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029]/);
    await unmoved(visit);
    // A line end makes the page hold the text beside the field, with the file's name.
    await visit.page.$eval("#own", (target, text, called) => {
      const data = new DataTransfer();
      data.items.add(new File([`${text}\r\n`], called, { type: "text/html" }));
      target.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, TEXT, name);
    await visit.page.waitForSelector("#own .own-held:not([hidden])");
    expect(await reads(visit, "#own .own-held strong")).toBe(name);
    expect(await reads(visit, "#own .own-held pre")).toBe(`${TEXT}\r\n`);
    await unmoved(visit);
  });
});

/** The real browsers that the report is opened in, and what each of them asked for and complained of meanwhile. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launch, type Browser, type Page } from "puppeteer-core";

export type Name = "chromium" | "firefox";

/** The names that a system may have given each browser's program; an environment variable of ours comes first. */
const PROGRAMS: Record<Name, { variable: string; names: string[] }> = {
  chromium: { variable: "CHUNKPROOF_CHROMIUM", names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] },
  firefox: { variable: "CHUNKPROOF_FIREFOX", names: ["firefox-esr", "firefox"] },
};

/** Chromium as root and without a screen; nothing that it would fetch for itself. */
const CHROMIUM = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb"];

/** How a page is looked at. */
export interface Look {
  width?: number;
  height?: number;
  scheme?: "light" | "dark";
  /** Whether the reader asks for less motion. */
  still?: boolean;
}

/** Where a browser's program is; undefined if it is not installed. */
export function program(name: Name): string | undefined {
  const { variable, names } = PROGRAMS[name];
  const given = process.env[variable];
  if (given) return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((each) => folders.map((folder) => join(folder, each))).find((path) => existsSync(path));
}

/** The browsers that are here. Where tests have to run (CI is set), one that is missing is a failure, elsewhere a sentence. */
export function browsers(): Name[] {
  const wanted: Name[] = ["chromium", "firefox"];
  const missing = wanted.filter((name) => program(name) === undefined);
  if (missing.length > 0) {
    const sentence = `${missing.join(" and ")} not found: install them (Debian: apt-get install chromium firefox-esr), or name their programs in ${missing.map((name) => PROGRAMS[name].variable).join(" and ")}`;
    if (process.env["CI"]) throw new Error(sentence);
    console.warn(`skipped in ${missing.join(" and ")}, ${sentence}`);
  }
  return wanted.filter((name) => !missing.includes(name));
}

/** A browser with a profile of its own, which goes with it. Firefox takes colour scheme and motion at its start alone. */
export class Visitor {
  readonly name: Name;
  /** The folder that downloads go to. */
  readonly downloads: string;
  readonly #browser: Browser;
  readonly #profile: string;
  readonly #look: Look;

  private constructor(name: Name, browser: Browser, profile: string, look: Look) {
    this.name = name;
    this.#browser = browser;
    this.#profile = profile;
    this.#look = look;
    this.downloads = join(profile, "downloads");
  }

  static async start(name: Name, look: Look = {}): Promise<Visitor> {
    const profile = mkdtempSync(join(tmpdir(), `chunkproof-${name}-`));
    const downloads = join(profile, "downloads");
    mkdirSync(downloads);
    const browser = await launch({
      browser: name === "firefox" ? "firefox" : "chrome",
      executablePath: program(name)!,
      headless: true,
      userDataDir: profile,
      args: name === "chromium" ? CHROMIUM : [],
      extraPrefsFirefox: {
        "layout.css.prefers-color-scheme.content-override": look.scheme === "dark" ? 0 : 1,
        "ui.prefersReducedMotion": look.still ? 1 : 0,
        "browser.cache.disk.enable": false,
        "browser.download.folderList": 2,
        "browser.download.dir": downloads,
      },
    });
    if (name === "chromium") await (await browser.target().createCDPSession()).send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
    return new Visitor(name, browser, profile, look);
  }

  /** Opens an address and waits until the report has drawn all its parts. */
  async open(address: string, look: Look = {}): Promise<Visit> {
    const page = await this.#browser.newPage();
    const visit = new Visit(page, address);
    const { width = 1280, height = 900, scheme = "light", still = false } = { ...this.#look, ...look };
    await page.setViewport({ width, height });
    if (this.name === "chromium") {
      await page.emulateMediaFeatures([
        { name: "prefers-color-scheme", value: scheme },
        { name: "prefers-reduced-motion", value: still ? "reduce" : "no-preference" },
      ]);
    }
    await visit.go();
    return visit;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** One visit to a report: the page, every request that it made, everything that it complained of. */
export class Visit {
  readonly page: Page;
  readonly address: string;
  readonly requests: string[] = [];
  readonly complaints: string[] = [];

  constructor(page: Page, address: string) {
    this.page = page;
    this.address = address;
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("requestfailed", (request) => this.complaints.push(`failed: ${request.url()} ${request.failure()?.errorText ?? ""}`));
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type())) this.complaints.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (fault) => this.complaints.push(`page: ${fault instanceof Error ? fault.message : String(fault)}`));
  }

  async go(): Promise<void> {
    await this.page.goto(this.address, { waitUntil: "load" });
    await this.page.waitForFunction(() => document.documentElement.dataset["ready"] === "true", { timeout: 20_000 });
  }

  /** What was asked for that lies outside of the report's own folder. */
  get elsewhere(): string[] {
    const folder = new URL(".", this.address).href;
    return this.requests.filter((url) => !url.startsWith(folder) && !/^(data|blob|about):/.test(url));
  }

  /** The files of the report that were asked for: names below its folder. */
  get files(): string[] {
    const folder = new URL(".", this.address).href;
    return [...new Set(this.requests.filter((url) => url.startsWith(folder)).map((url) => url.slice(folder.length).replace(/[?#].*/, "")))];
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}

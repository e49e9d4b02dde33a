// test-browser/browsers.ts
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { launch } from "puppeteer-core";
var PROGRAMS = {
  chromium: { variable: "CHUNKPROOF_CHROMIUM", names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] },
  firefox: { variable: "CHUNKPROOF_FIREFOX", names: ["firefox-esr", "firefox"] }
};
var CHROMIUM = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb"];
function program(name) {
  const { variable, names } = PROGRAMS[name];
  const given = process.env[variable];
  if (given) return given;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return names.flatMap((each) => folders.map((folder2) => join(folder2, each))).find((path) => existsSync(path));
}
var Visitor = class _Visitor {
  name;
  #browser;
  #profile;
  #look;
  constructor(name, browser, profile, look) {
    this.name = name;
    this.#browser = browser;
    this.#profile = profile;
    this.#look = look;
  }
  static async start(name, look = {}) {
    const profile = mkdtempSync(join(tmpdir(), `chunkproof-${name}-`));
    const browser = await launch({
      browser: name === "firefox" ? "firefox" : "chrome",
      executablePath: program(name),
      headless: true,
      userDataDir: profile,
      args: name === "chromium" ? CHROMIUM : [],
      extraPrefsFirefox: {
        "layout.css.prefers-color-scheme.content-override": look.scheme === "dark" ? 0 : 1,
        "ui.prefersReducedMotion": look.still ? 1 : 0,
        "browser.cache.disk.enable": false
      }
    });
    return new _Visitor(name, browser, profile, look);
  }
  /** Opens an address and waits until the report has drawn all its parts. */
  async open(address, look = {}) {
    const page = await this.#browser.newPage();
    const visit = new Visit(page, address);
    const { width = 1280, height = 900, scheme = "light", still = false } = { ...this.#look, ...look };
    await page.setViewport({ width, height });
    if (this.name === "chromium") {
      await page.emulateMediaFeatures([
        { name: "prefers-color-scheme", value: scheme },
        { name: "prefers-reduced-motion", value: still ? "reduce" : "no-preference" }
      ]);
    }
    await visit.go();
    return visit;
  }
  async close() {
    await this.#browser.close();
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
};
var Visit = class {
  page;
  address;
  requests = [];
  complaints = [];
  constructor(page, address) {
    this.page = page;
    this.address = address;
    page.on("request", (request) => this.requests.push(request.url()));
    page.on("requestfailed", (request) => this.complaints.push(`failed: ${request.url()} ${request.failure()?.errorText ?? ""}`));
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type())) this.complaints.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (fault) => this.complaints.push(`page: ${fault instanceof Error ? fault.message : String(fault)}`));
  }
  async go() {
    await this.page.goto(this.address, { waitUntil: "load" });
    await this.page.waitForFunction(() => document.documentElement.dataset["ready"] === "true", { timeout: 2e4 });
  }
  /** What was asked for that lies outside of the report's own folder. */
  get elsewhere() {
    const folder2 = new URL(".", this.address).href;
    return this.requests.filter((url) => !url.startsWith(folder2) && !/^(data|blob|about):/.test(url));
  }
  /** The files of the report that were asked for: names below its folder. */
  get files() {
    const folder2 = new URL(".", this.address).href;
    return [...new Set(this.requests.filter((url) => url.startsWith(folder2)).map((url) => url.slice(folder2.length).replace(/[?#].*/, "")))];
  }
  async close() {
    await this.page.close();
  }
};

// test-browser/serve.ts
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join as join2, normalize } from "node:path";
var TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8" };
async function serve(folder2) {
  const server = createServer((request, response) => {
    const name = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const path = join2(folder2, name.endsWith("/") ? `${name}index.html` : name);
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "cache-control": "no-store" });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  return {
    address: `http://127.0.0.1:${port}/`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    })
  };
}

// test-browser/smoke.mts
var folder = process.argv[2];
var s = await serve(folder);
for (const name of ["chromium", "firefox"]) {
  let t = Date.now();
  const v = await Visitor.start(name, { scheme: "dark", still: true });
  console.log(name, program(name), "launch", Date.now() - t);
  for (const a of [`file://${folder}/index.html`, s.address]) {
    t = Date.now();
    try {
      const visit = await v.open(a);
      console.log(a, Date.now() - t, visit.requests, visit.complaints, visit.files, visit.elsewhere, await visit.page.evaluate(() => [matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("(prefers-reduced-motion: reduce)").matches, navigator.userAgent, innerWidth]));
      await visit.close();
    } catch (e) {
      console.log(e);
    }
  }
  await v.close();
}
await s.close();

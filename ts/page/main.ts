/** The report's page: tells what it is about, then mounts each view whose data is there, the first at once and the others after it is seen. */
import { h, site as held, type Mount, type Site } from "./site.ts";
import { mount as budget } from "./budget.ts";
import { mount as check } from "./check.ts";
import { mount as own } from "./own.ts";
import { mount as tracks } from "./tracks.ts";
import { mount as table } from "./table.ts";

/** The views, by the id of their section in index.html. */
const VIEWS: [id: string, mount: Mount][] = [["tracks", tracks], ["table", table], ["check", check], ["own", own], ["budget", budget]];

/** Mounts a view; one that fails says so in its place and leaves the others alone. */
function show(id: string, mount: Mount, site: Site): void {
  const section = document.getElementById(id)!;
  const root = section.querySelector<HTMLElement>(".view")!;
  try {
    mount(root, site);
  } catch (fault) {
    console.error(fault);
    root.append(h("p", { class: "notice" }, `This part could not be drawn: ${fault instanceof Error ? fault.message : String(fault)}`));
  }
  section.hidden = root.hidden;
}

/** The views in the order of the page: where no text is cut, what the page is about is the experiment. */
function ordered(site: Site): typeof VIEWS {
  if (site.configs.length || !site.budget) return VIEWS;
  document.querySelector("main > section")!.before(document.getElementById("budget")!);
  return VIEWS.toSorted(([a], [b]) => Number(b === "budget") - Number(a === "budget"));
}

/** The list of parts at the top, of those that are shown. */
function parts(): void {
  document.getElementById("parts")!.replaceChildren(
    ...[...document.querySelectorAll<HTMLElement>("main > section")]
      .filter((section) => !section.hidden)
      .map((section) => h("li", {}, h("a", { href: `#${section.id}` }, section.querySelector("h2")!.textContent))),
  );
}

const NUMBERS = ["no", "one", "two", "three"];

/** What this page shows, in a sentence. */
function shown(site: Site, ways: number): string {
  const parts = [
    ways > 0 && `where ${NUMBERS[ways]} ${ways > 1 ? "ways" : "way"} of cutting ${ways > 1 ? "fall" : "falls"}`,
    site.table && "what the search then finds",
    site.budget && "which way of cutting puts the evidence for an answer before a model",
  ].filter(Boolean);
  return parts.length ? `This page shows ${parts.join(", ")}, and lets you check every figure in your own browser.` : "This page lets you check every reply in your own browser.";
}

/** Title, what is at hand, and the digest that everything rests on. */
function introduce(site: Site): void {
  document.title = `${site.fixture} · chunkproof report`;
  const ways = new Set(site.configs.filter(({ name }) => site.chunks[name]).map(({ kind }) => kind)).size;
  document.getElementById("shown")!.textContent = shown(site, ways);
  document.getElementById("tracks-title")!.textContent = `One text, cut ${ways > 1 ? `${NUMBERS[ways]} ways` : "one way"}`;
  const parity = site.table?.parity;
  const counts = [
    site.documents.length > 0 && `${site.documents.length} documents`,
    site.questions.length > 0 && `${site.questions.length} questions`,
    site.configs.length > 0 && `${site.configs.length} ways of cutting`,
  ].filter(Boolean);
  document.getElementById("facts")!.append(
    h("span", { class: "fixture" }, site.fixture), " ", [site.title, ...counts].join(" · "),
    parity ? h("span", { class: parity.held ? "held" : "not-held" }, parity.held ? "✓ two engines agree, bit for bit" : "✗ not covered by parity") : "",
  );
  document.getElementById("colophon")!.append(
    `Made by chunkproof ${site.version}, spec ${site.spec}.`, parity ? " Digest " : "", parity ? h("code", { class: "digest" }, parity.digest) : "",
  );
}

function start(): void {
  for (const section of document.querySelectorAll<HTMLElement>("main > section")) section.hidden = true;
  let site: Site;
  try {
    site = held();
  } catch (fault) {
    document.getElementById("main")!.append(h("p", { class: "notice" }, (fault as Error).message));
    return;
  }
  introduce(site);
  const [first, ...others] = ordered(site);
  show(...first!, site);
  parts();
  // Two frames on, the first view has been painted.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    for (const view of others) show(...view, site);
    parts();
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    document.documentElement.dataset["ready"] = "true";
  }));
}

start();

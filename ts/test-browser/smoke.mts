import { Visitor, program } from "./browsers.ts";
import { serve } from "./serve.ts";
const folder = process.argv[2]!;
const s = await serve(folder);
for (const name of ["chromium", "firefox"] as const) {
  let t = Date.now();
  const v = await Visitor.start(name, {scheme:"dark", still:true});
  console.log(name, program(name), "launch", Date.now() - t);
  for (const a of [`file://${folder}/index.html`, s.address]) {
    t = Date.now();
    try { const visit = await v.open(a);
    console.log(a, Date.now() - t, visit.requests, visit.complaints, visit.files, visit.elsewhere, await visit.page.evaluate(() => [matchMedia("(prefers-color-scheme: dark)").matches, matchMedia("(prefers-reduced-motion: reduce)").matches, navigator.userAgent, innerWidth]));
    await visit.close(); } catch (e) { console.log(e); }
  }
  await v.close();
}
await s.close();

import { readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { answer } from "../src/engine.ts";
import { readArrow } from "../src/files.ts";
import { canonical } from "../src/records.ts";
import { context } from "./help.ts";

/** The spec's executable examples: a heading, a request and the reply that it must get. */
const folder = new URL("../../spec/", import.meta.url);
const examples = readdirSync(folder).filter((name) => name.endsWith(".md")).flatMap((name) =>
  readFileSync(new URL(name, folder), "utf8").split(/^### /m).slice(1).flatMap((section) => {
    const block = (kind: string): string | undefined => new RegExp(`^\`\`\`json ${kind}\\n([^]*?)^\`\`\`$`, "m").exec(section)?.[1];
    const [request, reply] = [block("request"), block("reply")];
    return request === undefined || reply === undefined ? [] : [{ slug: section.split("\n")[0]!, request, reply }];
  }),
);

/** A value with its recipes for long texts carried out. */
function expand(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(expand);
  if (typeof value !== "object" || value === null) return value;
  const { repeat, times, join } = value as Record<string, unknown>;
  const keys = Object.keys(value).sort().join();
  if (keys === "repeat,times") return (expand(repeat) as string).repeat(times as number);
  if (keys === "join") return (expand(join) as string[]).join("");
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expand(inner)]));
}

test.skipIf(examples.length === 0).each(examples)("$slug", ({ request, reply }) => {
  const given = expand(JSON.parse(request)) as object;
  const found = answer(JSON.stringify({ id: "1", ...given }), { ...context, arrow: (vectors) => readArrow(vectors, tmpdir()) });
  const plain = "ok" in found ? JSON.parse(JSON.stringify(found.ok)) : { error: found.error.code };
  expect(canonical(plain)).toBe(canonical(expand(JSON.parse(reply))));
});

/** A fixture whose every text tries to be something else: markup, a script, a command for the direction of writing. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What would run if a text were read as HTML: each sets this global, or asks for this file. */
export const MARK = "interpreted";
const SCRIPT = `<script>window.${MARK} = "script"</script>`;
const IMAGE = `<img src="stolen.png" onerror="window.${MARK} = 'image'">`;
const CLOSING = `</script></style></textarea></title><svg onload="window.${MARK} = 'svg'">`;
/** Right-to-left override, its end, an isolate, line and paragraph separators, and what a template would fill in. */
const DIRECTION = "The invoice is named \u202Efdp.exe\u202C and \u2066never\u2069 opened.\u2028 It \u2029 stays shut.";
export const TEXT = [`The first rule is ${SCRIPT} and it is short.`, `A picture ${IMAGE} is worth a thousand words. It hangs in the hall.`, `${CLOSING} The third rule closes what was open. <!-- It hides nothing. --> \${1 + 1} {{ 2 * 2 }}`, DIRECTION].join("\n\n");

/** Writes the fixture into a folder; the folder. */
export function hostile(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const sha256 = createHash("sha256").update(TEXT).digest("hex");
  const question = (id: string, text: string, answer: string): string => {
    const start = Array.from(TEXT.slice(0, TEXT.indexOf(answer))).length;
    return JSON.stringify({ id, document: "rules", question: text, answer, start, end: start + Array.from(answer).length });
  };
  writeFileSync(join(folder, "rules.txt"), TEXT);
  writeFileSync(join(folder, "questions.jsonl"), `${[
    question("script", `What is the first rule, ${SCRIPT}?`, SCRIPT),
    question("image", `What does ${IMAGE} show?`, IMAGE),
    question("direction", "Which file does \u202Eelif eht\u202C name?", "fdp.exe"),
  ].join("\n")}\n`);
  writeFileSync(join(folder, "fixture.toml"), `name = "hostile"
kind = "corpus"
title = ${JSON.stringify(`${IMAGE} and other titles`)}
licence = "CC0-1.0"
spec = "1"
paragraphs = "blank_line"
embedded = false

[[document]]
id = "rules"
file = "rules.txt"
sha256 = "${sha256}"

[questions]
file = "questions.jsonl"

[[config]]
name = "fixed-16"
kind = "fixed"
size = 16
overlap = 0

[[config]]
name = "recursive-32"
kind = "recursive"
size = 32

[[method]]
name = "bm25"
kind = "bm25"
`);
  return folder;
}

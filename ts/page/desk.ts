/** What the worker answers: the check's items and a reader's own text, with the tokenizer that the page hands over as a text. */
import type { Context } from "../src/engine.ts";
import { answer } from "../src/engine.ts";
import type { Tokenizer } from "../src/tokenizer.ts";
import { TOKENIZER_SHA256, tokenizerFrom, wrongFile } from "../src/tokenizer.ts";
import { VERSION } from "../src/version.ts";
import { Asking, hashOf } from "./asking.ts";
import { Own } from "./cutting.ts";
import type { Call, Calls } from "./protocol.ts";

export class Desk {
  #tokenizer: Tokenizer | undefined;
  #runtime = "a browser";
  #asking: Asking | undefined;
  readonly #own = new Own(() => this.#context());

  #context(): Context {
    return {
      version: VERSION,
      runtime: this.#runtime,
      tokenizer: () => {
        if (!this.#tokenizer) throw new Error("the tokenizer has not been given yet");
        return this.#tokenizer;
      },
    };
  }

  answer(call: Call): Calls[keyof Calls]["answer"] {
    switch (call.call) {
      case "tokenizer": return this.#take(call.text);
      case "info": return this.#info(call.runtime);
      case "ground":
        this.#asking = new Asking(call.ground, () => this.#context());
        return null;
      case "digest": {
        const begun = performance.now();
        return { digest: this.#ask().digest(call.item), took: performance.now() - begun };
      }
      case "value": return this.#ask().value(call.item);
      case "cut": return this.#own.cut(call.text, call.chunker, call.from, call.count);
      case "reply": return this.#own.reply(call.chunker);
    }
  }

  #ask(): Asking {
    if (!this.#asking) throw new Error("nothing was said of what the requests stand on");
    return this.#asking;
  }

  #take(text: string): null {
    const found = hashOf(text);
    if (found !== TOKENIZER_SHA256) throw new Error(`data/tokenizer.js is not what it should be: ${wrongFile(found)}`);
    this.#tokenizer ??= tokenizerFrom(new TextEncoder().encode(text));
    return null;
  }

  #info(runtime: string): Calls["info"]["answer"] {
    this.#runtime = runtime;
    const reply = answer({ id: "info", op: "info" }, this.#context());
    if (!("ok" in reply)) throw new Error(reply.error.message);
    return JSON.parse(JSON.stringify(reply.ok));
  }
}

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { List, Refusal, base64, blocks, canonical, decode, digest, hex, read, unhex } from "../src/records.ts";

function refused(line: string): Refusal {
  try {
    read(line);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`${line} was read`);
}

describe("reading (rule 1)", () => {
  test("reads whatever JSON.stringify writes", () => {
    fc.assert(fc.property(fc.json({ depthSize: "large" }), (line) => void expect(read(line)).toEqual(JSON.parse(line, (_, value) => (Object.is(value, -0) ? 0 : value)))));
  });
  test("refuses exactly what JSON.parse refuses, but for its own rules", () => {
    const scrap = fc.array(fc.constantFrom("{", "}", "[", "]", ",", ":", '"a"', '"\\u00e9"', '"', "1", "-", "0", ".5", "e3", "1.5e+2", "01", "true", "null", " ", "\t", "\\", "x", "NaN", "\u00a0"), { maxLength: 8 });
    fc.assert(fc.property(scrap, (parts) => {
      const line = parts.join("");
      let wanted: unknown;
      let finite = true;
      try {
        wanted = JSON.parse(line, (_, value) => {
          if (Math.abs(value as number) === Infinity) finite = false;
          return Object.is(value, -0) ? 0 : value;
        });
      } catch {
        refused(line);
        return;
      }
      if (finite && !/"a".*:.*"a".*:/.test(line)) expect(read(line)).toEqual(wanted);
    }), { numRuns: 5000 });
  });
  test.each([
    ["", "nothing"], ["\ufeff{}", "a byte order mark"], ["{'a':1}", "single quotes"], ["[1,]", "a trailing comma"], ["[NaN]", "NaN"],
    ["[-Infinity]", "Infinity"], ["[1] 2", "two values"], ["[\"\t\"]", "a control character"], ["[01]", "a leading zero"], ["[1.]", "no decimals"],
    ["// x\n1", "a comment"], ["[+1]", "a plus sign"], ["[\"\\x\"]", "an unknown escape"], ["[\"\\u12g4\"]", "a bad escape"],
  ])("refuses %j: %s", (line) => expect(refused(line).code).toBe("bad_request"));
  test("refuses a number beyond binary64, and takes one below it for 0", () => {
    expect(refused("[1e400]").code).toBe("bad_request");
    expect(refused("1".repeat(400)).code).toBe("bad_request");
    expect(Object.is((read("[-1e-400]") as number[])[0], 0)).toBe(true);
    expect(read("[1.7976931348623157e308, 5e0, 5.0, 9007199254740993]")).toEqual([1.7976931348623157e308, 5, 5, 9007199254740992]);
  });
  test("refuses a key that stands twice, however it is written", () => {
    expect(refused('{"id":"x","a":1,"a":1}').id).toBe("x");
    expect(refused('{"id":"x","a":[{"b":1,"\\u0062":2}]}').id).toBe("x");
    expect(refused('{"id":"x","id":"y"}').id).toBeNull();
    expect(refused('{"__proto__":1,"__proto__":2}').code).toBe("bad_request");
    expect(Object.keys(read('{"__proto__":{"a":1}}') as object)).toEqual(["__proto__"]);
  });
  test("refuses the 65th level, and reads the id beside it", () => {
    const nested = (levels: number): string => `{"id":"x","a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(read(nested(64))).toHaveProperty("id", "x");
    expect(refused(nested(65)).id).toBe("x");
    expect(refused(`{"id":"x","a":${"[".repeat(64)}7,{"b":[]},"]"${"]".repeat(64)}}`).id).toBe("x");
    expect(refused("[".repeat(5_000_000)).id).toBeNull();
    expect(refused(`{"id":"x","a":${"[".repeat(100)}}`).id).toBeNull(); // not JSON at all
  });
  test("keeps a lone surrogate for later, joins a pair", () => {
    expect(read('"\\ud83d\\ude00"')).toBe("😀");
    expect(read('"\\ud83d"')).toBe("\ud83d");
  });
  test("refuses bytes that are not UTF-8, and keeps a byte order mark", () => {
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) expect(() => decode(Uint8Array.from(bytes))).toThrow(Refusal);
    expect(decode(Uint8Array.from([0xef, 0xbb, 0xbf, 0x31]))).toBe("\ufeff1");
  });
  test("reads a long line within seconds", () => {
    const start = performance.now();
    read(JSON.stringify({ text: "x\n".repeat(8_000_000) }));
    read(`[${'{"document":0,"start":12,"end":3456},'.repeat(300_000)}0]`);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

describe("writing (rules 2 and 3)", () => {
  test.each([[1e-7, "1e-7"], [1e20, "100000000000000000000"], [1e21, "1e+21"], [-0, "0"], [1.0, "1"], [0.000001, "0.000001"], [5e-324, "5e-324"], [123456789.12345679, "123456789.12345679"]])(
    "writes %f as %s", (value, text) => expect(canonical(value)).toBe(text));
  test("sorts keys by UTF-16 units", () => expect(canonical({ b: 2, a: 1, "\u{10000}": 3, "\ue000": 4 })).toBe('{"a":1,"b":2,"\u{10000}":3,"\ue000":4}'));
  test("refuses what JSON has not", () => {
    expect(() => canonical(NaN)).toThrow();
    expect(() => canonical(["\\\ud800"])).toThrow();
    expect(canonical("\\ud800\u{1f600}")).toBe('"\\\\ud800\u{1f600}"');
  });
  test("digests the canonical bytes", async () => expect(await digest({})).toBe("44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"));
  test("writes in blocks what JSON.stringify writes at once", () => {
    const value = { id: "1", ok: { a: new List(5000, (i) => ({ start: i, end: i + 1 })), b: [new List(0, String), new List(3, (i) => [i])], c: Array.from({ length: 5000 }, (_, i) => i), d: null, e: {}, f: [] } };
    expect([...blocks(value)].join("")).toBe(JSON.stringify(value));
  });
});

describe("values", () => {
  test("doubles travel as hexadecimal", () => {
    expect(hex(Math.SQRT1_2)).toBe("3fe6a09e667f3bcd");
    expect(hex(-0)).toBe("0000000000000000");
    expect(unhex("3FE6A09E667F3BCD")).toBe(Math.SQRT1_2);
    for (const digits of ["", "7ff0000000000000", "7ff8000000000000", "3fe6a09e667f3bc", "3fe6a09e667f3bcg", "0x3fe6a09e667f3b"]) expect(unhex(digits)).toBeUndefined();
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => void expect(unhex(hex(value))).toBe(value === 0 ? 0 : value)));
  });
  test("base64 is strict", () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void expect(base64(Buffer.from(bytes).toString("base64"))).toEqual(new Int8Array(bytes))));
    for (const text of ["A", "AA", "AAA", "AA=A", "AB==", "AAB=", "A===", "====", "AAA\n", "AA-_", "AAAA AAA", "ÄAAA"]) expect(base64(text)).toBeUndefined();
    expect(base64("")).toEqual(new Int8Array(0));
  });
});

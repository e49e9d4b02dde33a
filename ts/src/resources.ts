/**
 * resources: the data that the spec pins beside its text, as one byte of classes for each code point (spec 04, rules 2, 3, 5;
 * spec 10, rule 2), so that no answer depends on the runtime's own Unicode version.
 */
import file from "../../spec/unicode-18.0.json";

type Ranges = readonly (readonly [number, number])[];

interface Tables {
  readonly unicode: string;
  readonly letter: Ranges;
  readonly number: Ranges;
  readonly upper: Ranges;
  readonly cased: Ranges;
  readonly case_ignorable: Ranges;
  readonly lower: readonly (readonly number[])[];
  readonly nfc_assigned: Ranges;
  readonly nfc_joining: Ranges;
}

const tables = file as Tables;

/** The version of the tables. */
export const UNICODE: string = tables.unicode;

export const LETTER = 1;
export const NUMBER = 2;
export const UPPER = 4;
export const WHITE = 8;
export const CASED = 16;
export const IGNORABLE = 32;
export const KNOWN = 64;
export const JOINING = 128;

const WHITES: Ranges = [
  [0x09, 0x0d], [0x20, 0x20], [0x85, 0x85], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029],
  [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000],
];

/** The classes of each code point, a sum of the bits above. */
export const CLASSES: Uint8Array = new Uint8Array(0x110000);
for (const [bit, ranges] of [
  [LETTER, tables.letter], [NUMBER, tables.number], [UPPER, tables.upper], [WHITE, WHITES], [CASED, tables.cased],
  [IGNORABLE, tables.case_ignorable], [KNOWN, tables.nfc_assigned], [JOINING, tables.nfc_joining],
] as const)
  for (const [first, last] of ranges) for (let point = first; point <= last; point++) CLASSES[point]! |= bit;

/** Unicode's full default lower-case mapping, for the letters and numbers that it changes. */
export const LOWER: ReadonlyMap<number, string> = new Map(
  tables.lower.map(([point, ...to]) => [point!, String.fromCodePoint(...to)]),
);

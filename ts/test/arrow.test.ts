import { inflateSync } from "node:zlib";
import { Bool, DataType, Decimal, DenseUnion, Dictionary, Field, FixedSizeList, Int32, Int8, List, Map_, Null, RecordBatch, Schema, SparseUnion, Struct, Table, Utf8, Vector, makeData, tableToIPC, vectorFromArray } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { columnOf } from "../src/arrow.ts";

const item = (metadata?: Map<string, string>, type: DataType = new Int8()) => new Field("item", type, true, metadata);
const vectorsType = (dim = 2, inner: Field = item()) => new FixedSizeList(dim, inner);
const cells = Int8Array.of(127, 0, 127, 30, 0, 127, 1, 127);
/** Four vectors in memory of their own: the writer takes two columns that share some for one. */
const vectors = (type: FixedSizeList = vectorsType()) => makeData({ type, length: 4, nullCount: 0, child: makeData({ type: type.children[0]!.type as Int8, data: cells.slice() }) });

/** A file of one batch: fields, and the data of each. */
function file(...columns: [Field, unknown][]): Uint8Array {
  const schema = new Schema(columns.map(([field]) => field));
  const data = makeData({ type: new Struct(schema.fields), length: 4, nullCount: 0, children: columns.map(([, data]) => data) as never });
  return tableToIPC(new Table([new RecordBatch(schema, data)]), "file");
}
const v = (metadata?: Map<string, string>, type = vectorsType()): [Field, unknown] => [new Field("v", type, true, metadata), vectors(type)];
const column = (name: string, data: { type: DataType }): [Field, unknown] => [new Field(name, data.type, true), data];
const dataOf = (values: unknown[], type?: DataType) => (type === undefined ? vectorFromArray(values) : vectorFromArray(values as never[], type)).data[0]!;

const found = { dim: 2, parts: [cells] };

describe("a column", () => {
  test("is found by its name, which stands once", () => {
    expect(columnOf(file(v()), "v")).toEqual(found);
    expect(() => columnOf(file(v()), "w")).toThrow('no column "w"');
    expect(() => columnOf(file(v(), v()), "v")).toThrow('2 columns "v"');
    expect(() => columnOf(file(v(), column("v", dataOf([1, 2, 3, 4]))), "v")).toThrow('2 columns "v"');
    expect(() => columnOf(file(column("v", dataOf([1, 2, 3, 4])), v()), "v")).toThrow('2 columns "v"');
    const other = () => column("x", dataOf([1, 2, 3, 4]));
    expect(columnOf(file(other(), other(), v()), "v")).toEqual(found);
  });
  test("is no other for a byte order mark, nor for a field inside another", () => {
    expect(() => columnOf(file([new Field("\ufeffv", vectorsType(), true), vectors()]), "v")).toThrow("no column");
    expect(columnOf(file(column("\ufeffv", dataOf([1, 2, 3, 4])), v()), "v")).toEqual(found);
    expect(columnOf(file(column("s", dataOf([{ v: 1 }, { v: 2 }, { v: 3 }, { v: 4 }])), v()), "v")).toEqual(found);
  });
  test("is FixedSizeList<int8> itself, no extension type", () => {
    const extension = new Map([["ARROW:extension:name", "arrow.fixed_shape_tensor"], ["ARROW:extension:metadata", '{"shape":[2]}']]);
    expect(() => columnOf(file(v(extension)), "v")).toThrow("not of FixedSizeList<int8>");
    expect(() => columnOf(file(v(undefined, vectorsType(2, item(extension)))), "v")).toThrow("not of FixedSizeList<int8>");
    expect(columnOf(file(v(new Map([["note", "ARROW:extension:name"]]))), "v")).toEqual(found);
    expect(columnOf(file([new Field("other", vectorsType(), true, extension), vectors()], v()), "v")).toEqual(found);
    const codes = new Dictionary(new Int8(), new Int8(), 7);
    const coded = makeData({ type: codes, length: 4, nullCount: 0, data: Int8Array.of(0, 0, 0, 0), dictionary: vectorFromArray([1], new Int8()) });
    expect(() => columnOf(file(column("v", coded)), "v")).toThrow("not of FixedSizeList<int8>");
    for (const data of [dataOf([1, 2, 3, 4], new Int8()), dataOf([[1], [1], [1], [1]], new List(item()))]) expect(() => columnOf(file(column("v", data)), "v")).toThrow("not of FixedSizeList<int8>");
  });
  test("has no nulls, in whichever batch", () => {
    const inner = makeData({ type: new Int8(), data: cells.slice() });
    const batch = (data: unknown) => new RecordBatch(new Schema([v()[0]]), makeData({ type: new Struct([v()[0]]), length: 4, nullCount: 0, children: [data] as never }));
    const holed = makeData({ type: vectorsType(), length: 4, nullCount: 1, nullBitmap: Uint8Array.of(0b1101), child: inner });
    const broken = makeData({ type: vectorsType(), length: 4, nullCount: 0, child: makeData({ type: new Int8(), length: 8, nullCount: 1, nullBitmap: Uint8Array.of(0b1111_1110), data: cells.slice() }) });
    expect(columnOf(tableToIPC(new Table([batch(vectors()), batch(vectors())]), "file"), "v")).toEqual({ dim: 2, parts: [cells, cells] });
    for (const data of [holed, broken]) expect(() => columnOf(tableToIPC(new Table([batch(vectors()), batch(data)]), "file"), "v")).toThrow("holds nulls");
  });
});

/** The bytes of a small file that apache-arrow for JavaScript cannot write. */
const packed = (base64: string): Uint8Array => inflateSync(Buffer.from(base64, "base64"));

describe("other columns may have any type", () => {
  const rows = [1, 2, 3, 4];
  const int = new Field("i", new Int32(), true);
  const word = new Field("w", new Utf8(), true);
  const types = Int8Array.of(0, 1, 0, 1);
  const ints = dataOf(rows, new Int32());
  const words = dataOf(["a", "b", "c", "d"], new Utf8());
  const entries = new Field("entries", new Struct([new Field("key", new Utf8(), false), new Field("value", new Int32(), true)]), false);
  const others: [string, { type: DataType }][] = [
    ["null", makeData({ type: new Null(), length: 4 })],
    ["bool", dataOf([true, false, null, true], new Bool())],
    ["utf8", words],
    ["decimal", makeData({ type: new Decimal(2, 10), length: 4, nullCount: 0, data: new Uint32Array(16) })],
    ["dictionary", dataOf(["a", "b", "a", null], new Dictionary(new Utf8(), new Int32(), 1))],
    ["list", dataOf([["a"], [], ["b", null], null], new List(word))],
    ["struct", dataOf(rows.map((i) => ({ i, w: [`${i}`] })), new Struct([int, new Field("w", new List(word), true)] as Field[]))],
    ["map", dataOf(rows.map((i) => new Map([["a", i]])), new Map_(entries as never))],
    ["dense union", makeData({ type: new DenseUnion([0, 1], [int, word]), length: 4, nullCount: 0, typeIds: types, valueOffsets: Int32Array.of(0, 0, 1, 1), children: [ints, words] as never })],
    ["sparse union", makeData({ type: new SparseUnion([0, 1], [int, word]), length: 4, nullCount: 0, typeIds: types, children: [ints, words] as never })],
  ];
  test.each(others)("%s", (name, data) => {
    expect(columnOf(file(column(name, data), v()), "v")).toEqual(found);
    expect(columnOf(file(v(), column(name, data)), "v")).toEqual(found);
  });
  test("all of them at once", () => expect(columnOf(file(...others.map(([name, data]) => column(name, data)), v()), "v")).toEqual(found));
  test("those that the JavaScript library lacks: large lists, views, run ends, intervals of nanoseconds", () => expect(columnOf(packed(EVERY), "v")).toEqual(found));
  test("unions with a bitmap, as version 4 of the metadata has them, in the oldest framing", () => expect(columnOf(packed(OLD), "v")).toEqual(found));
});

describe("a file that is refused", () => {
  test("compressed", () => expect(() => columnOf(packed(COMPRESSED), "v")).toThrow("is compressed"));
  test("no file: a stream, nothing, text", () => {
    const stream = tableToIPC(new Table({ v: new Vector([vectors()]) }), "stream");
    for (const bytes of [stream, new Uint8Array(0), Buffer.from("ARROW1ARROW1"), Buffer.from(`ARROW1${" ".repeat(40)}ARROW1`)]) expect(() => columnOf(bytes, "v")).toThrow();
  });
  test("broken anywhere: refused or read, soon", () => {
    const whole = file(column("w", dataOf(["a", "b", "c", "d"], new Utf8())), v());
    const start = performance.now();
    for (let at = 0; at < whole.length; at++) {
      const bytes = whole.slice();
      for (const byte of [0, 0x7f, 0xff]) {
        bytes[at] = byte;
        try {
          const { dim, parts } = columnOf(bytes, "v");
          expect(dim * parts.length).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }
      expect(() => columnOf(whole.subarray(0, at), "v")).toThrow();
    }
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});

const EVERY =
  "eNrtWT1sU1cUPvfZsZ+IgdfIRa8Sqiy1g4cOJgXE0MEMlRgiNWIpqio1dmzUqMZE/gGHJR06MDB4QFXGDB0YPWZg8JixQ1UxdPDA4KEDQwdKHb+ec3/y7jt5z3EQSJXqi67vO+989/zfnzxu3r791ddXAAJshSxAHkw7BznIwBK4+IRNpCGNQ/FNENC4gv0wA9DBfgv7aAngKfaXyFzH3k8BHDgAV7ED9t8EwD72DvYxvnqOvYadZPX/DgJU4JFuX79DmLSFxgfYH02DgEQ9V1jHs7Cgx61O/R49f/uGMCBc/PlT4T8iWZeZbDQXGg+26g9xHCHOl/OEP0u2i5hyAo7ktbW8EmK+V7hLvqWbfPgCO83FEEGrXpf2PlXYJS4zQ/5XGt16G+An0n0kfZP+X7Zw5Gur2/yu3qy1id74R8WggD+vlOxMnF/V+/cb9DxCjC/niItcNtl5t12V1rj4NqP9uKXwK56Op42vdVvweyBtgG2FW46Te6/W1HIzUi5J3lf48ySzYOXMl1WJMe60upud2tZmB2APsX9NVOwIX2Y6hK4zFy0k210dewFhezIJYzVGeQUl77xv6Sd/+9rPzLENaBNi1xU+x+vX6KHIlRHTm4R+8Vq0a6yBuF8mYT3kmT+bZAvyDyfhWuCYCvmtakVQTHSMPoizUeahsg0vEbOvcnbC9ztaB24RUG92WltYkHmUv3YUvx6XTN3SGjwK4+vJPJCcnKQ8DY+roR/qO9DDuQOl4wK3aQ37pyYf25VWG5UdTtX+5FixeHWUHEvc+uAP5OenybEsYR9Mw1iWp6E9RRajkva9Vm+SOehrTla3q6Vx255MZ9vWQ/7gFNvWgtA2D7NAa4niS7FW8VVr44YVP7P+1SoCbWFa/+JeHYQ5m6D+q5IWHybuo42tNgkqIm4jCO0tJO2jaJ+LVrraFbJ9T83Lx9VSo9u5S/Y/RsxQ4bKezr+9V9bqm6vXrqvzy5P+5OSesWriLkwNZlgNCsH3Jxqb3UZDPavzj87JZxCekzl8UqdkTkoDJw1mjSk/zx3H1dPnqo/ItOas6feOtR+lILnl9KjXTWSeYHTc+0pVjeTH4Ex+rBzvn35k//zv+PM6Y/tzKepPKi1zOz425gLSnvYohxTWFib4M21L2tLnWP7a58aXM/z6kY1m3mM9FvU4YDE6YPghw4+ZHkP7EJ1o5rsiGl9fhLVNrcD4JRGVX2L8MuMb2uRxXUTzeIfp22DzDV0w8WJ8Q5u87jF5+8zfZww/ZPKSaGP/r8z+FwxvaL1vwYjxk+gCxBS4RRt7fcZPog2+5ETjcYPhDW3MKjvRfK4zvKHLmu4zvqGNPwPGN7SJzwHjHzB7how/ZPMPGd/QJl8vnGhYR0z+mPlT1AvtG7MeU1F8PxWNzz6jB2wzM3TJ6Gf8eWnXevcJO4OA7UfA7gBxdGpO/ClleWL+WWkxp/x3pe9t7XvX8uf176z5AzhZL9R+htntffOXY85o22+H+VWp1mbOSyWMIkFeNkaGJgSXLxLq0r5X9Hai85P0pmPmp6z3vZ1HD7mftg3OKfcakXD/iLuPxOlPtAvbrLjZc96WnjVWqurfRSuu6RlxWLbuQRVsxk6611ex2Xcknu+aRVfmbNUzt5PrQOh4pBJyfYXRq4z+3KJ3Yfdj2BW7gf6m4h3f2V35l15OV+OG9TcpyTh0owtknIruSaVs9B5q7pGvs9H7qHm/+P63+P63+P63+P63+P63+P73f/z+18MFcFP+n9m/aS3oUQ==";
const OLD =
  "eNrtVj1LA0EQnctd4hIPuSJKChELixQWChYWFmdnp4hgq5CAwinBxE+EWFpYWFpY+DPyEywsLPNDLKw83+7OJutwQRFLJ2xmZ+fd2zd7kyXr29ubu8tE3RJRQtqqFFOFyqQwgwUhRXCvH3mufRnjPiB6g3/GOMDQ6wnyACc1zGd5DTCqsz8Dp8JqBXNsRanFlxLGRGRN+8Nu60jPVwyGAoWvtsVPS/4aa8qyw04X/gm4xx9w3zN3iq8Xiw+K8MenWabn78C8WdyUxjQ4r2vZwVjE0LV12vsnnRahVmUQysMRa17LDU85Yf2Rl8OroCbye/moBolZwtjKR/rv8mJdGWP1+TRbx1oW9MTmTShmk9oGnrZ6gbbIfHSv1MBRoQnw6cj2jtU7W6BX76uAVryccj4r2fq0xTTDnRcbVgpDo2FAzqqIY3OqujevA9uzEY1shsabw7EG1mzr9K0u8g2Rbwz1Wltl784xFfhU7L8h8i6eZ38g8i5253Qj+G69sza9LXT2BV9f1Pkq8uNi5a1NinP36x8XR7+MpXd1ht88r4qaIBg+PuQKPM6SyLn44vLr8xIfFmhwz4fe+sXl1bk7P6nD55F+3H496s1RL+i5fo3RJRXzC0q4PyNzNy14d+YNk7TZD/x3/X/P/9/zf3zPP2DjdfM/4xNDhLr4";
const COMPRESSED =
  "eNrNUisOwkAQfW2XbQMrVlQgSCA11OKQcAACwYDEIBA4wgE4ERLJEZDcprydDp80IUEyye6bmc7nzWyny+V8NQIqyhmAR5A2HCxayKhRIkMbtDLeRm+6FW/MpeVz6r2Pb6XikbUyei31WHrktC1Sqeq1ZxQHHGg+FHeH7R7S2/Gk0jsEKwrvCzFX26GrzJ1UR2KEU4m3OHq8zFHHrJV3rv3x6m+EQ4LfpfjQ40a9IJMvtilm3c3k1KHa59KGi0ZcJTuu38eRqRX2vp6RLMc643P3V817Ytmo929veeeZyr/4ADbcKDQ=";

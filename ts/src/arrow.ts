/**
 * arrow (spec 01, Vectors): a column of FixedSizeList<int8> in an Arrow IPC file. Node only, since only there are files.
 *
 * The file's metadata is read as it stands and every other column is stepped over by the number of its buffers, so these may have
 * types that no library at hand can decode.
 */
import { ByteBuffer } from "flatbuffers";
import type { Block } from "apache-arrow/fb/block";
import type { Field } from "apache-arrow/fb/field";
import { FixedSizeList } from "apache-arrow/fb/fixed-size-list";
import { Footer } from "apache-arrow/fb/footer";
import { Int } from "apache-arrow/fb/int";
import { Message } from "apache-arrow/fb/message";
import { MessageHeader } from "apache-arrow/fb/message-header";
import { MetadataVersion } from "apache-arrow/fb/metadata-version";
import { RecordBatch } from "apache-arrow/fb/record-batch";
import { Type } from "apache-arrow/fb/type";
import { Union } from "apache-arrow/fb/union";
import { UnionMode } from "apache-arrow/fb/union-mode";

/** A column's vectors: those of each record batch one after another. */
export interface Column {
  readonly dim: number;
  readonly parts: readonly Int8Array[];
}

/**
 * The column of a name.
 *
 * @throws Error that says what is wrong: no Arrow file, a column that is missing, stands twice, has another type or holds nulls, compression
 */
export function columnOf(file: Uint8Array, name: string): Column {
  const footer = footerOf(file);
  const schema = footer.schema() ?? fail("has no schema");
  const fields = listed(footer, schema.fieldsLength(), (i) => schema.fields(i));
  const wanted = new TextEncoder().encode(name); // compared as bytes: a decoder would drop a byte order mark
  const found = fields.flatMap((field, i) => (Buffer.compare(nameOf(field), wanted) === 0 ? [i] : []));
  if (found.length !== 1) fail(`has ${found.length === 0 ? "no column" : `${found.length} columns`} ${JSON.stringify(name)}`);
  const index = found[0]!;
  const dim = dimOf(fields[index]!);
  if (dim === undefined) fail(`has a column ${JSON.stringify(name)} that is not of FixedSizeList<int8>`);
  const blocks = listed(footer, footer.recordBatchesLength(), (i) => footer.recordBatches(i));
  return { dim, parts: blocks.map((block) => batchPart(file, block, fields.slice(0, index), dim)) };
}

function fail(what: string): never {
  throw new Error(what);
}

const MAGIC = "ARROW1";

/** The footer: it stands before its length, 32 bits, and the magic that ends the file. */
function footerOf(file: Uint8Array): Footer {
  const has = (at: number): boolean => Buffer.from(file.subarray(at, at + MAGIC.length)).toString("latin1") === MAGIC;
  const end = file.length - MAGIC.length - 4;
  if (end < 8 || !has(0) || !has(end + 4)) fail("is no Arrow IPC file");
  const length = int32(file, end);
  if (length < 8 || length > end - 8) fail("has a footer of the wrong length");
  return Footer.getRootAsFooter(new ByteBuffer(file.subarray(end - length, end)));
}

function int32(file: Uint8Array, at: number): number {
  return new DataView(file.buffer, file.byteOffset, file.byteLength).getInt32(at, true);
}

/** The items of a list of the metadata, which cannot be more than the bytes that these take. */
function listed<T>({ bb }: { bb: ByteBuffer | null }, length: number, item: (index: number) => T | null): T[] {
  if (length > bb!.capacity()) fail("has broken metadata");
  return Array.from({ length }, (_, i) => item(i) ?? fail("has broken metadata"));
}

function childrenOf(field: Field): Field[] {
  return listed(field, field.childrenLength(), (i) => field.children(i));
}

function nameOf(field: Field): Uint8Array {
  return (field.name(1) as Uint8Array | null) ?? new Uint8Array(0); // 1: not decoded
}

/** The dimension of a field of FixedSizeList<int8> itself, else undefined. */
function dimOf(field: Field): number | undefined {
  const [item, ...more] = childrenOf(field);
  if (item === undefined || more.length > 0 || !isPlain(field, Type.FixedSizeList) || !isPlain(item, Type.Int)) return undefined;
  const int = item.type(new Int()) as Int | null;
  if (int?.bitWidth() !== 8 || !int.isSigned()) return undefined;
  const dim = (field.type(new FixedSizeList()) as FixedSizeList | null)?.listSize() ?? 0;
  return dim < 1 ? undefined : dim;
}

/** Whether a field is of a type, neither as indices of a dictionary nor as the storage of an extension type. */
function isPlain(field: Field, type: Type): boolean {
  const metadata = listed(field, field.customMetadataLength(), (i) => field.customMetadata(i));
  return field.typeType() === type && field.dictionary() === null && metadata.every((entry) => entry.key() !== "ARROW:extension:name");
}

/** What a column takes of each batch's lists: its nodes and buffers, and how many of the counts of buffers that views have. */
interface Extent {
  nodes: number;
  buffers: number;
  views: number;
}

/** How many buffers a type has beside those of its children. Views have theirs in a number that each batch tells. */
const BUFFERS: Readonly<Partial<Record<Type, number>>> = {
  [Type.Null]: 0, [Type.Int]: 2, [Type.FloatingPoint]: 2, [Type.Bool]: 2, [Type.Decimal]: 2, [Type.Date]: 2, [Type.Time]: 2, [Type.Timestamp]: 2,
  [Type.Interval]: 2, [Type.Duration]: 2, [Type.FixedSizeBinary]: 2, [Type.Binary]: 3, [Type.Utf8]: 3, [Type.LargeBinary]: 3, [Type.LargeUtf8]: 3,
  [Type.List]: 2, [Type.LargeList]: 2, [Type.Map]: 2, [Type.FixedSizeList]: 1, [Type.Struct_]: 1,
  [Type.RunEndEncoded]: 0, [Type.BinaryView]: 2, [Type.Utf8View]: 2, [Type.ListView]: 3, [Type.LargeListView]: 3,
};

function addExtent(to: Extent, field: Field, version: MetadataVersion): void {
  to.nodes++;
  if (field.dictionary() !== null) {
    to.buffers += 2; // indices; the values are in batches of their own
    return;
  }
  const type = field.typeType();
  to.buffers += type === Type.Union ? unionBuffers(field) : (BUFFERS[type] ?? fail(`has a column of an unknown type, ${type}`));
  if (version < MetadataVersion.V5 && (type === Type.Union || type === Type.RunEndEncoded)) to.buffers++; // these too had a bitmap
  if (type === Type.BinaryView || type === Type.Utf8View) to.views++;
  for (const child of childrenOf(field)) addExtent(to, child, version);
}

/** Types, and for a dense union offsets. */
function unionBuffers(field: Field): number {
  return (field.type(new Union()) as Union | null)?.mode() === UnionMode.Dense ? 2 : 1;
}

/** A batch's vectors of the column after those of `before`. */
function batchPart(file: Uint8Array, block: Block, before: readonly Field[], dim: number): Int8Array {
  const start = Number(block.offset());
  const body = start + block.metaDataLength();
  const bodyLength = Number(block.bodyLength());
  if (start < 8 || body < start + 8 || bodyLength < 0 || body + bodyLength > file.length) fail("is cut short");
  const prefix = int32(file, start) === -1 ? 8 : 4; // a mark stands before the length, but not in the oldest files
  const message = Message.getRootAsMessage(new ByteBuffer(file.subarray(start + prefix, body)));
  const batch = message.headerType() === MessageHeader.RecordBatch ? (message.header(new RecordBatch()) as RecordBatch | null) : null;
  if (batch === null || message.version() < MetadataVersion.V4) fail("holds no batch where its footer says so");
  if (batch.compression() !== null) fail("is compressed");

  const at: Extent = { nodes: 0, buffers: 0, views: 0 };
  for (const field of before) addExtent(at, field, message.version());
  if (at.views > batch.variadicBufferCountsLength()) fail("lacks a count of buffers");
  for (let i = 0; i < at.views; i++) at.buffers += Number(batch.variadicBufferCounts(i));
  if (at.nodes + 2 > batch.nodesLength() || at.buffers + 3 > batch.buffersLength()) fail("lacks a buffer");

  const [lists, items] = [batch.nodes(at.nodes)!, batch.nodes(at.nodes + 1)!];
  const rows = Number(batch.length());
  if (lists.nullCount() !== 0n || items.nullCount() !== 0n) fail("holds nulls");
  if (rows < 0 || Number(lists.length()) !== rows || Number(items.length()) < rows * dim) fail("has a column of another length than its batch");
  const values = batch.buffers(at.buffers + 2)!; // after the bitmaps of the lists and of the items
  const offset = Number(values.offset());
  if (offset < 0 || Number(values.length()) < rows * dim || offset + rows * dim > bodyLength) fail("is cut short");
  return new Int8Array(file.buffer, file.byteOffset + body + offset, rows * dim);
}

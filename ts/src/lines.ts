/** lines (spec 01, rules 1 and 5): a stream of bytes cut at U+000A. */
const LF = 0x0a;

/** The lines of a stream; one longer than the limit is null, and never kept. The last one may lack its U+000A. */
export async function* lines(source: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array | null> {
  let parts: Uint8Array[] = [];
  let length = 0; // of the line so far, kept or not
  const take = (): Uint8Array | null => {
    const line = length > limit ? null : joined(parts, length);
    parts = [];
    length = 0;
    return line;
  };
  for await (const block of source) {
    for (let from = 0; from < block.length; ) {
      const end = block.indexOf(LF, from);
      const part = block.subarray(from, end < 0 ? block.length : end);
      length += part.length;
      if (length > limit) parts = [];
      else parts.push(part);
      if (end < 0) break;
      yield take();
      from = end + 1;
    }
  }
  if (length > 0) yield take();
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const line = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    line.set(part, at);
    at += part.length;
  }
  return line;
}

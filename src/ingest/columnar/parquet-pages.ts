/**
 * Checks what the pages of a Parquet file say of themselves, before the package makes room for it. Runs in task
 * threads.
 */
import type { ColumnMetaData } from "hyparquet";

/** Values of a page; writers put some ten thousand in one. */
const PAGE_VALUES_MAX = 2 ** 24;
const HEADER_BYTES_MAX = 64 * 1024;

/** Of Thrift's compact protocol: the kinds of values. */
const KIND = { yes: 1, no: 2, byte: 3, int64: 6, double: 7, binary: 8, list: 9, set: 10, struct: 12 } as const;
const DEPTH_MAX = 8;

/** Throws for a page of a column's chunk with more values than one may have. `read` gives bytes of the file. */
export function checkPages(
  { num_values, total_compressed_size, ...offsets }: ColumnMetaData,
  read: (from: number, length: number) => Uint8Array,
): void {
  const { dictionary_page_offset: dictionary, data_page_offset: data } = offsets;
  const start = Number(dictionary && dictionary < data ? dictionary : data);
  const end = start + Number(total_compressed_size);
  let values = 0;
  for (let at = start; at < end && values < num_values; ) {
    const header = new PageHeader(read(at, Math.min(HEADER_BYTES_MAX, end - at)));
    if (header.values < 0 || header.values > PAGE_VALUES_MAX) {
      throw new Error(`a page of it has ${header.values} values; one may have ${PAGE_VALUES_MAX}`);
    }
    if (header.bodyBytes < 0) throw new Error("a page of it has less than no bytes");
    if (header.isData) values += header.values;
    at += header.length + header.bodyBytes;
  }
}

class PageHeader {
  private at = 0;
  bodyBytes = 0;
  values = 0;
  isData = false;
  readonly length: number;

  constructor(private readonly bytes: Uint8Array) {
    this.struct(0, (field, kind) => {
      if (field === 3) this.bodyBytes = this.integer();
      // A data page, a dictionary, a data page of the second kind: the first field is the number of values.
      else if ((field === 5 || field === 7 || field === 8) && kind === KIND.struct) {
        this.isData ||= field !== 7;
        this.struct(1, (inner, innerKind) => {
          if (inner === 1) this.values = this.integer();
          else this.skip(innerKind, 1);
        });
      } else this.skip(kind, 0);
    });
    this.length = this.at;
  }

  private struct(depth: number, take: (field: number, kind: number) => void): void {
    if (depth > DEPTH_MAX) throw new Error("the header of a page is nested too deeply");
    for (let field = 0; ; ) {
      const head = this.byte();
      if (head === 0) return;
      field = head >> 4 === 0 ? this.integer() : field + (head >> 4);
      take(field, head & 15);
    }
  }

  private skip(kind: number, depth: number): void {
    if (kind === KIND.yes || kind === KIND.no) return;
    if (kind === KIND.byte) this.at++;
    else if (kind > KIND.byte && kind <= KIND.int64) this.integer();
    else if (kind === KIND.double) this.at += 8;
    else if (kind === KIND.binary) this.at += this.unsigned();
    else if (kind === KIND.struct) this.struct(depth + 1, (_field, inner) => this.skip(inner, depth + 1));
    else if (kind === KIND.list || kind === KIND.set) this.list(depth);
    else throw new Error("the header of a page is damaged");
  }

  private list(depth: number): void {
    const head = this.byte();
    const kind = head & 15;
    const count = head >> 4 === 15 ? this.unsigned() : head >> 4;
    for (let i = 0; i < count; i++) {
      if (kind === KIND.yes || kind === KIND.no) this.byte();
      else this.skip(kind, depth);
    }
  }

  private byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new Error("the header of a page is too long, or cut");
    return byte;
  }

  private unsigned(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      if (factor > 2 ** 63) throw new Error("the header of a page is damaged");
    }
  }

  private integer(): number {
    const value = this.unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/**
 * Reads MessagePack of clients. `readMsgpack` walks the headers before it makes any value, so that depth, declared
 * sizes and extensions are bounded. `readMsgpackInPieces` reads a large text in pieces of some 32 KiB with turns in
 * between (json-pieces.ts does the same for JSON). Called by bodies/parse-body.ts.
 *
 * Of msgpackr's extensions only those that stand for one value are read: moments, long integers and typed arrays.
 * Others refer to earlier values, so a few bytes could stand for endless values.
 */

import { Unpackr } from "msgpackr";
import { JSON_DEPTH_MAX, OBJECT_MEMBERS_MAX } from "../protocol/limits.js";
import type { Turns } from "../protocol/turns.js";
import { setMember } from "./json-text.js";

const PIECE_BYTES = 32 * 1024;
const SCANNED_PER_LOOK = 4 * PIECE_BYTES;

const unpackr = new Unpackr({ useRecords: false, structuredClone: false });

const TIMESTAMP = 0xff;
const LONG_INTEGER = 0x42;
const TYPED_ARRAY = 0x74;
const EXTENSIONS: ReadonlySet<number> = new Set([TIMESTAMP, LONG_INTEGER, TYPED_ARRAY]);

export class MsgpackFault extends Error {
  constructor(
    message: string,
    /** It is valid, but more than a body may hold. */
    readonly isTooLarge: boolean,
  ) {
    super(message);
  }
}

const tooDeep = () => new MsgpackFault(`is nested deeper than ${JSON_DEPTH_MAX} levels`, true);
const tooMany = () => new MsgpackFault(`has an object of more than ${OBJECT_MEMBERS_MAX} members`, true);
const cut = () => new MsgpackFault("Unexpected end of MessagePack data", false);

/** A small body's value. Throws MsgpackFault, and what msgpackr says. */
export function readMsgpack(bytes: Buffer): unknown {
  const scan = new MsgpackScan(bytes);
  while (scan.at < bytes.length && !scan.ended) scan.step();
  if (!scan.ended) throw cut();
  return unpackr.unpack(bytes);
}

/** Throws as readMsgpack. */
export async function readMsgpackInPieces(bytes: Buffer, turns: Turns, pieceBytes = PIECE_BYTES): Promise<unknown> {
  return new PieceReader(bytes, turns, pieceBytes).read();
}

/** Goes from header to header; texts and bytes are passed over. */
class MsgpackScan {
  at = 0;
  depth = 0;
  ended = false;
  /**
   * By depth: the list or map's first byte, the items that are missing (of a map names and values), whether it is a
   * map.
   */
  readonly starts: number[] = [];
  readonly missing: number[] = [];
  readonly isMap: boolean[] = [];
  /** By depth: where the first item begins, and the current element with its name. */
  readonly contents: number[] = [];
  readonly elements: number[] = [];

  constructor(protected readonly bytes: Buffer) {}

  /** Passes one value, or the header of a list or map. */
  step(): void {
    const { bytes, at } = this;
    const byte = bytes[at]!;
    if (byte >= 0x80 && byte <= 0x8f) this.open(at, at + 1, byte & 0x0f, true);
    else if (byte >= 0x90 && byte <= 0x9f) this.open(at, at + 1, byte & 0x0f, false);
    else if (byte >= 0xdc && byte <= 0xdf) {
      const isShort = (byte & 1) === 0;
      const count = isShort ? this.size(at + 1, 2) : this.size(at + 1, 4);
      this.open(at, at + (isShort ? 3 : 5), count, byte >= 0xde);
    } else this.passed(at + this.scalarBytes(byte, at));
  }

  private open(start: number, content: number, count: number, isMap: boolean): void {
    const { depth } = this;
    if (depth >= JSON_DEPTH_MAX) throw tooDeep();
    if (isMap && count > OBJECT_MEMBERS_MAX) throw tooMany();
    const items = isMap ? 2 * count : count;
    // Each takes a byte at least: a size that is only declared costs nothing.
    if (items > this.bytes.length - content) throw cut();
    if (items === 0) {
      this.passed(content);
      return;
    }
    this.starts[depth] = start;
    this.contents[depth] = content;
    this.elements[depth] = content;
    this.missing[depth] = items;
    this.isMap[depth] = isMap;
    this.depth = depth + 1;
    this.at = content;
  }

  /** A value has ended at `end`, and perhaps what it was the last item of. */
  private passed(end: number): void {
    if (end > this.bytes.length) throw cut();
    this.at = end;
    while (this.depth > 0) {
      const level = this.depth - 1;
      const missing = --this.missing[level]!;
      if (missing > 0) {
        if (!this.isMap[level] || missing % 2 === 0) this.elements[level] = end;
        return;
      }
      this.elements[level] = end;
      this.depth = level;
    }
    this.ended = true;
  }

  private size(at: number, bytes: 1 | 2 | 4): number {
    if (at + bytes > this.bytes.length) throw cut();
    return this.bytes.readUIntBE(at, bytes);
  }

  private scalarBytes(byte: number, at: number): number {
    if (byte <= 0x7f || byte >= 0xe0 || (byte >= 0xc0 && byte <= 0xc3)) return 1;
    if (byte >= 0xa0 && byte <= 0xbf) return 1 + (byte & 0x1f);
    if (byte >= 0xc4 && byte <= 0xc6) return this.sized(at, byte - 0xc4);
    if (byte >= 0xd9 && byte <= 0xdb) return this.sized(at, byte - 0xd9);
    if (byte === 0xca) return 5;
    if (byte === 0xcb) return 9;
    if (byte >= 0xcc && byte <= 0xcf) return 1 + (1 << (byte - 0xcc));
    if (byte >= 0xd0 && byte <= 0xd3) return 1 + (1 << (byte - 0xd0));
    if (byte >= 0xd4 && byte <= 0xd8) {
      this.checkExtension(at + 1);
      return 2 + (1 << (byte - 0xd4));
    }
    const length = this.sized(at, byte - 0xc7);
    this.checkExtension(at + 1 + (1 << (byte - 0xc7)));
    return length + 1;
  }

  /** Of what has its length behind its first byte. */
  private sized(at: number, power: number): number {
    const bytes = (1 << power) as 1 | 2 | 4;
    return 1 + bytes + this.size(at + 1, bytes);
  }

  private checkExtension(at: number): void {
    const type = this.bytes[at];
    if (type !== undefined && EXTENSIONS.has(type)) return;
    throw new MsgpackFault(`the extension ${type} is not known here`, false);
  }
}

/** A list or map that is larger than a piece. */
interface Large {
  readonly isMap: boolean;
  readonly value: unknown[] | Record<string, unknown>;
  /** Where begins what was not read of it. */
  unread: number;
}

class PieceReader extends MsgpackScan {
  private readonly large: Large[] = [];
  private result: unknown = undefined;

  constructor(
    bytes: Buffer,
    private readonly turns: Turns,
    private readonly pieceBytes: number,
  ) {
    super(bytes);
  }

  async read(): Promise<unknown> {
    const { bytes, turns } = this;
    this.step();
    if (this.depth === 0) return this.ended && this.at === bytes.length ? unpackr.unpack(bytes) : this.refuse();
    this.result = this.enlarge(null);
    while (!this.ended) {
      this.scan();
      if (turns.shouldYield()) await turns.yieldTurn();
    }
    if (this.at < bytes.length) this.refuse();
    return this.result;
  }

  private refuse(): never {
    throw new MsgpackFault("Data read, but end of buffer not reached", false);
  }

  private scan(): void {
    const until = this.at + SCANNED_PER_LOOK;
    while (!this.ended && this.at < until) {
      if (this.at >= this.bytes.length) throw cut();
      this.step();
      while (this.large.length > this.depth) this.end();
      const inner = this.large.at(-1);
      if (inner !== undefined && this.at - inner.unread >= this.pieceBytes) {
        this.keep();
        return;
      }
    }
  }

  /** Reads the elements that have ended of everything that is open, the innermost of which are values from now on. */
  private keep(): void {
    for (;;) {
      const level = this.large.length - 1;
      const inner = this.large[level]!;
      this.readPiece(inner, this.elements[level]!);
      if (level === this.depth - 1) return;
      this.enlarge(inner);
    }
  }

  private enlarge(around: Large | null): unknown {
    const level = this.large.length;
    const isMap = this.isMap[level]!;
    const value = isMap ? {} : [];
    if (around !== null) {
      const before = this.bytes.subarray(around.unread, this.starts[level]);
      if (around.isMap) setMember(around.value as Record<string, unknown>, nameOf(unpackr.unpack(before)), value);
      else (around.value as unknown[]).push(value);
    }
    this.large.push({ isMap, value, unread: this.contents[level]! });
    return value;
  }

  /** The end of a large list or map. */
  private end(): void {
    const inner = this.large.pop()!;
    const end = this.elements[this.large.length]!;
    this.readPiece(inner, end);
    const around = this.large.at(-1);
    if (around !== undefined) around.unread = end;
  }

  private readPiece(into: Large, to: number): void {
    if (to <= into.unread) return;
    const items = unpackr.unpackMultiple(this.bytes.subarray(into.unread, to)) as unknown[];
    into.unread = to;
    if (into.isMap) {
      const object = into.value as Record<string, unknown>;
      for (let i = 0; i < items.length; i += 2) setMember(object, nameOf(items[i]), items[i + 1]);
    } else {
      const list = into.value as unknown[];
      for (let i = 0; i < items.length; i++) list.push(items[i]);
    }
  }
}

function nameOf(key: unknown): string {
  if (typeof key === "string") return key;
  if (typeof key === "number" || typeof key === "bigint" || typeof key === "boolean") return String(key);
  throw new MsgpackFault("Invalid property type for record", false);
}

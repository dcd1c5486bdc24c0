/**
 * Kernels on the bytes of a column of texts. A text that is looked for in all of them is looked for in their bytes end
 * to end, by Node's own search, and the places where it is found tell the rows. Used by text-filter.ts.
 */
import type { LikePart } from "../../expr/functions/like.js";
import type { Kernel } from "./kernel.js";
import type { TextColumn } from "./text-column.js";

/** Whether the text between two places has what is asked for. */
type BytesTest = (data: Uint8Array, start: number, end: number) => boolean;

function where({ data, offsets, nulls }: TextColumn, test: BytesTest): Kernel {
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (nulls !== null && nulls[row] === 1) continue;
      if (test(data, offsets[row]!, offsets[row + 1]!)) out[found++] = row;
    }
    return found;
  };
}

export function whereNull({ nulls }: TextColumn, passes: boolean): Kernel | "all" | "none" {
  if (nulls === null) return passes ? "none" : "all";
  const wanted = passes ? 1 : 0;
  return (rows, from, count, out) => {
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      out[found] = row;
      found += nulls[row] === wanted ? 1 : 0;
    }
    return found;
  };
}

/** The rows that another kernel refuses, without NULLs. */
export function complementOf({ nulls }: TextColumn, kernel: Kernel): Kernel {
  let passing = new Int32Array(0);
  return (rows, from, count, out) => {
    if (passing.length < count) passing = new Int32Array(count);
    const passed = kernel(rows, from, count, passing);
    let found = 0;
    for (let i = 0, next = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (next < passed && passing[next] === row) next++;
      else if (nulls === null || nulls[row] === 0) out[found++] = row;
    }
    return found;
  };
}

/** From the end, for texts of a column often begin alike. */
function isAt(data: Uint8Array, start: number, part: Uint8Array): boolean {
  for (let i = part.length - 1; i >= 0; i--) if (data[start + i] !== part[i]) return false;
  return true;
}

export function equalTo(column: TextColumn, text: Uint8Array): Kernel {
  return where(column, (data, start, end) => end - start === text.length && isAt(data, start, text));
}

/** The order of the text between two places against another. */
export function orderOfBytes(data: Uint8Array, start: number, end: number, text: Uint8Array): number {
  const length = Math.min(text.length, end - start);
  for (let i = 0; i < length; i++) {
    const difference = data[start + i]! - text[i]!;
    if (difference !== 0) return difference;
  }
  return end - start - text.length;
}

export type OrderTest = (order: number) => boolean;

/** Rows whose order against the text is as `holds` says. */
export function compareBytesOf(column: TextColumn, text: Uint8Array, holds: OrderTest): Kernel {
  return where(column, (data, start, end) => holds(orderOfBytes(data, start, end, text)));
}

/** Their lengths and last bytes tell most texts from the items. */
export function oneOf(column: TextColumn, items: readonly Uint8Array[]): Kernel {
  const byEnd = new Map<number, Uint8Array[]>();
  for (const item of items) {
    const key = endOf(item, 0, item.length);
    const alike = byEnd.get(key);
    if (alike === undefined) byEnd.set(key, [item]);
    else if (!alike.some((other) => Buffer.compare(other, item) === 0)) alike.push(item);
  }
  return where(column, (data, start, end) => {
    const alike = byEnd.get(endOf(data, start, end));
    if (alike === undefined) return false;
    for (const item of alike) if (item.length === end - start && isAt(data, start, item)) return true;
    return false;
  });
}

const END_BYTES = 8;

function endOf(data: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let i = Math.max(start, end - END_BYTES); i < end; i++) hash = Math.imul(hash ^ data[i]!, 0x01000193);
  return hash;
}

/** Capital letters of ASCII to small ones, four bytes at a time. The bytes are ASCII. */
function toLower(words: Int32Array): void {
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    // The highest bit of a byte of the sum says whether it is at least "A", or above "Z".
    const isCapital = ((word + 0x3f3f3f3f) ^ (word + 0x25252525)) & 0x80808080;
    words[i] = word | (isCapital >>> 2);
  }
}

/** Bytes of the rows that a kernel goes through, for case to be ignored in small letters. */
class Searched {
  data: Uint8Array;
  /** What is taken from an offset of the column to find it in `data`. */
  base = 0;
  private lowered = new Uint8Array(0);

  constructor(
    private readonly column: TextColumn,
    private readonly ignoresCase: boolean,
  ) {
    this.data = column.data;
  }

  /** The rows `first … last`. */
  load(first: number, last: number): void {
    if (!this.ignoresCase) return;
    const { data, offsets } = this.column;
    const start = offsets[first]!;
    const length = offsets[last + 1]! - start;
    if (this.lowered.length < length) this.lowered = new Uint8Array(4 * Math.ceil(length / 4));
    const { lowered } = this;
    lowered.set(data.subarray(start, start + length));
    toLower(new Int32Array(lowered.buffer, 0, Math.ceil(length / 4)));
    this.data = lowered;
    this.base = start;
  }
}

/** Of rows of a range that were asked for: fewer are looked at one by one. */
const DENSE_SHARE = 1 / 8;
/** Of rows that have the text: where more have it, calls of Node's search cost more than a loop over the bytes. */
const COMMON_SHARE = 1 / 4;

/** Rows whose text has this one in it, which is not empty. */
export function containing(column: TextColumn, text: Uint8Array, ignoresCase: boolean): Kernel {
  const { offsets } = column;
  const searched = new Searched(column, ignoresCase);
  let isCommon = false;
  return (rows, from, count, out) => {
    const first = rows === null ? from : rows[0]!;
    const last = rows === null ? from + count - 1 : rows[count - 1]!;
    searched.load(first, last);
    const { data, base } = searched;
    let found = 0;
    if (isCommon || count < (last - first) * DENSE_SHARE) {
      for (let i = 0; i < count; i++) {
        const row = rows === null ? from + i : rows[i]!;
        if (indexOf(data, offsets[row]! - base, offsets[row + 1]! - base, text) >= 0) out[found++] = row;
      }
    } else found = search(data, base, offsets, text, rows, first, last, out);
    isCommon = found > count * COMMON_SHARE;
    return found;
  };
}

/** Goes from one place where the text is found to the next. */
function search(
  data: Uint8Array,
  base: number,
  offsets: Uint32Array,
  text: Uint8Array,
  rows: Int32Array | null,
  first: number,
  last: number,
  out: Int32Array,
): number {
  const start = offsets[first]! - base;
  const whole = Buffer.from(data.buffer, data.byteOffset + start, offsets[last + 1]! - base - start);
  let found = 0;
  let row = first;
  let i = 0;
  let at = whole.indexOf(text);
  while (at >= 0) {
    const place = at + start + base;
    while (offsets[row + 1]! <= place) row++;
    const end = offsets[row + 1]!;
    if (place + text.length > end) at = whole.indexOf(text, at + 1);
    else {
      if (rows !== null) while (rows[i]! < row) i++;
      if (rows === null || rows[i] === row) out[found++] = row;
      const next = end - base - start;
      at = next >= whole.length ? -1 : whole.indexOf(text, next);
    }
  }
  return found;
}

/** Where the part begins, at or after `start`; −1. */
function indexOf(data: Uint8Array, start: number, end: number, part: Uint8Array): number {
  const { length } = part;
  if (length === 0) return start;
  const head = part[0]!;
  const last = end - length;
  for (let at = start; at <= last; at++) {
    if (data[at] !== head) continue;
    let i = 1;
    while (i < length && data[at + i] === part[i]) i++;
    if (i === length) return at;
  }
  return -1;
}

/** Rows whose text the pattern of these parts matches. */
export function likeKernel(column: TextColumn, parts: readonly LikePart[], ignoresCase: boolean): Kernel {
  const test = parts.includes("one") ? byCodes(parts) : inOrder(parts);
  const kernel = ignoresCase ? whereLowered(column, test) : where(column, test);
  const sought = parts.slice(1, -1).reduce(longer, "any");
  return typeof sought === "object" && sought.text.length > 1
    ? narrowed(containing(column, bytesOf(sought), ignoresCase), kernel)
    : kernel;
}

function longer(a: LikePart, b: LikePart): LikePart {
  if (typeof a !== "object" || typeof b !== "object") return typeof a === "object" ? a : b;
  return a.text.length < b.text.length ? b : a;
}

/** Asks the second kernel about what the first one passes, unless that is much. */
function narrowed(first: Kernel, second: Kernel): Kernel {
  let isOften = false;
  return (rows, from, count, out) => {
    if (isOften) return second(rows, from, count, out);
    const found = first(rows, from, count, out);
    isOften = found > count * COMMON_SHARE;
    return found === 0 ? 0 : second(out, 0, found, out);
  };
}

function whereLowered(column: TextColumn, test: BytesTest): Kernel {
  const { offsets, nulls } = column;
  const searched = new Searched(column, true);
  return (rows, from, count, out) => {
    searched.load(rows === null ? from : rows[0]!, rows === null ? from + count - 1 : rows[count - 1]!);
    const { data, base } = searched;
    let found = 0;
    for (let i = 0; i < count; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (nulls !== null && nulls[row] === 1) continue;
      if (test(data, offsets[row]! - base, offsets[row + 1]! - base)) out[found++] = row;
    }
    return found;
  };
}

const bytesOf = (part: LikePart | undefined): Buffer => Buffer.from(typeof part === "object" ? part.text : "");

/** Without `_`: what it begins with, what it ends with, and others in between in their order. */
function inOrder(parts: readonly LikePart[]): BytesTest {
  const isWhole = !parts.includes("any");
  const head = bytesOf(parts[0]);
  if (isWhole) return (data, start, end) => end - start === head.length && isAt(data, start, head);
  const tail = bytesOf(parts.at(-1));
  const middle = parts
    .slice(1, -1)
    .filter((part) => part !== "any")
    .map(bytesOf);
  const length = head.length + tail.length;
  return (data, start, end) => {
    if (end - start < length || !isAt(data, start, head) || !isAt(data, end - tail.length, tail)) return false;
    let at = start + head.length;
    for (let i = 0; i < middle.length; i++) {
      at = indexOf(data, at, end - tail.length, middle[i]!);
      if (at < 0) return false;
      at += middle[i]!.length;
    }
    return true;
  };
}

/** Any one character, any characters; other codes are bytes. */
const ONE = -1;
const ANY = -2;

/** Goes back to the last `%` only, so its time is bounded by text × pattern. */
function byCodes(parts: readonly LikePart[]): BytesTest {
  const list = parts.flatMap((part) => (part === "one" ? [ONE] : part === "any" ? [ANY] : [...Buffer.from(part.text)]));
  const codes = Int16Array.from(list);
  const { length } = codes;
  return (data, start, end) => {
    let [at, code] = [start, 0];
    let [resumeAt, resumeCode] = [-1, -1];
    while (at < end) {
      const wanted = code < length ? codes[code]! : ANY - 1;
      if (wanted === data[at]) {
        at++;
        code++;
      } else if (wanted === ANY) {
        resumeCode = ++code;
        if (code === length) return true;
        resumeAt = nextOf(data, at, end, codes[code]!);
        at = resumeAt;
      } else if (wanted === ONE) {
        at = afterCharacter(data, at, end);
        code++;
      } else {
        if (resumeAt < 0) return false;
        resumeAt = nextOf(data, afterCharacter(data, resumeAt, end), end, codes[resumeCode]!);
        at = resumeAt;
        code = resumeCode;
      }
    }
    while (code < length && codes[code] === ANY) code++;
    return code === length;
  };
}

/** Where the byte comes next; the place itself if any will do. */
function nextOf(data: Uint8Array, from: number, end: number, code: number): number {
  let at = from;
  if (code >= 0) while (at < end && data[at] !== code) at++;
  return at;
}

/** The place behind the character at `at`. */
function afterCharacter(data: Uint8Array, at: number, end: number): number {
  let next = at + 1;
  while (next < end && (data[next]! & 0xc0) === 0x80) next++;
  return next;
}

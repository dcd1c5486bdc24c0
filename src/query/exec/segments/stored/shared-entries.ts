/**
 * The entries of a column's dictionary that neighbouring segments of a file have in common: each segment stores
 * its codes alone. So who groups, joins or compares by a column looks at an entry once for all of them. Used by
 * column-file.ts, which writes the entries when the next segment has too few of them, or when the file ends.
 */
import { bytesKeyOf, GrowingTexts, type TextColumn } from "../text-column.js";

/** With more, one segment would have to do with entries that are others' only. */
const ENTRIES_MAX = 8192;
const BYTES_MAX = 1024 * 1024;
/** Part of a segment's entries that may be new. */
const NEW_SHARE_MAX = 0.5;
const UNKNOWN = -1;

export class SharedEntries {
  /** Segments that use them. */
  segments = 0;
  private readonly codes = new Map<string | null, number>();
  private readonly texts = new GrowingTexts();
  private bytes = 0;
  /** The entries that were taken in last. */
  private last: { readonly entries: TextColumn; readonly codes: Int32Array } | null = null;

  constructor(
    /** Of the dictionary in its file. */
    readonly number: number,
    private readonly bytesMax = BYTES_MAX,
  ) {}

  /**
   * The codes of a segment's rows as those of the shared entries; entries that a row has are taken in where they are
   * new. Null: too little is in common.
   * @param codes each row's entry.
   */
  take(codes: Uint8Array | Uint16Array, entries: TextColumn): Uint8Array | Uint16Array | null {
    const known = this.knownOf(entries);
    const used = usedIn(codes, known.length);
    const added: { readonly text: string | null; readonly row: number }[] = [];
    let bytes = this.bytes;
    for (const row of used) {
      if (known[row]! !== UNKNOWN) continue;
      const text = bytesKeyOf(entries, row);
      const code = this.codes.get(text);
      if (code !== undefined) {
        known[row] = code;
        continue;
      }
      added.push({ text, row });
      bytes += text?.length ?? 0;
    }
    const isTooMuch = this.codes.size + added.length > ENTRIES_MAX || bytes > this.bytesMax;
    if (this.segments > 0 && (isTooMuch || added.length > NEW_SHARE_MAX * used.length)) return null;
    for (const { text, row } of added) {
      known[row] = this.codes.size;
      this.codes.set(text, this.codes.size);
    }
    const rows = Int32Array.from(added, ({ row }) => row);
    this.texts.append(entries, rows, 0, rows.length);
    this.bytes = bytes;
    this.segments++;
    return recoded(codes, known, used);
  }

  /** By entry: its code here, as far as it was looked for. Segments made of those of a file have the same entries. */
  private knownOf(entries: TextColumn): Int32Array {
    if (this.last?.entries === entries) return this.last.codes;
    const codes = new Int32Array(entries.offsets.length - 1).fill(UNKNOWN);
    this.last = { entries, codes };
    return codes;
  }

  get count(): number {
    return this.codes.size;
  }

  column(): TextColumn {
    return this.texts.column();
  }
}

/** The numbers of the entries that some row has, ascending. */
function usedIn(codes: Uint8Array | Uint16Array, count: number): Int32Array {
  const isUsed = new Uint8Array(count);
  for (let i = 0; i < codes.length; i++) isUsed[codes[i]!] = 1;
  const used = new Int32Array(count);
  let length = 0;
  for (let row = 0; row < count; row++) if (isUsed[row] === 1) used[length++] = row;
  return used.subarray(0, length);
}

function recoded(codes: Uint8Array | Uint16Array, known: Int32Array, used: Int32Array): Uint8Array | Uint16Array {
  let greatest = 0;
  for (const row of used) greatest = Math.max(greatest, known[row]!);
  const out = greatest > 0xff ? new Uint16Array(codes.length) : new Uint8Array(codes.length);
  for (let i = 0; i < codes.length; i++) out[i] = known[codes[i]!]!;
  return out;
}

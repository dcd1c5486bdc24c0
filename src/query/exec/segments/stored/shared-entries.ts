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

export class SharedEntries {
  /** Segments that use them. */
  segments = 0;
  private readonly codes = new Map<string | null, number>();
  private readonly texts = new GrowingTexts();
  private bytes = 0;

  constructor(
    /** Of the dictionary in its file. */
    readonly number: number,
    private readonly bytesMax = BYTES_MAX,
  ) {}

  /** The code of each of a segment's entries, taken in where it is new; null: too little is in common. */
  take(entries: TextColumn): Uint16Array | null {
    const count = entries.offsets.length - 1;
    const codes = new Uint16Array(count);
    const added: { readonly text: string | null; readonly row: number }[] = [];
    let bytes = this.bytes;
    for (let row = 0; row < count; row++) {
      const text = bytesKeyOf(entries, row);
      const code = this.codes.get(text);
      codes[row] = code ?? this.codes.size + added.length;
      if (code !== undefined) continue;
      added.push({ text, row });
      bytes += text?.length ?? 0;
    }
    const isTooMuch = this.codes.size + added.length > ENTRIES_MAX || bytes > this.bytesMax;
    if (this.segments > 0 && (isTooMuch || added.length > NEW_SHARE_MAX * count)) return null;
    for (const { text } of added) this.codes.set(text, this.codes.size);
    const rows = Int32Array.from(added, ({ row }) => row);
    this.texts.append(entries, rows, 0, rows.length);
    this.bytes = bytes;
    this.segments++;
    return codes;
  }

  get count(): number {
    return this.codes.size;
  }

  column(): TextColumn {
    return this.texts.column();
  }
}

/** Codes of a segment's own entries as those of the shared ones. */
export function recoded(codes: Uint8Array | Uint16Array, shared: Uint16Array): Uint8Array | Uint16Array {
  const isWide = shared.some((code) => code > 0xff);
  const out = isWide ? new Uint16Array(codes.length) : new Uint8Array(codes.length);
  for (let i = 0; i < codes.length; i++) out[i] = shared[codes[i]!]!;
  return out;
}

/** A bundle so small that tests can pull it again and again: a static encoder of eight words and four dimensions. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { wordTokenizer } from "./word-tokenizer.js";

const WORDS = ["[UNK]", "a", "dog", "cat", "runs", "sleeps", "red", "blue"];
const DIMENSIONS = 4;

export interface TinyBundle {
  readonly manifest: { readonly id: string; readonly files: { name: string; bytes: number; sha256: string }[] };
  /** Its files and manifest.json. */
  readonly files: ReadonlyMap<string, Buffer>;
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** `padding`: bytes of a further file that nobody reads. */
export function tinyBundle(id: string, padding = 0, extra: object = {}): TinyBundle {
  const files = new Map<string, Buffer>();
  files.set("tokenizer.json", Buffer.from(JSON.stringify(wordTokenizer({ words: WORDS, hasDecoder: false }))));
  files.set("weights.bin", weights());
  if (padding > 0) files.set("padding.bin", pseudoRandom(padding));
  const manifest = {
    id,
    kind: "embedding",
    revision: "1",
    licence: "Apache-2.0",
    required_capabilities: ["embedding"],
    dimensions: DIMENSIONS,
    max_length: 16,
    tokenizer: "tokenizer.json",
    static: { table: "weights.bin", rows: WORDS.length },
    files: [...files].map(([name, bytes]) => ({ name, bytes: bytes.length, sha256: sha256(bytes) })),
    ...extra,
  };
  files.set("manifest.json", Buffer.from(JSON.stringify(manifest)));
  return { manifest, files };
}

/** Puts it into a folder in the layout of sources. */
export function publish(folder: string, { files }: TinyBundle, name: string, tag = "latest"): string {
  const directory = join(folder, name, tag);
  mkdirSync(directory, { recursive: true });
  for (const [file, bytes] of files) writeFileSync(join(directory, file), bytes);
  return directory;
}

/** int8 rows, then a float32 scale for each. */
function weights(): Buffer {
  const bytes = Buffer.alloc(WORDS.length * (DIMENSIONS + 4));
  for (let row = 0; row < WORDS.length; row++) {
    for (let i = 0; i < DIMENSIONS; i++) bytes.writeInt8(((row * 31 + i * 17) % 200) - 100, row * DIMENSIONS + i);
    bytes.writeFloatLE(0.01, WORDS.length * DIMENSIONS + row * 4);
  }
  return bytes;
}

export function pseudoRandom(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 12345;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return bytes;
}

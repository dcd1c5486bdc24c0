/**
 * Rows dealt out over several spill files by a hash of their keys, so that rows with the same key meet in the same
 * file and each file's rows fit into memory by themselves (Grace hash join; Kitsuregawa et al. 1983). Used by hash
 * join and aggregation.
 */
import type { SqlType, Value } from "../../../values/values.js";
import type { HashKey } from "../../expr/compare.js";
import type { ExecContext } from "../context.js";
import type { SpillArea, SpillFile } from "./spill-area.js";
import { type Run, RunWriter } from "./spilled-rows.js";

export const PARTITIONS = 32;
/** Rows that do not fit after so many divisions have the same key. */
export const DEPTH_MAX = 4;

export class Partitions {
  private readonly files: SpillFile[] = [];
  private readonly writers: RunWriter[] = [];
  private isFinished = false;

  /** `depth` makes each division of the same rows another one. */
  constructor(
    area: SpillArea,
    types: readonly SqlType[],
    context: ExecContext,
    private readonly depth: number,
  ) {
    for (let i = 0; i < PARTITIONS; i++) {
      const file = area.open(context.statement);
      this.files.push(file);
      this.writers.push(new RunWriter(file, types, context.statement));
    }
  }

  add(key: HashKey | null, columns: readonly ArrayLike<Value>[], row: number): void {
    this.writers[hashOf(key, this.depth) % PARTITIONS]!.add(columns, row);
  }

  /** The rows by partition. */
  finish(): readonly Run[] {
    this.isFinished = true;
    return this.writers.map((writer) => writer.finish());
  }

  close(): void {
    if (!this.isFinished) this.finish();
    for (const file of this.files) file.close();
  }
}

const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);

/** FNV-1a over the key's 16-bit units or words, seeded by the depth and mixed once more (MurmurHash3's finalizer). */
function hashOf(key: HashKey | null, depth: number): number {
  let hash = (0x811c9dc5 ^ Math.imul(depth + 1, 0x9e3779b1)) >>> 0;
  if (typeof key === "number") {
    // −0 and 0 are one key.
    doubles[0] = key + 0;
    hash = Math.imul(hash ^ words[0]!, 0x01000193);
    hash = Math.imul(hash ^ words[1]!, 0x01000193);
  } else {
    const text = String(key);
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

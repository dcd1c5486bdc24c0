/**
 * What a server's data directory holds, counted by kind of record: files grow and shrink with compaction, but what is
 * stored says whether anything is kept without end. Reads a copy, so that the server may go on. Called by run.ts and
 * verdict.ts.
 */
import { cpSync, linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SPACE, storageIdOf, tenantOfKey } from "../../src/storage/keys.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { ROW_PREFIX_BYTES } from "../../src/values/row-place.js";

export interface Stored {
  readonly entries: number;
  readonly bytes: number;
}

/** By kind, such as "tenant 2 rows of storage 5". */
export type Census = Readonly<Record<string, Stored>>;

export interface CensusGrowth {
  readonly kind: string;
  readonly entries: readonly [first: number, last: number];
  readonly bytes: readonly [first: number, last: number];
}

const NONE: Stored = { entries: 0, bytes: 0 };
const MIB = 2 ** 20;
/** More than by this share and by so many bytes. */
const GROWN_SHARE = 0.1;
const GROWN_BYTES = 4 * MIB;
/** Compaction may take files away while they are linked. */
const TRIES = 20;
const ENTRIES_AT_ONCE = 1000;
const LAST_KEY = Buffer.alloc(ROW_PREFIX_BYTES, 0xff);
const SPACES = Object.fromEntries(Object.entries(SPACE).map(([name, number]) => [number, name]));

/** Of all partitions together. */
export async function takeCensus(directory: string): Promise<Census> {
  const sums: Record<string, Stored> = {};
  for (const name of readdirSync(directory)) {
    if (!/^partition-\d+$/.test(name)) continue;
    for (const [kind, { entries, bytes }] of Object.entries(await countCopy(join(directory, name, "rocksdb")))) {
      const sum = sums[kind] ?? NONE;
      sums[kind] = { entries: sum.entries + entries, bytes: sum.bytes + bytes };
    }
  }
  return sums;
}

async function countCopy(directory: string): Promise<Census> {
  for (let tries = 1; ; tries++) {
    const copy = mkdtempSync(join(tmpdir(), "tessera-bench-census-"));
    try {
      copyEngine(directory, copy);
      return await countEntries(copy);
    } catch (error) {
      if (tries === TRIES) throw error;
      await sleep(100);
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }
}

/** Logs first and the list of files last: then all that it names was there, or opening the copy says what is not. */
function copyEngine(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const names = readdirSync(from).filter((name) => name !== "LOCK");
  const rank = (name: string): number => (name.endsWith(".log") ? 0 : name.endsWith(".sst") ? 1 : 2);
  for (const name of names.sort((a, b) => rank(a) - rank(b))) {
    if (name.endsWith(".sst")) link(join(from, name), join(to, name));
    else cpSync(join(from, name), join(to, name));
  }
}

/** RocksDB never changes a file of entries. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    cpSync(from, to);
  }
}

async function countEntries(directory: string): Promise<Census> {
  const counted: Record<string, { entries: number; bytes: number }> = {};
  const engine = await RocksEngine.open({ directory });
  try {
    const cursor = engine.cursor({ gte: Buffer.alloc(0), lt: LAST_KEY });
    for (;;) {
      const { keys, values } = cursor.next(ENTRIES_AT_ONCE);
      if (keys.length === 0) return counted;
      for (const [i, key] of keys.entries()) {
        const name = kindOf(key);
        counted[name] ??= { entries: 0, bytes: 0 };
        counted[name].entries++;
        counted[name].bytes += key.length + values[i]!.length;
      }
    }
  } finally {
    await engine.close();
  }
}

/** Rows and entries of indexes by their table's storage id, other records by the first word of their key. */
export function kindOf(key: Uint8Array): string {
  const space = key[4]!;
  const name = `tenant ${tenantOfKey(key)} ${SPACES[space] ?? space}`;
  if (space === SPACE.rows || space === SPACE.index) return `${name} of storage ${storageIdOf(key)}`;
  const text = Buffer.from(key.buffer, key.byteOffset + 5, key.length - 5).toString();
  return /^[a-z-]+(?=[\0/])/.test(text) ? `${name} ${/^[a-z-]+/.exec(text)![0]}` : name;
}

/** Most bytes first. */
export function censusGrowths(first: Census, last: Census): CensusGrowth[] {
  return Object.keys(last)
    .map((kind): CensusGrowth => {
      const [a, b] = [first[kind] ?? NONE, last[kind]!];
      return { kind, entries: [a.entries, b.entries], bytes: [a.bytes, b.bytes] };
    })
    .filter(({ entries, bytes }) => entries[1] > entries[0] || bytes[1] > bytes[0])
    .sort((a, b) => b.bytes[1] - b.bytes[0] - (a.bytes[1] - a.bytes[0]));
}

export function isStoredMore(first: Census, last: Census): boolean {
  const all = (census: Census): number => Object.values(census).reduce((sum, { bytes }) => sum + bytes, 0);
  return all(last) > all(first) * (1 + GROWN_SHARE) + GROWN_BYTES;
}

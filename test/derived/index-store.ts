/** A table of words with an index, for the tests of indexes in memory. */

import type { DerivedIndex } from "../../src/derived/derived-index.js";
import { DerivedIndexes, type DerivedIndexesOptions } from "../../src/derived/derived-indexes.js";
import type { Engine } from "../../src/storage/engine.js";
import { prefixRange, rowPrefix } from "../../src/storage/keys.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { keyText } from "../../src/storage/ordered-map.js";
import { Shard } from "../../src/storage/shard.js";
import type { Words } from "./words.js";

export const TENANT = 7;
export const PREFIX = rowPrefix(TENANT, 3);
export const PLACE = { tenantNumber: TENANT, storageId: 3, indexId: 4, rowPrefix: PREFIX };
export const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What the index says the engine holds. */
export function held(index: DerivedIndex<string, Words>): Map<string, string> {
  const rows = new Map<string, string>();
  index.body.words.forEach((word, slot) => {
    // One that is being put in or taken out is among the entries.
    const isKnown = slot < index.slotCount && index.isUsed(slot);
    if (word !== null && isKnown) rows.set(keyText(index.keyOf(slot)), word);
  });
  index.entries.forEach(({ key, value }) => {
    if (value === null || value.length === 0) rows.delete(keyText(key));
    else rows.set(keyText(key), Buffer.from(value).toString());
  });
  return rows;
}

export function stored(engine: Engine): Map<string, string> {
  const cursor = engine.cursor(prefixRange(PREFIX));
  const { keys, values } = cursor.next(10_000);
  cursor.close();
  const rows = keys.map((key, i): [string, string] => [keyText(key), Buffer.from(values[i]!).toString()]);
  return new Map(rows.filter(([, word]) => word !== ""));
}

export function alone(options: Partial<DerivedIndexesOptions> & Pick<DerivedIndexesOptions, "store">): DerivedIndexes {
  return new DerivedIndexes({
    directory: null,
    memory: { bytes: 0, bytesMax: 1e9 },
    turnsOf: () => ({ shouldYield: () => true, yieldTurn: settle }),
    durable: () => Promise.resolve(),
    warn: () => undefined,
    ...options,
  });
}

export async function shardWithRows(rows: number): Promise<Shard> {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const tx = shard.begin();
  for (let i = 0; i < rows; i++) tx.put(Buffer.concat([PREFIX, Buffer.from(`k${i}`)]), Buffer.from("x"));
  tx.commit();
  shard.flush();
  return shard;
}

export const wordRow = (name: string) => ({ key: Buffer.concat([PREFIX, Buffer.from(name)]), value: Buffer.from("y") });

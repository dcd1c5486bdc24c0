/** Indexes in memory of a test's shard. */

import { DerivedIndexes } from "../../src/derived/derived-indexes.js";
import type { Turns } from "../../src/protocol/turns.js";
import type { Shard } from "../../src/storage/shard.js";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

export function openIndexes(shard: Shard, files: string | null): DerivedIndexes {
  const turns: Turns = { shouldYield: () => true, yieldTurn: settle };
  const indexes = new DerivedIndexes({
    store: shard,
    directory: files,
    memory: { bytes: 0, bytesMax: 1e9 },
    turnsOf: () => turns,
    durable: async () => {},
    warn: (message) => {
      throw new Error(message);
    },
  });
  shard.onApplied = (operations) => indexes.applied(operations);
  return indexes;
}

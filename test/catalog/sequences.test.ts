import t from "tap";
import type { SequenceDef } from "../../src/catalog/sequence.js";
import { createSequences } from "../../src/catalog/sequences.js";
import { INT8 } from "../../src/values/values.js";
import { openShard } from "../storage/shards.js";

const sequence = (options: Partial<SequenceDef> = {}): SequenceDef => ({
  id: 7,
  schema: "public",
  name: "s",
  start: 1,
  type: INT8,
  cache: 1,
  from: null,
  increment: 1,
  min: 1,
  max: 2 ** 31 - 1,
  cycle: false,
  ownedBy: null,
  createdAt: 1,
  ...options,
});

t.test("values rise, and are not given twice after a restart", async (t) => {
  const shard = await openShard(t);
  const sequences = createSequences(() => shard.begin());
  const given = Array.from({ length: 70 }, () => sequences.next(1, sequence()));
  t.same(
    given,
    Array.from({ length: 70 }, (_, i) => i + 1),
  );
  t.equal(sequences.next(2, sequence()), 1, "each tenant has its own");
  const restarted = createSequences(() => shard.begin());
  t.ok(restarted.next(1, sequence()) > 70);
});

t.test("a new sequence does not go on where one of the same id was undone", async (t) => {
  const shard = await openShard(t);
  const sequences = createSequences(() => shard.begin());
  sequences.next(1, sequence());
  t.equal(sequences.next(1, sequence({ createdAt: 2 })), 1);
});

t.test("steps, ends and cycles", async (t) => {
  const shard = await openShard(t);
  const sequences = createSequences(() => shard.begin());
  const take = (definition: SequenceDef, count: number) =>
    Array.from({ length: count }, () => sequences.next(1, definition));
  t.same(take(sequence({ id: 1, start: 10, increment: 5 }), 3), [10, 15, 20]);
  t.same(take(sequence({ id: 2, start: -1, increment: -1, min: -3, max: -1, cycle: true }), 5), [-1, -2, -3, -1, -2]);
  const short = sequence({ id: 3, max: 2 });
  t.same(take(short, 2), [1, 2]);
  t.throws(() => sequences.next(1, short), { details: { sqlstate: "2200H" }, message: /reached maximum value/ });
});

/** Marks of a filter follow the rows for as long as anybody uses them. */
import t from "tap";
import { DerivedIndex } from "../../src/derived/derived-index.js";
import { rowPrefix } from "../../src/storage/keys.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { KIND } from "./words.js";

const PREFIX = rowPrefix(7, 3);

async function indexOf() {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const index = new DerivedIndex({ tenantNumber: 7, storageId: 3, indexId: 4, rowPrefix: PREFIX }, KIND, shard);
  const write = (name: string, word: string | null) => {
    const key = Buffer.concat([PREFIX, Buffer.from(name)]);
    index.applied({ key, value: word === null ? null : Buffer.from(word) });
    index.fold(() => false);
    return index.slotOf(key);
  };
  return { index, write };
}

t.test("marks that are in use are kept true after many others took their place", async (t) => {
  const { index, write } = await indexOf();
  const slot = write("a", "mine")!;
  const first = index.marks.of("owner = 1");
  const second = index.marks.of("owner = 1");
  t.equal(first, second, "two searches share them");
  first.note(slot, true);
  for (let i = 0; i < 70; i++) index.marks.release(index.marks.of(`owner of others = ${i}`));
  index.marks.release(second);
  // Another owner's row takes the slot.
  write("a", null);
  t.equal(write("b", "theirs"), slot);
  t.notOk(first.isKnown(slot), "nobody knows whether it passes");
  t.notOk(first.passes(slot));
  t.equal(first.passingCount, 0);
  index.marks.release(first);
  const later = index.marks.of("owner = 1");
  t.not(later, first, "these are gone");
});

t.test("marks without a name, and those that are kept, follow the rows, too", async (t) => {
  const { index, write } = await indexOf();
  const slot = write("a", "one")!;
  const own = index.marks.of(null);
  t.not(index.marks.of(null), own);
  const kept = index.marks.of("x");
  for (const marks of [own, kept]) marks.note(slot, true);
  index.marks.release(kept);
  write("a", "two");
  t.notOk(own.isKnown(slot));
  t.notOk(kept.isKnown(slot));
  t.equal(index.marks.of("x"), kept);
});

/** Body and newer entries are what the engine holds, at any time, whatever happened to shard, file and log before. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { DerivedIndex } from "../../src/derived/derived-index.js";
import { DerivedIndexes, type DerivedIndexesOptions, type IndexMemory } from "../../src/derived/derived-indexes.js";
import type { IndexKind } from "../../src/derived/index-body.js";
import { writtenKeys } from "../../src/derived/index-file.js";
import type { Turns } from "../../src/protocol/turns.js";
import { FoldedForSearch } from "../../src/query/exec/vector-corrections.js";
import type { CommitLog } from "../../src/storage/commit-log.js";
import type { Engine } from "../../src/storage/engine.js";
import { rowPrefix } from "../../src/storage/keys.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import { tries } from "../lengths.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { directory } from "../storage/shards.js";
import { alone, held, PLACE, PREFIX, settle, shardWithRows, stored, TENANT, wordRow } from "./index-store.js";
import { KIND, SLOW_KIND, Words } from "./words.js";

const LARGE = { operations: 12, bytes: 1e6, stepOperations: 5, stepBytes: 1e6 };

class Random {
  constructor(private state: number) {}

  below(bound: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * bound);
  }
}

/** A shard with its indexes, closed and opened again over the same engine. */
class Node {
  private constructor(
    readonly shard: Shard,
    readonly indexes: DerivedIndexes,
    readonly warnings: string[],
    readonly kind: IndexKind<string, Words>,
  ) {}

  static async open(
    engine: Engine,
    log: CommitLog,
    files: string | null,
    memory: IndexMemory,
    elsewhere: DerivedIndexesOptions["elsewhere"] = null,
    kind = KIND,
  ): Promise<Node> {
    const shard = await Shard.open({ engine, log, largeSizes: LARGE });
    const warnings: string[] = [];
    const turns: Turns = { shouldYield: () => true, yieldTurn: settle };
    const indexes = new DerivedIndexes({
      store: shard,
      directory: files,
      memory,
      turnsOf: () => turns,
      elsewhere,
      durable: async () => {
        while (shard.durableSequence < shard.committedSequence) await settle();
      },
      warn: (message) => warnings.push(message),
    });
    shard.onApplied = (operations) => indexes.applied(operations);
    return new Node(shard, indexes, warnings, kind);
  }

  find(): DerivedIndex<string, Words> | null {
    return this.indexes.find(PLACE, this.kind);
  }

  async ready(): Promise<DerivedIndex<string, Words>> {
    this.find();
    await this.indexes.idle();
    return this.find()!;
  }

  async write(random: Random): Promise<void> {
    // One large commit waits for another.
    if (this.shard.hasBacklog) return;
    const tx = this.shard.begin();
    const count = random.below(5) === 0 ? 40 : 1 + random.below(4);
    for (let i = 0; i < count; i++) {
      const key = Buffer.concat([PREFIX, Buffer.from(`k${random.below(60)}`)]);
      if (random.below(3) === 0) tx.delete(key);
      else tx.put(key, Buffer.from(random.below(8) === 0 ? "" : `w${random.below(1000)}`));
    }
    tx.put(Buffer.concat([rowPrefix(TENANT, 2), Buffer.from("other")]), Buffer.from("x"));
    await tx.prepareCommit({ checkpoint: () => {}, shouldYield: () => false, yieldTurn: settle });
    tx.commit();
    this.shard.flush();
  }

  async some(random: Random): Promise<void> {
    if (this.shard.hasBacklog) {
      await this.shard.backlogReady();
      this.shard.applySome();
    }
    if (random.below(2) === 0) await settle();
  }

  async quiet(): Promise<void> {
    await applyBacklog(this.shard);
    await this.indexes.idle();
  }
}

function differs(t: Test, node: Node, index: DerivedIndex<string, Words>, when: string): void {
  const sorted = (rows: Map<string, string>) => [...rows].sort().join(" ");
  const found = sorted(held(index));
  const expected = sorted(stored(node.shard.engine));
  if (found !== expected) t.equal(found, expected, when);
}

function damage(files: string, random: Random): void {
  for (const name of readdirSync(files)) {
    const path = join(files, name);
    const bytes = readFileSync(path);
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    writeFileSync(path, bytes);
  }
}

const SEEDS = tries(10);

t.test("random histories with restarts, lost logs and damaged files", async (t) => {
  let fromFiles = 0;
  let elsewhere = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = new Random(seed);
    const files = directory(t);
    const engine = new MemoryEngine();
    engine.close = () => Promise.resolve();
    let log = new MemoryCommitLog();
    log.close = () => Promise.resolve();
    for (let life = 0; life < 4; life++) {
      const memory = { bytes: 0, bytesMax: 1e9 };
      const workElsewhere = {
        free: 1 + random.below(3),
        run: async (job: unknown) => {
          elsewhere++;
          const words = job as Words;
          for (let i = random.below(20); i > 0 && !words.isStopped; i--) await settle();
          if (random.below(6) === 0) throw new Error("the thread ended");
          if (!words.isStopped) words.worked = words.words.length;
        },
      };
      const kind = seed % 3 === 0 ? SLOW_KIND : KIND;
      const node = await Node.open(engine, log, files, memory, workElsewhere, kind);
      const isAsked = random.below(4) > 0;
      for (let step = 0; step < 40; step++) {
        if (random.below(2) === 0) await node.write(random);
        await node.some(random);
        const index = isAsked && step > 5 ? node.find() : null;
        if (index !== null) differs(t, node, index, `seed ${seed}, life ${life}, step ${step}`);
        if (index !== null && random.below(4) === 0) {
          index.fold(() => random.below(3) === 0);
          differs(t, node, index, `seed ${seed}, life ${life}, after folding`);
        }
      }
      await node.quiet();
      const index = await node.ready();
      if (index.rowsRead === 0 && index.count > 0) fromFiles++;
      await node.quiet();
      differs(t, node, index, `seed ${seed}, at the end of life ${life}`);
      if (memory.bytes !== index.bytes) t.equal(memory.bytes, index.bytes, "memory is counted");
      if (random.below(4) > 0) await node.indexes.close();
      await node.shard.close();
      if (random.below(4) === 0) {
        log = new MemoryCommitLog();
        log.close = () => Promise.resolve();
      }
      if (random.below(4) === 0) damage(files, random);
    }
  }
  t.ok(elsewhere > 0, `${elsewhere} jobs were done elsewhere`);
  t.ok(fromFiles > 0, `${fromFiles} lives began with a saved index and the log`);
});

t.test("an index of another definition is made anew, one past the memory is thrown out", async (t) => {
  const engine = new MemoryEngine();
  engine.close = () => Promise.resolve();
  const files = directory(t);
  const node = await Node.open(engine, new MemoryCommitLog(), files, { bytes: 0, bytesMax: 1e6 });
  const random = new Random(5);
  for (let i = 0; i < 10; i++) await node.write(random);
  await node.quiet();
  const index = await node.ready();
  t.ok(index.count > 10);
  t.equal(node.indexes.find(PLACE, { ...KIND, definition: "words 2" }), null);
  t.equal(index.state, "dropped");
  t.equal(node.indexes.progress(TENANT, 4)?.state, "opening");
  await node.quiet();
  t.ok(node.indexes.find(PLACE, { ...KIND, definition: "words 2" }));
  await node.indexes.close();
  await node.shard.close();
  const small = await Node.open(engine, new MemoryCommitLog(), files, { bytes: 0, bytesMax: 100 });
  small.find();
  await small.quiet();
  t.match(small.warnings.join(), /bound/);
  t.equal(small.indexes.progress(TENANT, 4), null);
  let searches = 0;
  for (; small.indexes.progress(TENANT, 4) === null; searches++) small.find();
  t.equal(searches, 65, "it is not made again for each search");
  await small.quiet();
  t.equal(small.warnings.length, 1, "it is told once");
  for (searches = 0; small.indexes.progress(TENANT, 4) === null; searches++) small.find();
  t.equal(searches, 129);
  await small.quiet();
  await small.indexes.dropIndex(TENANT, 4);
  t.same(readdirSync(files), []);
  await small.indexes.close();
  await small.shard.close();
});

t.test("an index that cannot be made costs no write: it is put off, with one warning", async (t) => {
  const store = await shardWithRows(3);
  const warnings: string[] = [];
  const indexes = alone({ store, warn: (message) => warnings.push(message) });
  let tried = 0;
  const kind: IndexKind<string, Words> = {
    ...KIND,
    create: () => {
      if (tried++ === 0) throw new RangeError("could not allocate memory");
      return new Words();
    },
  };
  indexes.expect(TENANT, 3, () => void indexes.find(PLACE, kind));
  t.ok(indexes.followsRows(PREFIX), "a load tells it of its rows");
  indexes.applied([{ key: Buffer.concat([PREFIX, Buffer.from("k")]), value: Buffer.from("x") }]);
  t.match(warnings, [/could not allocate memory/]);
  for (let i = 0; i < 64; i++) t.equal(indexes.find(PLACE, kind), null);
  t.equal(tried, 1, "searches go on without it");
  indexes.find(PLACE, kind);
  await indexes.idle();
  t.equal(indexes.find(PLACE, kind)?.count, 3);
  t.equal(warnings.length, 1);
  await indexes.close();
  await store.close();
});

t.test("close does not wait for ever for threads that do not end", async (t) => {
  const store = await shardWithRows(20);
  const warnings: string[] = [];
  const elsewhere = { free: 1, run: () => new Promise<void>(() => undefined) };
  const warn = (message: string) => void warnings.push(message);
  const indexes = alone({ store, elsewhere, warn, closeMaxMs: 50, directory: directory(t) });
  indexes.find(PLACE, KIND);
  while (indexes.find(PLACE, KIND)?.body.isAway !== true) await settle();
  await indexes.close();
  t.match(warnings, [/threads have not ended/]);
  await store.close();
});

t.test("threads that can do nothing are given nothing more", async (t) => {
  const store = await shardWithRows(20);
  let runs = 0;
  const elsewhere = { free: 1, run: async () => void runs++ };
  const indexes = alone({ store, elsewhere });
  indexes.find(PLACE, KIND);
  await indexes.idle();
  t.equal(runs, 1);
  t.equal(indexes.find(PLACE, KIND)!.body.hasWork, false, "it is done here");
  await indexes.close();
  await store.close();
});

t.test("what a file's body holds without a key goes when it is loaded", async (t) => {
  const store = await shardWithRows(3);
  const files = directory(t);
  const first = alone({ store, directory: files });
  first.find(PLACE, KIND);
  await first.idle();
  // A body that kept one of which the keys know nothing.
  const slot = first.find(PLACE, KIND)!.body.add("stray");
  first.find(PLACE, KIND)!.applied({ key: Buffer.concat([PREFIX, Buffer.from("k3")]), value: Buffer.from("y") });
  await first.close();
  const second = alone({ store, directory: files });
  second.find(PLACE, KIND);
  await second.idle();
  const index = second.find(PLACE, KIND)!;
  t.equal(index.rowsRead, 0, "it is from the file");
  t.notOk(index.body.has(slot));
  await second.close();
  await store.close();
});

t.test("what the engine takes goes into the body at once, so much of it as a turn has time for", async (t) => {
  const store = await shardWithRows(3);
  const indexes = alone({ store });
  indexes.find(PLACE, KIND);
  await indexes.idle();
  const index = indexes.find(PLACE, KIND)!;
  const rows = Array.from({ length: 300 }, (_, i) => wordRow(`row${String(i).padStart(6, "0")}`));
  const gone = { key: Buffer.concat([PREFIX, Buffer.from("k1")]), value: null };
  indexes.applied([gone, ...rows]);
  t.same([index.entries.size, index.count, index.folded], [45, 3 - 1 + 255, 256]);
  indexes.applied([{ key: rows[0]!.key, value: null }]);
  t.equal(index.entries.size, 46, "what comes after others waits, too");
  await indexes.idle();
  t.same([index.entries.size, index.count], [0, 3 - 1 + 299]);
  await indexes.close();
  await store.close();
});

t.test("an index that is made with its table's first row is ready at once", async (t) => {
  const store = await shardWithRows(0);
  const indexes = alone({ store });
  indexes.expect(TENANT, 3, () => void indexes.find(PLACE, KIND));
  indexes.applied([wordRow("a"), wordRow("b")]);
  t.equal(indexes.find(PLACE, KIND)?.count, 2);
  await indexes.idle();
  t.equal(indexes.find(PLACE, KIND)?.rowsRead, 0);
  await indexes.close();
  await store.close();
});

/** May be changed while it is saved. */
class CopiedWords extends Words {
  isHeld = false;

  saveNow(): Uint8Array[] {
    if (this.isHeld) throw new Error("two saves at a time");
    this.isHeld = true;
    return [Buffer.from(JSON.stringify(this.words))];
  }

  saved(): void {
    this.isHeld = false;
  }
}

t.test("keys and body of a save are of one moment, though the keys are copied in steps", async (t) => {
  const store = await shardWithRows(5);
  const indexes = alone({ store });
  const kind: IndexKind<string, Words> = { ...KIND, create: () => new CopiedWords() };
  indexes.find(PLACE, kind);
  await indexes.idle();
  const index = indexes.find(PLACE, kind)!;
  const row = (name: string, value: string | null) =>
    index.applied({
      key: Buffer.concat([PREFIX, Buffer.from(name)]),
      value: value === null ? null : Buffer.from(value),
    });
  let steps = 0;
  const yieldTurn = async () => {
    steps++;
    row(`new${steps}`, "y");
    row(`rest${steps}`, "");
    row("k0", null);
    t.notOk(
      index.fold(() => false),
      "what arrives meanwhile waits",
    );
    await settle();
  };
  row("empty", "");
  index.fold(() => false);
  const content = (await index.content({ shouldYield: () => true, yieldTurn }))!;
  t.ok(steps >= 2, `${steps} steps`);
  const keys = writtenKeys(["k0", "k1", "k2", "k3", "k4"]);
  t.same(content.keys, { pieces: [keys], count: 5, characters: 10 });
  t.same(content.rest, { pieces: [writtenKeys(["empty"])], count: 1, characters: 5 });
  t.equal(Buffer.concat([...content.body]).toString(), '["x","x","x","x","x"]');
  t.ok(
    index.fold(() => false),
    "and then goes on",
  );
  index.contentDone();
  const ends = { shouldYield: () => true, yieldTurn: () => Promise.reject(new Error("over")) };
  await t.rejects(index.content(ends), /over/);
  t.notOk((index.body as CopiedWords).isHeld, "a save that fails holds nothing");
  await indexes.close();
  await store.close();
});

t.test("a search puts in no more than there was when it began, and an index that is behind says so", async (t) => {
  const store = await shardWithRows(1);
  const indexes = alone({ store });
  indexes.find(PLACE, KIND);
  await indexes.idle();
  const index = indexes.find(PLACE, KIND)!;
  let rows = 0;
  const arrive = (count: number): void => {
    for (let i = 0; i < count; i++) index.applied(wordRow(`row${String(rows++).padStart(6, "0")}`));
  };
  arrive(1500);
  t.notOk(indexes.isBehind);
  const folded = new FoldedForSearch(index as never);
  let turns = 0;
  for (; !folded.goOn(turnOf(100)); turns++) arrive(100);
  t.equal(turns, 14, "as many turns as it has without others that write");
  t.equal(index.entries.size, 1400, "what came meanwhile is left");
  arrive(5000);
  t.ok(indexes.isBehind);
  const other = new FoldedForSearch(index as never);
  for (turns = 0; turns < 200 && !other.goOn(turnOf(100)); turns++) arrive(60);
  t.ok(index.entries.size <= 2000, "so many are compared one by one, and no more");
  t.notOk(indexes.isBehind);
  await indexes.close();
  await store.close();
});

/** Over after so many steps. */
function turnOf(steps: number): () => boolean {
  let left = steps;
  return () => --left <= 0;
}

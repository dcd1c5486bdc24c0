/**
 * Branches read the columns of their origins, and reads of the past those of the present. Whatever the origin and the
 * branch write, and whenever files are made, every scan of a branch, and of an earlier moment, must give the rows that
 * a plain model has.
 */
import t, { type Test } from "tap";
import type { Turns } from "../../src/protocol/turns.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { finishBacklog } from "../../src/storage/engine-has-all.js";
import { branchKey, historyRecordKey } from "../../src/storage/history-keys.js";
import { tries } from "../lengths.js";
import { Random } from "./random-plans.js";
import { Read } from "./read-side.js";

t.setTimeout(300_000);

const ROOT = 7;
const ROWS = 400;
const ALL = "SELECT a, v FROM m";
/** Some rows of it. */
const SOME = "SELECT count(*), coalesce(sum(v), 0) FROM m WHERE v % 3 = 0";

type Model = Map<number, number>;

/** A tenant after a commit. */
interface Moment {
  readonly number: number;
  readonly sequence: number;
  readonly model: Model;
}

class Tree {
  readonly models = new Map<number, Model>();
  private readonly sessions = new Map<number, Session>();
  private last = 2 ** 30;

  private constructor(readonly read: Read) {}

  static async open(t: Test, count = ROWS): Promise<Tree> {
    const tree = new Tree(await Read.open(t));
    await tree.run(ROOT, "CREATE TABLE m (a int PRIMARY KEY, v int, t text)");
    await tree.run(ROOT, `INSERT INTO m SELECT i, i, 'text ' || i FROM generate_series(1, ${count}) i`);
    tree.models.set(ROOT, new Map(Array.from({ length: count }, (_, i) => [i + 1, i + 1])));
    await tree.read.makeColumns();
    return tree;
  }

  get numbers(): readonly number[] {
    return [...this.models.keys()];
  }

  fork(origin: number): number {
    const { partition } = this.read.side;
    const number = ++this.last;
    const record = { origin, root: ROOT, name: `b${number}`, createdBy: "u", createdAt: "", start: null };
    const tx = partition.shard.begin();
    tx.put(branchKey(number), Buffer.from(JSON.stringify({ ...record, expiresAtMs: null })));
    partition.tenant(origin).commit(tx);
    this.read.side.flush();
    this.keepPast(number);
    this.models.set(number, new Map(this.models.get(origin)));
    return number;
  }

  keepPast(number: number): void {
    const { partition } = this.read.side;
    const tx = partition.shard.begin();
    tx.put(historyRecordKey(number), Buffer.from("{}"));
    partition.tenant(number).commit(tx);
    this.read.side.flush();
  }

  moment(number: number): Moment {
    const sequence = this.read.side.partition.shard.committedSequence;
    return { number, sequence, model: new Map(this.models.get(number)) };
  }

  /** Whether a read of the moment has columns. */
  hasColumns({ number, sequence }: Moment): boolean {
    const [pasts] = this.read.side.segments.pasts.values();
    return pasts!.at(number, sequence).tablesOf(number).length > 0;
  }

  async run(number: number, sql: string): Promise<readonly (readonly unknown[])[]> {
    const tenant = this.read.side.partition.tenant(number);
    const options = { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "statements" } as const;
    const session = this.sessions.get(number) ?? new Session(tenant, options);
    this.sessions.set(number, session);
    const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
    const outcome = await session.execute({ sql, params: [], maxRows: 100_000, collector: plainRows, request }, (tx) =>
      tenant.commit(tx),
    );
    await finishBacklog(this.read.side.partition.shard);
    return outcome.rows.plain!;
  }

  /** A statement, and the same in the model. */
  async write(number: number, random: Random): Promise<void> {
    const model = this.models.get(number)!;
    const from = 1 + random.below(ROWS + 40);
    const to = from + random.below(random.below(6) === 0 ? 200 : 12);
    const v = random.below(1000);
    const kind = random.below(3);
    if (kind === 0) {
      await this.run(number, `DELETE FROM m WHERE a BETWEEN ${from} AND ${to}`);
      for (let a = from; a <= to; a++) model.delete(a);
    } else if (kind === 1) {
      await this.run(number, `UPDATE m SET v = v + ${v} WHERE a BETWEEN ${from} AND ${to}`);
      for (let a = from; a <= to; a++) if (model.has(a)) model.set(a, model.get(a)! + v);
    } else {
      const rows = `SELECT i, ${v}, 'new' FROM generate_series(${from}, ${to}) i`;
      await this.run(number, `INSERT INTO m ${rows} ON CONFLICT (a) DO UPDATE SET v = ${v}`);
      for (let a = from; a <= to; a++) model.set(a, v);
    }
  }

  async check(t: Test, number: number, what: string, { model, sequence } = this.moment(number)): Promise<void> {
    const asOf = sequence === this.moment(number).sequence ? "" : ` AS OF SEQUENCE ${sequence}`;
    const rows = [...model].sort(([a], [b]) => a - b);
    t.same(await this.run(number, `${ALL}${asOf}`), rows, `${what}${asOf}`);
    const some = rows.map(([, v]) => v).filter((v) => v % 3 === 0);
    const sum = some.reduce((all, v) => all + v, 0);
    t.same(await this.run(number, `${SOME}${asOf}`), [[some.length, sum]], `${what}${asOf}, some`);
  }

  /** Branches whose table has segments of its origin. */
  get lent(): number {
    const { segments } = this.read.side;
    return this.numbers.filter((number) => segments.tablesOf(number).some(({ isLent }) => isLent)).length;
  }
}

t.test("a branch reads the columns of its origin, corrected by what either has written", async (t) => {
  const tree = await Tree.open(t);
  const branch = tree.fork(ROOT);
  await tree.run(ROOT, "UPDATE m SET v = -1 WHERE a <= 3");
  await tree.run(ROOT, "DELETE FROM m WHERE a = 10");
  await tree.run(branch, "DELETE FROM m WHERE a = 20");
  await tree.run(branch, "INSERT INTO m VALUES (1000, 5, 'of the branch')");
  t.same(await tree.run(branch, "SELECT count(*), sum(v) FROM m"), [[ROWS, (ROWS * (ROWS + 1)) / 2 - 15]]);
  t.equal(tree.lent, 1);
  await tree.run(branch, "UPDATE m SET v = v + 1");
  t.same(await tree.run(branch, "SELECT sum(v) FROM m"), [[(ROWS * (ROWS + 1)) / 2 - 15 + ROWS]], "later writes, too");
  const inner = tree.fork(branch);
  await tree.run(branch, "DELETE FROM m WHERE a < 100");
  t.same(await tree.run(inner, "SELECT count(*) FROM m"), [[ROWS]], "of a branch of a branch");
});

t.test("a branch with a column of its own makes its own segments", async (t) => {
  const tree = await Tree.open(t, 60);
  const branch = tree.fork(ROOT);
  t.same(await tree.run(branch, "SELECT sum(v) FROM m"), [[1830]]);
  t.equal(tree.lent, 1);
  await tree.run(branch, "ALTER TABLE m ADD COLUMN w int DEFAULT 2");
  await tree.run(branch, "UPDATE m SET w = 3 WHERE a = 5");
  for (let i = 0; i < 3; i++) t.same(await tree.run(branch, "SELECT sum(w), sum(v) FROM m"), [[121, 1830]]);
  t.equal(tree.lent, 0);
});

t.test("where most rows differ, a branch reads its records", async (t) => {
  const tree = await Tree.open(t);
  const last = 5 * ROWS;
  for (let from = ROWS; from < last; from += ROWS) {
    await tree.run(ROOT, `INSERT INTO m SELECT i, i, 'text ' || i FROM generate_series(${from + 1}, ${from + ROWS}) i`);
  }
  await tree.read.makeColumns();
  const branch = tree.fork(ROOT);
  for (let from = 0; from < last; from += ROWS) {
    await tree.run(ROOT, `UPDATE m SET v = 0 WHERE a > ${from} AND a <= ${from + ROWS}`);
  }
  await tree.read.makeColumns();
  t.same(await tree.run(branch, "SELECT sum(v) FROM m"), [[(last * (last + 1)) / 2]]);
  t.equal(tree.lent, 0);
  t.same(await tree.run(branch, "SELECT sum(v) FROM m"), [[(last * (last + 1)) / 2]], "and again");
});

t.test("random histories of an origin and its branches", async (t) => {
  const runs = tries(2);
  let [lent, past] = [0, 0];
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(seed * 7919);
    const tree = await Tree.open(t);
    tree.keepPast(ROOT);
    tree.fork(ROOT);
    const moments = [tree.moment(ROOT)];
    for (let step = 0; step < 60; step++) {
      const number = tree.numbers[random.below(tree.numbers.length)]!;
      const dice = random.below(10);
      if (dice < 4) await tree.write(number, random);
      else if (dice === 4 && tree.numbers.length < 8) tree.fork(number);
      else if (dice === 5) await tree.read.makeColumns();
      else if (dice === 6 && number !== ROOT) tree.read.side.segments.dropTenant(number);
      else if (dice === 7) {
        await tree.run(number, "BEGIN");
        await tree.run(number, `UPDATE m SET v = v + 1 WHERE a < ${random.below(ROWS)}`);
        await tree.run(number, ALL);
        await tree.run(number, "ROLLBACK");
      } else if (dice === 8) {
        const moment = moments[random.below(moments.length)]!;
        await tree.check(t, moment.number, `seed ${seed}, step ${step}, tenant ${moment.number}`, moment);
        if (tree.hasColumns(moment)) past++;
        moments.push(tree.moment(number));
      } else await tree.check(t, number, `seed ${seed}, step ${step}, tenant ${number}`);
      lent += tree.lent;
    }
    for (const number of tree.numbers) await tree.check(t, number, `seed ${seed}, at the end, tenant ${number}`);
  }
  t.ok(lent > 0, "segments were lent");
  t.ok(past > 0, "and to reads of the past");
});

t.test("a read of the past reads the columns of the present, corrected by what was written since", async (t) => {
  const tree = await Tree.open(t);
  tree.keepPast(ROOT);
  const moment = tree.moment(ROOT);
  await tree.run(ROOT, "UPDATE m SET v = -1 WHERE a <= 3");
  await tree.run(ROOT, "UPDATE m SET v = -2 WHERE a <= 3");
  await tree.run(ROOT, "DELETE FROM m WHERE a = 10");
  await tree.run(ROOT, "INSERT INTO m VALUES (1000, 5, 'later')");
  await tree.check(t, ROOT, "before files are made again", moment);
  t.ok(tree.hasColumns(moment));
  await tree.run(ROOT, "DELETE FROM m WHERE a = 11");
  await tree.check(t, ROOT, "the same columns", moment);
  await tree.run(ROOT, "UPDATE m SET v = v + 1 WHERE a BETWEEN 4 AND 40");
  await tree.read.makeColumns();
  tree.read.side.segments.pasts.forEach((pasts) => {
    for (let i = 0; i < 4; i++) pasts.at(ROOT, i);
  });
  await tree.check(t, ROOT, "new files, and new columns of the past", moment);
  await tree.run(ROOT, "ALTER TABLE m DROP COLUMN v");
  await tree.check(t, ROOT, "a column that was dropped", moment);
});

for (const what of ["a branch", "a read of the past"]) {
  t.test(`what is being lent to ${what} ends before the engine is closed`, async (t) => {
    const tree = await Tree.open(t);
    tree.keepPast(ROOT);
    const branch = tree.fork(ROOT);
    const { sequence } = tree.moment(ROOT);
    for (let from = 1; from < ROWS; from += 100)
      await tree.run(ROOT, `UPDATE m SET v = 0 WHERE a BETWEEN ${from} AND ${from + 80}`);
    const { partition } = tree.read.side;
    const columns = partition.columns as unknown as Record<"lends" | "pasts", { turnsOf: () => Turns }>;
    const waiting: (() => void)[] = [];
    const turns = { shouldYield: () => true, yieldTurn: () => new Promise<void>((resolve) => waiting.push(resolve)) };
    columns.lends.turnsOf = () => turns;
    columns.pasts.turnsOf = () => turns;
    const asked = what === "a branch" ? tree.run(branch, SOME) : tree.run(ROOT, `${SOME} AS OF SEQUENCE ${sequence}`);
    asked.catch(() => undefined);
    while (waiting.length === 0) await new Promise(setImmediate);
    let isClosed = false;
    const closing = partition.close().then(() => {
      isClosed = true;
    });
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve, 2));
    t.notOk(isClosed, "it waits");
    t.equal(waiting.length, 1);
    waiting.pop()!();
    await closing;
    t.equal(waiting.length, 0, "the next turn was the last");
  });
}

t.test("where many rows were written since, a read of the past reads records", async (t) => {
  const tree = await Tree.open(t);
  const last = 5 * ROWS;
  for (let from = ROWS; from < last; from += ROWS) {
    await tree.run(ROOT, `INSERT INTO m SELECT i, i, 'text ' || i FROM generate_series(${from + 1}, ${from + ROWS}) i`);
  }
  await tree.read.makeColumns();
  tree.keepPast(ROOT);
  const moment = tree.moment(ROOT);
  const asOf = `SELECT sum(v) FROM m AS OF SEQUENCE ${moment.sequence}`;
  const sum = [[(last * (last + 1)) / 2]];
  for (let from = 0; from < last; from += ROWS) {
    await tree.run(ROOT, `UPDATE m SET v = 0 WHERE a > ${from} AND a <= ${from + ROWS}`);
    t.same(await tree.run(ROOT, asOf), sum, `after ${from + ROWS}`);
    if (from === 0) t.ok(tree.hasColumns(moment));
    tree.read.side.segments.pasts.forEach((pasts) => {
      for (let i = 0; i < 4; i++) pasts.at(ROOT, i);
    });
  }
  await tree.read.makeColumns();
  t.same(await tree.run(ROOT, asOf), sum);
  t.notOk(tree.hasColumns(moment));
});

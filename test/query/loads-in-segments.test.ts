/**
 * Loads that change rows which have columns: until the segments are made again, the changes are noted as the sorted
 * runs that they came in. Reads must be the same before, meanwhile and afterwards. Over a shard on disk.
 */
import t from "tap";
import { prefixRange } from "../../src/storage/keys.js";
import { tries } from "../lengths.js";
import { Loaded, range, STORED, SUMS, sums } from "./loaded-side.js";
import { Random } from "./random-plans.js";

const ROWS = 12_000;
/** Of all columns, of some that updates may not have changed, and from the end. */
const ALL = "SELECT count(*), sum(a), sum(b), count(c), min(c), max(c) FROM g";
const WITHOUT_B = "SELECT count(*), sum(a), count(c), max(c) FROM g WHERE a % 7 > 0";
const WITHOUT_C = "SELECT count(*), sum(a), sum(b) FROM g WHERE b % 3 > 0";
const LAST = "SELECT a, b FROM g ORDER BY a DESC LIMIT 5";

interface Row {
  readonly b: number;
  readonly c: string | null;
}

const rowOf = (a: number, b: number): Row => ({ b, c: a % 5 > 0 ? `text ${a}` : null });

/** Rows, and statements that change more than a thousand of them or one, in one of their columns. */
class History {
  readonly rows = new Map<number, Row>(range(1, ROWS).map(([a, b]) => [a, rowOf(a, b)]));
  private step = 1;

  constructor(private readonly random: Random) {}

  next(): string {
    const { random } = this;
    const modulus = 3 + random.below(6);
    const rest = random.below(modulus);
    const one = 1 + random.below(ROWS);
    const step = ++this.step;
    switch (random.below(10)) {
      case 0:
        return this.remove((a) => a % modulus === rest, `a % ${modulus} = ${rest}`);
      case 1:
        return this.remove((a) => a === one, `a = ${one}`);
      case 2:
        return this.putBack(modulus, rest, step);
      case 3:
        return this.update((a) => a === one, `a = ${one}`, { b: step });
      case 4:
        return this.update((a) => a === one, `a = ${one}`, { c: `one ${step}` });
      case 5:
      case 6:
        return this.update((a) => a % modulus === rest, `a % ${modulus} = ${rest}`, { c: `many ${step}` });
      default:
        return this.update((a) => a % modulus === rest, `a % ${modulus} = ${rest}`, { b: step });
    }
  }

  private update(isMeant: (a: number) => boolean, where: string, change: Partial<Row>): string {
    for (const [a, row] of this.rows) if (isMeant(a)) this.rows.set(a, { ...row, ...change });
    const [[column, value]] = Object.entries(change) as [[string, string | number]];
    return `UPDATE g SET ${column} = '${value}' WHERE ${where}`;
  }

  private remove(isMeant: (a: number) => boolean, where: string): string {
    for (const a of [...this.rows.keys()]) if (isMeant(a)) this.rows.delete(a);
    return `DELETE FROM g WHERE ${where}`;
  }

  private putBack(modulus: number, rest: number, b: number): string {
    for (let a = 1; a <= ROWS; a++) if (a % modulus === rest && !this.rows.has(a)) this.rows.set(a, rowOf(a, b));
    return `INSERT INTO g SELECT i, ${b}, CASE WHEN i % 5 > 0 THEN 'text ' || i END FROM generate_series(1, ${ROWS}) i
      WHERE i % ${modulus} = ${rest} ON CONFLICT DO NOTHING`;
  }

  /** What each query answers. */
  answers(): ReadonlyMap<string, string> {
    const rows = [...this.rows];
    const withoutB = rows.filter(([a]) => a % 7 > 0);
    const withoutC = rows.filter(([, { b }]) => b % 3 > 0);
    const last = [...rows].sort(([a], [b]) => b - a).slice(0, 5);
    const sumA = (some: typeof rows) => some.reduce((sum, [a]) => sum + a, 0);
    const sumB = (some: typeof rows) => some.reduce((sum, [, { b }]) => sum + b, 0);
    const texts = (some: typeof rows) => some.flatMap(([, { c }]) => (c === null ? [] : [c])).sort();
    const [all, some] = [texts(rows), texts(withoutB)];
    return new Map([
      [ALL, JSON.stringify([rows.length, sumA(rows), sumB(rows), all.length, all[0], all.at(-1)])],
      [WITHOUT_B, JSON.stringify([withoutB.length, sumA(withoutB), some.length, some.at(-1)])],
      [WITHOUT_C, JSON.stringify([withoutC.length, sumA(withoutC), sumB(withoutC)])],
      [LAST, last.map(([a, { b }]) => JSON.stringify([a, b])).join("\n")],
    ]);
  }
}

/** Builds what is due, and waits for it, or goes on beside it. */
async function make(loaded: Loaded, waits: boolean): Promise<void> {
  loaded.side.partition.sweep(Date.now(), new Set());
  if (waits) await loaded.built();
}

t.test("random histories of loads", async (t) => {
  let noted = 0;
  for (let seed = 1; seed <= tries(2); seed++) {
    const random = new Random(seed * 7919);
    const loaded = await Loaded.open(t);
    const history = new History(random);
    await loaded.insert(1, ROWS);
    await loaded.apply();
    await loaded.built();
    const check = async (when: string) => {
      for (const [query, answer] of history.answers()) {
        t.equal(await loaded.side.run(1, query), answer, `seed ${seed}, ${when}: ${query}`);
      }
    };
    for (let step = 0; step < 16; step++) {
      const sql = history.next();
      const answer = await loaded.side.run(0, sql);
      if (answer !== "") t.fail(`${sql}: ${answer}`);
      let looks = 0;
      await loaded.apply(async () => {
        if (looks++ < 2) await check(`while the engine takes ${sql}`);
      });
      const { table } = loaded;
      if ((table?.entries.loadBytes ?? 0) > 0) noted++;
      await check(sql);
      if (random.below(4) === 0) await make(loaded, random.below(2) === 0);
    }
    await loaded.built();
    for (let i = 0; i < 3; i++) await make(loaded, true);
    await check("after the last build");
    await loaded.close();
    await loaded.open();
    await check("after a start");
    await loaded.close();
  }
  t.ok(noted > tries(2), `loads were noted as they are, ${noted} times`);
});

t.test("who reads other columns does not see an update of many rows, and its own transaction neither", async (t) => {
  const loaded = await Loaded.open(t);
  await loaded.insert(1, ROWS);
  await loaded.apply();
  await loaded.built();
  const { side } = loaded;
  const corrections = (columns: readonly number[] | undefined): number => {
    const table = loaded.table!;
    const tx = side.partition.shard.begin({ readOnly: true });
    const range = prefixRange(table.rowPrefix);
    const found = tx.corrections(range, columns === undefined ? table : table.read(columns));
    let count = 0;
    for (; found.text !== null; found.advance()) count++;
    tx.rollback();
    return count;
  };
  const [a, b, c] = [0, 1, 2];
  await side.run(0, "UPDATE g SET b = 2 WHERE a % 10 = 3");
  side.flush();
  for (const when of ["before the engine has it", "afterwards"]) {
    t.equal(corrections([b]), ROWS / 10, when);
    t.equal(corrections(undefined), ROWS / 10, when);
    t.equal(corrections([a, c]), 0, when);
    await loaded.apply();
  }
  // What a later deletion has removed is gone for them, too; and what changed the column is seen beneath.
  await side.run(0, "DELETE FROM g WHERE a % 10 = 3 AND a % 20 = 3");
  await loaded.apply();
  t.equal(corrections([a, c]), ROWS / 20);
  await side.run(0, "UPDATE g SET c = 'same' WHERE a % 10 < 5");
  await loaded.apply();
  const kept = range(1, ROWS).filter(([a]) => a % 20 !== 3);
  const seen = async (sql: string): Promise<unknown> => JSON.parse(await side.run(1, sql));
  t.same(await seen("SELECT sum(b) FROM g"), [kept.length + kept.filter(([a]) => a % 10 === 3).length]);
  t.same(await seen("SELECT count(*) FROM g WHERE c = 'same'"), [kept.filter(([a]) => a % 10 < 5).length]);
  await side.run(0, "BEGIN");
  await side.run(0, "UPDATE g SET b = 7 WHERE a % 10 = 4");
  const inside = async (sql: string): Promise<unknown> => JSON.parse(await side.run(0, sql));
  t.same(await inside("SELECT count(*) FROM g WHERE b = 7"), [ROWS / 10]);
  t.same(await inside("SELECT count(*), count(c) FROM g WHERE a % 10 = 4"), [ROWS / 10, ROWS / 10]);
  await side.run(0, "UPDATE g SET a = a + 100000 WHERE a % 10 = 4");
  t.same(await inside("SELECT count(*) FROM g WHERE a > 100000"), [ROWS / 10], "a changed key is no such change");
  await side.run(0, "ROLLBACK");
  t.same(await seen("SELECT count(*) FROM g WHERE a > 100000 OR b = 7"), [0]);
  await loaded.close();
});

t.test("a load that replaces a single change of another column does not hide it", async (t) => {
  const loaded = await Loaded.open(t);
  await loaded.insert(1, ROWS);
  await loaded.apply();
  await loaded.built();
  await loaded.side.run(0, "UPDATE g SET c = 'alone' WHERE a = 13");
  await loaded.apply();
  await loaded.side.run(0, "UPDATE g SET b = 2 WHERE a % 10 = 3");
  await loaded.apply();
  t.ok(loaded.table!.entries.loadBytes > 0, "the load was noted as it is");
  t.equal(await loaded.side.run(1, "SELECT count(*), sum(a) FROM g WHERE c = 'alone'"), "[1,13]");
  t.equal(await loaded.side.run(1, "SELECT count(*) FROM g WHERE b = 2"), `[${ROWS / 10}]`);
  await loaded.close();
});

t.test("what a build has put into segments is forgotten, and what came meanwhile is not", async (t) => {
  // So little memory that the first changes are worth a build.
  const loaded = await Loaded.open(t, STORED, 2_000_000);
  await loaded.insert(1, ROWS);
  await loaded.apply();
  await loaded.built();
  await loaded.side.run(0, "UPDATE g SET b = 2 WHERE a % 10 = 3");
  await loaded.apply();
  t.equal(loaded.table!.entries.size, ROWS / 10);
  t.ok(loaded.table!.entries.loadBytes > 0, "the load was noted as it is");
  let builds = 0;
  loaded.onBuild = async () => {
    if (builds++ > 0) return;
    await loaded.side.run(0, "UPDATE g SET b = 3 WHERE a % 10 IN (3, 4)");
    await loaded.apply();
  };
  await make(loaded, true);
  t.equal(builds, 1);
  t.equal(loaded.table!.entries.size, ROWS / 5, "only the later writes are left");
  const expected = range(1, ROWS).map(([a, b]) => [a, a % 10 === 3 || a % 10 === 4 ? 3 : b] as const);
  t.equal(await loaded.side.run(1, SUMS), sums(expected));
  for (let i = 0; i < 4 && builds < 2; i++) await make(loaded, true);
  t.ok(loaded.table!.entries.isEmpty);
  t.equal(loaded.table!.entryBytes, 0);
  t.equal(await loaded.side.run(1, SUMS), sums(expected));
  await loaded.close();
});

t.test("a scan that comes to a gap takes segments that were made of it meanwhile", async (t) => {
  const loaded = await Loaded.open(t);
  const { side } = loaded;
  let holds = true;
  let release = (): void => undefined;
  await loaded.insert(1, ROWS);
  await loaded.apply();
  await loaded.built();
  loaded.onBuild = () =>
    holds
      ? new Promise((resolve) => {
          release = resolve;
        })
      : undefined;
  await loaded.insert(ROWS + 1, ROWS + 3000, 2);
  await loaded.apply();
  t.ok(
    loaded.table!.gaps().some(({ to }) => to === loaded.table!.end),
    "the new rows have no segments yet",
  );
  // A transaction that began before reads on what it saw.
  await side.run(2, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  await side.run(2, SUMS);
  let turns = 0;
  side.onTurn = async () => {
    if (turns++ > 0) return;
    holds = false;
    release();
    await loaded.built();
    await side.run(3, `DELETE FROM g WHERE a = ${ROWS + 5}`);
    side.flush();
  };
  loaded.read = 0;
  const expected = [...range(1, ROWS), ...range(ROWS + 1, ROWS + 3000, 2)];
  t.equal(await side.run(1, SUMS, true), sums(expected));
  t.ok(turns > 1, `${turns} turns`);
  t.ok(loaded.read < 100, `${loaded.read} records were read`);
  side.onTurn = () => Promise.resolve();
  t.equal(await side.run(2, SUMS, true), sums(expected));
  await side.run(2, "COMMIT");
  t.equal(await side.run(2, SUMS), sums(expected.filter(([a]) => a !== ROWS + 5)));
  await loaded.close();
});

t.test("the first rows of an order, whose scan opens again in the middle", async (t) => {
  const loaded = await Loaded.open(t);
  const { side } = loaded;
  const fill = async (from: number, to: number): Promise<void> => {
    await side.run(0, `INSERT INTO g SELECT i, 100000 - i, 'text' FROM generate_series(${from}, ${to}) i`);
    await loaded.apply();
  };
  await fill(1, 4000);
  await loaded.built();
  // The first rows by b are the last ones of the table: they are looked at before others are read.
  await fill(8001, ROWS);
  await loaded.built();
  await fill(4001, 8000);
  let turns = 0;
  side.onTurn = async () => {
    if (turns++ > 0) return;
    for (let i = 0; i < 3; i++) await make(loaded, true);
    t.same(
      loaded.table!.gaps().filter(({ to }) => to !== loaded.table!.end),
      [],
      "no gap is left between segments",
    );
  };
  const expected = Array.from({ length: 10 }, (_, i) => JSON.stringify([ROWS - i, 100_000 - ROWS + i])).join("\n");
  loaded.read = 0;
  t.equal(await side.run(1, "SELECT a, b FROM g ORDER BY b LIMIT 10", true), expected);
  t.ok(turns > 0 && loaded.read < 100, `${loaded.read} records were read in ${turns} turns`);
  await loaded.close();
});

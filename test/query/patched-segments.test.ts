/**
 * A segment that is made of its file and of what has changed in it has the rows that the engine has, and says the same
 * of them. Over a shard on disk, with tiny sizes; each segment is made a second time, of the engine's records.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { entryCount, valueAt } from "../../src/query/exec/segments/column.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { type BuildAnswer, type BuildJob, buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import { ColumnFile } from "../../src/query/exec/segments/stored/column-file.js";
import type { JobSpan } from "../../src/query/exec/segments/stored/segment-patch.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import type { Value } from "../../src/values/values.js";
import { tries } from "../lengths.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { directory } from "../storage/shards.js";
import { Random } from "./random-plans.js";
import { SIZES, Side } from "./segment-histories.js";

const ROWS = 64;
const STORED = { ...SIZES, segmentRows: ROWS, storedRowsMin: ROWS, fileRowsMin: ROWS };
/** So little that a dozen changes are worth a build. */
const MEMORY = 40_000;

/** A partition that makes every changed segment twice, and compares. */
class Twice {
  side!: Side;
  private shard!: Shard;
  /** Changed segments that were made of their files, and those that were not. */
  patched = 0;
  declined = 0;
  /** Called before each build. */
  onBuild: (job: BuildJob) => void = () => undefined;
  private tried = 0;

  static async open(t: Test): Promise<Twice> {
    const twice = new Twice(t, directory(t));
    const path = directory(t);
    const shard = await openShardOnDisk(path, { onDurable: (sequence) => twice.side.partition.onDisk(sequence) });
    twice.shard = shard;
    const build = async (job: BuildJob): Promise<BuildAnswer | null> => {
      twice.onBuild(job);
      await twice.compare(job);
      return buildColumns(job);
    };
    const tasks = { buildColumns: build } as unknown as LongTasks;
    twice.side = await Side.open(t, new SegmentCache(MEMORY, STORED), shard, { tasks });
    await twice.side.partition.keepColumns(path);
    // A long write goes on when what is before it is on disk.
    twice.side.onTurn = async () => {
      twice.side.flush();
      await new Promise((resolve) => setImmediate(resolve));
    };
    t.teardown(() => twice.side.partition.close());
    return twice;
  }

  private constructor(
    private readonly t: Test,
    private readonly scratch: string,
  ) {}

  async run(sql: string): Promise<string> {
    const answer = await this.side.run(0, sql, !sql.startsWith("SELECT"));
    if (/^error/.test(answer)) this.t.fail(`${sql}: ${answer}`);
    this.side.flush();
    await applyBacklog(this.shard);
    return answer;
  }

  async make(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      this.side.partition.sweep(Date.now(), new Set());
      await this.side.partition.columns!.idle();
    }
  }

  private async compare(job: BuildJob): Promise<void> {
    const made = async (name: string, changed: Partial<BuildJob>) => {
      const folder = join(this.scratch, `${this.tried++}-${name}`);
      mkdirSync(folder);
      const segmentsMax = Number.POSITIVE_INFINITY;
      return filesOf(await buildColumns({ ...job, folder, scratch: join(folder, "copy"), segmentsMax, ...changed }));
    };
    // Where there is no engine, only the file is left to make it of.
    const source = { kind: "engine", directory: join(this.scratch, "none") } as const;
    const patched: ColumnFile[] = [];
    const spans: JobSpan[] = [];
    for (const span of job.spans) {
      if (span.patch === undefined) continue;
      const files = await made("patched", { source, spans: [span] }).catch(() => []);
      patched.push(...files);
      if (files.length > 0) spans.push({ from: span.from, to: span.to });
      else this.declined++;
    }
    if (spans.length === 0) return;
    this.patched += spans.length;
    const [found, expected] = [rowsOf(job, patched), rowsOf(job, await made("read", { spans }))];
    if (JSON.stringify(found) !== JSON.stringify(expected)) this.t.same(found, expected, "the rows are the engine's");
    this.isTold(job, patched);
  }

  /** What the footer says of a column is true of its rows, and no entry of a dictionary is left over. */
  private isTold({ columns }: BuildJob, files: readonly ColumnFile[]): void {
    for (const stored of files.flatMap(({ segments }) => segments)) {
      for (const { id, type } of columns) {
        const column = stored.readColumn(id, type);
        if (column.kind === "dictionary") this.t.equal(new Set(column.codes).size, entryCount(column), type.name);
        if (column.kind !== "number") continue;
        const numbers = [...column.data].filter((_, i) => column.nulls?.[i] !== 1);
        const ordered = numbers.filter((number) => !Number.isNaN(number));
        const told = { hasNaN: column.hasNaN, hasNulls: column.nulls !== null, min: column.min, max: column.max };
        const [hasNaN, hasNulls] = [numbers.length > ordered.length, column.nulls?.includes(1) === true];
        this.t.same(told, { hasNaN, hasNulls, min: Math.min(...ordered), max: Math.max(...ordered) }, type.name);
      }
    }
  }
}

const filesOf = (answer: BuildAnswer | null) => answer!.paths.map((path) => new ColumnFile(path, 0));

/** Keys and values as text. */
function rowsOf({ columns }: BuildJob, files: readonly ColumnFile[]): readonly string[] {
  const textOf = (value: Value) =>
    Object.is(value, -0) ? "-0" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return files.flatMap(({ segments }) =>
    segments.flatMap((stored) => {
      const keys = stored.readKeys();
      const read = columns.map(({ id, type }) => stored.readColumn(id, type));
      return Array.from({ length: stored.rows }, (_, row) =>
        [Buffer.from(keys.at(row)).toString("hex"), ...read.map((column) => textOf(valueAt(column, row)))].join(),
      );
    }),
  );
}

const CREATE = `CREATE TABLE g (a int PRIMARY KEY, i int, l int8, n numeric(10,2), f float8, d date, o bool, t text,
  u varchar, k uuid, z text, j jsonb, y text[], s int[])`;

const COLUMNS: Record<string, (random: Random) => string> = {
  i: (random) => String(random.below(5) - 2),
  l: (random) => String(random.below(3) * 4_000_000_000),
  n: (random) => `${random.below(50)}.25`,
  f: (random) => ["'NaN'", "-0.0", "0", "0.5", "'-Infinity'"][random.below(5)]!,
  d: (random) => `DATE '2026-01-01' + ${random.below(9)}`,
  o: (random) => ["true", "false"][random.below(2)]!,
  t: (random) => `'${["", "a", "ünï", "b"][random.below(4)]}${random.below(random.below(9) === 0 ? 90 : 2)}'`,
  u: (random) => `'${["é", "x", ""][random.below(3)]}${random.below(100_000)}'`,
  k: (random) => `'00000000-0000-4000-8000-00000000000${random.below(4)}'`,
  z: () => "NULL",
  j: (random) =>
    `'{"a": ${random.below(4)}, "b": [${"1,".repeat(random.below(3))} "${random.below(random.below(9) === 0 ? 900 : 2)}"]}'`,
  y: (random) => `'{a,NULL,b${random.below(3)}}'`,
  s: (random) => `'{${random.below(100_000)},2}'`,
};

const literal = (name: string, random: Random) => (random.below(9) === 0 ? "NULL" : COLUMNS[name]!(random));

function change(random: Random): string {
  const names = Object.keys(COLUMNS);
  const name = names[random.below(names.length)]!;
  const [modulus, rest] = [3 + random.below(20), random.below(3)];
  switch (random.below(6)) {
    case 0:
      return `DELETE FROM g WHERE a % ${modulus + 4} = ${rest}`;
    case 1: {
      const row = () => `(${random.below(800)}, ${names.map((each) => literal(each, random)).join()})`;
      return `INSERT INTO g VALUES ${Array.from({ length: 1 + random.below(40) }, row).join()} ON CONFLICT DO NOTHING`;
    }
    case 2:
      // Nothing is another value than before.
      return `UPDATE g SET ${name} = ${name} WHERE a % ${modulus} = ${rest}`;
    default:
      return `UPDATE g SET ${name} = ${literal(name, random)} WHERE a % ${modulus} = ${rest}`;
  }
}

async function filled(t: Test, random: Random, count = 400): Promise<Twice> {
  const twice = await Twice.open(t);
  await twice.run(CREATE);
  const rows = Array.from({ length: count }, (_, n) => {
    return `(${2 * n}, ${Object.keys(COLUMNS).map((name) => literal(name, random))})`;
  });
  for (let i = 0; i < count; i += 400) await twice.run(`INSERT INTO g VALUES ${rows.slice(i, i + 400).join()}`);
  await twice.make();
  return twice;
}

t.test("random changes of a table", async (t) => {
  let [patched, declined] = [0, 0];
  for (let seed = 1; seed <= tries(1); seed++) {
    const random = new Random(seed * 7919);
    const twice = await filled(t, random);
    for (let round = 0; round < 12; round++) {
      for (let i = random.below(3); i >= 0; i--) await twice.run(change(random));
      await twice.make();
    }
    patched += twice.patched;
    declined += twice.declined;
  }
  t.ok(patched > 20 * declined, `${patched} segments were made of their files, ${declined} were not`);
  t.ok(patched > 20 * tries(1), `${patched} segments were made of their files`);
});

/** Many rows at once, which go into a load, or a few; the load says in which columns they may differ. */
function manyOrFew(random: Random): string {
  const names = Object.keys(COLUMNS);
  const [name, other] = [names[random.below(names.length)]!, names[random.below(names.length)]!];
  const [few, rest] = [40 + random.below(200), random.below(3)];
  const set = [...new Set([name, other])].map((each) => `${each} = ${literal(each, random)}`).join();
  switch (random.below(8)) {
    case 0:
      return `DELETE FROM g WHERE a % ${few} = ${rest}`;
    case 1:
      return `UPDATE g SET ${set} WHERE a % ${few} = ${rest}`;
    case 2:
      return `INSERT INTO g SELECT a + 1, ${names.join()} FROM g WHERE a % ${2 * few} = 0 ON CONFLICT DO NOTHING`;
    default:
      return `UPDATE g SET ${set} WHERE (a / 2) % 3 = ${rest}`;
  }
}

t.test("random changes of many rows, of which only some columns have to be looked at", async (t) => {
  let [known, unknown] = [0, 0];
  for (let seed = 1; seed <= tries(1); seed++) {
    const random = new Random(seed * 104_729);
    const twice = await filled(t, random, 3600);
    twice.onBuild = ({ spans }) => {
      for (const { patch } of spans) {
        if (patch?.changed === null) unknown++;
        else if (patch !== undefined) known++;
      }
    };
    for (let round = 0; round < 8; round++) {
      for (let i = random.below(3); i >= 0; i--) await twice.run(manyOrFew(random));
      await twice.make();
    }
    t.ok(twice.patched > 20, `${twice.patched} segments were made of their files`);
  }
  t.ok(known > 8 * tries(1), `of ${known} segments it was known which columns had changed`);
  t.ok(unknown > 8 * tries(1), `of ${unknown} it was not`);
});

t.test("of a column that was not changed, the page is copied", async (t) => {
  const twice = await filled(t, new Random(5));
  const jobs: BuildJob[] = [];
  twice.onBuild = (job) => jobs.push(job);
  const column = (id: number, segment: ColumnFile["segments"][number]) => segment.readPage(id).body;
  const before = () => new ColumnFile(jobs[0]!.spans[0]!.patch!.path, 0).segments;
  await twice.run("UPDATE g SET f = a + 0.5 WHERE a % 10 = 2");
  await twice.make();
  t.ok(twice.patched > 3);
  const ids = jobs[0]!.columns.map(({ id }) => id);
  const after = new ColumnFile(join(jobs[0]!.folder, `${jobs[0]!.firstFile}.columns`), 0).segments;
  const [old, made] = [before()[jobs[0]!.spans[0]!.patch!.number]!, after[0]!];
  const changed = ids.filter((id) => Buffer.compare(column(id, old), column(id, made)) !== 0);
  t.equal(changed.length, 1, "one column has another page");
});

t.test("what a damaged or lost file had is made of the engine's records", async (t) => {
  for (const how of ["damaged", "lost", "another"] as const) {
    const twice = await filled(t, new Random(6));
    await twice.run("UPDATE g SET i = 77 WHERE a % 10 = 2");
    const expected = await twice.run("SELECT count(*), sum(i), sum(n), min(a), max(t), count(DISTINCT u) FROM g");
    twice.onBuild = ({ spans }) => {
      for (const path of new Set(spans.flatMap(({ patch }) => patch?.path ?? []))) {
        const bytes = readFileSync(path);
        rmSync(path);
        if (how === "damaged") for (let at = 8; at < bytes.length; at += 64) bytes[at]! ^= 1;
        if (how !== "lost") writeFileSync(path, bytes);
      }
    };
    const { built } = twice.side.segments;
    await twice.make();
    t.equal(twice.patched, 0, how);
    t.ok(twice.declined > 3);
    t.ok(twice.side.segments.built > built, "the segments were made");
    t.equal(await twice.run("SELECT count(*), sum(i), sum(n), min(a), max(t), count(DISTINCT u) FROM g"), expected);
  }
});

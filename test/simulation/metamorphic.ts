/**
 * Random histories of changes and queries over tables and a graph, and ways of running one: on memory or RocksDB, with
 * the optimizer's rules or none, in batches of one row, with restarts, in one of several partitions. The answers must
 * be the same.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contextDefaults } from "../../src/query/exec/create-context.js";
import { RULES } from "../../src/query/optimize/optimize.js";
import type { Rule } from "../../src/query/optimize/rule.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { SETUP as TABLES, QueryGenerator as TableQueries } from "../conformance/random-sql.js";
import { open } from "../conformance/sql-adapter.js";
import { SETUP as GRAPH, QueryGenerator as GraphQueries } from "../cypher/random-queries.js";
import { sized } from "../lengths.js";
import { SeededRandom } from "./seeded-random.js";

const STEPS = sized(20, 60);

/** The statements of a history: what sets it up, then changes and queries. */
export function historyOf(seed: number): string[] {
  const random = new SeededRandom(seed);
  const chance = (): number => random.next();
  const tables = new TableQueries(chance);
  const graph = new GraphQueries(chance);
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const dice = random.next();
    if (dice < 0.4) return tables.query();
    if (dice < 0.6) return graph.query();
    return change(random, 100 + step);
  });
  return [...TABLES, "CREATE INDEX a_n ON a (n, s)", "CREATE INDEX FOR (n:N) ON (n.i)", ...GRAPH, ...steps];
}

function change(random: SeededRandom, fresh: number): string {
  const n = random.between(0, 9);
  const m = random.between(0, 9);
  return random.pick([
    `INSERT INTO a VALUES (${fresh}, ${n}, ${m * 10}, ${n}.25, 's${m}', ${n > 4}, '2024-0${(n % 9) + 1}-01')`,
    `INSERT INTO b VALUES (${fresh}, ${n}, ${m}, 't${n}', ${m}.5, NULL)`,
    `INSERT INTO c SELECT i, 'v' || (i % ${n + 2}) FROM generate_series(1, ${random.pick([3, 40, 1500])}) AS i`,
    `UPDATE a SET n = n + 1, s = s || 'x' WHERE n = ${n}`,
    `UPDATE b SET aid = ${n} WHERE aid = ${m} OR n > 6`,
    `UPDATE c SET v = 'w' WHERE k = ${n}`,
    `DELETE FROM c WHERE k > ${n}`,
    `DELETE FROM b WHERE id % 10 = ${n}`,
    `MATCH (n:N {i: ${n}}) SET n.x = ${m}, n:A`,
    `MATCH (n:N {i: ${n}}), (o:N {i: ${m}}) CREATE (n)-[:T {w: ${m}}]->(o)`,
    `CREATE (:N:B {i: ${fresh}, x: ${n}})`,
    `MATCH (n:N {i: ${n + 5}}) DETACH DELETE n`,
    `MATCH (:N {i: ${n}})-[r:T]->() DELETE r`,
  ]);
}

export interface Way {
  readonly name: string;
  readonly onDisk?: boolean;
  readonly rules?: readonly Rule[];
  readonly batchRows?: number;
  /** Of so many statements one comes after a restart. */
  readonly restartEvery?: number;
  /** Columns in files; they are made after so many statements. */
  readonly columnsEvery?: number;
  /** Which of several expressions fails first is open then. */
  readonly plansDiffer?: boolean;
}

export const WAYS: readonly Way[] = [
  { name: "in batches of one row", batchRows: 1 },
  { name: "without the optimizer's rules", rules: [], plansDiffer: true },
  { name: "on RocksDB", onDisk: true },
  { name: "with restarts", restartEvery: 9 },
  { name: "with columns in files, with restarts", onDisk: true, columnsEvery: 4, restartEvery: 17 },
  { name: "on RocksDB, with restarts, in batches of three rows", onDisk: true, restartEvery: 17, batchRows: 3 },
];

/** What a statement answered: its rows in no order, or its error. */
export async function answersOf(history: readonly string[], way: Way): Promise<string[]> {
  const allRules = [...RULES];
  const directory = way.onDisk ? mkdtempSync(join(tmpdir(), "tessera-metamorphic-")) : null;
  // The rules are one list for everybody; here nobody else is there.
  const rules = RULES as Rule[];
  rules.splice(0, rules.length, ...(way.rules ?? allRules));
  const { batchRows } = contextDefaults;
  contextDefaults.batchRows = way.batchRows ?? batchRows;
  try {
    return await run(history, way, directory);
  } finally {
    rules.splice(0, rules.length, ...allRules);
    contextDefaults.batchRows = batchRows;
    if (directory !== null) rmSync(directory, { recursive: true });
  }
}

async function run(history: readonly string[], way: Way, directory: string | null): Promise<string[]> {
  const inMemory = { engine: new MemoryEngine(), log: new MemoryCommitLog() };
  const storage = async () =>
    directory === null
      ? inMemory
      : {
          engine: await RocksEngine.open({ directory: join(directory, "rocksdb") }),
          log: await FileCommitLog.open({ directory: join(directory, "log"), segmentBytes: 50_000 }),
        };
  const columnsIn = way.columnsEvery === undefined ? null : directory;
  let database = await open(await storage(), false, columnsIn);
  const answers: string[] = [];
  for (const [i, sql] of history.entries()) {
    if (way.restartEvery !== undefined && i % way.restartEvery === way.restartEvery - 1) {
      await database.close();
      database = await open(await storage(), false, columnsIn);
    }
    if (way.columnsEvery !== undefined && i % way.columnsEvery === 0) await database.makeColumns();
    try {
      const { rows } = await database.exec(sql);
      answers.push(JSON.stringify(rows.map((row) => JSON.stringify(row)).sort()));
    } catch (error) {
      answers.push(`error ${(error as { code: string }).code}`);
    }
  }
  await database.close();
  return answers;
}

/** The first statement that is answered otherwise; null: none is. */
export function differenceOf(
  history: readonly string[],
  expected: readonly string[],
  found: readonly string[],
  way: Pick<Way, "plansDiffer">,
): string | null {
  for (const [i, answer] of expected.entries()) {
    const other = found[i]!;
    if (answer === other) continue;
    if (way.plansDiffer && (answer.startsWith("error") || other.startsWith("error"))) {
      // A change that failed in one of them only makes all that follows differ.
      if (!/^(SELECT|WITH|MATCH .*RETURN)/s.test(history[i]!)) return null;
      continue;
    }
    return `${history[i]}\n  ${answer.slice(0, 500)}\n  ${other.slice(0, 500)}`;
  }
  return null;
}

/**
 * The table of bench/growth, and what is asked of it. Eight columns: a key that rises, three integers (of 100 values,
 * of as many values as there are rows, of 10,000 values), a double precision, two texts of some 50 characters (one
 * different in each row, one of 5,000 values) and a timestamp. Sums are exact in every system: the numbers in `x` are
 * quarters.
 */

import { join } from "node:path";
import type { Row } from "../tpch/generate.js";
import { writeCsv } from "../tpch/postgres-side.js";
import { Random } from "../tpch/random.js";
import { COLORS } from "../tpch/vocabulary.js";

export const COLUMNS = ["id", "a", "b", "c", "x", "name", "kind", "stamp"] as const;

export const SCHEMA = `CREATE TABLE t (id bigint PRIMARY KEY, a integer, b integer, c integer, x double precision,
  name text, kind text, stamp timestamp)`;

const A_VALUES = 100;
const C_VALUES = 10_000;
const KINDS = 5000;
const WORDS = 5;
/** b = id × 48271 modulo a prime: a permutation without an order that a system could use. */
const B_FACTOR = 48_271;
const B_MODULUS = 2 ** 31 - 1;
const FIRST_SECOND = Date.UTC(2020, 0, 1) / 1000;

/** Rows of one file, which Tessera takes in one transaction. */
const ROWS_PER_FILE = 1_000_000;

/** Writes CSV files with a header each, and answers their paths. */
export function writeTable(folder: string, rows: number): string[] {
  const all = tableRows(rows);
  const files: string[] = [];
  for (let written = 0; written < rows; written += ROWS_PER_FILE) {
    const file = join(folder, `t-${files.length}.csv`);
    writeCsv(file, (emit) => {
      emit(COLUMNS);
      for (let i = written; i < Math.min(written + ROWS_PER_FILE, rows); i++) emit(all.next().value!);
    });
    files.push(file);
  }
  return files;
}

/** Same number, same rows. */
export function* tableRows(rows: number): Generator<Row, undefined> {
  const random = new Random("growth");
  for (let id = 1; id <= rows; id++) {
    const words = Array.from({ length: WORDS }, () => random.of(COLORS)).join(" ");
    const kind = String(random.between(1, KINDS)).padStart(4, "0");
    const at = new Date((FIRST_SECOND + 7 * id) * 1000).toISOString();
    yield [
      id,
      random.between(0, A_VALUES - 1),
      (id * B_FACTOR) % B_MODULUS,
      random.between(0, C_VALUES - 1),
      random.between(0, 1_000_000) / 4,
      `${words} number ${id}`,
      `a kind of thing among some thousands, number ${kind}`,
      `${at.slice(0, 10)} ${at.slice(11, 19)}`,
    ];
  }
}

export interface Statement {
  readonly name: string;
  readonly sql: string;
  /** Share of the table's rows that it is about, for the cost of a row. */
  readonly share: number;
}

/** The first question after a start. */
export function pointRead(rows: number): string {
  return `SELECT id, a, b, c, x, name, kind, stamp FROM t WHERE id = ${Math.ceil(rows / 2)}`;
}

const read = (name: string, sql: string): Statement => ({ name, sql, share: 1 });

export const READS: readonly Statement[] = [
  read("count(*)", "SELECT count(*) FROM t"),
  read("min and max", "SELECT min(b), max(b), min(stamp), max(stamp) FROM t"),
  read("GROUP BY integer", "SELECT a, count(*), sum(c), sum(x) FROM t GROUP BY a"),
  read("GROUP BY text", "SELECT kind, count(*), sum(c) FROM t GROUP BY kind"),
  read("ORDER BY b LIMIT 10", "SELECT id, b, name FROM t ORDER BY b LIMIT 10"),
  read("LIKE '%…%'", "SELECT count(*) FROM t WHERE name LIKE '%forest%'"),
  read("range of an integer, sum", "SELECT count(*), sum(x) FROM t WHERE c BETWEEN 1000 AND 1999"),
];

/** Written and committed before the SIGKILL, and read after it. */
export const RECENT = {
  schema: "CREATE TABLE recent (id bigint PRIMARY KEY, name text)",
  fill: (rows: number) => `INSERT INTO recent SELECT id, name FROM t WHERE id <= ${Math.ceil(rows / 100)}`,
  check: "SELECT count(*), sum(id), max(name) FROM recent",
};

export const WRITES: readonly Statement[] = [
  { name: "CREATE INDEX", sql: "CREATE INDEX t_b ON t (b)", share: 1 },
  { name: "UPDATE of 10%", sql: "UPDATE t SET x = x + 1 WHERE id % 10 = 3", share: 0.1 },
  { name: "DELETE of 10%", sql: "DELETE FROM t WHERE id % 10 = 7", share: 0.1 },
  { name: "ANALYZE", sql: "ANALYZE t", share: 1 },
  {
    name: "INSERT … SELECT of 10%",
    sql: "INSERT INTO t SELECT id + 1000000000, a, b, c, x, name, kind, stamp FROM t WHERE id % 10 = 5",
    share: 0.1,
  },
  { name: "CREATE TABLE AS", sql: "CREATE TABLE made AS SELECT * FROM t", share: 1 },
];

/** Asked after the writes: what they left must be the same everywhere. */
export const CHECKS: readonly string[] = ["t", "made"].map(
  (table) =>
    `SELECT count(*), sum(id), sum(a), sum(b), sum(x), count(DISTINCT kind), min(name), max(stamp) FROM ${table}`,
);

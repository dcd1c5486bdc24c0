/**
 * What callers may do by PostgreSQL's protocol: the rows of the table in docs/reference/authorization.md, and what
 * postgres-authorization.test.ts sends for each.
 */
import type { PrincipalName } from "./authorization-table.js";

/** What there is for a caller: tables and sessions of its own tenant and of another one. */
export interface WireWorld {
  /** Table of the caller's tenant, `(id int PRIMARY KEY, secret text)`, and its sequence. */
  readonly table: string;
  /** Table of the other tenant. */
  readonly foreign: string;
  /** The number of a session of another user of the caller's tenant, and of one of the other tenant. */
  readonly peer: number;
  readonly stranger: number;
  /** Differs from call to call, for names of what is made. */
  readonly n: number;
}

/** "yes", or the error's SQLSTATE. */
export type WireVerdict = "yes" | "28P01" | "3D000" | "42501" | "42P01";

export interface WireCase {
  readonly what: string;
  /** Sent one by one, each by itself; absent: the sign-in is the case. */
  readonly statements?: (world: WireWorld) => readonly string[];
  /** The database that the client asks for; the caller's tenant where absent. */
  readonly database?: "of another tenant";
  readonly expected: (who: PrincipalName) => WireVerdict;
  /** What the last statement gives to those who may: the texts of its rows. */
  readonly gives?: readonly string[];
}

const READERS: readonly PrincipalName[] = ["reader", "superReader", "systemReader"];
const ADMINS: readonly PrincipalName[] = ["admin", "superAdmin", "system"];

const everybody = (): WireVerdict => "yes";
const writers = (who: PrincipalName): WireVerdict => (READERS.includes(who) ? "42501" : "yes");
const administrators = (who: PrincipalName): WireVerdict => (ADMINS.includes(who) ? "yes" : "42501");

export const WIRE_CASES: readonly WireCase[] = [
  { what: "connect", expected: everybody },
  { what: "connect to another tenant's database", database: "of another tenant", expected: () => "3D000" },
  {
    what: "read a table, in every format",
    statements: ({ table }) => [
      `SELECT * FROM ${table}`,
      `COPY ${table} TO STDOUT`,
      `COPY (TABLE ${table}) TO STDOUT (FORMAT csv)`,
      `EXPLAIN ANALYZE SELECT * FROM ${table}`,
      `DECLARE c CURSOR WITH HOLD FOR TABLE ${table}`,
      `PREPARE p AS TABLE ${table}`,
      "EXECUTE p",
    ],
    expected: everybody,
  },
  {
    what: "settings, LISTEN, advisory locks",
    statements: ({ n }) => [
      "SET statement_timeout = '1min'",
      `LISTEN of_${n}`,
      `SELECT pg_advisory_lock(${n})`,
      `SELECT pg_advisory_unlock(${n})`,
    ],
    expected: everybody,
  },
  ...each("change rows", [
    ({ table, n }) => `INSERT INTO ${table} VALUES (${n}, 'x')`,
    ({ table }) => `UPDATE ${table} SET secret = secret`,
    ({ table, n }) => `DELETE FROM ${table} WHERE id = ${n}`,
    ({ table, n }) => `MERGE INTO ${table} t USING (SELECT ${n} AS i) s ON t.id = s.i WHEN MATCHED THEN DELETE`,
    ({ table, n }) => `WITH gone AS (DELETE FROM ${table} WHERE id = ${n} RETURNING id) SELECT count(*) FROM gone`,
    ({ table, n }) => `EXPLAIN ANALYZE INSERT INTO ${table} VALUES (${n}, 'x')`,
    ({ table, n }) => `BEGIN; SET TRANSACTION READ WRITE; DELETE FROM ${table} WHERE id = ${n}; COMMIT`,
    ({ table, n }) => `DO $$ BEGIN DELETE FROM ${table} WHERE id = ${n}; END $$`,
    ({ table }) => `SELECT * FROM ${table} FOR UPDATE`,
    ({ table }) => `SELECT nextval('${table}_numbers')`,
    ({ table }) => `SELECT setval('${table}_numbers', 7)`,
    ({ n }) => `CREATE (a:Made {n: ${n}}) RETURN a`,
    ({ table, n }) => `PREPARE change_${n} AS DELETE FROM ${table} WHERE id = ${n}`,
    ({ table, n }) => `COPY (DELETE FROM ${table} WHERE id = ${n} RETURNING id) TO STDOUT`,
    ({ table, n }) => `SET default_transaction_read_only = off; DELETE FROM ${table} WHERE id = ${n}`,
  ]),
  { what: "COPY … FROM STDIN", statements: ({ table }) => [`COPY ${table} FROM STDIN`], expected: writers },
  ...each("change definitions", [
    ({ n }) => `CREATE TABLE made_${n} (i int)`,
    ({ n }) => `CREATE TABLE made_${n}_as AS SELECT 1 AS i`,
    ({ table, n }) => `SELECT * INTO into_${n} FROM ${table}`,
    ({ table, n }) => `CREATE VIEW view_${n} AS TABLE ${table}`,
    ({ table, n }) => `CREATE INDEX index_${n} ON ${table} (secret)`,
    ({ table, n }) => `ALTER TABLE ${table} ADD COLUMN c_${n} int`,
    ({ table }) => `COMMENT ON TABLE ${table} IS 'x'`,
    ({ n }) => `DROP TABLE IF EXISTS made_${n}`,
    ({ table }) => `ANALYZE ${table}`,
  ]),
  ...each("NOTIFY", [() => "NOTIFY others, 'x'", () => "SELECT pg_notify('others', 'x')"]),
  {
    what: "name a table of another tenant",
    statements: ({ foreign }) => [`SELECT * FROM ${foreign}`],
    expected: () => "42P01",
  },
  {
    what: "COPY a table of another tenant",
    statements: ({ foreign }) => [`COPY ${foreign} TO STDOUT`],
    expected: () => "42P01",
  },
  {
    what: "see tables and sessions of another tenant",
    statements: ({ foreign, stranger }) => [
      `SELECT (SELECT count(*) FROM pg_class WHERE relname = '${foreign}') + (SELECT count(*) FROM pg_stat_activity WHERE pid = ${stranger})`,
    ],
    expected: everybody,
    gives: ["0"],
  },
  {
    what: "cancel or end a session of another tenant",
    statements: ({ stranger }) => [`SELECT pg_cancel_backend(${stranger}) OR pg_terminate_backend(${stranger})`],
    expected: everybody,
    gives: ["f"],
  },
  {
    what: "cancel what another user of the tenant runs",
    statements: ({ peer }) => [`SELECT pg_cancel_backend(${peer})`],
    expected: administrators,
  },
  {
    what: "end another user's session",
    statements: ({ peer }) => [`SELECT pg_terminate_backend(${peer})`],
    expected: administrators,
  },
];

function each(what: string, statements: readonly ((world: WireWorld) => string)[]): WireCase[] {
  return statements.map((statement) => ({ what, statements: (world) => [statement(world)], expected: writers }));
}

/** Rows of the page: cases of one name expect the same. */
export function wireRows(names: readonly PrincipalName[]): (readonly string[])[] {
  const seen = new Map(WIRE_CASES.map((one) => [one.what, one]));
  return [...seen.values()].map(({ what, expected, gives }) => [
    what,
    ...names.map((name) => (name === "nobody" ? "28P01" : gives === undefined ? expected(name) : "nothing is there")),
  ]);
}

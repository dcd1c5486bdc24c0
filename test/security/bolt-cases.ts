/**
 * What callers may do by Bolt: the rows of the table in docs/reference/authorization.md, and what
 * bolt-authorization.test.ts sends for each.
 */
import type { PrincipalName } from "./authorization-table.js";

/** "yes", or the end of Neo4j's code. */
export type BoltVerdict = "yes" | "Unauthorized" | "Forbidden" | "DatabaseNotFound" | "AccessMode";

export interface BoltCase {
  readonly what: string;
  /** Cypher; absent: the sign-in is the case. `n` differs from call to call. */
  readonly statements?: (n: number) => readonly string[];
  /** Of RUN. */
  readonly extra?: (tenant: string) => Readonly<Record<string, string>>;
  readonly expected: (who: PrincipalName) => BoltVerdict;
  /** What the last statement gives to those who may: the first value of its first row. */
  readonly gives?: number;
}

const READERS: readonly PrincipalName[] = ["reader", "superReader", "systemReader"];
const everybody = (): BoltVerdict => "yes";
const writers = (who: PrincipalName): BoltVerdict => (READERS.includes(who) ? "Forbidden" : "yes");

export const BOLT_CASES: readonly BoltCase[] = [
  { what: "connect", expected: everybody },
  {
    what: "read the graph",
    statements: () => [
      "MATCH (n:Thing) RETURN n",
      "MATCH p = (n:Thing)-[*0..2]-() RETURN p",
      "PROFILE MATCH (n:Thing) RETURN n.secret",
      "CALL db.labels()",
      "SHOW INDEXES",
    ],
    expected: everybody,
  },
  ...each("change the graph", [
    (n) => `CREATE (:Made {n: ${n}})`,
    (n) => `MERGE (:Made {n: ${n}})`,
    () => "MATCH (t:Thing) SET t.seen = true",
    () => "MATCH (t:Thing) REMOVE t.seen",
    (n) => `MATCH (m:Made {n: ${n}}) DETACH DELETE m`,
    (n) => `FOREACH (x IN [${n}] | CREATE (:Made {n: x}))`,
    (n) => `PROFILE CREATE (:Made {n: ${n}})`,
  ]),
  ...each("change indexes and constraints", [
    (n) => `CREATE INDEX made_${n} FOR (n:Made${n}) ON (n.x)`,
    (n) => `DROP INDEX made_${n} IF EXISTS`,
    (n) => `CREATE CONSTRAINT one_${n} FOR (n:One${n}) REQUIRE n.x IS UNIQUE`,
  ]),
  {
    what: "write in a transaction that only reads",
    statements: (n) => [`CREATE (:Made {n: ${n}})`],
    extra: () => ({ mode: "r" }),
    expected: () => "AccessMode",
  },
  {
    what: "name a graph of another tenant",
    statements: () => ["MATCH (n) RETURN n"],
    extra: () => ({ db: "beta.default" }),
    expected: () => "DatabaseNotFound",
  },
  {
    what: "see what another tenant has",
    statements: () => ["MATCH (n:OfBeta) RETURN count(n)"],
    expected: everybody,
    gives: 0,
  },
  {
    what: "act as another user",
    statements: () => ["RETURN 1"],
    extra: () => ({ imp_user: "beta-user" }),
    expected: () => "Forbidden",
  },
];

function each(what: string, statements: readonly ((n: number) => string)[]): BoltCase[] {
  return statements.map((statement) => ({ what, statements: (n) => [statement(n)], expected: writers }));
}

/** Rows of the page: cases of one name expect the same. */
export function boltRows(names: readonly PrincipalName[]): (readonly string[])[] {
  const seen = new Map(BOLT_CASES.map((one) => [one.what, one]));
  return [...seen.values()].map(({ what, expected, gives }) => [
    what,
    ...names.map((name) =>
      name === "nobody" ? "Unauthorized" : gives === undefined ? expected(name) : "nothing is there",
    ),
  ]);
}

/**
 * A MERGE of many rows writes them together, unless a row may look for what rows before have changed: it finds that.
 */
import fc from "fast-check";
import t from "tap";
import { NODE_COLUMN } from "../../src/catalog/graph.js";
import { DbError } from "../../src/protocol/errors.js";
import { floatValue, type Variant } from "../../src/values/variant.js";
import { tries } from "../lengths.js";
import { GraphDatabase, map } from "./graphs.js";

const STATEMENTS = [
  "MERGE (n:A {k: r.k}) ON CREATE SET n.made = r.l ON MATCH SET n.l = r.l",
  "MERGE (n:A {k: r.k}) SET n.k = r.l",
  "MERGE (n:A {k: r.k}) SET n = {l: r.l} MERGE (:A {l: r.k})",
  "MERGE (n:A {k: r.k}) SET n:B REMOVE n:A MERGE (m:B {k: r.l}) SET m:A",
  "MERGE (a:A {k: r.k, l: r.l}) MERGE (b:A {l: r.k}) SET b.k = r.l",
  "CREATE (:A {k: r.l}) MERGE (n:A {k: r.k}) SET n.seen = coalesce(n.seen, 0) + 1",
  "MERGE (n:A) SET n.k = r.k",
  "MERGE (n:A {k: r.k}) ON CREATE SET n.k = r.l ON MATCH SET n.k = r.l, n.seen = coalesce(n.seen, 0) + 1",
  "FOREACH (_ IN [0] | MERGE (n:A {k: r.k}) SET n:B REMOVE n:A MERGE (m:B {k: r.l}) SET m:A, m.l = r.k)",
  "FOREACH (_ IN [0] | MERGE (n:A {k: r.k, l: r.l}) DELETE n MERGE (m:A {k: r.l}))",
  "MERGE (a:A {k: r.k}) MERGE (b:A {k: r.l}) MERGE (a)-[x:T]->(b) SET x.seen = coalesce(x.seen, 0) + 1",
  "MERGE (a:A {k: r.k}) MERGE (b:A {k: r.l}) MERGE (a)-[x:T]-(b) SET x.seen = coalesce(x.seen, 0) + 1",
  "MERGE (a:A {k: r.k}) MERGE (b:A {k: r.l}) MERGE (a)-[x:T {w: r.k}]->(b) SET x.w = r.l",
  "MERGE (a:A {k: r.k}) MERGE (a)-[:T]->(:B {k: r.l})",
  "MERGE (n:A {k: r.k}) MERGE (m:A {k: r.l}) DETACH DELETE n",
  "MERGE (a:A {k: r.k}) MERGE (b:B {k: r.l}) MERGE (a)-[x:T]->(b) DELETE x",
  "MERGE (n:A {k: count { (:A {k: r.k}) }}) SET n.l = r.l",
  "FOREACH (k IN [r.k, r.l, r.k] | MERGE (n:A {k: k}) SET n.seen = coalesce(n.seen, 0) + 1)",
  "FOREACH (_ IN [0] | MERGE (:A {k: 3}) CREATE (:A {l: r.l}) MERGE (:A {k: 4, l: r.k}) MERGE (c:A {l: r.l}) SET c.k = 5)",
  "FOREACH (_ IN [0] | MERGE (a:A {k: r.k}) MERGE (b:A {k: r.l}) MERGE (a)-[x:T {w: r.k}]->(b) SET x.w = r.l)",
] as const;

const UNIQUE_K = {
  kind: "create graph constraint",
  graph: "default",
  name: null,
  ifNotExists: false,
  of: "nodes",
  label: "A",
  properties: ["k"],
  requires: "unique",
} as const;

const BEFORE =
  "CREATE (a:A {k: 0, l: 1}), (b:A {k: 1, l: 0}), (a)-[:T {w: 0}]->(a), (a)-[:T {w: 0}]->(b), (b)-[:T {w: 1}]->(a)";

const value: fc.Arbitrary<Variant> = fc.constantFrom<Variant[]>(0, 1, floatValue(1), "1");
const row = fc.record({ k: value, l: value }).map(map);
const rows = fc.array(row, { minLength: 2, maxLength: 8 });
const script = fc.array(fc.record({ statement: fc.constantFrom(...STATEMENTS), rows }), { minLength: 1, maxLength: 2 });

/** Maps as objects, in the order of their keys. */
const plain = (_key: string, item: unknown): unknown =>
  item instanceof Map ? Object.fromEntries([...(item as Map<string, unknown>)].sort()) : item;

/** The same, but what it looks for is not known before it looks: it writes all rows before at each row. */
const searching = (statement: string): string =>
  statement
    .replaceAll(/r\.[kl]/g, (read) => `CASE WHEN rand() < 2 THEN ${read} END`)
    .replaceAll(":T", ":$(CASE WHEN rand() < 2 THEN 'T' END)");

for (const isUnique of [false, true]) {
  const name = `a MERGE of many rows finds what rows before have changed${isUnique ? ", and where k is unique" : ""}`;
  t.test(name, async (t) => compareWithSearches(await GraphDatabase.open(t), isUnique));
}

async function compareWithSearches(db: GraphDatabase, isUnique: boolean): Promise<void> {
  if (isUnique) db.define(UNIQUE_K);
  const pictureOf = (statements: readonly { readonly statement: string; readonly rows: readonly Variant[] }[]) => {
    const tx = db.shard.begin();
    db.cypher(tx, BEFORE);
    try {
      for (const { statement, rows } of statements) db.cypher(tx, `UNWIND $rows AS r ${statement}`, { rows });
    } catch (error) {
      tx.rollback();
      if (!(error instanceof DbError)) throw error;
      return `${error.code} ${error.details?.detail}`;
    }
    const all = [db.rows(tx, "nodes"), db.rows(tx, "edges")];
    tx.rollback();
    // Ids go on after a rollback.
    const numbers = new Map(all[0]!.map((row, number) => [row[NODE_COLUMN.id - 1], number]));
    return JSON.stringify(
      all.map((of, i) =>
        of.map(([, kind, ...rest]) => [kind, ...(i === 0 ? rest : rest.map((item) => numbers.get(item!) ?? item))]),
      ),
      plain,
    );
  };
  fc.assert(
    fc.property(script, (statements) => {
      const known = pictureOf(statements);
      const searched = pictureOf(statements.map(({ statement, rows }) => ({ statement: searching(statement), rows })));
      if (known !== searched) throw new Error(`${known} is not ${searched}`);
    }),
    { numRuns: tries(40) },
  );
}

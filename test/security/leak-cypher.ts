/** What leak-wires.test.ts sends by Bolt: for each kind of clause and command, and for each procedure. */
import type { Clause } from "../../src/cypher/parse/ast.js";
import type { SchemaCommand } from "../../src/cypher/parse/statement-ast.js";
import { SECRET } from "./leak-tenants.js";

const SEEN = "MATCH (n:Note {title: 'note 1'})";

export const BY_CLAUSE: Readonly<Record<(Clause | SchemaCommand)["kind"], readonly string[]>> = {
  match: [
    "MATCH (n) RETURN count(n)",
    "MATCH (n) RETURN n ORDER BY n.title",
    "MATCH ()-[r]->() RETURN type(r), count(*) ORDER BY type(r)",
    "MATCH (n) RETURN labels(n), keys(n), size((n)--()) ORDER BY n.title",
    "MATCH (n:Secretive) RETURN n",
    "MATCH (n:Secretiv) RETURN n",
    "MATCH (n) WHERE n.unseen RETURN n",
    "OPTIONAL MATCH (n:Secretive)-[r:SECRETLY]-() RETURN n, r",
    "MATCH p = (:Note {title: 'note 1'})-[*1..3]-() RETURN count(p)",
    "MATCH p = SHORTEST 1 (a:Note {title: 'note 1'})-[]-+(b:Note {title: 'note 3'}) RETURN length(p)",
    "MATCH p = ALL SHORTEST (a:Note {title: 'note 2'})-[]-+(b:Note {title: 'note 4'}) RETURN length(p)",
    "MATCH (a:Note) RETURN a.title, COUNT { (a)--() }, EXISTS { (a)-[:SECRETLY]-() }, [(a)--(b) | b.title] ORDER BY a.title",
    `MATCH (n) WHERE 1 / (CASE WHEN n.title CONTAINS '${SECRET}' THEN 0 ELSE 1 END) = 1 RETURN count(n)`,
    "PROFILE MATCH (n) RETURN count(n)",
    "PROFILE MATCH (n:Note)-[r]-(m) RETURN n.title, m.title ORDER BY n.title, m.title",
    "PROFILE MATCH p = (:Note {title: 'note 1'})-[*1..3]-() RETURN count(p)",
    "EXPLAIN MATCH (n:Secretive) RETURN n",
    "EXPLAIN MATCH (n:Note)-[:SECRETLY]->(m) WHERE m.unseen RETURN n",
    // The hidden node is the nearest.
    ...["", "WHERE n.owner = 'other' ", "WHERE n.title CONTAINS 'note' "].map(
      (where) =>
        `MATCH (n:Note) SEARCH n IN (VECTOR INDEX spots FOR [1.0, 0.0] ${where}LIMIT 2) SCORE AS s RETURN n.title, s ORDER BY s`,
    ),
    "MATCH (n:Note) SEARCH n IN (VECTOR INDEX spots FOR [1.0, 0.0] LIMIT 9) RETURN count(n)",
    "MATCH (n) WHERE id(n) = 5 OR elementId(n) = '5' RETURN n",
  ],
  with: ["MATCH (n) WITH n ORDER BY n.title DESC LIMIT 1 RETURN n.title"],
  return: ["RETURN 1", "MATCH (n) RETURN DISTINCT n.owner", "MATCH (n) RETURN collect(n.title), max(n.title)"],
  unwind: ["UNWIND range(0, 40) AS i MATCH (n) WHERE id(n) = i RETURN count(n)"],
  call: [],
  "subquery-call": ["CALL () { MATCH (n) RETURN count(n) AS c } RETURN c"],
  create: ["CREATE (n:Note {title: 'note 8', owner: 'other'})", `${SEEN} MATCH (s:Secretive) CREATE (n)-[:NEXT]->(s)`],
  merge: [
    "MERGE (n:Note {title: 'note 9', owner: 'other'}) RETURN n",
    `MERGE (n:Note {title: 'note 1'}) ON CREATE SET n.made = true ON MATCH SET n.met = true RETURN n`,
    `${SEEN} MERGE (n)-[:SECRETLY]->(m:Secretive {owner: 'other'}) RETURN m`,
  ],
  set: [
    "MATCH (n) SET n.touched = true",
    `${SEEN} SET n.owner = 'other'`,
    "MATCH (n:Secretive) SET n.owner = 'tenant'",
  ],
  remove: ["MATCH (n) REMOVE n.touched", `${SEEN} REMOVE n.owner`],
  delete: [`MATCH (n) WHERE n.title CONTAINS '${SECRET}' DETACH DELETE n`, "MATCH ()-[r:SECRETLY]->() DELETE r"],
  foreach: ["MATCH (n:Secretive) FOREACH (x IN [1] | SET n.x = x)"],
  "create-lookup": ["CREATE LOOKUP INDEX looks FOR (n) ON EACH labels(n)"],
  "create-index": [
    "CREATE INDEX titled FOR (n:Note) ON (n.title)",
    "CREATE FULLTEXT INDEX all_titles FOR (n:Note|Secretive) ON EACH [n.title]",
    "CREATE VECTOR INDEX near FOR (n:Note) ON (n.place) OPTIONS {indexConfig: {`vector.dimensions`: 2}}",
    "SHOW INDEXES YIELD name, state, populationPercent, labelsOrTypes, properties",
  ],
  "create-constraint": [
    "CREATE CONSTRAINT one_title FOR (n:Note) REQUIRE n.title IS UNIQUE",
    "CREATE CONSTRAINT one_owner FOR (n:Note) REQUIRE n.owner IS UNIQUE",
    "CREATE CONSTRAINT has_seen FOR (n:Note) REQUIRE n.unseen IS NOT NULL",
    "CREATE CONSTRAINT typed FOR (n:Secretive) REQUIRE n.unseen IS :: STRING",
    "SHOW CONSTRAINTS YIELD name, type, labelsOrTypes, properties",
  ],
  "drop-index": ["DROP INDEX titles"],
  "drop-constraint": ["DROP CONSTRAINT one_title IF EXISTS"],
};

/** By the beginning of a procedure's name; one that none of them begins is called with nothing. */
const ARGUMENTS: readonly (readonly [string, readonly string[]])[] = [
  ["algo.bfs", ["{start: 'note 1'}", "{source: 1}"]],
  ["algo.dijkstra", ["{start: 'note 1'}", "{source: 1}"]],
  ["db.awaitIndex(", ["'titles', 5"]],
  ["db.index.fulltext.queryNodes", ["'titles', 'note'", `'titles', '${SECRET}'`, "'titels', 'note'"]],
  ["db.index.fulltext.queryRelationships", ["'titles', 'note'"]],
  ["db.index.vector", ["'near', 3, [1.0, 0.0]"]],
  ["dbms.killTransactions", ["['1']"]],
];

/** Calls of a procedure, whose signature begins with its name and `(`. */
export function callsOf(signature: string): string[] {
  const name = signature.slice(0, signature.indexOf("("));
  const given = ARGUMENTS.find(([beginning]) => signature.startsWith(beginning));
  return (given?.[1] ?? [""]).map((args) => `CALL ${name}(${args})`);
}

/**
 * `db.stats.…` of Neo4j: `retrieve` counts what the graph holds now, by queries of Cypher. Statements are not
 * collected: `status` says idle, `stop` and `clear` have nothing to do, `collect` says where slow ones are logged.
 * `dbms.queryJmx` gives the same counts to `:sysinfo` of Neo4j Browser and cypher-shell.
 */
import { DbError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { VARIANT } from "../../values/values.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { BOOLEAN, MAP, STRING } from "./static-type.js";
import { textConst, variant } from "./variables.js";

const text = (name: string): ProcedureField => ({ name, type: STRING });

const SECTION = { ...text("section"), optional: false };
const CONFIG = { name: "config", type: MAP, optional: true } as const;
const DATA: ProcedureField = { name: "data", type: MAP };
const DONE = [text("section"), { name: "success", type: BOOLEAN }, text("message")];

const QUERIES = "QUERIES";

const GRAPH_COUNTS = `WITH
  COLLECT { MATCH (n) UNWIND labels(n) AS l WITH l, count(*) AS c ORDER BY l RETURN {label: l, count: c} } AS labels,
  COLLECT { MATCH ()-[r]->() WITH type(r) AS t, count(*) AS c ORDER BY t RETURN {relationshipType: t, count: c} } AS types,
  COLLECT { MATCH (a)-[r]->() UNWIND labels(a) AS l WITH l, type(r) AS t, count(*) AS c ORDER BY l, t
    RETURN {relationshipType: t, startLabel: l, count: c} } AS outgoing,
  COLLECT { MATCH ()-[r]->(b) UNWIND labels(b) AS l WITH l, type(r) AS t, count(*) AS c ORDER BY l, t
    RETURN {relationshipType: t, endLabel: l, count: c} } AS incoming,
  COLLECT { CALL db.indexes() YIELD type, labelsOrTypes, properties
    RETURN {indexType: type, labelsOrTypes: labelsOrTypes, properties: properties} } AS indexes,
  COLLECT { CALL db.constraints() YIELD type, labelsOrTypes, properties
    RETURN {type: type, labelsOrTypes: labelsOrTypes, properties: properties} } AS constraints,
  COUNT { MATCH (n) RETURN n } AS nodes, COUNT { MATCH ()-[r]->() RETURN r } AS relationships
  RETURN 'GRAPH COUNTS' AS section, {nodes: [{count: nodes}] + labels,
    relationships: [{count: relationships}] + types + outgoing + incoming, indexes: indexes, constraints: constraints} AS data`;

const TOKENS = `RETURN 'TOKENS' AS section, {
  labels: COLLECT { CALL db.labels() YIELD label RETURN label ORDER BY label },
  relationshipTypes: COLLECT { CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t ORDER BY t },
  propertyKeys: COLLECT { CALL db.propertyKeys() YIELD propertyKey AS k RETURN k ORDER BY k }} AS data`;

/** By the names of Neo4j's metrics; it begins with `wanted` and `graph`. */
const BEANS = `UNWIND ['node', 'relationship', 'relationship_type'] AS counted
  WITH counted, wanted, graph, 'neo4j.metrics:name=neo4j.' AS start, graph + '.ids_in_use.' + counted AS metric
  WHERE wanted IN [start + metric, start + 'database.' + metric]
  RETURN wanted AS name, 'How many there are in the graph' AS description, {Value: {description: 'Value',
    value: CASE counted WHEN 'node' THEN COUNT { MATCH (n) RETURN n }
      WHEN 'relationship' THEN COUNT { MATCH ()-[r]->() RETURN r }
      ELSE COUNT { CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType } END}} AS attributes`;

const NOTHING_COLLECTED =
  "Statements are not collected: the server logs those that take longer than query.slow_ms, and SHOW TRANSACTIONS lists those that run.";

/** Throws invalid_request for another section than these. */
function sectionIn(expr: Expr, sections: readonly string[], statement: ProcedureStatement): string {
  const given = statement.valueAtOnce(expr);
  const name = typeof given === "string" ? given.toUpperCase() : "";
  if (sections.includes(name)) return name;
  const choice = sections.map((each) => `'${each}'`).join(" or ");
  throw new DbError("invalid_request", `The section has to be ${choice}, written in the statement or a parameter.`);
}

function rowOf(fields: readonly ProcedureField[], row: readonly Expr[], statement: ProcedureStatement) {
  const columns = fields.map(({ name }) => statement.newColumn(name, VARIANT));
  return Object.freeze({ kind: "values", rows: [row], columns } as const);
}

const done = (name: string, description: string, message: string): Procedure => ({
  name,
  description,
  inputs: [SECTION],
  outputs: DONE,
  rows: ([section], statement) => {
    sectionIn(section!, [QUERIES], statement);
    return rowOf(DONE, [textConst(QUERIES), variant(true), textConst(message)], statement);
  },
});

const STATUS = [text("section"), text("status"), DATA];

export const STATS_PROCEDURES: readonly Procedure[] = [
  {
    name: "db.stats.retrieve",
    description: "Counts of nodes and relationships ('GRAPH COUNTS'), or the names that the graph uses ('TOKENS').",
    inputs: [SECTION, CONFIG],
    outputs: [text("section"), DATA],
    rows: ([section], statement) => {
      const name = sectionIn(section!, ["GRAPH COUNTS", "TOKENS", QUERIES], statement);
      if (name === QUERIES) throw new DbError("not_supported", NOTHING_COLLECTED);
      return statement.query(name === "TOKENS" ? TOKENS : GRAPH_COUNTS);
    },
  },
  {
    name: "db.stats.status",
    description: "One row: statements are not being collected.",
    inputs: [],
    outputs: STATUS,
    rows: (_args, statement) => rowOf(STATUS, [textConst(QUERIES), textConst("idle"), variant(new Map())], statement),
  },
  {
    name: "db.stats.collect",
    description: "Is refused, and says where slow statements are logged.",
    inputs: [SECTION, CONFIG],
    outputs: DONE,
    rows: ([section], statement) => {
      sectionIn(section!, [QUERIES], statement);
      throw new DbError("not_supported", NOTHING_COLLECTED);
    },
  },
  {
    name: "dbms.queryJmx",
    description: "The metrics of Neo4j that there is something for: how many nodes, relationships and types there are.",
    inputs: [{ ...text("query"), optional: false }],
    outputs: [text("name"), text("description"), { name: "attributes", type: MAP }],
    rows: ([wanted], statement) => {
      const graph = textConst(statement.graph.name);
      return statement.query(
        BEANS,
        new Map<string, Expr>([
          ["wanted", wanted!],
          ["graph", graph],
        ]),
      );
    },
  },
  done("db.stats.stop", "Says that nothing is being collected.", "Collector is idle, no collection ongoing."),
  done("db.stats.clear", "Says that there are no collected statements.", "Collector is idle and no data is available."),
];

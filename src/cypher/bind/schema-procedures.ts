/**
 * Procedures that tell what a graph holds, with the names and columns of Neo4j: `db.constraints`, `db.schema.…`. Those
 * about rows are queries of Cypher over the graph.
 */
import { type GraphTables, graphDefOf } from "../../catalog/graph.js";
import type { GraphConstraintDef } from "../../catalog/table.js";
import { LIST_OF } from "../../query/expr/cypher/registry.js";
import type { ScalarFunction } from "../../query/expr/expr.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { VARIANT } from "../../values/values.js";
import { GraphNode, GraphRelationship, type Variant, type VariantMap } from "../../values/variant.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { BOOLEAN, listOf, NODE, RELATIONSHIP, STRING } from "./static-type.js";
import { HAS_TYPE, ofType } from "./type-filter.js";
import { call, textConst, variant } from "./variables.js";

const text = (name: string): ProcedureField => ({ name, type: STRING });
const texts = (name: string): ProcedureField => ({ name, type: listOf(STRING) });

export interface Constraint extends GraphConstraintDef {
  readonly of: "nodes" | "edges";
}

function constraintsOf(graph: GraphTables): readonly Constraint[] {
  return [graph.nodes, graph.edges].flatMap((table) => {
    const { of, constraints = [] } = graphDefOf(table)!;
    return constraints.map((constraint) => ({ ...constraint, of }));
  });
}

/** Neo4j's name of the kind of constraint. */
function typeOf({ requires, of }: Constraint): string {
  const prefix = of === "nodes" ? "NODE" : "RELATIONSHIP";
  if (requires === "unique") return of === "nodes" ? "UNIQUENESS" : "RELATIONSHIP_UNIQUENESS";
  if (requires === "key") return `${prefix}_KEY`;
  return `${prefix}_PROPERTY_${requires === "type" ? "TYPE" : "EXISTENCE"}`;
}

export const quotedName = (name: string): string => `\`${name.replaceAll("`", "``")}\``;

/** The statement that makes it. */
export function constraintStatement({ name, of, label, properties, requires, valueType }: Constraint): string {
  const rule = { unique: "UNIQUE", key: "KEY", "not-null": "NOT NULL", type: `:: ${valueType}` }[requires];
  const subject = of === "nodes" ? `(n:${quotedName(label)})` : `()-[n:${quotedName(label)}]-()`;
  const list = properties.map((property) => `n.${quotedName(property)}`).join(", ");
  const required = `${properties.length === 1 ? list : `(${list})`} IS ${rule}`;
  return `CREATE CONSTRAINT ${quotedName(name)} FOR ${subject} REQUIRE ${required}`;
}

const CONSTRAINT_FIELDS = [
  text("name"),
  text("type"),
  text("entityType"),
  texts("labelsOrTypes"),
  texts("properties"),
  text("ownedIndex"),
  text("propertyType"),
  text("description"),
  { ...text("createStatement"), onDemand: true },
];

function constraints(statement: ProcedureStatement): Plan {
  const rows = constraintsOf(statement.graph).map((constraint) => [
    textConst(constraint.name),
    textConst(typeOf(constraint)),
    textConst(constraint.of === "nodes" ? "NODE" : "RELATIONSHIP"),
    call(LIST_OF, [textConst(constraint.label)]),
    call(LIST_OF, constraint.properties.map(textConst)),
    constraint.indexId === null ? variant(null) : textConst(constraint.name),
    constraint.valueType === undefined ? variant(null) : textConst(constraint.valueType),
    textConst(constraintStatement(constraint)),
    textConst(constraintStatement(constraint)),
  ]);
  const columns = CONSTRAINT_FIELDS.map(({ name }) => statement.newColumn(name, VARIANT));
  return Object.freeze({ kind: "values", rows, columns });
}

/** What has no other properties has a row that says so. */
function propertiesOf(match: string, group: string, result: string): string {
  return `MATCH ${match} WITH ${group} AS g, count(*) AS total WITH collect([g, total]) AS totals
    MATCH ${match} UNWIND CASE WHEN size(keys(e)) = 0 THEN [null] ELSE keys(e) END AS property
    WITH totals, ${group} AS g, property, count(*) AS having,
      collect(DISTINCT CASE WHEN property IS NULL THEN null ELSE ${TYPE_NAME} END) AS types
    WITH g, property, types, having, [t IN totals WHERE t[0] = g | t[1]][0] AS total
    WHERE property IS NOT NULL OR having = total
    UNWIND CASE WHEN property IS NULL THEN [null] ELSE types END AS type
    WITH g, property, having, total, type ORDER BY type
    WITH g, property, having, total, collect(type) AS types ORDER BY g, property
    RETURN ${result}, property, CASE WHEN property IS NULL THEN null ELSE types END, property IS NOT NULL AND having = total`;
}

/** Of a value, as Neo4j's schema procedures call it. */
const TYPE_NAME = `coalesce({STRING: 'String', INTEGER: 'Long', FLOAT: 'Double', BOOLEAN: 'Boolean', DATE: 'Date',
  DURATION: 'Duration', MAP: 'Map', \`LOCAL TIME\`: 'LocalTime', \`ZONED TIME\`: 'Time', \`LOCAL DATETIME\`: 'LocalDateTime',
  \`ZONED DATETIME\`: 'DateTime', \`LIST<STRING>\`: 'StringArray', \`LIST<INTEGER>\`: 'LongArray', \`LIST<FLOAT>\`: 'DoubleArray',
  \`LIST<BOOLEAN>\`: 'BooleanArray', \`LIST<NOTHING>\`: 'Array'}[replace(valueType(e[property]), ' NOT NULL', '')], 'Any')`;

const NODE_PROPERTIES = propertiesOf(
  "(e)",
  "labels(e)",
  "reduce(s = '', l IN g | s + ':`' + replace(l, '`', '``') + '`'), g",
);

const RELATIONSHIP_PROPERTIES = propertiesOf("()-[e]->()", "type(e)", "':`' + replace(g, '`', '``') + '`'");

/** Labels, and [from, type, to] of what joins them. */
const LABELS_AND_ENDS = `RETURN COLLECT { MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label ORDER BY label },
  COLLECT { MATCH (a)-[r]->(b) UNWIND labels(a) AS x UNWIND labels(b) AS y WITH DISTINCT x, type(r) AS t, y ORDER BY x, t, y RETURN [x, t, y] }`;

/** A node for each label; its id is less than 0. */
function schemaNode(label: string, index: number, known: VariantMap): GraphNode {
  const facts = (known.get(label) ??
    new Map([
      ["indexes", []],
      ["constraints", []],
    ])) as VariantMap;
  return new GraphNode(-1 - index, [label], new Map<string, Variant>([["name", label], ...facts]));
}

const SCHEMA_NODES: ScalarFunction = Object.freeze({
  name: "schema_nodes",
  args: [VARIANT, VARIANT],
  returns: VARIANT,
  volatility: "immutable",
  strict: true,
  apply: (labels: readonly string[], known: VariantMap) =>
    labels.map((label, index) => schemaNode(label, index, known)),
});

const SCHEMA_RELATIONSHIPS: ScalarFunction = Object.freeze({
  name: "schema_relationships",
  args: [VARIANT, VARIANT],
  returns: VARIANT,
  volatility: "immutable",
  strict: true,
  apply: (labels: readonly string[], ends: readonly (readonly [string, string, string, VariantMap?])[]) => {
    const ids = new Map(labels.map((label, index) => [label, -1 - index]));
    return ends.map(
      ([from, type, to, facts = new Map([["name", type]])], index) =>
        new GraphRelationship(-1 - index, type, ids.get(from)!, ids.get(to)!, facts),
    );
  },
});

/** Indexes and constraints by label. */
function factsByLabel(graph: GraphTables): VariantMap {
  const facts = new Map<string, { indexes: string[]; constraints: string[] }>();
  const of = (label: string) => {
    const found = facts.get(label) ?? { indexes: [], constraints: [] };
    facts.set(label, found);
    return found;
  };
  for (const { label, labels = [label], properties } of graphDefOf(graph.nodes)!.indexes ?? []) {
    for (const each of labels) of(each).indexes.push(...properties);
  }
  for (const constraint of constraintsOf(graph)) {
    if (constraint.of === "nodes") of(constraint.label).constraints.push(constraintStatement(constraint));
  }
  return new Map([...facts].map(([label, lists]) => [label, new Map(Object.entries(lists)) as VariantMap]));
}

export const SCHEMA_GRAPH_FIELDS: readonly ProcedureField[] = [
  { name: "nodes", type: listOf(NODE) },
  { name: "relationships", type: listOf(RELATIONSHIP) },
];

/** `text` gives labels, [from, type, to, properties?], and perhaps properties by label in the place of `facts`. */
export function schemaGraph(text: string, statement: ProcedureStatement, facts?: VariantMap): Plan {
  const input = statement.query(text);
  const [labels, ends, known] = input.columns.map(columnExpr);
  const exprs = [
    call(SCHEMA_NODES, [labels!, known ?? variant(facts ?? new Map())]),
    call(SCHEMA_RELATIONSHIPS, [labels!, ends!]),
  ];
  const columns = ["nodes", "relationships"].map((name) => statement.newColumn(name, VARIANT));
  return Object.freeze({ kind: "project", input, exprs, columns });
}

export const SCHEMA_PROCEDURES: readonly Procedure[] = [
  {
    name: "db.constraints",
    description: "The constraints of the graph, all or of one type.",
    inputs: [{ ...text("type"), optional: true }],
    outputs: CONSTRAINT_FIELDS,
    rows: ([type], statement) => ofType(constraints(statement), type, HAS_TYPE),
  },
  {
    name: "db.schema.visualization",
    description: "One row: a node for each label, and a relationship for each pair of labels and type that occurs.",
    inputs: [],
    outputs: SCHEMA_GRAPH_FIELDS,
    rows: (_args, statement) => schemaGraph(LABELS_AND_ENDS, statement, factsByLabel(statement.graph)),
  },
  {
    name: "db.schema.nodeTypeProperties",
    description: "For each set of labels the properties that its nodes have, and of which types.",
    inputs: [],
    outputs: [
      text("nodeType"),
      texts("nodeLabels"),
      text("propertyName"),
      texts("propertyTypes"),
      { name: "mandatory", type: BOOLEAN },
    ],
    rows: (_args, statement) => statement.query(NODE_PROPERTIES),
  },
  {
    name: "db.schema.relTypeProperties",
    description: "For each type the properties that its relationships have, and of which types.",
    inputs: [],
    outputs: [text("relType"), text("propertyName"), texts("propertyTypes"), { name: "mandatory", type: BOOLEAN }],
    rows: (_args, statement) => statement.query(RELATIONSHIP_PROPERTIES),
  },
];

/**
 * What tools ask of Neo4j's library APOC about a graph: `apoc.meta.…` and `apoc.schema.nodes`, with its columns. Each
 * is a query of Cypher over the whole graph, where APOC looks at a sample.
 */
import type { Procedure } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { SCHEMA_GRAPH_FIELDS, schemaGraph } from "./schema-procedures.js";
import { BOOLEAN, FLOAT, INTEGER, listOf, MAP, STRING } from "./static-type.js";

const text = (name: string): ProcedureField => ({ name, type: STRING });
const truth = (name: string): ProcedureField => ({ name, type: BOOLEAN });
const integer = (name: string): ProcedureField => ({ name, type: INTEGER });
const map = (name: string): ProcedureField => ({ name, type: MAP });

/** What `valueType` says, as APOC calls it. */
const TYPE = `coalesce({STRING: 'STRING', INTEGER: 'INTEGER', FLOAT: 'FLOAT', BOOLEAN: 'BOOLEAN', DATE: 'DATE',
  DURATION: 'DURATION', POINT: 'POINT', MAP: 'MAP', \`LOCAL TIME\`: 'LOCAL_TIME', \`ZONED TIME\`: 'TIME',
  \`LOCAL DATETIME\`: 'LOCAL_DATE_TIME', \`ZONED DATETIME\`: 'DATE_TIME'}[replace(valueType, ' NOT NULL', '')], 'LIST')`;

/** Lists of [labels or types, properties, kind] of the indexes and constraints. */
const RULES = `WITH COLLECT { CALL db.indexes() YIELD labelsOrTypes, properties RETURN [labelsOrTypes, properties] } AS indexes,
  COLLECT { CALL db.constraints() YIELD labelsOrTypes, properties, type RETURN [labelsOrTypes, properties, type] } AS rules`;

/** Of `label` and `property`: whether values are unique, whether there is an index, whether it must exist. */
const FACTS = `any(r IN rules WHERE label IN r[0] AND r[1] = [property] AND (r[2] CONTAINS 'UNIQUE' OR r[2] CONTAINS 'KEY')) AS unique,
  any(i IN indexes WHERE label IN i[0] AND property IN i[1]) AS index,
  any(r IN rules WHERE label IN r[0] AND property IN r[1] AND (r[2] CONTAINS 'EXISTENCE' OR r[2] CONTAINS 'KEY')) AS existence`;

/**
 * Rows of `apoc.meta.data` about the properties of the entities `e` of each `label`. They are counted by their types
 * before anything else is said of them.
 */
function dataOfProperties(match: string, elementType: string): string {
  return `${match} UNWIND keys(e) AS property
    WITH label, property, valueType(e[property]) AS valueType, count(*) AS c
    WITH label, property, ${TYPE} AS type, c
    ${RULES}, label, property, type, c
    WITH indexes, rules, label, property, sum(c) AS count, collect(type) AS types
    WITH label, property, count, ${FACTS}, CASE WHEN size(types) = 1 THEN types[0] ELSE 'STRING' END AS type ORDER BY label, property
    RETURN label, property, count, unique, index, existence, type, type = 'LIST' AS array, null AS sample, 0 AS left, 0 AS right,
      [] AS other, [] AS otherLabels, '${elementType}' AS elementType`;
}

/**
 * Rows of `apoc.meta.data` about what joins labels: of the label, and of the type. Relationships are grouped by the
 * labels of both ends before anything else: there are few such groups.
 */
function dataOfEnds(label: string, property: string, elementType: string): string {
  return `WITH apoc.map.fromPairs(COLLECT { MATCH (n) UNWIND labels(n) AS l WITH l, count(*) AS c RETURN [l, c] }) AS nodes
    MATCH (a)-[r]->(b) WITH nodes, type(r) AS t, labels(a) AS la, labels(b) AS lb, count(*) AS c
    UNWIND la AS x UNWIND lb AS y WITH nodes, t, x, y, lb, c ORDER BY y
    WITH nodes, t, x, collect(DISTINCT y) AS others, sum(CASE WHEN y = lb[0] THEN c ELSE 0 END) AS count
    WITH ${label} AS label, ${property} AS property, others, count, nodes[x] AS sources,
      reduce(sum = 0, y IN others | sum + nodes[y]) AS targets ORDER BY label, property
    RETURN label, property, count, false AS unique, false AS index, false AS existence, 'RELATIONSHIP' AS type, false AS array,
      null AS sample, count / sources AS left, count / targets AS right, others AS other, [] AS otherLabels, '${elementType}' AS elementType`;
}

const DATA = [
  dataOfProperties("MATCH (e) UNWIND labels(e) AS label", "node"),
  dataOfEnds("x", "t", "node"),
  dataOfProperties("MATCH ()-[e]->() WITH *, type(e) AS label", "relationship"),
  dataOfEnds("t", "x", "relationship"),
].join(" UNION ALL ");

/** By name, of the rows `d` of `data` that fit. */
const propertiesWhere = (d: string, fits: string): string =>
  `apoc.map.fromPairs([${d} IN data WHERE ${fits} AND ${d}.type <> 'RELATIONSHIP' | [${d}.property,
    {type: ${d}.type, array: ${d}.array, indexed: ${d}.index, unique: ${d}.unique, existence: ${d}.existence}]])`;

const relationshipsWhere = (fits: string, others: string, direction: string): string =>
  `[d IN data WHERE d.elementType = 'node' AND d.type = 'RELATIONSHIP' AND ${fits} | [d.property, {direction: '${direction}',
    count: d.count, labels: ${others}, properties: ${propertiesWhere("p", "p.elementType = 'relationship' AND p.label = d.property")}}]]`;

/** Where a label has relationships of a type in both directions, those that begin at it count. */
const SCHEMA = `WITH COLLECT { CALL apoc.meta.data() YIELD label, property, count, unique, index, existence, type, array, other, elementType
    RETURN {label: label, property: property, count: count, unique: unique, index: index, existence: existence, type: type,
      array: array, other: other, elementType: elementType} } AS data,
  COLLECT { MATCH (n) UNWIND labels(n) AS name WITH name, count(*) AS count, collect(DISTINCT labels(n)) AS together ORDER BY name
    RETURN [name, count, reduce(all = [], l IN together | all + [x IN l WHERE x <> name AND NOT x IN all])] } AS labels,
  COLLECT { MATCH ()-[r]->() WITH type(r) AS name, count(*) AS count ORDER BY name RETURN [name, count] } AS types
  WITH data, apoc.map.fromPairs([l IN labels | [l[0], {type: 'node', count: l[1], labels: l[2],
    properties: ${propertiesWhere("d", "d.elementType = 'node' AND d.label = l[0]")},
    relationships: apoc.map.fromPairs(${relationshipsWhere("l[0] IN d.other", "[d.label]", "in")} + ${relationshipsWhere("d.label = l[0]", "d.other", "out")})}]]) AS nodes,
    types
  RETURN apoc.map.merge(apoc.map.fromPairs([t IN types | [t[0], {type: 'relationship', count: t[1],
    properties: ${propertiesWhere("d", "d.elementType = 'relationship' AND d.label = t[0]")}}]]), nodes) AS value`;

const STATS = `WITH COLLECT { MATCH (n) UNWIND labels(n) AS l WITH l, count(*) AS c ORDER BY l RETURN [l, c] } AS labels,
  COLLECT { MATCH ()-[r]->() WITH type(r) AS t, count(*) AS c ORDER BY t RETURN [t, c] } AS types,
  COLLECT { MATCH (a)-[r]->() UNWIND labels(a) AS l WITH l, type(r) AS t, count(*) AS c ORDER BY l, t RETURN ['(:' + l + ')-[:' + t + ']->()', c] } AS outgoing,
  COLLECT { MATCH ()-[r]->(b) UNWIND labels(b) AS l WITH l, type(r) AS t, count(*) AS c ORDER BY l, t RETURN ['()-[:' + t + ']->(:' + l + ')', c] } AS incoming,
  COUNT { CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey } AS keys,
  COUNT { MATCH (n) RETURN n } AS nodes, COUNT { MATCH ()-[r]->() RETURN r } AS relationships
  WITH *, apoc.map.fromPairs(labels) AS byLabel, apoc.map.fromPairs(types) AS byType,
    apoc.map.fromPairs([t IN types | ['()-[:' + t[0] + ']->()', t[1]]] + outgoing + incoming) AS byPattern
  RETURN size(labels) AS labelCount, size(types) AS relTypeCount, keys AS propertyKeyCount, nodes AS nodeCount,
    relationships AS relCount, byLabel AS labels, byPattern AS relTypes, byType AS relTypesCount,
    {labelCount: size(labels), relTypeCount: size(types), propertyKeyCount: keys, nodeCount: nodes, relCount: relationships,
      labels: byLabel, relTypes: byPattern} AS stats`;

const SCHEMA_NODES = `CALL db.indexes() YIELD name, type, entityType, labelsOrTypes, properties, owningConstraint WHERE entityType = 'NODE'
  CALL (labelsOrTypes, properties) {
    MATCH (n) WHERE any(l IN labels(n) WHERE l IN labelsOrTypes) AND all(p IN properties WHERE n[p] IS NOT NULL)
    RETURN count(*) AS size, count(DISTINCT [p IN properties | n[p]]) AS different
  }
  RETURN ':' + labelsOrTypes[0] + '(' + reduce(s = '', p IN properties | s + CASE s WHEN '' THEN '' ELSE ',' END + p) + ')' AS name,
    labelsOrTypes[0] AS label, properties, 'ONLINE' AS status,
    CASE WHEN owningConstraint IS NULL THEN type ELSE 'UNIQUENESS' END AS type, 'NO FAILURE' AS failure,
    100.0 AS populationProgress, size, CASE size WHEN 0 THEN 0.0 ELSE toFloat(different) / size END AS valuesSelectivity,
    'Index(' + name + ')' AS userDescription`;

/** As LABELS_AND_ENDS of schema-procedures.ts, with numbers. */
const GRAPH_SAMPLE = `WITH COLLECT { MATCH (n) UNWIND labels(n) AS label WITH label, count(*) AS c ORDER BY label RETURN [label, {count: c}] } AS labels
  RETURN [l IN labels | l[0]], COLLECT { MATCH (a)-[r]->(b) UNWIND labels(a) AS x UNWIND labels(b) AS y
    WITH x, type(r) AS t, y, count(*) AS c ORDER BY x, t, y RETURN [x, t, y, {type: t, count: c}] }, apoc.map.fromPairs(labels)`;

const CONFIG = { ...map("config"), optional: true };

export const APOC_PROCEDURES: readonly Procedure[] = [
  {
    name: "apoc.meta.data",
    description: "A row for each property of a label or type, and for each type that begins at a label.",
    inputs: [CONFIG],
    outputs: [
      ...[text("label"), text("property"), integer("count")],
      ...[truth("unique"), truth("index"), truth("existence"), text("type"), truth("array")],
      ...[{ name: "sample", type: listOf(STRING) }, integer("left"), integer("right")],
      ...[{ name: "other", type: listOf(STRING) }, { name: "otherLabels", type: listOf(STRING) }, text("elementType")],
    ],
    rows: (_args, statement) => statement.query(DATA),
  },
  {
    name: "apoc.meta.schema",
    description: "One map: labels and types with their properties and relationships.",
    inputs: [CONFIG],
    outputs: [map("value")],
    rows: (_args, statement) => statement.query(SCHEMA),
  },
  {
    name: "apoc.meta.stats",
    description: "One row: how many nodes and relationships there are, by label and by type.",
    inputs: [],
    outputs: [
      ...[integer("labelCount"), integer("relTypeCount"), integer("propertyKeyCount")],
      ...[integer("nodeCount"), integer("relCount")],
      ...[map("labels"), map("relTypes"), map("relTypesCount"), map("stats")],
    ],
    rows: (_args, statement) => statement.query(STATS),
  },
  {
    name: "apoc.meta.graphSample",
    description: "One row: a node for each label, and a relationship for each pair of labels and type, with numbers.",
    inputs: [CONFIG],
    outputs: SCHEMA_GRAPH_FIELDS,
    rows: (_args, statement) => schemaGraph(GRAPH_SAMPLE, statement),
  },
  {
    name: "apoc.schema.nodes",
    description: "The indexes on nodes: how many nodes are in each, and which part of their values differ.",
    inputs: [CONFIG],
    outputs: [
      ...[text("name"), text("label"), { name: "properties", type: listOf(STRING) }, text("status"), text("type")],
      ...[text("failure"), { name: "populationProgress", type: FLOAT }, integer("size")],
      ...[{ name: "valuesSelectivity", type: FLOAT }, text("userDescription")],
    ],
    rows: (_args, statement) => statement.query(SCHEMA_NODES),
  },
];

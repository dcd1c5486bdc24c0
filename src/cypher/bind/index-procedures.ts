/**
 * Procedures that search by indexes: `db.index.vector.queryNodes`, `db.index.fulltext.queryNodes` and the same for
 * relationships, with Neo4j's names and scores; and `db.indexes`, which lists what there is.
 */

import { EDGE_COLUMN, graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { SearchIndexDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { LIST_OF, NODE_OF, RELATIONSHIP_OF } from "../../query/expr/cypher/registry.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { resolveOperator } from "../../query/expr/resolve.js";
import { someExpr } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { behindPolicy } from "../../query/plan/graph-guard.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { cypherError } from "../../values/cypher-error.js";
import { BOOL, FLOAT8, INT8, TEXT, VARIANT, VECTOR } from "../../values/values.js";
import { doubleOf, Float, floatValue, isIntegerValue, type Variant, type VariantMap } from "../../values/variant.js";
import { itemsOfVector } from "../../values/vector-list.js";
import { METRIC_ENTRIES, VECTOR_METRICS, type VectorMetric } from "../../values/vector-metric.js";
import { analyzers } from "./bind-index-options.js";
import { wholeEdgePolicy } from "./guarded-rows.js";
import type { Procedure, ProcedureStatement } from "./procedure.js";
import type { ProcedureField } from "./procedure-catalog.js";
import { filtered, NO_ROWS } from "./rows.js";
import { constraintStatement, quotedName } from "./schema-procedures.js";
import { FLOAT, INTEGER, listOf, MAP, NODE, NUMBER, RELATIONSHIP, STRING } from "./static-type.js";
import { IS_TYPE, ofType } from "./type-filter.js";
import { call, entityIn, textConst, type Variable, variant } from "./variables.js";

type Part = "nodes" | "edges";

function text(name: string): ProcedureField {
  return { name, type: STRING };
}

const WHAT = { nodes: "nodes", edges: "relationships" } as const;

const required = (field: ProcedureField) => ({ ...field, optional: false });

const found = (of: Part): ProcedureField =>
  of === "nodes" ? { name: "node", type: NODE } : { name: "relationship", type: RELATIONSHIP };

function vectorSearch(name: string, of: Part): Procedure {
  return {
    name,
    description: `Finds the ${WHAT[of]} whose vectors are nearest, by a vector index.`,
    inputs: [
      text("indexName"),
      { name: "numberOfNearestNeighbours", type: INTEGER },
      { name: "query", type: listOf(NUMBER) },
    ].map(required),
    outputs: [found(of), { name: "score", type: FLOAT }],
    rows: (args, statement) => nearest(of, args, statement),
  };
}

function fulltextSearch(name: string, of: Part): Procedure {
  return {
    name,
    description: `Finds ${WHAT[of]} by words, by a fulltext index.`,
    inputs: [...[text("indexName"), text("queryString")].map(required), { name: "options", type: MAP, optional: true }],
    outputs: [found(of), { name: "score", type: FLOAT }],
    rows: ([index, query, options], statement) => matching(of, index!, query!, options, statement),
  };
}

/** Throws 22023 for a name that is computed, 42704 for one that no such index has. */
function indexNamed(of: Part, expr: Expr, method: "vector" | "fulltext", statement: ProcedureStatement) {
  const name = statement.valueAtOnce(expr);
  if (typeof name !== "string") {
    throw sqlError("22023", "the name of the index must be a string in the statement, or a parameter that is one");
  }
  const table = statement.graph[of];
  const known = graphDefOf(table)?.indexes?.find((other) => other.name === name && other.method === method);
  const index = table.searchIndexes?.find(({ id }) => id === known?.indexId);
  if (index === undefined) throw sqlError("42704", `there is no ${method} index "${name}" on ${of} of the graph`);
  return { table, index };
}

const NODE_COLUMNS = 3;

/** The table's columns that its entities are made of, and then `further`; and which rows are seen. */
function columnsOf(table: TableDef, further: readonly number[], statement: ProcedureStatement) {
  const ids: number[] = Object.values(graphDefOf(table)!.of === "nodes" ? NODE_COLUMN : EDGE_COLUMN);
  const source = [...ids, ...further];
  const columns = source.map((id) => {
    const { name, type, notNull } = table.columns.find((column) => column.id === id)!;
    return statement.newColumn(name, type, !notNull);
  });
  const own = columns.slice(0, ids.length);
  const isNode = ids.length === NODE_COLUMNS;
  const [id, second, third, fourth, fifth] = own as [OutputColumn, OutputColumn, OutputColumn, ...OutputColumn[]];
  const policy = isNode
    ? (statement.guard?.node({ id, labels: second, properties: third }) ?? null)
    : wholeEdgePolicy({ id, type: second, src: third, dst: fourth!, properties: fifth! }, statement);
  return { source, columns, policy, entity: call(isNode ? NODE_OF : RELATIONSHIP_OF, own.map(columnExpr)) };
}

/** `condition`: of an entity, before the nearest are taken. */
export function nearest(
  of: Part,
  [name, count, query]: readonly Expr[],
  statement: ProcedureStatement,
  condition: (entity: Variable) => Expr | null = () => null,
): Plan {
  const { table, index } = indexNamed(of, name!, "vector", statement);
  const { source, columns, policy, entity } = columnsOf(table, index.columnIds, statement);
  const stored = columnExpr(columns.at(-1)!);
  const scan: Plan = Object.freeze({
    kind: "scan",
    table,
    alias: table.name,
    source,
    filter: Object.freeze({ kind: "isnull", type: BOOL, input: stored, negated: true }),
    reverse: false,
    rowKey: null,
    columns,
  });
  const { metric } = index.vector!;
  const { operator } = VECTOR_METRICS[metric];
  const distance = call(resolveOperator(operator, VECTOR, VECTOR).fn, [stored, call(VECTOR_OF, [query!])]);
  const keys = [{ expr: distance, descending: false, nullsFirst: false }];
  const wanted = condition(entityIn(of === "nodes" ? "node" : "relationship", columns.slice(0, -1)));
  const input = filtered(behindPolicy(scan, policy), wanted);
  const sorted: Plan = Object.freeze({ kind: "sort", input, keys, columns });
  const limit = call(COUNT_OF, [count!]);
  const best: Plan = Object.freeze({ kind: "limit", input: sorted, limit, offset: null, columns });
  return answer(best, of, entity, call(SCORES[metric], [distance]), statement);
}

function matching(of: Part, name: Expr, query: Expr, options: Expr | undefined, statement: ProcedureStatement): Plan {
  const { table, index } = indexNamed(of, name, "fulltext", statement);
  const { source, columns, policy, entity } = columnsOf(table, [], statement);
  const score = statement.newColumn("score", FLOAT8);
  const search: Plan = Object.freeze({
    kind: "textsearch",
    table,
    alias: table.name,
    source,
    filter: policy,
    rowKey: null,
    // Scores count only words of what is seen.
    ...(policy !== null && { visible: someExpr(policy, ({ kind }) => kind === "subquery") ? null : policy }),
    index: index as SearchIndexDef,
    query: call(TEXT_OF, [query]),
    mode: textConst("any"),
    counts: null,
    columns: [...columns, score],
  });
  const some = options === undefined ? search : someOf(search, options);
  return answer(some, of, entity, call(AS_IT_IS, [columnExpr(score)]), statement);
}

/** The search gives the best first. */
function someOf(search: Plan, options: Expr): Plan {
  const limit = call(LIMIT_OF, [options]);
  const offset = call(SKIP_OF, [options]);
  return Object.freeze({ kind: "limit", input: search, limit, offset, columns: search.columns });
}

function answer(input: Plan, of: Part, entity: Expr, score: Expr, statement: ProcedureStatement): Plan {
  const columns: OutputColumn[] = [
    statement.newColumn(of === "nodes" ? "node" : "relationship", VARIANT),
    statement.newColumn("score", VARIANT),
  ];
  return Object.freeze({ kind: "project", input, exprs: [entity, score], columns });
}

function scoreOf(name: string, apply: (distance: number) => number): ScalarFunction {
  return plain(name, FLOAT8, VARIANT, (distance: number) => floatValue(apply(distance)));
}

function plain(
  name: string,
  from: typeof VARIANT,
  returns: typeof VARIANT,
  // biome-ignore lint/suspicious/noExplicitAny: each function has its own parameter
  apply: (value: any) => any,
): ScalarFunction {
  return Object.freeze({ name, args: [from], returns, volatility: "immutable", strict: true, apply });
}

const SCORES = Object.fromEntries(
  METRIC_ENTRIES.map(([metric, { neo4jScoreOf }]) => [metric, scoreOf(`${metric}_score`, neo4jScoreOf)]),
) as Readonly<Record<VectorMetric, ScalarFunction>>;

const AS_IT_IS = scoreOf("text_score", (score) => score);

const VECTOR_OF = plain("vector_of", VARIANT, VECTOR, (query: Variant) => {
  const numbers = (itemsOfVector(query) ?? []).map(doubleOf);
  if (numbers.length > 0 && numbers.every(Number.isFinite)) return Float32Array.from(numbers);
  throw cypherError("TypeError", "InvalidArgumentType", "a vector index is asked with a vector or a list of numbers");
});

/** Programs in languages that have one kind of number send 3 as 3.0. */
const asInteger = (count: Variant): Variant => (count instanceof Float ? count.value : count);

const COUNT_OF = plain("count_of", VARIANT, INT8, (value: Variant) => {
  const count = asInteger(value);
  if (isIntegerValue(count) && count >= 1) return count;
  throw cypherError("ArgumentError", "NegativeIntegerArgument", "so many neighbours must be a positive integer");
});

const TEXT_OF = plain("text_of", VARIANT, TEXT, (query: Variant) => {
  if (typeof query === "string") return query;
  throw cypherError("TypeError", "InvalidArgumentType", "a fulltext index is asked with a string");
});

const SEARCH_OPTIONS: readonly string[] = ["limit", "skip"];

/** A number of the options of a search; null: they do not name it. */
function searchOption(name: string): ScalarFunction {
  return plain(`search_${name}`, VARIANT, INT8, (options: Variant) => {
    if (!(options instanceof Map)) {
      throw cypherError("TypeError", "InvalidArgumentType", "the options of a search are a map such as {limit: 10}");
    }
    const unknown = [...options.keys()].find((key) => !SEARCH_OPTIONS.includes(key));
    if (unknown !== undefined) {
      throw cypherError(
        "ArgumentError",
        "InvalidArgumentValue",
        `a search has the options limit and skip, not ${unknown}`,
      );
    }
    const count = asInteger(options.get(name) ?? null);
    if (count === null || (isIntegerValue(count) && count >= 0)) return count;
    throw cypherError("ArgumentError", "NegativeIntegerArgument", `${name} must be an integer of 0 or more`);
  });
}

const LIMIT_OF = searchOption("limit");
const SKIP_OF = searchOption("skip");

const onDemand = (field: ProcedureField): ProcedureField => ({ ...field, onDemand: true });

/** As Neo4j calls what makes such an index. */
const PROVIDERS: Readonly<Record<string, string>> = {
  RANGE: "range-1.0",
  TEXT: "text-2.0",
  POINT: "point-1.0",
  FULLTEXT: "fulltext-1.0",
  VECTOR: "vector-2.0",
};

const INDEX_FIELDS: readonly ProcedureField[] = [
  text("name"),
  text("type"),
  text("entityType"),
  text("label"),
  { name: "properties", type: listOf(STRING) },
  { name: "labelsOrTypes", type: listOf(STRING) },
  text("uniqueness"),
  text("owningConstraint"),
  text("state"),
  { name: "populationPercent", type: FLOAT },
  { name: "options", type: MAP },
  ...[text("indexProvider"), text("failureMessage"), text("createStatement")].map(onDemand),
];

/**
 * Those that statements made, and those of constraints. A write keeps them, so each is always complete. The lookup
 * indexes of every graph are left out: clients drop whatever is listed.
 */
function indexes(statement: ProcedureStatement): Plan {
  const { graph } = statement;
  const rows = [graph.nodes, graph.edges].flatMap((table) => {
    const { of, indexes: made = [], constraints = [] } = graphDefOf(table)!;
    const listed = [
      ...made.map(({ method, ...index }) => ({ ...index, type: method.toUpperCase(), constraint: null })),
      ...constraints
        .filter(({ indexId }) => indexId !== null)
        .map((constraint) => ({ ...constraint, labels: undefined, type: "RANGE", constraint: constraint.name })),
    ];
    return listed.map(({ name, type, label, labels = [label], properties, constraint, indexId }) => [
      textConst(name),
      textConst(type),
      textConst(of === "nodes" ? "NODE" : "RELATIONSHIP"),
      textConst(label),
      properties.length === 0 ? variant(null) : call(LIST_OF, properties.map(textConst)),
      call(LIST_OF, labels.map(textConst)),
      textConst(constraint === null ? "NONUNIQUE" : "UNIQUE"),
      constraint === null ? variant(null) : textConst(constraint),
      textConst("ONLINE"),
      variant(floatValue(100)),
      variant(optionsOf(table, indexId!)),
      textConst(PROVIDERS[type]!),
      textConst(""),
      textConst(
        constraint === null
          ? indexStatement({ name, type, of, labels, properties, table, indexId: indexId! })
          : constraintStatement({ ...constraints.find((each) => each.name === constraint)!, of }),
      ),
    ]);
  });
  const columns = INDEX_FIELDS.map(({ name }) => statement.newColumn(name, VARIANT));
  return Object.freeze({ kind: "values", rows, columns });
}

/** The statement that makes it. */
function indexStatement(index: {
  readonly name: string;
  readonly type: string;
  readonly of: Part;
  readonly labels: readonly string[];
  readonly properties: readonly string[];
  readonly table: TableDef;
  readonly indexId: number;
}): string {
  const { name, type, of, labels, properties, table, indexId } = index;
  const named = labels.map(quotedName).join("|");
  const subject = of === "nodes" ? `(n:${named})` : `()-[n:${named}]-()`;
  const list = properties.map((property) => `n.${quotedName(property)}`).join(", ");
  const on = type === "FULLTEXT" ? `EACH [${list}]` : `(${list})`;
  const config = optionsOf(table, indexId).get("indexConfig") as VariantMap | undefined;
  const options = [...(config ?? [])].map(
    ([key, value]) => `${quotedName(key)}: ${typeof value === "string" ? `'${value}'` : value}`,
  );
  const ending = options.length === 0 ? "" : ` OPTIONS {indexConfig: {${options.join(", ")}}}`;
  return `CREATE ${type} INDEX ${quotedName(name)} FOR ${subject} ON ${on}${ending}`;
}

/** As CREATE VECTOR INDEX takes them; of other indexes nothing. */
function optionsOf(table: TableDef, indexId: number): VariantMap {
  const index = table.searchIndexes?.find(({ id }) => id === indexId);
  if (index?.vector === undefined) return new Map();
  const column = table.columns.find(({ id }) => id === index.columnIds[0])!;
  const config = new Map<string, Variant>([
    ["vector.dimensions", column.type.modifier ?? null],
    ["vector.similarity_function", index.vector.metric.toUpperCase()],
  ]);
  return new Map<string, Variant>([["indexConfig", config]]);
}

/** Placed below their sources. */
export const INDEX_PROCEDURES: readonly Procedure[] = [
  vectorSearch("db.index.vector.queryNodes", "nodes"),
  vectorSearch("db.index.vector.queryRelationships", "edges"),
  fulltextSearch("db.index.fulltext.queryNodes", "nodes"),
  fulltextSearch("db.index.fulltext.queryRelationships", "edges"),
  {
    name: "db.indexes",
    description: "The indexes of the graph, all or of one type.",
    inputs: [{ ...text("type"), optional: true }],
    outputs: INDEX_FIELDS,
    rows: ([type], statement) => ofType(indexes(statement), type, IS_TYPE),
  },
  {
    name: "db.index.fulltext.awaitEventuallyConsistentIndexRefresh",
    description: "Does nothing, because indexes are always complete.",
    inputs: [],
    outputs: [],
    rows: () => NO_ROWS,
  },
  {
    name: "db.index.fulltext.listAvailableAnalyzers",
    description: "What a fulltext index may have as its option `fulltext.analyzer`.",
    inputs: [],
    outputs: [text("analyzer"), text("description")],
    rows: (_args, statement) =>
      Object.freeze({
        kind: "values",
        rows: analyzers().map((row) => row.map(textConst)),
        columns: ["analyzer", "description"].map((name) => statement.newColumn(name, VARIANT)),
      }),
  },
  ...["db.awaitIndexes", "db.awaitIndex"].map((name) => ({
    name,
    description: "Does nothing, because indexes are always complete.",
    inputs: [
      ...(name === "db.awaitIndex" ? [required(text("indexName"))] : []),
      { name: "timeOutSeconds", type: INTEGER, optional: true },
    ],
    outputs: [],
    rows: () => NO_ROWS,
  })),
];

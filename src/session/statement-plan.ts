/**
 * From a statement's text to something that can run: parse → bind → optimize → compile. The result is immutable,
 * cached by plan-cache.ts and shared by all runs.
 */
import { type GraphTables, graphNamesOf } from "../catalog/graph.js";
import { permissionDenied } from "../catalog/rights.js";
import type { Privilege } from "../catalog/role.js";
import type { StatisticsSource } from "../catalog/statistics.js";
import type { TableDef } from "../catalog/table.js";
import { bindCypher } from "../cypher/bind/bind-cypher.js";
import { PROCEDURES } from "../cypher/bind/bind-procedure.js";
import type { BoundCypherQuery } from "../cypher/bind/bound-cypher.js";
import { type GivenParameters, givenValue } from "../cypher/bind/given-parameters.js";
import { parseCypher } from "../cypher/parse/parse.js";
import type { Statement as CypherStatement } from "../cypher/parse/statement-ast.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { compilePlan } from "../query/exec/compile-plan.js";
import type { Program } from "../query/exec/operator.js";
import type { CallExpr } from "../query/expr/expr.js";
import { newColumnId } from "../query/optimize/new-column-id.js";
import { type OptimizeOptions, optimize } from "../query/optimize/optimize.js";
import { waitInExpressions } from "../query/optimize/wait-in-expressions.js";
import type { GraphGuard } from "../query/plan/graph-guard.js";
import type { GraphWriteStep } from "../query/plan/graph-plans.js";
import type { Plan } from "../query/plan/plan.js";
import { modifyingNodes } from "../query/plan/walk.js";
import { bindStatement } from "../sql/bind/bind-statement.js";
import type { BindEnvironment, BoundQuery, BoundStatement, CypherBinder } from "../sql/bind/bound-statement.js";
import { graphGuard } from "../sql/bind/graph-policies.js";
import type { StatementNode } from "../sql/parse/ast.js";
import { cypherError } from "../values/cypher-error.js";
import { typeOfParameter } from "../values/json-format.js";
import { type SqlType, VARIANT } from "../values/values.js";
import { callsToCheck } from "./check-calls.js";
import { withQuotesHint } from "./double-quotes.js";
import { inLongText, withListedRows } from "./long-statements.js";
import { type ResultShape, shapeOf } from "./sql-result.js";
import { type StatementTree, treeOf } from "./statement-language.js";
import type { StatementText } from "./statement-run.js";

export interface StatementPlan {
  readonly bound: BoundStatement;
  readonly catalogVersion: number | string;
  /** Parameters whose type came from the value the client sent, with that type. */
  readonly openParameters: readonly { readonly index: number; readonly type: SqlType | null }[];
  readonly parameterTypes: readonly SqlType[];
  /** Of Cypher: the parameters' names, parallel to `parameterTypes`. */
  readonly parameterNames: readonly string[] | null;
  /** Of those, the ones that are null where they did not come; absent: none. */
  readonly optionalParameters?: ReadonlySet<string>;
  /** Those whose values it was made with, by name; absent: none. */
  readonly fixedParameters?: ReadonlyMap<string, unknown>;
  /** Of Cypher: the graph that it is about. */
  readonly graph: GraphTables | null;
  /** Of a query; null for everything else. */
  readonly program: Program | null;
  readonly shape: ResultShape | null;
  /** Of Cypher with a CALL IN TRANSACTIONS, which runs in parts (call-in-transactions.ts). */
  readonly inTransactions?: BoundCypherQuery["inTransactions"];
  /** Calls that are checked before each run. */
  readonly checks: readonly CallExpr[];
  /** How often the plan cache handed it out. */
  uses: number;
  /** Runs of it that took too long without giving way; after some of them the statement is planned to wait at once. */
  overruns: number;
}

/** The session's definitions and what names mean in it. */
type Names = Omit<BindEnvironment, "parameterTypes">;

/** The tables of the graph of that name, or of the database that USE calls so. Throws not_found. */
export type GraphOf = (name: string | undefined, isDatabase?: boolean) => GraphTables;

const ONE_ROW: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });
const NO_TYPES: readonly SqlType[] = [];

/** It writes nothing and holds no rows against others. */
export function takesNothing({ bound }: StatementPlan): boolean {
  return bound.kind === "query" && bound.readOnly && bound.locksRows !== true;
}

/** Throws for anything wrong with the text; it must hold exactly one statement. */
export function planStatement(
  text: StatementText,
  names: Names,
  statistics: StatisticsSource,
  graphOf: GraphOf,
): StatementPlan {
  if (text.command !== undefined) {
    if (text.graph !== undefined) graphOf(text.graph);
    return planBound({ kind: "ddl", command: text.command }, names, statistics, NO_PARAMETERS);
  }
  const { long } = text;
  if (long == null) return planTree(treeOf(text), text, names, statistics, graphOf);
  const planned = inLongText(long, () => {
    const node = withListedRows(treeOf(text), long);
    return node === null ? null : planTree({ language: "sql", node }, text, names, statistics, graphOf);
  });
  return planned ?? planStatement({ ...text, sql: long.rows.text, long: null }, names, statistics, graphOf);
}

function planTree(
  found: StatementTree,
  text: StatementText,
  names: Names,
  statistics: StatisticsSource,
  graphOf: GraphOf,
): StatementPlan {
  const tree = cypherCall(found, text, names.catalog);
  const waits = text.waits === true;
  if (tree.language === "cypher") {
    const graph = graphUsed(tree.statement, text.graph, graphOf, givenIn(text.params));
    return planCypher(tree.statement, text, graph, names, statistics);
  }
  const { params, declared } = text;
  try {
    if (declared !== undefined) {
      return planNode(tree.node, [], { ...names, declaredTypes: declared }, statistics, graphOf, waits);
    }
    return planNode(tree.node, Array.isArray(params) ? params : [], names, statistics, graphOf, waits);
  } catch (error) {
    throw withQuotesHint(error, text.sql);
  }
}

/** Throws ParameterMissing, and TypeError for a parameter that is no text. */
function graphUsed(
  { graph }: CypherStatement,
  name: string | undefined,
  graphOf: GraphOf,
  given: GivenParameters = {},
): GraphTables {
  if (graph === undefined) return graphOf(name);
  const used = typeof graph === "string" ? graph : givenValue(graph.parameter, given);
  if (typeof used === "string") return graphOf(used, true);
  throw cypherError("TypeError", "InvalidArgumentType", "graph.byName() takes a string", "compile time");
}

const givenIn = (params: StatementText["params"]): GivenParameters =>
  Array.isArray(params) ? {} : (params as GivenParameters);

function queryOf(bound: BoundStatement): BoundQuery | null {
  if (bound.kind === "query") return bound;
  return bound.kind === "explain" || bound.kind === "declare cursor" ? bound.statement : null;
}

/** Of procedures that clients of Neo4j call. */
const NAMESPACES = /^(?:db|dbms|apoc|gds|algo)$/i;

/**
 * `CALL db.labels()` is one in both languages: of Cypher where it is a procedure of Cypher's and no schema has that
 * name. A name that only looks like one of Neo4j's is Cypher's too, whose error names the procedures that there are.
 */
function cypherCall(tree: StatementTree, { sql, language }: StatementText, catalog: Names["catalog"]): StatementTree {
  if (language !== undefined || tree.language !== "sql" || tree.node.kind !== "call procedure") return tree;
  const { path } = tree.node.call;
  if (path.length < 2 || catalog.hasSchema(path[0]!)) return tree;
  if (!NAMESPACES.test(path[0]!) && PROCEDURES.procedure(path.join(".")) === null) return tree;
  return { language: "cypher", statement: parseCypher(sql) };
}

/** Plans one statement of SQL's syntax tree. */
export function planNode(
  node: StatementNode,
  params: readonly unknown[],
  names: Names,
  statistics: StatisticsSource,
  graphOf: GraphOf,
  waits = false,
): StatementPlan {
  const guesses = params.map(typeOfParameter);
  const reader = new GraphReader(graphOf, names);
  const calls: CallExpr[] = [];
  const bound = bindStatement({ node }, { ...names, parameterTypes: guesses, cypher: reader.bind, calls });
  const plan = planBound(bound, names, statistics, { ...NO_PARAMETERS, guesses, graph: reader.graph, waits });
  // Of a query its plan says which there are.
  return bound.kind === "ddl" && calls.length > 0 ? { ...plan, checks: calls } : plan;
}

/** What cypher() in a statement of SQL reads: one graph. */
class GraphReader {
  graph: GraphTables | null = null;

  constructor(
    private readonly graphOf: GraphOf,
    private readonly names: Names,
  ) {}

  readonly bind: CypherBinder = (text, { graph: name, ...inside }) => {
    const statement = parseCypher(text);
    const graph = graphUsed(statement, name, this.graphOf);
    if (this.graph !== null && this.graph !== graph) {
      throw sqlError("0A000", "a statement of SQL can read one graph only");
    }
    this.graph = graph;
    const guard = guardOf(graph, this.names);
    const bound = bindCypher(statement, text, { graph, guard, inside });
    if (bound.kind === "ddl") return { source: { plan: ONE_ROW, columns: [] }, readOnly: false };
    const { plan, columns, readOnly } = bound;
    requireGraph(graph, this.names.rights, plan);
    return { source: { plan, columns }, readOnly };
  };
}

function planCypher(
  statement: CypherStatement,
  { sql, params, waits: hasOverrun }: StatementText,
  graph: GraphTables,
  names: Names,
  statistics: StatisticsSource,
): StatementPlan {
  const graphNames = (): readonly string[] => graphNamesOf(names.catalog);
  const waits = hasOverrun === true;
  const given = givenIn(params);
  const bound = bindCypher(statement, sql, { graph, guard: guardOf(graph, names), graphNames, given });
  if (bound.kind === "ddl") return planBound(bound, names, statistics, NO_PARAMETERS);
  requireGraph(graph, names.rights, bound.plan);
  const { parameterNames, optionalParameters } = bound;
  const used = typeof statement.graph === "object" ? statement.graph.parameter : null;
  const fixedParameters = new Map([...bound.fixedParameters, ...(used === null ? [] : [[used, given[used]] as const])]);
  const parameters = { guesses: [], parameterNames, optionalParameters, fixedParameters, graph, waits };
  const query = queryOfCypher(bound);
  if (statement.mode === "run") {
    return { ...planBound(query, names, statistics, parameters), inTransactions: bound.inTransactions };
  }
  const analyze = statement.mode === "profile";
  const options = { verbose: false, costs: true, format: "text" } as const;
  return planBound({ kind: "explain", statement: query, analyze, ...options }, names, statistics, parameters);
}

function guardOf(graph: GraphTables, names: Names): GraphGuard | null {
  return graphGuard(graph, { ...names, parameterTypes: [] }, newColumnId);
}

/** Throws 42501 unless the role may do with both of the graph's tables what the statement does, in all columns. */
function requireGraph({ nodes, edges, name }: GraphTables, rights: Names["rights"], plan: Plan): void {
  if (rights?.matter !== true) return;
  const writes = modifyingNodes(plan).flatMap((node) => (node.kind === "graphwrite" ? privilegesOf(node.steps) : []));
  const mayAll = ({ id }: TableDef, of: WrittenPart) =>
    rights.may(id, "r") &&
    writes.every((each) => (each.of !== of && each.of !== "any") || rights.may(id, each.privilege));
  if (!mayAll(nodes, "nodes") || !mayAll(edges, "edges")) throw permissionDenied("graph", name);
}

type WrittenPart = "nodes" | "edges" | "any";

/** What a value is that is changed or deleted, only its run tells: then both tables have to allow it. */
function privilegesOf(
  steps: readonly GraphWriteStep[],
): readonly { readonly of: WrittenPart; readonly privilege: Privilege }[] {
  return steps.flatMap((step) => {
    switch (step.kind) {
      case "create-node":
        return [{ of: "nodes" as const, privilege: "a" as const }];
      case "create-edge":
        return [{ of: "edges" as const, privilege: "a" as const }];
      case "set-labels":
      case "remove-labels":
        return [{ of: "nodes" as const, privilege: "w" as const }];
      case "set-property":
      case "set-properties":
        return [{ of: "any" as const, privilege: "w" as const }];
      case "delete":
        return [{ of: "any" as const, privilege: "d" as const }];
      case "merge":
        return privilegesOf([...step.create, ...step.onCreate, ...step.onMatch]);
      // Its query is a plan of its own, whose writing nodes are asked by themselves.
      case "call":
        return [];
      default:
        return privilegesOf(step.steps);
    }
  });
}

function queryOfCypher({ plan, columns, parameterNames, readOnly, returnsRows }: BoundCypherQuery): BoundQuery {
  const parameterTypes = parameterNames.map(() => VARIANT);
  const fixed = { openParameters: [], callsRoutines: false } as const;
  return { kind: "query", command: "cypher", plan, columns, parameterTypes, readOnly, returnsRows, ...fixed };
}

interface Parameters {
  /** Types that the values suggest. */
  readonly guesses: readonly (SqlType | null)[];
  readonly parameterNames: StatementPlan["parameterNames"];
  readonly optionalParameters?: ReadonlySet<string>;
  readonly fixedParameters?: ReadonlyMap<string, unknown>;
  readonly graph: StatementPlan["graph"];
  readonly waits: boolean;
}

const NO_PARAMETERS: Parameters = { guesses: [], parameterNames: null, graph: null, waits: false };

/** The plan that waits within expressions, unless something in it stands where nothing can be waited for. */
function optimizedToWait(plan: Plan, options: OptimizeOptions): Plan {
  try {
    return optimize(waitInExpressions(plan), options);
  } catch (error) {
    if (!(error instanceof DbError) || error.details?.sqlstate !== "0A000") throw error;
    return optimize(plan, options);
  }
}

function planBound(
  bound: BoundStatement,
  names: Names,
  statistics: StatisticsSource,
  { guesses, parameterNames, optionalParameters, fixedParameters, graph, waits }: Parameters,
): StatementPlan {
  const { version: catalogVersion } = names.catalog;
  const optional = optionalParameters === undefined || optionalParameters.size === 0 ? {} : { optionalParameters };
  const fixed = fixedParameters === undefined || fixedParameters.size === 0 ? {} : { fixedParameters };
  const common = { bound, catalogVersion, parameterNames, ...optional, ...fixed, graph, uses: 0, overruns: 0 };
  const query = queryOf(bound);
  const open = (indexes: readonly number[]) => indexes.map((index) => ({ index, type: guesses[index] ?? null }));
  if (query === null) {
    const { parameterTypes = NO_TYPES, openParameters = [] } = bound.kind === "ddl" ? bound : {};
    return { ...common, openParameters: open(openParameters), parameterTypes, program: null, shape: null, checks: [] };
  }
  const { answersAtOnce } = names;
  const options = { statistics, ...(answersAtOnce && { answersAtOnce }) };
  const plan = waits ? optimizedToWait(query.plan, options) : optimize(query.plan, options);
  return {
    ...common,
    openParameters: open(query.openParameters),
    parameterTypes: query.parameterTypes,
    program: compilePlan(plan),
    shape: shapeOf(query.columns),
    checks: callsToCheck(query.plan),
  };
}

/**
 * search('table', query [, k [, mode [, vector]]]) in FROM: the rows of a table or collection that answer a query,
 * with their scores, the best first. It is bound as a query (catalog/ranked-search.ts), so that search indexes answer
 * it. Called by bind-from.ts.
 */
import {
  rankedSearch,
  SEARCH_MODES,
  type Searchable,
  type SearchMode,
  STATIC_WEIGHT,
  searchableOf,
  usualMode,
  VECTOR_WEIGHT,
  weightForQuery,
} from "../../catalog/ranked-search.js";
import { parseRelationName } from "../../catalog/relation-names.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { MODEL_FUNCTIONS } from "../../query/expr/functions/models.js";
import { displayName } from "../../query/expr/types.js";
import { INT8, type SqlType, TEXT, VECTOR } from "../../values/values.js";
import type { CallNode, ExprNode, FromFunction, NameNode, QueryNode } from "../parse/ast-query.js";
import { parseSql } from "../parse/parse.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import type { Variables } from "./bound-statement.js";
import { coerceImplicit, constant, isUnknown, resolveUnknown, suggestedType, withPosition } from "./coerce.js";
import { routinesNamed } from "./resolve-routine.js";
import { Scope } from "./scope.js";

const SEARCH = "search";
/** Its parameters, by which arguments can be named. */
const PARAMETERS = ["collection", "query", "k", "mode", "vector"] as const;
type Parameter = (typeof PARAMETERS)[number];
const K_DEFAULT = 10;

/** The call, if the function in FROM is this one and no statement has made another of its name. */
export function searchCallOf(node: FromFunction, { env }: Binding): CallNode | null {
  const call = node.functions[0]!.call;
  if (node.functions.length > 1 || node.ordinality || node.columns.length > 0 || call.kind !== "call") return null;
  if (call.path.length !== 1 || call.path[0] !== SEARCH || routinesNamed(call.path, env).length > 0) return null;
  return call;
}

/** `lateral`: the scope of the items to the left of the function. Throws 42883, 42P01, 22023, 0A000. */
export function bindSearch(call: CallNode, lateral: Scope, binding: Binding, lookUp: LookUp): Source {
  const given = argumentsOf(call);
  const context = contextOf(binding, lateral, "functions in FROM");
  const { position } = call;
  return withPosition(position, () => {
    const searchable = searchableOf(tableNamed(given.collection, lookUp, binding));
    const query = typed(given.query, context);
    const isVector = query.type.name === "vector";
    const vector = given.vector === null ? null : argumentOf(given.vector, VECTOR, context);
    const nearTo = vector ?? (isVector ? query : null);
    const mode = modeOf(searchable, given.mode, isVector, vector !== null);
    const k = given.k === null ? constant(INT8, K_DEFAULT) : argumentOf(given.k, INT8, context);
    if (isVector && mode !== "vector")
      throw sqlError("22023", `a search of the mode ${mode} asks for words, not for a vector`);
    const words = isVector ? query : argumentOf(given.query, TEXT, context);
    const sql = rankedSearch(searchable, {
      mode,
      words: "$1",
      nearTo: nearTo === null ? "(SELECT embed($1))" : "$2",
      vectorWeight: weightOf(
        words,
        nearTo === null && isEmbeddedAtOnce(words, binding) ? STATIC_WEIGHT : VECTOR_WEIGHT,
        searchable,
        binding,
      ),
      limit: "$3",
      filter: null,
    });
    const parameters = [words, nearTo, k];
    const variables: Variables = { find: () => null, parameter: (i) => parameters[i] ?? null, conflict: "column" };
    return binding.query(queryOf(sql), new Scope(null, variables), PLAIN_QUERY);
  });
}

/** A query that is written in the statement tells what it is. */
function weightOf(words: Expr, usual: number, { table, text }: Searchable, { env }: Binding): number {
  if (words.kind !== "const" || typeof words.value !== "string") return usual;
  const shape = text === null ? null : (env.textShape?.(table, text, words.value) ?? null);
  return weightForQuery(usual, words.value, shape);
}

/** Static encoders need no waiting, and others do. */
function isEmbeddedAtOnce(words: Expr, { env }: Binding): boolean {
  const fn = MODEL_FUNCTIONS.find(({ name, args }) => name === "embed" && args.length === 1)!;
  return env.answersAtOnce?.({ kind: "call", type: VECTOR, fn, args: [words] }) === true;
}

type LookUp = (name: NameNode, binding: Binding) => TableDef;

interface Arguments {
  readonly collection: ExprNode;
  readonly query: ExprNode;
  readonly k: ExprNode | null;
  readonly mode: ExprNode | null;
  readonly vector: ExprNode | null;
}

function argumentsOf({ args, position }: CallNode): Arguments {
  const found: { -readonly [name in Parameter]?: ExprNode } = {};
  args.forEach(({ name, value }, i) => {
    const parameter = name === null ? PARAMETERS[i] : PARAMETERS.find((one) => one === name);
    if (parameter === undefined || found[parameter] !== undefined) throw noSuchCall(position);
    found[parameter] = value;
  });
  const { collection, query, k = null, mode = null, vector = null } = found;
  if (collection === undefined || query === undefined) throw noSuchCall(position);
  return { collection, query, k, mode, vector };
}

const noSuchCall = (position: number) =>
  sqlError("42883", "function search takes a table, a query, and perhaps k, a mode and a vector", {
    position,
    hint: `Call it as search(${PARAMETERS.join(", ")}). The last three may be left out.`,
  });

/** The table is what the statement's columns come from, so its name has to be known here. */
function tableNamed(node: ExprNode, lookUp: LookUp, binding: Binding): TableDef {
  const name = constantText(node, "the name of the table that search() reads");
  const { position } = node;
  const exact = binding.env.searchPath.some((schema) => binding.env.catalog.table(schema, name) !== null);
  return lookUp({ path: exact ? [name] : pathOf(name), position }, binding);
}

function pathOf(text: string): string[] {
  const { schema, name } = parseRelationName(text);
  return schema === null ? [name] : [schema, name];
}

function modeOf(searchable: Searchable, node: ExprNode | null, isVector: boolean, hasVector: boolean): SearchMode {
  const modes: readonly string[] = SEARCH_MODES;
  if (node !== null) {
    const mode = constantText(node, "the mode of search()").toLowerCase();
    if (modes.includes(mode)) return mode as SearchMode;
    throw sqlError("22023", `the mode of search() is one of ${modes.join(", ")}, not "${mode}"`, {
      position: node.position,
    });
  }
  if (isVector) return "vector";
  const usual = hasVector ? "hybrid" : usualMode(searchable);
  if (usual !== null) return usual;
  const { name } = searchable.table;
  throw sqlError("0A000", `table "${name}" has neither a text index nor a vector index of texts to search by`, {
    hint: "Create one with CREATE INDEX … USING text (columns), or search by a vector: search(table, vector).",
  });
}

function constantText(node: ExprNode, what: string): string {
  if (node.kind === "cast") return constantText(node.input, what);
  if (node.kind === "string") return node.value;
  throw sqlError("0A000", `${what} must be written as a constant`, { position: node.position });
}

/** Of a type that is known: a client's value may say that it is a vector. */
function typed(node: ExprNode, context: ExprContext): Expr {
  const expr = bindExpr(node, context);
  return isUnknown(expr)
    ? suggestedType(expr, context.binding) === VECTOR
      ? resolveUnknown(expr, context.binding)
      : expr
    : expr;
}

function argumentOf(node: ExprNode, type: SqlType, context: ExprContext): Expr {
  const expr = bindExpr(node, context);
  if (isUnknown(expr) || canCoerce(expr.type, type, "implicit")) {
    return coerceImplicit(expr, type, context.binding, node.position);
  }
  const message = `search() wants a value of type ${displayName(type)}, not ${displayName(expr.type)}`;
  throw sqlError("42883", message, { position: node.position });
}

function queryOf(sql: string): QueryNode {
  const { node } = parseSql(sql)[0]!;
  if (node.kind !== "select") throw new Error("a search is not a query");
  return node.query;
}

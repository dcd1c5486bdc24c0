/** Calls that make a vector index, as the commands that say the same: clients of Neo4j before 5.13 send them. */
import { sqlError } from "../../protocol/errors.js";
import type { CallClause, Expr, MapEntry, Query } from "../parse/ast.js";
import type { CreateIndexCommand } from "../parse/statement-ast.js";
import { type GivenParameters, withValues } from "./given-parameters.js";

const MAKES_INDEX = /^db\.index\.vector\.create(Node|Relationship)Index$/i;
const INPUTS = "(indexName, label, property, dimensions, similarityFunction)";

/** Null: the query is another one. Throws 22023 for arguments that are not what the procedure takes. */
export function indexCommandOf({ parts }: Query, given: GivenParameters = {}): CreateIndexCommand | null {
  const [clause] = parts[0]!.clauses;
  if (clause?.kind !== "call" || !clause.standalone) return null;
  const of = MAKES_INDEX.exec(clause.procedure)?.[1]?.toLowerCase();
  return of === undefined ? null : command(clause, of as "node" | "relationship", given);
}

function command(call: CallClause, of: "node" | "relationship", given: GivenParameters): CreateIndexCommand {
  const { args, position, procedure } = call;
  if (args?.length !== 5) {
    throw sqlError("22023", `${procedure} takes five arguments: ${INPUTS}`, { position: position + 1 });
  }
  const [name, label, property, dimensions, similarity] = args.map((arg) => withValues(arg, given)) as [
    ...[Expr, Expr, Expr, Expr, Expr],
  ];
  const entry = (key: string, value: Expr): MapEntry => ({ key, value, position });
  const entries = [entry("vector.dimensions", dimensions), entry("vector.similarity_function", similarity)];
  return {
    kind: "create-index",
    method: "vector",
    name: text(name, call),
    ifNotExists: false,
    subject: { of, variable: null, label: text(label, call), position },
    properties: [text(property, call)],
    options: { kind: "map", entries, position },
    position,
  };
}

function text(expr: Expr, { procedure }: CallClause): string {
  if (expr.kind === "string" && expr.value !== "") return expr.value;
  const what = `${procedure} takes names as strings: ${INPUTS}`;
  throw sqlError("22023", what, { position: expr.position + 1 });
}

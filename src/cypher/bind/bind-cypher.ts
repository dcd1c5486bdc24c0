/**
 * From a parsed Cypher statement to what the session runs. The life of a statement: parse (cypher/parse) → check
 * (names, types, what may stand where) → bind (here) → optimize → execute. Binding makes the plan of the shared
 * algebra:
 *
 *   bind-query         clauses in order, UNION            bind-expr          expressions, conditions
 *   bind-match         patterns → MatchPlan               bind-call          functions
 *   bind-projection    WITH, RETURN, aggregates           bind-list-expr     comprehensions, quantifiers, reduce
 *   bind-write         CREATE … FOREACH → GraphWritePlan  bind-subquery      EXISTS, COUNT, COLLECT, patterns
 *   bind-procedure     CALL                               bind-condition     WHERE
 */
import { DbError, sqlError } from "../../protocol/errors.js";
import type { Plan } from "../../query/plan/plan.js";
import type { Query } from "../parse/ast.js";
import type { SchemaCommand, Statement } from "../parse/statement-ast.js";
import { bindExpr } from "./bind-expr.js";
import { bindMatch } from "./bind-match.js";
import { PROCEDURES } from "./bind-procedure.js";
import { bindQuery } from "./bind-query.js";
import { bindSchemaCommand } from "./bind-schema-command.js";
import { type Binders, Binding, type CypherContext } from "./binding.js";
import type { BoundCypher, BoundCypherQuery } from "./bound-cypher.js";
import { checkStatement } from "./check.js";
import { indexCommandOf } from "./index-call.js";
import { NO_VARIABLES } from "./variables.js";

const BINDERS: Binders = { expr: bindExpr, query: bindQuery, match: bindMatch };

/**
 * `text` is what was parsed. Throws openCypher's errors of compile time with their positions
 * (cypher/parse/syntax-error.ts), 0A000 for what is not supported yet, 54001 for a statement that nests too deeply.
 */
export function bindCypher(statement: Statement, text: string, context: CypherContext): BoundCypher {
  try {
    const { body } = statement;
    const making = body.kind === "query" ? indexCommandOf(body, context.given) : null;
    if (making !== null) return commandBound(making, context);
    checkStatement(statement, text, PROCEDURES);
    if (body.kind !== "query") return commandBound(body, context);
    return bindWhole(body, new Binding(text, statement.parameters, context, BINDERS));
  } catch (error) {
    if (error instanceof RangeError && !(error instanceof DbError)) throw sqlError("54001", "statement too complex");
    throw error;
  }
}

function commandBound(command: SchemaCommand, { graph, given }: CypherContext): BoundCypher {
  return { kind: "ddl", command: bindSchemaCommand(command, graph.name, given) };
}

function bindWhole(query: Query, binding: Binding): BoundCypherQuery {
  const result = bindQuery(query, NO_VARIABLES, binding);
  const { tables, parameterNames, optionalParameters, fixedParameters, inTransactions } = binding;
  const plan: Plan =
    tables.length === 0
      ? result.plan
      : Object.freeze({ kind: "with", sequential: true, tables, input: result.plan, columns: result.plan.columns });
  const readOnly = tables.length === 0;
  const { columns, returns: returnsRows } = result;
  const parameters = { parameterNames, optionalParameters, fixedParameters };
  return { kind: "query", plan, columns, ...parameters, readOnly, inTransactions, returnsRows };
}

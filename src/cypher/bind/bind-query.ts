/** Queries: clause after clause makes rows of rows, RETURN the result, UNION one result of several. */

import { UNWIND } from "../../query/expr/cypher/clause-functions.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { VARIANT } from "../../values/values.js";
import type {
  CallClause,
  Clause,
  MatchClause,
  ProjectionClause,
  Query,
  SingleQuery,
  SubqueryCallClause,
  UnwindClause,
} from "../parse/ast.js";
import { bindArgument } from "./bind-expr.js";
import { bindMatch } from "./bind-match.js";
import { bindProcedureCall, bindSearch, bindStandaloneCall } from "./bind-procedure.js";
import { bindProjection } from "./bind-projection.js";
import { bindSubqueryCall } from "./bind-subquery-call.js";
import { asTable, bindWrites } from "./bind-write.js";
import { type Around, type Binding, contextOf, type QueryResult, type Rows } from "./binding.js";
import { clausesTogether } from "./clauses-together.js";
import { bindWith } from "./kept-variables.js";
import { NO_ROWS, ONE_ROW, resultOf } from "./rows.js";
import { NO_VARIABLES, type Variables, valueOfVariable } from "./variables.js";
import { isWriting, writes } from "./writes.js";

/** `scope`: of the query around it. */
export function bindQuery(query: Query, scope: Variables, binding: Binding, around: Around = ALONE): QueryResult {
  const results = query.parts.map((part) => {
    binding.deletes = false;
    const result = bindPart(part, around.start?.() ?? { plan: ONE_ROW, scope }, binding, around);
    // What one part reads must not be changed by those after it.
    const isTable = query.parts.length > 1 && binding.tables.length > 0;
    return isTable ? { ...result, plan: asTable(result.plan, false, binding) } : result;
  });
  return results.reduce((left, right) => union(left, right, query.all, binding));
}

const ALONE: Around = { kept: NO_VARIABLES };

/** Both have the same columns. */
function union(left: QueryResult, right: QueryResult, all: boolean, binding: Binding): QueryResult {
  const columns = left.columns.map(({ name }) => binding.newColumn(name, VARIANT));
  const plan: Plan = Object.freeze({ kind: "setop", op: "union", all, left: left.plan, right: right.plan, columns });
  return { plan, columns, returns: left.returns };
}

function bindPart({ clauses, finish }: SingleQuery, start: Rows, binding: Binding, around: Around): QueryResult {
  const [first] = clauses;
  if (first?.kind === "call" && first.standalone) return bindStandaloneCall(first, binding);
  let rows = start;
  for (let at = 0; at < clauses.length; at++) {
    const clause = clauses[at]!;
    if (clause.kind === "return") {
      const { plan, scope: named, names } = bindProjection(clause, rows, binding, around.kept);
      const made = names.map((name) => ({ name, expr: valueOfVariable(named.get(name)!) }));
      const result = resultOf(plan, made, binding);
      return { plan: result, columns: result.columns, returns: true };
    }
    if (!isWriting(clause)) {
      rows = bindReading(clause, clauses.slice(at + 1), rows, binding, around);
      continue;
    }
    const together = clausesTogether(clause, clauses, at + 1, rows.scope, binding);
    at += together.length - 1;
    rows = bindWrites(together, rows, binding);
  }
  return { plan: finish || writes(clauses.at(-1)!) ? NO_ROWS : rows.plan, columns: [], returns: false };
}

type ReadingClause = MatchClause | UnwindClause | CallClause | SubqueryCallClause | ProjectionClause;

function bindReading(
  clause: ReadingClause,
  later: readonly Clause[],
  rows: Rows,
  binding: Binding,
  around: Around,
): Rows {
  switch (clause.kind) {
    case "match":
      return bindMatch(clause, clause.search === undefined ? rows : bindSearch(clause.search, rows, binding), binding);
    case "unwind":
      return bindUnwind(clause, rows, binding);
    case "call":
      return bindProcedureCall(clause, rows, binding);
    case "subquery-call":
      return bindSubqueryCall(clause, rows, binding);
    default:
      return bindWith(clause, later, rows, binding, around);
  }
}

function bindUnwind({ list, variable }: UnwindClause, { plan, scope }: Rows, binding: Binding): Rows {
  const column = binding.newColumn(variable.name, VARIANT);
  const calls = [{ fn: UNWIND, args: [bindArgument(list, contextOf(binding, scope))], shape: UNWIND.returns }];
  return {
    plan: Object.freeze({ kind: "projectset", input: plan, calls, columns: [...plan.columns, column] }),
    scope: new Map(scope).set(variable.name, { kind: "value", expr: columnExpr(column) }),
  };
}

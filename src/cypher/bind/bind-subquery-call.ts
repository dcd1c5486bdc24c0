/**
 * `CALL (a) { … }`: a query for each row. One that only reads is a lateral join. One that writes is a step of a writing
 * clause, which runs it for one row after the other, so that each run sees what those before it wrote.
 */
import { columnExpr } from "../../query/plan/column-expr.js";
import type { CallStep } from "../../query/plan/graph-plans.js";
import type { Plan } from "../../query/plan/plan.js";
import type { SubqueryCallClause } from "../parse/ast.js";
import { written } from "./bind-write.js";
import type { Binding, QueryResult, Rows } from "./binding.js";
import { imported } from "./kept-variables.js";
import { joined, ONE_ROW } from "./rows.js";
import { NO_VARIABLES, type Variables, variant } from "./variables.js";
import { isWritingQuery } from "./writes.js";

/** Without RETURN the rows stay as they are. */
export function bindSubqueryCall(clause: SubqueryCallClause, rows: Rows, binding: Binding): Rows {
  const { imports, query, optional } = clause;
  const seen = imports === "*" ? null : new Set(imports.map(({ name }) => name));
  const outer = seen === null ? rows.scope : new Map([...rows.scope].filter(([name]) => seen.has(name)));
  if (clause.transactions !== null) return bindInTransactions(clause, outer, rows, binding);
  if (isWritingQuery(query)) return bindWritingCall(clause, outer, rows, binding).rows;
  const result = binding.bind.query(query, outer, binding, { kept: keptBy(clause, outer) });
  if (!result.returns) return rows;
  return { plan: joined(rows.plan, result.plan, optional), scope: withResult(rows.scope, result) };
}

/** Those that were named in parentheses. */
const keptBy = ({ keeps }: SubqueryCallClause, outer: Variables): Variables => (keeps ? outer : NO_VARIABLES);

function withResult(scope: Variables, { columns }: QueryResult): Variables {
  const all = new Map(scope);
  for (const column of columns) all.set(column.name, { kind: "value", expr: columnExpr(column) });
  return all;
}

/** As if it were in one transaction, for EXPLAIN; whoever runs it takes it apart. */
function bindInTransactions(clause: SubqueryCallClause, outer: Variables, rows: Rows, binding: Binding): Rows {
  const { rows: after, result } = bindWritingCall(clause, outer, rows, binding);
  binding.inTransactions ??= {
    position: clause.position,
    scope: [...rows.scope].map(([name, { kind }]) => ({ name, isNode: kind === "node" })),
    outputs: result.columns.map(({ name }) => name),
  };
  const status = clause.transactions?.status ?? null;
  if (status === null) return after;
  const scope = new Map(after.scope).set(status.name, { kind: "value", expr: variant(null) });
  return { plan: after.plan, scope };
}

function bindWritingCall(clause: SubqueryCallClause, outer: Variables, rows: Rows, binding: Binding) {
  const { query, optional } = clause;
  const before = binding.tables.splice(0);
  const { deletes } = binding;
  const result = binding.bind.query(query, outer, binding, {
    kept: keptBy(clause, outer),
    start: () => imported(outer, { plan: ONE_ROW, scope: outer }, binding),
  });
  const tables = binding.tables.splice(0);
  binding.tables.push(...before);
  binding.deletes ||= deletes;
  const { plan: input, returns } = result;
  const match: Plan = Object.freeze({ kind: "with", sequential: true, tables, input, columns: input.columns });
  const step: CallStep = { kind: "call", match, columns: returns ? result.columns : null, optional };
  const scope = returns ? withResult(rows.scope, result) : rows.scope;
  return { rows: written({ steps: [step], columns: step.columns ?? [], scope }, rows, binding), result };
}

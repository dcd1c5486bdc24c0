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
import { joined, ONE_ROW, project } from "./rows.js";
import { columnsOfEntity, entityIn, type Variable, type Variables, variant } from "./variables.js";
import { isWritingQuery } from "./writes.js";

/** Without RETURN the rows stay as they are. */
export function bindSubqueryCall(clause: SubqueryCallClause, rows: Rows, binding: Binding): Rows {
  const { imports, query, optional } = clause;
  const seen = imports === "*" ? null : new Set(imports.map(({ name }) => name));
  const outer = seen === null ? rows.scope : new Map([...rows.scope].filter(([name]) => seen.has(name)));
  if (clause.transactions !== null) return bindInTransactions(clause, outer, rows, binding);
  if (isWritingQuery(query)) return bindWritingCall(clause, outer, rows, binding).rows;
  const result = binding.bind.query(query, outer, binding);
  if (!result.returns) return rows;
  return { plan: joined(rows.plan, result.plan, optional), scope: withResult(rows.scope, result) };
}

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

function bindWritingCall({ query, optional }: SubqueryCallClause, outer: Variables, rows: Rows, binding: Binding) {
  const before = binding.tables.splice(0);
  const { deletes } = binding;
  const result = binding.bind.query(query, outer, binding, () => imported(outer, binding));
  const tables = binding.tables.splice(0);
  binding.tables.push(...before);
  binding.deletes ||= deletes;
  const { plan: input, returns } = result;
  const match: Plan = Object.freeze({ kind: "with", sequential: true, tables, input, columns: input.columns });
  const step: CallStep = { kind: "call", match, columns: returns ? result.columns : null, optional };
  const scope = returns ? withResult(rows.scope, result) : rows.scope;
  return { rows: written({ steps: [step], columns: step.columns ?? [], scope }, rows, binding), result };
}

/** The variables in columns of the query's own, which its clauses keep up to date. */
function imported(outer: Variables, binding: Binding): Rows {
  const made = [...outer].flatMap(([name, variable]) => {
    if (variable.kind === "value") return [{ name, expr: variable.expr }];
    return columnsOfEntity(variable).map((column) => ({ name: column.name, expr: columnExpr(column) }));
  });
  if (made.length === 0) return { plan: ONE_ROW, scope: outer };
  const plan = project(ONE_ROW, made, [], binding);
  const scope = new Map<string, Variable>();
  let at = 0;
  for (const [name, variable] of outer) {
    const width = variable.kind === "value" ? 1 : columnsOfEntity(variable).length;
    const own = plan.columns.slice(at, at + width);
    at += width;
    scope.set(
      name,
      variable.kind === "value" ? { kind: "value", expr: columnExpr(own[0]!) } : entityIn(variable.kind, own),
    );
  }
  return { plan, scope };
}

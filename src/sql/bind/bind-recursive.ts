/**
 * One table of WITH RECURSIVE that mentions itself: `first UNION [ALL] step`, where the step reads the newest rows.
 * The rules on where it may mention itself are SQL:1999's, the wording PostgreSQL's.
 */
import { sqlError } from "../../protocol/errors.js";
import { commonType } from "../../query/expr/coercion.js";
import { displayName } from "../../query/expr/types.js";
import type { CommonTable as PlanTable, RecursivePlan } from "../../query/plan/plan.js";
import { subqueriesOf, walkPlan } from "../../query/plan/walk.js";
import { INT4 } from "../../values/values.js";
import type { CommonTableNode, FromNode, QueryNode, SetOperationBody, WithNode } from "../parse/ast-query.js";
import { type Binding, PLAIN_QUERY, type Source } from "./binding.js";
import { coerceCommon, withPosition } from "./coerce.js";
import { type CommonTable, Scope } from "./scope.js";
import { castColumns } from "./source.js";
import { mentions } from "./with-references.js";

/** Binds a WITH of the table's own query: bind-with.ts, which calls this. */
type BindInnerWith = (
  node: WithNode | null,
  scope: Scope,
  binding: Binding,
) => { readonly around: (source: Source) => Source };

export function bindRecursive(table: CommonTable, binding: Binding, bindWith: BindInnerWith): Source {
  const { node } = table;
  const query = node.statement as QueryNode;
  const body = unionOf(query, node);
  checkReferences(body, node);
  const scope = new Scope(table.scope);
  const tables = bindWith(query.with, scope, binding);
  scope.commonTables.set(node.name, table);
  const first = binding.query(body.left, scope, PLAIN_QUERY);
  const { id: iteration } = binding.newColumn("iteration", INT4, false);
  const working: PlanTable = Object.freeze({ name: node.name, outer: [iteration], working: true });
  const named = first.columns.map((column, i) => ({ ...column, name: node.columns[i] ?? column.name }));
  table.working = { table: working, columns: named };
  const step = binding.query(body.right, scope, { unknowns: "keep", expected: first.columns.map(({ type }) => type) });
  if (first.columns.length !== step.columns.length) {
    throw sqlError("42601", "each UNION query must have the same number of columns", { position: body.right.position });
  }
  checkTypes(first, step, body, node);
  checkAggregates(step, working, node);
  const types = first.columns.map((column) => column.type);
  const right = castColumns(step, types, binding, (expr, type) =>
    coerceCommon(expr, type, "UNION", binding, body.right.position),
  );
  const columns = named.map((column) => binding.newColumn(column.name, column.type, true));
  const plan: RecursivePlan = Object.freeze({
    kind: "recursive",
    working,
    iteration,
    all: body.all,
    left: Object.freeze({ ...first.plan, columns: first.columns }),
    right: Object.freeze({ ...right.plan, columns: right.columns }),
    columns,
  });
  return tables.around({ plan, columns });
}

function unionOf(query: QueryNode, node: CommonTableNode): SetOperationBody {
  const { body } = query;
  const { name, position } = node;
  if (body.kind !== "set operation" || body.op !== "union") {
    const message = `recursive query "${name}" does not have the form non-recursive-term UNION [ALL] recursive-term`;
    throw sqlError("42P19", message, { position });
  }
  const refuse = (what: string, at: number) =>
    sqlError("0A000", `${what} in a recursive query is not implemented`, at > 0 ? { position: at } : { position });
  if (query.orderBy.length > 0) throw refuse("ORDER BY", query.orderBy[0]!.position);
  if (query.offset !== null) throw refuse("OFFSET", query.offset.position);
  if (query.limit !== null) throw refuse("LIMIT", query.limit.position);
  if (query.locking.length > 0) throw refuse("FOR UPDATE/SHARE", position);
  return body;
}

/** The place of the table in its own definition. Throws 42P19. */
function checkReferences(body: SetOperationBody, node: CommonTableNode): void {
  const { name, position } = node;
  const refuse = (where: string) =>
    sqlError("42P19", `recursive reference to query "${name}" must not appear ${where}`, { position });
  if (mentions(body.left, name)) throw refuse("within its non-recursive term");
  let references = 0;
  const visitFrom = (item: FromNode, nullable: boolean): void => {
    if (item.kind === "join") {
      visitFrom(item.left, nullable || item.type === "right" || item.type === "full");
      visitFrom(item.right, nullable || item.type === "left" || item.type === "full");
      if (mentions(item.condition, name)) throw refuse("within a subquery");
      return;
    }
    if (!mentions(item, name)) return;
    if (nullable) throw refuse("within an outer join");
    if (item.kind === "table") references++;
    else if (item.kind === "from subquery") visitQuery(item.query);
    else throw refuse("within a subquery");
    if (references > 1) throw refuse("more than once");
  };
  const visitQuery = (query: QueryNode): void => {
    const { body: inner } = query;
    if (inner.kind === "set operation") {
      if (inner.op !== "union") {
        const [left, right] = [mentions(inner.left, name), mentions(inner.right, name)];
        if (inner.op === "intersect" && (left || right)) throw refuse("within INTERSECT");
        if (inner.op === "except" && right) throw refuse("within EXCEPT");
      }
      visitQuery(inner.left);
      visitQuery(inner.right);
    } else if (inner.kind === "select") {
      for (const item of inner.from) visitFrom(item, false);
      const rest = [inner.targets, inner.where, inner.groupBy, inner.having, query.orderBy, query.limit, query.offset];
      if (rest.some((part) => mentions(part, name))) throw refuse("within a subquery");
    } else if (mentions(inner, name)) throw refuse("within a subquery");
  };
  visitQuery(body.right);
}

/** The first query alone decides the types. Throws 42804. */
function checkTypes(first: Source, step: Source, body: SetOperationBody, node: CommonTableNode): void {
  first.columns.forEach(({ type }, i) => {
    const position = body.right.position;
    const overall = withPosition(position, () => commonType([type, step.columns[i]!.type], "UNION"));
    if (overall === type) return;
    const message = `recursive query "${node.name}" column ${i + 1} has type ${displayName(type)} in non-recursive term but type ${displayName(overall)} overall`;
    throw sqlError("42804", message, {
      ...(body.left.position > 0 && { position: body.left.position }),
      hint: "Cast the output of the non-recursive term to the correct type.",
    });
  });
}

function checkAggregates(step: Source, working: PlanTable, node: CommonTableNode): void {
  const reads = (plan: Source["plan"]): boolean => {
    let found = false;
    walkPlan(plan, (part) => {
      found ||= part.kind === "commonscan" && part.table === working;
      found ||= subqueriesOf(part).some((subquery) => reads(subquery.plan));
    });
    return found;
  };
  walkPlan(step.plan, (part) => {
    if (part.kind !== "aggregate" || !reads(part.input)) return;
    const message = "aggregate functions are not allowed in a recursive query's recursive term";
    throw sqlError("42P19", message, { position: node.position });
  });
}

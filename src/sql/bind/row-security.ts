/**
 * Policies of tables as conditions of a statement. The rows that a statement finds go through a filter right above the
 * table; a row that it stores is checked. Which policies count is PostgreSQL's rule
 * (src/backend/rewrite/rowsecurity.c).
 */
import type { PolicyCommand, Rights } from "../../catalog/rights.js";
import type { PolicyCondition, PolicyDef } from "../../catalog/role.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { BoundCheck } from "../../query/plan/change-plans.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import { childrenOf, withChildren } from "../../query/plan/walk.js";
import { BOOL } from "../../values/values.js";
import type { PolicyStatement } from "../parse/ast-access.js";
import type { ExprNode } from "../parse/ast-query.js";
import { parseSql } from "../parse/parse.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean } from "./bind-expr.js";
import type { TableRows } from "./bind-scan.js";
import { viewEnvironment } from "./bind-view.js";
import type { Binding } from "./binding.js";
import { constant } from "./coerce.js";
import { logic } from "./logic.js";
import { Scope } from "./scope.js";
import { barrier } from "./source.js";

type Part = "using" | "check";

/** The table's rows that policies of all these commands let through, behind a barrier. */
export function policyFilter(
  table: TableDef,
  { plan, columns }: Pick<TableRows, "plan" | "columns">,
  commands: readonly PolicyCommand[],
  rights: Rights,
  binding: Binding,
): Plan {
  const own = rights.isPoliced(table.id) ? commands : [];
  const predicates = own.flatMap((command) => {
    const { permissive, restrictive } = conditionsOf(table, columns, command, "using", rights, binding);
    return [permissive, ...restrictive.map(({ predicate }) => predicate)];
  });
  const predicate = logic("and", [...predicates, ...seenEnds(table, columns, rights, binding)]);
  const input = policed(plan, predicate);
  const rows: Plan = Object.freeze({ kind: "filter", input, predicate, trusted: true, columns: plan.columns });
  return barrier(rows);
}

/** A relationship is seen together with both of its ends. Policies of nodes themselves see all relationships. */
function seenEnds(table: TableDef, columns: readonly OutputColumn[], rights: Rights, binding: Binding): Expr[] {
  const nodes = rights.nodesOf(table.id);
  if (nodes === null || !rights.isPoliced(nodes.id) || binding.policed.has(nodes.id)) return [];
  let condition = ends.get(table);
  if (condition === undefined) {
    condition = {
      sql: "CREATE POLICY ends ON edges USING (src IN (SELECT id FROM nodes) AND dst IN (SELECT id FROM nodes))",
      searchPath: [table.schema],
      relations: [table, nodes].map((relation) => ({
        ...{ kind: "table" as const, id: relation.id, schema: relation.schema, name: relation.name },
        columns: relation.columns.map(({ id, name }) => ({ id, name, used: true })),
      })),
    };
    ends.set(table, condition);
  }
  return [bindCondition(condition, "using", table, columns, binding)];
}

const ends = new WeakMap<TableDef, PolicyCondition>();

/** The condition under which a row is seen, over these columns. */
export function visibleRow(table: TableDef, columns: readonly OutputColumn[], rights: Rights, binding: Binding): Expr {
  const { permissive, restrictive } = conditionsOf(table, columns, "select", "using", rights, binding);
  return logic("and", [permissive, ...restrictive.map(({ predicate }) => predicate)]);
}

/** The stored rows, which know that a policy is above them. */
function policed(plan: Plan, policy: Expr): Plan {
  if (plan.kind === "scan") return Object.freeze({ ...plan, policy });
  return withChildren(
    plan,
    childrenOf(plan).map((child) => policed(child, policy)),
  );
}

/** Checks of a row that is stored. */
export function policyChecks(
  table: TableDef,
  columns: readonly OutputColumn[],
  command: "insert" | "update",
  reads: boolean,
  rights: Rights,
  binding: Binding,
): BoundCheck[] {
  const checks = (of: PolicyCommand, part: Part): BoundCheck[] => {
    const { permissive, restrictive } = conditionsOf(table, columns, of, part, rights, binding);
    return [{ name: table.name, predicate: permissive, policy: "" }, ...restrictive];
  };
  return [...checks(command, "check"), ...(reads ? checks("select", "using") : [])];
}

/**
 * Checks of a stored row that is about to be changed. ON CONFLICT DO UPDATE has to see it, too; MERGE sees only rows
 * that policies let through.
 */
export function existingChecks(
  table: TableDef,
  columns: readonly OutputColumn[],
  commands: readonly PolicyCommand[],
  using: NonNullable<BoundCheck["using"]>,
  rights: Rights,
  binding: Binding,
): BoundCheck[] {
  return commands.flatMap((command) => {
    const { permissive, restrictive } = conditionsOf(table, columns, command, "using", rights, binding);
    return [{ name: table.name, predicate: permissive, policy: "" }, ...restrictive].map(
      (check): BoundCheck => ({ ...check, using }),
    );
  });
}

interface Conditions {
  readonly permissive: Expr;
  readonly restrictive: readonly BoundCheck[];
}

function conditionsOf(
  table: TableDef,
  columns: readonly OutputColumn[],
  command: PolicyCommand,
  part: Part,
  rights: Rights,
  binding: Binding,
): Conditions {
  if (binding.policed.has(table.id)) {
    throw sqlError("42P17", `infinite recursion detected in policy for relation "${table.name}"`);
  }
  if (rights.acting.refusesPolicies === true) {
    const hint = "SET row_security = on gives the rows that the policies let through.";
    throw sqlError("42501", `query would be affected by row-level security policy for table "${table.name}"`, { hint });
  }
  binding.policed.add(table.id);
  try {
    // A policy without a condition says nothing: it neither permits nor restricts.
    const policies = rights
      .policies(table.id, command)
      .flatMap((policy) => conditionOf(policy, part).map((condition) => ({ ...policy, condition })));
    const bound = ({ condition }: (typeof policies)[number]): Expr =>
      bindCondition(condition.is, condition.part, table, columns, binding);
    const permitting = policies.filter(({ permissive }) => permissive);
    if (permitting.length === 0) return { permissive: constant(BOOL, false), restrictive: [] };
    // As in PostgreSQL, the other policies then need not be permitted to read what they read.
    const all = permitting.some(({ condition }) => isAlways(condition));
    const restrictive = policies
      .filter((policy) => !policy.permissive)
      .map((policy): BoundCheck => ({ name: table.name, predicate: bound(policy), policy: policy.name }));
    return { permissive: all ? constant(BOOL, true) : logic("or", permitting.map(bound)), restrictive };
  } finally {
    binding.policed.delete(table.id);
  }
}

/** Without WITH CHECK, USING is about new rows too. */
function conditionOf(policy: PolicyDef, part: Part): { readonly is: PolicyCondition; readonly part: Part }[] {
  const own = part === "check" && policy.check !== null ? "check" : "using";
  const condition = policy[own];
  return condition === null ? [] : [{ is: condition, part: own }];
}

/** Definitions are immutable, so their trees are kept with them. */
const parsed = new WeakMap<PolicyCondition, PolicyStatement>();

function parsedCondition(condition: PolicyCondition, part: Part): ExprNode {
  let node = parsed.get(condition);
  if (node === undefined) {
    node = parseSql(condition.sql)[0]!.node as PolicyStatement;
    parsed.set(condition, node);
  }
  return node[part]!;
}

/** Whether it is the word true. */
function isAlways({ is, part }: ReturnType<typeof conditionOf>[number]): boolean {
  const expr = parsedCondition(is, part);
  return expr.kind === "boolean" && expr.value;
}

function bindCondition(
  condition: PolicyCondition,
  part: Part,
  table: TableDef,
  columns: readonly OutputColumn[],
  binding: Binding,
): Expr {
  const expr = parsedCondition(condition, part);
  const then = condition.relations.find(({ kind, id }) => kind === "table" && id === table.id)!;
  const names = new Map(then.columns.map(({ id, name }) => [id, name]));
  const scope = new Scope(null);
  const named = table.columns.flatMap(({ id }, i) => {
    const name = names.get(id);
    return name === undefined ? [] : [{ name, expr: columnExpr(columns[i]!) }];
  });
  const item = {
    name: then.name,
    schema: then.schema,
    columns: named,
    table: null,
    unqualified: true,
    qualifiable: true,
  };
  scope.items = [item];
  // The table's own rows are the statement's; what subqueries name is looked up as it was when the policy was made.
  return binding.within(viewEnvironment(condition, binding.env), () =>
    bindBoolean(expr, "POLICY", contextOf(binding, scope, "POLICY")),
  );
}

/** Trees and plans as short texts for golden scripts. */
import type { DbError } from "../../src/protocol/errors.js";
import type { Expr } from "../../src/query/expr/expr.js";
import { printExpr } from "../../src/query/expr/print.js";
import { displayName } from "../../src/query/expr/types.js";
import type { AggregateCall, Plan, SortKey, WindowBound } from "../../src/query/plan/plan.js";
import { childrenOf } from "../../src/query/plan/walk.js";
import type { SqlType } from "../../src/values/values.js";

/** A syntax tree as JSON without quotes around names and without what is null, false or empty. */
export function showTree(node: unknown): string {
  if (Array.isArray(node)) return `[${node.map(showTree).join(", ")}]`;
  if (typeof node === "bigint") return `${node}n`;
  if (typeof node !== "object" || node === null) return JSON.stringify(node);
  const { kind, position, ...rest } = node as { kind?: string; position?: number };
  const parts = Object.entries(rest)
    .filter(([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0))
    .map(([name, value]) => `${name}=${showTree(value)}`);
  const at = position === undefined ? "" : `@${position}`;
  return `(${[`${kind ?? ""}${at}`, ...parts].filter((part) => part !== "").join(" ")})`;
}

export function showError(error: DbError): string {
  const { sqlstate, position, hint } = error.details ?? {};
  const at = position === undefined ? "" : ` at ${position}`;
  return `${sqlstate ?? error.code}${at}: ${error.message}${hint === undefined ? "" : `\nHINT: ${hint}`}`;
}

export const showTypes = (types: readonly SqlType[]) => types.map(displayName).join(", ");

/** A plan, a line per node; subqueries follow the node whose expressions hold them. */
export function showPlan(plan: Plan, indent = ""): string {
  const subplans: Plan[] = [];
  const expr = (each: Expr) =>
    printExpr(each, (subquery) => {
      subplans.push(subquery.plan);
      return `#${subplans.length}${subquery.outer.length > 0 ? " correlated" : ""}`;
    });
  const line = `${indent}${plan.kind} ${details(plan, expr)}`.trimEnd();
  const below = subplans.map((subplan, i) => `${indent}  #${i + 1}\n${showPlan(subplan, `${indent}    `)}`);
  const children = childrenOf(plan).map((child) => showPlan(child, `${indent}  `));
  return [line, ...below, ...children].join("\n");
}

type Print = (expr: Expr) => string;

function details(plan: Plan, expr: Print): string {
  const list = (exprs: readonly Expr[]) => exprs.map(expr).join(", ");
  switch (plan.kind) {
    case "scan":
      return `${plan.table.name}${plan.alias === plan.table.name ? "" : ` ${plan.alias}`}${plan.rowKey ? " with row keys" : ""}`;
    case "values":
      return plan.rows.map((row) => `(${list(row)})`).join(" ");
    case "project":
      return plan.exprs.map((each, i) => named(expr(each), plan.columns[i]!.name)).join(", ");
    case "filter":
      return expr(plan.predicate);
    case "join":
      return [plan.type, plan.lateral ? "lateral" : "", plan.condition === null ? "" : `on ${expr(plan.condition)}`]
        .filter((part) => part !== "")
        .join(" ");
    case "aggregate":
      return [
        plan.groups.length > 0 ? `by ${list(plan.groups)}:` : "",
        plan.grouping === undefined ? "" : `sets ${JSON.stringify(plan.grouping.sets)}`,
        plan.calls.map((c) => call(c, expr)).join(", "),
        plan.grouping === undefined || plan.grouping.masks.length === 0 ? "" : JSON.stringify(plan.grouping.masks),
      ]
        .filter((part) => part !== "")
        .join(" ");
    case "window":
      return window(plan, expr);
    case "sort":
      return keys(plan.keys, expr);
    case "limit":
      return `${plan.limit === null ? "all" : expr(plan.limit)}${plan.offset === null ? "" : ` from ${expr(plan.offset)}`}`;
    case "distinct":
      return plan.on === null ? "" : `on ${list(plan.on)}`;
    case "setop":
      return `${plan.op}${plan.all ? " all" : ""}`;
    default:
      return change(plan, expr);
  }
}

const named = (text: string, name: string) => (text === name ? text : `${text} as ${name}`);

function call({ fn, args, distinct, filter, orderBy, direct }: AggregateCall, expr: Print): string {
  if (direct !== undefined) return `${fn.name}(${direct.map(expr).join(", ")}) within (${keys(orderBy, expr)})`;
  const inside = args.length === 0 ? "*" : args.map(expr).join(", ");
  const order = orderBy.length === 0 ? "" : ` order by ${keys(orderBy, expr)}`;
  return `${fn.name}(${distinct ? "distinct " : ""}${inside}${order})${filter === null ? "" : ` filter ${expr(filter)}`}`;
}

function window({ partitionBy, orderBy, frame, calls }: Extract<Plan, { kind: "window" }>, expr: Print): string {
  const bound = ({ kind, offset }: WindowBound) => (offset === null ? kind : `${expr(offset)} ${kind}`);
  const over = [
    partitionBy.length === 0 ? "" : `by ${partitionBy.map(expr).join(", ")}`,
    orderBy.length === 0 ? "" : `order ${keys(orderBy, expr)}`,
    `${frame.mode} ${bound(frame.start)} to ${bound(frame.end)}`,
    frame.exclude === "no others" ? "" : `without ${frame.exclude}`,
  ];
  const made = calls.map(({ fn, args, filter }) => {
    return `${fn.name}(${args.map(expr).join(", ")})${filter === null ? "" : ` filter ${expr(filter)}`}`;
  });
  return `${made.join(", ")} over (${over.filter((part) => part !== "").join(" ")})`;
}

function keys(sortKeys: readonly SortKey[], expr: Print): string {
  return sortKeys
    .map((key) => {
      const nulls = key.nullsFirst === key.descending ? "" : key.nullsFirst ? " nulls first" : " nulls last";
      return `${expr(key.expr)}${key.descending ? " desc" : ""}${nulls}`;
    })
    .join(", ");
}

function change(plan: Plan, expr: Print): string {
  if (plan.kind !== "insert" && plan.kind !== "update" && plan.kind !== "delete") return "";
  const parts = [plan.table.name];
  const assigned = (assignments: readonly { columnId: number; expr: Expr }[]) =>
    assignments
      .map(({ columnId, expr: value }) => `${plan.table.columns.find((c) => c.id === columnId)!.name} = ${expr(value)}`)
      .join(", ");
  if (plan.kind === "update") parts.push(`set ${assigned(plan.assignments)}`);
  if (plan.kind === "insert" && plan.onConflict !== null) {
    const { index, action, assignments, where } = plan.onConflict;
    const key = index === null ? "any key" : index === "primary key" ? index : index.name;
    parts.push(`on conflict of ${key} do ${action}`);
    if (assignments.length > 0) parts.push(`set ${assigned(assignments)}`);
    if (where !== null) parts.push(`where ${expr(where)}`);
  }
  if (plan.kind !== "delete") for (const check of plan.checks) parts.push(`check ${expr(check.predicate)}`);
  if (plan.returning !== null) parts.push(`returning ${plan.returning.exprs.map(expr).join(", ")}`);
  return parts.join(" ");
}

/**
 * Plans as EXPLAIN shows them: lines of text drawn as PostgreSQL draws its trees, and a JSON form with the same names.
 * Called by the session and by the tests of the optimizer's rules.
 *
 *   Limit
 *     Limit: 10
 *     ->  Index Scan using t_pkey on t
 *           Index Cond: (id > 5)
 *           Filter: (name = 'x')
 */
import { withoutReferences } from "../../catalog/object-reference.js";
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { ColumnExpr, ColumnId, Expr, SubqueryExpr } from "../expr/expr.js";
import { printExpr, printShortConst } from "../expr/print.js";
import { mapExpr } from "../expr/walk.js";
import { placesInEntry, placesInKey } from "./covering.js";
import type { CountWalksPlan, ExpandPathPlan, ExpandPlan, GraphWriteStep } from "./graph-plans.js";
import type {
  AggregateCall,
  CommonTable,
  HashJoinPlan,
  IndexScanPlan,
  JoinPlan,
  JoinType,
  Plan,
  ScanPlan,
  SetCall,
  SortKey,
  WindowBound,
  WindowCall,
  WindowPlan,
} from "./plan.js";
import type { NearestSearch } from "./search-plans.js";
import { similarPairs } from "./similar-pairs.js";
import { childrenOf, subqueriesOf } from "./walk.js";

/** `Node Type`, then the node's own properties, then `Plans` (inputs, subqueries last). */
export interface ExplainJson {
  readonly [property: string]: string | number | boolean | readonly string[] | readonly ExplainJson[] | ExplainJson;
}

interface Described {
  readonly nodeType: string;
  /** The node in a line. */
  readonly title: string;
  readonly properties: readonly (readonly [string, string])[];
}

type Print = (expr: Expr) => string;

/** What stands behind a node's line and in its JSON object: estimates, measurements. */
export type Annotate = (plan: Plan) => { readonly text: string; readonly json: Readonly<Record<string, number>> };

const NOTHING: Annotate = () => ({ text: "", json: {} });

export function explainText(plan: Plan, annotate: Annotate = NOTHING): string[] {
  const lines: string[] = [];
  writeNode(plan, "", "", { ...namesIn(plan), annotate }, lines);
  return lines;
}

function writeNode(plan: Plan, first: string, indent: string, names: AnnotatedNames, lines: string[]): void {
  const node = describe(plan, printer(names));
  const { text } = names.annotate(plan);
  lines.push(`${first}${node.title}${text === "" ? "" : `  ${text}`}`);
  for (const [name, value] of node.properties) lines.push(`${indent}  ${name}: ${value}`);
  for (const child of childrenOf(plan)) writeNode(child, `${indent}  ->  `, `${indent}      `, names, lines);
  for (const subquery of subqueriesOf(plan)) {
    lines.push(`${indent}  ${names.subqueries.get(subquery)}`);
    writeNode(subquery.plan, `${indent}    ->  `, `${indent}        `, names, lines);
  }
}

export function explainJson(plan: Plan, annotate: Annotate = NOTHING): ExplainJson {
  return jsonOf(plan, { ...namesIn(plan), annotate }, {});
}

function jsonOf(plan: Plan, names: AnnotatedNames, extra: ExplainJson): ExplainJson {
  const node = describe(plan, printer(names));
  const plans = [
    ...childrenOf(plan).map((child) => jsonOf(child, names, {})),
    ...subqueriesOf(plan).map((expr) => jsonOf(expr.plan, names, { "Subplan Name": names.subqueries.get(expr)! })),
  ];
  return {
    "Node Type": node.nodeType,
    ...extra,
    ...tableOf(plan),
    ...Object.fromEntries(node.properties),
    ...names.annotate(plan).json,
    ...(plans.length > 0 ? { Plans: plans } : {}),
  };
}

function tableOf(plan: Plan): ExplainJson {
  if (plan.kind === "commonscan") return { "CTE Name": plan.table.name, Alias: plan.alias };
  if (!("table" in plan)) return {};
  return {
    "Relation Name": plan.table.name,
    Schema: plan.table.schema,
    ...("alias" in plan ? { Alias: plan.alias } : {}),
    ...("index" in plan ? { "Index Name": nameOfIndex(plan) } : {}),
    ...("reverse" in plan ? { "Scan Direction": plan.reverse ? "Backward" : "Forward" } : {}),
  };
}

function nameOfIndex(plan: Extract<Plan, { readonly index: unknown }>): string {
  return plan.kind === "textsearch" ? plan.index.name : indexName(plan.table, plan.index);
}

interface AnnotatedNames extends Names {
  readonly annotate: Annotate;
}

interface Names {
  /** Uncorrelated subqueries run once (InitPlan), the others per row (SubPlan); numbered in the order of the tree. */
  readonly subqueries: ReadonlyMap<SubqueryExpr, string>;
  /** `alias.column`, when the statement reads more than one table; otherwise empty. */
  readonly columns: ReadonlyMap<ColumnId, string>;
}

function namesIn(plan: Plan): Names {
  const subqueries = new Map<SubqueryExpr, string>();
  const columns = new Map<ColumnId, string>();
  const shared = new Map<CommonTable, Plan>();
  let tables = 0;
  const visit = (node: Plan): void => {
    if (node.kind === "with") for (const { table, plan: definition } of node.tables) shared.set(table, definition);
    for (const expr of subqueriesOf(node)) {
      subqueries.set(expr, `${expr.outer.length === 0 ? "InitPlan" : "SubPlan"} ${subqueries.size + 1}`);
      visit(expr.plan);
    }
    if (node.kind === "commonscan" && node.table.shared) {
      // Columns that are shared keep the names that they have where they are made.
      const { columns: made } = shared.get(node.table)!;
      node.columns.forEach(({ id }, i) => {
        const name = columns.get(made[node.source?.[i] ?? i]!.id);
        if (name !== undefined) columns.set(id, name);
      });
    } else if ("alias" in node) {
      tables++;
      for (const { id, name } of node.columns) columns.set(id, `${node.alias}.${name}`);
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(plan);
  if (tables <= 1) columns.clear();
  return { subqueries, columns };
}

function printer(names: Names): Print {
  const qualified = (node: Expr): Expr => {
    const name = node.kind === "column" ? names.columns.get(node.id) : undefined;
    return name === undefined ? node : { ...(node as ColumnExpr), name };
  };
  // A rewritten expression holds copies of its subqueries; they are known by their plans.
  const byPlan = new Map([...names.subqueries].map(([expr, name]) => [expr.plan, name]));
  return (expr) => printExpr(mapExpr(expr, qualified), (subquery) => byPlan.get(subquery.plan)!, printShortConst);
}

function describe(plan: Plan, print: Print): Described {
  const list = (exprs: readonly Expr[]) => exprs.map(print).join(", ");
  switch (plan.kind) {
    case "scan":
      if (plan.nearest !== undefined) return describeNearest(plan, plan.nearest, print);
      return titled("Seq Scan", ` ${plan.reverse ? "Backward " : ""}on ${relation(plan)}`, filter(plan.filter, print));
    case "textsearch": {
      const counts = plan.counts === null ? [] : [["Count", plan.counts.map(print).join(" + ")] as const];
      const keys = placesInKey(plan) === null ? [] : [["Columns", "by the keys, without the rows"] as const];
      const properties = [
        ["Search For", print(plan.query)] as const,
        ...counts,
        ...keys,
        ...filter(plan.filter, print),
      ];
      return titled("Text Search", ` using ${plan.index.name} on ${relation(plan)}`, properties);
    }
    case "pointget": {
      const index = indexName(plan.table, plan.index);
      const condition = keyConditions(plan.table, plan.index, plan.key, print);
      const properties = [["Index Cond", allOf(condition)] as const, ...filter(plan.filter, print)];
      return titled("Point Get", ` using ${index} on ${relation(plan)}`, properties);
    }
    case "indexscan":
      return describeIndexScan(plan, print);
    case "values":
      return plan.rows.length === 1 && plan.columns.length === 0
        ? titled("Result", "", [])
        : titled("Values Scan", "", [["Rows", String(plan.rows.length)]]);
    case "tablefunction": {
      const calls = plan.calls.map((call) => printSetCall(call, print)).join(", ");
      const name = plan.calls.map((call) => call.fn.name).join(", ");
      return titled("Function Scan", ` on ${name}${plan.alias === name ? "" : ` ${plan.alias}`}`, [
        ["Function Call", calls],
      ]);
    }
    case "projectset":
      return titled("ProjectSet", "", [["Calls", plan.calls.map((call) => printSetCall(call, print)).join(", ")]]);
    case "deferred": {
      const calls = plan.calls.map(({ expr, when }) =>
        when === null ? print(expr) : `${print(expr)} if ${print(when)}`,
      );
      return titled("Deferred", "", [["Calls", calls.join(", ")]]);
    }
    case "project":
      return titled("Project", "", [["Output", list(plan.exprs)]]);
    case "filter":
      return titled("Filter", "", filter(plan.predicate, print));
    case "join":
      return titled(nestedTitle(plan), "", plan.condition === null ? [] : [["Join Filter", print(plan.condition)]]);
    case "hashjoin": {
      const pairs = plan.leftKeys.map((left, i) => `(${print(left)} = ${print(plan.rightKeys[i]!)})`);
      const residual = plan.residual === null ? [] : [["Join Filter", print(plan.residual)] as const];
      return titled(hashTitle(plan), "", [["Hash Cond", allOf(pairs)], ...residual]);
    }
    case "mergejoin": {
      const pairs = plan.leftKeys.map((left, i) => `(${print(left)} = ${print(plan.rightKeys[i]!)})`);
      const residual = plan.residual === null ? [] : [["Join Filter", print(plan.residual)] as const];
      const title = plan.type === "inner" ? "Merge Join" : `Merge ${JOIN_WORD[plan.type]} Join`;
      return titled(title, "", [["Merge Cond", allOf(pairs)], ...residual]);
    }
    case "aggregate": {
      const calls = plan.calls.map((call) => printCall(call, print)).join(", ");
      const output = calls === "" ? [] : [["Calls", calls] as const];
      if (plan.grouping !== undefined) {
        const sets = plan.grouping.sets.map((set) => `(${list(set.map((group) => plan.groups[group]!))})`);
        return titled("HashAggregate", "", [["Grouping Sets", sets.join(", ")], ...output]);
      }
      if (plan.groups.length === 0) return titled("Aggregate", "", output);
      return titled("HashAggregate", "", [["Group Key", list(plan.groups)], ...output]);
    }
    case "window":
      return titled("WindowAgg", "", [
        ["Window", printWindow(plan, print)],
        ["Calls", plan.calls.map((call) => printWindowCall(call, print)).join(", ")],
      ]);
    case "sort":
      return titled("Sort", "", [["Sort Key", printKeys(plan.keys, print)]]);
    case "topn":
      return titled("Top-N Sort", "", [["Sort Key", printKeys(plan.keys, print)], ...limits(plan, print)]);
    case "lock":
      return titled("LockRows", "", plan.wait === "skip" ? [["Skip Locked", "true"]] : []);
    case "limit":
      return titled("Limit", "", [
        ...limits(plan, print),
        ...(plan.ties === undefined ? [] : [["With Ties", list(plan.ties)] as const]),
      ]);
    case "distinct":
      return titled("Distinct", "", plan.on === null ? [] : [["Key", list(plan.on)]]);
    case "setop":
      return plan.op === "union" && plan.all
        ? titled("Append", "", [])
        : titled(`${plan.op[0]!.toUpperCase()}${plan.op.slice(1)}${plan.all ? " All" : ""}`, "", []);
    case "append":
      return plan.mergeKeys === undefined
        ? titled("Append", ` on ${relation(plan)}`, [])
        : titled("Merge Append", ` on ${relation(plan)}`, [["Sort Key", printKeys(plan.mergeKeys, print)]]);
    case "with":
      return titled("With", "", [["Tables", plan.tables.map(({ table }) => table.name).join(", ")]]);
    case "commonscan": {
      const { table, alias } = plan;
      const on = alias === table.name ? alias : `${table.name} ${alias}`;
      const title = table.working ? "WorkTable Scan" : table.shared ? "Shared Scan" : "CTE Scan";
      return titled(title, ` on ${on}`, []);
    }
    case "recursive":
      return titled("Recursive Union", "", plan.all ? [] : [["Distinct", "true"]]);
    case "match": {
      const where = plan.predicate === null ? [] : [["Filter", print(plan.predicate)] as const];
      return titled(plan.optional ? "Optional Match" : "Match", ` on ${plan.graph.name}`, where);
    }
    case "expand":
    case "expandpath":
      return describeExpand(plan, print);
    case "countwalks":
      return describeCountWalks(plan, print);
    case "insert":
      return titled("Insert", ` on ${plan.table.name}`, conflictProperties(plan, print));
    case "update":
      return titled("Update", ` on ${plan.table.name}`, []);
    case "merge":
      return titled("Merge", ` on ${plan.table.name}`, []);
    case "delete":
      return titled("Delete", ` on ${plan.table.name}`, []);
    case "graphwrite":
      return titled("Graph Write", ` on ${plan.graph.name}`, [["Steps", printSteps(plan.steps, print)]]);
  }
}

function printSteps(steps: readonly GraphWriteStep[], print: Print): string {
  return steps.map((step) => printStep(step, print)).join("; ");
}

function printStep(step: GraphWriteStep, print: Print): string {
  switch (step.kind) {
    case "create-node":
      return `create node ${printLabels(step, print)}`.trim();
    case "create-edge":
      return `create relationship :${printWritten(step.type, print)} from ${print(step.src)} to ${print(step.dst)}`;
    case "set-property":
      return `set ${print(step.target)}.${printWritten(step.key, print)} = ${print(step.value)}`;
    case "set-properties":
      return `set ${print(step.target)} ${step.replace ? "=" : "+="} ${print(step.value)}`;
    case "set-labels":
    case "remove-labels":
      return `${step.kind === "set-labels" ? "set" : "remove"} ${print(step.target)}${printLabels(step, print)}`;
    case "delete":
      return `${step.detach ? "detach " : ""}delete ${print(step.target)}`;
    case "merge":
      return `merge (${printSteps(step.create, print)})`;
    case "call":
      return "run a query";
    case "foreach":
      return `foreach in ${print(step.list)} (${printSteps(step.steps, print)})`;
  }
}

/** A name that is written out, or computed. */
function printWritten(name: string | Expr, print: Print): string {
  return typeof name === "string" ? name : `$(${print(name)})`;
}

function printLabels({ labels, dynamic = [] }: Extract<GraphWriteStep, { labels: unknown }>, print: Print): string {
  return [...labels, ...dynamic].map((label) => `:${printWritten(label, print)}`).join("");
}

function printSetCall(call: SetCall, print: Print): string {
  return `${call.fn.name}(${call.args.map(print).join(", ")})`;
}

function titled(nodeType: string, rest: string, properties: Described["properties"]): Described {
  return { nodeType, title: nodeType + rest, properties };
}

function relation(plan: { readonly table: TableDef; readonly alias: string }): string {
  return plan.alias === plan.table.name ? plan.alias : `${plan.table.name} ${plan.alias}`;
}

function indexName(table: TableDef, index: IndexDef | "primary key"): string {
  return index === "primary key" ? (table.primaryKeyName ?? `${table.name}_pkey`) : index.name;
}

function indexColumnNames(table: TableDef, index: IndexDef | "primary key"): string[] {
  const nameOf = (id: number) => table.columns.find((column) => column.id === id)!.name;
  if (index === "primary key") return table.primaryKey!.map(nameOf);
  return index.columns.map(
    ({ columnId, expression }) => (expression && withoutReferences(expression.sql)) ?? nameOf(columnId),
  );
}

function keyConditions(
  table: TableDef,
  index: IndexDef | "primary key",
  values: readonly Expr[],
  print: Print,
): string[] {
  const names = indexColumnNames(table, index);
  return values.map((value, i) => `(${names[i]} = ${print(value)})`);
}

function describeIndexScan(plan: IndexScanPlan, print: Print): Described {
  const names = indexColumnNames(plan.table, plan.index);
  const conditions = keyConditions(plan.table, plan.index, plan.prefix, print);
  let next = plan.prefix.length;
  if (plan.keySets !== null) {
    const list = `(${plan.keySets.map(print).join(", ")})`;
    conditions.push(`(${names[next++]} ${plan.keyArrays ? "= ANY" : "IN"} ${list})`);
  }
  const bounded = names[next];
  if (plan.isNull) conditions.push(`(${bounded} IS NULL)`);
  if (plan.lower !== null) {
    conditions.push(`(${bounded} ${plan.lower.inclusive ? ">=" : ">"} ${print(plan.lower.expr)})`);
  }
  if (plan.upper !== null) {
    conditions.push(`(${bounded} ${plan.upper.inclusive ? "<=" : "<"} ${print(plan.upper.expr)})`);
  }
  if (plan.labels !== undefined)
    conditions.push(`(${bounded} HAS ${plan.labels.map((label) => `:${label}`).join("")})`);
  const nodeType = placesInEntry(plan) === null ? "Index Scan" : "Index Only Scan";
  const title = `${nodeType} ${plan.reverse ? "Backward " : ""}using ${indexName(plan.table, plan.index)}`;
  const condition = conditions.length === 0 ? [] : [["Index Cond", allOf(conditions)] as const];
  return {
    nodeType,
    title: `${title} on ${relation(plan)}`,
    properties: [...condition, ...filter(plan.filter, print)],
  };
}

function allOf(conditions: readonly string[]): string {
  return conditions.length === 1 ? conditions[0]! : `(${conditions.join(" AND ")})`;
}

function filter(predicate: Expr | null, print: Print): Described["properties"] {
  return predicate === null ? [] : [["Filter", print(predicate)]];
}

const JOIN_WORD: Record<JoinType, string> = {
  inner: "",
  left: "Left",
  right: "Right",
  full: "Full",
  semi: "Semi",
  anti: "Anti",
};

function joinTitle(method: string, type: JoinType): string {
  return type === "inner" ? method : `${method} ${JOIN_WORD[type]} Join`;
}

function nestedTitle(plan: JoinPlan): string {
  if (plan.lateral) return joinTitle("Lateral Nested Loop", plan.type);
  if (similarPairs(plan) === null) return joinTitle("Nested Loop", plan.type);
  return plan.type === "inner" ? "Similarity Join" : joinTitle("Similarity", plan.type);
}

function hashTitle({ type, buildsLeft }: HashJoinPlan): string {
  return type === "inner" ? "Hash Join" : `Hash ${buildsLeft ? "Right " : ""}${JOIN_WORD[type]} Join`;
}

function printCall(call: AggregateCall, print: Print): string {
  const order = call.orderBy.length === 0 ? "" : ` ORDER BY ${printKeys(call.orderBy, print)}`;
  const where = call.filter === null ? "" : ` FILTER (WHERE ${print(call.filter)})`;
  if (call.direct)
    return `${call.fn.name}(${call.direct.map(print).join(", ")}) WITHIN GROUP (${order.trim()})${where}`;
  const args = call.args.length === 0 ? "*" : call.args.map(print).join(", ");
  return `${call.fn.name}(${call.distinct ? "DISTINCT " : ""}${args}${order})${where}`;
}

function printWindowCall(call: WindowCall, print: Print): string {
  const star = call.kind === "aggregate" && call.args.length === 0 ? "*" : "";
  const where = call.filter === null ? "" : ` FILTER (WHERE ${print(call.filter)})`;
  return `${call.fn.name}(${star}${call.args.map(print).join(", ")})${where}`;
}

/** As an OVER clause; the default frame is left out. */
function printWindow(plan: WindowPlan, print: Print): string {
  const { partitionBy, orderBy, frame } = plan;
  const bound = ({ kind, offset }: WindowBound) => (offset === null ? "" : `${print(offset)} `) + kind.toUpperCase();
  const isDefault =
    frame.mode === "range" &&
    frame.start.kind === "unbounded preceding" &&
    frame.end.kind === "current row" &&
    frame.exclude === "no others";
  const exclude = frame.exclude === "no others" ? "" : ` EXCLUDE ${frame.exclude.toUpperCase()}`;
  const parts = [
    partitionBy.length === 0 ? "" : `PARTITION BY ${partitionBy.map(print).join(", ")}`,
    orderBy.length === 0 ? "" : `ORDER BY ${printKeys(orderBy, print)}`,
    isDefault ? "" : `${frame.mode.toUpperCase()} BETWEEN ${bound(frame.start)} AND ${bound(frame.end)}${exclude}`,
  ];
  return `(${parts.filter((part) => part !== "").join(" ")})`;
}

/** NULLS FIRST and LAST are shown where they are not the default of the direction. */
function printKeys(keys: readonly SortKey[], print: Print): string {
  return keys
    .map(({ expr, descending, nullsFirst }) => {
      const nulls = nullsFirst === descending ? "" : nullsFirst ? " NULLS FIRST" : " NULLS LAST";
      return `${print(expr)}${descending ? " DESC" : ""}${nulls}`;
    })
    .join(", ");
}

function describeNearest(plan: ScanPlan, search: NearestSearch, print: Print): Described {
  const { index, query, counts, within, distance } = search;
  const properties: (readonly [string, string])[] = [
    ["Nearest To", print(query)],
    ["Metric", index.vector!.metric],
    within === undefined ? ["Count", counts.map(print).join(" + ")] : ["Within", print(within)],
  ];
  if (distance !== undefined)
    properties.push(["Distance", distance.byKey ? "by the index, without the rows" : "by the index"]);
  return titled("Vector Search", ` using ${index.name} on ${relation(plan)}`, [
    ...properties,
    ...filter(plan.filter, print),
  ]);
}

function limits(plan: Extract<Plan, { kind: "limit" | "topn" }>, print: Print): Described["properties"] {
  const number = (expr: Expr) => (expr.kind === "const" ? String(expr.value) : print(expr));
  const limit = plan.limit === null ? [] : [["Limit", number(plan.limit)] as const];
  return plan.offset === null ? limit : [...limit, ["Offset", number(plan.offset)]];
}

function describeCountWalks({ steps, start }: CountWalksPlan, print: Print): Described {
  const walks = steps.map(({ from, direction, types, into, other }) => {
    const body = types.length === 0 ? "--" : `-[:${types.join("|")}]-`;
    const walk = `${direction === "in" ? "<" : ""}${body}${direction === "out" ? ">" : ""}`;
    const next = steps.find((step) => step.from.kind === "column" && step.from.id === other);
    const end = into ?? next?.from ?? null;
    return `(${print(from)})${walk}(${end === null ? "" : print(end)})`;
  });
  return titled("Count Walks", ` ${walks.join(", ")}`, start === null ? [] : [["Start", "all nodes"]]);
}

/** As the pattern is written: `(a.id)-[r:KNOWS|LIKES*1..3]->(b)`. */
function describeExpand(plan: ExpandPlan | ExpandPathPlan, print: Print): Described {
  const { from, into, other, types, direction, exclude } = plan;
  const path = plan.kind === "expandpath" ? plan.path : null;
  const length = path === null ? "" : `*${path.min}..${path.max ?? ""}`;
  const walk =
    path?.cycle === undefined
      ? describeWalk(direction, types, length)
      : ` (${path.cycle.map((step) => `()${describeWalk(step.direction, step.types, "")}`).join("")}())${length} `;
  const end = into === null ? (other?.name ?? "") : print(into);
  const made = plan.columns.slice(plan.input.columns.length).map(({ name }) => name);
  const isReach = plan.kind === "expandpath" && plan.distinct === true;
  const title = path === null ? `Expand${into === null ? "" : " Into"}` : isReach ? "Reach" : pathTitle(path.search);
  return titled(title, ` (${print(from)})${walk}(${end})`, [
    ...(made.length === 0 ? [] : [["Output", made.join(", ")] as const]),
    ...(exclude.length === 0 ? [] : [["Not Again", exclude.map(print).join(", ")] as const]),
    ...(path === null ? [] : (path.cycle ?? [path]).flatMap((step) => filter(step.filter, print))),
    ...(path === null || path.bound === null ? [] : [["Along", print(path.bound)] as const]),
  ]);
}

function describeWalk(direction: ExpandPlan["direction"], types: readonly string[], length: string): string {
  const label = `${types.length === 0 ? "" : ":"}${types.join("|")}${length}`;
  const body = label === "" ? "--" : `-[${label}]-`;
  return `${direction === "in" ? "<" : ""}${body}${direction === "out" ? ">" : ""}`;
}

function pathTitle(search: ExpandPathPlan["path"]["search"]): string {
  if (typeof search === "object") return `Shortest ${search.count} ${search.by === "paths" ? "Paths" : "Groups"}`;
  return { all: "Expand Path", shortest: "Shortest Path", "all-shortest": "All Shortest Paths" }[search];
}

function conflictProperties(plan: Extract<Plan, { kind: "insert" }>, print: Print): Described["properties"] {
  const conflict = plan.onConflict;
  if (conflict === null) return [];
  const arbiter =
    conflict.index === null ? [] : [["Conflict Arbiter Indexes", indexName(plan.table, conflict.index)] as const];
  const where = conflict.where === null ? [] : [["Conflict Filter", print(conflict.where)] as const];
  return [["Conflict Resolution", conflict.action.toUpperCase()], ...arbiter, ...where];
}

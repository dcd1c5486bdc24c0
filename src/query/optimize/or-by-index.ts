/**
 * A condition with OR whose parts can each be answered by a key: the primary keys of the rows that any part finds are
 * gathered first, then these rows are read, each once and in the order of the primary key. The whole condition stays
 * in the filter, so the parts may find too much. (PostgreSQL does this with a bitmap of row places.)
 *
 *   Seq Scan on t                           Index Scan using t_pkey on t
 *     Filter: ((a = 1) OR (b = 2))     ⇒      Index Cond: (id = ANY (ARRAY(InitPlan 1)))
 *                                             Filter: ((a = 1) OR (b = 2))
 *                                             InitPlan 1
 *                                               Append
 *                                                 Index Scan using t_a on t …
 *                                                 Index Scan using t_b on t …
 */
import { arrayOf } from "../../values/values.js";
import type { Expr, LogicExpr, SubqueryExpr } from "../expr/expr.js";
import { andOf, conjuncts, mapExpr } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { IndexScanPlan, OutputColumn, Plan, PointGetPlan, ScanPlan } from "../plan/plan.js";
import { mapPlan } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { accessFor, LOOK_UP_ALWAYS } from "./choose-access.js";
import { copyOfScan, isRepeatable } from "./copy-scan.js";
import { LOOK_UP, scanCost } from "./join-cost.js";
import { newColumnId } from "./new-column-id.js";
import type { Rule } from "./rule.js";

/** More parts than this are not looked at. */
const PARTS_MAX = 32;

export const orByIndex: Rule = {
  name: "or-by-index",
  places: [420],
  apply: (plan, cardinality) =>
    mapPlan(plan, (node) => (node.kind === "scan" ? (byParts(node, cardinality) ?? node) : node)),
};

/** Null when a single key does better, or some part has none. */
function byParts(scan: ScanPlan, cardinality: Cardinality): Plan | null {
  const { table, filter } = scan;
  if (filter === null || scan.nearest !== undefined || table.primaryKey?.length !== 1) return null;
  const conditions = conjuncts(filter);
  const choices = conditions.filter(
    (condition): condition is LogicExpr => condition.kind === "or" && condition.args.length <= PARTS_MAX,
  );
  if (choices.length === 0 || !isRepeatable({ ...scan, rowKey: null }) || accessFor(scan) !== scan) return null;
  for (const choice of choices) {
    const rest = conditions.filter((condition) => condition !== choice);
    const parts = choice.args.map((part) => keysOf(scan, [part, ...rest]));
    if (parts.includes(null)) continue;
    const found = parts as readonly Part[];
    const rows = found.reduce((sum, { access }) => sum + cardinality.rows(access), 0);
    if (rows * LOOK_UP > scanCost(cardinality.tableRows(table)) + LOOK_UP_ALWAYS) continue;
    return byKeys(scan, found);
  }
  return null;
}

interface Part {
  readonly access: IndexScanPlan | PointGetPlan;
  /** The primary key of the rows found. */
  readonly key: OutputColumn;
}

/** The rows that a key finds for these conditions, and perhaps some more; null: no key does. */
function keysOf(scan: ScanPlan, conditions: readonly Expr[]): Part | null {
  const [keyId] = scan.table.primaryKey as readonly [number];
  const whole = withKey({ ...scan, rowKey: null, filter: andOf(conditions) }, scan.rowKey !== null, keyId);
  const { scan: copy, columns } = copyOfScan(whole);
  const renamed = (expr: Expr) =>
    mapExpr(expr, (node) => (node.kind === "column" ? { ...node, id: columns.get(node.id)?.id ?? node.id } : node));
  const indexExprs =
    scan.indexExprs &&
    new Map(
      [...scan.indexExprs].map(([id, { keys, predicate, ...others }]) => [
        id,
        { ...others, keys: keys.map((key) => key && renamed(key)), predicate: predicate && renamed(predicate) },
      ]),
    );
  const access = accessFor(indexExprs === undefined ? copy : { ...copy, indexExprs });
  if (access.kind !== "indexscan" && access.kind !== "pointget") return null;
  const key = copy.columns[copy.source.indexOf(keyId)]!;
  return { access: Object.freeze({ ...access, filter: null }), key };
}

/** The scan with the primary key among its columns, without that of storage. */
function withKey(scan: ScanPlan, hasRowKey: boolean, keyId: number): ScanPlan {
  const columns = hasRowKey ? scan.columns.slice(0, -1) : scan.columns;
  if (scan.source.includes(keyId)) return { ...scan, columns };
  const { name, type } = scan.table.columns.find(({ id }) => id === keyId)!;
  const key: OutputColumn = { id: newColumnId(), name, type, nullable: false };
  return { ...scan, columns: [...columns, key], source: [...scan.source, keyId] };
}

function byKeys(scan: ScanPlan, parts: readonly Part[]): Plan {
  const lists = parts.map(({ access, key }): Plan => {
    const columns = [{ ...key, id: newColumnId() }];
    return Object.freeze({ kind: "project", input: access, exprs: [columnExpr(key)], columns });
  });
  const plan = lists.reduce((left, right) =>
    Object.freeze({ kind: "setop", op: "union", all: true, left, right, columns: left.columns }),
  );
  const type = arrayOf(parts[0]!.key.type);
  const keys: SubqueryExpr = { kind: "subquery", type, form: "array", plan, outer: [], input: null, compare: null };
  const { table, alias, source, columns, filter, rowKey, reverse } = scan;
  return Object.freeze({
    kind: "indexscan",
    ...{ table, alias, source, columns, filter, rowKey, reverse },
    index: "primary key",
    prefix: [],
    keySets: [keys],
    keyArrays: true,
    lower: null,
    upper: null,
  });
}

/**
 * Finds nodes of a graph by their labels if nothing better has been found: the index on labels has ranges of the label
 * sets that contain a label (exec/label-ranges.ts). Runs after joins have been chosen, which may look nodes up by
 * other keys.
 *
 *   Seq Scan on nodes n                               Index Scan using nodes_labels on nodes n
 *     Filter: has_label(labels, 'Person') AND …   ⇒     Index Cond: (labels HAS :Person)
 *                                                       Filter: …
 */
import { graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { andOf, conjuncts } from "../expr/walk.js";
import type { IndexScanPlan, ScanPlan } from "../plan/plan.js";
import { mapPlan } from "../plan/walk.js";
import { readsTooMuch } from "./choose-access.js";
import type { Rule } from "./rule.js";

export const nodesByLabel: Rule = {
  name: "nodes-by-label",
  places: [450],
  apply: (plan, cardinality) =>
    mapPlan(plan, (node) => {
      const access = node.kind === "scan" && node.nearest === undefined ? byLabels(node) : null;
      return access === null || readsTooMuch(access, cardinality) ? node : access;
    }),
};

function byLabels(scan: ScanPlan): IndexScanPlan | null {
  const { table, source, columns, alias, rowKey, reverse } = scan;
  if (graphDefOf(table)?.of !== "nodes" || scan.filter === null) return null;
  const column = columns[source.indexOf(NODE_COLUMN.labels)];
  const labels: string[] = [];
  const rest = conjuncts(scan.filter).filter((condition) => {
    const label = column === undefined ? null : labelIn(condition, column.id);
    if (label !== null) labels.push(label);
    return label === null;
  });
  const index = table.indexes.find(({ columns: keys }) => keys[0]!.columnId === NODE_COLUMN.labels);
  if (labels.length === 0 || index === undefined) return null;
  const none = { prefix: [], keySets: null, lower: null, upper: null };
  const common = { table, alias, source, columns, rowKey, reverse, index, ...none };
  return Object.freeze({ kind: "indexscan", ...common, labels, filter: andOf(rest) });
}

/** The label of `has_label(labels, 'Label')`. */
function labelIn(condition: Expr, labels: ColumnId): string | null {
  if (condition.kind !== "call" || condition.fn.name !== "has_label") return null;
  const [subject, label] = condition.args;
  if (subject?.kind !== "column" || subject.id !== labels || label?.kind !== "const") return null;
  return label.value as string | null;
}

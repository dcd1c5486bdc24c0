/**
 * Takes nodes that are similar to a node (`(a)-[:SIMILAR_TO > 0.8]-(b:Doc)`) from a vector index with the metric
 * cosine on that label's property `embedding`, if there is one. The index names nodes that are similar enough and
 * perhaps some more; the condition stays as a filter, over the stored numbers in double precision.
 *
 *   Similarity Join (similarity(…) > 0.8)          Lateral Nested Loop
 *     Index Scan on nodes a                     ⇒    Index Scan on nodes a
 *     Seq Scan on nodes b, :Doc                      Vector Search using doc_embedding on nodes b
 *                                                      Filter: :Doc, similarity(…) > 0.8
 */
import { graphDefOf, NODE_COLUMN } from "../../catalog/graph.js";
import type { SearchIndexDef } from "../../catalog/table.js";
import { EMBEDDING, similarityCondition, similaritySearch } from "../expr/cypher/similarity.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, isVolatile } from "../expr/walk.js";
import type { JoinPlan, Plan, ScanPlan } from "../plan/plan.js";
import { joinColumns, mapPlan } from "../plan/walk.js";
import { type Rule, withColumns } from "./rule.js";

export const similarByIndex: Rule = {
  name: "similar-by-index",
  places: [410],
  apply: (plan) =>
    mapPlan(plan, (node) => {
      if (node.kind === "scan") return searched(node) ?? node;
      return node.kind === "join" && !node.lateral ? (joined(node) ?? node) : node;
    }),
};

/** What the scan's own filter says, or what a row of a query around it says of this scan's rows. */
function searched(scan: ScanPlan): ScanPlan | null {
  if (scan.nearest !== undefined || scan.rowKey !== null || scan.reverse) return null;
  const index = indexOn(scan);
  if (index === null || (scan.filter !== null && isVolatile(scan.filter))) return null;
  for (const condition of conjuncts(scan.filter)) {
    const search = searchBy(condition, scan);
    if (search === null) continue;
    return Object.freeze({ ...scan, nearest: { index, ...search, counts: [], nullsFirst: false } });
  }
  return null;
}

/** The side with the index is searched for each row of the other. */
function joined(join: JoinPlan): Plan | null {
  if (join.type === "right" || join.type === "full") return null;
  const direct = lookedUp(join, join.left, join.right);
  if (direct !== null || join.type !== "inner") return direct;
  const turned = lookedUp(join, join.right, join.left);
  return turned && withColumns(turned, join.columns);
}

function lookedUp(join: JoinPlan, left: Plan, right: Plan): Plan | null {
  if (right.kind !== "scan") return null;
  const conditions = conjuncts(join.condition);
  const similar = conditions.filter((condition) => similarityCondition(condition) !== null);
  const scan = searched(Object.freeze({ ...right, filter: andOf([...conjuncts(right.filter), ...similar]) }));
  if (scan === null) return null;
  const condition = andOf(conditions.filter((each) => !similar.includes(each)));
  const columns = joinColumns(join.type, left, scan);
  return Object.freeze({ kind: "join", type: join.type, left, right: scan, condition, lateral: true, columns });
}

/** The scan is of nodes with a label whose embeddings are in a vector index. */
function indexOn({ table, source, columns, filter }: ScanPlan): SearchIndexDef | null {
  const def = graphDefOf(table);
  if (def?.of !== "nodes") return null;
  const labels = columns[source.indexOf(NODE_COLUMN.labels)]?.id;
  const known = new Set(conjuncts(filter).map((condition) => labelIn(condition, labels)));
  for (const { method, label, properties, indexId } of def.indexes ?? []) {
    if (method !== "vector" || properties[0] !== EMBEDDING || !known.has(label)) continue;
    const index = table.searchIndexes?.find(({ id }) => id === indexId);
    if (index?.vector?.metric === "cosine" && index.vector.where === undefined) return index;
  }
  return null;
}

/** The label of `has_label(labels, 'Label')`. */
function labelIn(condition: Expr, labels: ColumnId | undefined): unknown {
  if (condition.kind !== "call" || condition.fn.name !== "has_label") return null;
  const [subject, label] = condition.args;
  return subject?.kind === "column" && subject.id === labels && label?.kind === "const" ? label.value : null;
}

/** One side is the embedding of the scan's nodes, the other side and the threshold come from elsewhere. */
function searchBy(condition: Expr, scan: ScanPlan) {
  const similar = similarityCondition(condition);
  if (similar === null) return null;
  const own = new Set(scan.columns.map(({ id }) => id));
  const isFrom = (expr: Expr) => [...columnsOf(expr)].every((id) => !own.has(id));
  const [a, b] = similar.sides;
  const properties = scan.columns[scan.source.indexOf(NODE_COLUMN.properties)]?.id;
  const [stored, other] = isFrom(a) ? [b, a] : [a, b];
  if (!isFrom(other) || !isFrom(similar.threshold) || !isEmbeddingOf(stored, properties)) return null;
  return similaritySearch(other, similar.threshold);
}

function isEmbeddingOf(expr: Expr, properties: ColumnId | undefined): boolean {
  if (expr.kind !== "call" || expr.fn.name !== "property") return false;
  const [of, key] = expr.args;
  return of?.kind === "column" && of.id === properties && key?.kind === "const" && key.value === EMBEDDING;
}

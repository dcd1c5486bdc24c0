/**
 * Makes variants of columns (what a graph's variables are in plans, see query/plan/graph-plans.ts) and literals, and
 * tests labels. Cypher's binder calls these functions by themselves; `has_label` and `property` are also SQL's.
 */
import { decodeLabels, includesLabel } from "../../../values/labels.js";
import { BOOL, INT8, TEXT, VARIANT } from "../../../values/values.js";
import { GraphNode, GraphPath, GraphRelationship, type Variant, type VariantMap } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { fn } from "../functions/define.js";
import { withParts } from "../value-parts.js";
import { property } from "./access.js";

const NO_PROPERTIES: VariantMap = new Map();
export function nodeOf(id: number, labels: string, properties: VariantMap | null): GraphNode {
  return new GraphNode(id, decodeLabels(labels), properties ?? NO_PROPERTIES);
}

/** `[a, b, …]`. */
export const LIST_OF: ScalarFunction = fn("list", [], VARIANT, (...items: Variant[]) => withParts(items), {
  strict: false,
  variadic: VARIANT,
});

/** `{key: value, …}`: keys (text) and values in turn; of equal keys the last value counts. */
export const MAP_OF: ScalarFunction = fn("map", [], VARIANT, mapOf, { strict: false, variadic: VARIANT });

function mapOf(...parts: Variant[]): VariantMap {
  const map = new Map<string, Variant>();
  for (let i = 0; i < parts.length; i += 2) map.set(parts[i] as string, parts[i + 1]!);
  return withParts(map);
}

/** A node of its columns; null when its id is. */
export const NODE_OF: ScalarFunction = fn(
  "node",
  [INT8, TEXT, VARIANT],
  VARIANT,
  (id: number | null, labels: string | null, properties: VariantMap | null) =>
    id === null ? null : nodeOf(id, labels ?? "", properties),
  { strict: false },
);

/** A relationship of its columns; null when its id is. */
export const RELATIONSHIP_OF: ScalarFunction = fn(
  "relationship",
  [INT8, TEXT, INT8, INT8, VARIANT],
  VARIANT,
  (id: number | null, type: string, src: number, dst: number, properties: VariantMap | null) =>
    id === null ? null : new GraphRelationship(id, type, src, dst, properties ?? NO_PROPERTIES),
  { strict: false },
);

/**
 * A path: the node that it starts at, then relationships and lists of relationships as it runs. Nodes on the way are
 * fetched (`services.graphNode`). Null when one of them is.
 */
export const PATH_OF: ScalarFunction = Object.freeze({
  name: "path",
  args: [VARIANT],
  variadic: VARIANT,
  returns: VARIANT,
  volatility: "stable",
  strict: true,
  needsContext: true,
  apply: pathOf,
});

function pathOf(context: EvalContext, start: GraphNode, ...parts: Variant[]): GraphPath {
  const relationships: GraphRelationship[] = [];
  for (const part of parts) {
    if (isList(part)) relationships.push(...(part as readonly GraphRelationship[]));
    else relationships.push(part as GraphRelationship);
  }
  const nodes: GraphNode[] = [start];
  const known = new Map<number, GraphNode>([[start.id, start]]);
  let at = start.id;
  for (const { src, dst } of relationships) {
    at = src === at ? dst : src;
    let node = known.get(at);
    if (node === undefined) {
      node = context.services.graphNode(at);
      known.set(at, node);
    }
    nodes.push(node);
  }
  return new GraphPath(nodes, relationships);
}

/** Whether a column `labels` has a label. */
export const HAS_LABEL: ScalarFunction = fn("has_label", [TEXT, TEXT], BOOL, includesLabel);

/** A column `labels` as a list. */
export const LABELS_OF: ScalarFunction = fn("labels", [TEXT], VARIANT, decodeLabels);

/** The property of that name of a map, a node or a relationship; component of a temporal value. */
export const PROPERTY: ScalarFunction = fn("property", [VARIANT, TEXT], VARIANT, property, { nanosPerUnit: 0 });

/**
 * ts_rewrite (chapter 12.4.2.1): a query with each occurrence of a part replaced. ANDs and ORs of several words count
 * as sets: `a & b` occurs in `c & b & a`. Words of a set are in PostgreSQL's order, so that results read as its do.
 * Pure.
 */
import { compareNodes, joined, type TsQuery, type TsQueryNode } from "../values/ts-query.js";

/** AND and OR with all their operands, sorted; the right operand comes first, as PostgreSQL keeps it. */
type Node =
  | { readonly kind: "word"; readonly node: TsQueryNode & { kind: "word" }; readonly isNew: boolean }
  | {
      readonly kind: "not" | "and" | "or" | "phrase";
      readonly distance: number;
      readonly parts: readonly Node[];
      readonly isNew: boolean;
    };

export function rewrite(query: TsQuery, target: TsQuery, substitute: TsQuery): TsQuery {
  if (query === null || target === null) return query;
  const replacement = substitute === null ? null : setOf(substitute, false, true);
  const result = replaced(setOf(query, true, false), setOf(target, true, false), replacement);
  return result === null ? null : treeOf(result);
}

function setOf(node: TsQueryNode, flat: boolean, isNew: boolean): Node {
  if (node.kind === "word") return { kind: "word", node, isNew };
  const parts = node.kind === "not" ? [node.part] : [node.right, node.left];
  const inner = parts.map((part) => setOf(part, flat, isNew));
  const distance = node.kind === "phrase" ? node.distance : 0;
  if (!flat || node.kind === "not" || node.kind === "phrase") return { kind: node.kind, distance, parts: inner, isNew };
  const all = inner.flatMap((part) => (part.kind === node.kind ? part.parts : [part]));
  return { kind: node.kind, distance, parts: all.sort(compareSets), isNew };
}

const CODES = { not: 1, and: 2, or: 3, phrase: 4 } as const;

function compareSets(a: Node, b: Node): number {
  if (a.kind === "word" || b.kind === "word") {
    if (a.kind === "word" && b.kind === "word") return compareNodes(a.node, b.node);
    return a.kind === "word" ? 1 : -1;
  }
  if (a.kind !== b.kind) return CODES[b.kind] - CODES[a.kind];
  if (a.parts.length !== b.parts.length) return b.parts.length - a.parts.length;
  for (const [i, part] of a.parts.entries()) {
    const order = compareSets(part, b.parts[i]!);
    if (order !== 0) return order;
  }
  return b.distance - a.distance;
}

/** Null: nothing is left. */
function replaced(node: Node, target: Node, substitute: Node | null): Node | null {
  const found = replacedHere(node, target, substitute);
  if (found === null || found.isNew || found.kind === "word") return found;
  const parts = found.parts.flatMap((part) => replaced(part, target, substitute) ?? []);
  if (parts.length === 0) return null;
  return parts.length === 1 && found.kind !== "not" ? parts[0]! : { ...found, parts };
}

function replacedHere(node: Node, target: Node, substitute: Node | null): Node | null {
  if (node.isNew || node.kind !== target.kind) return node;
  if (node.kind === "word" || target.kind === "word" || node.parts.length === target.parts.length) {
    return compareSets(node, target) === 0 ? substitute : node;
  }
  const rest = without(node.parts, target.parts);
  if (rest === null) return node;
  const parts = substitute === null ? rest : [...rest, substitute].sort(compareSets);
  return { ...node, parts };
}

/** What of `all` is not in `some`; null when not all of `some` is in it. Both are sorted. */
function without(all: readonly Node[], some: readonly Node[]): Node[] | null {
  const rest: Node[] = [];
  let at = 0;
  for (const node of all) {
    if (at < some.length && compareSets(node, some[at]!) === 0) at++;
    else rest.push(node);
  }
  return at === some.length ? rest : null;
}

function treeOf(node: Node): TsQueryNode {
  if (node.kind === "word") return node.node;
  const { kind } = node;
  const parts = node.parts.map(treeOf);
  if (kind === "not") return { kind, part: parts[0]! };
  // The first two become one, and the last one takes the second place.
  while (parts.length > 2) {
    parts[0] = joined(kind, parts[1]!, parts[0]!, node.distance);
    parts[1] = parts.pop()!;
  }
  return joined(kind, parts[1]!, parts[0]!, node.distance);
}

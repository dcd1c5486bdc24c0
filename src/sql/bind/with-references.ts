/**
 * Finds the WITH tables that a syntax tree mentions, and the order in which tables of WITH RECURSIVE can be bound.
 */
import { sqlError } from "../../protocol/errors.js";
import type { CommonTableNode, FromNode, WithNode } from "../parse/ast-query.js";

/** Whether a relation of that name occurs in some FROM below and is not hidden by a nearer WITH table. */
export function mentions(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false;
  if (Array.isArray(node)) return node.some((child) => mentions(child, name));
  if ("kind" in node && node.kind === "table" && "name" in node && "sample" in node) {
    const { path } = (node as Extract<FromNode, { kind: "table" }>).name;
    return path.length === 1 && path[0] === name;
  }
  if ("with" in node && node.with !== null && node.with !== undefined) {
    const inner = node.with as WithNode;
    const hides = inner.tables.findIndex((table) => table.name === name);
    if (hides >= 0) {
      const before = inner.recursive ? [] : inner.tables.slice(0, hides + 1);
      return before.some((table) => mentions(table.statement, name));
    }
  }
  return Object.values(node).some((child) => mentions(child, name));
}

/** Tables after those they mention. Throws 0A000 for tables that need each other. */
export function inDependencyOrder(tables: readonly CommonTableNode[]): readonly CommonTableNode[] {
  const ordered: CommonTableNode[] = [];
  const visiting = new Set<CommonTableNode>();
  const visit = (table: CommonTableNode): void => {
    if (ordered.includes(table)) return;
    if (visiting.has(table)) {
      const message = "mutual recursion between WITH items is not implemented";
      throw sqlError("0A000", message, { position: table.position });
    }
    visiting.add(table);
    for (const other of tables) {
      if (other !== table && mentions(table.statement, other.name)) visit(other);
    }
    visiting.delete(table);
    ordered.push(table);
  };
  for (const table of tables) visit(table);
  return ordered;
}

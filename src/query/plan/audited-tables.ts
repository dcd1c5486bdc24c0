/** The audited tables (catalog/table-audit.ts) that a plan reads and changes. Called once per plan by the compiler. */
import type { AuditedUse, TableDef } from "../../catalog/table.js";
import type { Plan } from "./plan.js";
import { subqueriesOf, walkPlan } from "./walk.js";

/** By use; a table comes once in each. */
export type AuditedTables = Readonly<Record<AuditedUse, readonly TableDef[]>>;

/** Null: none, as of nearly all plans. */
export function auditedTables(plan: Plan): AuditedTables | null {
  const found = { read: new Set<TableDef>(), write: new Set<TableDef>() };
  const note = (use: AuditedUse, table: TableDef) => table.audit?.includes(use) && found[use].add(table);
  const visit = (within: Plan): void =>
    walkPlan(within, (node) => {
      noteNode(node, note);
      for (const { plan: inner } of subqueriesOf(node)) visit(inner);
    });
  visit(plan);
  if (found.read.size + found.write.size === 0) return null;
  return { read: [...found.read], write: [...found.write] };
}

function noteNode(node: Plan, note: (use: AuditedUse, table: TableDef) => void): void {
  switch (node.kind) {
    case "scan":
    case "textsearch":
    case "pointget":
    case "indexscan":
      note("read", node.table);
      return;
    case "insert":
      note("write", node.table);
      return;
    case "update":
    case "delete":
    case "merge":
      note("write", node.table);
      for (const { table } of node.heirs ?? []) note("write", table);
      return;
    case "match":
    case "expand":
    case "expandpath":
    case "countwalks":
    case "graphwrite":
      for (const table of [node.graph.nodes, node.graph.edges]) {
        note("read", table);
        if (node.kind === "graphwrite") note("write", table);
      }
      return;
    default:
  }
}

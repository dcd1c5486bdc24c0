/** ANALYZE and VACUUM. Relations of the system's have nothing to be measured, and tables of others are passed over. */
import { missingColumn } from "../../catalog/did-you-mean.js";
import type { TableDef } from "../../catalog/table.js";
import type { AnalyzeStatement } from "../parse/ast.js";
import { findSystemRows, lookUpTable } from "./bind-from.js";
import type { Binding } from "./binding.js";
import type { BoundAnalyze } from "./bound-statement.js";
import { checkedRights } from "./relation-rights.js";

/** Throws 42P01, 42703. */
export function bindAnalyze(node: AnalyzeStatement, binding: Binding): BoundAnalyze {
  const rights = checkedRights(binding.env);
  const mayAnalyze = ({ id }: TableDef) => rights === null || rights.mayAlter(id);
  const named = node.tables.flatMap((name, i): TableDef[] => {
    if (findSystemRows(name, binding) !== null) return [];
    const table = lookUpTable(name, binding);
    const missing = node.columns[i]!.find((column) => !table.columns.some((other) => other.name === column));
    if (missing !== undefined) throw missingColumn(missing, table, null);
    return [table];
  });
  const notices = named
    .filter((table) => !mayAnalyze(table))
    .map(({ name }) => ({
      level: "WARNING",
      message: `skipping "${name}" --- only table or database owner can ${node.kind} it`,
    }));
  const tag = node.kind === "vacuum" ? "VACUUM" : "ANALYZE";
  const alone = node.kind === "vacuum" ? { alone: tag } : {};
  if (!node.analyzes) return { kind: "analyze", tag, ...alone, tables: [], notices };
  const tables = (node.tables.length > 0 ? named : binding.env.catalog.tables()).filter(mayAnalyze);
  return { kind: "analyze", tag, ...alone, tables, notices };
}

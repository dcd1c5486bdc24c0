/**
 * ANALYZE and VACUUM: relations of the system's have nothing to be measured, and tables of others are passed over.
 * CLUSTER: rows are kept by their key, whatever index is named. CHECKPOINT: what is committed is on disk already.
 */
import { missingColumn } from "../../catalog/did-you-mean.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { AnalyzeStatement } from "../parse/ast.js";
import { findSystemRows, lookUpTable } from "./bind-from.js";
import { denied } from "./bind-roles.js";
import type { Binding } from "./binding.js";
import type { BoundAnalyze } from "./bound-statement.js";
import { checkedRights } from "./relation-rights.js";

/** Throws 42P01, 42703, 42704, 42501. */
export function bindAnalyze(node: AnalyzeStatement, binding: Binding): BoundAnalyze {
  if (node.kind === "checkpoint") return bindCheckpoint(binding);
  if (node.kind === "cluster") return bindCluster(node, binding);
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

function bindCheckpoint({ env }: Binding): BoundAnalyze {
  if (checkedRights(env)?.isSuperuser === false) {
    throw denied("must be superuser or have privileges of pg_checkpoint to do CHECKPOINT");
  }
  return { kind: "analyze", tag: "CHECKPOINT", tables: [], notices: [] };
}

function bindCluster({ tables, index }: AnalyzeStatement, binding: Binding): BoundAnalyze {
  const rights = checkedRights(binding.env);
  for (const name of tables) {
    const table = lookUpTable(name, binding);
    if (rights?.mayAlter(table.id) === false) throw denied(`must be owner of table ${table.name}`);
    if (index === undefined) continue;
    const isItsOwn = table.primaryKeyName === index || table.indexes.some((other) => other.name === index);
    if (!isItsOwn) throw sqlError("42704", `index "${index}" for table "${table.name}" does not exist`);
  }
  const notices = tables.map(() => ({ message: "CLUSTER has no effect here and was ignored" }));
  return { kind: "analyze", tag: "CLUSTER", tables: [], notices };
}

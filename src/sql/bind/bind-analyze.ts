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
import type { BoundDdl, BoundStatement } from "./bound-statement.js";
import { checkedRights } from "./relation-rights.js";

/** Throws 42P01, 42703, 42704, 42501. */
export function bindAnalyze(node: AnalyzeStatement, binding: Binding): BoundStatement {
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

function bindCheckpoint({ env }: Binding): BoundStatement {
  if (checkedRights(env)?.isSuperuser === false) {
    throw denied("must be superuser or have privileges of pg_checkpoint to do CHECKPOINT");
  }
  return { kind: "analyze", tag: "CHECKPOINT", tables: [], notices: [] };
}

/** The index that it names is the one that the table is clustered on from now on. */
function bindCluster({ tables, index }: AnalyzeStatement, binding: Binding): BoundStatement {
  const rights = checkedRights(binding.env);
  for (const name of tables) {
    const table = lookUpTable(name, binding);
    if (rights?.mayAlter(table.id) === false) throw denied(`must be owner of table ${table.name}`);
    if (index === undefined) continue;
    const isItsOwn = table.primaryKeyName === index || table.indexes.some((other) => other.name === index);
    if (!isItsOwn) throw sqlError("42704", `index "${index}" for table "${table.name}" does not exist`);
  }
  const tag = "CLUSTER";
  const message = "CLUSTER has no effect here and was ignored";
  if (index === undefined) return { kind: "analyze", tag, tables: [], notices: tables.map(() => ({ message })) };
  const steps = tables.map((name) => (): BoundDdl => {
    const table = { ...lookUpTable(name, binding), position: name.position };
    const action = { kind: "set detail", what: "cluster", index } as const;
    return { kind: "ddl", command: { kind: "alter table", table, action, only: true } };
  });
  return { kind: "ddl steps", tag, steps, notices: [message] };
}

/**
 * ALTER TABLE … ATTACH and DETACH PARTITION, ALTER INDEX … ATTACH PARTITION: whether a table can be a partition at all;
 * the catalog compares it with the other. After ATExecAttachPartition of PostgreSQL (src/backend/commands/tablecmds.c).
 */
import type { AlterAction, DdlCommand } from "../../catalog/ddl-command.js";
import { partitionConditions } from "../../catalog/partition-constraint.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { AlterTableCommand } from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import { lookUpTable } from "./bind-from.js";
import { bindPartition } from "./bind-partition.js";
import type { Binding } from "./binding.js";
import { firstFound } from "./names.js";
import { relationOf } from "./scope.js";
import { writeConstant } from "./write-constant.js";

type CommandOf<K extends AlterTableCommand["kind"]> = Extract<AlterTableCommand, { kind: K }>;

/** Throws 42P17, 42809, 42804, 42P07 for a table that cannot be a partition of this one. */
export function bindAttachPartition(
  command: CommandOf<"attach partition">,
  parent: TableDef,
  binding: Binding,
): AlterAction {
  const { position } = command.partition;
  if (parent.partitionKey === undefined) throw sqlError("42P17", `table "${parent.name}" is not partitioned`);
  const table = lookUpTable(command.partition, binding);
  const refuse = (message: string) => sqlError("42809", message, { position });
  if (table.materialized) throw refuse(`"${table.name}" is not a table`);
  if (table.partitionBound !== undefined) throw refuse(`"${table.name}" is already a partition`);
  if ((table.parents ?? []).length > 0) throw refuse("cannot attach inheritance child as partition");
  if (table.partitionKey === undefined && (table.children ?? []).length > 0) {
    throw refuse("cannot attach inheritance parent as partition");
  }
  const [temporary, parentTemporary] = [isTemporarySchema(table.schema), isTemporarySchema(parent.schema)];
  if (temporary !== parentTemporary) {
    const [kind, of] = temporary ? ["temporary", "permanent"] : ["permanent", "temporary"];
    throw refuse(`cannot attach a ${kind} relation as partition of ${of} relation "${parent.name}"`);
  }
  const extra = table.columns.find(({ name }) => !parent.columns.some((column) => column.name === name));
  if (extra !== undefined) {
    const message = `table "${table.name}" contains column "${extra.name}" not found in parent "${parent.name}"`;
    throw sqlError("42804", message, { detail: "The new partition may contain only the columns present in parent." });
  }
  const partition = bindPartition(command.bound!, parent, binding);
  const above = partitionConditions(parent, binding.env.catalog, writeConstant);
  const condition = [...above, ...(partition.condition === "" ? [] : [partition.condition])].join(" AND ");
  const { schema, name } = table;
  return { kind: "attach partition", schema, table: name, partition: { ...partition, condition } };
}

/** Throws 42809, 42P01, 55000. */
export function bindDetachPartition(
  command: CommandOf<"detach partition">,
  parent: TableDef,
  binding: Binding,
): AlterAction {
  if (parent.partitionKey === undefined) throw sqlError("42P17", `table "${parent.name}" is not partitioned`);
  const { catalog } = binding.env;
  const hasDefault = (parent.children ?? []).some((id) => catalog.tableById(id)?.partitionBound?.kind === "default");
  if (command.mode === "concurrently" && hasDefault) {
    throw sqlError("55000", "cannot detach partitions concurrently when a default partition exists");
  }
  const table = lookUpTable(command.partition, binding);
  if (command.mode === "finalize") {
    const message = `partition "${table.name}" is not detached from relation "${parent.name}" yet`;
    throw sqlError("55000", message.replace(" is not detached", " is not being detached").replace(" yet", ""));
  }
  return { kind: "detach partition", schema: table.schema, table: table.name };
}

/** Throws 42P01, 42809. */
export function bindAttachIndex(
  name: NameNode,
  { partition }: CommandOf<"attach partition">,
  binding: Binding,
): DdlCommand {
  const parent = indexNamed(name, "42809", binding);
  const child = indexNamed(partition, "42P17", binding);
  if (parent.table.partitionKey === undefined) {
    throw sqlError("42809", `"${parent.name}" is not a partitioned index`, { position: name.position });
  }
  return {
    kind: "alter table",
    table: { schema: parent.table.schema, name: parent.table.name, position: 0 },
    action: { kind: "attach index", index: parent.name, schema: child.table.schema, partition: child.name },
  };
}

/** `notIndex`: the code of the error for a table. */
function indexNamed(
  node: NameNode,
  notIndex: string,
  { env }: Binding,
): { readonly table: TableDef; readonly name: string } {
  const relation = relationOf(node);
  const { catalog } = env;
  const table = firstFound(relation, env, (schema, name) => {
    const found = catalog.index(schema, name)?.table;
    return found ?? catalog.tables().find((other) => other.schema === schema && other.primaryKeyName === name) ?? null;
  });
  if (table !== null) return { table, name: relation.name };
  const isTable = firstFound(relation, env, (schema, name) => catalog.table(schema, name)) !== null;
  throw isTable
    ? sqlError(notIndex, `"${relation.name}" is not an index`, { position: node.position })
    : sqlError("42P01", `relation "${relation.name}" does not exist`, { position: node.position });
}

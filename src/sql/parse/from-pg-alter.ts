/** ALTER TABLE, and what ALTER TYPE does to composite types. Called by from-pg-ddl.ts. */
import type { AlterTableCmd, AlterTableStmt, Node } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { AlterCompositeStatement, AlterTableCommand, AlterTableStatement } from "./ast-definitions.js";
import { type Conversion, notSupported, objectName, only, strings } from "./conversion.js";
import { columnDef, constraint, convertOptions } from "./from-pg-columns.js";
import { convertType } from "./from-pg-expr.js";
import { convertPartitionBound } from "./from-pg-partition.js";
import { relationName } from "./from-pg-query.js";
import { convertTriggerState } from "./from-pg-triggers.js";

export function alterTable(
  node: AlterTableStmt,
  c: Conversion,
  position: number,
): AlterTableStatement | AlterCompositeStatement {
  if (node.objtype === "OBJECT_TYPE") return alterComposite(node, c, position);
  const isView = node.objtype === "OBJECT_VIEW";
  if (!/^OBJECT_(?:TABLE|INDEX|VIEW|MATVIEW|SEQUENCE)$/.test(node.objtype ?? ""))
    throw notSupported(`ALTER ${objectName(node.objtype)}`, position);
  return {
    kind: "alter table",
    object: isView ? "view" : "table",
    name: relationName(node.relation!, c),
    ifExists: node.missing_ok ?? false,
    commands: (node.cmds ?? []).map((command) => {
      const action = only(command, "AlterTableCmd");
      return optionsCommand(action, isView, c) ?? alterCommand(action, c, position);
    }),
    position,
  };
}

function alterComposite(node: AlterTableStmt, c: Conversion, position: number): AlterCompositeStatement {
  const actions = (node.cmds ?? []).map((command) => only(command, "AlterTableCmd"));
  const changes = actions.map((action): AlterCompositeStatement["changes"][number] => {
    if (action.subtype === "AT_DropColumn") {
      return { kind: "drop", name: action.name ?? "", ifExists: action.missing_ok ?? false };
    }
    const def = only(action.def, "ColumnDef");
    const type = convertType(def.typeName!, c);
    return action.subtype === "AT_AddColumn"
      ? { kind: "add", name: def.colname ?? "", type }
      : { kind: "retype", name: action.name ?? "", type };
  });
  const cascade = actions.some((action) => action.behavior === "DROP_CASCADE");
  return { kind: "alter composite", name: relationName(node.relation!, c), changes, cascade, position };
}

/** SET (…) and RESET (…), of a table also `audit = 'read, write'`. Null: another action. */
function optionsCommand(node: AlterTableCmd, isView: boolean, c: Conversion): AlterTableCommand | null {
  const reset = node.subtype === "AT_ResetRelOptions";
  if (!reset && node.subtype !== "AT_SetRelOptions") return null;
  const { items } = only(node.def, "List");
  const options = convertOptions(items, c);
  const audit = isView ? undefined : options.find(({ name }) => name === "audit");
  if (audit !== undefined) {
    const { position } = audit;
    if (options.length > 1) throw notSupported("SET (audit = …) together with other parameters", position);
    return { kind: "set audit", uses: reset ? null : String(audit.value), position };
  }
  if (reset && items?.some((item) => only(item, "DefElem").arg !== undefined)) {
    throw sqlError("42601", "RESET must not include values for parameters", { position: options[0]!.position });
  }
  return { kind: "options", options, reset };
}

function alterCommand(node: AlterTableCmd, c: Conversion, position: number): AlterTableCommand {
  const name = node.name ?? "";
  const ifExists = node.missing_ok ?? false;
  const cascade = node.behavior === "DROP_CASCADE";
  switch (node.subtype) {
    case "AT_AddColumn":
      return { kind: "add column", column: columnDef(only(node.def, "ColumnDef"), c), ifNotExists: ifExists };
    case "AT_DropColumn":
      return { kind: "drop column", name, ifExists, cascade };
    case "AT_AlterColumnType": {
      const def = only(node.def, "ColumnDef");
      const collation = def.collClause === undefined ? null : strings(def.collClause.collname);
      const type = convertType(def.typeName!, c);
      return { kind: "alter type", name, type, collation, using: c.optional(def.raw_default) };
    }
    case "AT_ColumnDefault":
      if (node.def === undefined) return { kind: "drop default", name };
      return { kind: "set default", name, expr: c.expr(node.def) };
    case "AT_SetNotNull":
      return { kind: "set not null", name };
    case "AT_DropNotNull":
      return { kind: "drop not null", name };
    case "AT_AddConstraint":
      return { kind: "add constraint", constraint: constraint(only(node.def, "Constraint"), c) };
    case "AT_AttachPartition":
    case "AT_DetachPartition":
    case "AT_DetachPartitionFinalize":
      return alterPartition(node, c);
    case "AT_DropConstraint":
      return { kind: "drop constraint", name, ifExists, cascade };
    case "AT_AddInherit":
      return { kind: "inherit", parent: relationName(only(node.def, "RangeVar"), c) };
    case "AT_DropInherit":
      return { kind: "no inherit", parent: relationName(only(node.def, "RangeVar"), c) };
    case "AT_AddOf":
      return { kind: "of", type: convertType(only(node.def, "TypeName"), c) };
    case "AT_DropOf":
      return { kind: "of", type: null };
    case "AT_ValidateConstraint":
      return { kind: "validate constraint", name };
    default:
      return (
        alterIdentity(node, name, ifExists, c) ??
        convertTriggerState(node) ??
        keptDetail(node, name) ??
        ignoredCommand(node, position)
      );
  }
}

function alterPartition(node: AlterTableCmd, c: Conversion): AlterTableCommand {
  const { name, bound, concurrent = false } = only(node.def, "PartitionCmd");
  const partition = relationName(name!, c);
  if (node.subtype === "AT_AttachPartition") {
    return { kind: "attach partition", partition, bound: bound === undefined ? null : convertPartitionBound(bound, c) };
  }
  const mode = node.subtype === "AT_DetachPartitionFinalize" ? "finalize" : concurrent ? "concurrently" : "at once";
  return { kind: "detach partition", partition, mode };
}

/** Null: another action. */
function alterIdentity(node: AlterTableCmd, name: string, ifExists: boolean, c: Conversion): AlterTableCommand | null {
  switch (node.subtype) {
    case "AT_AddIdentity": {
      const identity = only(node.def, "Constraint");
      const always = identity.generated_when === "a";
      return { kind: "add identity", name, always, options: convertOptions(identity.options, c) };
    }
    case "AT_SetIdentity":
      return { kind: "set identity", name, options: convertOptions(only(node.def, "List").items, c) };
    case "AT_DropIdentity":
      return { kind: "drop identity", name, ifExists };
    case "AT_DropExpression":
      return { kind: "drop expression", name, ifExists };
    case "AT_AlterConstraint": {
      const change = only(node.def, "ATAlterConstraint");
      const { conname = "", deferrable = false, initdeferred = false } = change;
      if (change.alterInheritability) throw sqlError("0A000", "constraints cannot be altered to be NO INHERIT");
      return { kind: "alter constraint", name: conname, deferrable, initiallyDeferred: initdeferred };
    }
    case "AT_ReplicaIdentity": {
      const { identity_type, name: index = "" } = only(node.def, "ReplicaIdentityStmt");
      if (identity_type === "i") return { kind: "replica identity", identity: { index } };
      const identity = identity_type === "f" ? "full" : identity_type === "n" ? "nothing" : "default";
      return { kind: "replica identity", identity };
    }
    default:
      return null;
  }
}

/** Null: another action. */
function keptDetail(node: AlterTableCmd, name: string): AlterTableCommand | null {
  const kind = "detail";
  switch (node.subtype) {
    case "AT_SetLogged":
    case "AT_SetUnLogged":
      return { kind, what: "logged", unlogged: node.subtype === "AT_SetUnLogged" };
    case "AT_ClusterOn":
      return { kind, what: "cluster", index: name };
    case "AT_DropCluster":
      return { kind, what: "cluster", index: null };
    case "AT_SetStorage":
      return { kind, what: "storage", name, value: only(node.def, "String").sval ?? "" };
    case "AT_SetCompression":
      return { kind, what: "compression", name, value: only(node.def, "String").sval ?? "" };
    case "AT_SetStatistics":
      // Of a key of an index, which has a number: that is not kept.
      if (node.name === undefined) return null;
      return { kind, what: "statistics", name, value: node.def === undefined ? -1 : integerOf(node.def) };
    default:
      return null;
  }
}

const integerOf = (node: Node): number => ("Integer" in node ? (node.Integer.ival ?? 0) : -1);

/** Actions about storage and ownership, which have no meaning here: accepted, and said so in a notice. */
const IGNORED_COMMANDS: Partial<Record<NonNullable<AlterTableCmd["subtype"]>, string>> = {
  AT_SetStatistics: "SET STATISTICS",
  AT_SetOptions: "SET (attribute options)",
  AT_ResetOptions: "RESET (attribute options)",
  AT_DropOids: "SET WITHOUT OIDS",
  AT_SetTableSpace: "SET TABLESPACE",
  AT_ChangeOwner: "OWNER TO",
};

function ignoredCommand(node: AlterTableCmd, position: number): AlterTableCommand {
  const what = node.subtype === undefined ? undefined : IGNORED_COMMANDS[node.subtype];
  if (what !== undefined) {
    const isOfColumn = /^AT_(?:SetStatistics|SetStorage|SetCompression|SetOptions|ResetOptions)$/.test(node.subtype!);
    const column = node.name ?? node.num;
    return { kind: "ignored", what, ...(isOfColumn && column !== undefined && { column }) };
  }
  throw notSupported(`ALTER TABLE ${(node.subtype ?? "").replace(/^AT_/, "")}`, position);
}

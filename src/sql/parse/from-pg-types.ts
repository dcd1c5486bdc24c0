/**
 * Converts statements about types, schemas and sessions from the grammar's JSON to our syntax tree. Called by
 * from-pg.ts.
 */
import type { AlterDomainStmt, AlterObjectSchemaStmt, CompositeTypeStmt, DefElem, Node } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import { TABLE_LOCK_MODES } from "../../protocol/lock-strength.js";
import type { StatementNode } from "./ast.js";
import type {
  AlterDomainStatement,
  CreateTypeStatement,
  DiscardStatement,
  RangeOption,
  SetSchemaStatement,
} from "./ast-definitions.js";
import type { NameNode } from "./ast-query.js";
import { type Conversion, notSupported, only, pathOf, strings, tagOf } from "./conversion.js";
import { columnConstraints, columnDef, constraint } from "./from-pg-columns.js";
import { convertType } from "./from-pg-expr.js";
import { relationName } from "./from-pg-query.js";

/** null: not a statement that is known here. */
export function convertTypeDefinition(node: Node, c: Conversion, position: number): StatementNode | null {
  const tag = tagOf(node);
  switch (tag) {
    case "CreateEnumStmt": {
      const { typeName, vals } = only(node, tag);
      return { kind: "create type", name: nameOf(typeName), labels: strings(vals), fields: [], position };
    }
    case "CreateRangeStmt": {
      const { typeName, params } = only(node, tag);
      const range = (params ?? []).map((param) => rangeOption(only(param, "DefElem"), c));
      return { kind: "create type", name: nameOf(typeName), labels: null, fields: [], range, position };
    }
    case "CompositeTypeStmt":
      return createComposite(only(node, tag), c, position);
    case "AlterEnumStmt": {
      const alter = only(node, tag);
      return {
        kind: "alter enum",
        name: nameOf(alter.typeName),
        label: alter.newVal ?? "",
        oldLabel: alter.oldVal ?? null,
        neighbor: alter.newValNeighbor ?? null,
        after: alter.newValIsAfter ?? false,
        ifNotExists: alter.skipIfNewValExists ?? false,
        position,
      };
    }
    case "CreateDomainStmt": {
      const domain = only(node, tag);
      return {
        kind: "create domain",
        name: nameOf(domain.domainname),
        type: convertType(domain.typeName!, c),
        constraints: columnConstraints(domain.constraints, c),
        position,
      };
    }
    case "AlterDomainStmt":
      return alterDomain(only(node, tag), c, position);
    case "AlterObjectSchemaStmt":
      return setSchema(only(node, tag), c, position);
    default:
      return sessionStatement(node, c, position);
  }
}

function sessionStatement(node: Node, c: Conversion, position: number): StatementNode | null {
  const tag = tagOf(node);
  switch (tag) {
    case "LockStmt": {
      const { relations, mode: number = TABLE_LOCK_MODES.length, nowait = false } = only(node, tag);
      const tables = (relations ?? []).map((table) => relationName(only(table, "RangeVar"), c));
      return { kind: "lock", tables, mode: TABLE_LOCK_MODES[number - 1]!, nowait, position };
    }
    case "DiscardStmt": {
      const what = (only(node, tag).target ?? "").replace(/^DISCARD_/, "").toLowerCase();
      return { kind: "discard", what: what as DiscardStatement["what"], position };
    }
    case "GrantStmt":
    case "GrantRoleStmt":
    case "CreateRoleStmt":
    case "AlterRoleStmt":
    case "AlterRoleSetStmt":
    case "DropRoleStmt":
    case "AlterOwnerStmt":
    case "AlterDefaultPrivilegesStmt":
    case "ReassignOwnedStmt":
    case "DropOwnedStmt":
      throw sqlError("0A000", "roles, owners and privileges are not part of SQL here", {
        position,
        hint: "Users, API keys and their permissions (ReadOnly, FullAccess) are managed by the routes under /admin and /v1/api-keys.",
      });
    default:
      return null;
  }
}

/** The grammar gives these names no positions. */
function nameOf(path: readonly Node[] | undefined): NameNode {
  return { path: strings(path), position: 0 };
}

function rangeOption({ defname, arg }: DefElem, c: Conversion): RangeOption {
  const isType = arg !== undefined && tagOf(arg) === "TypeName";
  return { name: (defname ?? "").toLowerCase(), value: isType ? convertType(only(arg, "TypeName"), c) : null };
}

function createComposite(node: CompositeTypeStmt, c: Conversion, position: number): CreateTypeStatement {
  const fields = (node.coldeflist ?? []).map((field) => {
    const { name, type } = columnDef(only(field, "ColumnDef"), c);
    return { name, type };
  });
  return { kind: "create type", name: relationName(node.typevar!, c), labels: null, fields, position };
}

function alterDomain(node: AlterDomainStmt, c: Conversion, position: number): AlterDomainStatement {
  const statement = { kind: "alter domain", name: nameOf(node.typeName), position } as const;
  const name = node.name ?? "";
  switch (node.subtype) {
    case "T":
      return node.def === undefined
        ? { ...statement, command: { kind: "drop default" } }
        : { ...statement, command: { kind: "set default", expr: c.expr(node.def) } };
    case "O":
      return { ...statement, command: { kind: "set not null" } };
    case "N":
      return { ...statement, command: { kind: "drop not null" } };
    case "C": {
      const added = constraint(only(node.def, "Constraint"), c);
      return { ...statement, command: { kind: "add constraint", constraint: added } };
    }
    case "X":
      return { ...statement, command: { kind: "drop constraint", name, ifExists: node.missing_ok ?? false } };
    case "V":
      return { ...statement, command: { kind: "validate constraint", name } };
    default:
      throw notSupported("this form of ALTER DOMAIN", position);
  }
}

const MOVED: Readonly<Record<string, SetSchemaStatement["object"]>> = {
  OBJECT_TABLE: "relation",
  OBJECT_VIEW: "relation",
  OBJECT_MATVIEW: "relation",
  OBJECT_SEQUENCE: "sequence",
  OBJECT_TYPE: "type",
  OBJECT_DOMAIN: "type",
};

function setSchema(node: AlterObjectSchemaStmt, c: Conversion, position: number): SetSchemaStatement {
  const object = MOVED[node.objectType ?? ""];
  if (object === undefined) {
    const spelled = (node.objectType ?? "").replace(/^OBJECT_/, "").replaceAll("_", " ");
    throw notSupported(`ALTER ${spelled} SET SCHEMA`, position);
  }
  return {
    kind: "set schema",
    object,
    name: node.relation === undefined ? { path: pathOf(node.object), position: 0 } : relationName(node.relation, c),
    schema: node.newschema ?? "",
    ifExists: node.missing_ok ?? false,
    position,
  };
}

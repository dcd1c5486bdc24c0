/** CREATE TYPE, CREATE DOMAIN and their ALTER statements. */

import { checkColumnCount } from "../../catalog/column-count.js";
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { AttributeChange, DomainCheck } from "../../catalog/namespace-command.js";
import type { CompositeDef } from "../../catalog/type.js";
import { sqlError } from "../../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../../protocol/limits.js";
import { displayName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";
import type {
  AlterCompositeStatement,
  AlterDomainStatement,
  AlterEnumStatement,
  ConstraintNode,
  CreateDomainStatement,
  CreateTypeStatement,
  RenameStatement,
} from "../parse/ast-definitions.js";
import type { ExprNode, NameNode } from "../parse/ast-query.js";
import { printExpr } from "../parse/print-expr.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindRangeShape } from "./bind-range-type.js";
import { bindStoredType, checkStorable } from "./bind-type.js";
import type { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { valueScope } from "./domain-checks.js";
import { existingType, findType, firstFound, newName } from "./names.js";
import { relationOf, Scope } from "./scope.js";
import { exactNode, readsColumn, renamesColumn } from "./stored-expression.js";

export function bindCreateType(node: CreateTypeStatement, binding: Binding): DdlCommand {
  const name = newName(node.name, binding.env);
  const { labels, range } = node;
  if (range !== undefined) {
    return { kind: "create type", ...name, shape: bindRangeShape(name, range, binding, node.position) };
  }
  if (labels !== null) {
    for (const label of labels) checkLabel(label, node.position);
    if (new Set(labels).size < labels.length) {
      throw sqlError("23505", 'duplicate key value violates unique constraint "pg_enum_typid_label_index"');
    }
    return { kind: "create type", ...name, shape: { kind: "enum", labels } };
  }
  checkColumnCount(node.fields.length);
  const names = new Set<string>();
  const fields = node.fields.map((field) => {
    if (names.has(field.name)) {
      throw sqlError("42701", `column "${field.name}" specified more than once`, { position: node.position });
    }
    names.add(field.name);
    return { name: field.name, type: storableType(bindStoredType(field.type, binding), field.name, node.position) };
  });
  return { kind: "create type", ...name, shape: { kind: "composite", fields } };
}

function checkLabel(label: string, position: number): void {
  if (Buffer.byteLength(label) <= IDENTIFIER_BYTES_MAX) return;
  throw sqlError("42602", `invalid enum label "${label}"`, {
    position,
    detail: `Labels must be ${IDENTIFIER_BYTES_MAX} bytes or less.`,
  });
}

function storableType(type: SqlType, name: string, position: number): SqlType {
  checkStorable(type, name, position);
  return type;
}

export function bindAlterEnum(node: AlterEnumStatement, binding: Binding): DdlCommand {
  const { schema, name } = existingType(node.name, binding.env);
  checkLabel(node.label, node.position);
  const { label, oldLabel, neighbor, after, ifNotExists } = node;
  return { kind: "alter enum", schema, name, position: node.position, label, oldLabel, neighbor, after, ifNotExists };
}

/** Throws 42P01 for a type that is not there, 42809 for one without fields. */
export function bindAlterComposite(node: AlterCompositeStatement, binding: Binding): DdlCommand {
  const { schema, name } = compositeToAlter(node.name, binding);
  const changes = node.changes.map((change): AttributeChange => {
    const reads = readsColumn(change.name);
    if (change.kind === "drop") return { ...change, reads };
    const type = storableType(bindStoredType(change.type, binding), change.name, node.position);
    return change.kind === "add"
      ? { kind: "add", name: change.name, type }
      : { kind: "retype", name: change.name, type, reads };
  });
  return { kind: "alter composite", schema, name, position: node.position, changes, cascade: node.cascade };
}

/** ALTER TYPE … RENAME ATTRIBUTE. */
export function bindRenameAttribute(node: RenameStatement, binding: Binding): DdlCommand {
  const { schema, name } = compositeToAlter(node.relation, binding);
  const before = node.part ?? "";
  const { newName, cascade = false, position } = node;
  const change = { kind: "rename", name: before, newName, renamed: renamesColumn(before, newName) } as const;
  return { kind: "alter composite", schema, name, position, changes: [change], cascade };
}

function compositeToAlter(node: NameNode, { env }: Binding): CompositeDef {
  const { position } = node;
  const spelled = node.path.join(".");
  const type = findType(node.path, env);
  const table = firstFound(relationOf(node), env, (schema, name) => env.catalog.table(schema, name));
  if (table !== null) {
    throw sqlError("42809", `"${spelled}" is not a composite type`, { position, hint: "Use ALTER TABLE instead." });
  }
  if (type === null) throw sqlError("42P01", `relation "${spelled}" does not exist`, { position });
  if (type.kind !== "composite") throw sqlError("42809", `"${spelled}" is not a composite type`, { position });
  return type;
}

export function bindCreateDomain(node: CreateDomainStatement, binding: Binding): DdlCommand {
  const name = newName(node.name, binding.env);
  const base = bindStoredType(node.type, binding);
  if (base.name === "unknown" || base.name === "void" || (base.name === "record" && base.user === undefined)) {
    throw sqlError("42804", `"${displayName(base)}" is not a valid base type for a domain`, {
      position: node.position,
    });
  }
  let notNull: boolean | null = null;
  let defaultSql: string | null = null;
  let hasDefault = false;
  const checks: DomainCheck[] = [];
  for (const constraint of node.constraints) {
    switch (constraint.kind) {
      case "null":
      case "not null": {
        const wanted = constraint.kind === "not null";
        if (notNull !== null && notNull !== wanted) {
          throw sqlError("42601", "conflicting NULL/NOT NULL constraints", { position: constraint.position });
        }
        notNull = wanted;
        break;
      }
      case "default":
        if (hasDefault) throw sqlError("42601", "multiple default expressions", { position: constraint.position });
        hasDefault = true;
        defaultSql = defaultText(constraint.expr, base, name.name, binding);
        break;
      case "check":
        checks.push({ name: constraint.name, sql: conditionText(constraint.expr, base, binding) });
        break;
      default:
        throw refusedConstraint(constraint);
    }
  }
  const shape = { kind: "domain", base, notNull: notNull ?? false, defaultSql, checks } as const;
  return { kind: "create type", ...name, shape };
}

function refusedConstraint({ kind, position }: ConstraintNode): Error {
  const code = kind === "foreign key" || kind === "primary key" || kind === "unique" ? "42601" : "0A000";
  return sqlError(code, `${kind} constraints are not possible for domains`, { position });
}

function defaultText(node: ExprNode, base: SqlType, name: string, binding: Binding): string | null {
  const context = { ...contextOf(binding, new Scope(null), "DEFAULT expression"), subqueries: false };
  if (node.kind === "column") {
    throw sqlError("0A000", "cannot use column reference in DEFAULT expression", { position: node.position });
  }
  coerceAssignment(bindExpr(node, context), { name, type: base }, binding, node.position);
  return node.kind === "null" ? null : printExpr(exactNode(node, binding));
}

function conditionText(node: ExprNode, base: SqlType, binding: Binding): string {
  const { scope } = valueScope(base, binding);
  bindBoolean(node, "CHECK", { ...contextOf(binding, scope, "check constraint"), subqueries: false });
  return printExpr(exactNode(node, binding));
}

export function bindAlterDomain(node: AlterDomainStatement, binding: Binding): DdlCommand {
  const domain = existingType(node.name, binding.env);
  const { schema, name } = domain;
  if (domain.kind !== "domain") throw sqlError("42809", `"${name}" is not a domain`, { position: node.position });
  const altered = { kind: "alter domain", schema, name, position: node.position } as const;
  const { command } = node;
  switch (command.kind) {
    case "set default": {
      const sql = defaultText(command.expr, domain.base, name, binding);
      return { ...altered, change: { kind: "default", sql } };
    }
    case "drop default":
      return { ...altered, change: { kind: "default", sql: null } };
    case "set not null":
    case "drop not null":
      return { ...altered, change: { kind: "not null", notNull: command.kind === "set not null" } };
    case "add constraint": {
      const { constraint } = command;
      if (constraint.kind === "not null" || constraint.kind === "null") {
        return { ...altered, change: { kind: "not null", notNull: constraint.kind === "not null" } };
      }
      if (constraint.kind !== "check") throw refusedConstraint(constraint);
      const sql = conditionText(constraint.expr, domain.base, binding);
      const check = { name: constraint.name, sql, ...(constraint.notValid && { notValid: true }) };
      return { ...altered, change: { kind: "add check", check } };
    }
    case "drop constraint":
      return { ...altered, change: { kind: "drop check", name: command.name, ifExists: command.ifExists } };
    case "validate constraint":
      return { ...altered, change: { kind: "validate check", name: command.name } };
  }
}

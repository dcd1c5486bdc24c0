/** CREATE TYPE, CREATE DOMAIN and their ALTER statements. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { DomainCheck } from "../../catalog/namespace-command.js";
import { sqlError } from "../../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../../protocol/limits.js";
import type { SqlType } from "../../protocol/values.js";
import { displayName } from "../../query/expr/types.js";
import type {
  AlterDomainStatement,
  AlterEnumStatement,
  ConstraintNode,
  CreateDomainStatement,
  CreateTypeStatement,
} from "../parse/ast.js";
import type { ExprNode } from "../parse/ast-query.js";
import { printExpr } from "../parse/print-expr.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindType, checkStorable } from "./bind-type.js";
import type { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { valueScope } from "./domain-checks.js";
import { existingType, newName } from "./names.js";
import { Scope } from "./scope.js";

export function bindCreateType(node: CreateTypeStatement, binding: Binding): DdlCommand {
  const name = newName(node.name, binding.env);
  const { labels } = node;
  if (labels !== null) {
    labels.forEach((label, i) => {
      checkLabel(label, node.position);
      if (labels.indexOf(label) < i) {
        throw sqlError("23505", 'duplicate key value violates unique constraint "pg_enum_typid_label_index"');
      }
    });
    return { kind: "create type", ...name, shape: { kind: "enum", labels } };
  }
  const fields = node.fields.map((field, i) => {
    if (node.fields.findIndex((other) => other.name === field.name) < i) {
      throw sqlError("42701", `column "${field.name}" specified more than once`, { position: node.position });
    }
    return { name: field.name, type: storableType(bindType(field.type, binding), field.name, node.position) };
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

export function bindCreateDomain(node: CreateDomainStatement, binding: Binding): DdlCommand {
  const name = newName(node.name, binding.env);
  const base = bindType(node.type, binding);
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
  return node.kind === "null" ? null : printExpr(node);
}

function conditionText(node: ExprNode, base: SqlType, binding: Binding): string {
  const { scope } = valueScope(base, binding);
  bindBoolean(node, "CHECK", { ...contextOf(binding, scope, "check constraint"), subqueries: false });
  return printExpr(node);
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
      const check = { name: constraint.name, sql: conditionText(constraint.expr, domain.base, binding) };
      return { ...altered, change: { kind: "add check", check } };
    }
    case "drop constraint":
      return { ...altered, change: { kind: "drop check", name: command.name, ifExists: command.ifExists } };
    case "validate constraint":
      throw sqlError("0A000", "VALIDATE CONSTRAINT of a domain is not supported", { position: node.position });
  }
}

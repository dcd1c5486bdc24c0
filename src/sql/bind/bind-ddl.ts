/** Definition statements: names to schemas, types to SqlTypes, expressions proven to bind and kept as text. */
import type { CreateIndexCommand, DdlCommand, NewColumn, NewKey, RelationName } from "../../catalog/ddl-command.js";
import { PLAIN_SEQUENCE, type SequenceOptions } from "../../catalog/sequence.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { INT2, INT4, INT8, type SqlType } from "../../protocol/values.js";
import { displayName } from "../../query/expr/types.js";
import type {
  ColumnDefNode,
  ConstraintNode,
  CreateIndexStatement,
  CreateTableStatement,
  DropStatement,
  TruncateStatement,
} from "../parse/ast.js";
import type { ExprNode, NameNode } from "../parse/ast-query.js";
import { printExpr } from "../parse/print-expr.js";
import { contextOf } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import { bindSequenceOptions } from "./bind-sequence.js";
import { bindType } from "./bind-type.js";
import type { Binding } from "./binding.js";
import { coerceAssignment } from "./coerce.js";
import { relationOf, Scope } from "./scope.js";
import { itemOf, rowColumnsOf } from "./stored-row.js";

type Of<K extends ConstraintNode["kind"]> = Extract<ConstraintNode, { kind: K }>;

export function bindCreateTable(node: CreateTableStatement, binding: Binding): DdlCommand {
  const { position } = node;
  const refuse = (what: string) => sqlError("0A000", `${what} is not supported yet`, { position });
  if (node.persistence === "temporary") throw refuse("a temporary table");
  if (node.onCommit !== "preserve") {
    throw sqlError("42P16", "ON COMMIT can only be used on temporary tables", { position });
  }
  if (node.like.length > 0) throw refuse("CREATE TABLE LIKE");
  const { schema, name } = newRelation(node.name, binding);
  const seen = new Set<string>();
  const keys: (Of<"primary key" | "unique"> & { readonly own: string | null })[] = [];
  const checks: { readonly node: Of<"check">; readonly column: string | null }[] = [];
  const defaults = new Map<string, ExprNode>();
  const columns = node.columns.map((column) => {
    if (seen.has(column.name)) {
      throw sqlError("42701", `column "${column.name}" specified more than once`, { position: column.position });
    }
    seen.add(column.name);
    for (const constraint of column.constraints) {
      if (constraint.kind === "primary key" || constraint.kind === "unique")
        keys.push({ ...constraint, own: column.name });
      else if (constraint.kind === "check") checks.push({ node: constraint, column: column.name });
    }
    return newColumn(column, defaults);
  });
  for (const constraint of node.constraints) {
    if (constraint.kind === "primary key" || constraint.kind === "unique") keys.push({ ...constraint, own: null });
    else if (constraint.kind === "check") checks.push({ node: constraint, column: null });
    else if (constraint.kind === "not null") throw refuse("NOT NULL as a table constraint");
    else throw refuse(constraint.kind === "foreign key" ? "FOREIGN KEY" : constraint.kind);
  }
  const primary = keys.filter((key) => key.kind === "primary key");
  if (primary.length > 1) {
    const message = `multiple primary keys for table "${name}" are not allowed`;
    throw sqlError("42P16", message, { position: primary[1]!.position });
  }
  const table = draft(schema, name, columns);
  const command: DdlCommand = {
    kind: "create table",
    schema,
    name,
    ifNotExists: node.ifNotExists,
    columns: columns.map((column) => withDefault(column, defaults.get(column.name), binding)),
    primaryKey: primary.length === 0 ? null : newKey(primary[0]!, columns),
    uniques: keys.filter((key) => key.kind === "unique").map((key) => newKey(key, columns)),
    checks: checks.map((check) => ({
      name: check.node.name,
      sql: checkSql(check.node, table, binding),
      column: check.column,
    })),
  };
  return command;
}

/** Schema and name of a relation to be made. Throws 3F000. */
function newRelation(node: NameNode, binding: Binding): RelationName {
  const { schema, name } = relationOf(node);
  const { searchPath } = binding.env;
  const { position } = node;
  if (schema !== null && !searchPath.includes(schema)) {
    const system = schema === "pg_catalog" || schema === "information_schema";
    throw system
      ? sqlError("42501", `permission denied for schema ${schema}`, { position })
      : sqlError("3F000", `schema "${schema}" does not exist`, { position });
  }
  return { schema: schema ?? searchPath[0]!, name, position };
}

/** The names that stand for an integer type and a sequence of its own. */
const SERIAL_TYPES: Readonly<Record<string, SqlType>> = {
  serial: INT4,
  serial4: INT4,
  bigserial: INT8,
  serial8: INT8,
  smallserial: INT2,
  serial2: INT2,
};

/** The column without its DEFAULT, which goes into `defaults`. */
function newColumn(node: ColumnDefNode, defaults: Map<string, ExprNode>): NewColumn {
  const { name, position } = node;
  const serial = node.type.arrayDimensions === 0 ? SERIAL_TYPES[node.type.name] : undefined;
  const type = serial ?? bindType(node.type);
  if (type.name === "unknown" || type.name === "record" || type.name === "void") {
    throw sqlError("42P16", `column "${name}" has pseudo-type ${displayName(type)}`, { position });
  }
  let notNull = serial !== undefined;
  let nullable = false;
  let identity: NewColumn["identity"] = null;
  let sequence: SequenceOptions | null = serial === undefined ? null : PLAIN_SEQUENCE;
  for (const constraint of node.constraints) {
    switch (constraint.kind) {
      case "not null":
        notNull = true;
        break;
      case "null":
        nullable = true;
        break;
      case "default":
        if (defaults.has(name) || sequence !== null) throw twiceDefault(name, constraint.position);
        defaults.set(name, constraint.expr);
        break;
      case "identity":
        if (![INT2, INT4, INT8].includes(type)) {
          throw sqlError("22023", "identity column type must be smallint, integer, or bigint", { position });
        }
        if (defaults.has(name) || sequence !== null) throw twiceDefault(name, constraint.position);
        identity = constraint.always ? "always" : "by default";
        sequence = bindSequenceOptions(constraint.options);
        notNull = true;
        break;
      case "generated":
        throw sqlError("0A000", "a generated column is not supported yet", { position: constraint.position });
      case "foreign key":
        throw sqlError("0A000", "REFERENCES is not supported yet", { position: constraint.position });
    }
  }
  if (notNull && nullable) {
    throw sqlError("42601", `conflicting NULL/NOT NULL declarations for column "${name}"`, { position });
  }
  return { name, type, notNull, defaultSql: null, identity, sequence };
}

function twiceDefault(name: string, position: number): Error {
  return sqlError("42601", `multiple default values specified for column "${name}"`, { position });
}

/** A definition to bind checks over, before the table has one. */
function draft(schema: string, name: string, columns: readonly NewColumn[]): TableDef {
  return {
    id: 0,
    schema,
    name,
    columns: columns.map((column, id): ColumnDef => ({ ...column, id, missingSql: null })),
    primaryKey: null,
    primaryKeyName: null,
    indexes: [],
    checks: [],
    nextColumnId: columns.length,
    createdAt: 0,
  };
}

function withDefault(column: NewColumn, node: ExprNode | undefined, binding: Binding): NewColumn {
  if (node === undefined) return column;
  const { position } = node;
  if (node.kind === "column")
    throw sqlError("0A000", "cannot use column reference in DEFAULT expression", { position });
  const context = { ...contextOf(binding, new Scope(null), "DEFAULT expression"), subqueries: false };
  refuseParameters(node, "DEFAULT expressions");
  coerceAssignment(bindExpr(node, context), column, binding, position);
  // A NULL is what a column without a default gets.
  return node.kind === "null" ? column : { ...column, defaultSql: printExpr(node) };
}

function checkSql(node: Of<"check">, table: TableDef, binding: Binding): string {
  const scope = new Scope(null);
  scope.items = [itemOf(table, table.name, rowColumnsOf(table, binding))];
  const context = { ...contextOf(binding, scope, "check constraint"), subqueries: false };
  refuseParameters(node.expr, "check constraints");
  bindBoolean(node.expr, "CHECK", context);
  return printExpr(node.expr);
}

/** A stored expression has no statement whose parameters it could use. */
function refuseParameters(node: unknown, where: string): void {
  if (typeof node !== "object" || node === null) return;
  if ("kind" in node && node.kind === "parameter") {
    const { index, position } = node as Extract<ExprNode, { kind: "parameter" }>;
    throw sqlError("42P02", `there is no parameter $${index + 1} in ${where}`, { position });
  }
  for (const child of Object.values(node)) refuseParameters(child, where);
}

function newKey(
  node: Of<"primary key" | "unique"> & { readonly own: string | null },
  columns: readonly NewColumn[],
): NewKey {
  const { position } = node;
  if (node.nullsNotDistinct) throw sqlError("0A000", "NULLS NOT DISTINCT is not supported yet", { position });
  if (node.including.length > 0) throw sqlError("0A000", "INCLUDE is not supported yet", { position });
  if (node.deferrable) throw sqlError("0A000", "a deferrable key is not supported yet", { position });
  const names = node.own === null ? node.columns : [node.own];
  names.forEach((name, i) => {
    const column = columns.find((other) => other.name === name);
    if (column === undefined) throw sqlError("42703", `column "${name}" named in key does not exist`, { position });
    if (names.indexOf(name) < i) {
      const what = node.kind === "primary key" ? "primary key" : "unique";
      throw sqlError("42701", `column "${name}" appears twice in ${what} constraint`, { position });
    }
    checkIndexable(column.type, position);
  });
  return { name: node.name, columns: names };
}

/** Types that keys cannot hold in order. Throws 42704. */
function checkIndexable(type: SqlType, position: number): void {
  if (type.element !== null) checkIndexable(type.element, position);
  else if (["json", "vector"].includes(type.name)) {
    const message = `data type ${displayName(type)} has no default operator class for access method "btree"`;
    throw sqlError("42704", message, {
      position,
      hint: "You must specify an operator class for the index or define a default operator class for the data type.",
    });
  }
}

export function bindCreateIndex(node: CreateIndexStatement, binding: Binding): CreateIndexCommand {
  const { position } = node;
  const refuse = (what: string) => sqlError("0A000", `${what} is not supported yet`, { position });
  if (node.method !== "btree" && node.method !== "hash") throw refuse(`an index of the kind ${node.method}`);
  if (node.where !== null) throw refuse("a partial index");
  if (node.including.length > 0) throw refuse("INCLUDE");
  if (node.nullsNotDistinct) throw refuse("NULLS NOT DISTINCT");
  const table = lookUpTable(node.table, binding);
  const columns = node.elements.map((element) => {
    if (element.column === null) throw refuse("an index over an expression");
    const column = table.columns.find((other) => other.name === element.column);
    if (column === undefined) throw sqlError("42703", `column "${element.column}" does not exist`, { position });
    checkIndexable(column.type, position);
    const { descending } = element;
    return { name: column.name, descending, nullsFirst: element.nullsFirst ?? descending };
  });
  return {
    kind: "create index",
    name: node.name,
    table: { schema: table.schema, name: table.name, position: node.table.position },
    unique: node.unique,
    ifNotExists: node.ifNotExists,
    columns,
  };
}

export function bindDrop(node: DropStatement, binding: Binding): DdlCommand {
  const { ifExists, cascade } = node;
  const names = node.names.map((name): RelationName => {
    const relation = relationOf(name);
    return {
      schema: relation.schema ?? schemaOf(relation.name, node.object, binding),
      name: relation.name,
      position: 0,
    };
  });
  if (node.object === "table") return { kind: "drop table", tables: names, ifExists, cascade };
  if (node.object === "index") return { kind: "drop index", indexes: names, ifExists, cascade };
  throw sqlError("0A000", `DROP ${node.object.toUpperCase()} is not supported yet`, { position: node.position });
}

/** The schema of the search path that has the relation, else the first. */
function schemaOf(name: string, object: DropStatement["object"], binding: Binding): string {
  const { catalog, searchPath } = binding.env;
  const found = searchPath.find((schema) =>
    object === "index" ? catalog.index(schema, name) !== null : catalog.table(schema, name) !== null,
  );
  return found ?? searchPath[0]!;
}

export function bindTruncate(node: TruncateStatement, binding: Binding): DdlCommand {
  if (node.restartIdentity) {
    throw sqlError("0A000", "RESTART IDENTITY is not supported yet", { position: node.position });
  }
  const tables = node.tables.map((name): RelationName => {
    const table = lookUpTable(name, binding);
    return { schema: table.schema, name: table.name, position: name.position };
  });
  return { kind: "truncate", tables };
}

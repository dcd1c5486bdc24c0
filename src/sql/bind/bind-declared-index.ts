/**
 * CREATE INDEX … USING gin, gist, brin and spgist, unless it is a text index: only a definition is stored, so that
 * schemas made for PostgreSQL can be loaded. Called by bind-ddl.ts.
 */
import type { CreateSearchIndexCommand } from "../../catalog/ddl-command.js";
import { isOrdered } from "../../catalog/partition-bounds.js";
import type { DeclaredMethod, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import { isRangeType } from "../../values/range.js";
import type { SqlType } from "../../values/values.js";
import type { CreateIndexStatement, IndexElement } from "../parse/ast-definitions.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { lookUpTable } from "./bind-from.js";
import type { Binding } from "./binding.js";
import { storageOfIndex } from "./storage-parameters.js";
import { columnsRead, rowContext, storedSql } from "./stored-expression.js";

const METHODS: ReadonlySet<string> = new Set<DeclaredMethod>(["gin", "gist", "brin", "spgist"]);

/** Null: an index of another kind. Throws 42703, 42704, 0A000. */
export function bindDeclaredIndex(node: CreateIndexStatement, binding: Binding): CreateSearchIndexCommand | null {
  if (!METHODS.has(node.method)) return null;
  const method = node.method as DeclaredMethod;
  const { position } = node;
  refuseParts(node, method);
  const table = lookUpTable(node.table, binding);
  const keys = node.elements.map((element) => keyOf(element, table, method, position, binding));
  if (node.where !== null) bindBoolean(node.where, "WHERE", rowContext(table, "index predicates", binding));
  const where = node.where === null ? null : storedSql(node.where, binding);
  const read = node.elements.flatMap(({ column, expr }) => (expr === null ? [column!] : columnsRead(expr)));
  const columns = [...new Set([...read, ...(node.where === null ? [] : columnsRead(node.where))])];
  return {
    kind: "create search index",
    name: node.name,
    table: { schema: table.schema, name: table.name, position: node.table.position },
    ifNotExists: node.ifNotExists,
    method,
    columns,
    declared: { keys, ...(where !== null && { where }), ...storageOfIndex(node.options) },
    notices: [`an index of the kind ${method} is a definition alone here: queries read the rows`],
  };
}

/** What the access method cannot have. Throws 0A000. */
function refuseParts(node: CreateIndexStatement, method: DeclaredMethod): void {
  const { position, elements } = node;
  const refuse = (what: string) =>
    sqlError("0A000", `access method "${method}" does not support ${what}`, { position });
  if (node.unique) throw refuse("unique indexes");
  if (node.including.length > 0 && (method === "gin" || method === "brin")) throw refuse("included columns");
  if (method === "spgist" && elements.length > 1) throw refuse("multicolumn indexes");
  if (elements.some(({ descending }) => descending)) throw refuse("ASC/DESC options");
  if (elements.some(({ nullsFirst }) => nullsFirst !== null)) throw refuse("NULLS FIRST/LAST options");
}

function keyOf(
  { column, expr, operatorClass }: IndexElement,
  table: TableDef,
  method: DeclaredMethod,
  position: number,
  binding: Binding,
) {
  const found = column === null ? undefined : table.columns.find(({ name }) => name === column);
  if (column !== null && found === undefined)
    throw sqlError("42703", `column "${column}" does not exist`, { position });
  const type = found?.type ?? bindExpr(expr!, rowContext(table, "index expressions", binding)).type;
  if (!isOfPlainTypes(method, type, binding)) checkClass(operatorClass, type, method, position);
  return {
    ...(found === undefined ? { sql: storedSql(expr!, binding) } : { column: found.name }),
    ...(operatorClass !== null && { operatorClass }),
  };
}

/** Whether btree_gin or btree_gist gives the method a class for the type. */
function isOfPlainTypes(method: DeclaredMethod, type: SqlType, { env }: Binding): boolean {
  if ((method !== "gin" && method !== "gist") || type.element !== null || !isOrdered(type)) return false;
  return env.catalog.extensions().some(({ name }) => name === `btree_${method}`);
}

/** Types that an access method has an operator class for by itself. */
function hasDefaultClass(method: DeclaredMethod, type: SqlType): boolean {
  const { name, element } = type;
  if (method === "gin") return element !== null || ["jsonb", "tsvector", "hstore"].includes(name);
  const isFigure = element === null && ["point", "box", "polygon"].includes(name);
  const isRange = isRangeType(type);
  if (method === "gist")
    return (
      ["tsvector", "tsquery", "circle", "hstore", "ltree"].includes(element?.name === "ltree" ? "ltree" : name) ||
      isFigure ||
      isRange
    );
  if (method === "spgist") return ["text", "varchar", "bpchar", "inet", "cidr"].includes(name) || isFigure || isRange;
  return (
    element === null &&
    ![
      "json",
      "jsonb",
      "bool",
      "vector",
      "halfvec",
      "sparsevec",
      "tsvector",
      "tsquery",
      "record",
      "lquery",
      "ltxtquery",
    ].includes(name)
  );
}

/** Throws 42704. */
function checkClass(operatorClass: string | null, type: SqlType, method: DeclaredMethod, position: number): void {
  if (operatorClass !== null) {
    if (operatorClass.endsWith("_ops")) return;
    const message = `operator class "${operatorClass}" does not exist for access method "${method}"`;
    throw sqlError("42704", message, { position });
  }
  if (hasDefaultClass(method, type)) return;
  const message = `data type ${displayName(type)} has no default operator class for access method "${method}"`;
  throw sqlError("42704", message, {
    position,
    hint: "You must specify an operator class for the index or define a default operator class for the data type.",
  });
}

/** The key that ON CONFLICT (…) names. */
import { quotedIdentifier } from "../../catalog/relation-names.js";
import { forbidsOverlap, type IndexDef, type TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { ConflictTarget } from "../parse/ast.js";
import type { ExprNode } from "../parse/ast-query.js";
import { parseExpression } from "../parse/parse.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import type { Binding } from "./binding.js";
import { rowContext, storedSql, writtenSql } from "./stored-expression.js";

/** The key that a conflict target names. Throws 42704 for an unknown constraint, 42P10 for columns without a key. */
function arbiter(
  target: ConflictTarget,
  table: TableDef,
  isUpdate: boolean,
  binding: Binding,
): IndexDef | "primary key" {
  const { position } = target;
  if (target.constraint !== null) {
    if (target.constraint === table.primaryKeyName) return "primary key";
    const named = table.indexes.find(
      (index) => (index.unique || forbidsOverlap(index)) && index.name === target.constraint,
    );
    if (table.indexes.some((index) => index.deferrable && index.name === target.constraint)) throw noArbiter(position);
    if (named?.exclusion && isUpdate) {
      const message = "ON CONFLICT DO UPDATE not supported with exclusion constraints";
      throw sqlError("42809", message, position > 0 ? { position } : undefined);
    }
    if (named?.invalid) throw noMatch(position);
    if (named !== undefined) return named;
    const message = `constraint "${target.constraint}" for table "${table.name}" does not exist`;
    throw sqlError("42704", message, { position });
  }
  for (const element of target.elements) {
    if (element.kind !== "column") bindExpr(element, rowContext(table, "index expressions", binding));
    else if (!table.columns.some((other) => other.name === element.path.at(-1))) {
      throw sqlError("42703", `column "${element.path.at(-1)}" does not exist`, { position });
    }
  }
  if (target.where !== null) bindBoolean(target.where, "WHERE", rowContext(table, "index predicates", binding));
  if (isKey(table, target)) return "primary key";
  const exact = (node: ExprNode) => storedSql(node, binding);
  // Texts from before they had ids name functions as the statement did.
  const index = indexOf(table, target, exact) ?? indexOf(table, target, writtenSql);
  if (index?.deferrable) throw noArbiter(position);
  if (index !== undefined) return index;
  throw noMatch(position);
}

/** The same. Null in a definition, which runs later: as in PostgreSQL the key may be made after it. */
export function arbiterNow(target: ConflictTarget, table: TableDef, isUpdate: boolean, binding: Binding) {
  try {
    return arbiter(target, table, isUpdate, binding);
  } catch (error) {
    const isMissing = error instanceof DbError && error.details?.sqlstate === "42P10";
    if (isMissing && binding.env.noted !== undefined) return null;
    throw error;
  }
}

function isKey(table: TableDef, { elements }: ConflictTarget): boolean {
  const wanted = new Set(elements.map(writtenSql));
  return (
    table.primaryKey !== null &&
    isSame(
      wanted,
      table.primaryKey.map((id) => nameOf(table, id)),
    )
  );
}

const nameOf = (table: TableDef, id: number) =>
  quotedIdentifier(table.columns.find((column) => column.id === id)!.name);

function isSame(wanted: ReadonlySet<string>, key: readonly string[]): boolean {
  return new Set(key).size === wanted.size && key.every((part) => wanted.has(part));
}

/** A partial index serves when the target's WHERE says its predicate. */
function indexOf(
  table: TableDef,
  { elements, where }: ConflictTarget,
  textOf: (node: ExprNode) => string,
): IndexDef | undefined {
  const wanted = new Set(elements.map(textOf));
  const said = where === null ? [] : conditionsOf(where).map(textOf);
  return table.indexes.find(
    (other) =>
      (other.unique || other.deferrable) &&
      // Of ONLY a partitioned table: some of its partitions do not have it.
      !other.invalid &&
      !other.exclusion &&
      isSame(
        wanted,
        other.columns.map(({ columnId, expression }) => expression?.sql ?? nameOf(table, columnId)),
      ) &&
      (!other.where || conditionsOf(parseExpression(other.where)).every((part) => said.includes(writtenSql(part)))),
  );
}

function noMatch(position: number): Error {
  return sqlError(
    "42P10",
    "there is no unique or exclusion constraint matching the ON CONFLICT specification",
    position > 0 ? { position } : undefined,
  );
}

export function noArbiter(position: number): Error {
  return sqlError(
    "55000",
    "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters",
    position > 0 ? { position } : undefined,
  );
}

function conditionsOf(node: ExprNode): readonly ExprNode[] {
  return node.kind === "and" ? node.args.flatMap(conditionsOf) : [node];
}

/**
 * Names of what belongs to a table. Names that a statement gives must be free; generated names avoid those that are
 * taken.
 */
import { sqlError } from "../protocol/errors.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { NewCheck } from "./ddl-command.js";
import { madeUpName } from "./relation-names.js";
import type { CheckDef, TableDef } from "./table.js";

/** Names of relations that one statement makes in the table's schema. */
export class TableNames {
  private readonly own: Set<string>;

  constructor(
    private readonly editor: CatalogEditor,
    private readonly schema: string,
    private readonly table: string,
  ) {
    this.own = new Set([table]);
  }

  /** The given name, or one made of the table's name, the parts and the suffix. Throws 42P07. */
  relation(given: string | null, parts: readonly string[], suffix: string): string {
    const taken = (name: string) => this.own.has(name) || this.editor.view.hasRelation(this.schema, name);
    if (given !== null && taken(given)) throw relationExists(given);
    const name = given ?? madeUpName(this.table, parts, suffix, taken);
    this.own.add(name);
    return name;
  }
}

/** Every constraint that the table has, by name. */
export function constraintNames(
  table: Pick<TableDef, "primaryKeyName" | "indexes" | "checks" | "foreignKeys">,
): string[] {
  return [
    ...(table.primaryKeyName === null ? [] : [table.primaryKeyName]),
    ...table.indexes.filter((index) => index.constraint !== null).map((index) => index.name),
    ...table.checks.map((check) => check.name),
    ...(table.foreignKeys ?? []).map((key) => key.name),
  ];
}

/** A free name for a constraint of the table. Throws 42710 for a given one that is taken. */
export function constraintName(
  table: TableDef,
  given: string | null,
  parts: readonly string[],
  suffix: string,
): string {
  const names = new Set(constraintNames(table));
  if (given !== null && names.has(given)) {
    throw sqlError("42710", `constraint "${given}" for relation "${table.name}" already exists`);
  }
  return given ?? madeUpName(table.name, parts, suffix, (name) => names.has(name));
}

/** Names of checks need only differ within their table; given ones anywhere in the statement go first. */
export function checkDef(
  check: NewCheck,
  before: readonly CheckDef[],
  all: readonly NewCheck[],
  table: string,
): CheckDef {
  const taken = (name: string) => before.some((other) => other.name === name);
  if (check.name !== null && taken(check.name)) {
    throw sqlError("42710", `check constraint "${check.name}" already exists`);
  }
  const parts = check.column === null ? [] : [check.column];
  const isGiven = (name: string) => all.some((other) => other.name === name);
  const name = check.name ?? madeUpName(table, parts, "check", (candidate) => taken(candidate) || isGiven(candidate));
  return {
    name,
    sql: check.sql,
    ...(check.notValid && { notValid: true }),
    ...(check.inherited && { inherited: check.inherited }),
    ...(check.local === false && { local: false }),
    ...(check.noInherit && { noInherit: true }),
  };
}

/** PostgreSQL's system columns (sql/bind/system-columns.ts). */
const SYSTEM_COLUMNS = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];

/** Throws 42701 for the name of a system column. */
export function checkColumnName(name: string): void {
  if (SYSTEM_COLUMNS.includes(name)) {
    throw sqlError("42701", `column name "${name}" conflicts with a system column name`);
  }
}

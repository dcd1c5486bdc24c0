/**
 * What definitions say about how PostgreSQL stores and orders columns: checked as it does, and kept for the catalog.
 * Called by bind-column-def.ts, bind-index.ts, copy-table.ts and bind-alter-table.ts.
 */

import type { ColumnDetail, ColumnDetails, DetailChange } from "../../catalog/detail-change.js";
import { missingColumn } from "../../catalog/did-you-mean.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { baseType, categoryOf, displayName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";
import type { AlterTableCommand } from "../parse/ast-definitions.js";
import { typeName } from "./coerce.js";
import { typeFacts } from "./system/builtin-facts.js";
import { typeOid } from "./system/relation-facts.js";

type DetailCommand = Extract<AlterTableCommand, { kind: "detail" }>;

/** Those that order by code point, as text here does, besides the default one. */
const COLLATIONS: ReadonlySet<string> = new Set(["C", "POSIX", "ucs_basic"]);

/** Of COLLATE in a definition; null: the type's own. Throws 42804. */
export function givenCollation(path: readonly string[] | null, type: SqlType, position: number): string | null {
  const name = path?.at(-1);
  if (name === undefined) return null;
  const { element } = baseType(type);
  if (categoryOf(element ?? baseType(type)) !== "S") {
    throw sqlError("42804", `collations are not supported by type ${typeName(type)}`, { position });
  }
  return COLLATIONS.has(name) ? name : null;
}

const COMPRESSION = 1 << 1;
const STORAGE = 1 << 8;

/** Of a column that LIKE copies: its collation always, the rest by INCLUDING. */
export function copiedDetails({ details }: ColumnDef, options: number): { readonly details?: ColumnDetails } {
  if (details === undefined) return {};
  const { collation, storage, compression } = details;
  return {
    details: {
      ...(collation && { collation }),
      ...(storage && (options & STORAGE) !== 0 && { storage }),
      ...(compression && (options & COMPRESSION) !== 0 && { compression }),
    },
  };
}

/** Throws 42703, 22023, 0A000, 42P16. */
export function bindDetail(command: DetailCommand, table: TableDef): DetailChange {
  const kind = "set detail";
  if (command.what === "logged" && isTemporarySchema(table.schema)) {
    throw sqlError("42P16", `cannot change logged status of table "${table.name}" because it is temporary`);
  }
  if (command.what === "cluster" || command.what === "logged") return { ...command, kind };
  const column = table.columns.find(({ name }) => name === command.name);
  if (column === undefined) throw missingColumn(command.name, table, null);
  return { kind, what: "column", name: command.name, detail: detailOf(command, column.type) };
}

const STATISTICS_MAX = 10_000;

function detailOf(command: Extract<DetailCommand, { name: string }>, type: SqlType): ColumnDetail {
  if (command.what === "statistics") {
    const { value } = command;
    if (value < -1) throw sqlError("22023", `statistics target ${value} is too low`);
    return { statistics: value === -1 ? null : Math.min(value, STATISTICS_MAX) };
  }
  const value = command.value.toLowerCase();
  return command.what === "storage" ? storageDetail(value, command.value, type) : compressionDetail(value, type);
}

type Storage = NonNullable<ColumnDetails["storage"]>;

function storageDetail(value: string, written: string, type: SqlType): ColumnDetail {
  if (!["plain", "external", "extended", "main"].includes(value)) {
    throw sqlError("22023", `invalid storage type "${written}"`);
  }
  if (value !== "plain" && !mayBeLong(type)) {
    throw sqlError("0A000", `column data type ${displayName(type)} can only have storage PLAIN`);
  }
  return { storage: value as Storage };
}

function compressionDetail(value: string, type: SqlType): ColumnDetail {
  if (value !== "pglz" && value !== "lz4" && value !== "default")
    throw sqlError("22023", `invalid compression method "${value}"`);
  if (!mayBeLong(type)) throw sqlError("0A000", `column data type ${displayName(type)} does not support compression`);
  return { compression: value === "default" ? null : value };
}

/** Whether PostgreSQL would store values of the type elsewhere, or compressed. */
function mayBeLong(type: SqlType): boolean {
  const base = baseType(type);
  if (base.user?.kind === "enum") return false;
  return base.element !== null || base.fields !== undefined || typeFacts().get(typeOid(base))?.storage !== "p";
}

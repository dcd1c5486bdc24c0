/** LIKE of CREATE TABLE: what of another table's definition goes into the new one. */

import type {
  CreateIndexCommand,
  CreateTableCommand,
  NewCheck,
  NewIndexColumn,
  NewKey,
} from "../../catalog/ddl-command.js";
import { expressionPart } from "../../catalog/relation-names.js";
import { PLAIN_SEQUENCE } from "../../catalog/sequence.js";
import {
  EXPRESSION_COLUMN,
  type IndexColumn,
  type IndexDef,
  type TableDef,
  type VectorIndexDef,
} from "../../catalog/table.js";
import type { RecordField } from "../../values/values.js";
import type { CreateTableStatement } from "../parse/ast-definitions.js";
import type { NameNode } from "../parse/ast-query.js";
import type { ColumnDraft } from "./bind-column-def.js";
import { copiedDetails } from "./bind-details.js";
import { lookUpTable } from "./bind-from.js";
import { findView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import { firstFound, userTypeNamed } from "./names.js";
import { requireView, requireWholeReadable } from "./relation-rights.js";
import { relationOf } from "./scope.js";
import { parseStored } from "./stored-names.js";

/** The grammar's bits of INCLUDING. */
const COMMENTS = 1 << 0;
const CONSTRAINTS = 1 << 2;
const DEFAULTS = 1 << 3;
const GENERATED = 1 << 4;
const IDENTITY = 1 << 5;
const INDEXES = 1 << 6;
const STATISTICS = 1 << 7;

function tableExists(name: NameNode, { env }: Binding): boolean {
  return firstFound(relationOf(name), env, (schema, table) => env.catalog.table(schema, table)) !== null;
}

export interface TableCopy {
  readonly columns: readonly ColumnDraft[];
  readonly primaryKey: NewKey | null;
  readonly uniques: readonly NewKey[];
  readonly checks: readonly NewCheck[];
  readonly indexes: CreateTableCommand["indexes"];
  readonly searchIndexes?: CreateTableCommand["searchIndexes"];
  readonly statistics?: CreateTableCommand["statistics"];
}

/** A view, like a composite type, has nothing but names and types. */
function copyNames(columns: readonly RecordField[]): TableCopy {
  const plain = { notNull: false, defaultSql: null, identity: null, sequence: null };
  return {
    columns: columns.map(({ name, type }) => ({
      column: { name, type, ...plain },
      defaultNode: null,
      generatedNode: null,
    })),
    primaryKey: null,
    uniques: [],
    checks: [],
    indexes: [],
  };
}

/** Names, types and NOT NULL always; the rest by INCLUDING. Indexes get new names. */
export function copyTable({ table: name, options }: CreateTableStatement["like"][number], binding: Binding): TableCopy {
  const view = findView(name, binding);
  if (view !== null) {
    requireView(view, binding);
    return copyNames(view.columns);
  }
  const type = tableExists(name, binding) ? null : userTypeNamed(name.path, binding.env);
  if (type?.user?.kind === "composite") return copyNames(type.user.fields);
  const table = lookUpTable(name, binding);
  requireWholeReadable(table, binding.env);
  const has = (option: number) => (options & option) !== 0;
  const nameOf = (id: number) => table.columns.find((column) => column.id === id)!.name;
  const columns = table.columns.map((column): ColumnDraft => {
    const isIdentity = column.identity !== null;
    const sequence = binding.env.catalog.sequencesOf(table).find(({ ownedBy }) => ownedBy!.columnId === column.id);
    const copied = isIdentity && has(IDENTITY);
    const comment = has(COMMENTS) ? table.comments?.[`column ${column.id}`] : undefined;
    return {
      column: {
        name: column.name,
        type: column.type,
        notNull: column.notNull,
        // The other table's sequence goes on numbering both, as PostgreSQL has it.
        defaultSql: !isIdentity && has(DEFAULTS) ? column.defaultSql : null,
        ...(column.onUpdateSql && has(DEFAULTS) && { onUpdateSql: column.onUpdateSql }),
        identity: copied ? column.identity : null,
        sequence: copied ? { ...PLAIN_SEQUENCE, ...sequence } : null,
        ...(comment !== undefined && { comment }),
        ...copiedDetails(column, options),
      },
      defaultNode: null,
      generatedNode: column.generatedSql && has(GENERATED) ? parseStored(column.generatedSql, table.schema) : null,
    };
  });
  const checks = has(CONSTRAINTS)
    ? table.checks.map(
        (check): NewCheck => ({
          name: check.name,
          sql: check.sql,
          column: null,
          ...(check.noInherit && { noInherit: true }),
        }),
      )
    : [];
  const statistics = has(STATISTICS)
    ? (table.extendedStatistics ?? []).map(({ kinds, keys, columnIds }) => ({
        kinds,
        keys: keys.map(({ columnId, sql }) => (columnId === undefined ? { sql: sql! } : { column: nameOf(columnId) })),
        columns: columnIds.map(nameOf),
      }))
    : [];
  if (!has(INDEXES)) return { columns, primaryKey: null, uniques: [], checks, indexes: [], statistics };
  const keyOf = (ids: readonly number[]): NewKey => ({ name: null, columns: ids.map(nameOf) });
  const uniques = table.indexes.filter((index) => index.constraint === "unique" && !index.exclusion);
  return {
    columns,
    checks,
    statistics,
    primaryKey:
      table.primaryKey === null
        ? null
        : {
            ...keyOf(table.primaryKey),
            ...(table.primaryKeyInclude && { include: table.primaryKeyInclude.map(nameOf) }),
          },
    uniques: uniques.map((index) => ({
      ...keyOf(index.columns.map((column) => column.columnId)),
      ...(index.include && { include: index.include.map(nameOf) }),
      ...(index.nullsNotDistinct && { nullsNotDistinct: true }),
      ...(index.deferrable && { deferrable: index.deferrable }),
    })),
    indexes: table.indexes
      .filter((index) => index.constraint === null || index.exclusion)
      .map((index) => ({
        name: null,
        unique: index.unique,
        ...(index.exclusion && { exclusion: exclusionOf(index) }),
        columns: index.columns.map((column) => copyKey(column, table)),
        where: index.where ?? null,
        include: (index.include ?? []).map(nameOf),
        nullsNotDistinct: index.nullsNotDistinct ?? false,
        ...(index.hash && { hash: true as const }),
        ...(index.storage && { storage: index.storage }),
        notices: [],
      })),
    searchIndexes: (table.searchIndexes ?? []).map(({ method, columnIds, vector, text, declared }) => ({
      method,
      columns: columnIds.map(nameOf),
      ...(declared && {
        declared: {
          ...declared,
          keys: declared.keys.map(({ columnId, ...key }) => {
            return columnId === undefined ? key : { ...key, column: nameOf(columnId) };
          }),
        },
      }),
      ...(vector && { vector: withoutWhere(vector) }),
      ...(vector?.where && { where: { sql: vector.where.sql, columns: vector.where.columnIds.map(nameOf) } }),
      ...(text && { text }),
    })),
  };
}

function copyKey({ columnId, ...key }: IndexColumn, table: TableDef): NewIndexColumn {
  if (columnId === EXPRESSION_COLUMN) return { name: expressionPart(key.expression!.sql), ...key };
  return { name: table.columns.find((column) => column.id === columnId)!.name, ...key };
}

function exclusionOf({ deferrable, operators }: IndexDef): NonNullable<CreateIndexCommand["exclusion"]> {
  return { deferrable: deferrable ?? null, ...(operators && { operators }) };
}

function withoutWhere({ where: _, ...vector }: VectorIndexDef): Omit<VectorIndexDef, "where"> {
  return vector;
}

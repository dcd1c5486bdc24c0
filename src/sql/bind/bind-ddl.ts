/** Definition statements: names to schemas, types to SqlTypes, expressions proven to bind and kept as text. */

import { checkColumnCount } from "../../catalog/column-count.js";
import type {
  CreateIndexCommand,
  CreateSearchIndexCommand,
  CreateTableCommand,
  DdlCommand,
  NewCheck,
  NewForeignKey,
  NewKey,
  NewSearchIndex,
  RelationName,
  TruncateCommand,
} from "../../catalog/ddl-command.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type {
  ConstraintNode,
  CreateIndexStatement,
  CreateTableStatement,
  DropStatement,
  TruncateStatement,
} from "../parse/ast-definitions.js";
import { PLAIN_INDEX, TEXT_INDEX } from "../parse/table-dialect.js";
import { type ColumnDraft, draftColumn, draftTable, finishColumn } from "./bind-column-def.js";
import { bindCheck, bindForeignKey, bindKey } from "./bind-constraint.js";
import { bindDeclaredIndex } from "./bind-declared-index.js";
import { lookUpTable } from "./bind-from.js";
import {
  bindExclusion,
  bindPlainIndex,
  indexColumns,
  indexedColumn,
  indexPredicate,
  isDeclaredIndex,
} from "./bind-index.js";
import { lookUpParents, mergeChecks, mergeColumns } from "./bind-inherits.js";
import { bindPartition, bindPartitionBy, draftPartition } from "./bind-partition.js";
import { descendantsOf } from "./bind-scan.js";
import { bindSearchIndex, bindTextIndex } from "./bind-search-index.js";
import { draftTyped } from "./bind-typed-table.js";
import type { Binding } from "./binding.js";
import { copyTable } from "./copy-table.js";
import { firstFound, isSystemRelation, missingRelation, newName, schemaNamed } from "./names.js";
import { relationOf } from "./scope.js";
import { storageOfIndex, storageOfNew } from "./storage-parameters.js";

/** CREATE TABLE. LIKE copies the other table's definition as it is now. */
export function bindCreateTable(node: CreateTableStatement, binding: Binding): DdlCommand {
  const { position } = node;
  const refuse = (what: string) => sqlError("0A000", `${what} is not supported yet`, { position });
  if (node.onCommit !== "preserve" && node.persistence !== "temporary") {
    throw sqlError("42P16", "ON COMMIT can only be used on temporary tables", { position });
  }
  if (node.partitionBy !== undefined && node.inherits !== undefined) {
    throw sqlError("42P17", "cannot create partitioned table as inheritance child", { position });
  }
  const storage = storageOfNew(node.options, node.partitionBy !== undefined);
  checkColumnCount(node.columns.length);
  const { schema, name } = newName(node.name, binding.env, node.persistence);
  const copies = node.like.map((like) => ({ ...copyTable(like, binding), after: like.after }));
  const drafts: ColumnDraft[] = [];
  for (let i = 0; i <= node.columns.length; i++) {
    for (const copy of copies) if (copy.after === i) drafts.push(...copy.columns);
    if (i < node.columns.length) drafts.push(draftColumn(node.columns[i]!, binding));
  }
  checkColumnCount(drafts.length);
  const names = new Set<string>();
  for (const { column } of drafts) {
    if (!names.has(column.name)) {
      names.add(column.name);
      continue;
    }
    const at = node.columns.findLast((other) => other.name === column.name)?.position ?? position;
    throw sqlError("42701", `column "${column.name}" specified more than once`, { position: at });
  }
  const partition = node.partitionOf === undefined ? null : draftPartition(node.partitionOf, schema, binding);
  const parents = partition?.parents ?? lookUpParents(node.inherits ?? [], schema, binding);
  const typed = node.ofType === undefined ? null : draftTyped(node.ofType, binding);
  const merged = partition ?? mergeColumns(parents, typed?.columns ?? drafts);
  const table = draftTable(schema, name, merged.columns);
  const own = [...node.columns, ...((node.partitionOf ?? node.ofType)?.columns ?? [])].flatMap((column) =>
    column.constraints.map((constraint) => ({ constraint, column: column.name })),
  );
  const all = [...own, ...node.constraints.map((constraint) => ({ constraint, column: null }))];
  const primary: NewKey[] = copies.flatMap((copy) => (copy.primaryKey === null ? [] : [copy.primaryKey]));
  const uniques: NewKey[] = copies.flatMap((copy) => copy.uniques);
  const checks: NewCheck[] = copies.flatMap((copy) => copy.checks);
  const declared = declaredIndexes(node, all, table, binding);
  const exclusions = all.flatMap(({ constraint }) =>
    constraint.kind === "exclude" && !isDeclaredIndex(constraint)
      ? [bindExclusion(constraint, table, node.partitionBy !== undefined, binding)]
      : [],
  );
  const keyed = draftKeys(table, all, primary, uniques);
  const foreignKeys: NewForeignKey[] = [];
  for (const { constraint, column } of all) {
    switch (constraint.kind) {
      case "check":
        // Nothing is there yet that NOT VALID could spare.
        checks.push(bindCheck({ ...constraint, notValid: false }, column, table, binding));
        break;
      case "foreign key":
        foreignKeys.push({ ...bindForeignKey(constraint, column, keyed, binding), notValid: false });
        break;
      case "not null":
        if (column === null) throw refuse("NOT NULL as a table constraint");
    }
  }
  if (node.partitionBy !== undefined && checks.some((check) => check.noInherit)) {
    throw sqlError("42P16", `cannot add NO INHERIT constraint to partitioned table "${name}"`, { position });
  }
  const searchIndexes = [...copies.flatMap((copy) => copy.searchIndexes ?? []), ...declared.search];
  const statistics = copies.flatMap((copy) => copy.statistics ?? []);
  const mergedChecks = mergeChecks(parents, checks, name);
  return {
    kind: "create table",
    schema,
    name,
    ifNotExists: node.ifNotExists,
    ...(node.onCommit !== "preserve" && { onCommit: node.onCommit }),
    columns: merged.columns.map((draft) => finishColumn(draft, table, binding)),
    primaryKey: primary[0] ?? null,
    uniques,
    checks: mergedChecks.checks,
    foreignKeys,
    ...(typed !== null && { ofType: typed.ofType }),
    ...(parents.length > 0 && {
      parents: parents.map(({ id }) => id),
      notices: [...merged.notices, ...mergedChecks.notices],
    }),
    ...(node.partitionBy !== undefined && { partitionKey: bindPartitionBy(node.partitionBy, table, binding) }),
    ...(node.partitionOf !== undefined && {
      partition: bindPartition(node.partitionOf.bound, parents[0]!, binding),
    }),
    indexes: [...copies.flatMap((copy) => copy.indexes), ...exclusions, ...declared.plain],
    ...(searchIndexes.length > 0 && { searchIndexes }),
    ...(statistics.length > 0 && { statistics }),
    ...(storage.length > 0 && { storage }),
    ...(node.persistence === "unlogged" && { unlogged: true }),
    immutable: node.immutable,
  };
}

/**
 * The indexes that other dialects' definitions of tables have: `KEY k (a)`, `FULLTEXT INDEX i (a, b)`. Throws 0A000.
 */
function declaredIndexes(
  { position, partitionBy }: CreateTableStatement,
  all: readonly { readonly constraint: ConstraintNode }[],
  table: TableDef,
  binding: Binding,
): { readonly plain: CreateTableCommand["indexes"]; readonly search: readonly NewSearchIndex[] } {
  const indexes = all.flatMap(({ constraint }) =>
    constraint.kind === "exclude" && isDeclaredIndex(constraint) ? [constraint] : [],
  );
  const search = indexes.filter(({ method }) => method === TEXT_INDEX);
  if (search.length > 0 && partitionBy !== undefined) {
    const message = "an index of the kind text on a partitioned table is not supported yet";
    throw sqlError("0A000", message, { position, hint: "Create one on each partition." });
  }
  return {
    plain: indexes.filter(({ method }) => method === PLAIN_INDEX).map((index) => bindPlainIndex(index, table, binding)),
    search: search.map((index) => bindTextIndex(index, table)),
  };
}

/** Binds the keys into the two lists; the answer is the table with its primary key. Throws 42P16 for a second one. */
function draftKeys(
  table: TableDef,
  all: readonly { readonly constraint: ConstraintNode; readonly column: string | null }[],
  primary: NewKey[],
  uniques: NewKey[],
): TableDef {
  for (const { constraint, column } of all) {
    if (constraint.kind === "unique") uniques.push(bindKey(constraint, column, table));
    if (constraint.kind !== "primary key") continue;
    primary.push(bindKey(constraint, column, table));
    if (primary.length > 1) {
      const message = `multiple primary keys for table "${table.name}" are not allowed`;
      throw sqlError("42P16", message, { position: constraint.position });
    }
  }
  const ids = primary[0]?.columns.map((name) => table.columns.find((column) => column.name === name)!.id);
  return ids === undefined ? table : { ...table, primaryKey: ids };
}

export function bindCreateIndex(
  node: CreateIndexStatement,
  binding: Binding,
): CreateIndexCommand | CreateSearchIndexCommand {
  const { position } = node;
  const search = bindSearchIndex(node, binding);
  if (search !== null) return search;
  const declared = bindDeclaredIndex(node, binding);
  if (declared !== null) return declared;
  const refuse = (what: string) => sqlError("0A000", `${what} is not supported yet`, { position });
  if (node.method !== "btree" && node.method !== "hash") throw refuse(`an index of the kind ${node.method}`);
  const storage = storageOfIndex(node.options);
  const table = lookUpTable(node.table, binding);
  if (node.concurrently && table.partitionKey !== undefined) {
    throw sqlError("0A000", `cannot create index on partitioned table "${table.name}" concurrently`, { position });
  }
  const columns = indexColumns(node.elements, table, position, binding, node.method);
  const where = node.where === null ? null : indexPredicate(node.where, table, binding);
  return {
    kind: "create index",
    name: node.name,
    table: { schema: table.schema, name: table.name, position: node.table.position },
    unique: node.unique,
    ifNotExists: node.ifNotExists,
    columns,
    where,
    include: node.including.map((name) => indexedColumn(name, table, position).name),
    nullsNotDistinct: node.nullsNotDistinct,
    ...(node.table.only && { only: true }),
    ...(node.method === "hash" && { hash: true as const }),
    ...storage,
    notices: node.method === "hash" ? ["a hash index is kept as a btree index"] : [],
  };
}

export function bindDrop(node: DropStatement, binding: Binding): DdlCommand {
  const { ifExists, cascade } = node;
  const { catalog } = binding.env;
  const names = node.names.map((name): RelationName => {
    const relation = relationOf(name);
    const schema =
      relation.schema === null
        ? schemaOf(relation.name, node.object, binding)
        : schemaNamed(relation.schema, binding.env);
    const isMissing = node.object === "table" && catalog.table(schema, relation.name) === null;
    if (isMissing && isSystemRelation(name, binding.env)) throw missingRelation(name, binding.env);
    return { schema, name: relation.name, position: 0 };
  });
  if (node.object === "table") return { kind: "drop table", tables: names, ifExists, cascade };
  for (const { schema, name } of node.concurrently ? names : []) {
    const table = catalog.index(schema, name)?.table;
    if (table?.partitionKey === undefined || isTemporarySchema(schema)) continue;
    throw sqlError("0A000", `cannot drop partitioned index "${name}" concurrently`);
  }
  if (node.object === "index") return { kind: "drop index", indexes: names, ifExists, cascade };
  throw sqlError("0A000", `DROP ${node.object.toUpperCase()} is not supported yet`, { position: node.position });
}

/** The schema of the search path that has the relation, else the one where it would be made. */
export function schemaOf(name: string, object: DropStatement["object"], { env }: Binding): string {
  const { catalog } = env;
  const isKey = (schema: string) =>
    catalog.tables().some((table) => table.schema === schema && table.primaryKeyName === name);
  const hasRelation = (schema: string) =>
    object === "index"
      ? catalog.index(schema, name) !== null || catalog.searchIndex(schema, name) !== null || isKey(schema)
      : catalog.table(schema, name) !== null;
  const found = firstFound({ schema: null, name }, env, (schema) => (hasRelation(schema) ? schema : null));
  return found ?? env.searchPath.find((schema) => schema !== "pg_catalog") ?? "public";
}

export function bindTruncate(node: TruncateStatement, binding: Binding): DdlCommand {
  const tables = node.tables.flatMap((name): TruncateCommand["tables"] => {
    const { position, only } = name;
    const table = lookUpTable(name, binding);
    if (only && table.partitionKey !== undefined) {
      throw sqlError("42809", "cannot truncate only a partitioned table", {
        position,
        hint: "Do not specify the ONLY keyword, or use TRUNCATE ONLY on the partitions directly.",
      });
    }
    const named = ({ schema, name }: TableDef) => ({ schema, name, position });
    const parts = only ? [] : descendantsOf(table, binding.env).map((part) => ({ ...named(part), isPart: true }));
    return [named(table), ...parts];
  });
  const { restartIdentity, cascade } = node;
  return { kind: "truncate", tables, restartIdentity, cascade };
}

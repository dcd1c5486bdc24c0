/**
 * A stored table as a source of rows: a scan, or, of a table from which others inherit, the scans of all of them one
 * after the other. Called by the binders of FROM and of data-modifying statements.
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import { partitionBoundsOf } from "../../catalog/partition-bounds.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ColumnId } from "../../query/expr/expr.js";
import { oidOfId } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { AppendPlan, OutputColumn, Plan, ScanPlan } from "../../query/plan/plan.js";
import { BYTEA, OID } from "../../values/values.js";
import type { AliasNode, NameNode } from "../parse/ast-query.js";
import { bindIndexExprs } from "./bind-index-exprs.js";
import { bindMembership } from "./bind-membership.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { constant } from "./coerce.js";
import type { ScopeColumn, ScopeItem } from "./scope.js";
import { systemColumns } from "./system-columns.js";

export interface FromSource {
  readonly plan: Plan;
  /** All relations in it, with those that only a qualifier reaches. */
  readonly items: readonly ScopeItem[];
}

/** The rows of a table as names refer to it. */
export interface TableRows extends FromSource {
  /** Parallel to the table's columns. */
  readonly columns: readonly OutputColumn[];
  /** The storage key of the row; null unless asked for. */
  readonly rowKey: ColumnId | null;
  /** The tables whose rows these are; empty: the table's own alone. */
  readonly tables: readonly TableDef[];
}

export interface TableReference {
  readonly name: NameNode;
  readonly alias: AliasNode | null;
  /** For UPDATE and DELETE: with the row's storage key as a further column. */
  readonly rowKey: boolean;
  /** False: the key is read, but the row is neither locked nor changed. */
  readonly locks?: false;
}

/** What a statement reads of a table that it names: its rows, and those of its descendants unless it says ONLY. */
export function rowsOf(table: TableDef, reference: TableReference, binding: Binding): TableRows {
  const { name, alias, rowKey } = reference;
  const { position } = name;
  if (table.children === undefined || table.children.length === 0 || name.only) {
    return scanOf(table, alias, rowKey, position, binding);
  }
  const tables =
    table.partitionKey === undefined
      ? [table, ...descendantsOf(table, binding.env)]
      : partitionsOf(table, binding.env.catalog);
  if (tables.length === 0) return scanOf(table, alias, rowKey, position, binding);
  return appendOf(table, tables, alias, rowKey, position, binding);
}

/** The partitions that store a partitioned table's rows, in the order of their bounds. */
function partitionsOf(table: TableDef, catalog: CatalogView): TableDef[] {
  const { inOrder } = partitionBoundsOf(table, (id) => catalog.tableById(id));
  return inOrder.flatMap((id) => {
    const partition = catalog.tableById(id)!;
    return partition.partitionKey === undefined ? [partition] : partitionsOf(partition, catalog);
  });
}

/** The tables below one, breadth first, each once; temporary ones of other sessions are not among them. */
export function descendantsOf(table: TableDef, { catalog, temporarySchema }: BindEnvironment): TableDef[] {
  const seen = new Set([table.id]);
  const found: TableDef[] = [];
  const queue = [table];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    for (const id of next.children ?? []) {
      if (seen.has(id)) continue;
      seen.add(id);
      const child = catalog.tableById(id)!;
      if (isTemporarySchema(child.schema) && child.schema !== temporarySchema) continue;
      found.push(child);
      queue.push(child);
    }
  }
  return found;
}

/** Per column of a table, the id that the column of its name has in one that inherits from it. */
export function columnsIn(heir: TableDef, table: TableDef, { catalog }: Pick<BindEnvironment, "catalog">): number[] {
  if (heir.id === table.id) return table.columns.map(({ id }) => id);
  // A view may know the table's columns under older names.
  const named = catalog.tableById(table.id)!;
  return table.columns.map(({ id }) => {
    const { name } = named.columns.find((column) => column.id === id)!;
    return heir.columns.find((column) => column.name === name)!.id;
  });
}

function appendOf(
  table: TableDef,
  tables: readonly TableDef[],
  alias: AliasNode | null,
  rowKey: boolean,
  position: number,
  binding: Binding,
): TableRows {
  const called = alias?.name ?? table.name;
  const inputs = tables.map((member) => {
    const ids = columnsIn(member, table, binding.env);
    const scan = plainScan(member, ids, alias?.name ?? member.name, rowKey, binding);
    if (member.partitionBound === undefined) return scan;
    const row = inTableOrder(member, ids, scan.columns.slice(0, ids.length), binding);
    return Object.freeze({ ...scan, membership: bindMembership(member, row, binding) });
  });
  const columns = table.columns.map(({ name, type }, i) =>
    binding.newColumn(
      name,
      type,
      inputs.some((input) => input.columns[i]!.nullable),
    ),
  );
  const key = rowKey ? binding.newColumn("row key", BYTEA, false) : null;
  const tableOid = binding.newColumn("tableoid", OID, false);
  const plan: AppendPlan = Object.freeze({
    kind: "append",
    table,
    alias: called,
    inputs,
    oids: tables.map(({ id }) => oidOfId(id)),
    tableOid: tableOid.id,
    columns: [...columns, ...(key === null ? [] : [key]), tableOid],
  });
  const of = itemFor(table, alias, columns, key?.id ?? null, position, binding);
  const item = { ...of, tableOid: columnExpr(tableOid) };
  return { plan, items: [item], columns, rowKey: key?.id ?? null, tables };
}

/** A scan of all columns of this one table. `rowKey`: with the row's storage key as the last column. */
export function scanOf(
  table: TableDef,
  alias: AliasNode | null,
  rowKey: boolean,
  position: number,
  binding: Binding,
): TableRows & { readonly plan: ScanPlan } {
  const ids = table.columns.map((column) => column.id);
  const plan = plainScan(table, ids, alias?.name ?? table.name, rowKey, binding);
  const columns = rowKey ? plan.columns.slice(0, -1) : plan.columns;
  const item = itemFor(table, alias, columns, plan.rowKey, position, binding);
  return { plan, items: [item], columns, rowKey: plan.rowKey, tables: [] };
}

function plainScan(
  table: TableDef,
  source: readonly number[],
  alias: string,
  rowKey: boolean,
  binding: Binding,
): ScanPlan {
  const columns = source.map((id) => {
    const { name, type, notNull } = table.columns.find((column) => column.id === id)!;
    return binding.newColumn(name, type, !notNull && !table.primaryKey?.includes(id));
  });
  const key = rowKey ? binding.newColumn("row key", BYTEA, false) : null;
  // A text that is kept may know the table under older names, and has not all of its columns.
  const now = binding.env.catalog.tableById(table.id) ?? table;
  const indexExprs = bindIndexExprs(now, inTableOrder(now, source, columns, binding), binding);
  return Object.freeze({
    kind: "scan",
    table,
    alias,
    source,
    filter: null,
    reverse: false,
    rowKey: key?.id ?? null,
    ...(indexExprs !== null && { indexExprs }),
    columns: key === null ? columns : [...columns, key],
  });
}

/** Parallel to the table's columns, by their names; those that the scan does not have, nothing gives. */
function inTableOrder(
  table: TableDef,
  source: readonly number[],
  columns: readonly OutputColumn[],
  binding: Binding,
): readonly OutputColumn[] {
  const isColumn = (id: number, i: number) => {
    const column = table.columns[i]!;
    return id === column.id && columns[i]!.name === column.name;
  };
  if (source.length === table.columns.length && source.every(isColumn)) return columns;
  return table.columns.map(({ id, name, type }) => {
    const column = columns[source.indexOf(id)];
    return column === undefined ? binding.newColumn(name, type, true) : { ...column, name };
  });
}

function itemFor(
  table: TableDef,
  alias: AliasNode | null,
  columns: readonly OutputColumn[],
  rowKey: ColumnId | null,
  position: number,
  { env }: Binding,
): ScopeItem {
  const name = alias?.name ?? table.name;
  return {
    name,
    schema: alias === null ? table.schema : null,
    columns: renamed(columns, alias, position),
    hidden: systemColumns({ table, name, columns: columns.map(columnExpr), env, rowKey: () => rowKey }),
    table,
    tableOid: constant(OID, oidOfId(table.id)),
    unqualified: true,
    qualifiable: true,
  };
}

/** Columns under the names that an alias list gives to the first of them. Throws 42P10. */
export function renamed(columns: readonly OutputColumn[], alias: AliasNode | null, position: number): ScopeColumn[] {
  const names = alias?.columns ?? [];
  if (names.length > columns.length) {
    const message = `table "${alias!.name}" has ${columns.length} columns available but ${names.length} columns specified`;
    throw sqlError("42P10", message, { position });
  }
  return columns.map((column, i) => ({ name: names[i] ?? column.name, expr: columnExpr(column) }));
}

/** SHOW TABLES, SHOW INDEXES, DESCRIBE and the like, as queries over rows that the catalog gives at once. */
import { isListed } from "../../catalog/graph.js";
import { quotedIdentifier } from "../../catalog/relation-names.js";
import type { TableDef } from "../../catalog/table.js";
import type { ViewDef } from "../../catalog/view.js";
import { SHOW_MODELS } from "../../query/expr/functions/models.js";
import { resolveOperator } from "../../query/expr/resolve.js";
import { shapeColumns } from "../../query/expr/table-function.js";
import { displayName } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { BOOL, type SqlType, TEXT, type Value } from "../../values/values.js";
import type { ListStatement } from "../parse/ast.js";
import { findSystemRows, lookUpTable } from "./bind-from.js";
import { bindSummary } from "./bind-summary.js";
import { findView } from "./bind-view.js";
import type { Binding, Source } from "./binding.js";
import { constant } from "./coerce.js";

interface Listing {
  readonly columns: readonly (readonly [name: string, type: SqlType])[];
  readonly rows: readonly (readonly Value[])[];
}

export function bindList(node: ListStatement, binding: Binding): Source {
  if (node.what === "summary") return summary(node, binding);
  const { plan, columns } =
    node.what === "models" ? models(binding) : listed(listing(node, node.what, binding), binding);
  if (node.like === null) return { plan, columns };
  const { fn } = resolveOperator("~~", TEXT, TEXT);
  const args = [columnExpr(columns[0]!), constant(TEXT, node.like)];
  const predicate = Object.freeze({ kind: "call", type: BOOL, fn, args } as const);
  return { plan: Object.freeze({ kind: "filter", input: plan, predicate, columns }), columns };
}

function summary({ table, query }: ListStatement, binding: Binding): Source {
  if (table === null) return bindSummary(`(${query!})`, binding);
  if (findView(table, binding) === null && findSystemRows(table, binding) === null) lookUpTable(table, binding);
  return bindSummary(table.path.map(quotedIdentifier).join("."), binding);
}

/** Not known before the statement runs. */
function models(binding: Binding): Source {
  const { name, returns } = SHOW_MODELS;
  const columns = shapeColumns(returns, name).map((column) => binding.newColumn(column.name, column.type, true));
  const calls = [{ fn: SHOW_MODELS, args: [], shape: returns }];
  return { plan: Object.freeze({ kind: "tablefunction", alias: name, calls, ordinality: false, columns }), columns };
}

function listed({ columns, rows }: Listing, binding: Binding): Source {
  const outputs = columns.map(([name, type], i) =>
    binding.newColumn(
      name,
      type,
      rows.some((row) => row[i] === null),
    ),
  );
  const values: Plan = Object.freeze({
    kind: "values",
    rows: rows.map((row) => row.map((value, i) => constant(columns[i]![1], value))),
    columns: outputs,
  });
  return { plan: values, columns: outputs };
}

function listing(
  node: ListStatement,
  what: Exclude<ListStatement["what"], "models" | "summary">,
  binding: Binding,
): Listing {
  const { catalog } = binding.env;
  switch (what) {
    case "tables":
      return {
        columns: [
          ["table_name", TEXT],
          ["table_schema", TEXT],
        ],
        rows: [...catalog.tables(), ...catalog.views()].filter(isListed).map(({ name, schema }) => [name, schema]),
      };
    case "columns":
      return describe(findView(node.table!, binding) ?? lookUpTable(node.table!, binding));
    case "indexes":
      return indexes(node.table === null ? catalog.tables().filter(isListed) : [lookUpTable(node.table, binding)]);
    case "databases":
      return { columns: [["database_name", TEXT]], rows: [["tessera"]] };
  }
}

function describe(relation: TableDef | ViewDef): Listing {
  const columns = [
    ["column_name", TEXT],
    ["data_type", TEXT],
    ["nullable", BOOL],
    ["default_value", TEXT],
    ["is_primary_key", BOOL],
    ["is_unique", BOOL],
  ] as const;
  if ("query" in relation) {
    const rows = relation.columns.map(({ name, type }) => [name, displayName(type), true, null, false, false]);
    return { columns, rows };
  }
  const table = relation;
  const alone = (id: number) =>
    table.indexes.some((index) => index.unique && index.columns.length === 1 && index.columns[0]!.columnId === id);
  const rows = table.columns.map((column) => {
    const isKey = table.primaryKey?.includes(column.id) ?? false;
    return [
      column.name,
      displayName(column.type),
      !column.notNull && !isKey,
      column.defaultSql,
      isKey,
      alone(column.id) || (isKey && table.primaryKey!.length === 1),
    ];
  });
  return { columns, rows };
}

function indexes(tables: readonly TableDef[]): Listing {
  const columns = [
    ["index_name", TEXT],
    ["table_name", TEXT],
    ["column_names", TEXT],
    ["is_unique", BOOL],
    ["is_primary", BOOL],
    // The same as the routes of schemas spell it.
    ["name", TEXT],
    ["table", TEXT],
    ["columns", TEXT],
    ["unique", BOOL],
    ["primary", BOOL],
    ["index_type", TEXT],
  ] as const;
  const rows = tables.flatMap((table) => {
    const names = (ids: readonly number[]) =>
      ids.map((id) => table.columns.find((column) => column.id === id)!.name).join(", ");
    const primary = table.primaryKey && [
      table.primaryKeyName,
      table.name,
      names(table.primaryKey),
      true,
      true,
      "btree",
    ];
    const others = table.indexes.map((index) => [
      index.name,
      table.name,
      index.columns.map(({ columnId, expression }) => expression?.sql ?? names([columnId])).join(", "),
      index.unique,
      false,
      index.kind,
    ]);
    const search = (table.searchIndexes ?? []).map((index) => [
      index.name,
      table.name,
      names(index.columnIds),
      false,
      false,
      index.method,
    ]);
    const all = [...(primary === null ? [] : [primary]), ...others, ...search];
    return all.map((row) => [...row.slice(0, 5), ...row]);
  });
  return { columns, rows };
}

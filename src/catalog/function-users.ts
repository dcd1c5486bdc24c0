/**
 * Finds what keeps expressions that call a function: parts of tables, domains and functions. Their text names it by its
 * id. Texts from before that name it as the statement did; of several functions of one name such a text does not tell
 * which is meant, and then none counts as called. Called by function-ddl.ts.
 */
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { DdlOutcome } from "./ddl-outcome.js";
import { withStatistics } from "./extended-statistics.js";
import type { FunctionDef } from "./function.js";
import { referencesIn, refersTo, withoutLiterals } from "./object-reference.js";
import type { CheckDef, ColumnDef, ExtendedStatisticsDef, IndexDef, SearchIndexDef, TableDef } from "./table.js";
import type { DomainDef } from "./type.js";
import type { ViewDef } from "./view.js";

export type Calls = (sql: string | null | undefined) => boolean;

/** Whether a text calls the function. `shadowed`: the system has one of its name, which an older text may mean. */
export function callsOf(fn: FunctionDef, view: CatalogView, shadowed: boolean): Calls {
  const refers = refersTo(fn.id);
  const isNamed = shadowed || view.functions().filter(({ name }) => name === fn.name).length > 1 ? null : nameOf(fn);
  return (sql) => {
    if (typeof sql !== "string") return false;
    return refers(sql) || (isNamed !== null && referencesIn(sql).length === 0 && isNamed.test(withoutLiterals(sql)));
  };
}

function nameOf({ name }: FunctionDef): RegExp {
  const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w$])(?:"${quoted}"|${quoted})\\s*\\(`, "i");
}

export interface TableUsers {
  readonly table: TableDef;
  readonly defaults: readonly ColumnDef[];
  readonly generated: readonly ColumnDef[];
  readonly checks: readonly CheckDef[];
  readonly indexes: readonly IndexDef[];
  readonly searches: readonly SearchIndexDef[];
  readonly statistics: readonly ExtendedStatisticsDef[];
  /** Its partition key calls the function. */
  readonly partitions: boolean;
}

export function tablesCalling(view: CatalogView, calls: Calls): TableUsers[] {
  return view
    .tables()
    .map((table) => ({
      table,
      defaults: table.columns.filter(({ defaultSql, onUpdateSql }) => calls(defaultSql) || calls(onUpdateSql)),
      generated: table.columns.filter(({ generatedSql }) => calls(generatedSql)),
      checks: table.checks.filter(({ sql }) => calls(sql)),
      indexes: table.indexes.filter(
        ({ where, columns }) => calls(where) || columns.some(({ expression }) => calls(expression?.sql)),
      ),
      searches: (table.searchIndexes ?? []).filter(
        ({ vector, declared }) =>
          calls(vector?.where?.sql) || calls(declared?.where) || declared?.keys.some(({ sql }) => calls(sql)),
      ),
      statistics: (table.extendedStatistics ?? []).filter(({ keys }) => keys.some(({ sql }) => calls(sql))),
      partitions: table.partitionKey?.keys.some(({ expression }) => calls(expression?.sql)) ?? false,
    }))
    .filter(({ table: _, ...parts }) =>
      Object.values(parts).some((list) => list === true || (list !== false && list.length > 0)),
    );
}

/** The parts of a table that call the function, for messages. */
export function describeTable(users: TableUsers): string[] {
  const { name: table } = users.table;
  return [
    ...users.defaults.map(({ name }) => `default value for column ${name} of table ${table}`),
    ...users.generated.map(({ name }) => `column ${name} of table ${table}`),
    ...users.checks.map(({ name }) => `constraint ${name} on table ${table}`),
    ...[...users.indexes, ...users.searches].map(({ name }) => `index ${name}`),
    ...users.statistics.map(({ name }) => `statistics object ${name}`),
    ...(users.partitions ? [`table ${table}`] : []),
  ];
}

/** DROP FUNCTION … CASCADE: takes away what calls it. Whole columns and tables go later. */
export function dropTableUsers(editor: CatalogEditor, users: TableUsers): DdlOutcome["clearedIndexes"] {
  const { defaults, generated, checks, indexes, searches, statistics, partitions } = users;
  if (partitions) editor.condemned.push({ kind: "table", tableId: users.table.id });
  for (const { id } of generated) editor.condemned.push({ kind: "column", tableId: users.table.id, columnId: id });
  const table = editor.view.tableById(users.table.id);
  if (table === null) return [];
  const has = <T extends { readonly name: string }>(list: readonly T[], { name }: { readonly name: string }) =>
    list.some((other) => other.name === name);
  const { searchIndexes = [], extendedStatistics = [] } = table;
  const after: TableDef = {
    ...table,
    columns: table.columns.map((column) => (has(defaults, column) ? withoutDefault(column) : column)),
    checks: table.checks.filter((check) => !has(checks, check)),
    indexes: table.indexes.filter((index) => !has(indexes, index)),
    ...(searches.length > 0 && { searchIndexes: searchIndexes.filter((index) => !has(searches, index)) }),
  };
  const left = extendedStatistics.filter(({ id }) => !statistics.some((other) => other.id === id));
  editor.replaceTable(withStatistics(after, left));
  return indexes.map((index) => ({ table, index }));
}

function withoutDefault(column: ColumnDef): ColumnDef {
  const { onUpdateSql: _, ...rest } = column;
  return Object.freeze({ ...rest, defaultSql: null });
}

export interface DomainUsers {
  readonly domain: DomainDef;
  /** Its DEFAULT calls the function. */
  readonly isDefault: boolean;
  readonly checks: readonly CheckDef[];
}

export function domainsCalling(view: CatalogView, calls: Calls): DomainUsers[] {
  return view.types().flatMap((domain) => {
    if (domain.kind !== "domain") return [];
    const checks = domain.checks.filter(({ sql }) => calls(sql));
    const isDefault = calls(domain.defaultSql);
    return isDefault || checks.length > 0 ? [{ domain, isDefault, checks }] : [];
  });
}

export function describeDomain({ domain, isDefault, checks }: DomainUsers): string[] {
  return [...(isDefault ? [`type ${domain.name}`] : []), ...checks.map(({ name }) => `constraint ${name}`)];
}

/** A domain whose default calls the function goes as a whole, as in PostgreSQL. */
export function dropDomainUsers(editor: CatalogEditor, { domain, isDefault, checks }: DomainUsers): void {
  if (isDefault) editor.condemned.push({ kind: "type", typeId: domain.id });
  editor.putType(Object.freeze({ ...domain, checks: domain.checks.filter((check) => !checks.includes(check)) }));
}

/** Functions that call it in defaults of parameters, or in a body whose names are kept. */
export function functionsCalling(view: CatalogView, calls: Calls, { id }: { readonly id: number }): FunctionDef[] {
  const asks = refersTo(id);
  return view
    .functions()
    .filter(
      ({ parameters, body, relations }) =>
        parameters.some(({ defaultSql }) => calls(defaultSql)) || (relations !== undefined && asks(body)),
    );
}

/** Views whose columns have defaults that call it, with those columns. */
export function viewDefaultsCalling(view: CatalogView, calls: Calls): { view: ViewDef; columns: string[] }[] {
  return view.views().flatMap((each) => {
    const columns = each.columns.flatMap(({ name, defaultSql }) => (calls(defaultSql) ? [name] : []));
    return columns.length > 0 ? [{ view: each, columns }] : [];
  });
}

/** `function f`, for messages. */
export function describeFunction({ kind, name }: FunctionDef): string {
  return `${kind} ${name}`;
}

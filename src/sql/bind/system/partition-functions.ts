/**
 * What pg_catalog shows of partitions: keys and bounds as SQL, the functions of chapter 9.26 that walk a partition
 * tree, and satisfies_hash_partition. Used by system-functions.ts and pg-relations.ts.
 */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import { partitionKeyTypes } from "../../../catalog/partition-bounds.js";
import { partitionConditions } from "../../../catalog/partition-constraint.js";
import { partitionHash } from "../../../catalog/partition-hash.js";
import type { PartitionRangeDatum, TableDef } from "../../../catalog/table.js";
import { sqlError } from "../../../protocol/errors.js";
import type { EvalContext, ScalarFunction } from "../../../query/expr/expr.js";
import { registerTableFunction } from "../../../query/expr/functions/table-registry.js";
import { recordRows, type TableFunction, valueRows } from "../../../query/expr/table-function.js";
import { oidOfId } from "../../../query/expr/types.js";
import { REGCLASS } from "../../../values/catalog-types.js";
import { BOOL, INT4, OID, recordOf, type SqlType, type Value } from "../../../values/values.js";
import { partitionKeyText } from "../partition-key-text.js";
import { writeConstant } from "../write-constant.js";
import { catalogIndex } from "./catalog-index.js";
import type { IndexFacts } from "./relation-facts.js";
import { type SystemView, systemView } from "./system-view.js";

const byOid = (catalog: CatalogView, oid: number) => catalog.tables().find(({ id }) => oidOfId(id) === oid) ?? null;

/** pg_get_partkeydef; null for a table without partitions. */
export function partitionKeyDefinition({ catalog }: SystemView, oid: number): string | null {
  const table = byOid(catalog, oid);
  if (table?.partitionKey === undefined) return null;
  return `${table.partitionKey.strategy.toUpperCase()} (${partitionKeyText(table)})`;
}

/** pg_get_partition_constraintdef; null for what is no partition, and where any row will do. */
export function partitionConstraint({ catalog }: SystemView, oid: number): string | null {
  const table = byOid(catalog, oid);
  const conditions = table === null ? [] : partitionConditions(table, catalog, writeConstant);
  if (conditions.length < 2) return conditions[0] ?? null;
  return `(${conditions.join(" AND ")})`;
}

/** pg_class.relpartbound as pg_get_expr shows it. */
export function boundText(table: TableDef, catalog: CatalogView): string | null {
  const bound = table.partitionBound;
  if (bound === undefined) return null;
  if (bound.kind === "default") return "DEFAULT";
  if (bound.kind === "hash") return `FOR VALUES WITH (modulus ${bound.modulus}, remainder ${bound.remainder})`;
  const types = partitionKeyTypes(catalog.tableById(table.parents![0]!)!);
  if (bound.kind === "list") {
    const values = bound.values.map((value) => (value === null ? "NULL" : plainConstant(types[0]!, value)));
    return `FOR VALUES IN (${values.join(", ")})`;
  }
  const side = (datums: readonly PartitionRangeDatum[]) =>
    datums.map((datum, i) => (typeof datum === "string" ? datum.toUpperCase() : plainConstant(types[i]!, datum.value)));
  return `FOR VALUES FROM (${side(bound.from).join(", ")}) TO (${side(bound.to).join(", ")})`;
}

/** Without its type, as pg_dump would write it (ruleutils.c, get_const_expr). */
function plainConstant(type: SqlType, text: string): string {
  if (/^(?:int2|int4|int8|oid|float4|float8|numeric)$/.test(type.name) && /^-?[\d.]/.test(text)) return text;
  if (type.name === "bool") return text.startsWith("t") ? "true" : "false";
  return `'${text.replaceAll("'", "''")}'`;
}

/** The table and all partitions below it, level by level. */
function* treeOf(root: TableDef, catalog: CatalogView): Iterable<{ table: TableDef; level: number }> {
  let level = 0;
  for (let tables = [root]; tables.length > 0; level++) {
    for (const table of tables) yield { table, level };
    tables = tables.flatMap((table) =>
      table.partitionKey === undefined ? [] : (table.children ?? []).map((id) => catalog.tableById(id)!),
    );
  }
}

function parentOf(table: TableDef, catalog: CatalogView): TableDef | null {
  return table.partitionBound === undefined ? null : catalog.tableById(table.parents![0]!);
}

const inTree = (table: TableDef | null): table is TableDef =>
  table !== null && (table.partitionKey !== undefined || table.partitionBound !== undefined);

/** An index on such a table; null: something else. */
function indexInTree(catalog: CatalogView, oid: number): IndexFacts | null {
  const index = catalogIndex(catalog).indexes.get(oid);
  return index !== undefined && inTree(index.table) ? index : null;
}

/** pg_partition_root: the topmost table or index; null outside a partition tree. */
export function partitionRoot(view: SystemView, oid: number): number | null {
  return ancestors(view, oid).at(-1) ?? null;
}

const TREE = recordOf([
  { name: "relid", type: REGCLASS },
  { name: "parentrelid", type: REGCLASS },
  { name: "isleaf", type: BOOL },
  { name: "level", type: INT4 },
]);

function treeRows({ catalog }: SystemView, oid: number): Value[][] {
  const root = byOid(catalog, oid);
  if (root === null) return indexTreeRows(catalog, oid);
  if (!inTree(root)) return [];
  return Array.from(treeOf(root, catalog), ({ table, level }) => {
    const parent = parentOf(table, catalog);
    return [oidOfId(table.id), parent && oidOfId(parent.id), table.partitionKey === undefined, level];
  });
}

function indexTreeRows(catalog: CatalogView, oid: number): Value[][] {
  const root = indexInTree(catalog, oid);
  const rows: Value[][] = [];
  let level = 0;
  for (let indexes = root === null ? [] : [root]; indexes.length > 0; level++) {
    for (const { oid: own, parent, table } of indexes)
      rows.push([own, parent, table.partitionKey === undefined, level]);
    const above = new Set(indexes.map((index) => index.oid));
    indexes = [...catalogIndex(catalog).indexes.values()].filter(({ parent }) => parent !== null && above.has(parent));
  }
  return rows;
}

/** Itself, and what it is a part of. */
function ancestors({ catalog }: SystemView, oid: number): number[] {
  const found: number[] = [];
  const own = byOid(catalog, oid);
  if (own === null) {
    for (let at: number | null = oid; at !== null; ) {
      const index: IndexFacts | null = indexInTree(catalog, at);
      if (index !== null) found.push(index.oid);
      at = index?.parent ?? null;
    }
    return found;
  }
  for (let table = inTree(own) ? own : null; table !== null; table = parentOf(table, catalog)) {
    found.push(oidOfId(table.id));
  }
  return found;
}

const PARTITION_FUNCTIONS: readonly TableFunction[] = [
  {
    name: "pg_partition_tree",
    args: [REGCLASS],
    strict: true,
    returns: TREE,
    open: (context, [oid]) => recordRows(treeRows(systemView(context), oid as number)),
  },
  {
    name: "pg_partition_ancestors",
    args: [REGCLASS],
    strict: true,
    returns: REGCLASS,
    column: "relid",
    open: (context, [oid]) => valueRows(ancestors(systemView(context), oid as number)),
  },
];

for (const fn of PARTITION_FUNCTIONS) registerTableFunction(Object.freeze(fn));

/** `satisfies_hash_partition(table, modulus, remainder, keys …)`, for keys of these types. */
export function hashPartitionTest(keys: readonly SqlType[]): ScalarFunction {
  return Object.freeze({
    name: "satisfies_hash_partition",
    args: [OID, INT4, INT4, ...keys],
    returns: BOOL,
    volatility: "stable",
    strict: false,
    needsContext: true,
    apply: (
      context: EvalContext,
      oid: number | null,
      modulus: number | null,
      remainder: number | null,
      ...values: Value[]
    ) => {
      if (oid === null || modulus === null || remainder === null) return false;
      checkHashArguments(systemView(context), oid, modulus, remainder, keys);
      return partitionHash(keys, values, modulus) === remainder;
    },
  });
}

function checkHashArguments(
  { catalog }: SystemView,
  oid: number,
  modulus: number,
  remainder: number,
  keys: readonly SqlType[],
): void {
  const table = byOid(catalog, oid);
  if (table === null) throw sqlError("22023", `could not open relation with OID ${oid}`);
  if (table.partitionKey?.strategy !== "hash") {
    throw sqlError("22023", `"${table.name}" is not a hash partitioned table`);
  }
  if (modulus <= 0) {
    throw sqlError("22023", "modulus for hash partition must be an integer value greater than zero");
  }
  if (remainder < 0) {
    throw sqlError("22023", "remainder for hash partition must be an integer value greater than or equal to zero");
  }
  if (remainder >= modulus) throw sqlError("22023", "remainder for hash partition must be less than modulus");
  const types = partitionKeyTypes(table);
  if (types.length !== keys.length) {
    const message = `number of partitioning columns (${types.length}) does not match number of partition keys provided (${keys.length})`;
    throw sqlError("22023", message);
  }
  const wrong = types.findIndex((type, i) => type.name !== keys[i]!.name);
  if (wrong < 0) return;
  const message = `column ${wrong + 1} of the partition key has type ${types[wrong]!.name}, but supplied value is of type ${keys[wrong]!.name}`;
  throw sqlError("22023", message);
}

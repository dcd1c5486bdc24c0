/**
 * What the rows of a partition have in common, as SQL text over the row: for ATTACH, for a DEFAULT partition when
 * another one comes, and for pg_get_partition_constraintdef. After get_qual_for_list, get_qual_for_range and
 * get_qual_for_hash of PostgreSQL (src/backend/partitioning/partbounds.c).
 */
import type { SqlType } from "../values/values.js";
import type { CatalogView } from "./catalog-view.js";
import { quotedTable } from "./ddl-outcome.js";
import { partitionKeyTypes } from "./partition-bounds.js";
import { quotedIdentifier } from "./relation-names.js";
import type { PartitionBoundDef, PartitionRangeDatum, TableDef } from "./table.js";

/** Writes a constant of a type in its text form. */
export type WriteConstant = (type: SqlType, text: string) => string;

interface Key {
  /** The column or expression. */
  readonly sql: string;
  readonly type: SqlType;
}

/** Of the partition in its own table and in those above; empty: any row will do. */
export function partitionConditions(table: TableDef, catalog: CatalogView, write: WriteConstant): string[] {
  const conditions: string[] = [];
  for (let part = table; part.partitionBound !== undefined; ) {
    const parent = catalog.tableById(part.parents![0]!)!;
    const siblings = (parent.children ?? []).filter((id) => id !== part.id).map((id) => catalog.tableById(id)!);
    conditions.unshift(...boundConditions(parent, part.partitionBound, siblings, write));
    part = parent;
  }
  return conditions;
}

/** Of one bound of a partitioned table; `siblings` are its other partitions, of which DEFAULT takes the rest. */
export function boundConditions(
  parent: TableDef,
  bound: PartitionBoundDef,
  siblings: readonly TableDef[],
  write: WriteConstant,
): string[] {
  const keys = keysOf(parent);
  switch (bound.kind) {
    case "list":
      return listConditions(keys[0]!, bound.values, write);
    case "range":
      return rangeConditions(keys, bound.from, bound.to, write);
    case "hash": {
      const args = [`'${quotedTable(parent).replaceAll("'", "''")}'::regclass`, bound.modulus, bound.remainder];
      return [`satisfies_hash_partition(${[...args, ...keys.map(({ sql }) => sql)].join(", ")})`];
    }
    case "default":
      return defaultConditions(parent, siblings, write);
  }
}

function keysOf(table: TableDef): Key[] {
  const types = partitionKeyTypes(table);
  return table.partitionKey!.keys.map(({ columnId, expression }, i) => {
    const name = table.columns.find(({ id }) => id === columnId)?.name;
    return { sql: expression === undefined ? quotedIdentifier(name!) : operand(expression.sql), type: types[i]! };
  });
}

/** Calls, and what stands in parentheses already, need none. */
function operand(sql: string): string {
  return /^(?:[\w.]+)?\(/.test(sql) ? sql : `(${sql})`;
}

function listConditions({ sql, type }: Key, values: readonly (string | null)[], write: WriteConstant): string[] {
  const texts = values.filter((value) => value !== null).map((value) => write(type, value));
  const hasNull = texts.length < values.length;
  const some = texts.length === 1 ? `(${sql} = ${texts[0]})` : `(${sql} = ANY (ARRAY[${texts.join(", ")}]))`;
  if (!hasNull) return [`(${sql} IS NOT NULL)`, some];
  return [texts.length === 0 ? `(${sql} IS NULL)` : `((${sql} IS NULL) OR ${some})`];
}

/** All parts are there; the leading ones at which both bounds are equal; then from the lower, up to the upper. */
function rangeConditions(
  keys: readonly Key[],
  from: readonly PartitionRangeDatum[],
  to: readonly PartitionRangeDatum[],
  write: WriteConstant,
): string[] {
  const conditions = keys.map(({ sql }) => `(${sql} IS NOT NULL)`);
  let first = 0;
  for (; first < keys.length; first++) {
    const [lower, upper] = [from[first]!, to[first]!];
    // The last part is never equal at both ends, else the range were empty.
    if (typeof lower === "string" || typeof upper === "string" || lower.value !== upper.value) break;
    if (first === keys.length - 1) break;
    conditions.push(`(${keys[first]!.sql} = ${write(keys[first]!.type, lower.value)})`);
  }
  const side = (datums: readonly PartitionRangeDatum[], operator: "<" | ">", last: string) => {
    const open = operator === ">" ? "minvalue" : "maxvalue";
    const terms: string[] = [];
    const equal: string[] = [];
    for (let i = first; i < keys.length; i++) {
      const datum = datums[i]!;
      // An open end asks for nothing.
      if (typeof datum === "string") break;
      const { sql, type } = keys[i]!;
      const value = write(type, datum.value);
      const next = datums[i + 1];
      const how = next === open ? `${operator}=` : next === undefined ? last : operator;
      terms.push(andOf([...equal, `(${sql} ${how} ${value})`]));
      if (typeof next === "string") break;
      equal.push(`(${sql} = ${value})`);
    }
    return terms.length === 0 ? [] : [terms.length === 1 ? terms[0]! : `(${terms.join(" OR ")})`];
  };
  return [...conditions, ...side(from, ">", ">="), ...side(to, "<", "<")];
}

function andOf(conditions: readonly string[]): string {
  return conditions.length === 1 ? conditions[0]! : `(${conditions.join(" AND ")})`;
}

function defaultConditions(parent: TableDef, siblings: readonly TableDef[], write: WriteConstant): string[] {
  const bounds = siblings.map((sibling) => sibling.partitionBound!);
  if (bounds.length === 0) return [];
  const [key] = keysOf(parent);
  if (parent.partitionKey!.strategy === "list") {
    const values = bounds.flatMap((bound) => (bound.kind === "list" ? bound.values : []));
    return [`(NOT ${andOf(listConditions(key!, values, write))})`];
  }
  const keys = keysOf(parent);
  const ranges = bounds.flatMap((bound) => {
    if (bound.kind !== "range") return [];
    return [andOf(rangeConditions(keys, bound.from, bound.to, write).slice(keys.length))];
  });
  const present = keys.map(({ sql }) => `(${sql} IS NOT NULL)`);
  const covered = ranges.includes("") ? [] : [ranges.length === 1 ? ranges[0]! : `(${ranges.join(" OR ")})`];
  return [`(NOT ${andOf([...present, ...covered])})`];
}

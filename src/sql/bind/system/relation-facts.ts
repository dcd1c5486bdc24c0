/** Tables, indexes, constraints and types with their OIDs and definitions as text: what system relations list. */

import { graphDefOf } from "../../../catalog/graph.js";
import { referenceTo } from "../../../catalog/object-reference.js";
import type { Rights } from "../../../catalog/rights.js";
import { isTemporarySchema } from "../../../catalog/schema.js";
import type { SequenceDef } from "../../../catalog/sequence.js";
import { mayUseSequence } from "../../../catalog/sequence-rights.js";
import type {
  CheckDef,
  ColumnDef,
  DeferrableKey,
  ForeignKeyDef,
  IndexDef,
  SearchIndexDef,
  TableDef,
} from "../../../catalog/table.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { baseType, displayName, oidOfId, pgOidOf } from "../../../query/expr/types.js";
import type { SqlType, Value } from "../../../values/values.js";
import { formText } from "../../../values/vector-form.js";
import { operatorClassFor } from "../../../values/vector-metric.js";
import { indexKeyText, inParentheses } from "./sql-parentheses.js";
import type { SystemView } from "./system-view.js";

/** Of triggers and rules: tgenabled, ev_enabled. */
export const STATES_OF_RULES = { origin: "O", disabled: "D", replica: "R", always: "A" } as const;

/** PostgreSQL's OIDs of built-in objects. */
export const PG_CATALOG_OID = 11;
export const PUBLIC_OID = 2200;
export const INFORMATION_SCHEMA_OID = 13_000;
export const OWNER_OID = 10;
/** The role pg_database_owner, which owns the schema public. */
export const DATABASE_OWNER_OID = 6171;
/** What its owner and everybody may do with the schema public. */
export const PUBLIC_ACCESS = ["pg_database_owner=UC/pg_database_owner", "=U/pg_database_owner"];
export const BTREE_OID = 403;
/** Such an index is made as a btree. */
export const HASH_OID = 405;
export const HEAP_OID = 2;
/** Of access methods. Dumps leave out what is below 16384. */
export const SEARCH_METHOD_OIDS = {
  hnsw: 13_410,
  text: 13_411,
  gist: 783,
  gin: 2742,
  brin: 3580,
  spgist: 4000,
} as const;

export const LANGUAGE_OIDS = { internal: 12, c: 13, sql: 14, plpgsql: 13_500 } as const;

/** OIDs of objects without an id begin here: the upper half of all, by a hash of the name. */
const HASHED_OIDS = 2 ** 31;

/** FNV-1a. */
export function hashedOid(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(parts.join("\0"))) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return HASHED_OIDS + (hash >>> 1);
}

export function schemaOid(name: string, { catalog }: Pick<SystemView, "catalog">): number {
  if (name === "pg_catalog") return PG_CATALOG_OID;
  if (name === "information_schema") return INFORMATION_SCHEMA_OID;
  if (name === "public" && !catalog.droppedPublic) return PUBLIC_OID;
  const schema = catalog.schemas().find((other) => other.name === name);
  return schema === undefined ? hashedOid("schema", name) : oidOfId(schema.id);
}

/** Those in which sessions have relations now. */
export function temporarySchemas({ catalog }: Pick<SystemView, "catalog">): Set<string> {
  const relations = [...catalog.tables(), ...catalog.views(), ...catalog.sequences()];
  return new Set(relations.map(({ schema }) => schema).filter(isTemporarySchema));
}

export const persistenceOf = (schema: string, table: Pick<TableDef, "unlogged"> = {}) =>
  isTemporarySchema(schema) ? "t" : table.unlogged ? "u" : "p";

/** Ids of columns are given once and never again, as PostgreSQL's numbers are; those of graphs begin at 1. */
const firstNumber = (table: TableDef) => (graphDefOf(table) === null ? 1 : 0);

/** The number of a column by its id; 0: it has no such column. */
export const attnum = (table: TableDef, columnId: number) =>
  table.columns.some((column) => column.id === columnId) ? columnId + firstNumber(table) : 0;

/** The column of that number; none: it was dropped, or never there. */
export const columnNumbered = (table: TableDef, number: number): ColumnDef | undefined =>
  table.columns.find((column) => column.id + firstNumber(table) === number);

/** How many columns it has, with those that were dropped. */
export const columnsEver = (table: TableDef) => table.nextColumnId - 1 + firstNumber(table);

const nameOf = (table: TableDef, columnId: number) =>
  quoteIdentifier(table.columns.find((column) => column.id === columnId)?.name ?? "");

const listOf = (table: TableDef, ids: readonly number[]) => ids.map((id) => nameOf(table, id)).join(", ");

export const qualified = ({ schema, name }: { readonly schema: string; readonly name: string }) =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;

/** The partitions have their parts of an index. */
const only = (table: TableDef) => (table.partitionKey === undefined ? "" : "ONLY ");

export interface IndexFacts {
  readonly oid: number;
  readonly table: TableDef;
  readonly name: string;
  readonly unique: boolean;
  readonly primary: boolean;
  /** Absent: not deferrable. */
  readonly deferrable?: DeferrableKey;
  readonly columnIds: readonly number[];
  /** Of a partition's part of an index: the OID of the whole. */
  readonly parent: number | null;
  readonly valid: boolean;
  /** The OID of its access method. */
  readonly method: number;
  readonly definition: string;
  /** Of the keys: pg_index.indoption, 1 for DESC and 2 for NULLS FIRST. */
  readonly options: readonly number[];
  /** INCLUDE: ids of columns that are no keys. */
  readonly included: readonly number[];
  /** Keys that are no columns, in order, as SQL. */
  readonly expressions: readonly { readonly sql: string; readonly type: SqlType }[];
  readonly predicate: string | null;
  readonly nullsNotDistinct: boolean;
  readonly exclusion: boolean;
  /** The operator classes that were given, by the place of the key. */
  readonly classes: readonly (string | undefined)[];
  /** The same of collations. */
  readonly collations: readonly (string | undefined)[];
  readonly storage?: readonly string[];
}

const PLAIN_INDEX = {
  included: [],
  expressions: [],
  predicate: null,
  nullsNotDistinct: false,
  exclusion: false,
  classes: [],
  collations: [],
} as const;

/** All indexes of a table, that of its primary key first. */
export function indexesOf(table: TableDef): IndexFacts[] {
  const keys: IndexFacts[] = [];
  if (table.primaryKey !== null) {
    const name = table.primaryKeyName!;
    const columnIds = table.primaryKey;
    const included = table.primaryKeyInclude ?? [];
    const definition = `CREATE UNIQUE INDEX ${quoteIdentifier(name)} ON ${only(table)}${qualified(table)} USING btree (${listOf(table, columnIds)})${includeText(table, included)}`;
    const parent = table.primaryKeyInherited ? oidOfId(table.parents![0]!, 1) : null;
    const valid = !table.primaryKeyInvalid;
    const oid = oidOfId(table.id, 1);
    const kind = { ...PLAIN_INDEX, unique: true, primary: true, method: BTREE_OID, options: columnIds.map(() => 0) };
    keys.push({ ...kind, oid, table, name, columnIds, included, parent, valid, definition });
  }
  const search = (table.searchIndexes ?? []).map((index) => searchIndexFacts(table, index));
  return [...keys, ...table.indexes.map((index) => indexFacts(table, index)), ...search];
}

function includeText(table: TableDef, columnIds: readonly number[]): string {
  return columnIds.length > 0 ? ` INCLUDE (${listOf(table, columnIds)})` : "";
}

function searchIndexFacts(table: TableDef, index: SearchIndexDef): IndexFacts {
  const { name, columnIds } = index;
  const method = index.text?.trigrams ? "gin" : index.method;
  return {
    oid: oidOfId(index.id),
    table,
    name,
    unique: false,
    primary: false,
    columnIds,
    parent: null,
    valid: true,
    method: SEARCH_METHOD_OIDS[method],
    ...PLAIN_INDEX,
    options: columnIds.map(() => 0),
    classes: index.declared?.keys.map(({ operatorClass }) => operatorClass) ?? [],
    ...(index.declared?.storage && { storage: index.declared.storage }),
    predicate: index.declared?.where ?? index.vector?.where?.sql ?? null,
    definition: `CREATE INDEX ${quoteIdentifier(name)} ON ${qualified(table)} USING ${method} ${searchKeys(table, index)}`,
  };
}

const TRIGRAM_CLASS = "gin_trgm_ops";

/** Columns and parameters, as CREATE INDEX takes them. */
function searchKeys(table: TableDef, { columnIds, vector, text, declared }: SearchIndexDef): string {
  if (declared !== undefined) {
    const keys = declared.keys.map(({ columnId, sql, operatorClass }) => {
      const key = columnId === undefined ? `(${sql})` : nameOf(table, columnId);
      return operatorClass === undefined ? key : `${key} ${operatorClass}`;
    });
    return `(${keys.join(", ")})${storageText(declared)}${declared.where === undefined ? "" : ` WHERE ${inParentheses(declared.where)}`}`;
  }
  if (text?.trigrams) return `(${columnIds.map((id) => `${nameOf(table, id)} ${TRIGRAM_CLASS}`).join(", ")})`;
  const columns = listOf(table, columnIds);
  if (vector === undefined) return `(${columns}) WITH (language='${text!.language}')`;
  const { metric, m, efConstruction, efSearch, storage } = vector;
  const compressed = storage === "f32" ? "" : `, storage='${storage}'`;
  const searched = efSearch === undefined ? "" : `, ef_search='${efSearch}'`;
  const { form } = vector;
  const type = form?.type ?? table.columns.find(({ id }) => id === columnIds[0])!.type.name;
  const key = form === undefined ? columns : formText(form, columns);
  const where = vector.where === undefined ? "" : ` WHERE ${inParentheses(vector.where.sql)}`;
  return `(${key} ${operatorClassFor(metric, type)}) WITH (m='${m}', ef_construction='${efConstruction}'${searched}${compressed})${where}`;
}

/** WITH (…), as PostgreSQL quotes the values. */
function storageText({ storage = [] }: { readonly storage?: readonly string[] }): string {
  if (storage.length === 0) return "";
  const text = (parameter: string) => {
    const [name, value] = parameter.split("=") as [string, string];
    return `${name}=${quoteIdentifier(value) === value ? value : `'${value}'`}`;
  };
  return ` WITH (${storage.map(text).join(", ")})`;
}

function indexFacts(table: TableDef, index: IndexDef): IndexFacts {
  const columns = index.columns.map(({ columnId, descending, nullsFirst, expression, operatorClass, collation }) => {
    const own = table.columns.find(({ id }) => id === columnId)?.details?.collation;
    const collated = collation === undefined || collation === own ? "" : ` COLLATE ${quoteIdentifier(collation)}`;
    const order = descending ? (nullsFirst ? " DESC" : " DESC NULLS LAST") : nullsFirst ? " NULLS FIRST" : "";
    return `${expression === undefined ? nameOf(table, columnId) : indexKeyText(expression.sql)}${collated}${operatorClass === undefined ? "" : ` ${operatorClass}`}${order}`;
  });
  const include = includeText(table, index.include ?? []);
  const nulls = index.nullsNotDistinct ? " NULLS NOT DISTINCT" : "";
  const where = index.where ? ` WHERE ${index.where}` : "";
  const isUnique = !index.exclusion && (index.unique || index.deferrable !== undefined);
  const unique = isUnique ? "UNIQUE " : "";
  const method = index.operators === undefined ? (index.hash ? "hash" : "btree") : "gist";
  return {
    oid: oidOfId(index.id),
    table,
    name: index.name,
    unique: isUnique,
    primary: index.deferrable?.primary ?? false,
    ...(index.deferrable && { deferrable: index.deferrable }),
    columnIds: index.columns.map((column) => column.columnId),
    parent: index.parentId === undefined ? null : oidOfId(index.parentId),
    valid: !index.invalid,
    method: index.hash ? HASH_OID : BTREE_OID,
    classes: index.columns.map(({ operatorClass }) => operatorClass),
    collations: index.columns.map(({ collation }) => collation),
    ...(index.storage && { storage: index.storage }),
    options: index.columns.map(({ descending, nullsFirst }) => (descending ? 1 : 0) | (nullsFirst ? 2 : 0)),
    included: index.include ?? [],
    expressions: index.columns.flatMap(({ expression }) => expression ?? []),
    predicate: index.where ?? null,
    nullsNotDistinct: index.nullsNotDistinct ?? false,
    exclusion: index.exclusion ?? false,
    definition: `CREATE ${unique}INDEX ${quoteIdentifier(index.name)} ON ${only(table)}${qualified(table)} USING ${method} (${columns.join(", ")})${include}${nulls}${storageText(index)}${where}`,
  };
}

export interface ConstraintFacts {
  readonly oid: number;
  readonly table: TableDef;
  readonly name: string;
  readonly type: "p" | "u" | "c" | "f" | "x";
  readonly columnIds: readonly number[];
  readonly index: number;
  readonly definition: string;
  /** Of a key; absent: not deferrable. */
  readonly deferrable?: DeferrableKey;
  /** Of a CHECK: its definition. */
  readonly check: CheckDef | null;
  /** Of a foreign key: the table and columns that it refers to. */
  readonly references: {
    readonly table: TableDef;
    readonly columnIds: readonly number[];
    readonly key: ForeignKeyDef;
  } | null;
}

export const CONSTRAINT_TYPES = {
  p: "PRIMARY KEY",
  u: "UNIQUE",
  c: "CHECK",
  f: "FOREIGN KEY",
  x: "EXCLUDE",
} as const;

export function constraintsOf(table: TableDef, catalog: SystemView["catalog"]): ConstraintFacts[] {
  const oid = (name: string) => hashedOid("constraint", table.id, name);
  const plain = { table, check: null, references: null };
  const keys = indexesOf(table)
    .filter(
      ({ primary, name }) => primary || table.indexes.some((index) => index.name === name && index.constraint !== null),
    )
    .map((facts): ConstraintFacts => {
      const { name, primary, columnIds, deferrable, oid: index } = facts;
      const exclusion = table.indexes.find((other) => other.name === name && other.exclusion);
      if (exclusion !== undefined) return { ...plain, ...exclusionFacts(table, exclusion), oid: oid(name), index };
      const include = includeText(table, facts.included);
      const kind = primary ? "PRIMARY KEY" : facts.nullsNotDistinct ? "UNIQUE NULLS NOT DISTINCT" : "UNIQUE";
      const definition = `${kind} (${listOf(table, columnIds)})${include}${deferrableText(deferrable)}`;
      const type = primary ? "p" : "u";
      return { ...plain, ...(deferrable && { deferrable }), oid: oid(name), name, type, columnIds, index, definition };
    });
  const checks = table.checks.map((check): ConstraintFacts => {
    const { name, sql } = check;
    const columnIds = table.columns.filter((column) => mentions(sql, column.name)).map((column) => column.id);
    const definition = `CHECK (${sql})${check.noInherit ? " NO INHERIT" : ""}${check.notValid ? " NOT VALID" : ""}`;
    return { ...plain, oid: oid(name), name, type: "c", columnIds, index: 0, definition, check };
  });
  return [...keys, ...checks, ...foreignKeysOf(table, catalog)];
}

function exclusionFacts(table: TableDef, index: IndexDef) {
  const { name, deferrable } = index;
  const columnIds = index.columns.map((column) => column.columnId);
  const keys = index.columns.map(({ columnId, expression }, i) => {
    const key = expression === undefined ? nameOf(table, columnId) : `(${expression.sql})`;
    const operator = index.operators?.[i] ?? "=";
    const type = expression?.type ?? table.columns.find(({ id }) => id === columnId)!.type;
    // The only one of these classes that PostgreSQL does not take by itself.
    const operatorClass = operator === "&&" && /^(?:inet|cidr)$/.test(baseType(type).name) ? " inet_ops" : "";
    return `${key}${operatorClass} WITH ${operator}`;
  });
  const method = index.operators === undefined ? "btree" : "gist";
  const where = index.where ? ` WHERE (${index.where})` : "";
  const definition = `EXCLUDE USING ${method} (${keys.join(", ")})${where}${deferrableText(deferrable)}`;
  return { name, type: "x", columnIds, definition, ...(deferrable && { deferrable }) } as const;
}

function foreignKeysOf(table: TableDef, catalog: SystemView["catalog"]): ConstraintFacts[] {
  return (table.foreignKeys ?? []).map((key) => {
    const target = catalog.tableById(key.tableId)!;
    const some = key.onDeleteColumns.length > 0 ? ` (${listOf(table, key.onDeleteColumns)})` : "";
    const actions =
      (key.onUpdate === "no action" ? "" : ` ON UPDATE ${key.onUpdate.toUpperCase()}`) +
      (key.onDelete === "no action" ? "" : ` ON DELETE ${key.onDelete.toUpperCase()}${some}`);
    const deferrable = key.deferrable ? ` DEFERRABLE${key.initiallyDeferred ? " INITIALLY DEFERRED" : ""}` : "";
    const match = key.match === "full" ? " MATCH FULL" : "";
    const name = `${referenceTo(target.id)}.${quoteIdentifier(target.name)}`;
    const references = `${name}(${listOf(target, key.references)})`;
    const foreign = `FOREIGN KEY (${listOf(table, key.columns)}) REFERENCES ${references}`;
    return {
      oid: oidOfId(key.id),
      table,
      name: key.name,
      type: "f",
      columnIds: key.columns,
      index: referredIndex(target, key.references),
      definition: `${foreign}${match}${actions}${deferrable}${key.notValid ? " NOT VALID" : ""}`,
      check: null,
      references: { table: target, columnIds: key.references, key },
    };
  });
}

/** The OID of the key that a foreign key refers to. */
function referredIndex(target: TableDef, columnIds: readonly number[]): number {
  const isKey = (index: IndexFacts) =>
    index.unique &&
    index.columnIds.length === columnIds.length &&
    columnIds.every((id) => index.columnIds.includes(id));
  return indexesOf(target).find(isKey)?.oid ?? 0;
}

function deferrableText(key: DeferrableKey | undefined): string {
  if (key === undefined) return "";
  return key.initiallyDeferred ? " DEFERRABLE INITIALLY DEFERRED" : " DEFERRABLE";
}

/** Whether the text of a condition has the column's name as a word of its own. */
function mentions(sql: string, name: string): boolean {
  const quoted = quoteIdentifier(name);
  const escaped = quoted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w$"'])${escaped}(?![\\w$"'])`).test(sql.replace(/'(?:[^']|'')*'/g, "''"));
}

/** pg_attribute.atttypmod: PostgreSQL adds the four bytes of a length to it. */
export function typmodOf(type: SqlType): number {
  const { modifier, name } = type;
  if (type.element !== null) return typmodOf(type.element);
  if (modifier === null) return -1;
  if (name === "varchar" || name === "bpchar") return modifier + 4;
  if (name !== "numeric") return modifier;
  return Math.floor(modifier / 2048) * 65_536 + (modifier % 2048) + 4;
}

export const typeOid = (type: SqlType): number => pgOidOf(type);

/** information_schema's data_type: arrays and user-defined types by kind. */
export function dataType(type: SqlType): string {
  if (type.user?.kind === "domain") return dataType(type.user.base!);
  if (type.user !== undefined) return "USER-DEFINED";
  if (type.element !== null) return "ARRAY";
  return displayName({ ...type, modifier: null }).replace(/\(.*?\)/, "");
}

export const yesNo = (value: boolean): Value => (value ? "YES" : "NO");

/** What may stand behind the query of a CREATE VIEW or CREATE MATERIALIZED VIEW statement. */
const BEHIND_QUERY = /\s+with\s+(?:(?:no\s+)?data|(?:(?:local|cascaded)\s+)?check\s+option)\s*;?\s*$/i;

/** The query of a CREATE VIEW statement, as written. */
export function queryText(sql: string): string {
  return sql
    .replace(/^.*?\bas\b\s*/is, "")
    .replace(BEHIND_QUERY, "")
    .replace(/;?\s*$/, ";");
}

/** As in PostgreSQL: who may not use a sequence is told nothing of where it stands. */
export function mayUse(rights: Rights, sequence: SequenceDef): boolean {
  const { id } = sequence;
  return mayUseSequence(sequence, ["r"], rights) || (rights.catalog.accessTo(id) !== null && rights.may(id, "U"));
}

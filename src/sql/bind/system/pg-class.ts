/** pg_class, pg_attribute and pg_index: every relation of the tenant and of the system, and its columns. */
import { withoutReferences } from "../../../catalog/object-reference.js";
import type { ColumnDef, ReplicaIdentity, TableDef } from "../../../catalog/table.js";
import { isRowType } from "../../../catalog/type.js";
import type { ViewDef } from "../../../catalog/view.js";
import { oidOfId } from "../../../query/expr/types.js";
import { catalogVector } from "../../../values/catalog-types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { BOOL, INT8, type SqlType, type Value } from "../../../values/values.js";
import { isBarrier, isInvoker } from "../bind-view.js";
import { type TypeFacts, typeFacts, typeFactsByName } from "./builtin-facts.js";
import { classOf, namedClass } from "./builtin-operators.js";
import { collationOid } from "./builtin-types.js";
import { catalogIndex, kindOfTable } from "./catalog-index.js";
import { boundText } from "./partition-functions.js";
import {
  attnum,
  columnNumbered,
  columnsEver,
  HEAP_OID,
  INFORMATION_SCHEMA_OID,
  type IndexFacts,
  indexesOf,
  OWNER_OID,
  PG_CATALOG_OID,
  persistenceOf,
  schemaOid,
  typeOid,
  typmodOf,
} from "./relation-facts.js";
import { ownership } from "./role-facts.js";
import { systemShapes } from "./shapes.js";
import { type DefinedView, definedRelation, type SystemRow } from "./system-view.js";

/** Foreign keys are triggers in PostgreSQL, on both tables. */
export function hasTriggers({ triggers, foreignKeys, referencedBy }: TableDef): boolean {
  return [triggers, foreignKeys, referencedBy].some((some) => some !== undefined && some.length > 0);
}

const SHARED_RELATION: SystemRow = {
  relowner: OWNER_OID,
  reltuples: -1,
  relispopulated: true,
  relreplident: "n",
  relpersistence: "p",
};

const pgClass = definedRelation(
  "pg_catalog",
  "pg_class",
  function* (view) {
    for (const table of view.catalog.tables()) yield* tableRows(table, view);
    yield* otherRelations(view);
  },
  function* () {
    for (const { schema, name, oid, kind, columns, rowType } of systemShapes().values()) {
      yield {
        ...SHARED_RELATION,
        oid,
        reltype: rowType,
        relname: name,
        relnamespace: schema === "pg_catalog" ? PG_CATALOG_OID : INFORMATION_SCHEMA_OID,
        relam: kind === "r" ? HEAP_OID : 0,
        relkind: kind,
        relnatts: columns.length,
        relhasrules: kind === "v",
        relisshared: SHARED_RELATIONS.has(name),
      };
    }
  },
  {
    column: "reltuples",
    valuesOf(view) {
      const { tables, indexes } = catalogIndex(view.catalog);
      return (oid) => {
        const index = indexes.get(oid);
        const table = index === undefined ? tables.get(oid) : index.predicate === null ? index.table : undefined;
        return table === undefined ? null : (view.statisticsOf(table)?.rows ?? null);
      };
    },
  },
);

/** Of the whole server rather than of one database. */
const SHARED_RELATIONS = new Set([
  "pg_authid",
  "pg_auth_members",
  "pg_database",
  "pg_db_role_setting",
  "pg_parameter_acl",
  "pg_replication_origin",
  "pg_shdepend",
  "pg_shdescription",
  "pg_shseclabel",
  "pg_subscription",
  "pg_tablespace",
]);

function accessColumns(id: number, view: DefinedView): SystemRow {
  const { owner, acl } = ownership(view, id);
  const { enabled = false, forced = false } = view.catalog.accessTo(id)?.rowSecurity ?? {};
  return { relowner: owner, relacl: acl, relrowsecurity: enabled, relforcerowsecurity: forced };
}

function* tableRows(table: TableDef, view: DefinedView): Iterable<SystemRow> {
  const place = { relnamespace: schemaOid(table.schema, view), relpersistence: persistenceOf(table.schema, table) };
  const oid = oidOfId(table.id);
  const indexes = indexesOf(table);
  const relkind = kindOfTable(table);
  yield {
    ...SHARED_RELATION,
    ...place,
    oid,
    relname: table.name,
    reltype: oidOfId(table.id, 2),
    relam: relkind === "p" ? 0 : HEAP_OID,
    relfilenode: relkind === "p" ? 0 : oid,
    relhasindex: indexes.length > 0,
    relkind,
    relnatts: columnsEver(table),
    relchecks: table.checks.length,
    reloftype: table.ofType === undefined ? 0 : oidOfId(table.ofType),
    relhasrules: table.materialized !== undefined || (table.rules?.length ?? 0) > 0,
    relhastriggers: hasTriggers(table),
    relhassubclass: (table.children?.length ?? 0) > 0,
    relispartition: table.partitionBound !== undefined,
    relpartbound: boundText(table, view.catalog),
    relreplident: identityLetter(table.replicaIdentity),
    relispopulated: table.materialized?.populated ?? true,
    reloptions: table.storage === undefined ? null : sqlArray(table.storage),
    ...accessColumns(table.id, view),
  };
  const attached = table.partitionKey === undefined ? null : parentsOfIndexes(table, view);
  for (const index of indexes) {
    yield {
      ...SHARED_RELATION,
      ...place,
      oid: index.oid,
      relname: index.name,
      relam: index.method,
      relfilenode: table.partitionKey === undefined ? index.oid : 0,
      relkind: table.partitionKey === undefined ? "i" : "I",
      relhassubclass: attached?.has(index.oid) ?? false,
      relispartition: index.parent !== null,
      relnatts: index.columnIds.length + index.included.length,
      reloptions: index.storage === undefined ? null : sqlArray(index.storage),
    };
  }
}

/** OIDs of indexes of which partitions' indexes are parts. */
function parentsOfIndexes({ children = [] }: TableDef, { catalog }: DefinedView): ReadonlySet<number | null> {
  const parts = children.flatMap((id) => catalog.tableById(id) ?? []);
  return new Set(parts.flatMap((part) => indexesOf(part).map(({ parent }) => parent)));
}

function identityLetter(identity: ReplicaIdentity | undefined): string {
  if (identity === undefined) return "d";
  return identity === "full" ? "f" : identity === "nothing" ? "n" : "i";
}

/** The options that are on; null: none. */
function optionsOf(view: ViewDef): Value {
  const options = [
    ...(isBarrier(view) ? ["security_barrier=true"] : []),
    ...(isInvoker(view, view.query) ? ["security_invoker=true"] : []),
    ...(view.checkOption === null ? [] : [`check_option=${view.checkOption}`]),
  ];
  return options.length === 0 ? null : sqlArray(options);
}

function* otherRelations(view: DefinedView): Iterable<SystemRow> {
  const { catalog } = view;
  const placeOf = (schema: string) => ({
    relnamespace: schemaOid(schema, view),
    relpersistence: persistenceOf(schema),
  });
  for (const definition of catalog.views()) {
    const { id, schema, name, columns, triggers = [] } = definition;
    yield {
      ...SHARED_RELATION,
      ...placeOf(schema),
      oid: oidOfId(id),
      relname: name,
      reltype: oidOfId(id, 2),
      relkind: "v",
      relnatts: columns.length,
      relhasrules: true,
      relhastriggers: triggers.length > 0,
      reloptions: optionsOf(definition),
      ...accessColumns(id, view),
    };
  }
  for (const { id, schema, name, ownedBy } of catalog.sequences()) {
    const oid = oidOfId(id);
    const owner = ownedBy === null ? null : catalog.tableById(ownedBy.tableId);
    yield {
      ...SHARED_RELATION,
      ...placeOf(schema),
      ...(owner?.unlogged && { relpersistence: persistenceOf(schema, owner) }),
      oid,
      relname: name,
      relkind: "S",
      relnatts: 3,
      relfilenode: oid,
      reltuples: 1,
      ...accessColumns(id, view),
    };
  }
  for (const type of catalog.types()) {
    if (type.kind !== "composite" || isRowType(type)) continue;
    yield {
      ...SHARED_RELATION,
      ...placeOf(type.schema),
      oid: oidOfId(type.id, 1),
      relname: type.name,
      reltype: oidOfId(type.id),
      relkind: "c",
      relnatts: type.fields.length,
    };
  }
}

const SHARED_COLUMN: SystemRow = { attstattarget: -1, attcacheoff: -1, attislocal: true, atttypmod: -1 };

/** How PostgreSQL would lay a value of the type out; arrays and what a statement made are of variable length. */
function layoutOf(type: SqlType): TypeFacts {
  if (type.user?.kind === "domain") return layoutOf(type.user.base!);
  if (type.user?.kind === "enum") return typeFactsByName().get("oid")!;
  return typeFacts().get(typeOid(type)) ?? typeFactsByName().get(type.element === null ? "bytea" : "_bytea")!;
}

function columnFacts(type: SqlType): SystemRow {
  return {
    ...SHARED_COLUMN,
    ...layoutFacts(layoutOf(type)),
    atttypid: typeOid(type),
    attndims: type.element === null || type.typeName !== undefined ? 0 : 1,
    atttypmod: typmodOf(type),
  };
}

const layoutFacts = ({ length, byValue, align, storage, collation }: TypeFacts): SystemRow => ({
  attlen: length,
  attbyval: byValue,
  attalign: align,
  attstorage: storage,
  attcollation: collation,
});

const pgAttribute = definedRelation(
  "pg_catalog",
  "pg_attribute",
  function* ({ catalog }) {
    for (const table of catalog.tables()) {
      for (let number = 1; number <= columnsEver(table); number++) {
        const column = columnNumbered(table, number);
        yield column === undefined ? droppedColumn(table, number) : tableColumn(table, column, number);
      }
      for (const index of indexesOf(table)) yield* indexColumns(table, index);
    }
    for (const { id, columns } of catalog.views()) yield* plainColumns(oidOfId(id), columns);
    for (const type of catalog.types()) {
      if (type.kind === "composite" && !isRowType(type)) yield* plainColumns(oidOfId(type.id, 1), type.fields);
    }
    for (const { id } of catalog.sequences()) {
      for (const row of plainColumns(oidOfId(id), SEQUENCE_COLUMNS)) yield { ...row, attnotnull: true };
    }
  },
  function* () {
    for (const { oid, columns } of systemShapes().values()) {
      for (const [i, { name, type, pgType, notNull }] of columns.entries()) {
        const exact = typeFactsByName().get(pgType);
        const of = exact === undefined ? {} : { ...layoutFacts(exact), atttypid: exact.oid };
        yield { ...columnFacts(type), ...of, attrelid: oid, attname: name, attnum: i + 1, attnotnull: notNull };
      }
    }
  },
);

/** A sequence as a relation of one row. */
export const SEQUENCE_COLUMNS = [
  { name: "last_value", type: INT8 },
  { name: "log_cnt", type: INT8 },
  { name: "is_called", type: BOOL },
];

/** Nothing of a dropped column is known but its number. */
const droppedColumn = (table: TableDef, number: number): SystemRow => ({
  ...SHARED_COLUMN,
  attstattarget: 0,
  attrelid: oidOfId(table.id),
  attname: `........pg.dropped.${number}........`,
  attnum: number,
  atttypid: 0,
  attisdropped: true,
});

function tableColumn(table: TableDef, column: ColumnDef, number: number): SystemRow {
  const { identity } = column;
  return {
    ...columnFacts(column.type),
    attrelid: oidOfId(table.id),
    attname: column.name,
    attnum: number,
    attnotnull: column.notNull || (table.primaryKey?.includes(column.id) ?? false),
    atthasdef: (column.defaultSql !== null && identity === null) || Boolean(column.generatedSql),
    attgenerated: column.generatedSql ? "s" : "",
    attidentity: identity === null ? "" : identity === "always" ? "a" : "d",
    attislocal: column.local ?? true,
    attinhcount: column.inherited ?? 0,
    ...detailsOf(column),
  };
}

/** In the place of what is usual for the type. */
function detailsOf({ details }: ColumnDef): SystemRow {
  if (details === undefined) return {};
  const { collation, storage, compression, statistics } = details;
  return {
    ...(collation && { attcollation: collationOid(collation) }),
    ...(storage && { attstorage: storage === "extended" ? "x" : storage[0]! }),
    ...(compression && { attcompression: compression[0]! }),
    ...(statistics !== undefined && { attstattarget: statistics }),
  };
}

function* plainColumns(
  attrelid: number,
  columns: readonly { readonly name: string; readonly type: SqlType }[],
): Iterable<SystemRow> {
  for (const [i, { name, type }] of columns.entries()) {
    yield { ...columnFacts(type), attrelid, attname: name, attnum: i + 1 };
  }
}

/** Keys and INCLUDE columns, by the names that PostgreSQL gives them. */
export function indexParts(table: TableDef, index: IndexFacts): { readonly name: string; readonly type: SqlType }[] {
  const expressions = [...index.expressions];
  return [...index.columnIds, ...index.included].flatMap((id) => {
    const column = table.columns.find((other) => other.id === id);
    if (column !== undefined) return [{ name: column.name, type: column.type }];
    const expression = expressions.shift();
    if (expression === undefined) return [];
    const called = /^"?(\w+)"?\s*\(/.exec(withoutReferences(expression.sql))?.[1] ?? "expr";
    return [{ name: called, type: expression.type }];
  });
}

function indexColumns(table: TableDef, index: IndexFacts): Iterable<SystemRow> {
  const seen = new Map<string, number>();
  const columns = indexParts(table, index).map(({ name, type }) => {
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return { name: before === 0 ? name : `${name}${before}`, type };
  });
  return plainColumns(index.oid, columns);
}

const pgIndex = definedRelation("pg_catalog", "pg_index", function* ({ catalog }) {
  for (const index of catalogIndex(catalog).indexes.values()) {
    const { oid, table, unique, primary, columnIds, included, valid, options, expressions, predicate } = index;
    const all = [...columnIds, ...included];
    const keyTypes = indexParts(table, index).slice(0, columnIds.length);
    yield {
      indexrelid: oid,
      indrelid: oidOfId(table.id),
      indnatts: all.length,
      indnkeyatts: columnIds.length,
      indisunique: unique,
      indnullsnotdistinct: index.nullsNotDistinct,
      indisprimary: primary,
      indisexclusion: index.exclusion,
      indimmediate: index.deferrable === undefined,
      indisvalid: valid,
      indisready: true,
      indisclustered: isClustered(table, index),
      indisreplident: isReplicaIdentity(table, index),
      indislive: true,
      indkey: catalogVector(all.map((id) => attnum(table, id))),
      indcollation: catalogVector(keyTypes.map(({ type }, i) => collationOfKey(type, index, i))),
      indclass: catalogVector(keyTypes.map(({ type }, i) => givenClass(type, index.method, index.classes[i]))),
      indoption: catalogVector(options),
      indexprs: expressions.length === 0 ? null : expressions.map(({ sql }) => sql).join(", "),
      indpred: predicate,
    };
  }
});

function isClustered({ id, clusteredOn }: TableDef, { oid }: IndexFacts): boolean {
  if (clusteredOn === undefined) return false;
  return oid === (clusteredOn === "primary key" ? oidOfId(id, 1) : oidOfId(clusteredOn));
}

function collationOfKey(type: SqlType, { table, columnIds, collations }: IndexFacts, i: number): number {
  const ofType = layoutOf(type).collation;
  const named = collations[i] ?? table.columns.find(({ id }) => id === columnIds[i])?.details?.collation;
  return named === undefined || ofType === 0 ? ofType : collationOid(named);
}

function isReplicaIdentity(table: TableDef, { oid }: IndexFacts): boolean {
  const identity = table.replicaIdentity;
  if (typeof identity !== "object") return false;
  return oid === (identity.indexId === null ? oidOfId(table.id, 1) : oidOfId(identity.indexId));
}

function givenClass(type: SqlType, method: number, name: string | undefined): number {
  return (name !== undefined && namedClass(name, method)) || classOf(type, method);
}

export const PG_CLASS = [pgClass, pgAttribute, pgIndex];

/** pg_catalog's tables about relations: pg_namespace, pg_class, pg_attribute, pg_attrdef, pg_index, pg_constraint. */
import type { TableDef } from "../../../catalog/table.js";
import { oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, FLOAT4, INT2, INT4, NAME, OID, TEXT } from "../../../values/values.js";
import { boundText } from "./partition-functions.js";
import {
  attnum,
  constraintsOf,
  HEAP_OID,
  hashedOid,
  INFORMATION_SCHEMA_OID,
  indexesOf,
  OWNER_OID,
  PG_CATALOG_OID,
  PUBLIC_OID,
  persistenceOf,
  schemaOid,
  typeOid,
  typmodOf,
} from "./relation-facts.js";
import { systemRelation } from "./system-view.js";

const owner = OWNER_OID;

/** Foreign keys are triggers in PostgreSQL, on both tables. */
export function hasTriggers({ triggers, foreignKeys, referencedBy }: TableDef): boolean {
  return [triggers, foreignKeys, referencedBy].some((some) => some !== undefined && some.length > 0);
}

const pgNamespace = systemRelation(
  "pg_catalog",
  "pg_namespace",
  { oid: OID, nspname: NAME, nspowner: OID, nspacl: arrayOf(TEXT) },
  ({ catalog }) => [
    { oid: PG_CATALOG_OID, nspname: "pg_catalog", nspowner: owner },
    { oid: PUBLIC_OID, nspname: "public", nspowner: owner },
    { oid: INFORMATION_SCHEMA_OID, nspname: "information_schema", nspowner: owner },
    ...catalog.schemas().map((schema) => ({ oid: oidOfId(schema.id), nspname: schema.name, nspowner: owner })),
  ],
);

const pgClass = systemRelation(
  "pg_catalog",
  "pg_class",
  {
    oid: OID,
    relname: NAME,
    relnamespace: OID,
    reltype: OID,
    reloftype: OID,
    relowner: OID,
    relam: OID,
    relfilenode: OID,
    reltablespace: OID,
    relpages: INT4,
    reltuples: FLOAT4,
    relallvisible: INT4,
    reltoastrelid: OID,
    relhasindex: BOOL,
    relisshared: BOOL,
    relpersistence: TEXT,
    relkind: TEXT,
    relnatts: INT2,
    relchecks: INT2,
    relhasrules: BOOL,
    relhastriggers: BOOL,
    relhassubclass: BOOL,
    relrowsecurity: BOOL,
    relforcerowsecurity: BOOL,
    relispopulated: BOOL,
    relreplident: TEXT,
    relispartition: BOOL,
    relpartbound: TEXT,
    relacl: arrayOf(TEXT),
    reloptions: arrayOf(TEXT),
  },
  function* (view) {
    const shared = {
      reltype: 0,
      reloftype: 0,
      relowner: owner,
      reltablespace: 0,
      relpages: 0,
      reltuples: -1,
      relallvisible: 0,
      reltoastrelid: 0,
      relisshared: false,
      relchecks: 0,
      relhasindex: false,
      relhasrules: false,
      relhastriggers: false,
      relhassubclass: false,
      relrowsecurity: false,
      relforcerowsecurity: false,
      relispopulated: true,
      relreplident: "d",
      relispartition: false,
    };
    for (const table of view.catalog.tables()) {
      const place = { relnamespace: schemaOid(table.schema, view), relpersistence: persistenceOf(table.schema) };
      const oid = oidOfId(table.id);
      const indexes = indexesOf(table);
      yield {
        ...shared,
        ...place,
        oid,
        relname: table.name,
        relam: HEAP_OID,
        relfilenode: oid,
        relhasindex: indexes.length > 0,
        relkind: table.materialized ? "m" : table.partitionKey === undefined ? "r" : "p",
        relnatts: table.columns.length,
        relchecks: table.checks.length,
        reloftype: table.ofType === undefined ? 0 : oidOfId(table.ofType),
        relhastriggers: hasTriggers(table),
        relhassubclass: (table.children?.length ?? 0) > 0,
        relispartition: table.partitionBound !== undefined,
        relpartbound: boundText(table, view.catalog),
      };
      for (const index of indexes) {
        const { oid: relfilenode, name: relname } = index;
        const relkind = table.partitionKey === undefined ? "i" : "I";
        const relispartition = index.parent !== null;
        const kind = {
          relam: index.method,
          relkind,
          relispartition,
          relnatts: index.columnIds.length,
          relreplident: "n",
        };
        yield { ...shared, ...place, ...kind, oid: relfilenode, relname, relfilenode };
      }
    }
    for (const { id, schema, name, columns, triggers = [] } of view.catalog.views()) {
      const place = { relnamespace: schemaOid(schema, view), relpersistence: persistenceOf(schema) };
      const kind = { relam: 0, relkind: "v", relnatts: columns.length, relhasrules: true, relfilenode: 0 };
      const relhastriggers = triggers.length > 0;
      yield { ...shared, ...place, ...kind, relhastriggers, oid: oidOfId(id), relname: name };
    }
    for (const sequence of view.catalog.sequences()) {
      const oid = oidOfId(sequence.id);
      const relpersistence = persistenceOf(sequence.schema);
      const relnamespace = schemaOid(sequence.schema, view);
      const kind = { relam: 0, relkind: "S", relnatts: 3, relreplident: "n" };
      yield { ...shared, ...kind, oid, relname: sequence.name, relnamespace, relpersistence, relfilenode: oid };
    }
  },
);

const pgAttribute = systemRelation(
  "pg_catalog",
  "pg_attribute",
  {
    attrelid: OID,
    attname: NAME,
    atttypid: OID,
    attstattarget: INT4,
    attlen: INT2,
    attnum: INT2,
    attndims: INT4,
    atttypmod: INT4,
    attnotnull: BOOL,
    atthasdef: BOOL,
    atthasmissing: BOOL,
    attidentity: TEXT,
    attgenerated: TEXT,
    attisdropped: BOOL,
    attislocal: BOOL,
    attinhcount: INT4,
    attcollation: OID,
    attacl: arrayOf(TEXT),
    attoptions: arrayOf(TEXT),
  },
  function* ({ catalog }) {
    const shared = {
      attstattarget: -1,
      attlen: -1,
      attgenerated: "",
      attisdropped: false,
      attislocal: true,
      attinhcount: 0,
      attcollation: 0,
      atthasmissing: false,
    };
    for (const table of catalog.tables()) {
      for (const [i, column] of table.columns.entries()) {
        const { type, identity } = column;
        yield {
          ...shared,
          attrelid: oidOfId(table.id),
          attname: column.name,
          atttypid: typeOid(type),
          attnum: i + 1,
          attndims: type.element === null ? 0 : 1,
          atttypmod: typmodOf(type),
          attnotnull: column.notNull || (table.primaryKey?.includes(column.id) ?? false),
          atthasdef: (column.defaultSql !== null && identity === null) || Boolean(column.generatedSql),
          attgenerated: column.generatedSql ? "s" : "",
          attidentity: identity === null ? "" : identity === "always" ? "a" : "d",
          attislocal: column.local ?? true,
          attinhcount: column.inherited ?? 0,
        };
      }
    }
    for (const view of catalog.views()) {
      for (const [i, { name, type }] of view.columns.entries()) {
        const facts = { atttypid: typeOid(type), atttypmod: typmodOf(type), attndims: type.element === null ? 0 : 1 };
        const none = { attnotnull: false, atthasdef: false, attidentity: "" };
        yield { ...shared, ...facts, ...none, attrelid: oidOfId(view.id), attname: name, attnum: i + 1 };
      }
    }
    for (const table of catalog.tables()) {
      for (const index of indexesOf(table)) {
        for (const [i, id] of index.columnIds.entries()) {
          const column = table.columns.find((other) => other.id === id);
          if (column === undefined) continue;
          yield {
            ...shared,
            attrelid: index.oid,
            attname: column.name,
            atttypid: typeOid(column.type),
            attnum: i + 1,
            attndims: column.type.element === null ? 0 : 1,
            atttypmod: typmodOf(column.type),
            attnotnull: false,
            atthasdef: false,
            attidentity: "",
          };
        }
      }
    }
  },
);

const pgAttrdef = systemRelation(
  "pg_catalog",
  "pg_attrdef",
  { oid: OID, adrelid: OID, adnum: INT2, adbin: TEXT },
  function* ({ catalog }) {
    for (const table of catalog.tables()) {
      for (const [i, { defaultSql, generatedSql, identity, id }] of table.columns.entries()) {
        const adbin = generatedSql ?? (identity === null ? defaultSql : null);
        if (adbin === null) continue;
        yield { oid: hashedOid("default", table.id, id), adrelid: oidOfId(table.id), adnum: i + 1, adbin };
      }
    }
  },
);

const pgIndex = systemRelation(
  "pg_catalog",
  "pg_index",
  {
    indexrelid: OID,
    indrelid: OID,
    indnatts: INT2,
    indnkeyatts: INT2,
    indisunique: BOOL,
    indnullsnotdistinct: BOOL,
    indisprimary: BOOL,
    indisexclusion: BOOL,
    indimmediate: BOOL,
    indisclustered: BOOL,
    indisvalid: BOOL,
    indcheckxmin: BOOL,
    indisready: BOOL,
    indislive: BOOL,
    indisreplident: BOOL,
    indkey: arrayOf(INT2),
    indoption: arrayOf(INT2),
    indexprs: TEXT,
    indpred: TEXT,
  },
  function* ({ catalog }) {
    for (const table of catalog.tables()) {
      for (const { oid, unique, primary, columnIds, valid } of indexesOf(table)) {
        yield {
          indexrelid: oid,
          indrelid: oidOfId(table.id),
          indnatts: columnIds.length,
          indnkeyatts: columnIds.length,
          indisunique: unique,
          indnullsnotdistinct: false,
          indisprimary: primary,
          indisexclusion: false,
          indimmediate: true,
          indisclustered: false,
          indisvalid: valid,
          indcheckxmin: false,
          indisready: true,
          indislive: true,
          indisreplident: false,
          indkey: sqlArray(columnIds.map((id) => attnum(table, id))),
          indoption: sqlArray(columnIds.map(() => 0)),
        };
      }
    }
  },
);

const ACTIONS = { "no action": "a", restrict: "r", cascade: "c", "set null": "n", "set default": "d" } as const;

const pgConstraint = systemRelation(
  "pg_catalog",
  "pg_constraint",
  {
    oid: OID,
    conname: NAME,
    connamespace: OID,
    contype: TEXT,
    condeferrable: BOOL,
    condeferred: BOOL,
    convalidated: BOOL,
    conrelid: OID,
    contypid: OID,
    conindid: OID,
    conparentid: OID,
    confrelid: OID,
    confupdtype: TEXT,
    confdeltype: TEXT,
    confmatchtype: TEXT,
    conislocal: BOOL,
    coninhcount: INT4,
    connoinherit: BOOL,
    conkey: arrayOf(INT2),
    confkey: arrayOf(INT2),
    conbin: TEXT,
  },
  function* (view) {
    const shared = {
      condeferrable: false,
      condeferred: false,
      convalidated: true,
      contypid: 0,
      conparentid: 0,
      confrelid: 0,
      confupdtype: " ",
      confdeltype: " ",
      confmatchtype: " ",
      conislocal: true,
      coninhcount: 0,
      connoinherit: true,
    };
    for (const table of view.catalog.tables()) {
      for (const constraint of constraintsOf(table, view.catalog)) {
        const { oid, name, type, columnIds, index, check, references, deferrable } = constraint;
        yield {
          ...shared,
          condeferrable: deferrable !== undefined,
          condeferred: deferrable?.initiallyDeferred ?? false,
          oid,
          conname: name,
          connamespace: schemaOid(table.schema, view),
          contype: type,
          conrelid: oidOfId(table.id),
          conindid: index,
          conkey: sqlArray(columnIds.map((id) => attnum(table, id))),
          conbin: check?.sql ?? null,
          ...(check !== null && {
            convalidated: !check.notValid,
            conislocal: check.local ?? true,
            coninhcount: check.inherited ?? 0,
            connoinherit: check.noInherit ?? false,
          }),
          ...(references !== null && {
            confrelid: oidOfId(references.table.id),
            confkey: sqlArray(references.columnIds.map((id) => attnum(references.table, id))),
            confupdtype: ACTIONS[references.key.onUpdate],
            confdeltype: ACTIONS[references.key.onDelete],
            confmatchtype: references.key.match === "full" ? "f" : "s",
            condeferrable: references.key.deferrable,
            condeferred: references.key.initiallyDeferred,
            convalidated: !references.key.notValid,
          }),
        };
      }
    }
    for (const type of view.catalog.types()) {
      if (type.kind !== "domain") continue;
      for (const { name, sql } of type.checks) {
        const oid = hashedOid("domain constraint", type.id, name);
        const place = {
          connamespace: schemaOid(type.schema, view),
          conrelid: 0,
          contypid: oidOfId(type.id),
          conindid: 0,
        };
        yield { ...shared, ...place, oid, conname: name, contype: "c", conbin: sql };
      }
    }
  },
);

const pgInherits = systemRelation(
  "pg_catalog",
  "pg_inherits",
  { inhrelid: OID, inhparent: OID, inhseqno: INT4, inhdetachpending: BOOL },
  function* ({ catalog }) {
    for (const { id, parents = [] } of catalog.tables()) {
      for (const [i, parent] of parents.entries()) {
        yield { inhrelid: oidOfId(id), inhparent: oidOfId(parent), inhseqno: i + 1, inhdetachpending: false };
      }
    }
    for (const table of catalog.tables()) {
      for (const { oid, parent } of indexesOf(table)) {
        if (parent !== null) yield { inhrelid: oid, inhparent: parent, inhseqno: 1, inhdetachpending: false };
      }
    }
  },
);

const pgPartitionedTable = systemRelation(
  "pg_catalog",
  "pg_partitioned_table",
  {
    partrelid: OID,
    partstrat: TEXT,
    partnatts: INT2,
    partdefid: OID,
    partattrs: arrayOf(INT2),
    partclass: arrayOf(OID),
    partcollation: arrayOf(OID),
    partexprs: TEXT,
  },
  function* ({ catalog }) {
    for (const table of catalog.tables()) {
      const { partitionKey, children = [] } = table;
      if (partitionKey === undefined) continue;
      const { keys, strategy } = partitionKey;
      const fallback = children.find((id) => catalog.tableById(id)!.partitionBound?.kind === "default");
      const expressions = keys.flatMap(({ expression }) => expression?.sql ?? []);
      yield {
        partrelid: oidOfId(table.id),
        partstrat: strategy[0]!,
        partnatts: keys.length,
        partdefid: fallback === undefined ? 0 : oidOfId(fallback),
        partattrs: sqlArray(keys.map(({ columnId }) => attnum(table, columnId))),
        partclass: sqlArray(keys.map(() => 0)),
        partcollation: sqlArray(keys.map(() => 0)),
        partexprs: expressions.length === 0 ? null : expressions.join(", "),
      };
    }
  },
);

const pgStatisticExt = systemRelation(
  "pg_catalog",
  "pg_statistic_ext",
  {
    oid: OID,
    stxrelid: OID,
    stxname: NAME,
    stxnamespace: OID,
    stxowner: OID,
    stxstattarget: INT4,
    stxkeys: arrayOf(INT2),
    stxkind: arrayOf(TEXT),
    stxexprs: TEXT,
  },
  function* (view) {
    const letters = { ndistinct: "d", dependencies: "f", mcv: "m" } as const;
    for (const table of view.catalog.tables()) {
      for (const { id, schema, name, kinds, keys } of table.extendedStatistics ?? []) {
        const exprs = keys.flatMap(({ sql }) => (sql === undefined ? [] : [sql]));
        const own = keys.flatMap(({ columnId }) => (columnId === undefined ? [] : [attnum(table, columnId)]));
        yield {
          oid: oidOfId(id),
          stxrelid: oidOfId(table.id),
          stxname: name,
          stxnamespace: schemaOid(schema, view),
          stxowner: owner,
          stxstattarget: -1,
          stxkeys: sqlArray(own),
          stxkind: sqlArray([...kinds.map((kind) => letters[kind]), ...(exprs.length > 0 ? ["e"] : [])]),
          stxexprs: exprs.length === 0 ? null : exprs.join(", "),
        };
      }
    }
  },
);

export const PG_RELATIONS = [
  pgStatisticExt,
  pgInherits,
  pgPartitionedTable,
  pgNamespace,
  pgClass,
  pgAttribute,
  pgAttrdef,
  pgIndex,
  pgConstraint,
];

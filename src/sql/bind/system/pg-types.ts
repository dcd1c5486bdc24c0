/** pg_catalog's tables about types, and those about the server: pg_type, pg_enum, pg_settings, pg_database, pg_roles, … */

import { AVAILABLE_EXTENSIONS, BUILT_IN_EXTENSION } from "../../../catalog/extension.js";
import { isRowType, sqlTypeOf } from "../../../catalog/type.js";
import { baseType, builtInTypes, categoryOf, displayName, isPreferred, oidOfId } from "../../../query/expr/types.js";
import { isMultirangeName, isRangeName } from "../../../values/range.js";
import {
  arrayOf,
  BOOL,
  FLOAT4,
  INT2,
  INT4,
  INT8,
  NAME,
  OID,
  type SqlType,
  TEXT,
  TIMESTAMPTZ,
} from "../../../values/values.js";
import { hasTriggers } from "./pg-relations.js";
import {
  BTREE_OID,
  HEAP_OID,
  hashedOid,
  indexesOf,
  OWNER_OID,
  PG_CATALOG_OID,
  queryText,
  SEARCH_METHOD_OIDS,
  schemaOid,
  typeOid,
  typmodOf,
} from "./relation-facts.js";
import { systemRelation } from "./system-view.js";

function kindOf(type: SqlType): string {
  if (type.element === null && isRangeName(type.name)) return "r";
  if (type.element === null && isMultirangeName(type.name)) return "m";
  return categoryOf(type) === "P" ? "p" : "b";
}

function builtIn(type: SqlType) {
  return {
    oid: typeOid(type),
    typname: type.element === null ? type.name : `_${type.element.name}`,
    typnamespace: PG_CATALOG_OID,
    typtype: kindOf(type),
    typcategory: categoryOf(type),
    typispreferred: isPreferred(type),
    typelem: type.element === null ? 0 : typeOid(type.element),
    typarray: type.element === null ? typeOid(arrayOf(type)) : 0,
    typbasetype: 0,
    typnotnull: false,
  };
}

const pgType = systemRelation(
  "pg_catalog",
  "pg_type",
  {
    oid: OID,
    typname: NAME,
    typnamespace: OID,
    typowner: OID,
    typlen: INT2,
    typbyval: BOOL,
    typtype: TEXT,
    typcategory: TEXT,
    typispreferred: BOOL,
    typisdefined: BOOL,
    typdelim: TEXT,
    typrelid: OID,
    typelem: OID,
    typarray: OID,
    typnotnull: BOOL,
    typbasetype: OID,
    typtypmod: INT4,
    typndims: INT4,
    typcollation: OID,
    typdefault: TEXT,
  },
  function* (view) {
    const shared = {
      typowner: OWNER_OID,
      typlen: -1,
      typbyval: false,
      typisdefined: true,
      typdelim: ",",
      typrelid: 0,
      typtypmod: -1,
      typndims: 0,
      typcollation: 0,
    };
    for (const type of builtInTypes()) yield { ...shared, ...builtIn(type) };
    for (const definition of view.catalog.types()) {
      if (isRowType(definition)) continue;
      const type = sqlTypeOf(definition);
      const isDomain = definition.kind === "domain";
      const place = { typnamespace: schemaOid(definition.schema, view) };
      const oid = oidOfId(definition.id);
      const kinds = { enum: "e", domain: "d", composite: "c" } as const;
      yield {
        ...shared,
        ...place,
        oid,
        typname: definition.name,
        typtype: kinds[definition.kind],
        typcategory: definition.kind === "composite" ? "C" : categoryOf(baseType(type)),
        typispreferred: false,
        typelem: 0,
        typarray: oidOfId(definition.id, 2),
        typnotnull: isDomain && definition.notNull,
        typbasetype: isDomain ? typeOid(definition.base) : 0,
        typtypmod: isDomain ? typmodOf(definition.base) : -1,
        typdefault: isDomain ? definition.defaultSql : null,
      };
      yield {
        ...shared,
        ...place,
        ...builtIn(arrayOf(type)),
        ...place,
        oid: oidOfId(definition.id, 2),
        typname: `_${definition.name}`,
        typcategory: "A",
        typtype: "b",
        typelem: oid,
      };
    }
  },
);

const pgEnum = systemRelation(
  "pg_catalog",
  "pg_enum",
  { oid: OID, enumtypid: OID, enumsortorder: FLOAT4, enumlabel: NAME },
  function* ({ catalog }) {
    for (const type of catalog.types()) {
      if (type.kind !== "enum") continue;
      for (const { label, order } of type.labels) {
        const oid = hashedOid("label", type.id, order);
        yield { oid, enumtypid: oidOfId(type.id), enumsortorder: order, enumlabel: label };
      }
    }
  },
);

const pgSequence = systemRelation(
  "pg_catalog",
  "pg_sequence",
  {
    seqrelid: OID,
    seqtypid: OID,
    seqstart: INT8,
    seqincrement: INT8,
    seqmax: INT8,
    seqmin: INT8,
    seqcache: INT8,
    seqcycle: BOOL,
  },
  ({ catalog }) =>
    catalog.sequences().map((sequence) => ({
      seqrelid: oidOfId(sequence.id),
      seqtypid: typeOid(sequence.type),
      seqstart: sequence.start,
      seqincrement: sequence.increment,
      seqmax: sequence.max,
      seqmin: sequence.min,
      seqcache: sequence.cache,
      seqcycle: sequence.cycle,
    })),
);

const pgSequences = systemRelation(
  "pg_catalog",
  "pg_sequences",
  {
    schemaname: NAME,
    sequencename: NAME,
    sequenceowner: NAME,
    data_type: TEXT,
    start_value: INT8,
    min_value: INT8,
    max_value: INT8,
    increment_by: INT8,
    cycle: BOOL,
    cache_size: INT8,
    last_value: INT8,
  },
  ({ catalog, user, positionOf }) =>
    catalog.sequences().map((sequence) => {
      const { last, called } = positionOf(sequence);
      return {
        schemaname: sequence.schema,
        sequencename: sequence.name,
        sequenceowner: user,
        data_type: displayName(sequence.type),
        start_value: sequence.start,
        min_value: sequence.min,
        max_value: sequence.max,
        increment_by: sequence.increment,
        cycle: sequence.cycle,
        cache_size: sequence.cache,
        last_value: called ? last : null,
      };
    }),
);

const pgTables = systemRelation(
  "pg_catalog",
  "pg_tables",
  {
    schemaname: NAME,
    tablename: NAME,
    tableowner: NAME,
    tablespace: NAME,
    hasindexes: BOOL,
    hasrules: BOOL,
    hastriggers: BOOL,
    rowsecurity: BOOL,
  },
  ({ catalog, user }) =>
    catalog
      .tables()
      .filter((table) => !table.materialized)
      .map((table) => ({
        schemaname: table.schema,
        tablename: table.name,
        tableowner: user,
        hasindexes: indexesOf(table).length > 0,
        hasrules: false,
        hastriggers: hasTriggers(table),
        rowsecurity: false,
      })),
);

const pgViews = systemRelation(
  "pg_catalog",
  "pg_views",
  { schemaname: NAME, viewname: NAME, viewowner: NAME, definition: TEXT },
  ({ catalog, user }) =>
    catalog.views().map(({ schema, name, query }) => ({
      schemaname: schema,
      viewname: name,
      viewowner: user,
      definition: queryText(query.sql),
    })),
);

const pgMatviews = systemRelation(
  "pg_catalog",
  "pg_matviews",
  { schemaname: NAME, matviewname: NAME, matviewowner: NAME, hasindexes: BOOL, ispopulated: BOOL, definition: TEXT },
  function* ({ catalog, user }) {
    for (const table of catalog.tables()) {
      if (!table.materialized) continue;
      yield {
        schemaname: table.schema,
        matviewname: table.name,
        matviewowner: user,
        hasindexes: indexesOf(table).length > 0,
        ispopulated: table.materialized.populated,
        definition: queryText(table.materialized.query.sql),
      };
    }
  },
);

const pgIndexes = systemRelation(
  "pg_catalog",
  "pg_indexes",
  { schemaname: NAME, tablename: NAME, indexname: NAME, tablespace: NAME, indexdef: TEXT },
  ({ catalog }) =>
    catalog.tables().flatMap((table) =>
      indexesOf(table).map((index) => ({
        schemaname: table.schema,
        tablename: table.name,
        indexname: index.name,
        indexdef: index.definition,
      })),
    ),
);

const pgSettings = systemRelation(
  "pg_catalog",
  "pg_settings",
  {
    name: TEXT,
    setting: TEXT,
    unit: TEXT,
    category: TEXT,
    short_desc: TEXT,
    context: TEXT,
    vartype: TEXT,
    source: TEXT,
  },
  ({ settings }) =>
    settings.map(([name, setting]) => ({
      name,
      setting,
      category: "Session",
      context: "user",
      vartype: "string",
      source: "session",
    })),
);

const pgCursors = systemRelation(
  "pg_catalog",
  "pg_cursors",
  {
    name: TEXT,
    statement: TEXT,
    is_holdable: BOOL,
    is_binary: BOOL,
    is_scrollable: BOOL,
    creation_time: TIMESTAMPTZ,
  },
  ({ cursors }) =>
    cursors.map(({ canScroll, options }) => ({
      name: options.name,
      statement: options.sql,
      is_holdable: options.hold,
      is_binary: options.binary,
      is_scrollable: canScroll,
      creation_time: options.createdAt,
    })),
);

const pgDatabase = systemRelation(
  "pg_catalog",
  "pg_database",
  {
    oid: OID,
    datname: NAME,
    datdba: OID,
    encoding: INT4,
    datcollate: NAME,
    datctype: NAME,
    datistemplate: BOOL,
    datallowconn: BOOL,
  },
  ({ database }) => [
    {
      oid: 1,
      datname: database,
      datdba: OWNER_OID,
      encoding: 6,
      datcollate: "C",
      datctype: "C",
      datistemplate: false,
      datallowconn: true,
    },
  ],
);

const pgRoles = systemRelation(
  "pg_catalog",
  "pg_roles",
  {
    rolname: NAME,
    rolsuper: BOOL,
    rolinherit: BOOL,
    rolcreaterole: BOOL,
    rolcreatedb: BOOL,
    rolcanlogin: BOOL,
    rolreplication: BOOL,
    oid: OID,
  },
  ({ user }) => [
    {
      rolname: user,
      rolsuper: false,
      rolinherit: true,
      rolcreaterole: false,
      rolcreatedb: false,
      rolcanlogin: true,
      rolreplication: false,
      oid: OWNER_OID,
    },
  ],
);

const pgAm = systemRelation("pg_catalog", "pg_am", { oid: OID, amname: NAME, amtype: TEXT }, () => [
  { oid: HEAP_OID, amname: "heap", amtype: "t" },
  { oid: BTREE_OID, amname: "btree", amtype: "i" },
  ...Object.entries(SEARCH_METHOD_OIDS).map(([amname, oid]) => ({ oid, amname, amtype: "i" })),
]);

const pgExtension = systemRelation(
  "pg_catalog",
  "pg_extension",
  { oid: OID, extname: NAME, extowner: OID, extnamespace: OID, extrelocatable: BOOL, extversion: TEXT },
  (view) => [
    {
      oid: hashedOid("extension", BUILT_IN_EXTENSION),
      extname: BUILT_IN_EXTENSION,
      extowner: OWNER_OID,
      extnamespace: PG_CATALOG_OID,
      extrelocatable: false,
      extversion: AVAILABLE_EXTENSIONS.get(BUILT_IN_EXTENSION)!.version,
    },
    ...view.catalog.extensions().map(({ id, name }) => ({
      oid: oidOfId(id),
      extname: name,
      extowner: OWNER_OID,
      extnamespace: schemaOid("public", view),
      extrelocatable: true,
      extversion: AVAILABLE_EXTENSIONS.get(name)?.version ?? null,
    })),
  ],
);

const pgAvailableExtensions = systemRelation(
  "pg_catalog",
  "pg_available_extensions",
  { name: NAME, default_version: TEXT, installed_version: TEXT, comment: TEXT },
  ({ catalog }) => {
    const made = new Set([BUILT_IN_EXTENSION, ...catalog.extensions().map(({ name }) => name)]);
    return [...AVAILABLE_EXTENSIONS].map(([name, { version, comment }]) => ({
      name,
      default_version: version,
      installed_version: made.has(name) ? version : null,
      comment,
    }));
  },
);

export const PG_TYPES_AND_SERVER = [
  pgType,
  pgEnum,
  pgSequence,
  pgSequences,
  pgTables,
  pgViews,
  pgMatviews,
  pgIndexes,
  pgSettings,
  pgCursors,
  pgDatabase,
  pgRoles,
  pgAm,
  pgExtension,
  pgAvailableExtensions,
];

/** pg_catalog's tables about types and sequences, and its views of relations: pg_type, pg_enum, pg_tables, … */

import { isRowType, sqlTypeOf } from "../../../catalog/type.js";
import { baseType, categoryOf, displayName, oidOfId } from "../../../query/expr/types.js";
import type { SqlType } from "../../../values/values.js";
import { typeFacts, typeFactsByName } from "./builtin-facts.js";
import { builtInTypeRows, factsRow } from "./builtin-types.js";
import { shownNames } from "./object-names.js";
import { hasTriggers } from "./pg-class.js";
import { printedTable } from "./printed-table.js";
import { indexesOf, mayUse, OWNER_OID, schemaOid, typeOid, typmodOf } from "./relation-facts.js";
import { ownership } from "./role-facts.js";
import { type DefinedView, definedRelation, liveRelation, printedRelation, type SystemRow } from "./system-view.js";
import { viewText } from "./view-text.js";

const factsNamed = (name: string) => factsRow(typeFactsByName().get(name)!);

/** Functions of pg_proc that read and write the values of types that statements made. */
const CONVERSIONS = {
  enum: { typinput: 3504, typoutput: 3506, typreceive: 3532, typsend: 3533 },
  domain: { typinput: 2597, typreceive: 2598 },
  composite: factsNamed("record"),
} as const;

const pgType = definedRelation(
  "pg_catalog",
  "pg_type",
  function* (view) {
    for (const definition of view.catalog.types()) {
      if (isRowType(definition)) continue;
      const type = sqlTypeOf(definition);
      const oid = oidOfId(definition.id);
      const place = { ...PLACED, typnamespace: schemaOid(definition.schema, view) };
      const array = oidOfId(definition.id, 2);
      const values =
        definition.kind === "domain"
          ? {
              typnotnull: definition.notNull,
              typdefault: definition.defaultSql && shownNames(view, definition.defaultSql),
              typdefaultbin: definition.defaultSql,
            }
          : {};
      const { owner: typowner, acl: typacl } = ownership(view, definition.id);
      yield {
        ...place,
        ...madeType(type),
        ...values,
        typowner,
        typacl,
        oid,
        typname: definition.name,
        typarray: array,
      };
      yield* arrayType(place, definition.name, oid, array, type);
    }
    yield* rowTypes(view);
  },
  builtInTypeRows,
);

const PLACED: SystemRow = { typowner: OWNER_OID, typisdefined: true, typdelim: ",", typtypmod: -1 };

/** Of the type's own; its names and OIDs are the caller's. */
function madeType(type: SqlType): SystemRow {
  const { kind, base, id } = type.user!;
  if (kind === "enum")
    return { ...factsNamed("oid"), ...CONVERSIONS.enum, typtype: "e", typcategory: "E", typispreferred: false };
  if (kind === "composite") {
    return {
      ...CONVERSIONS.composite,
      typtype: "c",
      typcategory: "C",
      typispreferred: false,
      typrelid: oidOfId(id, 1),
    };
  }
  if (kind === "range" || kind === "multirange") {
    const typtype = kind === "range" ? "r" : "m";
    return { ...factsNamed(`num${kind}`), typtype, typcategory: "R", typispreferred: false };
  }
  const below = typeFacts().get(typeOid(baseType(type)));
  return {
    ...(below === undefined ? factsNamed("bytea") : factsRow(below)),
    ...CONVERSIONS.domain,
    typtype: "d",
    typcategory: categoryOf(baseType(type)),
    typispreferred: false,
    typbasetype: typeOid(base!),
    typtypmod: typmodOf(base!),
  };
}

function* arrayType(place: SystemRow, name: string, element: number, oid: number, type: SqlType | null) {
  const align = type?.user?.kind === "enum" ? "i" : "d";
  const own = { typtype: "b", typcategory: "A", typelem: element, typalign: align };
  yield { ...place, ...factsNamed("_record"), ...own, ...ARRAY_IO, oid, typname: `_${name}` };
}

const ARRAY_IO: SystemRow = {
  typinput: 750,
  typoutput: 751,
  typreceive: 2400,
  typsend: 2401,
  typstorage: "x",
  typlen: -1,
};

/** Types of the rows of tables and views, and arrays of them. */
function* rowTypes(view: DefinedView): Iterable<SystemRow> {
  for (const { id, schema, name } of [...view.catalog.tables(), ...view.catalog.views()]) {
    const place = { ...PLACED, typnamespace: schemaOid(schema, view) };
    const own = { typtype: "c", typcategory: "C", typispreferred: false, typrelid: oidOfId(id) };
    const [oid, array] = [oidOfId(id, 2), oidOfId(id, 3)];
    yield { ...place, ...CONVERSIONS.composite, ...own, oid, typname: name, typarray: array };
    yield* arrayType(place, name, oid, array, null);
  }
}

const FIRST_LABEL_OID = 2 ** 31;
const LABELS_OF_A_TYPE = 4096;

const pgEnum = definedRelation("pg_catalog", "pg_enum", function* ({ catalog }) {
  for (const type of catalog.types()) {
    if (type.kind !== "enum") continue;
    for (const [i, { label, order }] of type.labels.entries()) {
      // Clients sort by the OID, too.
      const oid = FIRST_LABEL_OID + ((type.id * LABELS_OF_A_TYPE + i) % FIRST_LABEL_OID);
      yield { oid, enumtypid: oidOfId(type.id), enumsortorder: order, enumlabel: label };
    }
  }
});

const pgSequence = definedRelation("pg_catalog", "pg_sequence", ({ catalog }) =>
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

const pgSequences = liveRelation("pg_catalog", "pg_sequences", ({ catalog, rights, user, positionOf }) =>
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
      last_value: called && mayUse(rights, sequence) ? last : null,
    };
  }),
);

const pgTables = definedRelation("pg_catalog", "pg_tables", ({ catalog, user }) =>
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

const pgViews = printedRelation("pg_catalog", "pg_views", function* (view) {
  for (const { schema, name, query, columns } of view.catalog.views()) {
    const definition = viewText(view, query, columns);
    yield { schemaname: schema, viewname: name, viewowner: view.user, definition };
  }
});

const pgMatviews = printedRelation("pg_catalog", "pg_matviews", function* (view) {
  for (const table of view.catalog.tables()) {
    if (!table.materialized) continue;
    yield {
      schemaname: table.schema,
      matviewname: table.name,
      matviewowner: view.user,
      hasindexes: indexesOf(table).length > 0,
      ispopulated: table.materialized.populated,
      definition: viewText(view, table.materialized.query, table.columns),
    };
  }
});

const pgIndexes = definedRelation("pg_catalog", "pg_indexes", function* (view) {
  for (const table of view.catalog.tables()) {
    for (const index of indexesOf(printedTable(view, table))) {
      yield {
        schemaname: table.schema,
        tablename: table.name,
        indexname: index.name,
        indexdef: shownNames(view, index.definition),
      };
    }
  }
});

export const PG_TYPES = [pgType, pgEnum, pgSequence, pgSequences, pgTables, pgViews, pgMatviews, pgIndexes];

/** pg_type's built-in rows, pg_cast and pg_collation: what of PostgreSQL's exists here, under its OIDs. */
import { builtInTypes, categoryOf, isPreferred, pgOidOf } from "../../../query/expr/types.js";
import { NAMED_OIDS } from "../../../values/catalog-types.js";
import { arrayOf, type SqlType } from "../../../values/values.js";
import { type TypeFacts, typeFacts, typeFactsByName } from "./builtin-facts.js";
import { CAST_FACTS } from "./data/types.js";
import { madeCastRows } from "./made-operators.js";
import { INFORMATION_SCHEMA_OID, OWNER_OID, PG_CATALOG_OID } from "./relation-facts.js";
import { recordsOf, systemShapes } from "./shapes.js";
import { definedRelation, type SystemRow } from "./system-view.js";

let known: ReadonlySet<number> | null = null;

/** OIDs of the types that exist here, or that relations and functions of the catalog are declared with. */
export function knownTypeOids(): ReadonlySet<number> {
  if (known !== null) return known;
  const oids = new Set<number>(Object.values(NAMED_OIDS).flat());
  for (const type of builtInTypes()) oids.add(pgOidOf(type));
  for (const { columns } of systemShapes().values()) {
    for (const { pgType } of columns) oids.add(typeFactsByName().get(pgType)?.oid ?? 0);
  }
  for (const facts of typeFacts().values()) if (facts.kind === "p") oids.add(facts.oid);
  for (const oid of [...oids]) oids.add(typeFacts().get(oid)?.array ?? 0);
  oids.delete(0);
  known = oids;
  return oids;
}

/** What pg_type says of a type that PostgreSQL has. */
export function factsRow(facts: TypeFacts): SystemRow {
  const [typinput, typoutput, typreceive, typsend, typmodin, typmodout] = facts.io;
  return {
    typlen: facts.length,
    typbyval: facts.byValue,
    typcategory: facts.category,
    typispreferred: facts.preferred,
    typdelim: facts.delimiter,
    typsubscript: facts.subscript,
    typinput,
    typoutput,
    typreceive,
    typsend,
    typmodin,
    typmodout,
    typanalyze: facts.analyze,
    typalign: facts.align,
    typstorage: facts.storage,
    typcollation: facts.collation,
  };
}

const SHARED: SystemRow = {
  typnamespace: PG_CATALOG_OID,
  typowner: OWNER_OID,
  typisdefined: true,
  typtypmod: -1,
};

/** The built-in rows of pg_type. */
export function* builtInTypeRows(): Iterable<SystemRow> {
  for (const facts of typeFacts().values()) {
    if (!knownTypeOids().has(facts.oid)) continue;
    const { oid, name, kind, element, array } = facts;
    yield { ...SHARED, ...factsRow(facts), oid, typname: name, typtype: kind, typelem: element, typarray: array };
  }
  for (const type of builtInTypes()) if (!typeFacts().has(pgOidOf(type))) yield { ...SHARED, ...ownType(type) };
  yield* systemRowTypes();
}

/** Types of the rows of the system's relations. */
function* systemRowTypes(): Iterable<SystemRow> {
  const record = factsRow(typeFactsByName().get("record")!);
  const own = { ...SHARED, ...record, typtype: "c", typcategory: "C", typispreferred: false };
  for (const { schema, name, oid, rowType } of systemShapes().values()) {
    const typnamespace = schema === "pg_catalog" ? PG_CATALOG_OID : INFORMATION_SCHEMA_OID;
    yield { ...own, oid: rowType, typname: name, typnamespace, typrelid: oid };
  }
}

/** A type that PostgreSQL does not have: it looks as an extension's would. */
function ownType(type: SqlType): SystemRow {
  const array = type.element === null ? arrayOf(type) : null;
  return {
    ...factsRow(typeFactsByName().get(type.element === null ? "bytea" : "_bytea")!),
    oid: pgOidOf(type),
    typname: type.element === null ? type.name : `_${type.element.name}`,
    typtype: "b",
    typcategory: categoryOf(type),
    typispreferred: isPreferred(type),
    typelem: type.element === null ? 0 : pgOidOf(type.element),
    typarray: array === null ? 0 : pgOidOf(array),
  };
}

export function* castRows(): Iterable<SystemRow> {
  for (const record of recordsOf(CAST_FACTS)) {
    const [oid, source, target, castfunc, castcontext, castmethod] = record.split(",") as [string, ...string[]];
    if (!knownTypeOids().has(Number(source)) || !knownTypeOids().has(Number(target))) continue;
    yield {
      oid: Number(oid),
      castsource: Number(source),
      casttarget: Number(target),
      castfunc: Number(castfunc),
      castcontext: castcontext!,
      castmethod: castmethod!,
    };
  }
}

const pgCast = definedRelation("pg_catalog", "pg_cast", madeCastRows, castRows);

const localeOf = (name: string) => {
  const locale = name === "POSIX" ? name : "C";
  return { collcollate: locale, collctype: locale };
};

/** OID and encoding of those besides the default one. */
const COLLATIONS = new Map<string, readonly [oid: number, encoding: number]>([
  ["C", [950, -1]],
  ["POSIX", [951, -1]],
  ["ucs_basic", [12_340, 6]],
]);

export const collationOid = (name: string): number => COLLATIONS.get(name)?.[0] ?? 100;

const pgCollation = definedRelation(
  "pg_catalog",
  "pg_collation",
  () => [],
  function* () {
    const named = { collnamespace: PG_CATALOG_OID, collowner: OWNER_OID, collisdeterministic: true };
    yield { ...named, oid: 100, collname: "default", collprovider: "d", collencoding: -1 };
    for (const [collname, [oid, collencoding]] of COLLATIONS) {
      yield { ...named, oid, collname, collprovider: "c", collencoding, ...localeOf(collname) };
    }
  },
);

export const BUILT_IN_TYPES = [pgCast, pgCollation];

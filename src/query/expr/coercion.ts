/**
 * Which type becomes which, and when, as PostgreSQL's pg_cast has it and chapter 10 of its manual uses it. Pure data
 * and functions: binders, the resolver of overloads and the optimizer call it. cast.ts says how a value is converted.
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import { type CastDef, castKey } from "../../catalog/operator.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { RECORD, recordName, recordOf, type SqlType, TEXT, type TypeName, UNKNOWN } from "../../values/values.js";
import { baseType, categoryOf, displayName, isPreferred } from "./types.js";
import { isVariantAsIs } from "./variant-order.js";

/** When a conversion happens: by itself, on storing into a column, or only when written. */
export type CastContext = "implicit" | "assignment" | "explicit";

/** pg_cast, without the conversions through text: source → target → context. */
const CASTS: Partial<Record<TypeName, Partial<Record<TypeName, CastContext>>>> = {
  bool: { int4: "explicit", text: "assignment", varchar: "assignment", bpchar: "assignment" },
  int2: {
    int4: "implicit",
    int8: "implicit",
    float4: "implicit",
    float8: "implicit",
    numeric: "implicit",
    oid: "implicit",
  },
  int4: {
    int2: "assignment",
    int8: "implicit",
    float4: "implicit",
    float8: "implicit",
    numeric: "implicit",
    oid: "implicit",
    money: "assignment",
    bool: "explicit",
    bit: "explicit",
    char: "explicit",
  },
  int8: {
    bit: "explicit",
    int2: "assignment",
    int4: "assignment",
    float4: "implicit",
    float8: "implicit",
    numeric: "implicit",
    oid: "implicit",
    money: "assignment",
  },
  oid: { int4: "assignment", int8: "assignment" },
  float4: { int2: "assignment", int4: "assignment", int8: "assignment", float8: "implicit", numeric: "assignment" },
  float8: { int2: "assignment", int4: "assignment", int8: "assignment", float4: "assignment", numeric: "assignment" },
  numeric: {
    int2: "assignment",
    int4: "assignment",
    int8: "assignment",
    float4: "implicit",
    float8: "implicit",
    money: "assignment",
  },
  money: { numeric: "assignment" },
  text: { varchar: "implicit", bpchar: "implicit", name: "implicit", char: "assignment", citext: "assignment" },
  vector: { halfvec: "implicit", sparsevec: "implicit" },
  halfvec: { vector: "assignment", sparsevec: "implicit" },
  sparsevec: { vector: "assignment", halfvec: "assignment" },
  hstore: { json: "explicit", jsonb: "explicit" },
  citext: { text: "implicit", varchar: "implicit", bpchar: "assignment" },
  varchar: { text: "implicit", bpchar: "implicit", name: "implicit", char: "assignment", citext: "assignment" },
  bpchar: { text: "implicit", varchar: "implicit", name: "implicit", char: "assignment", citext: "assignment" },
  char: { text: "implicit", int4: "explicit" },
  name: { text: "implicit", varchar: "assignment", bpchar: "assignment" },
  date: { timestamp: "implicit", timestamptz: "implicit" },
  time: { interval: "implicit", timetz: "implicit" },
  timetz: { time: "assignment" },
  timestamp: { date: "assignment", time: "assignment", timestamptz: "implicit" },
  timestamptz: { date: "assignment", time: "assignment", timetz: "assignment", timestamp: "assignment" },
  interval: { time: "assignment" },
  bit: { varbit: "implicit", int4: "explicit", int8: "explicit" },
  varbit: { bit: "implicit" },
  inet: { cidr: "assignment" },
  cidr: { inet: "implicit" },
  macaddr: { macaddr8: "implicit" },
  macaddr8: { macaddr: "implicit" },
  xid8: { xid: "explicit" },
  point: { box: "assignment" },
  lseg: { point: "explicit" },
  path: { polygon: "assignment" },
  box: { point: "explicit", lseg: "explicit", polygon: "assignment", circle: "explicit" },
  polygon: { point: "explicit", path: "assignment", box: "explicit", circle: "explicit" },
  circle: { point: "explicit", box: "explicit", polygon: "explicit" },
  int4range: { int4multirange: "explicit" },
  int8range: { int8multirange: "explicit" },
  numrange: { nummultirange: "explicit" },
  daterange: { datemultirange: "explicit" },
  tsrange: { tsmultirange: "explicit" },
  tstzrange: { tstzmultirange: "explicit" },
  json: { jsonb: "assignment", vector: "explicit" },
  jsonb: {
    json: "assignment",
    bool: "explicit",
    int2: "explicit",
    int4: "explicit",
    int8: "explicit",
    float4: "explicit",
    float8: "explicit",
    numeric: "explicit",
    vector: "explicit",
  },
};

const CONTEXT_RANK: Record<CastContext, number> = { implicit: 0, assignment: 1, explicit: 2 };

/** Types of the same name that are one only if one statement made them. */
const OF_ONE_DEFINITION: ReadonlySet<TypeName> = new Set(["enum", "range", "multirange"]);

const isNumber = (type: SqlType) => categoryOf(type) === "N";

/** Casts that statements made of the tenant of which a statement is being bound; null: none. */
let madeCasts: CatalogView["madeCasts"] = null;

/** Binds with the casts that statements made. Binding never waits, so no other tenant's statement comes between. */
export function withMadeCasts<T>(casts: CatalogView["madeCasts"], bind: () => T): T {
  if (casts === madeCasts) return bind();
  const outside = madeCasts;
  madeCasts = casts;
  try {
    return bind();
  } finally {
    madeCasts = outside;
  }
}

/** The cast that a statement made for these types; null: there is none. */
export function madeCast(from: SqlType, to: SqlType): CastDef | null {
  return madeCasts?.get(castKey(baseType(from), baseType(to))) ?? null;
}

/** Whether the system has a cast for the types, besides that through text. */
export function hasBuiltInCast(from: SqlType, to: SqlType): boolean {
  if (from.element !== null || to.element !== null) return false;
  return CASTS[from.name]?.[to.name] !== undefined;
}

/** Whether a value of `from` may become `to` in that context; modifiers do not matter. */
export function canCoerce(from: SqlType, to: SqlType, context: CastContext): boolean {
  if (from === to || from.name === "unknown") return to.name !== "void" || from === to;
  const rank = CONTEXT_RANK[context];
  const made = madeCast(from, to);
  if (made !== null) return rank >= CONTEXT_RANK[made.context];
  if (from.element !== null && to.element !== null) return canCoerce(from.element, to.element, context);
  if (to.name === "variant") return from.name === "variant" || rank >= CONTEXT_RANK.assignment;
  if (from.name === "variant") return rank >= CONTEXT_RANK[categoryOf(to) === "S" ? "assignment" : "explicit"];
  if (from.name === "record" && to.name === "record") return canCoerceRecord(from, to, context);
  if (from.element === null && to.element === null && from.name === to.name) {
    return !OF_ONE_DEFINITION.has(from.name) || baseType(from) === baseType(to);
  }
  // Lists of numbers serve as vectors wherever one is wanted (`embedding <=> ARRAY[0.1, 0.2]`).
  if (from.element !== null && to.name === "vector") return isNumber(from.element);
  if (from.element !== null && (to.name === "halfvec" || to.name === "sparsevec")) {
    return isNumber(from.element) && rank >= CONTEXT_RANK.assignment;
  }
  if (from.element !== null && to.name === "hstore") {
    return from.element.name === "text" && rank >= CONTEXT_RANK.explicit;
  }
  if ((from.name === "vector" || from.name === "halfvec") && to.element !== null && isNumber(to.element)) {
    return rank >= CONTEXT_RANK[to.element.name === "float4" ? "implicit" : "assignment"];
  }
  if (to.name === "multirange" && from.name === "range") {
    return rank >= CONTEXT_RANK.explicit && baseType(to).user!.part === baseType(from);
  }
  const known = CASTS[from.name]?.[to.name];
  if (known !== undefined) return rank >= CONTEXT_RANK[known];
  if (to.typeName === "regclass" && categoryOf(from) === "S") return true;
  // Everything can be written as text when it is stored, and read from text when that is asked for.
  if (from.name === "void" || to.name === "void" || to.name === "unknown") return false;
  if (categoryOf(to) === "S") return rank >= CONTEXT_RANK.assignment;
  return categoryOf(from) === "S" && rank >= CONTEXT_RANK.explicit;
}

/** A row that no type names becomes any type with as many fields; a named type only a bare record. */
function canCoerceRecord(from: SqlType, to: SqlType, context: CastContext): boolean {
  if (from.fields === undefined || to.fields === undefined) return true;
  const [inner, outer] = [baseType(from), baseType(to)];
  if (inner !== from || outer !== to) return canCoerce(inner, outer, context);
  if (recordName(from) !== null && recordName(from) !== recordName(to)) return recordName(to) === null;
  if (from.fields.length !== to.fields.length) return false;
  // The fields are converted where no function that a statement made can be called.
  return withMadeCasts(null, () =>
    from.fields!.every((field, i) => canCoerceField(field.type, to.fields![i]!.type, from, context)),
  );
}

/** A literal in ROW(…) counts as text until the row becomes another type: then it is read as that type's field. */
function canCoerceField(field: SqlType, to: SqlType, row: SqlType, context: CastContext): boolean {
  return (recordName(row) === null && field === TEXT) || canCoerce(field, to, recordContext(row, context));
}

/** The fields of ROW(…) are converted as on storing wherever the row itself is converted. */
const recordContext = (from: SqlType, context: CastContext): CastContext =>
  recordName(from) === null && context === "implicit" ? "assignment" : context;

/** True when the conversion keeps the value as it is, so that no cast has to run. */
export function isBinaryCoercible(from: SqlType, to: SqlType): boolean {
  if (from === to) return true;
  // A domain's conditions have to be looked at.
  if (to.user?.kind === "domain") return false;
  if (from.element !== null && to.element !== null) return isBinaryCoercible(from.element, to.element);
  if (from.element !== null || to.element !== null) return false;
  if (to.modifier !== null) return false;
  if (from.name === "record" && to.name === "record") return isSameRow(from, to);
  if (from.name === to.name) return !OF_ONE_DEFINITION.has(from.name) || baseType(from) === to;
  if (from.name === "cidr" && to.name === "inet") return true;
  if (to.name === "variant") return isVariantAsIs(from);
  return to.name === "text" ? from.name === "varchar" : to.name === "varchar" && from.name === "text";
}

/** Fields may have other names, but the same types. */
function isSameRow(from: SqlType, to: SqlType): boolean {
  if (from.fields === undefined || to.fields === undefined) return true;
  return (
    from.fields.length === to.fields.length &&
    from.fields.every((field, i) => isBinaryCoercible(field.type, to.fields![i]!.type))
  );
}

/**
 * The one type for the branches of CASE, the columns of UNION, VALUES and the like (chapter 10.5). `construct` is
 * named in the error 42804. All unknown gives text.
 */
export function commonType(types: readonly SqlType[], construct = "CASE"): SqlType {
  const first = types[0];
  if (first !== undefined && first.name !== "unknown" && types.every((type) => type === first)) return first;
  let chosen: SqlType = UNKNOWN;
  for (const type of types) {
    const next = isNamedOid(type) ? type : baseType(type);
    if (next.name === "unknown" || next === chosen) continue;
    if (chosen.name === "unknown") chosen = next;
    else if (chosen.name === "record" && next.name === "record") chosen = commonRow(chosen, next, construct);
    else if (categoryOf(next) !== categoryOf(chosen)) throw mismatch(construct, chosen, next);
    else if (!isPreferred(chosen) && canCoerce(chosen, next, "implicit") && !canCoerce(next, chosen, "implicit")) {
      chosen = next;
    }
  }
  if (chosen.name === "unknown") return TEXT;
  for (const type of types) {
    if (!canCoerce(baseType(type), chosen, "implicit")) throw mismatch(construct, chosen, baseType(type));
  }
  return chosen;
}

/** Rows that no type names have one field by field; where that fails, they are bare records. */
function commonRow(a: SqlType, b: SqlType, construct: string): SqlType {
  if (a.fields === undefined || b.fields === undefined) return RECORD;
  const [left, right] = [recordName(a), recordName(b)];
  if (left !== right) throw mismatch(construct, a, b);
  if (left !== null) return a;
  if (a.fields.length !== b.fields.length) return RECORD;
  try {
    return recordOf(
      a.fields.map((field, i) => ({ name: field.name, type: commonType([field.type, b.fields![i]!.type]) })),
    );
  } catch (error) {
    if (error instanceof DbError) return RECORD;
    throw error;
  }
}

const mismatch = (construct: string, a: SqlType, b: SqlType) =>
  sqlError("42804", `${construct} types ${displayName(a)} and ${displayName(b)} cannot be matched`);

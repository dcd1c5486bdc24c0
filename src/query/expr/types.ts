/**
 * Facts about types and the rules by which one becomes another, as PostgreSQL's catalogs pg_type and pg_cast have
 * them and as chapter 10 of its manual uses them. Pure data and functions: binders, the resolver of overloads and the
 * optimizer call it. How a value is converted is in cast.ts.
 */
import { DbError, sqlError } from "../../protocol/errors.js";
import { VECTOR_DIMENSIONS_MAX } from "../../protocol/limits.js";
import { nearestName } from "../../protocol/nearest-name.js";
import { catalogTypeOids, isCatalogVector, isNamedOid } from "../../values/catalog-types.js";
import { numericModifier } from "../../values/text-format.js";
import {
  arrayOf,
  numericType,
  RECORD,
  recordName,
  recordOf,
  type SqlType,
  TEXT,
  type TypeName,
  typeOf,
  UNKNOWN,
  type UserType,
} from "../../values/values.js";
import { isVariantAsIs } from "./variant-order.js";

/**
 * pg_type.typcategory: boolean, numeric, string, date/time, time span, array, pseudo, user-defined, unknown, enum, bit
 * string, network address, geometric, range, internal.
 */
export type TypeCategory = "B" | "N" | "S" | "D" | "T" | "A" | "P" | "U" | "X" | "E" | "V" | "I" | "G" | "R" | "Z";

/** When a conversion happens: by itself, on storing into a column, or only when written. */
export type CastContext = "implicit" | "assignment" | "explicit";

interface TypeFacts {
  readonly category: TypeCategory;
  readonly preferred: boolean;
  /** As format_type() prints it. */
  readonly display: string;
  readonly oid: number;
  readonly arrayOid: number;
}

const facts = (
  category: TypeCategory,
  display: string,
  oid: number,
  arrayOid: number,
  preferred = false,
): TypeFacts => ({ category, display, oid, arrayOid, preferred });

const TYPES: Record<TypeName, TypeFacts> = {
  unknown: facts("X", "unknown", 705, 0),
  bool: facts("B", "boolean", 16, 1000, true),
  int2: facts("N", "smallint", 21, 1005),
  int4: facts("N", "integer", 23, 1007),
  int8: facts("N", "bigint", 20, 1016),
  oid: facts("N", "oid", 26, 1028, true),
  float4: facts("N", "real", 700, 1021),
  float8: facts("N", "double precision", 701, 1022, true),
  numeric: facts("N", "numeric", 1700, 1231),
  text: facts("S", "text", 25, 1009, true),
  varchar: facts("S", "character varying", 1043, 1015),
  bpchar: facts("S", "character", 1042, 1014),
  name: facts("S", "name", 19, 1003),
  // As vector's.
  citext: facts("S", "citext", 16_392, 16_393),
  hstore: facts("U", "hstore", 16_394, 16_395),
  uuid: facts("U", "uuid", 2950, 2951),
  bytea: facts("U", "bytea", 17, 1001),
  date: facts("D", "date", 1082, 1182),
  time: facts("D", "time without time zone", 1083, 1183),
  timetz: facts("D", "time with time zone", 1266, 1270),
  timestamp: facts("D", "timestamp without time zone", 1114, 1115),
  timestamptz: facts("D", "timestamp with time zone", 1184, 1185, true),
  interval: facts("T", "interval", 1186, 1187, true),
  json: facts("U", "json", 114, 199),
  jsonb: facts("U", "jsonb", 3802, 3807),
  jsonpath: facts("U", "jsonpath", 4072, 4073),
  // No OID is reserved for vectors: an extension's types get theirs above 16384.
  vector: facts("U", "vector", 16_388, 16_389),
  enum: facts("E", "anyenum", 3500, 0),
  bit: facts("V", "bit", 1560, 1561),
  varbit: facts("V", "bit varying", 1562, 1563, true),
  inet: facts("I", "inet", 869, 1041, true),
  cidr: facts("I", "cidr", 650, 651),
  macaddr: facts("U", "macaddr", 829, 1040),
  macaddr8: facts("U", "macaddr8", 774, 775),
  point: facts("G", "point", 600, 1017),
  lseg: facts("G", "lseg", 601, 1018),
  path: facts("G", "path", 602, 1019),
  box: facts("G", "box", 603, 1020),
  polygon: facts("G", "polygon", 604, 1027),
  line: facts("G", "line", 628, 629),
  circle: facts("G", "circle", 718, 719),
  int4range: facts("R", "int4range", 3904, 3905),
  int8range: facts("R", "int8range", 3926, 3927),
  numrange: facts("R", "numrange", 3906, 3907),
  daterange: facts("R", "daterange", 3912, 3913),
  tsrange: facts("R", "tsrange", 3908, 3909),
  tstzrange: facts("R", "tstzrange", 3910, 3911),
  int4multirange: facts("R", "int4multirange", 4451, 6150),
  int8multirange: facts("R", "int8multirange", 4536, 6157),
  nummultirange: facts("R", "nummultirange", 4532, 6151),
  datemultirange: facts("R", "datemultirange", 4535, 6155),
  tsmultirange: facts("R", "tsmultirange", 4533, 6152),
  tstzmultirange: facts("R", "tstzmultirange", 4534, 6153),
  tid: facts("U", "tid", 27, 1010),
  xid: facts("U", "xid", 28, 1011),
  int2vector: facts("U", "int2vector", 22, 1006),
  oidvector: facts("U", "oidvector", 30, 1013),
  tsvector: facts("U", "tsvector", 3614, 3643),
  tsquery: facts("U", "tsquery", 3615, 3645),
  regconfig: facts("U", "regconfig", 3734, 3735),
  char: facts("Z", '"char"', 18, 1002),
  array: facts("A", "anyarray", 2277, 0),
  // As vector's.
  variant: facts("U", "variant", 16_390, 16_391),
  record: facts("P", "record", 2249, 2287),
  void: facts("P", "void", 2278, 0),
};

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
  },
  oid: { int4: "assignment", int8: "assignment" },
  float4: { int2: "assignment", int4: "assignment", int8: "assignment", float8: "implicit", numeric: "assignment" },
  float8: { int2: "assignment", int4: "assignment", int8: "assignment", float4: "assignment", numeric: "assignment" },
  numeric: { int2: "assignment", int4: "assignment", int8: "assignment", float4: "implicit", float8: "implicit" },
  text: { varchar: "implicit", bpchar: "implicit", name: "implicit", char: "assignment", citext: "assignment" },
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

export function categoryOf(type: SqlType): TypeCategory {
  return TYPES[type.name].category;
}

/** Whether the type's values can be sorted and compared; each of a record's fields has to. */
export function hasOrder(type: SqlType): boolean {
  if (type.element !== null) return hasOrder(type.element);
  if (type.name === "record") return type.fields?.every((field) => hasOrder(field.type)) ?? true;
  return type.name !== "json" && categoryOf(type) !== "G";
}

/** The preferred type of its category, towards which unknown operands lean. */
export function isPreferred(type: SqlType): boolean {
  return TYPES[type.name].preferred;
}

/** The type without its modifier, and what a domain is made of: what overloads are declared with. */
export function baseType(type: SqlType): SqlType {
  if (type.user !== undefined) return type.user.base === null ? type : baseType(type.user.base);
  if (type.element !== null) return arrayOf(baseType(type.element));
  return type.modifier === null && !isNamedOid(type) ? type : typeOf(type.name);
}

const isNumber = (type: SqlType) => TYPES[type.name].category === "N";

/** Whether a value of `from` may become `to` in that context; modifiers do not matter. */
export function canCoerce(from: SqlType, to: SqlType, context: CastContext): boolean {
  if (from === to || from.name === "unknown") return to.name !== "void" || from === to;
  const rank = CONTEXT_RANK[context];
  if (from.element !== null && to.element !== null) return canCoerce(from.element, to.element, context);
  if (to.name === "variant") return from.name === "variant" || rank >= CONTEXT_RANK.assignment;
  if (from.name === "variant") return rank >= CONTEXT_RANK[TYPES[to.name].category === "S" ? "assignment" : "explicit"];
  if (from.name === "record" && to.name === "record") return canCoerceRecord(from, to, context);
  if (from.element === null && to.element === null && from.name === to.name) {
    return from.name !== "enum" || baseType(from) === baseType(to);
  }
  // Lists of numbers serve as vectors wherever one is wanted (`embedding <=> ARRAY[0.1, 0.2]`).
  if (from.element !== null && to.name === "vector") return isNumber(from.element);
  if (from.name === "vector" && to.element !== null && isNumber(to.element)) {
    return rank >= CONTEXT_RANK[to.element.name === "float4" ? "implicit" : "assignment"];
  }
  const known = CASTS[from.name]?.[to.name];
  if (known !== undefined) return rank >= CONTEXT_RANK[known];
  if (to.typeName === "regclass" && TYPES[from.name].category === "S") return true;
  // Everything can be written as text when it is stored, and read from text when that is asked for.
  if (from.name === "void" || to.name === "void" || to.name === "unknown") return false;
  if (TYPES[to.name].category === "S") return rank >= CONTEXT_RANK.assignment;
  return TYPES[from.name].category === "S" && rank >= CONTEXT_RANK.explicit;
}

/** A row that no type names becomes any type with as many fields; a named type only a bare record. */
function canCoerceRecord(from: SqlType, to: SqlType, context: CastContext): boolean {
  if (from.fields === undefined || to.fields === undefined) return true;
  const [inner, outer] = [baseType(from), baseType(to)];
  if (inner !== from || outer !== to) return canCoerce(inner, outer, context);
  if (recordName(from) !== null && recordName(from) !== recordName(to)) return recordName(to) === null;
  return (
    from.fields.length === to.fields.length &&
    from.fields.every((field, i) => canCoerceField(field.type, to.fields![i]!.type, from, context))
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
  if (from.name === to.name) return from.name !== "enum" || baseType(from) === to;
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

const displayNames = new WeakMap<SqlType, string>();

/** The type's name as PostgreSQL prints it: "integer", "character varying(10)", "numeric(10,2)[]". */
export function displayName(type: SqlType): string {
  let name = displayNames.get(type);
  if (name === undefined) {
    const isScalar = type.element === null || type.user !== undefined || type.typeName !== undefined;
    name = isScalar ? scalarName(type) : `${displayName(type.element)}[]`;
    displayNames.set(type, name);
  }
  return name;
}

function scalarName(type: SqlType): string {
  if (type.user !== undefined) return userTypeName(type.user);
  if (type.typeName !== undefined) return type.typeName;
  const { display } = TYPES[type.name];
  if (type.modifier === null) return display;
  switch (type.name) {
    case "numeric": {
      const { precision, scale } = numericModifier(type.modifier);
      return `numeric(${precision},${scale})`;
    }
    case "time":
    case "timetz":
    case "timestamp":
    case "timestamptz":
      return display.replace(" ", `(${type.modifier}) `);
    case "interval":
      return intervalName(type.modifier);
    default:
      return `${display}(${type.modifier})`;
  }
}

/** Qualified unless it is in the schema that everybody sees. */
function userTypeName({ schema, name }: UserType): string {
  const quoted = (part: string) => (/^[a-z_][a-z0-9_$]*$/.test(part) ? part : `"${part.replaceAll('"', '""')}"`);
  return schema === "public" ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
}

/** Fields that an interval type may be limited to, by PostgreSQL's bit masks. */
const INTERVAL_FIELDS = new Map<number, string>([
  [1 << 2, "year"],
  [1 << 1, "month"],
  [1 << 3, "day"],
  [1 << 10, "hour"],
  [1 << 11, "minute"],
  [1 << 12, "second"],
  [(1 << 2) | (1 << 1), "year to month"],
  [(1 << 3) | (1 << 10), "day to hour"],
  [(1 << 3) | (1 << 10) | (1 << 11), "day to minute"],
  [(1 << 3) | (1 << 10) | (1 << 11) | (1 << 12), "day to second"],
  [(1 << 10) | (1 << 11), "hour to minute"],
  [(1 << 10) | (1 << 11) | (1 << 12), "hour to second"],
  [(1 << 11) | (1 << 12), "minute to second"],
]);

/** An interval's modifier is PostgreSQL's: field mask × 65536 + fractional digits (0xFFFF: not given). */
function intervalName(modifier: number): string {
  const fields = INTERVAL_FIELDS.get(modifier >>> 16);
  const digits = modifier & 0xffff;
  return `interval${fields === undefined ? "" : ` ${fields}`}${digits === 0xffff ? "" : `(${digits})`}`;
}

/** OIDs of a tenant's objects begin here, four for each id: the object itself first. */
const FIRST_OWN_OID = 16_400;

/** The OID of a table, sequence, schema or type by its id; `part` 1: a table's primary key; 2: the array of a type. */
export function oidOfId(id: number, part: 0 | 1 | 2 | 3 = 0): number {
  return FIRST_OWN_OID + id * 4 + part;
}

/** Id and part of an OID of the tenant's own; null for a built-in one. */
export function idOfOid(oid: number): { readonly id: number; readonly part: number } | null {
  const offset = oid - FIRST_OWN_OID;
  return offset < 0 ? null : { id: Math.floor(offset / 4), part: offset % 4 };
}

export function pgOidOf(type: SqlType): number {
  if (type.user !== undefined) return oidOfId(type.user.id);
  if (type.element?.user !== undefined) return oidOfId(type.element.user.id, 2);
  const ofCatalog = catalogTypeOids(type.element ?? type);
  if (isCatalogVector(type)) return catalogTypeOids(type)![0];
  if (ofCatalog !== null) return ofCatalog[type.element === null ? 0 : 1];
  if (type.element !== null) {
    let element = type.element;
    while (element.element !== null) element = element.element;
    return TYPES[element.name].arrayOid;
  }
  return TYPES[type.name].oid;
}

/** The types that every tenant has, without modifiers, and arrays of them. */
export function builtInTypes(): readonly SqlType[] {
  const own = (Object.keys(TYPES) as TypeName[])
    .filter((name) => name !== "array" && name !== "enum")
    .map((name) => typeOf(name));
  return [...own, ...own.filter((type) => TYPES[type.name].arrayOid !== 0).map(arrayOf)];
}

/** The type with pg_attribute.atttypmod in its modifier's place. */
export function typeOfModifier(type: SqlType, typmod: number): SqlType {
  if (type.element !== null) return arrayOf(typeOfModifier(type.element, typmod));
  if (typmod < 0 || type.user !== undefined) return type;
  if (type.name === "varchar" || type.name === "bpchar") return typeOf(type.name, typmod - 4);
  if (type.name !== "numeric") return typeOf(type.name, typmod);
  return numericType((typmod - 4) >>> 16, (typmod - 4) & 0xffff);
}

/** Every spelling of a type: PostgreSQL's, then those that clients of other dialects send. */
const SPELLINGS: Readonly<Record<string, TypeName>> = {
  bool: "bool",
  boolean: "bool",
  int2: "int2",
  smallint: "int2",
  int: "int4",
  int4: "int4",
  integer: "int4",
  int8: "int8",
  bigint: "int8",
  oid: "oid",
  regclass: "oid",
  float4: "float4",
  real: "float4",
  float8: "float8",
  float: "float8",
  "double precision": "float8",
  numeric: "numeric",
  decimal: "numeric",
  dec: "numeric",
  text: "text",
  varchar: "varchar",
  "character varying": "varchar",
  bpchar: "bpchar",
  char: "char",
  character: "bpchar",
  name: "name",
  citext: "citext",
  hstore: "hstore",
  uuid: "uuid",
  bytea: "bytea",
  date: "date",
  time: "time",
  "time without time zone": "time",
  timetz: "timetz",
  "time with time zone": "timetz",
  timestamp: "timestamp",
  "timestamp without time zone": "timestamp",
  timestamptz: "timestamptz",
  "timestamp with time zone": "timestamptz",
  interval: "interval",
  json: "json",
  jsonb: "jsonb",
  jsonpath: "jsonpath",
  vector: "vector",
  inet: "inet",
  cidr: "cidr",
  macaddr: "macaddr",
  macaddr8: "macaddr8",
  point: "point",
  line: "line",
  lseg: "lseg",
  box: "box",
  path: "path",
  polygon: "polygon",
  circle: "circle",
  int4range: "int4range",
  int8range: "int8range",
  numrange: "numrange",
  daterange: "daterange",
  tsrange: "tsrange",
  tstzrange: "tstzrange",
  int4multirange: "int4multirange",
  int8multirange: "int8multirange",
  nummultirange: "nummultirange",
  datemultirange: "datemultirange",
  tsmultirange: "tsmultirange",
  tstzmultirange: "tstzmultirange",
  tid: "tid",
  xid: "xid",
  int2vector: "int2vector",
  oidvector: "oidvector",
  tsvector: "tsvector",
  tsquery: "tsquery",
  regconfig: "regconfig",
  bit: "bit",
  varbit: "varbit",
  "bit varying": "varbit",
  record: "record",
  variant: "variant",
  void: "void",
  unknown: "unknown",
  datetime: "timestamp",
  double: "float8",
  tinyint: "int2",
  mediumint: "int4",
  longblob: "bytea",
  mediumblob: "bytea",
  tinyblob: "bytea",
  blob: "bytea",
  binary: "bytea",
  varbinary: "bytea",
  longtext: "text",
  mediumtext: "text",
  tinytext: "text",
  string: "text",
  clob: "text",
};

/** How a type's name may be written. */
export function spellingsOf(name: TypeName): readonly string[] {
  return Object.keys(SPELLINGS).filter((spelling) => SPELLINGS[spelling] === name);
}

/** Whether a name without a schema is that of a type which every tenant has. */
export function isBuiltInType(name: string): boolean {
  return Object.hasOwn(SPELLINGS, name.toLowerCase());
}

/**
 * The type of a name as written (any case, with or without `pg_catalog.`), its modifiers and array dimensions; a
 * leading underscore names an array, as in pg_type. Throws 42704 for an unknown name, 22023 for bad modifiers.
 */
export function typeFromName(name: string, modifiers: readonly number[] = [], arrayDims = 0): SqlType {
  const spelled = name.toLowerCase().replace(/^pg_catalog\./, "");
  const known = Object.hasOwn(SPELLINGS, spelled) ? SPELLINGS[spelled] : undefined;
  if (known === undefined) {
    const element = spelled.startsWith("_") ? spelled.slice(1) : "";
    if (!Object.hasOwn(SPELLINGS, element)) {
      const near = nearestName(spelled, Object.keys(SPELLINGS));
      throw sqlError("42704", `type "${name}" does not exist`, near === null ? {} : { hint: `Did you mean ${near}?` });
    }
    return typeFromName(element, modifiers, Math.max(1, arrayDims));
  }
  const type = withModifiers(known, modifiers, spelled);
  // PostgreSQL's arrays are of any number of dimensions whatever was declared.
  return arrayDims > 0 ? arrayOf(type) : type;
}

function withModifiers(name: TypeName, modifiers: readonly number[], spelled: string): SqlType {
  const [first, second] = modifiers;
  if (first === undefined && spelled === "bit") return typeOf("bit", 1);
  if (first === undefined) return spelled === "character" ? typeOf("bpchar", 1) : typeOf(name);
  switch (name) {
    case "numeric":
      return numericWith(first, second ?? 0);
    case "varchar":
    case "bpchar":
    case "bit":
    case "varbit":
      return lengthWith(name, first);
    case "vector":
      if (first < 1) throw sqlError("22023", "dimensions for type vector must be at least 1");
      if (second !== undefined) throw sqlError("22023", "invalid type modifier");
      if (first > VECTOR_DIMENSIONS_MAX) {
        throw sqlError("22023", `dimensions for type vector cannot exceed ${VECTOR_DIMENSIONS_MAX}`);
      }
      return typeOf(name, first);
    case "time":
    case "timetz":
    case "timestamp":
    case "timestamptz":
      if (first < 0)
        throw sqlError("22023", `${displayName(typeOf(name)).toUpperCase()} precision must not be negative`);
      return typeOf(name, Math.min(first, 6));
    case "interval":
      return typeOf(name, first * 65_536 + (second === undefined ? 0xffff : Math.min(second, 6)));
    case "float8":
      // MySQL's FLOAT(n); PostgreSQL's grammar has already turned its own into float4 or float8.
      return typeOf(first <= 24 ? "float4" : "float8");
    case "int2":
    case "int4":
    case "int8":
    case "bytea":
    case "text":
      // Display widths and byte lengths of other dialects carry no meaning here.
      if (!isPostgresName(spelled)) return typeOf(name);
      throw noModifier(name);
    default:
      throw noModifier(name);
  }
}

const noModifier = (name: TypeName) => sqlError("42601", `type modifier is not allowed for type "${name}"`);
const isPostgresName = (spelled: string) => spelled in TYPES;

function numericWith(precision: number, scale: number): SqlType {
  if (precision < 1 || precision > 1000) {
    throw sqlError("22023", `NUMERIC precision ${precision} must be between 1 and 1000`);
  }
  if (scale < -1000 || scale > 1000) {
    throw sqlError("22023", `NUMERIC scale ${scale} must be between -1000 and 1000`);
  }
  return numericType(precision, scale);
}

function lengthWith(name: "varchar" | "bpchar" | "bit" | "varbit", length: number): SqlType {
  const spelled = name === "bpchar" ? "char" : name;
  if (length < 1) throw sqlError("22023", `length for type ${spelled} must be at least 1`);
  if (length > 10_485_760) throw sqlError("22023", `length for type ${spelled} cannot exceed 10485760`);
  return typeOf(name, length);
}

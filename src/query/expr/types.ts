/**
 * Facts about types as PostgreSQL's catalog pg_type has them: categories, names and OIDs. coercion.ts says which type
 * becomes which; type-spellings.ts reads the names of types.
 */
import { catalogTypeOids, isCatalogVector, isNamedOid } from "../../values/catalog-types.js";
import { numericModifier } from "../../values/text-format.js";
import { arrayOf, numericType, type SqlType, type TypeName, typeOf, type UserType } from "../../values/values.js";

/**
 * pg_type.typcategory: boolean, numeric, string, date/time, time span, array, pseudo, user-defined, unknown, enum, bit
 * string, network address, geometric, range, internal.
 */
export type TypeCategory = "B" | "N" | "S" | "D" | "T" | "A" | "P" | "U" | "X" | "E" | "V" | "I" | "G" | "R" | "Z";

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
  money: facts("N", "money", 790, 791),
  text: facts("S", "text", 25, 1009, true),
  varchar: facts("S", "character varying", 1043, 1015),
  bpchar: facts("S", "character", 1042, 1014),
  name: facts("S", "name", 19, 1003),
  // As vector's.
  citext: facts("S", "citext", 16_392, 16_393),
  hstore: facts("U", "hstore", 16_394, 16_395),
  // Clients take what is below 16384 for built in. Only arrays that nobody has a use for are there.
  ltree: facts("U", "ltree", 16_384, 16_385),
  lquery: facts("U", "lquery", 16_386, 16_382),
  ltxtquery: facts("U", "ltxtquery", 16_387, 16_383),
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
  halfvec: facts("U", "halfvec", 16_396, 16_397),
  sparsevec: facts("U", "sparsevec", 16_398, 16_399),
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
  range: facts("R", "anyrange", 3831, 0),
  multirange: facts("R", "anymultirange", 4537, 0),
  tid: facts("U", "tid", 27, 1010),
  xid: facts("U", "xid", 28, 1011),
  xid8: facts("U", "xid8", 5069, 271),
  pg_lsn: facts("U", "pg_lsn", 3220, 3221),
  pg_snapshot: facts("U", "pg_snapshot", 5038, 5039),
  txid_snapshot: facts("U", "txid_snapshot", 2970, 2949),
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

export function categoryOf(type: SqlType): TypeCategory {
  return TYPES[type.name].category;
}

const UNORDERED: ReadonlySet<TypeName> = new Set(["json", "lquery", "ltxtquery", "pg_snapshot", "txid_snapshot"]);

/** Whether the type's values can be sorted and compared; each of a record's fields has to. */
export function hasOrder(type: SqlType): boolean {
  if (type.element !== null) return hasOrder(type.element);
  if (type.name === "record") return type.fields?.every((field) => hasOrder(field.type)) ?? true;
  return !UNORDERED.has(type.name) && categoryOf(type) !== "G";
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

/** The same where a text is read again: the word bit alone would be bit(1). */
export function castName(type: SqlType): string {
  return displayName(type).replace(/^bit(?=$|\[)/, '"bit"');
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
  const quoted = (part: string) => (/^[a-z_][a-z0-9_]*$/.test(part) ? part : `"${part.replaceAll('"', '""')}"`);
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

/** OIDs of a tenant's objects begin here, four for each id: the object itself first. No built-in one is above. */
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
    .filter((name) => !["array", "enum", "range", "multirange"].includes(name))
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

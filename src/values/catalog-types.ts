/**
 * Types of system catalogs that are another type under a name of their own: OIDs that are written as names (regclass
 * and the like), and the arrays int2vector and oidvector, which count from 0 and are written with blanks.
 */
import { INT2, INT4, NAME, OID, type SqlArray, type SqlType, TIMESTAMPTZ, typeOf, type Value } from "./values.js";

/** Their OIDs and those of their arrays are PostgreSQL's. */
export const NAMED_OIDS = {
  regproc: [24, 1008],
  regprocedure: [2202, 2207],
  regoper: [2203, 2208],
  regoperator: [2204, 2209],
  regclass: [2205, 2210],
  regtype: [2206, 2211],
  regrole: [4096, 4097],
  regnamespace: [4089, 4090],
  regcollation: [4191, 4192],
  regdictionary: [3769, 3770],
} as const;

export type NamedOid = keyof typeof NAMED_OIDS;

const named = new Map<string, SqlType>(
  Object.keys(NAMED_OIDS).map((typeName) => [
    typeName,
    Object.freeze({ name: "oid", modifier: null, element: null, typeName }),
  ]),
);

/** The type of that name; null when it is not one of these. */
export function namedOidType(name: string): SqlType | null {
  return named.get(name) ?? null;
}

export const isNamedOid = (type: SqlType): boolean => type.name === "oid" && type.typeName !== undefined;

export const REGCLASS = namedOidType("regclass")!;
export const REGTYPE = namedOidType("regtype")!;
export const REGPROC = namedOidType("regproc")!;

/** The domains of information_schema, as the types that they stand for. */
export const INFORMATION_TYPES: Readonly<Record<string, SqlType>> = {
  sql_identifier: NAME,
  character_data: typeOf("varchar"),
  cardinal_number: INT4,
  yes_or_no: typeOf("varchar", 3),
  time_stamp: TIMESTAMPTZ,
};

const vector = (element: SqlType, typeName: string): SqlType =>
  Object.freeze({ name: "array", modifier: null, element, typeName });

export const INT2_VECTOR = vector(INT2, "int2vector");
export const OID_VECTOR = vector(OID, "oidvector");

export const isCatalogVector = (type: SqlType): boolean => type.element !== null && type.typeName !== undefined;

/** A value of int2vector or oidvector. */
export function catalogVector(elements: readonly Value[]): SqlArray {
  if (elements.length === 0) return { elements, dimensions: [], lowerBounds: [] };
  return { elements, dimensions: [elements.length], lowerBounds: [0] };
}

/** The OIDs of the type and of an array of it; null for any other type. */
export function catalogTypeOids(type: SqlType): readonly [own: number, array: number] | null {
  if (type === INT2_VECTOR) return [22, 1006];
  if (type === OID_VECTOR) return [30, 1013];
  return isNamedOid(type) ? NAMED_OIDS[type.typeName as NamedOid] : null;
}

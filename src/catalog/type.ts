/** Definitions of types that statements make (CREATE TYPE, CREATE DOMAIN), stored like tables. */
import { type EnumLabel, type RecordField, type SqlType, userType } from "../values/values.js";
import type { CheckDef } from "./table.js";

interface NamedType {
  /** Unique within the tenant. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly comment?: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

export interface EnumDef extends NamedType {
  readonly kind: "enum";
  /** In the type's order, which is that of the labels' numbers. */
  readonly labels: readonly EnumLabel[];
}

/** Values of another type that satisfy conditions. */
export interface DomainDef extends NamedType {
  readonly kind: "domain";
  readonly base: SqlType;
  readonly notNull: boolean;
  /** DEFAULT as SQL text. */
  readonly defaultSql: string | null;
  /** Conditions over VALUE. */
  readonly checks: readonly CheckDef[];
}

export interface CompositeDef extends NamedType {
  readonly kind: "composite";
  readonly fields: readonly RecordField[];
  /** Where values have the next field that is added; absent: behind the fields. */
  readonly nextSlot?: number;
  /** Of the rows of a table that columns of other tables hold: the table's id. The table's columns are the fields. */
  readonly rowOf?: number;
}

/** CREATE TYPE … AS RANGE makes two definitions: this one, and that of the multirange. */
export interface RangeDef extends NamedType {
  readonly kind: "range";
  /** The type of the bounds. */
  readonly subtype: SqlType;
  readonly multirange: { readonly id: number; readonly schema: string; readonly name: string };
  /** As given: all order text alike here. */
  readonly collation?: string;
  /** The function that measures distances, which is only shown. */
  readonly subtypeDiff?: string;
}

export interface MultirangeDef extends NamedType {
  readonly kind: "multirange";
  readonly range: SqlType;
}

export type TypeDef = EnumDef | DomainDef | CompositeDef | RangeDef | MultirangeDef;

/** The type as columns and expressions have it. */
export function sqlTypeOf(definition: TypeDef): SqlType {
  const { id, schema, name } = definition;
  switch (definition.kind) {
    case "enum":
      return userType({ kind: "enum", id, schema, name, labels: definition.labels, fields: [], base: null });
    case "domain":
      return userType({ kind: "domain", id, schema, name, labels: [], fields: [], base: definition.base });
    case "composite":
      return userType({ kind: "composite", id, schema, name, labels: [], fields: definition.fields, base: null });
    case "range": {
      const { subtype: part, multirange: list } = definition;
      return userType({ kind: "range", id, schema, name, labels: [], fields: [], base: null, part, list });
    }
    case "multirange":
      return userType({
        kind: "multirange",
        id,
        schema,
        name,
        labels: [],
        fields: [],
        base: null,
        part: definition.range,
      });
  }
}

/** Whether the type is that of a table's rows, which comes and goes with the table. */
export function isRowType(type: TypeDef): boolean {
  return type.kind === "composite" && type.rowOf !== undefined;
}

/** Whether the type is the one with that id, an array of it, or ranges of it. Types made of it only lose a part. */
export function isOfType({ user, element }: SqlType, id: number): boolean {
  if (user?.id === id || (element !== null && isOfType(element, id))) return true;
  return user?.part !== undefined && isOfType(user.part, id);
}

/** Whether the type is the one with that id, or is made of it. */
export function usesType(type: SqlType, id: number): boolean {
  if (type.user !== undefined && type.user.id === id) return true;
  if (type.element !== null && usesType(type.element, id)) return true;
  if (type.user === undefined) return false;
  const { base, fields, part } = type.user;
  if (part !== undefined) return usesType(part, id);
  return (base !== null && usesType(base, id)) || fields.some((field) => usesType(field.type, id));
}

/** Definitions as JSON records. Types are written by name and modifier and interned again when read. */
import { namedOidType } from "../values/catalog-types.js";
import { arrayOf, INT8, type SqlType, type TypeName, typeOf } from "../values/values.js";
import type { ExtensionDef } from "./extension.js";
import type { FunctionDef, RoutineType } from "./function.js";
import type { CastDef, OperatorDef } from "./operator.js";
import type { AccessDef, RoleDef, RoleSettingsDef } from "./role.js";
import type { SchemaDef } from "./schema.js";
import { type SequenceDef, type SequenceNumber, sequenceNumber } from "./sequence.js";
import type { IndexColumn, PartitionKeyDef, TableDef } from "./table.js";
import { sqlTypeOf, type TypeDef } from "./type.js";
import type { ViewDef } from "./view.js";

/** A type as records have it: one that statements made is named by its id. */
interface StoredType {
  readonly name: string;
  readonly modifier: number | null;
  readonly element: StoredType | null;
  /** Of an OID that is written as a name, such as regclass. */
  readonly typeName?: string;
  readonly user?: number;
}

/** Types that statements made, by id, while definitions that use them are read. */
export type TypeLookup = (id: number) => SqlType;

/** Types by id instead of in full, integers beyond a double's as text. */
function storedForm(key: string, value: unknown): unknown {
  if (key === "user" && typeof value === "object") return (value as NonNullable<SqlType["user"]>).id;
  return typeof value === "bigint" ? String(value) : value;
}

function encode(definition: object): Uint8Array {
  return Buffer.from(JSON.stringify(definition, storedForm));
}

function parse<T>(record: Uint8Array): T {
  return JSON.parse(Buffer.from(record).toString("utf8")) as T;
}

export function encodeTable(table: TableDef): Uint8Array {
  return encode(table);
}

export function decodeTable(record: Uint8Array, types: TypeLookup = noTypes): TableDef {
  const table = parse<TableDef>(record);
  const columns = table.columns.map((column) => Object.freeze({ ...column, type: internType(column.type, types) }));
  const indexes = table.indexes.map((index) => {
    return Object.freeze({ ...index, columns: index.columns.map((key) => decodeKey(key, types)) });
  });
  const partitionKey = table.partitionKey && decodePartitionKey(table.partitionKey, types);
  return Object.freeze({ ...table, columns, indexes, ...(partitionKey && { partitionKey }) });
}

function decodeKey(key: IndexColumn, types: TypeLookup): IndexColumn {
  const { expression } = key;
  if (expression === undefined) return key;
  return { ...key, expression: { ...expression, type: internType(expression.type, types) } };
}

function decodePartitionKey({ strategy, keys }: PartitionKeyDef, types: TypeLookup): PartitionKeyDef {
  const decoded = keys.map(({ columnId, expression }) =>
    expression === undefined
      ? { columnId }
      : { columnId, expression: { ...expression, type: internType(expression.type, types) } },
  );
  return { strategy, keys: decoded };
}

function noTypes(id: number): SqlType {
  throw new Error(`the type ${id} is not known`);
}

/** Interned again; `types` gives those that statements made as they are defined now. */
export function internType(type: SqlType | StoredType, types: TypeLookup): SqlType {
  const user = type.user === undefined ? null : types(typeof type.user === "number" ? type.user : type.user.id);
  if (user !== null) return user;
  const named = type.name === "oid" && type.typeName !== undefined ? namedOidType(type.typeName) : null;
  if (named !== null) return named;
  return type.element === null
    ? typeOf(type.name as TypeName, type.modifier)
    : arrayOf(internType(type.element, types));
}

export function encodeSequence(sequence: SequenceDef): Uint8Array {
  return encode(sequence);
}

export function decodeSequence(record: Uint8Array): SequenceDef {
  const stored = parse<SequenceDef>(record);
  const number = (value: SequenceNumber | string) => sequenceNumber(BigInt(value));
  return Object.freeze({
    ...stored,
    // Sequences of earlier versions have neither.
    type: stored.type === undefined ? INT8 : internType(stored.type, noTypes),
    cache: number(stored.cache ?? 1),
    from: stored.from ? { last: number(stored.from.last), called: stored.from.called } : null,
    start: number(stored.start),
    increment: number(stored.increment),
    min: number(stored.min),
    max: number(stored.max),
  });
}

export function encodeView(view: ViewDef): Uint8Array {
  return encode(view);
}

export function decodeView(record: Uint8Array, types: TypeLookup): ViewDef {
  const view = parse<ViewDef>(record);
  return Object.freeze({
    ...view,
    columns: view.columns.map((column) => ({ ...column, type: internType(column.type, types) })),
  });
}

export function encodeFunction(fn: FunctionDef): Uint8Array {
  return encode(fn);
}

export function decodeFunction(record: Uint8Array, types: TypeLookup): FunctionDef {
  const fn = parse<FunctionDef>(record);
  const { aggregate } = fn;
  return Object.freeze({
    ...fn,
    parameters: fn.parameters.map((parameter) =>
      Object.freeze({ ...parameter, type: routineType(parameter.type, types) }),
    ),
    returns: routineType(fn.returns, types),
    ...(aggregate && {
      aggregate: {
        ...aggregate,
        stateType: routineType(aggregate.stateType, types),
        ...(aggregate.moving && {
          moving: { ...aggregate.moving, stateType: routineType(aggregate.moving.stateType, types) },
        }),
      },
    }),
  });
}

function routineType(declared: RoutineType, types: TypeLookup): RoutineType {
  return Object.freeze({ ...declared, type: internType(declared.type, types) });
}

export function encodeSchema(schema: SchemaDef): Uint8Array {
  return encode(schema);
}

export function decodeSchema(record: Uint8Array): SchemaDef {
  return Object.freeze(parse<SchemaDef>(record));
}

/** Of an extension, an operator or a cast. */
export function encodePlain(definition: ExtensionDef | OperatorDef | CastDef): Uint8Array {
  return encode(definition);
}

export function decodeExtension(record: Uint8Array): ExtensionDef {
  return Object.freeze(parse<ExtensionDef>(record));
}

export function decodeOperator(record: Uint8Array, types: TypeLookup): OperatorDef {
  const operator = parse<OperatorDef>(record);
  const { left, right, result } = operator;
  return Object.freeze({
    ...operator,
    left: left === null ? null : routineType(left, types),
    right: routineType(right, types),
    result: routineType(result, types),
  });
}

export function decodeCast(record: Uint8Array, types: TypeLookup): CastDef {
  const cast = parse<CastDef>(record);
  return Object.freeze({ ...cast, source: internType(cast.source, types), target: internType(cast.target, types) });
}

export function encodeRole(role: RoleDef): Uint8Array {
  return encode(role);
}

export function decodeRole(record: Uint8Array): RoleDef {
  return Object.freeze(parse<RoleDef>(record));
}

export function encodeRoleSettings(settings: RoleSettingsDef): Uint8Array {
  return encode(settings);
}

export function decodeRoleSettings(record: Uint8Array): RoleSettingsDef {
  return Object.freeze(parse<RoleSettingsDef>(record));
}

export function encodeAccess(access: AccessDef): Uint8Array {
  return encode(access);
}

export function decodeAccess(record: Uint8Array): AccessDef {
  return Object.freeze(parse<AccessDef>(record));
}

export function encodeType(definition: TypeDef): Uint8Array {
  return encode(definition);
}

/** The definitions, each with the types that it is made of, whatever their order. */
export function decodeTypes(records: readonly Uint8Array[]): TypeDef[] {
  return linkTypes(records.map((record) => parse<TypeDef>(record)));
}

/** Definitions with the types that they are made of as those are defined now. */
export function linkTypes(definitions: readonly TypeDef[]): TypeDef[] {
  const stored = new Map(definitions.map((definition) => [definition.id, definition]));
  const linked = new Map<number, TypeDef>();
  const link = (id: number): TypeDef => {
    const known = linked.get(id);
    if (known !== undefined) return known;
    const definition = linkedType(stored.get(id) ?? missingType(id), (other) => sqlTypeOf(link(other)));
    linked.set(id, definition);
    return definition;
  };
  return [...stored.keys()].map(link);
}

function missingType(id: number): never {
  return noTypes(id) as never;
}

function linkedType(definition: TypeDef, types: TypeLookup): TypeDef {
  switch (definition.kind) {
    case "enum":
      return Object.freeze(definition);
    case "domain":
      return Object.freeze({ ...definition, base: internType(definition.base, types) });
    case "range":
      return Object.freeze({ ...definition, subtype: internType(definition.subtype, types) });
    case "multirange":
      return Object.freeze({ ...definition, range: internType(definition.range, types) });
    case "composite": {
      const fields = definition.fields.map((field) => ({ ...field, type: internType(field.type, types) }));
      return Object.freeze({ ...definition, fields });
    }
  }
}

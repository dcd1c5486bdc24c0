/**
 * Types as functions declare them: pseudo-types, rows of relations, `column%TYPE`. Called by the binders of functions.
 */
import { type FunctionDef, inputsOf, type Polymorphic, type RoutineType } from "../../catalog/function.js";
import { sqlError } from "../../protocol/errors.js";
import { commonType } from "../../query/expr/coercion.js";
import { rangeFamilyOf } from "../../query/expr/functions/own-ranges.js";
import { isBuiltInType } from "../../query/expr/type-spellings.js";
import { baseType, displayName } from "../../query/expr/types.js";
import { arrayOf, RECORD, recordOf, type SqlType, TEXT, UNKNOWN, VOID } from "../../values/values.js";
import type { FunctionTypeNode } from "../parse/ast-functions.js";
import type { TypeNode } from "../parse/ast-query.js";
import { bindType } from "./bind-type.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { findType, firstFound } from "./names.js";

const POLYMORPHIC: ReadonlySet<string> = new Set<Polymorphic>([
  "anyelement",
  "anyarray",
  "anynonarray",
  "anyenum",
  "anyrange",
  "anymultirange",
  "anycompatible",
  "anycompatiblearray",
  "anycompatiblenonarray",
  "anycompatiblerange",
  "anycompatiblemultirange",
  "any",
]);

/** Types whose values are held as those of another one. */
const HELD_AS: Readonly<Record<string, SqlType>> = {
  refcursor: TEXT,
  cstring: TEXT,
  trigger: RECORD,
  event_trigger: VOID,
  internal: VOID,
  language_handler: VOID,
};

/** Throws 42704 for an unknown type, 42P01 and 42703 for `relation.column%TYPE` that is not there. */
export function bindRoutineType({ type, columnOf }: FunctionTypeNode, binding: Binding): RoutineType {
  if (columnOf !== null) return { type: typeOfColumn(columnOf, type, binding.env) };
  const plain: TypeNode = { ...type, setOf: false };
  const { name, schema, arrayDimensions } = type;
  if (schema === null && arrayDimensions === 0) {
    if (POLYMORPHIC.has(name)) return { type: UNKNOWN, polymorphic: name as Polymorphic };
    if (name === "record") return { type: RECORD };
    if (name === "void") return { type: VOID };
    const held = Object.hasOwn(HELD_AS, name) ? HELD_AS[name] : undefined;
    if (held !== undefined && findType([name], binding.env) === null) return { type: held, name };
  }
  if (arrayDimensions === 0) {
    const path = schema === null ? [name] : [schema, name];
    // Built-in types come first, as pg_catalog does in the path: a table may be named json.
    const isBuiltIn = schema === null && isBuiltInType(name);
    if (!isBuiltIn && findType(path, binding.env) === null) {
      const relation = relationNamed(path, binding.env);
      if (relation !== null) return { type: RECORD, relationId: relation.id };
    }
  }
  return { type: bindType(plain, binding) };
}

/** A table or view by its name in the search path. */
function relationNamed(path: readonly string[], env: BindEnvironment) {
  const relation = { schema: path.length > 1 ? path[path.length - 2]! : null, name: path[path.length - 1]! };
  return firstFound(relation, env, (schema, name) => env.catalog.table(schema, name) ?? env.catalog.view(schema, name));
}

/** The type of `relation.column`. */
export function typeOfColumn(
  path: readonly string[],
  type: Pick<TypeNode, "arrayDimensions">,
  env: BindEnvironment,
): SqlType {
  if (path.length < 2) {
    throw sqlError("42601", `improper %TYPE reference (too few dotted names): ${path.join(".")}`);
  }
  const relationPath = path.slice(0, -1);
  const relation = relationNamed(relationPath, env);
  const columns = relation?.columns ?? compositeFields(relationPath, env);
  if (columns === null) throw sqlError("42P01", `relation "${relationPath.join(".")}" does not exist`);
  const column = columns.find(({ name }) => name === path.at(-1));
  if (column === undefined) {
    throw sqlError("42703", `column "${path.at(-1)}" of relation "${relationPath.at(-1)}" does not exist`);
  }
  return type.arrayDimensions > 0 ? arrayOf(column.type) : column.type;
}

function compositeFields(path: readonly string[], env: BindEnvironment) {
  const found = findType(path, env);
  return found?.kind === "composite" ? found.fields : null;
}

/** The row type of a table, view or composite type; null when nothing has the name. */
export function rowTypeNamed(path: readonly string[], env: BindEnvironment): SqlType | null {
  const relation = relationNamed(path, env);
  if (relation !== null) return recordOf(relation.columns, relation.name);
  return null;
}

/** The current declared type; polymorphic types keep their substitutes. */
export function typeNow(declared: RoutineType, env: BindEnvironment): SqlType {
  if (declared.relationId === undefined) return declared.type;
  const { catalog } = env;
  const relation =
    catalog.tableById(declared.relationId) ?? catalog.views().find(({ id }) => id === declared.relationId) ?? null;
  if (relation === null) throw sqlError("42704", "the row type of the function no longer exists");
  return recordOf(relation.columns, relation.name);
}

/** As format_type prints it. */
export function routineTypeName(declared: RoutineType, env: BindEnvironment): string {
  if (declared.polymorphic !== undefined) return declared.polymorphic === "any" ? '"any"' : declared.polymorphic;
  return declared.name ?? displayName(typeNow(declared, env));
}

/** `f(integer, text)`. */
export function signatureOf(fn: Pick<FunctionDef, "name" | "parameters">, env: BindEnvironment): string {
  return `${fn.name}(${inputsOf(fn)
    .map(({ type }) => routineTypeName(type, env))
    .join(", ")})`;
}

/** The types that the pseudo-types of one call resolve to. */
export interface PolymorphicTypes {
  readonly element: SqlType | null;
  readonly compatible: SqlType | null;
  /** Of anyrange and anymultirange, and of the same of the any-compatible family. */
  readonly range: RangeFamily | null;
  readonly compatibleRange: RangeFamily | null;
}

type RangeFamily = NonNullable<ReturnType<typeof rangeFamilyOf>>;

export const NO_TYPES: PolymorphicTypes = { element: null, compatible: null, range: null, compatibleRange: null };

const isCompatible = (polymorphic: Polymorphic) => polymorphic.startsWith("anycompatible");
const isOfArray = (polymorphic: Polymorphic) => polymorphic.endsWith("array") && !polymorphic.endsWith("nonarray");

/**
 * Resolves pseudo-types: all of the any-element family agree on one type, those of the any-compatible family on a
 * common one. Bounds of ranges are elements, too; as no cast changes a range, they must be of the common type. Null if
 * the given types do not fit.
 */
export function inferPolymorphic(declared: readonly RoutineType[], given: readonly SqlType[]): PolymorphicTypes | null {
  let element: SqlType | null = null;
  const compatible: SqlType[] = [];
  const ranges: { [family in "range" | "compatibleRange"]: RangeFamily | null } = {
    range: null,
    compatibleRange: null,
  };
  let wantsElement = false;
  for (const [i, { polymorphic }] of declared.entries()) {
    if (polymorphic === undefined || polymorphic === "any") continue;
    const type = baseType(given[i]!);
    wantsElement ||= !isCompatible(polymorphic);
    if (type.name === "unknown") {
      // No literal says of which range it is.
      if (polymorphic.endsWith("range")) return null;
      continue;
    }
    let member = memberOf(polymorphic, type);
    if (member === null) return null;
    if (polymorphic.endsWith("range")) {
      const place = isCompatible(polymorphic) ? "compatibleRange" : "range";
      const family = rangeFamilyOf(type)!;
      if (ranges[place] !== null && ranges[place].rangeType !== family.rangeType) return null;
      ranges[place] = family;
      member = family.bound;
    }
    if (isCompatible(polymorphic)) compatible.push(member);
    else if (element === null) element = member;
    else if (element !== member) return null;
  }
  if (wantsElement && element === null) element = declared.length > 0 && given.every(isUnknown) ? TEXT : null;
  if (wantsElement && element === null) return null;
  try {
    const common = compatible.length > 0 ? baseType(commonType(compatible)) : TEXT;
    if (ranges.compatibleRange !== null && ranges.compatibleRange.bound !== common) return null;
    return { element, compatible: common, ...ranges };
  } catch {
    return null;
  }
}

/** What an argument says of the element, of an array or range itself; null: it does not fit. */
function memberOf(polymorphic: Polymorphic, type: SqlType): SqlType | null {
  if (isOfArray(polymorphic)) return type.element;
  if (polymorphic.endsWith("nonarray")) return type.element === null ? type : null;
  if (polymorphic === "anyenum") return type.name === "enum" ? type : null;
  if (!polymorphic.endsWith("range")) return type;
  const family = rangeFamilyOf(type);
  const wanted = polymorphic.endsWith("multirange") ? family?.listType : family?.rangeType;
  return wanted === type ? type : null;
}

const isUnknown = (type: SqlType) => type.name === "unknown";

/**
 * The types of which a function that gives a pseudo-type needs an argument, as a message lists them; null: it has one.
 * A range does not follow from its bounds.
 */
export function lackingFor(result: Polymorphic, inputs: readonly (Polymorphic | undefined)[]): string | null {
  const fits = (input: Polymorphic | undefined) =>
    input !== undefined &&
    input !== "any" &&
    isCompatible(input) === isCompatible(result) &&
    (!result.endsWith("range") || input.endsWith("range"));
  if (result !== "any" && inputs.some(fits)) return null;
  const family = isCompatible(result) ? "anycompatible" : "any";
  if (result.endsWith("range")) return `${family}range or ${family}multirange`;
  return isCompatible(result)
    ? "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange"
    : "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange";
}

/** The declared type with its pseudo-type resolved. `given`: the type that a call gives. */
export function concreteType(
  declared: RoutineType,
  types: PolymorphicTypes,
  env: BindEnvironment,
  given: SqlType | null = null,
): SqlType {
  switch (declared.polymorphic) {
    case undefined:
      return typeNow(declared, env);
    case "any":
      return given === null || isUnknown(given) ? TEXT : given;
    case "anyarray":
      return arrayOf(types.element ?? TEXT);
    case "anycompatiblearray":
      return arrayOf(types.compatible ?? TEXT);
    case "anycompatible":
    case "anycompatiblenonarray":
      return types.compatible ?? TEXT;
    case "anyrange":
      return types.range?.rangeType ?? TEXT;
    case "anymultirange":
      return types.range?.listType ?? TEXT;
    case "anycompatiblerange":
      return types.compatibleRange?.rangeType ?? TEXT;
    case "anycompatiblemultirange":
      return types.compatibleRange?.listType ?? TEXT;
    default:
      return types.element ?? TEXT;
  }
}

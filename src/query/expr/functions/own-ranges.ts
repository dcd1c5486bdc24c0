/**
 * Functions, operators and aggregates of the types that CREATE TYPE … AS RANGE makes: those of the built-in ranges,
 * made for each such type when a statement first uses it. Called by resolve.ts through the registries, and by the
 * binder for the constructors, which only the catalog knows the names of.
 */
import { multirangeKeyOf, rangeKeyOf } from "../../../values/range.js";
import { type SqlType, userType } from "../../../values/values.js";
import type { AggregateFunction, ScalarFunction } from "../expr.js";
import type { TableFunction } from "../table-function.js";
import { baseType } from "../types.js";
import { type AggregateFamily, type Family, type FunctionFamily, taking } from "./define.js";
import {
  builtInRange,
  RANGE_AGGREGATES,
  RANGE_FUNCTIONS,
  RANGE_NANOS,
  RANGE_OPERATORS,
  RANGE_TABLES,
  type RangeKind,
  rangeAggregates,
  rangeConstructors,
  rangeFunctions,
  rangeOperators,
  rangeTable,
} from "./ranges.js";

interface OwnRange {
  readonly constructors: readonly ScalarFunction[];
  readonly functions: readonly ScalarFunction[];
  readonly operators: readonly ScalarFunction[];
  readonly aggregates: readonly AggregateFunction[];
  readonly tables: readonly TableFunction[];
}

const made = new WeakMap<SqlType, OwnRange>();

/** The multirange of a range type that a statement made. */
export function multirangeOfOwn(rangeType: SqlType): SqlType {
  const list = rangeType.user!.list!;
  return userType({ kind: "multirange", ...list, labels: [], fields: [], base: null, part: rangeType });
}

/** Of a range type that a statement made. */
function ownRange(rangeType: SqlType): OwnRange {
  let own = made.get(rangeType);
  if (own === undefined) {
    const listType = multirangeOfOwn(rangeType);
    const kind: RangeKind = {
      name: rangeType.user!.name,
      listName: listType.user!.name,
      range: rangeKeyOf(rangeType)!,
      list: multirangeKeyOf(listType)!,
      rangeType,
      listType,
      bound: baseType(rangeType.user!.part!),
    };
    own = {
      constructors: taking(RANGE_NANOS, rangeConstructors(kind)),
      functions: taking(RANGE_NANOS, rangeFunctions(kind)),
      operators: taking(RANGE_NANOS, rangeOperators(kind)),
      aggregates: rangeAggregates(kind),
      tables: [rangeTable(kind)],
    };
    made.set(rangeType, own);
  }
  return own;
}

/** The constructors with the name of the type, a range or a multirange; none for any other type. */
export function ownRangeConstructors(type: SqlType): readonly ScalarFunction[] {
  const rangeType = rangeTypeOf(type);
  if (rangeType === null) return [];
  return ownRange(rangeType).constructors.filter(({ returns }) => returns === type);
}

/** What a range or multirange belongs to: its range type, the multirange of that, and the type of bounds. Else null. */
export function rangeFamilyOf(type: SqlType): Pick<RangeKind, "rangeType" | "listType" | "bound"> | null {
  const rangeType = rangeTypeOf(type);
  if (rangeType === null) return builtInRange(type);
  return { rangeType, listType: multirangeOfOwn(rangeType), bound: baseType(rangeType.user!.part!) };
}

/** The type itself, or the one that a multirange is of; null for any other. */
function rangeTypeOf(type: SqlType): SqlType | null {
  if (type.name === "range") return type;
  return type.name === "multirange" ? type.user!.part! : null;
}

const FORMS: readonly (readonly [RegExp, string])[] = [
  [/multirange$/, "anymultirange"],
  [/range$/, "anyrange"],
];

/** What a manual prints for a type of the overloads of int4range. */
function pseudoType({ name }: SqlType): string {
  if (name === "int4") return "anyelement";
  return FORMS.find(([pattern]) => pattern.test(name))?.[1] ?? (name === "bool" ? "boolean" : name);
}

interface Overload {
  readonly name: string;
  readonly args: readonly SqlType[];
  readonly returns: SqlType;
}

/** A family for each overload that int4range has. */
function families<F extends Overload>(templates: readonly F[], of: (own: OwnRange) => readonly F[]): Family<F>[] {
  return templates.map(({ name, args, returns }, place) => ({
    name,
    form: `(${args.map(pseudoType).join(", ")}) → ${pseudoType(returns)}`,
    instantiate(types) {
      for (const type of types) {
        const rangeType = rangeTypeOf(type);
        if (rangeType !== null) return of(ownRange(rangeType))[place]!;
      }
      return null;
    },
  }));
}

const ofInt4 = <F extends Overload>(overloads: readonly F[]): F[] =>
  overloads.filter(
    ({ name, args }) =>
      args.length > 0 && args.some((type) => /^int4(multi)?range$/.test(type.name)) && !/^int4/.test(name),
  );

export const OWN_RANGE_FAMILIES: readonly FunctionFamily[] = families(ofInt4(RANGE_FUNCTIONS), (own) => own.functions);
export const OWN_RANGE_OPERATORS: readonly FunctionFamily[] = families(ofInt4(RANGE_OPERATORS), (own) => own.operators);
export const OWN_RANGE_AGGREGATES: readonly AggregateFamily[] = families(
  ofInt4(RANGE_AGGREGATES),
  (own) => own.aggregates,
);
export const OWN_RANGE_TABLES: readonly Family<TableFunction>[] = families(ofInt4(RANGE_TABLES), (own) => own.tables);

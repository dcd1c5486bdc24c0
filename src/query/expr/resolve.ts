/**
 * Chooses the overload that a call means, by PostgreSQL's rules for operators (chapter 10.2) and functions (10.3).
 * Binders call it with the types of the arguments as written and then convert each argument to the type that is
 * returned.
 */
import { type DbError, sqlError } from "../../protocol/errors.js";
import { type SqlType, TEXT } from "../../values/values.js";
import { castFunction } from "./cast.js";
import { canCoerce } from "./coercion.js";
import type { AggregateFunction, ScalarFunction, WindowFunction } from "./expr.js";
import type { Family } from "./functions/define.js";
import {
  AGGREGATE_FAMILIES,
  AGGREGATES,
  FUNCTION_FAMILIES,
  FUNCTIONS,
  OPERATOR_FAMILIES,
  OPERATORS,
  WINDOW_FAMILIES,
  WINDOW_FUNCTIONS,
} from "./functions/registry.js";
import { TABLE_FUNCTION_FAMILIES, TABLE_FUNCTIONS } from "./functions/table-registry.js";
import type { TableFunction } from "./table-function.js";
import { isTypeName, typeFromName } from "./type-spellings.js";
import { baseType, categoryOf, displayName, isPreferred, type TypeCategory } from "./types.js";

export interface Resolved<F> {
  readonly fn: F;
  /** The type to convert each given argument to (without modifier; an argument that already has it stays). */
  readonly argTypes: readonly SqlType[];
}

export type ResolvedFunction = Resolved<ScalarFunction>;
export type ResolvedAggregate = Resolved<AggregateFunction>;

interface Overload {
  readonly args: readonly SqlType[];
  readonly variadic?: SqlType;
}

export interface Candidate<F> {
  readonly fn: F;
  readonly args: readonly SqlType[];
  /** An overload declared for these very types rather than for a pseudo-type. */
  readonly concrete: boolean;
}

const CAST_HINT = "You might need to add explicit type casts.";

/** Whether any overload of that name exists; aggregates not included. */
export function isFunctionName(name: string): boolean {
  return FUNCTIONS.has(name) || FUNCTION_FAMILIES.has(name);
}

/** Whether a built-in function, aggregate or window function has the name, with whatever arguments. */
export function isKnownFunction(name: string): boolean {
  return isFunctionName(name) || isAggregateName(name) || isWindowName(name) || isTableFunctionName(name);
}

/** Of all of these that a call can name; those with blanks stand for syntax of their own. */
export function functionNames(): string[] {
  const tables = [FUNCTIONS, FUNCTION_FAMILIES, AGGREGATES, AGGREGATE_FAMILIES, WINDOW_FUNCTIONS, WINDOW_FAMILIES];
  const names = [...tables, TABLE_FUNCTIONS, TABLE_FUNCTION_FAMILIES].flatMap((table) => [...table.keys()]);
  return names.filter((name) => !name.includes(" "));
}

export function isAggregateName(name: string): boolean {
  return AGGREGATES.has(name) || AGGREGATE_FAMILIES.has(name);
}

/**
 * The function that `name(…)` calls; `name` in lower case. A type's name with one argument is a conversion to it.
 * Throws 42883 (no such function) or 42725 (ambiguous). `position`: of the call in the statement, 1-based.
 */
export function resolveFunction(name: string, argTypes: readonly SqlType[], position?: number): ResolvedFunction {
  const types = argTypes.map(baseType);
  const candidates = candidatesOf(FUNCTIONS.get(name), FUNCTION_FAMILIES.get(name), types);
  const exact = exactMatch(candidates, types);
  if (exact !== null) return toResolved(exact);
  const conversion = conversionCall(name, types);
  if (conversion !== null) return conversion;
  const found = select(candidates, types);
  if (found === "ambiguous") throw notUnique("function", signature(name, types), position);
  if (found === null) throw noFunction(name, types, position);
  return toResolved(found);
}

/**
 * Which of these functions a call means, or the conversion of one argument to what they return: constructors of a type
 * that a statement made. Throws 42883 or 42725.
 */
export function resolveOverload(
  name: string,
  overloads: readonly ScalarFunction[],
  argTypes: readonly SqlType[],
  position?: number,
): ResolvedFunction {
  const types = argTypes.map(baseType);
  const candidates = candidatesOf(overloads, undefined, types);
  const found = exactMatch(candidates, types) ?? select(candidates, types);
  if (found === "ambiguous") throw notUnique("function", signature(name, types), position);
  if (found !== null) return toResolved(found);
  const conversion = conversionTo(overloads[0]!.returns, types);
  if (conversion === null) throw noFunction(name, types, position);
  return conversion;
}

/** The operator overload; `left` is null for a prefix operator. Throws 42883 or 42725. */
export function resolveOperator(
  symbol: string,
  left: SqlType | null,
  right: SqlType,
  position?: number,
): ResolvedFunction {
  const name = symbol === "!=" ? "<>" : symbol;
  const types = left === null ? [baseType(right)] : [baseType(left), baseType(right)];
  const candidates = candidatesOf(OPERATORS.get(name), OPERATOR_FAMILIES.get(name), types);
  const found = operatorMatch(candidates, types) ?? select(candidates, types);
  const spelled =
    left === null ? `${name} ${displayName(types[0] as SqlType)}` : types.map(displayName).join(` ${name} `);
  if (found === "ambiguous") throw notUnique("operator", spelled, position);
  if (found === null) {
    const hint =
      left === null
        ? "No operator matches the given name and argument type. You might need to add an explicit type cast."
        : `No operator matches the given name and argument types. ${CAST_HINT}`;
    throw sqlError("42883", `operator does not exist: ${spelled}`, at(position, hint));
  }
  return toResolved(found);
}

/**
 * The operator among those that statements made, where the system's compete with them or not; null: none of them.
 * Throws 42725.
 */
export function resolveOperatorAmong<F>(
  symbol: string,
  given: readonly SqlType[],
  own: readonly Candidate<F>[],
  among: "with the system's" | "alone",
  position?: number,
): Resolved<F> | null {
  const name = symbol === "!=" ? "<>" : symbol;
  const types = given.map(baseType);
  const builtIn = candidatesOf(OPERATORS.get(name), OPERATOR_FAMILIES.get(name), types);
  const candidates: Candidate<F | null>[] =
    among === "alone" ? [] : builtIn.map(({ args, concrete }) => ({ fn: null, args, concrete }));
  for (const candidate of own) {
    if (!candidates.some(({ args }) => sameTypes(args, candidate.args))) candidates.push(candidate);
  }
  const found = operatorMatch(candidates, types) ?? select(candidates, types);
  if (found === "ambiguous") throw notUnique("operator", types.map(displayName).join(` ${name} `), position);
  return found === null || found.fn === null ? null : { fn: found.fn, argTypes: found.args };
}

/** The aggregate that `name(…)` calls; `count(*)` has no arguments. Throws 42883 or 42725. */
export function resolveAggregate(name: string, argTypes: readonly SqlType[], position?: number): ResolvedAggregate {
  const types = argTypes.map(baseType);
  const candidates = candidatesOf(AGGREGATES.get(name), AGGREGATE_FAMILIES.get(name), types);
  const found = exactMatch(candidates, types) ?? select(candidates, types);
  if (found === "ambiguous") throw notUnique("function", signature(name, types), position);
  if (found === null) throw noFunction(name, types, position);
  return toResolved(found);
}

/** Whether the name is that of functions that return rows. */
export function isTableFunctionName(name: string): boolean {
  return TABLE_FUNCTIONS.has(name) || TABLE_FUNCTION_FAMILIES.has(name);
}

/** The set-returning function that `name(…)` calls. Throws 42883 or 42725. */
export function resolveTableFunction(
  name: string,
  argTypes: readonly SqlType[],
  position?: number,
): Resolved<TableFunction> {
  const types = argTypes.map(baseType);
  const candidates = candidatesOf(TABLE_FUNCTIONS.get(name), TABLE_FUNCTION_FAMILIES.get(name), types);
  const found = exactMatch(candidates, types) ?? select(candidates, types);
  if (found === "ambiguous") throw notUnique("function", signature(name, types), position);
  if (found === null) throw noFunction(name, types, position);
  return toResolved(found);
}

/**
 * Which of the functions that statements made a call means; those of the system take part, and "built in" is one of
 * them. `hides`: asked whether the system's functions of this name go before others that take the same. Throws 42725;
 * null when none fits.
 */
export function resolveAmong<F>(
  name: string,
  argTypes: readonly SqlType[],
  own: readonly Candidate<F>[],
  position?: number,
  hides: (name: string) => boolean = () => true,
): Resolved<F> | "built in" | null {
  const types = argTypes.map(baseType);
  const builtIn: Candidate<F | null>[] = [
    ...candidatesOf<Overload>(FUNCTIONS.get(name), FUNCTION_FAMILIES.get(name), types),
    ...candidatesOf<Overload>(TABLE_FUNCTIONS.get(name), TABLE_FUNCTION_FAMILIES.get(name), types),
    ...candidatesOf<Overload>(AGGREGATES.get(name), AGGREGATE_FAMILIES.get(name), types),
  ].map(({ args, concrete }) => ({ fn: null, args, concrete }));
  const candidates: Candidate<F | null>[] = [...builtIn];
  for (const candidate of own) {
    const same = candidates.findIndex(({ args }) => sameTypes(args, candidate.args));
    if (same < 0) candidates.push(candidate);
    else if (candidates[same]!.fn === null && !hides(name)) candidates[same] = candidate;
  }
  const found = exactMatch(candidates, types) ?? select(candidates, types);
  if (found === "ambiguous") throw notUnique("function", signature(name, types), position);
  if (found === null) return null;
  return found.fn === null ? "built in" : { fn: found.fn, argTypes: found.args };
}

/** Throws 42883. */
export function refuseCall(name: string, argTypes: readonly SqlType[], position?: number): never {
  throw noFunction(name, argTypes.map(baseType), position);
}

/** Whether the name is that of a function which is only called with OVER. */
export function isWindowName(name: string): boolean {
  return WINDOW_FUNCTIONS.has(name) || WINDOW_FAMILIES.has(name);
}

/** The window function that `name(…) OVER …` calls. Throws 42883 or 42725. */
export function resolveWindowFunction(
  name: string,
  argTypes: readonly SqlType[],
  position?: number,
): Resolved<WindowFunction> {
  const types = argTypes.map(baseType);
  const candidates = candidatesOf(WINDOW_FUNCTIONS.get(name), WINDOW_FAMILIES.get(name), types);
  const found = exactMatch(candidates, types) ?? select(candidates, types);
  if (found === "ambiguous") throw notUnique("function", signature(name, types), position);
  if (found === null) throw noFunction(name, types, position);
  return toResolved(found);
}

/** An operator whose arguments are already of the type, if there is one: `=` for IN lists, `<` for ordering. */
export function operatorFor(symbol: string, type: SqlType): ScalarFunction | null {
  const types = [baseType(type), baseType(type)];
  const candidates = candidatesOf(OPERATORS.get(symbol), OPERATOR_FAMILIES.get(symbol), types);
  const found = operatorMatch(candidates, types) ?? select(candidates, types);
  return found === null || found === "ambiguous" ? null : found.fn;
}

const toResolved = <F>(candidate: Candidate<F>): Resolved<F> => ({ fn: candidate.fn, argTypes: candidate.args });

const at = (position: number | undefined, hint: string) => (position === undefined ? { hint } : { position, hint });

const signature = (name: string, types: readonly SqlType[]) => `${name}(${types.map(displayName).join(", ")})`;

function noFunction(name: string, types: readonly SqlType[], position: number | undefined): DbError {
  const hint =
    remedyFor(name) ?? callsOf(name) ?? `No function matches the given name and argument types. ${CAST_HINT}`;
  return sqlError("42883", `function ${signature(name, types)} does not exist`, at(position, hint));
}

/** Of the functions of pgcrypto those about messages of PGP are left out. */
function remedyFor(name: string): string | null {
  if (!/^(pgp_|armor$|dearmor$)/.test(name)) return null;
  return "Messages of PGP are neither written nor read here. encrypt_iv() and decrypt_iv() of pgcrypto encrypt with a key.";
}

/** More are not listed: the name is that of half a type system. */
const LISTED_CALLS_MAX = 6;

/** How a function of the system can be called; null: not at all, or in too many ways to tell. */
function callsOf(name: string): string | null {
  const overloads: readonly Overload[] = [
    ...(FUNCTIONS.get(name) ?? []),
    ...(TABLE_FUNCTIONS.get(name) ?? []),
    ...(AGGREGATES.get(name) ?? []),
    ...(WINDOW_FUNCTIONS.get(name) ?? []),
  ];
  const families = [FUNCTION_FAMILIES, TABLE_FUNCTION_FAMILIES, AGGREGATE_FAMILIES, WINDOW_FAMILIES];
  const forms = families.flatMap((each) => (each.get(name) ?? []).map(({ form }) => `${name}${form.split(" → ")[0]}`));
  const calls = overloads.map(({ args, variadic }) => {
    const types = [...args.map(displayName), ...(variadic === undefined ? [] : [`${displayName(variadic)} …`])];
    return `${name}(${types.join(", ")})`;
  });
  const all = [...calls, ...forms];
  if (all.length === 0 || all.length > LISTED_CALLS_MAX) return null;
  return `There ${all.length === 1 ? "is" : "are"} ${all.join(", ")}. ${CAST_HINT}`;
}

function notUnique(what: "function" | "operator", spelled: string, position: number | undefined): DbError {
  const message = what === "operator" ? `operator is not unique: ${spelled}` : `function ${spelled} is not unique`;
  const hint = `Could not choose a best candidate ${what}. ${CAST_HINT}`;
  return sqlError("42725", message, at(position, hint));
}

function candidatesOf<F extends Overload>(
  overloads: readonly F[] | undefined,
  families: readonly Family<F>[] | undefined,
  types: readonly SqlType[],
): Candidate<F>[] {
  const candidates: Candidate<F>[] = [];
  for (const fn of overloads ?? []) {
    const args = argumentTypes(fn, types.length);
    if (args !== null) candidates.push({ fn, args, concrete: true });
  }
  for (const family of families ?? []) {
    const fn = family.instantiate(types);
    const args = fn === null ? null : argumentTypes(fn, types.length);
    if (fn !== null && args !== null && !candidates.some((other) => sameTypes(other.args, args))) {
      candidates.push({ fn, args, concrete: false });
    }
  }
  return candidates;
}

/** The declared types for the given number of arguments, or null if the overload does not take that many. */
function argumentTypes(overload: Overload, count: number): readonly SqlType[] | null {
  const { args, variadic } = overload;
  if (args.length === count) return args;
  if (variadic === undefined || count < args.length) return null;
  return [...args, ...new Array<SqlType>(count - args.length).fill(variadic)];
}

function sameTypes(a: readonly SqlType[], b: readonly SqlType[]): boolean {
  return a.length === b.length && a.every((type, i) => type === b[i]);
}

function exactMatch<F>(candidates: readonly Candidate<F>[], types: readonly SqlType[]): Candidate<F> | null {
  return candidates.find((candidate) => sameTypes(candidate.args, types)) ?? null;
}

/** Exact, or exact once an unknown operand is taken to be of the other operand's type (10.2, step 2a). */
function operatorMatch<F>(candidates: readonly Candidate<F>[], types: readonly SqlType[]): Candidate<F> | null {
  const exact = exactMatch(candidates, types);
  if (exact !== null || types.length !== 2) return exact;
  const [left, right] = types as [SqlType, SqlType];
  if ((left.name === "unknown") === (right.name === "unknown")) return null;
  const place = left.name === "unknown" ? 1 : 0;
  const known = types[place]!;
  const same = exactMatch(candidates, [known, known]);
  if (same?.concrete !== false) return same;
  // A family's overload is none that was declared with these types: one that was goes first, as in ltree[] @> 'a.b'.
  const declared = candidates.filter(({ concrete, args }) => concrete && args[place] === known);
  return declared.length === 1 ? declared[0]! : same;
}

/** `int8(x)`, `text(x)`: written as a function, meant as a cast (10.3, step 3). */
function conversionCall(name: string, types: readonly SqlType[]): ResolvedFunction | null {
  return types.length === 1 && isTypeName(name) ? conversionTo(baseType(typeFromName(name)), types) : null;
}

function conversionTo(target: SqlType, types: readonly SqlType[]): ResolvedFunction | null {
  const from = types[0];
  if (types.length !== 1 || from === undefined) return null;
  const source = from.name === "unknown" ? TEXT : from;
  // PostgreSQL does not read text(row) as a cast: it might be a field.
  if (source.name === "record" && categoryOf(target) === "S") return null;
  if (!canCoerce(source, target, "explicit")) return null;
  const fn = castFunction(source, target);
  return fn === null ? null : { fn, argTypes: [source] };
}

/** Steps 4a to 4f of chapter 10.3 (10.2 has the same): null when none applies. */
function select<F>(all: readonly Candidate<F>[], types: readonly SqlType[]): Candidate<F> | "ambiguous" | null {
  let candidates = all.filter((candidate) =>
    types.every((type, i) => canCoerce(type, candidate.args[i] as SqlType, "implicit")),
  );
  if (candidates.length <= 1) return candidates[0] ?? null;

  candidates = best(candidates, (candidate) => {
    if (!candidate.concrete) return 0;
    return count(types, (type, i) => type.name !== "unknown" && type === candidate.args[i]);
  });
  if (candidates.length === 1) return candidates[0] as Candidate<F>;

  candidates = best(candidates, (candidate) =>
    count(types, (type, i) => {
      const arg = candidate.args[i] as SqlType;
      if (type.name === "unknown") return false;
      return (type === arg && candidate.concrete) || (isPreferred(arg) && categoryOf(arg) === categoryOf(type));
    }),
  );
  if (candidates.length === 1) return candidates[0] as Candidate<F>;

  const unknowns = types.flatMap((type, i) => (type.name === "unknown" ? [i] : []));
  if (unknowns.length === 0) return "ambiguous";
  const byCategory = selectByCategory(candidates, unknowns);
  if (byCategory?.length === 1) return byCategory[0] as Candidate<F>;
  return selectLikeKnown(byCategory ?? candidates, types) ?? "ambiguous";
}

function count(types: readonly SqlType[], test: (type: SqlType, index: number) => boolean): number {
  let matches = 0;
  for (const [i, type] of types.entries()) if (test(type, i)) matches++;
  return matches;
}

function best<T>(items: readonly T[], score: (item: T) => number): T[] {
  const scores = items.map(score);
  const highest = Math.max(...scores);
  return items.filter((_, i) => scores[i] === highest);
}

/** Step 4e: the category (and preferred type) that each unknown argument should have; null when they disagree. */
function selectByCategory<F>(candidates: readonly Candidate<F>[], unknowns: readonly number[]): Candidate<F>[] | null {
  const wanted = new Map<number, { category: TypeCategory; preferred: boolean }>();
  for (const i of unknowns) {
    const args = candidates.map((candidate) => candidate.args[i] as SqlType);
    const categories = new Set(args.map(categoryOf));
    if (categories.size > 1 && !categories.has("S")) return null;
    const category = categories.has("S") ? "S" : ([...categories][0] as TypeCategory);
    wanted.set(i, { category, preferred: args.some((arg) => isPreferred(arg) && categoryOf(arg) === category) });
  }
  const kept = candidates.filter((candidate) =>
    unknowns.every((i) => {
      const arg = candidate.args[i] as SqlType;
      const { category, preferred } = wanted.get(i) as { category: TypeCategory; preferred: boolean };
      return categoryOf(arg) === category && (!preferred || isPreferred(arg));
    }),
  );
  return kept.length > 0 ? kept : null;
}

/** Step 4f: when all known arguments have one type, unknown ones are taken to have it too. */
function selectLikeKnown<F>(candidates: readonly Candidate<F>[], types: readonly SqlType[]): Candidate<F> | null {
  const known = types.filter((type) => type.name !== "unknown");
  const first = known[0];
  if (first === undefined || known.some((type) => type !== first)) return null;
  const fitting = candidates.filter((candidate) => candidate.args.every((arg) => canCoerce(first, arg, "implicit")));
  return fitting.length === 1 ? (fitting[0] as Candidate<F>) : null;
}

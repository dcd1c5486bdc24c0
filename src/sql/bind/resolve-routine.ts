/**
 * Finds the function that a call means, among those made by CREATE FUNCTION. It looks the name up in the search path,
 * then matches arguments by position and by name, defaults, VARIADIC and pseudo-types. Among several candidates,
 * system functions included, PostgreSQL's rules for overloads decide (chapter 10.3).
 */
import { type FunctionDef, inputsOf, outputsOf, type RoutineType } from "../../catalog/function.js";
import { referredId } from "../../catalog/object-reference.js";
import { isTemporarySchema } from "../../catalog/schema.js";
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import { type Candidate, resolveAmong } from "../../query/expr/resolve.js";
import { displayName } from "../../query/expr/types.js";
import { recordOf, type SqlType, VOID } from "../../values/values.js";
import type { BindEnvironment } from "./bound-statement.js";
import type { ArgumentSource, MatchedRoutine } from "./matched-routine.js";
import { schemasFor } from "./names.js";
import { concreteType, inferPolymorphic, NO_TYPES, type PolymorphicTypes } from "./routine-types.js";
import { functionFactsByName } from "./system/builtin-facts.js";

/** The arguments of a call, in written order. */
export interface GivenArgument {
  readonly name: string | null;
  readonly type: SqlType;
}

export type RoutineKinds = "call" | "procedure";

/** Functions that the name may mean, those of earlier schemas of the search path first. */
export function routinesNamed(path: readonly string[], env: BindEnvironment): readonly FunctionDef[] {
  const name = path[path.length - 1]!;
  const qualifier = path.length > 1 ? path[path.length - 2]! : null;
  const id = env.stored ? referredId(qualifier) : null;
  if (id !== null) {
    const referred = env.catalog.functionById(id);
    return referred === null ? NONE : [referred];
  }
  let found: FunctionDef[] | null = null;
  for (const schema of schemasFor(qualifier, env)) {
    // Nobody's temporary function stands in for another one that was not told where it is.
    if (qualifier === null && isTemporarySchema(schema)) continue;
    const named = env.catalog.functionsNamed(schema, name);
    if (named.length === 0) continue;
    if (found === null) found = [...named];
    else found.push(...named);
  }
  return found ?? NONE;
}

const NONE: readonly FunctionDef[] = [];

/**
 * The function, or "built in" when one of the system's is meant. `spread`: the call says VARIADIC. Throws 42883
 * and 42725.
 */
export function resolveRoutine(
  path: readonly string[],
  candidates: readonly FunctionDef[],
  given: readonly GivenArgument[],
  spread: boolean,
  env: BindEnvironment,
  position: number,
): MatchedRoutine | "built in" | null {
  const types = given.map(({ type }) => type);
  const fitting = candidates
    .flatMap((definition) => matchesOf(definition, given, spread, env))
    .filter(({ args }) => types.every((type, i) => canCoerce(type, args[i]!, "implicit")));
  const own = withoutDoubles(fitting, path, types, position);
  const name = path[path.length - 1]!;
  if (env.stored && path.length === 1 && resolveAmong(name, types, [], position) === "built in") return "built in";
  if (spread || given.some((arg) => arg.name !== null) || path.length > 1) {
    const found = resolveAmong("", types, own, position);
    return found === null || found === "built in" ? null : found.fn;
  }
  const found = resolveAmong(name, types, own, position, isPostgresFunction);
  return found === null || found === "built in" ? found : found.fn;
}

/** Those of its pg_catalog go before the search path. Functions of extensions and our own would be in some schema. */
const isPostgresFunction = (name: string) => functionFactsByName().has(name);

interface Match extends Candidate<MatchedRoutine> {
  /** Defaults that were filled in, and whether members of an array were collected: fewer is better. */
  readonly effort: number;
}

/** Of functions that take the same types, the one that declares them is meant, then the one with fewer defaults. */
function withoutDoubles(
  matches: readonly Match[],
  path: readonly string[],
  types: readonly SqlType[],
  position: number,
): readonly Match[] {
  const kept: Match[] = [];
  for (const match of matches) {
    const same = kept.findIndex(({ args }) => args.every((type, i) => type === match.args[i]));
    if (same < 0) {
      kept.push(match);
      continue;
    }
    const other = kept[same]!;
    const defaults = (one: Match) => one.fn.sources.filter(({ kind }) => kind === "default").length;
    if (match.concrete !== other.concrete) kept[same] = match.concrete ? match : other;
    else if (match.effort < other.effort) kept[same] = match;
    else if (
      match.effort === other.effort &&
      defaults(match) > 0 &&
      match.fn.definition.schema === other.fn.definition.schema
    ) {
      const spelled = `${path.at(-1)}(${types.map(displayName).join(", ")})`;
      throw sqlError("42725", `function ${spelled} is not unique`, {
        position,
        hint: "Could not choose a best candidate function. You might need to add explicit type casts.",
      });
    }
  }
  return kept;
}

/** The ways in which the call may mean the function: none, one, or with VARIADIC two. */
function matchesOf(
  definition: FunctionDef,
  given: readonly GivenArgument[],
  spread: boolean,
  env: BindEnvironment,
): Match[] {
  const inputs = inputsOf(definition);
  const isVariadic = inputs.at(-1)?.mode === "variadic";
  if (spread && !isVariadic) return [];
  const matches: Match[] = [];
  const plain = arranged(definition, given);
  if (plain !== null && (!isVariadic || spread || given.some(({ name }) => name !== null))) {
    const match = typed(definition, plain, given, env);
    if (match !== null) matches.push(match);
  }
  const fixed = inputs.length - 1;
  if (isVariadic && !spread && given.length >= fixed && given.every(({ name }) => name === null)) {
    const members = given.slice(fixed).map((_, i) => fixed + i);
    if (members.length > 0 || inputs[fixed]!.defaultSql === null) {
      const sources: ArgumentSource[] = given.slice(0, fixed).map((_, index) => ({ kind: "given", index }));
      sources.push({ kind: "members", indexes: members });
      const match = members.length > 0 ? typed(definition, sources, given, env) : null;
      if (match !== null) matches.push(match);
    }
  }
  if (isVariadic && !spread && given.length === fixed && inputs[fixed]!.defaultSql !== null && plain !== null) {
    const match = typed(definition, plain, given, env);
    if (match !== null) matches.push(match);
  }
  return matches;
}

/** The function that an operator calls, for operands of these types; null: they do not fit. */
export function operandMatch(
  definition: FunctionDef,
  types: readonly SqlType[],
  env: BindEnvironment,
): Candidate<MatchedRoutine> | null {
  const sources = types.map((_, index): ArgumentSource => ({ kind: "given", index }));
  const given = types.map((type) => ({ name: null, type }));
  return inputsOf(definition).length === types.length ? typed(definition, sources, given, env) : null;
}

/** Where the parameters' values come from by position and by name; null when the call does not fit. */
function arranged(definition: FunctionDef, given: readonly GivenArgument[]): ArgumentSource[] | null {
  const inputs = inputsOf(definition);
  if (given.length > inputs.length) return null;
  const positional = given.filter(({ name }) => name === null).length;
  const names = new Map(given.map(({ name }, index) => [name, index]));
  let used = positional;
  const sources: ArgumentSource[] = [];
  for (const [i, { name, defaultSql }] of inputs.entries()) {
    const index = i < positional ? i : name === null ? undefined : names.get(name);
    if (i >= positional && index !== undefined) used++;
    if (index !== undefined) sources.push({ kind: "given", index });
    else if (defaultSql !== null) sources.push({ kind: "default", sql: defaultSql });
    else return null;
  }
  return used === given.length ? sources : null;
}

/** The function with the types that the call gives its pseudo-types. */
function typed(
  definition: FunctionDef,
  sources: readonly ArgumentSource[],
  given: readonly GivenArgument[],
  env: BindEnvironment,
): Match | null {
  const inputs = inputsOf(definition);
  // What each argument is declared as: a member of VARIADIC as the array's element.
  const declared = new Array<RoutineType>(given.length);
  sources.forEach((source, i) => {
    const { type } = inputs[i]!;
    if (source.kind === "given") declared[source.index] = type;
    else if (source.kind === "members") for (const index of source.indexes) declared[index] = elementOf(type);
  });
  const isPolymorphic = inputs.some(({ type }) => type.polymorphic !== undefined);
  const types = isPolymorphic
    ? inferPolymorphic(
        declared,
        given.map(({ type }) => type),
      )
    : NO_TYPES;
  if (types === null) return null;
  const args = declared.map((type, i) => concreteType(type, types, env, given[i]!.type));
  const parameterTypes = inputs.map(({ type }, i) => {
    const source = sources[i]!;
    const from = source.kind === "given" ? given[source.index]!.type : null;
    const concrete = concreteType(type, types, env, from);
    // A parameter of type record has the fields of what is given.
    return isBareRecord(concrete) && from?.fields !== undefined ? from : concrete;
  });
  const effort = sources.filter(({ kind }) => kind !== "given").length;
  const returns = returnsOf(definition, types, env);
  return { fn: { definition, sources, parameterTypes, returns }, args, concrete: !isPolymorphic, effort };
}

const isBareRecord = ({ name, fields }: SqlType) => name === "record" && fields === undefined;

function elementOf(type: RoutineType): RoutineType {
  if (type.polymorphic === "anyarray") return { ...type, polymorphic: "anyelement" };
  if (type.polymorphic === "anycompatiblearray") return { ...type, polymorphic: "anycompatible" };
  return type.polymorphic === "any" ? type : { type: type.type.element! };
}

/** What a call gives: of several OUT parameters a record of them. */
function returnsOf(definition: FunctionDef, types: PolymorphicTypes, env: BindEnvironment): SqlType {
  const outputs = outputsOf(definition);
  const isTable = outputs.some(({ mode }) => mode === "table");
  if (outputs.length === 0) return concreteType(definition.returns, types, env);
  if (outputs.length === 1 && definition.kind === "function") {
    return outputs[0]!.type.type === VOID
      ? VOID
      : isTable
        ? concreteType(outputs[0]!.type, types, env)
        : concreteType(outputs[0]!.type, types, env);
  }
  return recordOf(
    outputs.map(({ name, type }, i) => ({ name: name ?? `column${i + 1}`, type: concreteType(type, types, env) })),
  );
}

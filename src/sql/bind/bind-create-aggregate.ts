/** CREATE [OR REPLACE] AGGREGATE: its parts, and whether they fit together. Called by bind-function-statement.ts. */
import {
  type AggregateParts,
  type AggregateSide,
  inputsOf,
  type RoutineParameter,
  type RoutineType,
  sameInputs,
  sameRoutineType,
} from "../../catalog/function.js";
import type { CreateFunctionCommand, NewFunction } from "../../catalog/function-command.js";
import { sqlError } from "../../protocol/errors.js";
import { displayName } from "../../query/expr/types.js";
import { arrayOf, MACADDR, type SqlType } from "../../values/values.js";
import type { AggregateOption, CreateAggregateStatement } from "../parse/ast-functions.js";
import { bindExpr } from "./bind-expr.js";
import type { Binding } from "./binding.js";
import { type BoundStep, bindStep, initialState, startsWithInput, stepName } from "./made-aggregate.js";
import { newName } from "./names.js";
import { bindRoutineType, concreteType, lackingFor, NO_TYPES, routineTypeName, signatureOf } from "./routine-types.js";

const definition = (message: string, detail?: string) =>
  sqlError("42P13", message, detail === undefined ? {} : { detail });

/**
 * The substitute for pseudo-types while the functions are looked up: a type that hardly any function takes, so that
 * only functions that take any type fit.
 */
const STAND_IN = { ...NO_TYPES, element: MACADDR, compatible: MACADDR };

type Options = ReadonlyMap<string, AggregateOption>;

export function bindCreateAggregate(node: CreateAggregateStatement, binding: Binding): CreateFunctionCommand {
  const { env } = binding;
  const { schema, name } = newName(node.name, env);
  if (node.ordered) throw sqlError("0A000", "ordered-set aggregates cannot be defined by statements", {});
  const options = optionsOf(node.options);
  const parameters = bindParameters(node, options, binding);
  const plain = bindSide("", options, parameters, binding);
  const moving = options.has("mstype") ? bindSide("m", options, parameters, binding) : null;
  if (moving === null) refuseMovingParts(options);
  else if (!sameRoutineType(moving.returns, plain.returns)) {
    throw definition(
      `moving-aggregate implementation returns type ${routineTypeName(moving.returns, env)}, but plain implementation returns type ${routineTypeName(plain.returns, env)}`,
    );
  }
  checkOthers(options, plain.stateType, binding);
  const steps = [...plain.steps, ...(moving?.steps ?? [])];
  const uses = steps.flatMap((step) => (step.definition === null ? [] : [step.definition.id]));
  const aggregate: AggregateParts = {
    ...plain.side,
    ...(moving !== null && { moving: { ...moving.side, inverseFunction: moving.inverse! } }),
    uses: [...new Set(uses)],
  };
  const fn: NewFunction = {
    schema,
    name,
    kind: "aggregate",
    parameters,
    returns: plain.returns,
    returnsSet: false,
    language: "internal",
    body: "aggregate_dummy",
    volatility: "immutable",
    strict: false,
    settings: [],
    parallel: parallelOf(options),
    aggregate,
  };
  const replaces = env.catalog.functionsNamed(schema, name).find((other) => sameInputs(other, fn)) ?? null;
  if (replaces !== null) {
    if (!node.replace) throw sqlError("42723", `function "${name}" already exists with same argument types`);
    if (replaces.kind !== "aggregate") {
      throw sqlError("42809", "cannot change routine kind", { detail: `"${name}" is a ${replaces.kind}.` });
    }
    if (!sameRoutineType(replaces.returns, fn.returns)) {
      throw sqlError("42P13", "cannot change return type of existing function", {
        hint: `Use DROP AGGREGATE ${signatureOf(replaces, env)} first.`,
      });
    }
  }
  return { kind: "create function", function: fn, replaces };
}

/** Names of earlier versions mean the same. Clauses that are not known are passed over, as in PostgreSQL. */
const ALIASES: Readonly<Record<string, string>> = { sfunc1: "sfunc", stype1: "stype", initcond1: "initcond" };

function optionsOf(options: readonly AggregateOption[]): Options {
  return new Map(options.map((option) => [ALIASES[option.name] ?? option.name, option]));
}

function bindParameters(node: CreateAggregateStatement, options: Options, binding: Binding): RoutineParameter[] {
  const base = options.get("basetype");
  if (node.parameters === null) {
    if (base === undefined) throw definition("aggregate input type must be specified");
    if (base.path.length === 1 && base.path[0]!.toLowerCase() === "any") return [];
    return [{ name: null, mode: "in", type: typeOption(base, binding), defaultSql: null }];
  }
  if (base !== undefined) throw definition("basetype is redundant with aggregate input type specification");
  return node.parameters.map((parameter, i): RoutineParameter => {
    const { mode, name, position } = parameter;
    if (mode !== "in" && mode !== "variadic") throw definition("aggregates cannot have output arguments");
    if (parameter.default !== null) throw sqlError("42P13", "aggregates cannot have default arguments", { position });
    if (mode === "variadic" && i < node.parameters!.length - 1) {
      throw definition("VARIADIC parameter must be the last input parameter");
    }
    if (parameter.type.type.setOf) throw definition("aggregates cannot accept set arguments");
    return { name, mode, type: bindRoutineType(parameter.type, binding), defaultSql: null };
  });
}

function typeOption(option: AggregateOption, binding: Binding): RoutineType {
  if (option.type === null) throw sqlError("42601", `argument of ${option.name} must be a type name`);
  return bindRoutineType(option.type, binding);
}

interface Side {
  readonly side: AggregateSide;
  readonly stateType: SqlType;
  readonly inverse: string | null;
  readonly steps: readonly BoundStep[];
  readonly returns: RoutineType;
}

/** `prefix` is "m" for the clauses of the moving-aggregate mode. */
function bindSide(prefix: "" | "m", options: Options, parameters: readonly RoutineParameter[], binding: Binding): Side {
  const { env } = binding;
  const inputs = inputsOf({ parameters }).map(({ type }) => type);
  const typeClause = options.get(`${prefix}stype`);
  const stateClause = options.get(`${prefix}sfunc`);
  const inverseClause = prefix === "m" ? options.get("minvfunc") : undefined;
  if (typeClause === undefined) throw definition("aggregate stype must be specified");
  const required = (name: string) =>
    definition(`aggregate ${name} must be specified${prefix === "m" ? " when mstype is specified" : ""}`);
  if (stateClause === undefined) throw required(`${prefix}sfunc`);
  if (prefix === "m" && inverseClause === undefined) throw required("minvfunc");
  const declared = typeOption(typeClause, binding);
  checkStateType(declared, inputs, binding);
  const stateType = concreteType(declared, STAND_IN, env);
  const types = inputs.map((type) => concreteType(type, STAND_IN, env, MACADDR));
  const stepTypes = [stateType, ...types];
  const step = bindNamed(stateClause, stepTypes, [declared, ...inputs], binding);
  checkReturns("transition function", stateClause, step, stateType, declared, binding);
  const steps = [step];
  if (inverseClause !== undefined) {
    const inverse = bindNamed(inverseClause, stepTypes, [declared, ...inputs], binding);
    checkReturns("inverse transition function", inverseClause, inverse, stateType, declared, binding);
    if (inverse.strict !== step.strict) {
      throw definition("strictness of aggregate's forward and inverse transition functions must match");
    }
    steps.push(inverse);
  }
  const initial = options.get(`${prefix}initcond`)?.path[0] ?? null;
  if (initial === null && step.strict && !startsWithInput(stateType, types)) {
    throw definition(
      "must not omit initial value when transition function is strict and transition type is not compatible with input type",
    );
  }
  if (initial !== null && declared.polymorphic === undefined) initialState(initial, stateType, binding);
  const finalClause = options.get(`${prefix}finalfunc`);
  const finalExtra = isTrue(options.get(`${prefix}finalfunc_extra`));
  const final =
    finalClause === undefined
      ? null
      : bindNamed(
          finalClause,
          finalExtra ? stepTypes : [stateType],
          finalExtra ? [declared, ...inputs] : [declared],
          binding,
        );
  if (final !== null) steps.push(final);
  return {
    side: {
      stateFunction: stepName(stateClause.path, step.definition),
      stateType: declared,
      finalFunction: final === null ? null : stepName(finalClause!.path, final.definition),
      ...(finalExtra && { finalExtra }),
      initial,
    },
    stateType,
    inverse: inverseClause === undefined ? null : stepName(inverseClause.path, steps[1]!.definition),
    steps,
    returns: final === null ? declared : declaredOf(final.expr.type),
  };
}

/** A type that was found with the stand-in as it is declared. */
function declaredOf(type: SqlType): RoutineType {
  if (type === MACADDR) return { type, polymorphic: "anyelement" };
  return type === arrayOf(MACADDR) ? { type, polymorphic: "anyarray" } : { type };
}

function checkStateType(declared: RoutineType, inputs: readonly RoutineType[], { env }: Binding): void {
  const { polymorphic } = declared;
  if (polymorphic === undefined) {
    if (["internal", "cstring", "trigger", "void"].includes(declared.name ?? declared.type.name)) {
      throw definition(`aggregate transition data type cannot be ${routineTypeName(declared, env)}`);
    }
    return;
  }
  const given = inputs.map((input) => input.polymorphic);
  if (polymorphic === "any") throw definition('aggregate transition data type cannot be "any"');
  const lacking = lackingFor(polymorphic, given);
  if (lacking === null) return;
  throw definition(
    "cannot determine transition data type",
    `A result of type ${routineTypeName(declared, env)} requires at least one input of type ${lacking}.`,
  );
}

/** The function of that name. Throws 42883, with the types as they are declared. */
function bindNamed(
  clause: AggregateOption,
  types: readonly SqlType[],
  declared: readonly RoutineType[],
  binding: Binding,
): BoundStep {
  const name = clause.path.map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
  try {
    return bindStep(name, types, binding, bindExpr);
  } catch (error) {
    if ((error as { details?: { sqlstate?: string } }).details?.sqlstate !== "42883") throw error;
    const spelled = declared.map((type) => routineTypeName(type, binding.env)).join(", ");
    throw sqlError("42883", `function ${clause.path.join(".")}(${spelled}) does not exist`);
  }
}

function checkReturns(
  what: string,
  clause: AggregateOption,
  { expr }: BoundStep,
  stateType: SqlType,
  declared: RoutineType,
  { env }: Binding,
): void {
  if (expr.type === stateType || displayName(expr.type) === displayName(stateType)) return;
  throw sqlError("42804", `return type of ${what} ${clause.path.join(".")} is not ${routineTypeName(declared, env)}`);
}

function refuseMovingParts(options: Options): void {
  for (const name of ["msfunc", "minvfunc", "mfinalfunc", "msspace", "minitcond"]) {
    if (options.has(name)) throw definition(`aggregate ${name} must not be specified without mstype`);
  }
}

/** Clauses that say how states are shared out among workers and how much room they take: only checked. */
function checkOthers(options: Options, stateType: SqlType, binding: Binding): void {
  const combine = options.get("combinefunc");
  if (combine !== undefined) {
    const step = bindNamed(combine, [stateType, stateType], [{ type: stateType }, { type: stateType }], binding);
    checkReturns("combine function", combine, step, stateType, { type: stateType }, binding);
  }
  if (options.has("serialfunc") || options.has("deserialfunc")) {
    throw definition(
      "serialization functions may be specified only when the aggregate transition data type is internal",
    );
  }
  for (const name of ["finalfunc_modify", "mfinalfunc_modify"]) {
    const value = options.get(name)?.path[0];
    if (value !== undefined && !["read_only", "shareable", "read_write"].includes(value)) {
      throw sqlError("42601", `parameter "${name}" must be READ_ONLY, SHAREABLE, or READ_WRITE`);
    }
  }
  if (isTrue(options.get("hypothetical"))) {
    throw definition("only ordered-set aggregates can be hypothetical");
  }
}

function parallelOf(options: Options): "safe" | "restricted" | "unsafe" {
  const value = options.get("parallel")?.path[0] ?? "unsafe";
  if (value === "safe" || value === "restricted" || value === "unsafe") return value;
  throw sqlError("42601", 'parameter "parallel" must be SAFE, RESTRICTED, or UNSAFE');
}

const isTrue = (option: AggregateOption | undefined) =>
  option !== undefined && ["true", "on", "1"].includes(option.path[0]!);

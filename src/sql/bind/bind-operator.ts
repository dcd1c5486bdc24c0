/** CREATE, ALTER and DROP of operators and casts. Called by bind-statement.ts; operator-ddl.ts applies the commands. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import { type FunctionDef, inputsOf, type RoutineType, sameRoutineType } from "../../catalog/function.js";
import { type CastDef, type CastMethod, type Computes, castKey, type OperatorDef } from "../../catalog/operator.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { castFunction } from "../../query/expr/cast.js";
import { hasBuiltInCast, isBinaryCoercible, withMadeCasts } from "../../query/expr/coercion.js";
import type { ScalarFunction } from "../../query/expr/expr.js";
import { resolveFunction } from "../../query/expr/resolve.js";
import { baseType, categoryOf, displayName } from "../../query/expr/types.js";
import { BOOL, INT4, type SqlType, VOID } from "../../values/values.js";
import type { StatementNode } from "../parse/ast.js";
import type { AggregateOption, FunctionTypeNode } from "../parse/ast-functions.js";
import type { CastTypesNode, OperatorSignatureNode, OperatorStatement } from "../parse/ast-operators.js";
import { findRoutine } from "./bind-function-statement.js";
import { roleNamed } from "./bind-roles.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment, BoundStatement } from "./bound-statement.js";
import { existingSchema, newName, schemasFor } from "./names.js";
import { routinesNamed } from "./resolve-routine.js";
import { bindRoutineType, routineTypeName } from "./routine-types.js";

const KINDS: ReadonlySet<StatementNode["kind"]> = new Set<OperatorStatement["kind"]>([
  "create operator",
  "alter operator",
  "drop operator",
  "create cast",
  "drop cast",
  "comment on cast",
]);

export function isOperatorStatement(node: StatementNode): node is OperatorStatement {
  return KINDS.has(node.kind);
}

export function bindOperatorStatement(node: OperatorStatement, binding: Binding): BoundStatement {
  const ddl = (command: DdlCommand): BoundStatement => ({ kind: "ddl", command });
  switch (node.kind) {
    case "create operator":
      return createOperator(node, binding);
    case "alter operator":
      return alterOperator(node, binding);
    case "drop operator": {
      const notices: string[] = [];
      const dropped = node.operators.flatMap((signature) => {
        const found = findOperator(signature, binding, node.ifExists);
        if (typeof found !== "string") return [found];
        notices.push(`${found}, skipping`);
        return [];
      });
      return ddl({ kind: "drop operators", tag: "DROP OPERATOR", dropped, cascade: node.cascade, notices });
    }
    case "create cast":
      return createCast(node, binding);
    case "drop cast": {
      const found = findCast(node.cast, binding, node.ifExists);
      const isThere = typeof found !== "string";
      const notices = isThere ? [] : [`${found}, skipping`];
      const dropped = isThere ? [found] : [];
      return ddl({ kind: "drop operators", tag: "DROP CAST", dropped, cascade: false, notices });
    }
    case "comment on cast": {
      const { comment: _, ...cast } = findCast(node.cast, binding, false) as CastDef;
      const after = node.comment === null ? cast : { ...cast, comment: node.comment };
      return ddl({ kind: "comment on cast", after });
    }
  }
}

// ---- operators ----

type Options = ReadonlyMap<string, AggregateOption>;
type CreateOperator = Extract<OperatorStatement, { kind: "create operator" }>;

const invalid = (message: string, position = 0) => sqlError("42P13", message, position > 0 ? { position } : {});

const ATTRIBUTES: ReadonlySet<string> = new Set(
  "leftarg rightarg function procedure commutator negator restrict join hashes merges sort1 sort2 ltcmp gtcmp".split(
    " ",
  ),
);

function createOperator(node: CreateOperator, binding: Binding): BoundStatement {
  const { env } = binding;
  const { schema, name } = newName(node.name, env);
  checkSymbol(name);
  const notices = node.options
    .filter(({ name: option }) => !ATTRIBUTES.has(option))
    .map(({ name: option }) => `operator attribute "${option}" not recognized`);
  const options: Options = new Map(node.options.map((option) => [option.name, option]));
  const [left, right] = ["leftarg", "rightarg"].map((side) => operandType(options.get(side), binding));
  const computedBy = options.get("function") ?? options.get("procedure");
  if (computedBy === undefined) throw invalid("operator function must be specified");
  if (left === null && right === null) throw invalid("operator argument types must be specified");
  if (right === null || right === undefined) {
    throw sqlError("42P13", "operator right argument type must be specified", {
      detail: "Postfix operators are not supported.",
    });
  }
  const operands = left === null || left === undefined ? [right] : [left, right];
  const { computes, result } = functionFor(computedBy, operands, env);
  const isBinary = operands.length === 2;
  const isBoolean = result.type === BOOL;
  checkAttributes(options, isBinary, isBoolean);
  const other = (option: string) => relatedName(options.get(option), schema);
  const [commutator, negator] = [other("commutator"), other("negator")];
  if (negator === name && isBinary && left !== null && sameRoutineType(left!, right)) {
    throw invalid("operator cannot be its own negator");
  }
  const estimator = (option: string) => options.get(option)?.path.join(".");
  const [restrict, join] = [estimator("restrict"), estimator("join")];
  const same = env.catalog.operatorsNamed(name).some((one) => one.schema === schema && takes(one, left ?? null, right));
  if (same) throw sqlError("42723", `operator ${name} already exists`);
  const operator = {
    schema,
    name,
    left: left ?? null,
    right,
    result,
    computes,
    ...(commutator && { commutator }),
    ...(negator && { negator }),
    ...(restrict && { restrict }),
    ...(join && { join }),
    ...(isSet(options, "hashes") && { hashes: true }),
    ...(isSet(options, "merges") && { merges: true }),
  };
  const command = { kind: "create operator", operator } as const;
  return notices.length === 0
    ? { kind: "ddl", command }
    : { kind: "ddl steps", tag: "CREATE OPERATOR", steps: [() => ({ kind: "ddl", command })], notices };
}

/** PostgreSQL's rules for what its scanner reads as one operator. */
function checkSymbol(name: string): void {
  if (name === "=>" || !/^[-+*/<>=~!@#%^&|`?]{1,63}$/.test(name) || /--|\/\*/.test(name)) {
    throw sqlError("42601", `syntax error at or near "${name}"`);
  }
}

function operandType(option: AggregateOption | undefined, binding: Binding): RoutineType | null {
  if (option === undefined) return null;
  if (option.type === null) throw invalid(`operator attribute "${option.name}" must be a type`, option.position);
  if (option.type.type.setOf) throw invalid("SETOF type not allowed for operator argument", option.position);
  return bindRoutineType(option.type, binding);
}

/** Throws 42883 unless a function takes exactly these types. */
function functionFor(
  { path, position }: AggregateOption,
  operands: readonly RoutineType[],
  env: BindEnvironment,
): { readonly computes: Computes; readonly result: RoutineType } {
  const own = routinesNamed(path, env).find(
    (fn) =>
      fn.kind === "function" &&
      inputsOf(fn).length === operands.length &&
      inputsOf(fn).every(({ type }, i) => sameRoutineType(type, operands[i]!)),
  );
  if (own !== undefined) return { computes: { id: own.id }, result: own.returns };
  const types = operands.map(({ type }) => type);
  const name = path.at(-1)!;
  const builtIn = path.length === 1 || path[0] === "pg_catalog" ? builtInFunction(name, types) : null;
  if (builtIn !== null) return { computes: { builtIn: name }, result: { type: builtIn.returns } };
  const spelled = operands.map((type) => routineTypeName(type, env)).join(", ");
  throw sqlError("42883", `function ${path.join(".")}(${spelled}) does not exist`, {
    ...(position > 0 && { position }),
  });
}

function builtInFunction(name: string, types: readonly SqlType[]): ScalarFunction | null {
  try {
    const { fn } = withMadeCasts(null, () => resolveFunction(name, types));
    return fn.args.length === types.length && fn.args.every((arg, i) => baseType(types[i]!) === arg) ? fn : null;
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

const isSet = (options: Options, name: string) => {
  const option = options.get(name);
  return option !== undefined && !/^(?:false|off|0|no)$/i.test(option.path[0] ?? "");
};

function checkAttributes(options: Options, isBinary: boolean, isBoolean: boolean): void {
  if (!isBinary) {
    if (options.has("commutator")) throw invalid("only binary operators can have commutators");
    if (options.has("join")) throw invalid("only binary operators can have join selectivity");
    if (isSet(options, "merges")) throw invalid("only binary operators can merge join");
    if (isSet(options, "hashes")) throw invalid("only binary operators can hash");
  }
  if (!isBoolean) {
    if (options.has("negator")) throw invalid("only boolean operators can have negators");
    if (options.has("restrict")) throw invalid("only boolean operators can have restriction selectivity");
    if (options.has("join")) throw invalid("only boolean operators can have join selectivity");
    if (isSet(options, "merges")) throw invalid("only boolean operators can merge join");
    if (isSet(options, "hashes")) throw invalid("only boolean operators can hash");
  }
}

/** Throws 0A000 for an operator of a third schema. */
function relatedName(option: AggregateOption | undefined, schema: string): string | undefined {
  if (option === undefined) return undefined;
  const qualifier = option.path.length > 1 ? option.path.at(-2)! : null;
  if (qualifier !== null && qualifier !== schema && qualifier !== "pg_catalog") {
    throw sqlError("0A000", `the ${option.name} of an operator has to be in its schema`);
  }
  return option.path.at(-1)!;
}

function takes(operator: OperatorDef, left: RoutineType | null, right: RoutineType): boolean {
  if (!sameRoutineType(operator.right, right)) return false;
  return operator.left === null || left === null ? operator.left === left : sameRoutineType(operator.left, left);
}

/** The operator, or with `ifExists` the message that there is none. Throws 42883. */
function findOperator(node: OperatorSignatureNode, binding: Binding, ifExists: boolean): OperatorDef | string {
  const { env } = binding;
  const { path } = node.name;
  const name = path.at(-1)!;
  if (node.right === null) {
    throw sqlError("42601", "postfix operators are not supported");
  }
  const [left, right] = [node.left, node.right].map((type) => declaredType(type, binding, ifExists));
  if (typeof left === "string") return left;
  if (typeof right === "string") return right;
  const named = env.catalog.operatorsNamed(name === "!=" ? "<>" : name);
  for (const schema of schemasFor(path.length > 1 ? path.at(-2)! : null, env)) {
    const found = named.find((operator) => operator.schema === schema && takes(operator, left!, right!));
    if (found !== undefined) return found;
  }
  const message = `operator does not exist: ${spelledOperator(path.join("."), left!, right!, env)}`;
  if (ifExists) return message;
  throw sqlError("42883", message);
}

function spelledOperator(name: string, left: RoutineType | null, right: RoutineType, env: BindEnvironment): string {
  const operand = routineTypeName(right, env);
  return left === null ? `${name} ${operand}` : `${routineTypeName(left, env)} ${name} ${operand}`;
}

function declaredType(node: FunctionTypeNode | null, binding: Binding, ifExists: boolean): RoutineType | string | null {
  if (node === null) return null;
  try {
    return bindRoutineType(node, binding);
  } catch (error) {
    const state = error instanceof DbError ? error.details?.sqlstate : null;
    if (!ifExists || (state !== "42704" && state !== "3F000")) throw error;
    return (error as DbError).message;
  }
}

function alterOperator(node: Extract<OperatorStatement, { kind: "alter operator" }>, binding: Binding): BoundStatement {
  const { change } = node;
  const { env } = binding;
  const operator = findOperator(node.operator, binding, false) as OperatorDef;
  const tag = change.kind === "comment" ? "COMMENT" : "ALTER OPERATOR";
  const altered = (after: OperatorDef): BoundStatement => ({
    kind: "ddl",
    command: { kind: "alter operator", tag, after },
  });
  switch (change.kind) {
    case "comment": {
      const { comment: _, ...rest } = operator;
      return altered(change.comment === null ? rest : { ...rest, comment: change.comment });
    }
    case "owner": {
      roleNamed(change.role, env);
      const notices = ["an operator belongs to the owner of its function: OWNER TO was ignored"];
      return { kind: "ddl steps", tag, steps: [], notices };
    }
    case "set schema": {
      const schema = existingSchema(change.schema, env, 0);
      const isTaken = env.catalog
        .operatorsNamed(operator.name)
        .some((other) => other.schema === schema && takes(other, operator.left, operator.right));
      if (isTaken && schema !== operator.schema) {
        throw sqlError("42723", `operator ${operator.name} already exists in schema "${schema}"`);
      }
      return altered({ ...operator, schema });
    }
    case "options":
      return altered(withEstimators(operator, change.options));
  }
}

/** SET (RESTRICT = …, JOIN = …), which is all that can be changed. */
function withEstimators(operator: OperatorDef, options: readonly AggregateOption[]): OperatorDef {
  const given: { restrict?: string | undefined; join?: string | undefined } = {};
  for (const { name, path, type, position } of options) {
    if (name !== "restrict" && name !== "join") {
      const known = ATTRIBUTES.has(name);
      const message = known
        ? `operator attribute "${name}" cannot be changed`
        : `operator attribute "${name}" not recognized`;
      throw sqlError("42601", message, position > 0 ? { position } : {});
    }
    // NONE has no value.
    given[name] = type === null ? undefined : path.join(".");
  }
  const { restrict, join, ...rest } = { ...operator, ...given };
  checkAttributes(
    new Map(options.filter(({ type }) => type !== null).map((option) => [option.name, option])),
    operator.left !== null,
    operator.result.type === BOOL,
  );
  return { ...rest, ...(restrict && { restrict }), ...(join && { join }) };
}

// ---- casts ----

type CreateCast = Extract<OperatorStatement, { kind: "create cast" }>;

function createCast(node: CreateCast, binding: Binding): BoundStatement {
  const { env } = binding;
  const notices: string[] = [];
  const sides = [node.cast.source, node.cast.target].map((type, i) => {
    const { type: bound, polymorphic, name } = bindRoutineType(type, binding);
    if (polymorphic !== undefined || name !== undefined || bound === VOID || bound.name === "record") {
      if (bound.user === undefined) {
        const label = polymorphic ?? name ?? displayName(bound);
        throw sqlError("42809", `${i === 0 ? "source" : "target"} data type ${label} is a pseudo-type`);
      }
    }
    if (bound.user?.kind === "domain") {
      notices.push(`cast will be ignored because the ${i === 0 ? "source" : "target"} data type is a domain`);
    }
    return bound.user?.kind === "domain" ? bound : baseType(bound);
  });
  const [source, target] = sides as [SqlType, SqlType];
  const { method: how, context } = node;
  const method =
    how === "inout"
      ? ({ kind: "inout" } as const)
      : how === "binary"
        ? binary(source, target)
        : byFunction(how, source, target, binding);
  const [from, to] = [displayName(source), displayName(target)];
  if (source === target && !takesModifier(method, env)) {
    throw sqlError("42P17", "source data type and target data type are the same");
  }
  if (hasBuiltInCast(source, target) || env.catalog.madeCasts?.has(castKey(source, target))) {
    throw sqlError("42710", `cast from type ${from} to type ${to} already exists`);
  }
  const command = { kind: "create cast", cast: { source, target, context, method } } as const;
  return notices.length === 0
    ? { kind: "ddl", command }
    : { kind: "ddl steps", tag: "CREATE CAST", steps: [() => ({ kind: "ddl", command })], notices };
}

function takesModifier(method: CastMethod, { catalog }: BindEnvironment): boolean {
  if (method.kind !== "function" || "builtIn" in method.computes) return false;
  return inputsOf(catalog.functionById(method.computes.id)!).length > 1;
}

/** Texts of all kinds are held alike. Throws 42P17 for other types. */
function binary(source: SqlType, target: SqlType): CastMethod {
  for (const [what, is] of [
    ["composite", (type: SqlType) => type.fields !== undefined],
    ["enum", (type: SqlType) => type.user?.kind === "enum"],
    ["array", (type: SqlType) => type.element !== null],
  ] as const) {
    if (is(source) || is(target)) throw sqlError("42P17", `${what} data types are not binary-compatible`);
  }
  if ([source, target].some(({ user }) => user?.kind === "domain")) {
    throw sqlError("42P17", "domain data types must not be marked binary-compatible");
  }
  if (isBinaryCoercible(source, target)) return { kind: "binary" };
  // What reads a text as it stands, too.
  if (categoryOf(source) === "S" && castFunction(source, target) !== null) return { kind: "inout" };
  throw sqlError("42P17", "source and target data types are not physically compatible");
}

function byFunction(
  signature: Exclude<CreateCast["method"], string>,
  source: SqlType,
  target: SqlType,
  binding: Binding,
): CastMethod {
  const { path } = signature.name;
  const isOwn = routinesNamed(path, binding.env).length > 0;
  if (!isOwn) {
    const types = (signature.parameters ?? []).map(({ type }) => bindRoutineType(type, binding).type);
    const name = path.at(-1)!;
    const fn = path.length === 1 || path[0] === "pg_catalog" ? builtInFunction(name, types) : null;
    if (fn === null) findRoutine(signature, "function", binding);
    else {
      checkCastFunction(types, fn.returns, source, target);
      return { kind: "function", computes: { builtIn: name } };
    }
  }
  const fn = findRoutine(signature, "function", binding);
  checkShape(fn);
  checkCastFunction(
    inputsOf(fn).map(({ type }) => type.type),
    fn.returns.type,
    source,
    target,
  );
  return { kind: "function", computes: { id: fn.id } };
}

function checkShape(fn: FunctionDef): void {
  if (fn.volatility === "volatile" && fn.kind !== "function")
    throw sqlError("42P17", "cast function must be a normal function");
  if (fn.returnsSet) throw sqlError("42P17", "cast function must not return a set");
}

function checkCastFunction(types: readonly SqlType[], returns: SqlType, source: SqlType, target: SqlType): void {
  const wrong = (message: string) => sqlError("42P17", message);
  if (types.length < 1 || types.length > 3) throw wrong("cast function must take one to three arguments");
  if (!isBinaryCoercible(source, types[0]!)) {
    throw wrong("argument of cast function must match or be binary-coercible from source data type");
  }
  if (types.length > 1 && types[1] !== INT4) throw wrong("second argument of cast function must be type integer");
  if (types.length > 2 && types[2] !== BOOL) throw wrong("third argument of cast function must be type boolean");
  if (!isBinaryCoercible(returns, target)) {
    throw wrong("return data type of cast function must match or be binary-coercible to target data type");
  }
}

/** The cast, or with `ifExists` the message that there is none. Throws 42704; 2BP01 for one of the system. */
function findCast({ source, target }: CastTypesNode, binding: Binding, ifExists: boolean): CastDef | string {
  const bound: SqlType[] = [];
  for (const node of [source, target]) {
    const type = declaredType(node, binding, ifExists);
    if (typeof type === "string") return type;
    bound.push(baseType(type!.type));
  }
  const [from, to] = bound as [SqlType, SqlType];
  const found = binding.env.catalog.madeCasts?.get(castKey(from, to));
  if (found !== undefined) return found;
  const spelled = `cast from type ${displayName(from)} to type ${displayName(to)}`;
  if (hasBuiltInCast(from, to)) {
    throw sqlError("2BP01", `cannot drop ${spelled} because it is required by the database system`);
  }
  if (ifExists) return `${spelled} does not exist`;
  throw sqlError("42704", `${spelled} does not exist`);
}

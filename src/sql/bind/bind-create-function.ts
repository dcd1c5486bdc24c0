/** CREATE [OR REPLACE] FUNCTION and PROCEDURE: binds the declaration and checks that the body fits it. */
import type { CatalogView } from "../../catalog/catalog-view.js";
import {
  type FunctionDef,
  inputsOf,
  outputsOf,
  type RoutineParameter,
  type RoutineType,
  sameInputs,
  sameRoutineType,
} from "../../catalog/function.js";
import type { CreateFunctionCommand, NewFunction } from "../../catalog/function-command.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { RECORD, recordOf, type SqlType, VOID } from "../../values/values.js";
import type { StatementNode } from "../parse/ast.js";
import type { CreateFunctionStatement, FunctionOption, FunctionSetting } from "../parse/ast-functions.js";
import { parseSql } from "../parse/parse.js";
import { parsePlpgsql } from "../parse/plpgsql-parser.js";
import { standardBody } from "../parse/routine-body.js";
import { contextOf } from "./bind-context.js";
import { bindExpr } from "./bind-expr.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment, BoundStatement } from "./bound-statement.js";
import { checkPlpgsql } from "./check-plpgsql.js";
import { coerceAssignment } from "./coerce.js";
import { newName } from "./names.js";
import { RelationRecorder } from "./relation-recorder.js";
import {
  bindRoutineType,
  concreteType,
  lackingFor,
  NO_TYPES,
  routineTypeName,
  signatureOf,
  typeNow,
} from "./routine-types.js";
import { Scope } from "./scope.js";
import { expectedOf, isWholeRecord, parameterVariables, refuseNoRows, statementsOf } from "./sql-body.js";
import { storedSql } from "./stored-expression.js";
import { exactText } from "./stored-text.js";

/** Binds a statement of a body (bind-statement.ts, handed in because it calls this file). */
export type BindBody = (statement: { readonly node: StatementNode }, env: BindEnvironment) => BoundStatement;

const definition = (message: string, detail?: string) =>
  sqlError("42P13", message, detail === undefined ? {} : { detail });

export function bindCreateFunction(
  node: CreateFunctionStatement,
  binding: Binding,
  bindBody: BindBody,
): CreateFunctionCommand {
  const { env } = binding;
  const { schema, name } = newName(node.name, env);
  const parameters = bindParameters(node, binding);
  const options = functionOptions(node.options, node.procedure, binding.env);
  const language = languageOf(node);
  const { returns, returnsSet } = bindReturns(node, parameters, binding);
  const fn: NewFunction = {
    schema,
    name,
    kind: node.procedure ? "procedure" : "function",
    parameters,
    returns,
    returnsSet,
    language,
    body: bodyOf(node),
    volatility: "volatile",
    strict: false,
    settings: settingsOf(node.settings, []),
    ...options,
    ...(node.standard && { standard: true, searchPath: env.searchPath }),
  };
  const replaces = env.catalog.functionsNamed(schema, name).find((other) => sameInputs(other, fn)) ?? null;
  if (replaces !== null) checkReplacement(replaces, fn, node.replace, binding);
  if (language === "plpgsql") checkPlpgsqlBody(fn);
  else if (node.standard) return { kind: "create function", function: withNames(fn, binding, bindBody), replaces };
  else checkSqlBody(fn, { ...binding.env, catalog: withFunction(fn, binding.env.catalog) }, bindBody);
  return { kind: "create function", function: fn, replaces };
}

/** A function whose body was written as statements, with what their names mean now. */
function withNames(fn: NewFunction, { env, noted }: Binding, bindBody: BindBody): NewFunction {
  const relations = new RelationRecorder(env.catalog);
  const plans = checkSqlBody(fn, { ...env, catalog: relations.catalog, noted }, bindBody);
  const { sql: body, places } = exactText(fn.body, { tree: statementsOf(fn), origin: 1 }, noted);
  return { ...fn, body, relations: relations.list(plans, noted.changed), ...(places && { places }) };
}

function languageOf(node: CreateFunctionStatement): FunctionDef["language"] {
  const language = node.options.find(({ name }) => name === "language");
  if (language === undefined) {
    if (node.standard) return "sql";
    throw definition("no language specified");
  }
  const name = String(language.value).toLowerCase();
  const at = { position: language.position };
  if (name === "c" || name === "internal") {
    throw sqlError("0A000", `functions in LANGUAGE ${name} are not supported`, at);
  }
  if (name !== "sql" && name !== "plpgsql") throw sqlError("42704", `language "${name}" does not exist`, at);
  if (node.standard && name !== "sql") throw definition("inline SQL function body only valid for language SQL");
  return name;
}

function bodyOf(node: CreateFunctionStatement): string {
  if (node.standard && node.as.length > 0) throw definition("duplicate function body specified");
  if (node.standard) return standardBody(node.text);
  if (node.as.length === 0) throw definition("no function body specified");
  if (node.as.length > 1) throw definition(`only one AS item needed for language "${String(languageOf(node))}"`);
  return node.as[0]!;
}

function bindParameters(node: CreateFunctionStatement, binding: Binding): RoutineParameter[] {
  const names = new Set<string>();
  let variadic = false;
  let defaults = false;
  return node.parameters.map((parameter): RoutineParameter => {
    const { mode, name, position } = parameter;
    const isInput = mode !== "out" && mode !== "table";
    const type = bindRoutineType(parameter.type, binding);
    if (parameter.type.type.setOf)
      throw definition(`${node.procedure ? "procedures" : "functions"} cannot accept set arguments`);
    if (type.type === VOID && type.polymorphic === undefined && isInput) {
      throw definition(
        `${node.procedure ? "SQL procedures" : "functions"} cannot have arguments of type ${routineTypeName(type, binding.env)}`,
      );
    }
    if (variadic && isInput) throw definition("VARIADIC parameter must be the last input parameter");
    if (mode === "variadic") {
      variadic = true;
      const isArray =
        type.polymorphic === undefined ? type.type.element !== null : /array$|^any$/.test(type.polymorphic);
      if (!isArray || type.polymorphic === "anycompatiblenonarray" || type.polymorphic === "anynonarray") {
        throw definition("VARIADIC parameter must be an array");
      }
    }
    if (name !== null) {
      // In SQL an input and an output may share a name, which then means the input.
      const both = mode === "inout" || languageOf(node) === "plpgsql";
      const kinds = both ? ["in", "out"] : [isInput ? "in" : "out"];
      if (kinds.some((kind) => names.has(`${kind} ${name}`))) {
        throw definition(`parameter name "${name}" used more than once`);
      }
      for (const kind of kinds) names.add(`${kind} ${name}`);
    }
    if (parameter.default === null) {
      if (defaults && isInput) {
        throw sqlError("42P13", "input parameters after one with a default value must also have defaults", {
          position,
        });
      }
      return { name, mode, type, defaultSql: null };
    }
    if (!isInput) throw sqlError("42P13", "only input parameters can have default values", { position });
    defaults = true;
    const context = { ...contextOf(binding, new Scope(null), "DEFAULT expressions"), subqueries: false };
    const value = bindExpr(parameter.default, context);
    if (type.polymorphic === undefined) {
      coerceAssignment(value, { name: name ?? "", type: typeNow(type, binding.env) }, binding, position);
    }
    return { name, mode, type, defaultSql: storedSql(parameter.default, binding) };
  });
}

/** Of several OUT parameters a record, of one its type. */
function bindReturns(
  node: CreateFunctionStatement,
  parameters: readonly RoutineParameter[],
  binding: Binding,
): { readonly returns: RoutineType; readonly returnsSet: boolean } {
  const outputs = outputsOf({ parameters });
  const byOutputs: RoutineType | null =
    outputs.length === 0 ? null : outputs.length === 1 && !node.procedure ? outputs[0]!.type : { type: RECORD };
  if (node.procedure) return { returns: byOutputs ?? { type: VOID }, returnsSet: false };
  if (node.returns === null) {
    if (byOutputs === null) throw definition("function result type must be specified");
    checkPolymorphicResult(
      outputs.map(({ type }) => type),
      parameters,
      binding,
    );
    return { returns: byOutputs, returnsSet: false };
  }
  const isTable = outputs.some(({ mode }) => mode === "table");
  const declared = isTable ? byOutputs! : bindRoutineType(node.returns, binding);
  if (byOutputs !== null && !isTable && !sameRoutineType(declared, byOutputs)) {
    throw definition(
      `function result type must be ${routineTypeName(byOutputs, binding.env)} because of OUT parameters`,
    );
  }
  checkPolymorphicResult(outputs.length > 0 ? outputs.map(({ type }) => type) : [declared], parameters, binding);
  return { returns: declared, returnsSet: node.returns.type.setOf };
}

function checkPolymorphicResult(
  results: readonly RoutineType[],
  parameters: readonly RoutineParameter[],
  binding: Binding,
): void {
  const inputs = inputsOf({ parameters }).map(({ type }) => type.polymorphic);
  for (const result of results) {
    const { polymorphic } = result;
    if (polymorphic === undefined) continue;
    const lacking = lackingFor(polymorphic, inputs);
    if (lacking === null) continue;
    throw definition(
      "cannot determine result data type",
      `A result of type ${routineTypeName(result, binding.env)} requires at least one input of type ${lacking}.`,
    );
  }
}

type Options = Partial<
  Pick<FunctionDef, "volatility" | "strict" | "cost" | "rows" | "securityDefiner" | "leakproof" | "parallel">
>;

/**
 * The clauses of CREATE and ALTER FUNCTION. Throws 42601 for a repeated clause, 42P13 for one that does not fit, 42501
 * for LEAKPROOF where roles say who may do what.
 */
export function functionOptions(options: readonly FunctionOption[], procedure: boolean, env: BindEnvironment): Options {
  const seen = new Set<string>();
  const result: { -readonly [K in keyof Options]: Options[K] } = {};
  for (const { name, value, position } of options) {
    if (seen.has(name)) throw sqlError("42601", "conflicting or redundant options", { position });
    seen.add(name);
    if (procedure && !["language", "security", "as"].includes(name)) {
      throw sqlError("42P13", "invalid attribute in procedure definition", { position });
    }
    switch (name) {
      case "language":
      case "support":
      case "transform":
        break;
      case "volatility":
        result.volatility = value as NonNullable<Options["volatility"]>;
        break;
      case "strict":
        result.strict = value === true;
        break;
      case "cost":
        if (Number(value) <= 0) throw sqlError("22023", "COST must be positive");
        result.cost = Number(value);
        break;
      case "rows":
        if (Number(value) <= 0) throw sqlError("22023", "ROWS must be positive");
        result.rows = Number(value);
        break;
      case "security":
        result.securityDefiner = value === true;
        break;
      case "leakproof":
        result.leakproof = value === true;
        if (result.leakproof && env.rights?.ofRoles && !env.rights.isSuperuser) {
          throw sqlError("42501", "only superuser can define a leakproof function");
        }
        break;
      case "parallel":
        if (!["safe", "restricted", "unsafe"].includes(String(value))) {
          throw sqlError("42601", 'parameter "parallel" must be SAFE, RESTRICTED, or UNSAFE', { position });
        }
        result.parallel = value as NonNullable<Options["parallel"]>;
        break;
      case "window":
        throw sqlError("0A000", "window functions cannot be defined by statements", { position });
      default:
        throw sqlError("0A000", `${name.toUpperCase()} of a function is not supported`, { position });
    }
  }
  return result;
}

/** Settings as CREATE and ALTER FUNCTION say them over those that were there. */
export function settingsOf(
  changes: readonly FunctionSetting[],
  before: FunctionDef["settings"],
): FunctionDef["settings"] {
  const settings = new Map(before);
  for (const { name, values } of changes) {
    if (values !== null) settings.set(name, values.join(", "));
    else if (name === "" || name === "all") settings.clear();
    else settings.delete(name);
  }
  return [...settings];
}

/** Throws 42723 without OR REPLACE, 42809 and 42P13 for what callers rely on. */
function checkReplacement(before: FunctionDef, after: NewFunction, replace: boolean, { env }: Binding): void {
  const { name } = after;
  if (!replace) throw sqlError("42723", `function "${name}" already exists with same argument types`);
  const hint = `Use DROP ${before.kind.toUpperCase()} ${signatureOf(before, env)} first.`;
  if (before.kind !== after.kind) {
    const detail = `"${name}" is ${before.kind === "aggregate" ? "an aggregate function" : `a ${before.kind}`}.`;
    throw sqlError("42809", "cannot change routine kind", { detail });
  }
  const [left, right] = [outputsOf(before), outputsOf(after)];
  const sameRow =
    left.length === right.length &&
    left.every(
      ({ type, name: column }, i) =>
        sameRoutineType(type, right[i]!.type) && (left.length === 1 || column === right[i]!.name),
    );
  if (before.returnsSet !== after.returnsSet || !sameRoutineType(before.returns, after.returns)) {
    throw sqlError("42P13", "cannot change return type of existing function", { hint });
  }
  if (!sameRow && (left.length > 1 || right.length > 1)) {
    throw sqlError("42P13", "cannot change return type of existing function", {
      detail: "Row type defined by OUT parameters is different.",
      hint,
    });
  }
  const inputs = inputsOf(after);
  inputsOf(before).forEach((parameter, i) => {
    if (parameter.name !== null && parameter.name !== inputs[i]!.name) {
      throw sqlError("42P13", `cannot change name of input parameter "${parameter.name}"`, { hint });
    }
    if (parameter.defaultSql !== null && inputs[i]!.defaultSql === null) {
      throw sqlError("42P13", "cannot remove parameter defaults from existing function", { hint });
    }
  });
}

/** Types as a call would give them, for the checks of a body; null: they are only known when it is called. */
function knownTypes(
  fn: NewFunction,
  env: BindEnvironment,
): { readonly inputs: readonly SqlType[]; readonly returns: SqlType } | null {
  const inputs = inputsOf(fn);
  const all = [...inputs.map(({ type }) => type), ...outputsOf(fn).map(({ type }) => type), fn.returns];
  if (all.some(({ polymorphic }) => polymorphic !== undefined)) return null;
  const outputs = outputsOf(fn);
  const now = (type: RoutineType) => concreteType(type, NO_TYPES, env);
  const returns = outputs.length > 1 || (outputs.length === 1 && fn.kind === "procedure") ? null : now(fn.returns);
  return {
    inputs: inputs.map(({ type }) => now(type)),
    returns:
      returns ?? recordOf(outputs.map(({ name, type }, i) => ({ name: name ?? `column${i + 1}`, type: now(type) }))),
  };
}

/** The definitions with the new function among them: it may call itself. */
function withFunction(fn: NewFunction, catalog: CatalogView): CatalogView {
  const added: FunctionDef = { ...fn, id: 0, createdAt: 0 };
  const own: Pick<CatalogView, "functionsNamed"> = {
    functionsNamed: (schema, name) => {
      const others = catalog.functionsNamed(schema, name);
      if (schema !== fn.schema || name !== fn.name) return others;
      return [...others.filter((other) => !sameInputs(other, fn)), added];
    },
  };
  return Object.assign(Object.create(catalog) as CatalogView, own);
}

/** Names and types of a PL/pgSQL body are looked up when it runs. Throws 42601, 42804. */
function checkPlpgsqlBody(fn: NewFunction): void {
  const { block, expressions, statements } = parsePlpgsql(fn.body);
  checkPlpgsql(block, fn);
  try {
    for (const { text } of expressions) parseSql(`SELECT ${text}`);
    for (const { text } of statements) parseSql(text);
  } catch (error) {
    // Places in a piece of the body are no places in the statement; what cannot run here may never be reached.
    if (!(error instanceof DbError) || error.code === "not_supported") return;
    const { position: _, ...details } = error.details ?? {};
    throw new DbError(error.code, error.message, details);
  }
}

/** Binds the body as a call would; gives the plans. Throws an error that says what is wrong with it. */
function checkSqlBody(fn: NewFunction, outer: BindEnvironment, bindBody: BindBody): Plan[] {
  const statements = statementsOf(fn);
  const types = knownTypes(fn, outer);
  if (types === null) {
    if (!fn.standard) return [];
    throw definition("SQL function with unquoted function body cannot have polymorphic arguments");
  }
  const args = types.inputs.map((type, index): Expr => Object.freeze({ kind: "param", type, index }));
  const env: BindEnvironment = { ...outer, variables: parameterVariables(fn, args), parameterTypes: [] };
  const plans: Plan[] = [];
  const expected = fn.kind === "procedure" && outputsOf(fn).length === 0 ? null : expectedOf(types.returns);
  statements.forEach(({ node }, i) => {
    if (node.kind === "transaction") {
      throw sqlError("0A000", `${node.action.toUpperCase()} is not allowed in an SQL function`);
    }
    const bound = bindBody({ node }, env);
    if (bound.kind === "query") plans.push(bound.plan);
    else if (fn.standard) throw notInStandard(node);
    if (i < statements.length - 1 || types.returns === VOID || (expected === null && fn.kind === "procedure")) return;
    if (bound.kind !== "query" || !bound.returnsRows) refuseNoRows(types.returns);
    if (expected !== null && !isWholeRecord(bound.columns, types.returns)) expected.check(bound.columns);
  });
  if (statements.length === 0 && types.returns !== VOID && fn.kind === "function") refuseNoRows(types.returns);
  return plans;
}

function notInStandard({ kind }: StatementNode): Error {
  return sqlError("0A000", `${kind.toUpperCase()} is not yet supported in unquoted function body`);
}

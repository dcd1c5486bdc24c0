/** CREATE, DROP and ALTER of functions and procedures, CALL and DO. Called by bind-statement.ts. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { FunctionDef, RoutineParameter, RoutineType } from "../../catalog/function.js";
import { inputsOf, sameRoutineType } from "../../catalog/function.js";
import { LANGUAGE_IDS } from "../../catalog/role.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { isKnownFunction } from "../../query/expr/resolve.js";
import type { StatementNode } from "../parse/ast.js";
import type {
  AlterFunctionStatement,
  DropFunctionStatement,
  FunctionStatement,
  RoutineKind,
  SignatureNode,
} from "../parse/ast-functions.js";
import { bindCall } from "./bind-call-procedure.js";
import { bindCreateAggregate } from "./bind-create-aggregate.js";
import { type BindBody, bindCreateFunction, functionOptions, settingsOf } from "./bind-create-function.js";
import type { Binding } from "./binding.js";
import type { BoundStatement } from "./bound-statement.js";
import { existingSchema } from "./names.js";
import { checkedRights } from "./relation-rights.js";
import { routinesNamed } from "./resolve-routine.js";
import { bindRoutineType, routineTypeName, signatureOf } from "./routine-types.js";

const KINDS: ReadonlySet<StatementNode["kind"]> = new Set<FunctionStatement["kind"]>([
  "create function",
  "create aggregate",
  "drop function",
  "alter function",
  "call procedure",
  "do",
]);

export function isFunctionStatement(node: StatementNode): node is FunctionStatement {
  return KINDS.has(node.kind);
}

export function bindFunctionStatement(node: FunctionStatement, binding: Binding, bindBody: BindBody): BoundStatement {
  switch (node.kind) {
    case "create function":
      return { kind: "ddl", command: bindCreateFunction(node, binding, bindBody) };
    case "create aggregate":
      return { kind: "ddl", command: bindCreateAggregate(node, binding) };
    case "drop function":
      return { kind: "ddl", command: bindDrop(node, binding) };
    case "alter function":
      return { kind: "ddl", command: bindAlter(node, binding) };
    case "call procedure":
      return bindCall(node, binding);
    case "do":
      if (node.language !== "plpgsql") throw unknownInline(node.language);
      if (node.command === undefined)
        checkedRights(binding.env)?.require(LANGUAGE_IDS.plpgsql, "plpgsql", "U", "language");
      return { kind: "do", body: node.body, command: node.command ?? "DO" };
  }
}

function unknownInline(language: string): Error {
  if (["sql", "c", "internal"].includes(language)) {
    return sqlError("0A000", `language "${language}" does not support inline code execution`);
  }
  return sqlError("42704", `language "${language}" does not exist`);
}

function bindDrop(node: DropFunctionStatement, binding: Binding): DdlCommand {
  const functions: FunctionDef[] = [];
  const notices: string[] = [];
  for (const signature of node.functions) {
    const found = find(signature, node.object, binding, node.ifExists);
    if (typeof found === "string") notices.push(`${found}, skipping`);
    else if (!functions.includes(found)) functions.push(found);
  }
  const signatures = functions.map((fn) => signatureOf(fn, binding.env));
  const tag = `DROP ${node.object.toUpperCase()}`;
  const shadowed = functions.filter(({ name }) => isKnownFunction(name));
  return { kind: "drop functions", tag, functions, cascade: node.cascade, notices, signatures, shadowed };
}

function bindAlter(node: AlterFunctionStatement, binding: Binding): DdlCommand {
  const { env } = binding;
  const before = find(node.function, node.object, binding, false) as FunctionDef;
  const { change } = node;
  const isComment = change.kind === "comment";
  const tag = isComment ? "COMMENT" : `ALTER ${node.object.toUpperCase()}`;
  const altered = (after: FunctionDef): DdlCommand => ({ kind: "alter function", tag, before, after });
  switch (change.kind) {
    case "comment": {
      const { comment: _, ...rest } = before;
      return altered(change.comment === null ? rest : { ...rest, comment: change.comment });
    }
    case "rename":
      checkFree(before, before.schema, change.name, binding);
      return altered({ ...before, name: change.name });
    case "set schema": {
      const schema = existingSchema(change.schema, env, 0);
      if (schema !== before.schema) checkFree(before, schema, before.name, binding);
      return altered({ ...before, schema });
    }
    case "options": {
      const settings = settingsOf(change.settings, before.settings);
      return altered({
        ...before,
        ...functionOptions(change.options, before.kind === "procedure", binding.env),
        settings,
      });
    }
  }
}

function checkFree(fn: FunctionDef, schema: string, name: string, { env }: Binding): void {
  const taken = env.catalog
    .functionsNamed(schema, name)
    .some(
      (other) =>
        inputsOf(other).length === inputsOf(fn).length &&
        inputsOf(other).every(({ type }, i) => sameRoutineType(type, inputsOf(fn)[i]!.type)),
    );
  if (!taken) return;
  const signature = signatureOf({ ...fn, name }, env);
  throw sqlError("42723", `function ${signature} already exists in schema "${schema}"`);
}

/** The type, or with `ifExists` the message that there is none. */
function declaredType(
  node: Parameters<typeof bindRoutineType>[0],
  binding: Binding,
  ifExists: boolean,
): RoutineType | string {
  try {
    return bindRoutineType(node, binding);
  } catch (error) {
    const state = error instanceof DbError ? error.details?.sqlstate : null;
    if (!ifExists || (state !== "42704" && state !== "3F000")) throw error;
    return (error as DbError).message;
  }
}

/** The function that a signature means. Throws 42883, 42725, 42809. */
export function findRoutine(node: SignatureNode, object: RoutineKind, binding: Binding): FunctionDef {
  return find(node, object, binding, false) as FunctionDef;
}

/** The function that a signature means, or with `ifExists` what is missing. Throws 42883, 42725, 42809. */
function find(node: SignatureNode, object: RoutineKind, binding: Binding, ifExists: boolean): FunctionDef | string {
  const { env } = binding;
  const name = node.name.path.join(".");
  const noun = object === "routine" ? "routine" : object;
  const candidates = routinesNamed(node.name.path, env);
  const missing = (message: string): string => {
    if (ifExists) return message;
    throw sqlError("42883", message);
  };
  if (node.parameters === null) {
    const fitting = candidates.filter(({ kind }) => object === "routine" || kind === object);
    if (fitting.length === 1) return fitting[0]!;
    if (fitting.length === 0) {
      return missing(ifExists ? `${noun} ${name}() does not exist` : `could not find a ${noun} named "${name}"`);
    }
    throw sqlError("42725", `${noun} name "${name}" is not unique`, {
      hint: `Specify the argument list to select the ${noun} unambiguously.`,
    });
  }
  const declared: { readonly mode: RoutineParameter["mode"]; readonly type: RoutineType }[] = [];
  for (const { mode, type } of node.parameters) {
    const bound = declaredType(type, binding, ifExists);
    if (typeof bound === "string") return bound;
    declared.push({ mode, type: bound });
  }
  const inputs = declared.filter(({ mode }) => mode !== "out" && mode !== "table").map(({ type }) => type);
  const all = declared.map(({ type }) => type);
  const same = (types: readonly (typeof all)[number][], of: readonly (typeof all)[number][]) =>
    types.length === of.length && types.every((type, i) => sameRoutineType(type, of[i]!));
  const found =
    candidates.find((fn) =>
      same(
        inputs,
        inputsOf(fn).map(({ type }) => type),
      ),
    ) ??
    candidates.find(
      (fn) =>
        fn.kind === "procedure" &&
        same(
          all,
          fn.parameters.map(({ type }) => type),
        ),
    );
  const spelled = inputs.map((type) => routineTypeName(type, env)).join(", ");
  const signature = `${name}(${object === "aggregate" && inputs.length === 0 ? "*" : spelled})`;
  if (found === undefined) return missing(`${noun} ${signature} does not exist`);
  if (object === "function" && found.kind === "aggregate") {
    throw sqlError("42809", `"${found.name}" is an aggregate function`, {
      hint: "Use DROP AGGREGATE to drop aggregate functions.",
    });
  }
  if (object !== "routine" && found.kind !== object) {
    throw sqlError(
      "42809",
      object === "aggregate" ? `function ${signature} is not an aggregate` : `${signature} is not a ${object}`,
    );
  }
  return found;
}

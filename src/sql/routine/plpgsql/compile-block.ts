/** Blocks: declarations, statements, and what handles their errors. */
import { type DbError, sqlError } from "../../../protocol/errors.js";
import { type SqlType, TEXT, type Value } from "../../../values/values.js";
import { bindDeclaredType } from "../../bind/bind-declared-type.js";
import type { PlBlock, PlDeclaration, PlHandler } from "../../parse/plpgsql-ast.js";
import type { Compiler } from "./compiler.js";
import { handled, matcherOf, sqlStateOf } from "./conditions.js";
import { PlExpression } from "./expression.js";
import { EXIT, type Frame, NORMAL, type Run, type Signal } from "./frame.js";
import { sequence } from "./loop.js";
import type { Namespace, Variable } from "./namespace.js";

export function compileBlock(block: PlBlock, outer: Namespace, compiler: Compiler): Run {
  const names = outer.inner(block.label);
  const entries = block.declarations.flatMap((declaration) => declare(declaration, names, compiler));
  const body = compiler.statements(block.body, names);
  const guarded = block.handlers === null ? body : withHandlers(body, block.handlers, names, compiler);
  const whole = entries.length === 0 ? guarded : sequence([...entries, guarded]);
  const { label } = block;
  return label === null ? whole : (frame) => leaving(whole(frame), label, frame);
}

/** EXIT with the block's label ends the block. */
function leaving(signal: Signal | Promise<Signal>, label: string, frame: Frame): Signal | Promise<Signal> {
  const settle = (done: Signal): Signal => (done === EXIT && frame.label === label ? NORMAL : done);
  return signal instanceof Promise ? signal.then(settle) : settle(signal);
}

export function declaredType(text: string, names: Namespace, { env }: Compiler): SqlType | null {
  return bindDeclaredType(text, env, (path) => {
    const found = names.find(path);
    if (found === null) return undefined;
    const { variable, used } = found;
    if (used === path.length) return variable.type;
    return variable.type?.fields?.find(({ name }) => name === path[used])?.type;
  });
}

/** The variable, and what gives it its first value when the block is entered. */
function declare(node: PlDeclaration, names: Namespace, compiler: Compiler): Run[] {
  const { name } = node;
  if (names.has(name))
    throw sqlError("42601", `syntax error at or near "${name}"`, { detail: "duplicate declaration" });
  if (node.kind === "alias") {
    const found = names.find(node.of);
    if (found === null) throw sqlError("42704", `variable "${node.of.join(".")}" does not exist`);
    names.define(name, found.variable);
    return [];
  }
  if (node.kind === "cursor") {
    const variable = names.slots.add(name, TEXT, { cursor: node });
    names.define(name, variable);
    return [set(variable, name)];
  }
  const type = declaredType(node.type, names, compiler);
  const { constant, notNull } = node;
  const variable = names.slots.add(name, type, { constant, notNull });
  const initial = initialValue(node.initial?.text ?? null, variable, names, compiler);
  names.define(name, variable);
  return [initial];
}

const set =
  ({ slot }: Variable, value: Value): Run =>
  (frame) => {
    frame.values[slot] = value;
    return NORMAL;
  };

function initialValue(text: string | null, variable: Variable, names: Namespace, compiler: Compiler): Run {
  const { slot, type, notNull, name } = variable;
  if (text === null && type?.user?.kind !== "domain") {
    return (frame) => {
      frame.values[slot] = null;
      frame.types[slot] = null;
      return NORMAL;
    };
  }
  const expression = new PlExpression(text ?? "NULL", names.soFar(), type);
  const store = (value: Value, frame: Frame): Signal => {
    if (value === null && notNull) {
      throw sqlError("22004", `null value cannot be assigned to variable "${name}" declared NOT NULL`);
    }
    frame.values[slot] = value;
    if (type === null) frame.types[slot] = expression.type(frame);
    return NORMAL;
  };
  void compiler;
  return (frame) => {
    const value = expression.evaluate(frame);
    return value instanceof Promise ? value.then((arrived) => store(arrived, frame)) : store(value, frame);
  };
}

interface Handler {
  readonly matches: (state: string) => boolean;
  readonly body: Run;
}

/** The statements as a subtransaction; an error that a handler takes undoes them. */
function withHandlers(body: Run, nodes: readonly PlHandler[], outer: Namespace, compiler: Compiler): Run {
  const names = outer.inner(null);
  const state = names.slots.add("sqlstate", TEXT, { constant: true });
  const message = names.slots.add("sqlerrm", TEXT, { constant: true });
  names.define("sqlstate", state);
  names.define("sqlerrm", message);
  const handlers = nodes.map((node): Handler => {
    const matchers = node.conditions.map(matcherOf);
    return {
      matches: (code) => matchers.some((matches) => matches(code)),
      body: compiler.statements(node.body, names),
    };
  });
  return (frame) => {
    const { host, context } = frame.invocation;
    const subtransaction = host.savepoint(context);
    const failed = (error: unknown): Signal | Promise<Signal> => {
      subtransaction.rollback();
      const known = handled(error);
      const handler = known === null ? undefined : handlers.find(({ matches }) => matches(sqlStateOf(known)));
      if (known === null || handler === undefined) throw error;
      frame.values[state.slot] = sqlStateOf(known);
      frame.values[message.slot] = known.message;
      return handling(handler.body, known, frame);
    };
    const done = (signal: Signal): Signal => {
      subtransaction.release();
      return signal;
    };
    try {
      const signal = body(frame);
      return signal instanceof Promise ? signal.then(done, failed) : done(signal);
    } catch (error) {
      return failed(error);
    }
  };
}

/** Runs a handler; RAISE without anything throws the error that it handles. */
function handling(body: Run, error: DbError, frame: Frame): Signal | Promise<Signal> {
  frame.errors.push(error);
  let waiting = false;
  try {
    const signal = body(frame);
    if (signal instanceof Promise) {
      waiting = true;
      return signal.finally(() => frame.errors.pop());
    }
    return signal;
  } finally {
    if (!waiting) frame.errors.pop();
  }
}

/**
 * What PostgreSQL finds wrong with a PL/pgSQL body before it runs: forms of RETURN that the result does not allow,
 * arguments of cursors, loops over unbound cursors, targets of GET DIAGNOSTICS. Called when a function is made; names
 * of tables and types are looked up when it runs.
 */
import { outputsOf } from "../../catalog/function.js";
import type { NewFunction } from "../../catalog/function-command.js";
import { sqlError } from "../../protocol/errors.js";
import { VOID } from "../../values/values.js";
import type { PlBlock, PlCursor, PlCursorArgument, PlSql, PlStatement } from "../parse/plpgsql-ast.js";

/** What a name of the body stands for, as far as it is known without looking types up. */
type Meaning = PlCursor | "row" | "unknown";
type Names = ReadonlyMap<string, Meaning>;

/** Throws 42601, 42804. */
export function checkPlpgsql(block: PlBlock, fn: NewFunction): void {
  const names = new Map<string, Meaning>();
  for (const { name, type } of fn.parameters) {
    const isRow = type.polymorphic === undefined && type.type.name === "record";
    if (name !== null) names.set(name, isRow ? "row" : "unknown");
  }
  checkBlock(block, names, fn);
}

function checkBlock(block: PlBlock, outer: Names, fn: NewFunction): void {
  const names = new Map(outer);
  for (const declared of block.declarations)
    names.set(declared.name, declared.kind === "cursor" ? declared : "unknown");
  checkAll(block.body, names, fn);
  for (const { body } of block.handlers ?? []) checkAll(body, names, fn);
}

function checkAll(statements: readonly PlStatement[], names: Names, fn: NewFunction): void {
  for (const statement of statements) checkStatement(statement, names, fn);
}

function checkStatement(node: PlStatement, names: Names, fn: NewFunction): void {
  switch (node.kind) {
    case "block":
      checkBlock(node, names, fn);
      break;
    case "return":
      checkReturn(node.value?.text ?? null, fn);
      break;
    case "if":
    case "case":
      for (const { body } of node.branches) checkAll(body, names, fn);
      checkAll(node.otherwise ?? [], names, fn);
      break;
    case "loop":
    case "while":
    case "for query":
    case "foreach":
      checkAll(node.body, names, fn);
      break;
    case "for integer":
      checkAll(node.body, new Map(names).set(node.variable, "unknown"), fn);
      break;
    case "for cursor": {
      const cursor = names.get(node.cursor);
      if (typeof cursor !== "object") throw sqlError("42601", "cursor FOR loop must use a bound cursor variable");
      cursorArguments(cursor, node.args);
      checkAll(node.body, new Map(names).set(node.variable, "unknown"), fn);
      break;
    }
    case "open": {
      const cursor = names.get(node.cursor);
      if (typeof cursor === "object" && node.query === null) cursorArguments(cursor, node.args);
      break;
    }
    case "diagnostics":
      for (const { target } of node.items) {
        const [name] = target.path;
        if (target.path.length > 1 || target.rest.length > 0 || names.get(name!) !== "row") continue;
        throw sqlError("42601", `"${name}" is not a scalar variable`);
      }
      break;
    default:
      break;
  }
}

const refused = (message: string, hint?: string) => sqlError("42804", message, hint === undefined ? {} : { hint });

/** RETURN with or without a value. Throws 42601 and 42804. */
function checkReturn(value: string | null, fn: NewFunction): void {
  const isVoid = fn.returns.type === VOID && fn.returns.polymorphic === undefined;
  const hasOutputs = outputsOf(fn).length > 0;
  if (value === null) {
    if (fn.kind === "function" && !isVoid && !fn.returnsSet && !hasOutputs) {
      throw sqlError("42601", 'missing expression at or near ";"');
    }
    return;
  }
  if (fn.returnsSet) {
    throw refused("RETURN cannot have a parameter in function returning set", "Use RETURN NEXT or RETURN QUERY.");
  }
  if (fn.kind === "procedure") throw refused("RETURN cannot have a parameter in a procedure");
  if (hasOutputs) throw refused("RETURN cannot have a parameter in function with OUT parameters");
  if (isVoid && !/^\s*null\s*$/i.test(value)) {
    throw refused("RETURN cannot have a parameter in function returning void");
  }
}

/** The values for a cursor's parameters, in their order. Throws 42601. */
export function cursorArguments(cursor: PlCursor, args: readonly PlCursorArgument[]): readonly PlSql[] {
  const { name: cursorName, parameters } = cursor;
  if (args.length === 0 && parameters.length > 0) throw sqlError("42601", `cursor "${cursorName}" has arguments`);
  if (args.length > 0 && parameters.length === 0) throw sqlError("42601", `cursor "${cursorName}" has no arguments`);
  if (args.length > parameters.length) throw sqlError("42601", `too many arguments for cursor "${cursorName}"`);
  const given = new Map<number, PlSql>();
  args.forEach(({ name, value }, i) => {
    const at = name === null ? i : parameters.findIndex((parameter) => parameter.name === name);
    if (at < 0) throw sqlError("42601", `cursor "${cursorName}" has no argument named "${name}"`);
    if (given.has(at)) {
      const message = `value for parameter "${parameters[at]!.name}" of cursor "${cursorName}" specified more than once`;
      throw sqlError("42601", message);
    }
    given.set(at, value);
  });
  if (given.size < parameters.length) throw sqlError("42601", `not enough arguments for cursor "${cursorName}"`);
  return parameters.map((_, i) => given.get(i)!);
}

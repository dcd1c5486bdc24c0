/** Cursors: OPEN reads the rows, FETCH and MOVE go over them, CLOSE forgets them. */
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import { sumOfBytes } from "../../../query/exec/value-bytes.js";
import { INT4, recordOf, TEXT, type Value } from "../../../values/values.js";
import { cursorArguments } from "../../bind/check-plpgsql.js";
import type { PlCursor, PlCursorArgument, PlDynamic, PlSql, PlStatement } from "../../parse/plpgsql-ast.js";
import { declaredType } from "./compile-block.js";
import type { Compiler } from "./compiler.js";
import { PlExpression } from "./expression.js";
import { type Frame, NORMAL, type OpenCursor, type Run } from "./frame.js";
import type { Namespace, Variable } from "./namespace.js";
import { evaluateAll, preparable, type Ready, runReady } from "./statement.js";
import { assignRow, compileTarget } from "./targets.js";

export interface CursorArgument {
  readonly variable: Variable;
  readonly value: PlExpression;
}

const parameters = new WeakMap<PlCursor, readonly Variable[]>();

/** The cursor's parameters as variables that its query sees, and the values for them. Throws 42601. */
export function compileArguments(
  cursor: PlCursor,
  args: readonly PlCursorArgument[],
  names: Namespace,
  compiler: Compiler,
): readonly CursorArgument[] {
  const declared = cursor.parameters.map(({ name, type }) =>
    names.slots.add(name, declaredType(type, names, compiler) ?? TEXT),
  );
  parameters.set(cursor, declared);
  const values = cursorArguments(cursor, args);
  return declared.map((variable, i) => ({ variable, value: new PlExpression(values[i]!.text, names, variable.type) }));
}

/** The query of a bound cursor, ready to run with its arguments. */
export function openRows(
  { cursor }: Variable,
  args: readonly CursorArgument[],
  outer: Namespace,
  _compiler: Compiler,
): (frame: Frame) => Ready | Promise<Ready> {
  const names = outer.inner(cursor!.name);
  for (const { variable } of args) names.define(variable.name, variable);
  const query = preparable(cursor!.query, names);
  const values = args.map(({ value }) => value);
  return (frame) =>
    after(evaluateAll(values, frame), (given) => {
      args.forEach(({ variable }, i) => {
        frame.values[variable.slot] = given[i]!;
      });
      return query.prepare(frame);
    });
}

export function compileOpen(node: Extract<PlStatement, { kind: "open" }>, names: Namespace, compiler: Compiler): Run {
  const variable = cursorVariable(node.cursor, names);
  const ready = node.query === null ? boundQuery(node, variable, names, compiler) : unboundQuery(node.query, names);
  return (frame) => {
    const named = (frame.values[variable.slot] as string | null) ?? portalName(frame);
    if (frame.values[variable.slot] === null && variable.constant) {
      throw sqlError("22005", `variable "${variable.name}" is declared CONSTANT`);
    }
    if (frame.cursors.has(named)) throw sqlError("42P03", `cursor "${named}" already in use`);
    return after(ready(frame), (query) =>
      after(runReady(query, frame), ({ columns, rows }) => {
        for (const row of rows) frame.invocation.context.statement.reserve(sumOfBytes(row, row.length));
        const type = recordOf(columns.map(({ name, type: field }) => ({ name, type: field })));
        const forwardOnly = node.query === null && variable.cursor?.scroll === false;
        frame.cursors.set(named, { type, rows, forwardOnly, position: 0 });
        frame.values[variable.slot] = named;
        return NORMAL;
      }),
    );
  };
}

function boundQuery(
  node: Extract<PlStatement, { kind: "open" }>,
  variable: Variable,
  names: Namespace,
  compiler: Compiler,
): (frame: Frame) => Ready | Promise<Ready> {
  if (variable.cursor === undefined) throw sqlError("42601", `syntax error at or near ";": expected FOR`);
  return openRows(variable, compileArguments(variable.cursor, node.args, names, compiler), names, compiler);
}

function unboundQuery(query: PlSql | PlDynamic, names: Namespace): (frame: Frame) => Ready | Promise<Ready> {
  const prepared = preparable(query, names);
  return (frame) => prepared.prepare(frame);
}

let unnamed = 0;

function portalName(frame: Frame): string {
  let name: string;
  do name = `<unnamed portal ${++unnamed}>`;
  while (frame.cursors.has(name));
  return name;
}

function cursorVariable(name: string, names: Namespace): Variable {
  const found = names.find([name]);
  if (found === null) throw sqlError("42601", `"${name}" is not a known variable`);
  if (found.variable.type !== TEXT) throw sqlError("42804", `variable "${name}" must be of type cursor or refcursor`);
  return found.variable;
}

function openCursor(variable: Variable, frame: Frame): OpenCursor {
  const name = frame.values[variable.slot] as string | null;
  if (name === null) throw sqlError("22004", `cursor variable "${variable.name}" is null`);
  const cursor = frame.cursors.get(name);
  if (cursor === undefined) throw sqlError("34000", `cursor "${name}" does not exist`);
  return cursor;
}

export function compileFetch(node: Extract<PlStatement, { kind: "fetch" }>, names: Namespace, compiler: Compiler): Run {
  const variable = cursorVariable(node.cursor, names);
  const count = node.count === null ? null : new PlExpression(node.count.text, names, INT4);
  const targets = node.targets.map((target) => compileTarget(target, names, compiler.conversions));
  return (frame) =>
    after(count === null ? 1 : count.evaluate(frame), (number) => {
      if (number === null) throw sqlError("22004", "relative or absolute cursor position is null");
      const cursor = openCursor(variable, frame);
      const moved = move(cursor, node.direction, number as number);
      const row: readonly Value[] | null = cursor.rows[cursor.position - 1] ?? null;
      if (!node.move) assignRow(targets, cursor.type.fields!, row, compiler.conversions, frame);
      frame.values[compiler.found.slot] = node.move ? moved > 0 : row !== null;
      frame.rowCount = node.move ? moved : row === null ? 0 : 1;
      return NORMAL;
    });
}

/** Whether the cursor has to go back, or to begin again, on the way. */
function isBackward(direction: string, count: number, position: number): boolean {
  switch (direction) {
    case "prior":
    case "last":
    case "backward all":
      return true;
    case "first":
      return position > 0;
    case "absolute":
      return count < 0 || count <= position;
    case "backward":
      return count > 0;
    default:
      return count < 0;
  }
}

/** Moves the cursor; answers over how many rows. */
function move(cursor: OpenCursor, direction: string, count: number): number {
  const { rows, position } = cursor;
  const last = rows.length;
  if (cursor.forwardOnly && isBackward(direction, count, position)) {
    throw sqlError("55000", "cursor can only scan forward", {
      hint: "Declare it with SCROLL option to enable backward scan.",
    });
  }
  const to = (place: number): number => {
    cursor.position = Math.max(0, Math.min(last + 1, place));
    return cursor.position >= 1 && cursor.position <= last ? 1 : 0;
  };
  const steps = (by: number): number => {
    to(position + by);
    return by >= 0 ? Math.min(by, last - position) : Math.min(-by, position - 1);
  };
  switch (direction) {
    case "prior":
      return to(position - 1);
    case "first":
      return to(1);
    case "last":
      return to(last);
    case "absolute":
      return to(count < 0 ? last + 1 + count : count);
    case "relative":
      return to(position + count);
    case "backward":
      return Math.max(0, steps(-count));
    case "forward":
      return Math.max(0, steps(count));
    case "all":
    case "forward all":
      to(last + 1);
      return Math.max(0, last - position);
    case "backward all":
      to(0);
      return Math.max(0, position - 1);
    default:
      return to(position + 1);
  }
}

export function compileClose({ cursor }: Extract<PlStatement, { kind: "close" }>, names: Namespace): Run {
  const variable = cursorVariable(cursor, names);
  return (frame) => {
    openCursor(variable, frame);
    frame.cursors.delete(frame.values[variable.slot] as string);
    return NORMAL;
  };
}

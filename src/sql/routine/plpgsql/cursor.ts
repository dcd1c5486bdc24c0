/** Cursors: OPEN, FETCH, MOVE and CLOSE of the session's cursor that a variable names. */
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import { INT4, TEXT } from "../../../values/values.js";
import { cursorArguments } from "../../bind/check-plpgsql.js";
import type { StatementNode } from "../../parse/ast.js";
import type { PlCursor, PlCursorArgument, PlStatement } from "../../parse/plpgsql-ast.js";
import type { CursorMove, FetchedRow } from "../host.js";
import { declaredType } from "./compile-block.js";
import type { Compiler } from "./compiler.js";
import { PlExpression } from "./expression.js";
import { type Frame, NORMAL, type Run } from "./frame.js";
import type { Namespace, Variable } from "./namespace.js";
import { evaluateAll, preparable, type Ready } from "./statement.js";
import { assignRow, compileTarget } from "./targets.js";

interface CursorArgument {
  readonly variable: Variable;
  readonly value: PlExpression;
}

const parameters = new WeakMap<PlCursor, readonly Variable[]>();

/** The cursor's parameters as variables that its query sees, and the values for them. Throws 42601. */
function compileArguments(
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

/** What opens a bound cursor with its arguments, or an unbound one. */
type Opening = (frame: Frame) => Ready | Promise<Ready>;

/** The query of a bound cursor, ready to run with its arguments. */
function boundQuery({ cursor }: Variable, args: readonly CursorArgument[], outer: Namespace): Opening {
  const names = outer.inner(cursor!.name);
  for (const { variable } of args) names.define(variable.name, variable);
  const query = preparable(cursor!.query, names, asCursor(cursor!.scroll));
  const values = args.map(({ value }) => value);
  return (frame) =>
    after(evaluateAll(values, frame), (given) => {
      args.forEach(({ variable }, i) => {
        frame.values[variable.slot] = given[i]!;
      });
      return query.prepare(frame);
    });
}

/** Throws 42P11 for what is no query. */
const asCursor =
  (scroll: boolean | null) =>
  (node: StatementNode): StatementNode => {
    if (node.kind !== "select") throw sqlError("42P11", `cannot open ${node.kind.toUpperCase()} query as cursor`);
    const { query, position } = node;
    return { kind: "declare cursor", name: "", binary: false, scroll, hold: false, query, position };
  };

export function compileOpen(node: Extract<PlStatement, { kind: "open" }>, names: Namespace, compiler: Compiler): Run {
  const variable = cursorVariable(node.cursor, names);
  if (node.query === null) return opening(variable, node.args, names, compiler);
  const query = preparable(node.query, names, asCursor(node.scroll));
  return open(variable, (frame) => query.prepare(frame));
}

/** Opens a bound cursor. Throws 42601. */
export function opening(
  variable: Variable,
  args: readonly PlCursorArgument[],
  names: Namespace,
  compiler: Compiler,
): Run {
  if (variable.cursor === undefined) throw sqlError("42601", `syntax error at or near ";": expected FOR`);
  return open(variable, boundQuery(variable, compileArguments(variable.cursor, args, names, compiler), names));
}

function open(variable: Variable, opens: Opening): Run {
  return (frame) => {
    const name = frame.values[variable.slot] as string | null;
    if (name === null && variable.constant) {
      throw sqlError("22005", `variable "${variable.name}" is declared CONSTANT`);
    }
    const { host, context } = frame.invocation;
    return after(opens(frame), (query) => {
      frame.values[variable.slot] = host.cursors.open(name, query, context);
      return NORMAL;
    });
  };
}

function cursorVariable(name: string, names: Namespace): Variable {
  const found = names.find([name]);
  if (found === null) throw sqlError("42601", `"${name}" is not a known variable`);
  if (found.variable.type !== TEXT) throw sqlError("42804", `variable "${name}" must be of type cursor or refcursor`);
  return found.variable;
}

function nameOf(variable: Variable, frame: Frame): string {
  const name = frame.values[variable.slot] as string | null;
  if (name === null) throw sqlError("22004", `cursor variable "${variable.name}" is null`);
  return name;
}

/** The open cursor stays when the transaction ends. */
export function pin(variable: Variable, frame: Frame): void {
  frame.invocation.host.cursors.pin(nameOf(variable, frame));
}

/** The next row of an open cursor. */
export function fetchNext(variable: Variable, frame: Frame): FetchedRow | Promise<FetchedRow> {
  const { host, context } = frame.invocation;
  return host.cursors.fetch(nameOf(variable, frame), { direction: "forward", count: 1 }, context);
}

export function compileFetch(node: Extract<PlStatement, { kind: "fetch" }>, names: Namespace, compiler: Compiler): Run {
  const variable = cursorVariable(node.cursor, names);
  const steps = node.count === null ? null : new PlExpression(node.count.text, names, INT4);
  const targets = node.targets.map((target) => compileTarget(target, names, compiler.conversions));
  return (frame) =>
    after(steps === null ? 1 : steps.evaluate(frame), (number) => {
      if (number === null) throw sqlError("22004", "relative or absolute cursor position is null");
      const { host, context } = frame.invocation;
      const move = moveOf(node.direction, number as number);
      return after(host.cursors.fetch(nameOf(variable, frame), move, context), ({ count, columns, row }) => {
        if (!node.move) assignRow(targets, columns, row, compiler.conversions, frame);
        frame.values[compiler.found.slot] = count > 0;
        frame.rowCount = count;
        return NORMAL;
      });
    });
}

const ALL = Number.POSITIVE_INFINITY;

function moveOf(direction: string, count: number): CursorMove {
  switch (direction) {
    case "prior":
      return { direction: "backward", count: 1 };
    case "first":
      return { direction: "absolute", count: 1 };
    case "last":
      return { direction: "absolute", count: -1 };
    case "absolute":
    case "relative":
    case "backward":
    case "forward":
      return { direction, count };
    case "all":
    case "forward all":
      return { direction: "forward", count: ALL };
    case "backward all":
      return { direction: "backward", count: ALL };
    default:
      return { direction: "forward", count: 1 };
  }
}

export function compileClose({ cursor }: Extract<PlStatement, { kind: "close" }>, names: Namespace): Run {
  return closing(cursorVariable(cursor, names));
}

export function closing(variable: Variable): Run {
  return (frame) => {
    frame.invocation.host.cursors.close(nameOf(variable, frame));
    return NORMAL;
  };
}

/** LOOP, WHILE, FOR and FOREACH. */
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import type { Batch } from "../../../query/expr/expr.js";
import { displayName } from "../../../query/expr/types.js";
import { BOOL, INT4, type SqlArray, type SqlType, type Value } from "../../../values/values.js";
import type { PlLoop, PlStatement } from "../../parse/plpgsql-ast.js";
import { statementContext } from "../prepared-routine.js";
import { refuseWrites } from "../refuse-writes.js";
import type { Compiler } from "./compiler.js";
import { closing, fetchNext, opening, pin } from "./cursor.js";
import { PlExpression } from "./expression.js";
import { type Frame, NORMAL, type Run, type Signal } from "./frame.js";
import { bodyTurn, repeat, type Turn } from "./loop.js";
import type { Namespace } from "./namespace.js";
import { preparable, type Ready, runReady } from "./statement.js";
import { assignRow, type Column, compileTarget, type Target } from "./targets.js";

type LoopOf<K extends PlLoop["kind"]> = Extract<PlLoop, { kind: K }>;

export function compileLoop(node: PlLoop, outer: Namespace, compiler: Compiler): Run {
  const names = outer.inner(node.label);
  switch (node.kind) {
    case "loop": {
      const body = compiler.statements(node.body, names);
      return (frame) => repeat(frame, () => bodyTurn(body, node.label, frame));
    }
    case "while": {
      const condition = new PlExpression(node.condition.text, outer, BOOL);
      const body = compiler.statements(node.body, names);
      const turn = (holds: Value, frame: Frame) => (holds === true ? bodyTurn(body, node.label, frame) : NORMAL);
      return (frame) =>
        repeat(frame, () => after<Value, Turn>(condition.evaluate(frame), (holds) => turn(holds, frame)));
    }
    case "for integer":
      return forInteger(node, names, outer, compiler);
    case "for query":
      return forQuery(node, names, outer, compiler);
    case "for cursor":
      return forCursor(node, names, outer, compiler);
    case "foreach":
      return forEach(node, names, outer, compiler);
  }
}

/** After a FOR loop FOUND tells whether it had a turn. */
function settled(frame: Frame, compiler: Compiler, turned: () => boolean, signal: Signal | Promise<Signal>) {
  return after(signal, (done) => {
    frame.values[compiler.found.slot] = turned();
    return done;
  });
}

function forInteger(node: LoopOf<"for integer">, names: Namespace, outer: Namespace, compiler: Compiler): Run {
  const lower = new PlExpression(node.lower.text, outer, INT4);
  const upper = new PlExpression(node.upper.text, outer, INT4);
  const by = node.step === null ? null : new PlExpression(node.step.text, outer, INT4);
  const variable = names.slots.add(node.variable, INT4);
  names.define(node.variable, variable);
  const body = compiler.statements(node.body, names);
  const { reverse, label } = node;
  const bound = (expression: PlExpression, what: string, frame: Frame) =>
    after(expression.evaluate(frame), (value) => {
      if (value === null) throw sqlError("22004", `${what} of FOR loop cannot be null`);
      return value as number;
    });
  return (frame) =>
    after(bound(lower, "lower bound", frame), (first) =>
      after(bound(upper, "upper bound", frame), (last) =>
        after(by === null ? 1 : bound(by, "BY value", frame), (step) => {
          if (step <= 0) throw sqlError("22023", "BY value of FOR loop must be greater than zero");
          let next = first;
          let turned = false;
          const signal = repeat(frame, () => {
            if (reverse ? next < last : next > last) return NORMAL;
            turned = true;
            frame.values[variable.slot] = next;
            next += reverse ? -step : step;
            return bodyTurn(body, label, frame);
          });
          return settled(frame, compiler, () => turned, signal);
        }),
      ),
    );
}

/** Whether the transaction may end in there. */
function mayEndTransaction(nodes: readonly PlStatement[]): boolean {
  const isEnd = (node: unknown): boolean => {
    if (typeof node !== "object" || node === null) return false;
    if (Array.isArray(node)) return node.some(isEnd);
    const { kind, statement } = node as { readonly kind?: string; readonly statement?: { readonly text: string } };
    if (kind === "end transaction" || kind === "execute") return true;
    if (kind === "sql") return /^\s*call\b/i.test(statement!.text);
    return Object.values(node).some(isEnd);
  };
  return isEnd(nodes);
}

/**
 * Rows as they come: a batch at a time, each row before the next batch is asked for. `atOnce`: all before the first.
 */
function overRows(
  ready: Ready,
  frame: Frame,
  atOnce: boolean,
  each: (columns: readonly Column[], row: readonly Value[]) => Turn | Promise<Turn>,
): Signal | Promise<Signal> {
  const { plan, params } = ready;
  const { invocation } = frame;
  const { bound, program } = plan;
  if (atOnce || bound.kind !== "query" || program === null || bound.command !== "select") {
    return after(runReady(ready, frame), ({ columns, rows }) => {
      let i = 0;
      return repeat(frame, () => (i < rows.length ? each(columns, rows[i++]!) : NORMAL));
    });
  }
  refuseWrites(plan, invocation);
  invocation.host.requireWritable(plan);
  const context = statementContext(invocation.host.current(invocation.context), params);
  const operator = program.open(context);
  const { columns } = bound;
  let batch: Batch | null = null;
  let at = 0;
  const onRow = (): Turn | Promise<Turn> => {
    const row = batch!.columns.map((column) => column[at]!);
    at++;
    return each(columns, row);
  };
  const accept = (arrived: Batch | null): Turn | Promise<Turn> => {
    batch = arrived;
    at = 0;
    return arrived === null ? NORMAL : onRow();
  };
  const close = () => operator.close();
  let waiting = false;
  try {
    const signal = repeat(frame, () =>
      batch !== null && at < batch.length ? onRow() : after(operator.next(), accept),
    );
    if (signal instanceof Promise) {
      waiting = true;
      return signal.finally(close).then((done) => after(invocation.host.finish(plan, context), () => done));
    }
    return after(invocation.host.finish(plan, context), () => signal);
  } finally {
    if (!waiting) close();
  }
}

function forQuery(node: LoopOf<"for query">, names: Namespace, outer: Namespace, compiler: Compiler): Run {
  const query = preparable(node.query, outer);
  const targets = node.targets.map((target) => compileTarget(target, outer, compiler.conversions));
  const body = compiler.statements(node.body, names);
  const ends = mayEndTransaction(node.body);
  return (frame) => {
    const atOnce = ends && frame.invocation.endsTransactions === true;
    return after(query.prepare(frame), (ready) => rowLoop(ready, targets, body, node.label, compiler, frame, atOnce));
  };
}

function rowLoop(
  ready: Ready,
  targets: readonly Target[],
  body: Run,
  label: string | null,
  compiler: Compiler,
  frame: Frame,
  atOnce: boolean,
): Signal | Promise<Signal> {
  let turned = false;
  const signal = overRows(ready, frame, atOnce, (columns, row) => {
    turned = true;
    assignRow(targets, columns, row, compiler.conversions, frame);
    return bodyTurn(body, label, frame);
  });
  return settled(frame, compiler, () => turned, signal);
}

function forCursor(node: LoopOf<"for cursor">, names: Namespace, outer: Namespace, compiler: Compiler): Run {
  const cursor = outer.find([node.cursor])?.variable;
  if (cursor?.cursor === undefined) throw sqlError("42601", "cursor FOR loop must use a bound cursor variable");
  const open = opening(cursor, node.args, outer, compiler);
  const close = closing(cursor);
  const variable = names.slots.add(node.variable, null);
  names.define(node.variable, variable);
  const body = compiler.statements(node.body, names);
  const target = compileTarget({ path: [node.variable], rest: [], line: node.line }, names, compiler.conversions);
  const ends = mayEndTransaction(node.body);
  const overCursor = (frame: Frame): Signal | Promise<Signal> => {
    let turned = false;
    if (ends && frame.invocation.endsTransactions === true) pin(cursor, frame);
    const signal = repeat(frame, () =>
      after(fetchNext(cursor, frame), ({ columns, row }): Turn | Promise<Turn> => {
        if (row === null) return NORMAL;
        turned = true;
        assignRow([target], columns, row, compiler.conversions, frame);
        return bodyTurn(body, node.label, frame);
      }),
    );
    return after(signal, (done) => after(close(frame), () => settled(frame, compiler, () => turned, done)));
  };
  return (frame) => after(open(frame), () => overCursor(frame));
}

function forEach(node: LoopOf<"foreach">, names: Namespace, outer: Namespace, compiler: Compiler): Run {
  const array = new PlExpression(node.array.text, outer, null);
  const targets = node.targets.map((target) => compileTarget(target, outer, compiler.conversions));
  const body = compiler.statements(node.body, names);
  const { slice, label } = node;
  return (frame) =>
    after(array.evaluate(frame), (value) => {
      if (value === null) throw sqlError("22004", "FOREACH expression must not be null");
      const type = array.type(frame);
      if (type.element === null) {
        throw sqlError("42804", `FOREACH expression must yield an array, not type ${displayName(type)}`);
      }
      const items = itemsOf(value as SqlArray, slice);
      const itemType: SqlType = slice > 0 ? type : type.element;
      let i = 0;
      const signal = repeat(frame, () => {
        if (i >= items.length) return NORMAL;
        const item = items[i++]!;
        if (itemType.fields !== undefined && targets.length > 1) {
          const columns = itemType.fields;
          assignRow(targets, columns, item as readonly Value[] | null, compiler.conversions, frame);
        } else void targets[0]!.assign(item, itemType, frame);
        return bodyTurn(body, label, frame);
      });
      return settled(frame, compiler, () => items.length > 0, signal);
    });
}

/** Elements, or with SLICE arrays of so many inner dimensions. Throws 2202E. */
function itemsOf(array: SqlArray, slice: number): readonly Value[] {
  const { elements, dimensions, lowerBounds } = array;
  if (slice < 0 || slice > dimensions.length) {
    throw sqlError("2202E", `slice dimension (${slice}) is out of the valid range 0..${dimensions.length}`);
  }
  if (slice === 0) return elements;
  const inner = dimensions.slice(-slice);
  const size = inner.reduce((product, length) => product * length, 1);
  const items: Value[] = [];
  for (let at = 0; at < elements.length; at += size) {
    items.push({ elements: elements.slice(at, at + size), dimensions: inner, lowerBounds: lowerBounds.slice(-slice) });
  }
  return items;
}

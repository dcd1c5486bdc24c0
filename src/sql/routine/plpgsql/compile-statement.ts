/** Statements of PL/pgSQL as closures over a frame. Loops, blocks, cursors and RETURN have files of their own. */
import { outputsOf } from "../../../catalog/function.js";
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import { BOOL, INT8, TEXT, type Value } from "../../../values/values.js";
import type { BoundCall } from "../../bind/bound-statement.js";
import type { PlInto, PlStatement } from "../../parse/plpgsql-ast.js";
import type { StatementResult } from "../host.js";
import { compileBlock } from "./compile-block.js";
import { compileLoop } from "./compile-loop.js";
import { compileReturn, compileReturnNext, compileReturnQuery } from "./compile-return.js";
import type { Compiler } from "./compiler.js";
import { sqlStateOf } from "./conditions.js";
import { compileClose, compileFetch, compileOpen } from "./cursor.js";
import { PlExpression } from "./expression.js";
import { CONTINUE, EXIT, type Frame, NORMAL, type Run, type Signal } from "./frame.js";
import { sequence } from "./loop.js";
import type { Namespace } from "./namespace.js";
import { compileAssert, compileRaise } from "./raise.js";
import { PlDynamicText, PlStatementText, planned, runReady } from "./statement.js";
import { assignRow, compileTarget, type Target } from "./targets.js";

type Node<K extends PlStatement["kind"]> = Extract<PlStatement, { kind: K }>;

export function compileStatements(nodes: readonly PlStatement[], names: Namespace, compiler: Compiler): Run {
  return nodes.length === 0 ? () => NORMAL : sequence(nodes.map((node) => compileStatement(node, names, compiler)));
}

function compileStatement(node: PlStatement, names: Namespace, compiler: Compiler): Run {
  switch (node.kind) {
    case "block":
      return compileBlock(node, names, compiler);
    case "loop":
    case "while":
    case "for integer":
    case "for query":
    case "for cursor":
    case "foreach":
      return compileLoop(node, names, compiler);
    case "null":
      return () => NORMAL;
    case "assign":
      return compileAssign(node, names, compiler);
    case "if":
      return compileIf(node, names, compiler);
    case "case":
      return compileCase(node, names, compiler);
    case "exit":
    case "continue":
      return compileJump(node, names);
    case "return":
      return compileReturn(node.value?.text ?? null, names, compiler);
    case "return next":
      return compileReturnNext(node.value?.text ?? null, names, compiler);
    case "return query":
      return compileReturnQuery(node, names, compiler);
    case "raise":
      return compileRaise(node, names);
    case "assert":
      return compileAssert(node, names);
    case "open":
      return compileOpen(node, names, compiler);
    case "fetch":
      return compileFetch(node, names, compiler);
    case "close":
      return compileClose(node, names);
    case "diagnostics":
      return compileDiagnostics(node, names, compiler);
    case "perform":
      return compilePerform(node, names, compiler);
    case "sql":
      return compileSql(node, names, compiler);
    case "execute":
      return compileExecute(node, names, compiler);
    case "end transaction":
      return ({ invocation }) => {
        if (invocation.endsTransactions !== true) throw sqlError("2D000", "invalid transaction termination");
        return invocation.host.endTransaction(node.action, node.chain).then(() => NORMAL);
      };
  }
}

function compileAssign(node: Node<"assign">, names: Namespace, compiler: Compiler): Run {
  const target = compileTarget(node.target, names, compiler.conversions);
  const { wholeType, variable } = target;
  // A row may have other fields than the variable.
  const isRow = wholeType?.fields !== undefined;
  const expression = new PlExpression(node.value.text, names, isRow ? null : wholeType, true);
  const { slot } = variable;
  if (wholeType !== null && !isRow && !variable.notNull) {
    return (frame) => {
      const value = expression.evaluate(frame);
      if (value instanceof Promise) {
        return value.then((arrived) => {
          frame.values[slot] = arrived;
          return NORMAL;
        });
      }
      frame.values[slot] = value;
      return NORMAL;
    };
  }
  const store = (value: Value, frame: Frame) =>
    after(target.assign(value, expression.type(frame), frame), () => NORMAL as Signal);
  return (frame) => after(expression.evaluate(frame), (value) => store(value, frame));
}

function compileIf(node: Node<"if">, names: Namespace, compiler: Compiler): Run {
  const branches = node.branches.map(({ condition, body }) => ({
    condition: new PlExpression(condition.text, names, BOOL),
    body: compiler.statements(body, names),
  }));
  const otherwise = node.otherwise === null ? null : compiler.statements(node.otherwise, names);
  const from = (start: number, frame: Frame): Signal | Promise<Signal> => {
    for (let i = start; i < branches.length; i++) {
      const { condition, body } = branches[i]!;
      const holds = condition.evaluate(frame);
      if (holds instanceof Promise)
        return holds.then((arrived) => (arrived === true ? body(frame) : from(i + 1, frame)));
      if (holds === true) return body(frame);
    }
    return otherwise === null ? NORMAL : otherwise(frame);
  };
  return (frame) => from(0, frame);
}

/** With an input, each value is compared with it as a variable of its own. */
function compileCase(node: Node<"case">, outer: Namespace, compiler: Compiler): Run {
  const names = outer.inner(null);
  const input = node.input === null ? null : new PlExpression(node.input.text, outer, null);
  const variable = names.slots.add("__case__", null);
  if (input !== null) names.define("__case__", variable);
  const branches = node.branches.map(({ values, body }) => ({
    conditions: values.map(({ text }) => new PlExpression(input === null ? text : `__case__ = (${text})`, names, BOOL)),
    body: compiler.statements(body, outer),
  }));
  const otherwise = node.otherwise === null ? null : compiler.statements(node.otherwise, outer);
  const tests = branches.flatMap(({ conditions, body }) => conditions.map((condition) => ({ condition, body })));
  const from = (start: number, frame: Frame): Signal | Promise<Signal> => {
    for (let i = start; i < tests.length; i++) {
      const { condition, body } = tests[i]!;
      const holds = condition.evaluate(frame);
      if (holds instanceof Promise)
        return holds.then((arrived) => (arrived === true ? body(frame) : from(i + 1, frame)));
      if (holds === true) return body(frame);
    }
    if (otherwise !== null) return otherwise(frame);
    throw sqlError("20000", "case not found", { hint: "CASE statement is missing ELSE part." });
  };
  if (input === null) return (frame) => from(0, frame);
  return (frame) =>
    after(input.evaluate(frame), (value) => {
      frame.values[variable.slot] = value;
      frame.types[variable.slot] = input.type(frame);
      return from(0, frame);
    });
}

function compileJump(node: Node<"exit" | "continue">, names: Namespace): Run {
  const signal: Signal = node.kind === "exit" ? EXIT : CONTINUE;
  const when = node.when === null ? null : new PlExpression(node.when.text, names, BOOL);
  const jump = (frame: Frame): Signal => {
    frame.label = node.label;
    return signal;
  };
  if (when === null) return jump;
  return (frame) => after(when.evaluate(frame), (holds): Signal => (holds === true ? jump(frame) : NORMAL));
}

function compileDiagnostics(node: Node<"diagnostics">, names: Namespace, compiler: Compiler): Run {
  const items = node.items.map(({ target, item }) => ({
    target: compileTarget(target, names, compiler.conversions),
    item,
  }));
  return (frame) => {
    for (const { target, item } of items) {
      const value = node.stacked ? stackedItem(item, frame) : currentItem(item, frame);
      void target.assign(value, typeof value === "number" ? INT8 : TEXT, frame);
    }
    return NORMAL;
  };
}

function currentItem(item: string, frame: Frame): Value {
  if (item === "row_count") return frame.rowCount;
  if (item === "pg_context") return "";
  throw sqlError("42601", `unrecognized GET DIAGNOSTICS item`);
}

const STACKED: Readonly<Record<string, string>> = {
  pg_exception_detail: "detail",
  pg_exception_hint: "hint",
  column_name: "column",
  constraint_name: "constraint",
  pg_datatype_name: "data_type",
  table_name: "table",
  schema_name: "schema",
};

function stackedItem(item: string, frame: Frame): Value {
  const error = frame.errors.at(-1);
  if (error === undefined) {
    throw sqlError("0Z002", "GET STACKED DIAGNOSTICS cannot be used outside an exception handler");
  }
  if (item === "returned_sqlstate") return sqlStateOf(error);
  if (item === "message_text") return error.message;
  if (item === "pg_exception_context") return "";
  const key = STACKED[item];
  if (key === undefined) throw sqlError("42601", "unrecognized GET DIAGNOSTICS item");
  return String(error.details?.[key] ?? "");
}

function compilePerform({ query }: Node<"perform">, names: Namespace, compiler: Compiler): Run {
  const text = /^\s*with\b/i.test(query.text) ? query.text : `SELECT ${query.text}`;
  const statement = new PlStatementText(text, names);
  return (frame) =>
    after(runReady(statement.prepare(frame), frame), ({ count }) => {
      frame.rowCount = count;
      frame.values[compiler.found.slot] = count > 0;
      return NORMAL;
    });
}

interface Into {
  readonly targets: readonly Target[];
  readonly strict: boolean;
}

function compileInto(into: PlInto | null, names: Namespace, { conversions }: Compiler): Into | null {
  if (into === null) return null;
  return { strict: into.strict, targets: into.targets.map((target) => compileTarget(target, names, conversions)) };
}

/** The first row into the targets. Throws P0002 and P0003. */
function store(
  into: Into,
  { columns, rows }: StatementResult,
  modifies: boolean,
  frame: Frame,
  compiler: Compiler,
): void {
  if (into.strict && rows.length === 0) throw sqlError("P0002", "query returned no rows");
  if ((into.strict || modifies) && rows.length > 1) {
    throw sqlError("P0003", "query returned more than one row", {
      hint: "Make sure the query returns a single row, or use LIMIT 1.",
    });
  }
  assignRow(into.targets, columns, rows[0] ?? null, compiler.conversions, frame);
}

function compileSql(node: Node<"sql">, names: Namespace, compiler: Compiler): Run {
  const statement = new PlStatementText(node.statement.text, names);
  const into = compileInto(node.into, names, compiler);
  return (frame) => {
    const ready = statement.prepare(frame);
    const { bound } = ready.plan;
    const isQuery = bound.kind === "query";
    const isSelect = isQuery && bound.command === "select";
    if (isSelect && into === null) {
      throw sqlError("42601", "query has no destination for result data", {
        hint: "If you want to discard the results of a SELECT, use PERFORM instead.",
      });
    }
    if (into !== null && isQuery && !bound.returnsRows) {
      throw sqlError("42601", "INTO used with a command that cannot return data");
    }
    const maxRows = isSelect ? (into!.strict ? 2 : 1) : undefined;
    return after(runReady(ready, frame, maxRows), (result) => {
      if (bound.kind === "call") storeOutputs(bound, result, names, compiler, frame);
      else if (into !== null) store(into, result, !isSelect, frame, compiler);
      frame.rowCount = result.count;
      if (isQuery) frame.values[compiler.found.slot] = result.count > 0;
      return NORMAL;
    });
  };
}

/** CALL: outputs go into the variables at their positions. */
function storeOutputs(
  bound: BoundCall,
  { columns, rows }: StatementResult,
  names: Namespace,
  { conversions }: Compiler,
  frame: Frame,
): void {
  const { parameters } = bound.routine.definition;
  let output = 0;
  if (outputsOf({ parameters }).length === 0) return;
  parameters.forEach(({ mode, name }, i) => {
    if (mode !== "out" && mode !== "inout") return;
    const { index } = bound.sources[i]!;
    const node = index === undefined ? undefined : bound.given[index];
    const path = node?.kind === "column" ? node.path : node?.kind === "parameter" ? [`$${node.index + 1}`] : null;
    if (path === null || names.find(path) === null) {
      throw sqlError(
        "42601",
        `procedure parameter "${name ?? i + 1}" is an output parameter but corresponding argument is not writable`,
      );
    }
    const target = compileTarget({ path, rest: [], line: 0 }, names, conversions);
    void target.assign(rows[0]?.[output] ?? null, columns[output]!.type, frame);
    output++;
  });
}

function compileExecute(node: Node<"execute">, names: Namespace, compiler: Compiler): Run {
  const text = new PlDynamicText(node.dynamic, names);
  const into = compileInto(node.into, names, compiler);
  return (frame) =>
    after(text.statements(frame), ({ nodes, params, types }) => {
      const from = (start: number): Signal | Promise<Signal> => {
        for (let i = start; i < nodes.length; i++) {
          if (nodes[i]!.kind === "transaction") {
            throw sqlError("0A000", "EXECUTE of transaction commands is not implemented");
          }
          const plan = planned(nodes[i]!, types, frame);
          const isSelect = plan.bound.kind === "query" && plan.bound.command === "select";
          const maxRows = isSelect && into !== null ? 2 : undefined;
          const result = runReady({ plan, params }, frame, maxRows);
          const done = (given: StatementResult): void => {
            frame.rowCount = given.count;
            if (into !== null && i === nodes.length - 1) store(into, given, false, frame, compiler);
          };
          if (result instanceof Promise) {
            return result.then((given) => {
              done(given);
              return from(i + 1);
            });
          }
          done(result);
        }
        return NORMAL;
      };
      return from(0);
    });
}

/** RAISE and ASSERT. */
import { sqlError } from "../../../protocol/errors.js";
import { after } from "../../../query/exec/operator.js";
import { isNamedOid } from "../../../values/catalog-types.js";
import { toText } from "../../../values/text-format.js";
import { BOOL, type SqlType, TEXT, type Value } from "../../../values/values.js";
import { namedOidOutput } from "../../bind/system/define-function.js";
import type { PlStatement } from "../../parse/plpgsql-ast.js";
import { stateOf, stateOfText } from "./conditions.js";
import { PlExpression } from "./expression.js";
import { type Frame, NORMAL, type Run } from "./frame.js";
import type { Namespace } from "./namespace.js";
import { evaluateAll } from "./statement.js";

/** By option: the field of an error that it is. */
const OPTIONS: Readonly<Record<string, string>> = {
  detail: "detail",
  hint: "hint",
  column: "column",
  constraint: "constraint",
  datatype: "data_type",
  table: "table",
  schema: "schema",
};

export function compileRaise(node: Extract<PlStatement, { kind: "raise" }>, names: Namespace): Run {
  const { level, format, condition, options } = node;
  if (format === null && condition === null && options.length === 0) return reraise;
  const args = node.args.map(({ text }) => new PlExpression(text, names, null));
  const values = options.map(({ value }) => new PlExpression(value.text, names, TEXT));
  const known = condition === null ? null : stateOf(condition);
  return (frame) =>
    after(evaluateAll(args, frame), (given) =>
      after(evaluateAll(values, frame), (chosen) => {
        let message = format === null ? null : formatted(format, given, args, frame);
        let state = known;
        const details: Record<string, string> = {};
        options.forEach(({ name }, i) => {
          const value = chosen[i] as string | null;
          if (value === null) throw sqlError("22004", "RAISE statement option cannot be null");
          if (name === "message") {
            if (message !== null) throw sqlError("42601", "RAISE option already specified: MESSAGE");
            message = value;
          } else if (name === "errcode") {
            if (condition !== null) throw sqlError("42601", "RAISE option already specified: ERRCODE");
            state = stateOfText(value);
          } else if (Object.hasOwn(OPTIONS, name)) {
            const field = OPTIONS[name]!;
            if (details[field] !== undefined) {
              throw sqlError("42601", `RAISE option already specified: ${name.toUpperCase()}`);
            }
            details[field] = value;
          } else throw sqlError("42601", "unrecognized RAISE statement option");
        });
        const code = state ?? "P0001";
        const text = message ?? condition?.replace(/^sqlstate:/, "") ?? code;
        if (level === "exception") throw sqlError(code, text, details);
        if (["notice", "warning", "info"].includes(level)) {
          const sqlstate = state === null ? {} : { sqlstate: state };
          frame.invocation.host.notice({ level: level.toUpperCase(), message: text, ...sqlstate, ...details });
        }
        return NORMAL;
      }),
    );
}

const reraise: Run = (frame) => {
  const error = frame.errors.at(-1);
  throw error ?? sqlError("0Z002", "RAISE without parameters cannot be used outside an exception handler");
};

/** The format with each % replaced by a value; %% is a percent sign. */
function formatted(format: string, values: readonly Value[], args: readonly PlExpression[], frame: Frame): string {
  let next = 0;
  return format.replace(/%%|%/g, (mark) => {
    if (mark === "%%") return "%";
    const i = next++;
    const value = values[i]!;
    return value === null ? "<NULL>" : written(args[i]!.type(frame), value, frame);
  });
}

function written(type: SqlType, value: Value, { context }: Frame): string {
  const { timeZone, style } = context;
  if (!isNamedOid(type.element ?? type)) return toText(type, value, timeZone, style);
  const output = namedOidOutput(type);
  return toText(output.returns, output.apply(context, value), timeZone, style);
}

export function compileAssert(node: Extract<PlStatement, { kind: "assert" }>, names: Namespace): Run {
  const condition = new PlExpression(node.condition.text, names, BOOL);
  const message = node.message === null ? null : new PlExpression(node.message.text, names, TEXT);
  return (frame) =>
    after(condition.evaluate(frame), (holds) => {
      if (holds === true) return NORMAL;
      return after(message === null ? null : message.evaluate(frame), (text) => {
        throw sqlError("P0004", (text as string | null) ?? "assertion failed");
      });
    });
}

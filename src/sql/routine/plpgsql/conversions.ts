/**
 * Values as other types, as assignments of PL/pgSQL convert them: also through text, and with conditions of domains.
 */

import { NO_SLOTS } from "../../../query/exec/slots.js";
import { compileExpr } from "../../../query/expr/compile.js";
import type { Evaluate, Expr } from "../../../query/expr/expr.js";
import type { RecordField, SqlType, Value } from "../../../values/values.js";
import type { Variables } from "../../bind/bound-statement.js";
import { parseSql } from "../../parse/parse.js";
import { assigned } from "./expression.js";
import type { Frame } from "./frame.js";

const NODE = "SELECT $1";

/** Conversions of one body, made when they are first needed. */
export class Conversions {
  private readonly made = new Map<SqlType, Map<SqlType, Evaluate>>();

  /** Converts `value` from the type `from` to the type `to`. Throws the conversion's errors. */
  convert(value: Value, from: SqlType, to: SqlType, frame: Frame): Value {
    if (from === to) return value;
    if (value === null && to.user?.kind !== "domain") return null;
    if (from.fields !== undefined && to.fields !== undefined && from.fields.length !== to.fields.length) {
      return this.convertRow(value as readonly Value[] | null, from.fields, to, frame);
    }
    let byTarget = this.made.get(from);
    if (byTarget === undefined) {
      byTarget = new Map();
      this.made.set(from, byTarget);
    }
    let evaluate = byTarget.get(to);
    if (evaluate === undefined) {
      evaluate = this.make(from, to, frame);
      byTarget.set(to, evaluate);
    }
    return evaluate({ columns: [], length: 1 }, 0, { ...frame.context, params: [value] });
  }

  /** A row with more fields loses them, one with fewer gets NULL for them. */
  private convertRow(row: readonly Value[] | null, given: readonly RecordField[], to: SqlType, frame: Frame): Value {
    const fields = to.fields!.map(({ type }, i) => {
      const field = given[i];
      return field === undefined ? null : this.convert(row?.[i] ?? null, field.type, type, frame);
    });
    const whole = row === null ? null : fields;
    return to.user?.kind === "domain" ? this.convert(whole, to.user.base!, to, frame) : whole;
  }

  private make(type: SqlType, to: SqlType, { invocation }: Frame): Evaluate {
    const parameter: Expr = Object.freeze({ kind: "param", type, index: 0 });
    const variables: Variables = {
      conflict: "column",
      find: () => null,
      parameter: (index) => (index === 0 ? parameter : null),
    };
    const [statement] = parseSql(NODE);
    const plan = invocation.host.plan(statement!.node, { variables, expected: assigned(to) }, invocation.context);
    const top = plan.program!.plan;
    const expr = top.kind === "project" ? top.exprs[0]! : top.kind === "values" ? top.rows[0]![0]! : null;
    if (expr === null) throw new Error("a query without FROM is a projection");
    return compileExpr(expr, NO_SLOTS);
  }
}

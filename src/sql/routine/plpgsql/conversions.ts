/**
 * Values as other types, as assignments of PL/pgSQL convert them: also through text, and with conditions of domains.
 */

import { NO_SLOTS } from "../../../query/exec/slots.js";
import { compileExpr } from "../../../query/expr/compile.js";
import type { Evaluate, Expr } from "../../../query/expr/expr.js";
import type { SqlType, Value } from "../../../values/values.js";
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

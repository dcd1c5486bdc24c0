/**
 * Records out of JSON whose fields are of domains: their conditions are checked like those of any other conversion.
 * Called by the binders of calls, which know the domains; the functions themselves
 * (query/expr/functions/json-record.ts) know only the types below.
 */

import type { EvalContext, Expr } from "../../query/expr/expr.js";
import type { TableFunction, TableRows } from "../../query/expr/table-function.js";
import type { SetCall } from "../../query/plan/plan.js";
import type { SqlType, Value } from "../../values/values.js";
import type { CallNode } from "../parse/ast-query.js";
import type { Binding } from "./binding.js";
import { checkedAs, checkOf, hasDomain } from "./domain-checks.js";

/** Also those of hstore. */
const ONE = /^(?:(?:jsonb?_)?populate_record|#=)$/;
const FROM_JSON = /^jsonb?_(?:populate_record|to_record)(?:set)?$/;

function holdsDomain(type: SqlType): boolean {
  if (hasDomain(type)) return true;
  return (type.element ?? type).fields?.some((field) => holdsDomain(field.type)) ?? false;
}

/** The call of `populate_record` and its like with a check of the record that it gives; other calls as they are. */
export function checkedRecord(call: Expr, name: string, given: readonly Expr[], binding: Binding): Expr {
  const type = given[0]?.type;
  if (!ONE.test(name) || type === undefined || !holdsDomain(type)) return call;
  return checkedAs(call, type, binding);
}

/** The same for functions that return rows. */
export function checkedRows(call: SetCall, given: readonly Expr[], binding: Binding): SetCall {
  if (!FROM_JSON.test(call.fn.name)) return call;
  const whole = given.length > 1 && hasDomain(given[0]!.type) ? checkOf(given[0]!.type, binding) : null;
  const fn: TableFunction = Object.freeze({
    ...call.fn,
    open(context: EvalContext, args: readonly Value[], shape: SqlType): TableRows {
      const rows = call.fn.open(context, args, shape);
      const checks = (shape.fields ?? []).map(({ type }) => (holdsDomain(type) ? checkOf(type, binding) : null));
      if (whole === null && checks.every((check) => check === null)) return rows;
      return {
        ...rows,
        next(out: readonly Value[][], at: number, max: number) {
          const count = rows.next(out, at, max) as number;
          for (let i = at; i < at + count; i++) {
            for (const [c, check] of checks.entries()) check?.(out[c]![i]!, context);
            whole?.(
              out.map((column) => column[i]!),
              context,
            );
          }
          return count;
        },
      };
    },
  });
  return { ...call, fn };
}

/**
 * `jsonb_populate_record(null::record, x) AS (a int)`: the columns come from the call alone, as with jsonb_to_record.
 */
export function asToRecord(node: CallNode, name: string, base: SqlType): CallNode | null {
  if (!ONE.test(name) || node.args.length !== 2 || base.name !== "record" || base.fields !== undefined) return null;
  return { ...node, path: [name.replace("populate", "to")], args: [node.args[1]!] };
}

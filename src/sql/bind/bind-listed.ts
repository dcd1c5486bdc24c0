/** The rows of a long INSERT, which are read when it runs (query/expr/listed-rows.ts). Called by bind-insert.ts. */
import type { ColumnDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { LISTED_ROWS } from "../../query/expr/listed-rows.js";
import { baseType } from "../../query/expr/types.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { BOOL, recordOf, type SqlType, TEXT, typeOf, UNKNOWN } from "../../values/values.js";
import type { ListedNode } from "../parse/ast.js";
import type { Binding } from "./binding.js";
import { withoutDomains } from "./domain-checks.js";

export interface ListedSource {
  readonly plan: Plan;
  /** Per place of a row: what it is; null: the column's default. */
  readonly exprs: readonly (Expr | null)[];
}

/** Parameters get the types of the columns. Throws 42P08 for one that has another type already. */
export function bindListed(
  { columns, count }: ListedNode,
  targets: readonly ColumnDef[],
  binding: Binding,
  position: number,
): ListedSource {
  const fields: { name: string; type: SqlType }[] = [];
  const outputs: Plan["columns"][number][] = [];
  const exprs = columns.map((column, place): Expr | null => {
    if (column.kind === "default") return null;
    const { name, type: wanted } = targets[place]!;
    const type = column.kind === "parameter" ? parameterType(wanted) : constantType(column, wanted);
    if (column.kind === "parameter") {
      for (let row = 0; row < count; row++) declare(column.first + row * column.step, type, binding, position);
    }
    const output = binding.newColumn(name, type, column.hasNulls);
    fields.push({ name, type });
    outputs.push(output);
    // Like a constant without a type, it takes the column's.
    return column.kind === "text" ? Object.freeze({ ...columnExpr(output), type: UNKNOWN }) : columnExpr(output);
  });
  const calls = [{ fn: LISTED_ROWS, args: [], shape: recordOf(fields) }];
  const plan = { kind: "tablefunction", alias: "values", calls, ordinality: false, columns: outputs } as const;
  return { plan: Object.freeze(plan), exprs };
}

function constantType({ kind, isZeroOrOne }: ListedNode["columns"][number], wanted: SqlType): SqlType {
  if (isZeroOrOne && withoutDomains(wanted) === BOOL) return BOOL;
  return kind === "text" ? TEXT : typeOf(kind as "int4" | "int8" | "numeric" | "bool");
}

const parameterType = (wanted: SqlType): SqlType => (isNamedOid(wanted) ? TEXT : baseType(wanted));

function declare(index: number, type: SqlType, binding: Binding, position: number): void {
  binding.parameter(index, position);
  const known = binding.parameterType(index);
  if (known !== null && known !== type) {
    throw sqlError("42P08", `inconsistent types deduced for parameter $${index + 1}`, { position });
  }
  binding.setParameterType(index, type);
}

/** WHEN of triggers over OLD and NEW, compiled once per definition of their table. Called by table-triggers.ts. */
import type { TableDef } from "../../catalog/table.js";
import { mayFire, type TriggerDef } from "../../catalog/trigger.js";
import { sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { ExecContext } from "./context.js";
import { slotsOf } from "./slots.js";

const compiled = new WeakMap<TableDef, ReadonlyMap<number, Evaluate>>();

function conditionsOf(table: TableDef, { bindTable, tx }: ExecContext): ReadonlyMap<number, Evaluate> {
  let result = compiled.get(table);
  if (result !== undefined) return result;
  if (bindTable === null) throw sqlError("0A000", `triggers of table "${table.name}" cannot be fired here`);
  const bound = bindTable(table, tx).triggers;
  const slotOf = slotsOf(bound === null ? [] : [...bound.before, ...bound.after]);
  result = new Map(Array.from(bound?.byTrigger ?? [], ([id, expr]) => [id, compileExpr(expr, slotOf)]));
  compiled.set(table, result);
  return result;
}

/** Whether the trigger is to be fired for the rows, which are by column id; null: there is none. */
export function conditionHolds(
  table: TableDef,
  trigger: TriggerDef,
  old: readonly Value[] | null,
  next: readonly Value[] | null,
  context: ExecContext,
): boolean {
  const { id, when } = trigger;
  if (!mayFire(trigger, context.isReplica === true)) return false;
  if (when === undefined) return true;
  const evaluate = conditionsOf(table, context).get(id)!;
  const columns = (row: readonly Value[] | null) =>
    table.columns.map((column): Value[] => [row === null ? null : row[column.id]!]);
  return evaluate({ columns: [...columns(old), ...columns(next)], length: 1 }, 0, context) === true;
}

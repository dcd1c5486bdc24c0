/**
 * A view whose INSTEAD OF triggers replace INSERT, UPDATE or DELETE: the statement is bound as if the view were a
 * table with the rows of its query. Called by changed-relation.ts and bind-update.ts.
 */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { isFired, type TriggerDef, type TriggerEvent } from "../../catalog/trigger.js";
import type { ViewDef } from "../../catalog/view.js";
import { sqlError } from "../../protocol/errors.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { INT4 } from "../../values/values.js";
import type { AliasNode } from "../parse/ast-query.js";
import type { TableRows } from "./bind-scan.js";
import { bindView } from "./bind-view.js";
import type { Binding } from "./binding.js";
import { constant } from "./coerce.js";
import { itemOf } from "./row-item.js";
import { project } from "./source.js";

/** Whether triggers of the view, or rules of it or of a table, do what the command asks for. */
export function hasInsteadOf(
  { triggers = [], rules = [] }: Pick<TableDef | ViewDef, "triggers" | "rules">,
  command: TriggerEvent | "merge",
): boolean {
  if (command === "merge" || (triggers.length === 0 && rules.length === 0)) return false;
  return [...rules, ...triggers].some((trigger) => isInstead(trigger, command) && isFired(trigger));
}

/** Whether it does what the command asks for, whatever the row. */
const isInstead = ({ timing, when, events }: TriggerDef, command: TriggerEvent): boolean =>
  timing === "instead of" && when === undefined && events.includes(command);

/** Why rules of a view that is not replaced by any keep the command from the table below; null: they do not. */
export function keptByRules({ rules = [] }: ViewDef, command: TriggerEvent | "merge"): string | null {
  const own = rules.filter((rule) => isFired(rule) && command !== "merge" && rule.events.includes(command));
  if (own.some(({ timing }) => timing === "instead of")) return CONDITIONAL;
  return own.length > 0 ? ALSO : null;
}

const CONDITIONAL = "Views with conditional DO INSTEAD rules";
/** Here, that is: PostgreSQL changes the table below and runs the rule. */
const ALSO = "Views with DO ALSO rules and no other";
export const RULE_REASONS: readonly string[] = [CONDITIONAL, ALSO];

/** Whether a rule DO INSTEAD NOTHING leaves nothing of the command, and no other rule does anything either. */
export function isDropped({ rules = [] }: Pick<TableDef | ViewDef, "rules">, command: TriggerEvent | "merge"): boolean {
  const own = rules.filter((rule) => isFired(rule) && command !== "merge" && rule.events.includes(command));
  return (
    own.some(({ when }) => when === undefined) &&
    own.every(({ timing, calls }) => timing === "instead of" && typeof calls === "object" && calls.nothing === true)
  );
}

/** As in PostgreSQL, rules do not know what MERGE and ON CONFLICT do with each row. Throws 0A000. */
export function refuseRules(
  { name, rules = [] }: Pick<TableDef | ViewDef, "name" | "rules">,
  command: "merge" | "on conflict",
): void {
  if (command === "merge" && rules.length > 0) {
    throw sqlError("0A000", `cannot execute MERGE on relation "${name}"`, {
      detail: "MERGE is not supported for relations with rules.",
    });
  }
  if (command === "on conflict" && rules.some(({ events }) => events.some((event) => event !== "delete"))) {
    const message = "INSERT with ON CONFLICT clause cannot be used with table that has INSERT or UPDATE rules";
    throw sqlError("0A000", message);
  }
}

/** RETURNING of a statement that rules replace needs a rule that returns rows. Throws 0A000. */
export function checkReturned(
  { name, rules = [], triggers = [] }: TableDef,
  command: TriggerEvent,
  returning: unknown,
): void {
  if (returning === null) return;
  const stands = (trigger: TriggerDef) => isInstead(trigger, command);
  const own = rules.filter(stands);
  if (own.length === 0 || triggers.some(stands)) return;
  if (own.some(({ calls }) => typeof calls === "object" && calls.returns)) return;
  const verb = command.toUpperCase();
  throw sqlError("0A000", `cannot perform ${verb} RETURNING on relation "${name}"`, {
    hint: `You need an unconditional ON ${verb} DO INSTEAD rule with a RETURNING clause.`,
  });
}

/** The view as a table; ids of columns are their places. */
export function tableOfView({ id, schema, name, columns, triggers, rules, createdAt }: ViewDef): TableDef {
  return {
    id,
    schema,
    name,
    columns: columns.map((column, i): ColumnDef => {
      const { defaultSql = null } = column;
      return { id: i, ...column, notNull: false, defaultSql, missingSql: null, identity: null };
    }),
    primaryKey: null,
    primaryKeyName: null,
    indexes: [],
    checks: [],
    ...(triggers !== undefined && { triggers }),
    ...(rules !== undefined && { rules }),
    nextColumnId: columns.length,
    createdAt,
  };
}

/** Its rows; the row key, which nobody reads, is a constant. */
export function rowsOfView(view: ViewDef, table: TableDef, alias: AliasNode | null, binding: Binding): TableRows {
  const source = bindView(view, binding);
  const exprs = [...source.columns.map(columnExpr), constant(INT4, 0)];
  const names = [...source.columns.map(({ name }) => name), "row key"];
  const { plan, columns } = project(source.plan, exprs, names, binding);
  const own = columns.slice(0, -1);
  return {
    plan,
    items: [itemOf(table, alias?.name ?? view.name, own)],
    columns: own,
    rowKey: columns.at(-1)!.id,
    tables: [],
  };
}

/** What statements can do to the rows of a view, as information_schema and pg_relation_is_updatable say. */
import { isFired, type TriggerDef, type TriggerEvent } from "../../../catalog/trigger.js";
import type { ViewDef } from "../../../catalog/view.js";

/** A rule without a condition that stands for the statement. Triggers are not asked, as in information_schema. */
const replaces = (rule: TriggerDef, event: TriggerEvent) =>
  rule.timing === "instead of" &&
  rule.events.includes(event) &&
  rule.when === undefined &&
  isFired(rule) &&
  !(typeof rule.calls === "object" && rule.calls.asks === true);

type Changed = Pick<ViewDef, "updatable" | "rules">;

/** Rows change through at least one column, or a rule does something else. */
export function canChange({ updatable, rules = [] }: Changed, ...events: readonly TriggerEvent[]): boolean {
  return updatable?.includes(true) === true || events.every((event) => rules.some((rule) => replaces(rule, event)));
}

/** The same of the column with that place, of rows that can be changed and deleted. */
export function canChangeColumn(view: Changed, place: number): boolean {
  return view.updatable?.[place] ?? canChange(view, "update", "delete");
}

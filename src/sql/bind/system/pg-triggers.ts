/**
 * pg_trigger, information_schema.triggers, pg_rules, and the CREATE TRIGGER statement that pg_get_triggerdef prints.
 */

import type { TableDef } from "../../../catalog/table.js";
import type { TriggerDef } from "../../../catalog/trigger.js";
import type { ViewDef } from "../../../catalog/view.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import { catalogVector } from "../../../values/catalog-types.js";
import { functionFactsByName } from "./builtin-facts.js";
import { ruleText } from "./definition-texts.js";
import { printedWhen } from "./printed-condition.js";
import { attnum, qualified, STATES_OF_RULES } from "./relation-facts.js";
import { definedRelation, printedRelation, type SystemView } from "./system-view.js";

type Owner = TableDef | ViewDef;

interface Found {
  readonly owner: Owner;
  readonly trigger: TriggerDef;
}

function* triggersOf({ catalog }: Pick<SystemView, "catalog">): Iterable<Found> {
  for (const owner of [...catalog.tables(), ...catalog.views()]) {
    for (const trigger of owner.triggers ?? []) yield { owner, trigger };
  }
}

/** pg_trigger.tgtype (src/include/catalog/pg_trigger.h). */
function typeBits({ level, timing, events }: TriggerDef): number {
  const bits = { insert: 4, delete: 8, update: 16, truncate: 32 };
  const time = timing === "before" ? 2 : timing === "instead of" ? 64 : 0;
  return events.reduce((sum, event) => sum | bits[event], (level === "row" ? 1 : 0) | time);
}

const columnNumbers = (owner: Owner, ids: readonly number[] = []) =>
  "indexes" in owner ? ids.map((id) => attnum(owner, id)) : [];

const functionOid = ({ calls }: TriggerDef) =>
  typeof calls === "number" ? oidOfId(calls) : (functionFactsByName().get(String(calls))?.[0]?.oid ?? 0);

const pgTrigger = definedRelation("pg_catalog", "pg_trigger", function* (view) {
  for (const { owner, trigger } of triggersOf(view)) {
    const { constraint, args } = trigger;
    yield {
      oid: oidOfId(trigger.id),
      tgrelid: oidOfId(owner.id),
      tgparentid: trigger.parentId === undefined ? 0 : oidOfId(trigger.parentId),
      tgname: trigger.name,
      tgfoid: functionOid(trigger),
      tgtype: typeBits(trigger),
      tgenabled: STATES_OF_RULES[trigger.enabled],
      tgisinternal: false,
      tgconstrrelid: constraint?.fromTable === undefined ? 0 : oidOfId(constraint.fromTable),
      tgconstrindid: 0,
      tgconstraint: constraint === undefined ? 0 : oidOfId(trigger.id, 1),
      tgdeferrable: constraint?.deferrable ?? false,
      tginitdeferred: constraint?.initiallyDeferred ?? false,
      tgnargs: args.length,
      tgattr: catalogVector(columnNumbers(owner, trigger.columns)),
      tgargs: Buffer.from(args.map((arg) => `${arg}\0`).join("")),
      tgqual: trigger.when ?? null,
      tgoldtable: trigger.oldTable ?? null,
      tgnewtable: trigger.newTable ?? null,
    };
  }
});

const triggers = printedRelation("information_schema", "triggers", function* (view) {
  const { database } = view;
  for (const { owner, trigger } of triggersOf(view)) {
    const { name, timing, level, when } = trigger;
    for (const event of ["insert", "delete", "update"] as const) {
      if (!trigger.events.includes(event)) continue;
      const alike = owner.triggers!.filter(
        (other) => other.events.includes(event) && other.timing === timing && other.level === level,
      );
      yield {
        trigger_catalog: database,
        trigger_schema: owner.schema,
        trigger_name: name,
        event_manipulation: event.toUpperCase(),
        event_object_catalog: database,
        event_object_schema: owner.schema,
        event_object_table: owner.name,
        action_order: alike.indexOf(trigger) + 1,
        action_condition: when === undefined ? null : printedWhen(view, owner, when),
        action_statement: `EXECUTE FUNCTION ${callText(trigger, view)}`,
        action_orientation: level.toUpperCase(),
        action_timing: timing.toUpperCase(),
        action_reference_old_table: trigger.oldTable ?? null,
        action_reference_new_table: trigger.newTable ?? null,
      };
    }
  }
});

const pgRules = printedRelation("pg_catalog", "pg_rules", function* (view) {
  for (const owner of [...view.catalog.tables(), ...view.catalog.views()]) {
    for (const { name, calls } of owner.rules ?? []) {
      const definition = typeof calls === "object" ? `${ruleText(view, calls).replace(/;\s*$/, "")};` : null;
      yield { schemaname: owner.schema, tablename: owner.name, rulename: name, definition };
    }
  }
});

export const PG_TRIGGERS = [pgTrigger, triggers, pgRules];

/** `f('a', 'b')`, with its schema where the search path does not find it. */
function callText({ calls, args }: TriggerDef, { catalog, searchPath }: SystemView): string {
  const fn = typeof calls === "number" ? catalog.functions().find(({ id }) => id === calls) : undefined;
  const name =
    fn === undefined ? String(calls) : searchPath.includes(fn.schema) ? quoteIdentifier(fn.name) : qualified(fn);
  return `${name}(${args.map((arg) => `'${arg.replaceAll("'", "''")}'`).join(", ")})`;
}

/** Null: there is no such trigger. `pretty` leaves out the schema where the search path finds the table. */
export function triggerDefinition(view: SystemView, oid: number, pretty = false): string | null {
  for (const found of triggersOf(view)) {
    if (oidOfId(found.trigger.id) === oid) return definitionOf(found, pretty, view);
  }
  return null;
}

function definitionOf({ owner, trigger }: Found, pretty: boolean, view: SystemView): string {
  const { constraint, events, oldTable, newTable, when } = trigger;
  const columnOf = (id: number) =>
    quoteIdentifier((owner as TableDef).columns.find((column) => column.id === id)!.name);
  const columns = trigger.columns === undefined ? "" : ` OF ${trigger.columns.map(columnOf).join(", ")}`;
  const what = (["insert", "delete", "update", "truncate"] as const)
    .filter((event) => events.includes(event))
    .map((event) => (event === "update" ? `UPDATE${columns}` : event.toUpperCase()));
  const nameOf = (relation: Owner) =>
    pretty && view.searchPath.includes(relation.schema) ? quoteIdentifier(relation.name) : qualified(relation);
  const from = constraint?.fromTable === undefined ? null : view.catalog.tableById(constraint.fromTable);
  const transitions = [
    ...(oldTable === undefined ? [] : [`OLD TABLE AS ${quoteIdentifier(oldTable)}`]),
    ...(newTable === undefined ? [] : [`NEW TABLE AS ${quoteIdentifier(newTable)}`]),
  ];
  return [
    `CREATE ${constraint === undefined ? "" : "CONSTRAINT "}TRIGGER ${quoteIdentifier(trigger.name)}`,
    trigger.timing.toUpperCase(),
    what.join(" OR "),
    `ON ${nameOf(owner)}`,
    ...(from === null ? [] : [`FROM ${nameOf(from)}`]),
    ...(constraint === undefined
      ? []
      : [
          `${constraint.deferrable ? "" : "NOT "}DEFERRABLE INITIALLY ${constraint.initiallyDeferred ? "DEFERRED" : "IMMEDIATE"}`,
        ]),
    ...(transitions.length === 0 ? [] : [`REFERENCING ${transitions.join(" ")}`]),
    `FOR EACH ${trigger.level.toUpperCase()}`,
    ...(when === undefined ? [] : [`WHEN (${printedWhen(view, owner, when, pretty)})`]),
    `EXECUTE FUNCTION ${callText(trigger, view)}`,
  ].join(" ");
}

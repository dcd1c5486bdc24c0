/** Conditions of policies, triggers and rules over rows, as PostgreSQL prints them. */
import { DEFAULT_SCHEMA } from "../../../catalog/catalog-view.js";
import type { PolicyCondition } from "../../../catalog/role.js";
import type { TableDef } from "../../../catalog/table.js";
import type { ViewDef } from "../../../catalog/view.js";
import type { PolicyStatement } from "../../parse/ast-access.js";
import { parseSql } from "../../parse/parse.js";
import { parseStored } from "../stored-names.js";
import { shownNames } from "./object-names.js";
import { type ConditionRow, printedCondition } from "./query-printing.js";
import { inParentheses, withoutParentheses } from "./sql-parentheses.js";
import type { DefinedView, SystemView } from "./system-view.js";

type Shown = SystemView | DefinedView;

function settingsOf(view: Shown) {
  const { catalog } = view;
  const { searchPath, timeZone } = "searchPath" in view ? view : { searchPath: [DEFAULT_SCHEMA], timeZone: "UTC" };
  return { catalog, searchPath, timeZone };
}

/** Null: it is not printed yet. */
export function printedPolicy(
  view: Shown,
  table: TableDef,
  condition: PolicyCondition,
  part: "using" | "check",
  isPretty = false,
): string | null {
  const then = condition.relations.find(({ kind, id }) => kind === "table" && id === table.id);
  if (condition.exact !== true || then === undefined) return null;
  const columns = then.columns.flatMap(({ id, name }) => {
    const column = table.columns.find((other) => other.id === id);
    return column === undefined ? [] : [{ name, now: column.name, type: column.type }];
  });
  return printedCondition(condition, part, {
    node: () => (parseSql(condition.sql)[0]!.node as PolicyStatement)[part]!,
    query: condition,
    rows: [{ name: then.name, now: table.name, schema: then.schema, columns }],
    isPretty,
    ...settingsOf(view),
  });
}

/** WHEN of a trigger, or WHERE of a rule, as it is kept. */
export function printedWhen(view: Shown, owner: TableDef | ViewDef, when: string, isPretty = false): string {
  const columns = owner.columns.map(({ name, type }) => ({ name, now: name, type }));
  const row = (name: string): ConditionRow => ({ name, now: name, schema: null, columns });
  const printing = { query: null, rows: [row("old"), row("new")], isPretty, ...settingsOf(view) };
  const node = () => parseStored(when, owner.schema);
  const printed = printedCondition(owner, `when ${when}`, { ...printing, node });
  if (printed !== null) return printed;
  const shown = shownNames(view, when);
  return isPretty ? withoutParentheses(shown) : inParentheses(shown);
}

/** An expression that pg_policy gives; null: it gives none that has the text. */
export function policyNamed(view: Shown, table: TableDef, text: string, isPretty: boolean): string | null {
  for (const { using, check } of view.catalog.accessTo(table.id)?.policies ?? []) {
    if (using !== null && printedPolicy(view, table, using, "using") === text) {
      return isPretty ? printedPolicy(view, table, using, "using", true) : text;
    }
    if (check !== null && printedPolicy(view, table, check, "check") === text) {
      return isPretty ? printedPolicy(view, table, check, "check", true) : text;
    }
  }
  return null;
}

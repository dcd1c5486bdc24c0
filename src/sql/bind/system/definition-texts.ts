/** What pg_get_ruledef, pg_get_statisticsobjdef and their kin print. */

import type { ExtendedStatisticsDef, TableDef } from "../../../catalog/table.js";
import { keptRule, type RuleActions } from "../../../catalog/trigger.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import { oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import type { Value } from "../../../values/values.js";
import { parseSql } from "../../parse/parse.js";
import { catalogIndex } from "./catalog-index.js";
import { standardBodyShown } from "./function-text.js";
import { shownNames } from "./object-names.js";
import { viewRuleOid } from "./pg-descriptions.js";
import { qualified } from "./relation-facts.js";
import type { DefinedView, SystemView } from "./system-view.js";
import { keptText, viewText } from "./view-text.js";

export function ruleDefinition(view: SystemView, oid: number): Value {
  const { catalog } = view;
  for (const owner of [...catalog.tables(), ...catalog.views()]) {
    const query = "query" in owner ? owner.query : owner.materialized?.query;
    if (query !== undefined && viewRuleOid(owner.id) === oid) {
      return `CREATE RULE "_RETURN" AS\n    ON SELECT TO ${qualified(owner)} DO INSTEAD ${viewText(view, query, owner.columns)}`;
    }
    for (const { id, calls } of owner.rules ?? []) {
      if (oidOfId(id) === oid) return typeof calls === "object" ? withBrokenHead(ruleText(view, calls)) : null;
    }
  }
  return null;
}

export function ruleText(view: SystemView | DefinedView, rule: RuleActions): string {
  const kept = keptRule(rule);
  return kept === null ? rule.sql : keptText(view, kept, parseSql(kept.sql)[0]!.node);
}

/** PostgreSQL begins a new line after AS. */
function withBrokenHead(sql: string): string {
  const statement = sql.replace(/;\s*$/, "");
  return `${statement.replace(/^(CREATE (?:OR REPLACE )?RULE (?:"(?:[^"]|"")*"|[^\s"]+)) AS\s+(?=ON )/i, "$1 AS\n    ")};`;
}

function statisticsOf({ catalog }: SystemView, oid: number): [TableDef, ExtendedStatisticsDef] | null {
  for (const table of catalog.tables()) {
    const found = table.extendedStatistics?.find(({ id }) => oidOfId(id) === oid);
    if (found !== undefined) return [table, found];
  }
  return null;
}

function keyTexts([table, { keys }]: [TableDef, ExtendedStatisticsDef]): string[] {
  const nameOf = (id: number | undefined) => table.columns.find((column) => column.id === id)?.name ?? "";
  return keys.map(({ columnId, sql }) => (sql === undefined ? quoteIdentifier(nameOf(columnId)) : `(${sql})`));
}

export function statisticsColumns(view: SystemView, oid: number): Value {
  const found = statisticsOf(view, oid);
  return found === null ? null : keyTexts(found).join(", ");
}

export function statisticsExpressions(view: SystemView, oid: number): Value {
  const found = statisticsOf(view, oid);
  const expressions = found?.[1].keys.flatMap(({ sql }) => (sql === undefined ? [] : shownNames(view, sql))) ?? [];
  return expressions.length === 0 ? null : sqlArray(expressions);
}

const KINDS = 3;

export function statisticsDefinition(view: SystemView, oid: number): Value {
  const found = statisticsOf(view, oid);
  if (found === null) return null;
  const [table, { kinds }] = found;
  const written = kinds.length === KINDS || kinds.length === 0 ? "" : ` (${kinds.join(", ")})`;
  return `CREATE STATISTICS ${qualified(found[1])}${written} ON ${keyTexts(found).join(", ")} FROM ${qualified(table)}`;
}

/** The body of a function that was written as statements. */
export function functionSqlBody(view: SystemView, oid: number): Value {
  const fn = catalogIndex(view.catalog).functions.get(oid);
  return fn?.standard ? standardBodyShown(view, fn) : null;
}

/** Of the n-th argument; null where it has no default. */
export function argumentDefault({ catalog }: SystemView, oid: number, position: number): Value {
  return catalogIndex(catalog).functions.get(oid)?.parameters[position - 1]?.defaultSql ?? null;
}

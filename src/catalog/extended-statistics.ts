/**
 * CREATE, DROP, ALTER STATISTICS. The definitions belong to their table, and are definitions alone: the planner's
 * statistics are of single columns. Called by ddl.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { StatisticsCommand } from "./ddl-command.js";
import { type DdlOutcome, existingTable, NOTHING } from "./ddl-outcome.js";
import { madeUpName } from "./relation-names.js";
import type { ExtendedStatisticsDef, TableDef } from "./table.js";

interface Found {
  readonly table: TableDef;
  readonly statistics: ExtendedStatisticsDef;
}

/** The object of that name, or null. */
export function findStatistics(catalog: CatalogView, schema: string, name: string): Found | null {
  for (const table of catalog.tables()) {
    const statistics = table.extendedStatistics?.find((other) => other.schema === schema && other.name === name);
    if (statistics !== undefined) return { table, statistics };
  }
  return null;
}

export function applyStatisticsCommand(editor: CatalogEditor, command: StatisticsCommand): DdlOutcome {
  switch (command.kind) {
    case "create statistics":
      return createStatistics(editor, command);
    case "drop statistics": {
      const notices: string[] = [];
      for (const { schema, name } of command.names) {
        const found = findStatistics(editor.view, schema, name);
        if (found !== null) replace(editor, found, null);
        else if (command.ifExists) notices.push(`statistics object "${name}" does not exist, skipping`);
        else throw missing(name);
      }
      return { ...NOTHING, tag: "DROP STATISTICS", notices };
    }
    case "alter statistics": {
      const { schema, name } = command.name;
      const found = findStatistics(editor.view, schema, name);
      if (found === null) throw missing(name);
      const { change } = command;
      const moved = { schema: change.schema ?? schema, name: change.name ?? name };
      const isMoved = moved.schema !== schema || moved.name !== name;
      if (isMoved && findStatistics(editor.view, moved.schema, moved.name) !== null) throw exists(moved.name);
      const { comment: _, ...rest } = found.statistics;
      const before = change.comment === undefined ? found.statistics : rest;
      const comment = change.comment == null ? {} : { comment: change.comment };
      replace(editor, found, { ...before, ...moved, ...comment });
      return { ...NOTHING, tag: change.comment === undefined ? "ALTER STATISTICS" : "COMMENT" };
    }
  }
}

const missing = (name: string) => sqlError("42704", `statistics object "${name}" does not exist`);
const exists = (name: string) => sqlError("42710", `statistics object "${name}" already exists`);

function replace(editor: CatalogEditor, { table, statistics }: Found, next: ExtendedStatisticsDef | null): void {
  const others = (table.extendedStatistics ?? []).filter(({ id }) => id !== statistics.id);
  editor.replaceTable(withStatistics(table, next === null ? others : [...others, next]));
}

export function withStatistics(table: TableDef, extended: readonly ExtendedStatisticsDef[]): TableDef {
  const { extendedStatistics: _, ...rest } = table;
  return Object.freeze(extended.length === 0 ? rest : { ...rest, extendedStatistics: extended });
}

function createStatistics(
  editor: CatalogEditor,
  command: Extract<StatisticsCommand, { kind: "create statistics" }>,
): DdlOutcome {
  const tag = "CREATE STATISTICS";
  const table = existingTable(editor, command.table);
  const { schema, kinds, keys, columnIds } = command;
  const taken = (name: string) => findStatistics(editor.view, schema, name) !== null;
  if (command.name !== null && taken(command.name)) {
    if (!command.ifNotExists) throw exists(command.name);
    return { ...NOTHING, tag, notices: [`statistics object "${command.name}" already exists, skipping`] };
  }
  const parts = keys.map(({ columnId }) => table.columns.find(({ id }) => id === columnId)?.name ?? "expr");
  const name = command.name ?? madeUpName(table.name, parts, "stat", taken);
  const made: ExtendedStatisticsDef = { id: editor.nextId(), schema, name, kinds, keys, columnIds };
  editor.replaceTable(withStatistics(table, [...(table.extendedStatistics ?? []), made]));
  return { ...NOTHING, tag };
}

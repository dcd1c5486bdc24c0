/** CREATE VIEW, DROP VIEW and DROP MATERIALIZED VIEW on definitions. Called by ddl.ts. */
import { sqlError } from "../protocol/errors.js";
import { type CatalogEditor, relationExists } from "./catalog-editor.js";
import type { CreateViewCommand, DropViewsCommand } from "./ddl-command.js";
import type { DdlOutcome } from "./ddl-outcome.js";
import { dropDependents } from "./drop-dependents.js";
import type { TableDef } from "./table.js";

/** What a command on views did; part of a DdlOutcome. */
export type ViewOutcome = Pick<DdlOutcome, "tag" | "notices" | "cleared"> & Partial<Pick<DdlOutcome, "clearedIndexes">>;

/** The binder has checked that a replaced view keeps its columns. */
export function createView(editor: CatalogEditor, command: CreateViewCommand, nowMicros: number): ViewOutcome {
  const { schema, name, columns, query, checkOption, updatable } = command;
  const before = editor.view.view(schema, name);
  if (before !== null && !command.replace) throw relationExists(name);
  if (before === null && editor.view.hasRelation(schema, name)) {
    throw command.replace ? sqlError("42809", `"${name}" is not a view`) : relationExists(name);
  }
  const id = before?.id ?? editor.nextId();
  const createdAt = before?.createdAt ?? nowMicros;
  const marks = updatable === null ? {} : { updatable };
  const kept = columns.map((column, i) => ({ ...before?.columns[i], ...column }));
  const triggers = {
    ...(before?.triggers && { triggers: before.triggers }),
    ...(before?.rules && { rules: before.rules }),
    ...(before?.comment !== undefined && { comment: before.comment }),
  };
  editor.putView(
    Object.freeze({ id, schema, name, columns: kept, query, checkOption, ...marks, ...triggers, createdAt }),
  );
  return { tag: "CREATE VIEW", notices: command.notices, cleared: [] };
}

export function dropViews(editor: CatalogEditor, command: DropViewsCommand): ViewOutcome {
  const kind = command.materialized ? "materialized view" : "view";
  const notices: string[] = [];
  const dropped = new Map<number, string>();
  const cleared: TableDef[] = [];
  const drops: (() => void)[] = [];
  for (const { schema, name } of command.views) {
    const view = editor.view.view(schema, name);
    const table = editor.view.table(schema, name);
    if (!command.materialized && view !== null) {
      dropped.set(view.id, `view ${name}`);
      drops.push(() => editor.dropView(view));
    } else if (command.materialized && table?.materialized) {
      dropped.set(table.id, `materialized view ${name}`);
      cleared.push(table);
      drops.push(() => editor.dropTable(table));
    } else if (editor.view.hasRelation(schema, name)) {
      const hint =
        view !== null
          ? "Use DROP VIEW to remove a view."
          : table?.materialized
            ? "Use DROP MATERIALIZED VIEW to remove a materialized view."
            : table !== null
              ? "Use DROP TABLE to remove a table."
              : null;
      throw sqlError("42809", `"${name}" is not a ${kind}`, hint === null ? undefined : { hint });
    } else if (command.ifExists) notices.push(`${kind} "${name}" does not exist, skipping`);
    else throw sqlError("42P01", `${kind} "${name}" does not exist`);
  }
  const others = dropDependents(editor, dropped, command.cascade);
  for (const drop of drops) drop();
  return {
    tag: `DROP ${kind.toUpperCase()}`,
    notices: [...notices, ...others.notices],
    cleared: [...cleared, ...others.cleared],
    clearedIndexes: others.clearedIndexes,
  };
}

/**
 * Notes statements about definitions that take rows of audited tables away, or write them anew: also rows of tables
 * that the statement does not name. Made by run-definitions.ts for one statement, which may have several steps.
 */
import type { DdlCommand, RelationName } from "../catalog/ddl-command.js";
import type { DdlOutcome } from "../catalog/ddl-outcome.js";
import type { TableDef } from "../catalog/table.js";
import type { ExecContext } from "../query/exec/context.js";

/** A step that only adds definitions leaves the rows of others alone. */
const ADDING: ReadonlySet<DdlCommand["kind"]> = new Set(["create table", "create view", "comment", "rename"]);

export class AuditedDefinitions {
  private readonly written = new Map<number, TableDef>();

  /** Runs one step, and looks at what it has left. */
  async run<T extends DdlOutcome>(command: DdlCommand, context: ExecContext, step: () => Promise<T>): Promise<T> {
    const { services } = context;
    if (command.kind === "alter table" && command.action.kind === "set audit") {
      const table = tableOf(command.table, context);
      if (table !== null) services.noteAuditChange(table, context);
    }
    const before = ADDING.has(command.kind) ? [] : services.catalogView().auditedTables().filter(isAudited);
    const done = await step();
    if (before.length === 0) return done;
    const now = services.catalogView();
    const touched = new Set(
      [...done.cleared, ...done.rewrites.flatMap((rewrite) => [rewrite.before, rewrite.after])].map(({ id }) => id),
    );
    for (const table of before) {
      if (touched.has(table.id) || lostColumns(table, now.tableById(table.id))) this.written.set(table.id, table);
    }
    return done;
  }

  /** After the last step. */
  note(context: ExecContext): void {
    const write = [...this.written.values()];
    if (write.length > 0) context.services.noteAccess({ read: [], write }, context);
  }
}

export function isAudited({ audit }: TableDef): boolean {
  return audit?.includes("write") ?? false;
}

/** Whether values of its rows have gone, or the table. */
function lostColumns(before: TableDef, now: TableDef | null): boolean {
  if (now === before) return false;
  return now === null || before.columns.some(({ id }) => !now.columns.some((column) => column.id === id));
}

function tableOf({ schema, name }: RelationName, { services }: ExecContext): TableDef | null {
  return services.catalogView().table(schema, name);
}

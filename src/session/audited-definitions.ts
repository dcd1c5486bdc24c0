/** Notes statements about definitions that take rows of audited tables away. Called by run-definitions.ts. */
import type { DdlCommand, RelationName } from "../catalog/ddl-command.js";
import type { ExecContext } from "../query/exec/context.js";

export function noteDefinition(command: DdlCommand, context: ExecContext): void {
  const { services } = context;
  if (command.kind === "alter table" && command.action.kind === "set audit") {
    const table = tablesOf([command.table], context)[0];
    if (table !== undefined) services.noteAuditChange(table, context);
    return;
  }
  if (command.kind !== "truncate" && command.kind !== "drop table") return;
  const write = tablesOf(command.tables, context).filter(({ audit }) => audit?.includes("write"));
  if (write.length > 0) services.noteAccess({ read: [], write }, context);
}

function tablesOf(names: readonly RelationName[], { services }: ExecContext) {
  const view = services.catalogView();
  return names.flatMap(({ schema, name }) => view.table(schema, name) ?? []);
}

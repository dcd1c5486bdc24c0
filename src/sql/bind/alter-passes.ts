/** The order in which ALTER TABLE does its commands. */
import type { AlterTableCommand } from "../parse/ast-definitions.js";

/**
 * By the passes of PostgreSQL's ALTER TABLE (src/backend/commands/tablecmds.c, AlterTablePass). Columns are dropped
 * after an ALTER … TYPE … USING, which may read them.
 */
export function inPasses(commands: readonly AlterTableCommand[]): AlterTableCommand[] {
  const dropsLater = commands.some((command) => command.kind === "alter type" && command.using !== null);
  return [...commands].sort((a, b) => passOf(a, dropsLater) - passOf(b, dropsLater));
}

function passOf(command: AlterTableCommand, dropsLater: boolean): number {
  switch (command.kind) {
    case "drop column":
      return dropsLater ? 1.5 : 0;
    case "drop constraint":
    case "drop not null":
    case "drop default":
    case "drop identity":
    case "drop expression":
      return 0;
    case "alter type":
      return 1;
    case "add column":
      return 2;
    case "add constraint": {
      const { kind } = command.constraint;
      return kind === "primary key" || kind === "unique" || kind === "exclude" ? 4 : 5;
    }
    case "validate constraint":
    case "ignored":
      return 6;
    default:
      return 3;
  }
}

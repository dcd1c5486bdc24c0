/**
 * Whose rights DROP asks. Who has no right to drop is not told what depends on it. By CASCADE, who owns what the
 * statement names, or its schema, takes what others have made of it, wherever that is, as in PostgreSQL. What nobody
 * owns anybody may drop: there each object that goes is asked for.
 */
import { type Author, ownsSchemaOf, requireOwner } from "./author.js";
import type { CatalogView } from "./catalog-view.js";
import type { DdlCommand } from "./ddl-command.js";

interface Named {
  readonly id: number;
  readonly name: string;
  readonly schema: string;
}

/** What a command names that drops; null: it does not. Names that mean nothing are left out. */
function namedBy(command: DdlCommand, view: CatalogView): readonly Named[] | null {
  switch (command.kind) {
    case "alter table":
      return command.action.kind === "drop column" ? found([command.table], (...of) => view.table(...of)) : null;
    case "drop table":
      return found(command.tables, (...of) => view.table(...of));
    case "drop views":
      return found(command.views, (...of) => view.view(...of) ?? view.table(...of));
    case "drop property graphs":
      return found(command.graphs, (...of) => view.propertyGraph(...of));
    case "drop functions":
      return command.functions;
    case "drop type":
      return found(command.names, (...of) => view.type(...of));
    case "drop sequence":
      return found(command.names, (...of) => view.sequence(...of));
    case "drop schema":
      return command.names.flatMap((schema) => {
        const id = view.schemaId(schema);
        return id === null ? [] : [{ id, name: schema, schema }];
      });
    default:
      return null;
  }
}

function found(
  names: readonly { readonly schema: string; readonly name: string }[],
  find: (schema: string, name: string) => Named | null,
): Named[] {
  return names.flatMap(({ schema, name }) => find(schema, name) ?? []);
}

const KINDS: Partial<Record<DdlCommand["kind"], string>> = {
  "drop views": "view",
  "drop functions": "function",
  "drop type": "type",
  "drop sequence": "sequence",
  "drop schema": "schema",
};

function isCascade(command: DdlCommand): boolean {
  const said = command.kind === "alter table" ? command.action : command;
  return "cascade" in said && said.cascade;
}

/**
 * Whether the command drops what others own without asking for it: that is not asked for, either, of what a role owns,
 * which the binder has asked about. Throws 42501 where somebody else owns what the command names.
 */
export function dropsOfOthers(author: Author | null, command: DdlCommand, view: CatalogView): boolean {
  if (author === null || !author.rights.ofRoles) return false;
  if (command.kind === "access") return command.owned !== undefined;
  const named = namedBy(command, view);
  if (named === null || named.length === 0) return false;
  const others = named.filter((object) => !author.rights.owns(object.id) && !ownsSchemaOf(author, object, view));
  const owned = others.find(({ id }) => view.accessTo(id) !== null);
  if (owned !== undefined) requireOwner(author, KINDS[command.kind] ?? "table", owned);
  return isCascade(command) && others.length === 0;
}

/** Applies CREATE and DROP EXTENSION. Called by ddl-namespace.ts. */
import { sqlError } from "../protocol/errors.js";
import type { SqlType, TypeName } from "../values/values.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { partsOf } from "./columns-of-type.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { AVAILABLE_EXTENSIONS, BUILT_IN_EXTENSION } from "./extension.js";
import type { CreateExtensionCommand, DropExtensionCommand } from "./namespace-command.js";
import { isRowType } from "./type.js";

/** Throws 42710 for an existing extension unless IF NOT EXISTS. */
export function createExtension(
  editor: CatalogEditor,
  { name, ifNotExists }: CreateExtensionCommand,
  nowMicros: number,
): DdlOutcome {
  const tag = "CREATE EXTENSION";
  if (name === BUILT_IN_EXTENSION || editor.view.extension(name) !== null) {
    if (!ifNotExists) throw sqlError("42710", `extension "${name}" already exists`);
    return { ...NOTHING, tag, notices: [`extension "${name}" already exists, skipping`] };
  }
  editor.keep("extension", Object.freeze({ id: editor.nextId(), name, createdAt: nowMicros }));
  return { ...NOTHING, tag };
}

/**
 * Throws 42704 for one that does not exist, 2BP01 while something is made of its types, unless CASCADE, which drops it.
 */
export function dropExtensions(editor: CatalogEditor, command: DropExtensionCommand): DdlOutcome {
  const notices: string[] = [];
  for (const name of command.names) {
    if (name === BUILT_IN_EXTENSION) {
      throw sqlError("2BP01", `cannot drop extension ${name} because it is required by the database system`);
    }
    const extension = editor.view.extension(name);
    if (extension === null) {
      const message = `extension "${name}" does not exist`;
      if (!command.ifExists) throw sqlError("42704", message);
      notices.push(`${message}, skipping`);
      continue;
    }
    const dependents = condemnUsers(editor, name);
    if (dependents.length > 0 && !command.cascade) {
      throw sqlError("2BP01", `cannot drop extension ${name} because other objects depend on it`, {
        detail: dependents.map(({ object, type }) => `${object} depends on type ${type}`).join("\n"),
        hint: "Use DROP ... CASCADE to drop the dependent objects too.",
      });
    }
    notices.push(...dependents.map(({ object }) => `drop cascades to ${object}`));
    editor.forget("extension", extension);
  }
  return { ...NOTHING, tag: "DROP EXTENSION", notices };
}

/** Has what is made of the extension's types dropped; gives what that is. */
function condemnUsers({ view, condemned }: CatalogEditor, extension: string): { object: string; type: TypeName }[] {
  const types: readonly TypeName[] = AVAILABLE_EXTENSIONS.get(extension)?.types ?? [];
  const has = (type: SqlType): boolean => types.includes(type.name) || (type.element !== null && has(type.element));
  const columns = view.tables().flatMap(({ id: tableId, name: table, columns: all }) =>
    all.flatMap(({ id, name, type }) => {
      if (!has(type)) return [];
      condemned.push({ kind: "column", tableId, columnId: id });
      return [{ object: `column ${name} of table ${table}`, type: type.name }];
    }),
  );
  const made = view.types().flatMap((type) => {
    const part = isRowType(type) ? undefined : partsOf(type).find(has);
    if (part === undefined) return [];
    condemned.push({ kind: "type", typeId: type.id });
    return [{ object: `type ${type.name}`, type: part.name }];
  });
  return [...columns, ...made];
}

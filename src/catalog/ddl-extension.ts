/** Applies CREATE and DROP EXTENSION. Called by ddl-namespace.ts. */
import { sqlError } from "../protocol/errors.js";
import type { SqlType, TypeName } from "../values/values.js";
import type { CatalogEditor } from "./catalog-editor.js";
import { type DdlOutcome, NOTHING } from "./ddl-outcome.js";
import { AVAILABLE_EXTENSIONS, BUILT_IN_EXTENSION } from "./extension.js";
import type { CreateExtensionCommand, DropExtensionCommand } from "./namespace-command.js";

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
  editor.createExtension(Object.freeze({ id: editor.nextId(), name, createdAt: nowMicros }));
  return { ...NOTHING, tag };
}

/**
 * Throws 42704 for one that does not exist, 2BP01 while columns have its types, 0A000 for CASCADE over such columns.
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
    refuseUsed(editor, name, command.cascade);
    editor.dropExtension(extension);
  }
  return { ...NOTHING, tag: "DROP EXTENSION", notices };
}

function refuseUsed(editor: CatalogEditor, name: string, cascade: boolean): void {
  const types: readonly TypeName[] = AVAILABLE_EXTENSIONS.get(name)?.types ?? [];
  const has = (type: SqlType): boolean => types.includes(type.name) || (type.element !== null && has(type.element));
  const dependents = editor.view
    .tables()
    .flatMap((table) =>
      table.columns
        .filter((column) => has(column.type))
        .map((column) => `column ${column.name} of table ${table.name} depends on type ${column.type.name}`),
    );
  if (dependents.length === 0) return;
  if (cascade) {
    throw sqlError("0A000", `DROP EXTENSION ${name} CASCADE cannot drop columns`, {
      detail: dependents.join("\n"),
      hint: "Drop these columns first.",
    });
  }
  throw sqlError("2BP01", `cannot drop extension ${name} because other objects depend on it`, {
    detail: dependents.join("\n"),
    hint: "Drop these columns first.",
  });
}

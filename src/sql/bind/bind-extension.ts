/** CREATE and DROP EXTENSION. Called by bind-statement.ts; catalog/ddl-extension.ts applies the commands. */
import type { DdlCommand } from "../../catalog/ddl-command.js";
import { AVAILABLE_EXTENSIONS, BUILT_IN_EXTENSION } from "../../catalog/extension.js";
import { sqlError } from "../../protocol/errors.js";
import type { CreateExtensionStatement, DropStatement } from "../parse/ast-definitions.js";
import type { BindEnvironment } from "./bound-statement.js";
import { creationSchema } from "./names.js";

/** Throws 0A000 for an extension that is not built in, 3F000 where there is no schema for it. */
export function bindCreateExtension(
  { name, ifNotExists, position }: CreateExtensionStatement,
  env: BindEnvironment,
): DdlCommand {
  if (!AVAILABLE_EXTENSIONS.has(name)) {
    throw sqlError("0A000", `extension "${name}" is not available`, {
      position,
      hint: `Available are: ${[...AVAILABLE_EXTENSIONS.keys()].join(", ")}.`,
    });
  }
  const isMade = name === BUILT_IN_EXTENSION || env.catalog.extensions().some((made) => made.name === name);
  if (!isMade) creationSchema(env, position);
  return { kind: "create extension", name, ifNotExists };
}

export function bindDropExtension({ names, ifExists, cascade }: DropStatement): DdlCommand {
  return { kind: "drop extension", names: names.map((name) => name.path.join(".")), ifExists, cascade };
}

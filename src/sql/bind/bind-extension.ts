/**
 * CREATE and DROP EXTENSION. The available extensions are built in: a script that creates one before it uses it goes
 * on, and nothing is added or removed. Called by bind-statement.ts; pg_extension lists the same.
 */
import { sqlError } from "../../protocol/errors.js";
import type { CreateExtensionStatement, DropStatement } from "../parse/ast-definitions.js";
import type { BoundStatement } from "./bound-statement.js";

/** Name and the version whose interface is there. */
export const BUILT_IN_EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ["plpgsql", "1.0"],
  ["vector", "0.8.0"],
]);

/** Throws 42710 for an existing extension unless IF NOT EXISTS, 0A000 for others. */
export function bindCreateExtension({ name, ifNotExists, position }: CreateExtensionStatement): BoundStatement {
  if (!BUILT_IN_EXTENSIONS.has(name)) {
    throw sqlError("0A000", `extension "${name}" is not available`, {
      position,
      hint: `Built in: ${[...BUILT_IN_EXTENSIONS.keys()].join(", ")}.`,
    });
  }
  const message = `extension "${name}" already exists`;
  if (!ifNotExists) throw sqlError("42710", message, { position });
  return { kind: "ddl steps", tag: "CREATE EXTENSION", steps: [], notices: [`${message}, skipping`] };
}

/** Throws 2BP01 for built-in extensions. */
export function refuseDropExtension({ what, names, position }: DropStatement): void {
  if (what !== "extension") return;
  const builtIn = names.map((name) => name.path.join(".")).find((name) => BUILT_IN_EXTENSIONS.has(name));
  if (builtIn === undefined) return;
  const message = `cannot drop extension ${builtIn} because it is required by the database system`;
  throw sqlError("2BP01", message, position > 0 ? { position } : undefined);
}

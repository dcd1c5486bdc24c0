/**
 * What names mean in expressions that definitions keep: of tables, domains, triggers and functions. Their text names
 * functions and types that statements made by their ids (catalog/object-reference.ts); all other names are the
 * system's, and no search path and no overload changes either. Texts from before that name them as the statement did:
 * what is not the system's then is looked up in the schema of the definition, and in `public`.
 */
import { DEFAULT_SCHEMA } from "../../catalog/catalog-view.js";
import type { StoredNode } from "../parse/ast-query.js";
import { parseExpression } from "../parse/parse.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";

/** An expression out of the definition of something in this schema. */
export function parseStored(sql: string, schema: string): StoredNode {
  return { kind: "stored", input: parseExpression(sql), schema, position: 0 };
}

/** Where it is bound. */
export function storedEnvironment(schema: string, { env, catalog }: Binding): BindEnvironment {
  const searchPath = schema === DEFAULT_SCHEMA ? PUBLIC : [schema, DEFAULT_SCHEMA];
  return { ...env, catalog, searchPath, stored: true };
}

const PUBLIC = [DEFAULT_SCHEMA];

/** Where a function's text is bound that a stored expression or a view calls: its names are the session's. */
export function calledEnvironment({ env, catalog, searchPath }: Binding): BindEnvironment {
  const { stored: _, ...rest } = env;
  return { ...rest, catalog, searchPath };
}

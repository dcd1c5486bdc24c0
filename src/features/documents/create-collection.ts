/**
 * Makes a document collection in a transaction that is open. Called by whoever makes collections: by request, or for a
 * folder.
 */

import type { Request } from "../../actor/request.js";
import { type Collection, collectionOf } from "../../document/collection.js";
import { createStatements, definitionOf, type EmbeddingDimensions } from "../../document/schema-ddl.js";
import type { SchemaRequest } from "../../document/schema-request.js";
import { DbError } from "../../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../../protocol/limits.js";
import type { Transaction } from "../../storage/store.js";
import { withDefinitions } from "../statements/with-definitions.js";
import type { RunStatement } from "./document-session.js";

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Throws invalid_request, and conflict when there is a relation of that name. */
export function checkNewName(request: Request, name: string): void {
  if (!NAME.test(name) || Buffer.byteLength(name) > IDENTIFIER_BYTES_MAX) {
    const message = `The field "name" must have 1 to ${IDENTIFIER_BYTES_MAX} letters, digits, or the characters _ . -`;
    throw new DbError("invalid_request", message, { field: "name" });
  }
  if (withDefinitions(request, (catalog) => catalog.table(null, name)) === null) return;
  throw new DbError("conflict", `The collection "${name}" already exists.`, { sqlstate: "42P07", field: "name" });
}

/** `run` works in the transaction `tx`. */
export async function createCollectionIn(
  request: Request,
  tx: Transaction,
  run: RunStatement,
  name: string,
  schema: SchemaRequest,
): Promise<Collection> {
  const plan = createStatements(name, schema, embeddingDimensions(request));
  for (const sql of plan.statements) await run({ sql, params: [] });
  const table = request.tenant.catalog.view(tx).table(null, name)!;
  const next = Object.freeze({ ...table, collection: definitionOf(table, plan) });
  request.tenant.catalog.change(tx, (editor) => editor.replaceTable(next));
  return collectionOf(next)!;
}

/** Throws the error that there is no such model. */
export function embeddingDimensions({ partition }: Request): EmbeddingDimensions {
  return (model) => partition.models.describe(model).dimensions;
}

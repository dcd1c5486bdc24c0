/** Vector collections by the names in requests. */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { type VectorCollection, vectorCollectionOf } from "./vector-collection.js";

/** Throws not_found. */
export function findVectorCollection(request: Request, name: string): VectorCollection {
  const table = withDefinitions(request, (catalog) => catalog.table(null, name));
  const collection = table === null ? null : vectorCollectionOf(table);
  if (collection !== null) return collection;
  throw new DbError("not_found", `The vector collection "${name}" does not exist.`, { sqlstate: "42P01" });
}

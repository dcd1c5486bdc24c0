/** Finds vector collections by the names in requests. */

import type { Request } from "../../actor/request.js";
import { meant } from "../../catalog/did-you-mean.js";
import { DbError } from "../../protocol/errors.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { type VectorCollection, vectorCollectionOf } from "./vector-collection.js";

/** Throws not_found. */
export function findVectorCollection(request: Request, name: string): VectorCollection {
  return withDefinitions(request, (catalog) => {
    const table = catalog.table(null, name);
    const collection = table === null ? null : vectorCollectionOf(table);
    if (collection !== null) return collection;
    const names = catalog.tables().flatMap((each) => (vectorCollectionOf(each) === null ? [] : [each.name]));
    const hint = meant(name, names).hint ?? "GET /v1/vectors/collections lists the vector collections.";
    throw new DbError("not_found", `The vector collection "${name}" does not exist.`, { sqlstate: "42P01", hint });
  });
}

/** Ranks a collection's documents by a query's words. Called by the searches of collections and of media. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { STATIC_WEIGHT, type TextShape, VECTOR_WEIGHT, weightForQuery } from "../../catalog/ranked-search.js";
import { type Collection, textIndexOf } from "../../document/collection.js";
import type { Ranking } from "../../document/search-sql.js";
import { textShape } from "../../session/search-index-care.js";
import { demandsWords } from "../../text/query.js";
import { withDefinitions } from "../statements/with-definitions.js";

/** Null: the collection has no text index. */
export function textRanking(collection: Collection, query: string): Extract<Ranking, { kind: "text" }> | null {
  const index = textIndexOf(collection);
  if (index === null) return null;
  return { kind: "text", columns: index.columns, query, demands: demandsWords(query) };
}

/** The weight of this model's vectors beside the collection's words, for a query; `model` null: the default one. */
export function modelWeight(request: Request, collection: Collection, model: string | null, query: string): number {
  const usual = request.partition.models.answersAtOnce(model) ? STATIC_WEIGHT : VECTOR_WEIGHT;
  return weightForQuery(usual, query, shapeOf(request, collection, query));
}

/** Null: not known, or not for the caller to know. Its texts may be some that a policy hides. */
function shapeOf(request: Request, collection: Collection, query: string): TextShape | null {
  const index = textIndexOf(collection)?.search;
  if (index === undefined) return null;
  const seesAll = withDefinitions(request, (catalog) =>
    rightsOfCaller(request.head)(catalog).mayAll(collection.table.id, ["r"]),
  );
  return seesAll ? textShape(request.tenant, collection.table, index, query) : null;
}

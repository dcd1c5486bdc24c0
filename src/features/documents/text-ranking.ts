/** Ranks a collection's documents by a query's words. Called by the searches of collections and of media. */

import type { Request } from "../../actor/request.js";
import { STATIC_WEIGHT, type TextShape, VECTOR_WEIGHT, weightForQuery } from "../../catalog/ranked-search.js";
import { type Collection, textIndexOf } from "../../document/collection.js";
import type { Ranking } from "../../document/search-sql.js";
import { textShape } from "../../session/search-index-care.js";
import { demandsWords } from "../../text/query.js";
import { readsAll } from "../statements/with-definitions.js";

/** Null: the collection has no text index. */
export function textRanking(collection: Collection, query: string): Extract<Ranking, { kind: "text" }> | null {
  const index = textIndexOf(collection);
  if (index === null) return null;
  return { kind: "text", columns: index.columns, query, demands: demandsWords(query) };
}

/** The weight of this model's vectors beside words, for a query of `queryShape`; `model` null: the default one. */
export function modelWeight(
  { partition }: Request,
  model: string | null,
  query: string,
  shape: TextShape | null,
): number {
  return weightForQuery(partition.models.answersAtOnce(model) ? STATIC_WEIGHT : VECTOR_WEIGHT, query, shape);
}

/** Null: not known, or not for the caller to know. Its texts may be some that a policy hides. */
export function queryShape(request: Request, collection: Collection, query: string): TextShape | null {
  const { table } = collection;
  const index = textIndexOf(collection)?.search;
  if (index === undefined || !readsAll(request, table.id)) return null;
  return textShape(request.tenant, table, index, query);
}

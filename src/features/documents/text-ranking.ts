/** Ranks a collection's documents by a query's words. Called by the searches of collections and of media. */

import type { Request } from "../../actor/request.js";
import { STATIC_WEIGHT, VECTOR_WEIGHT, weightForQuery } from "../../catalog/ranked-search.js";
import { type Collection, textIndexOf } from "../../document/collection.js";
import type { Ranking } from "../../document/search-sql.js";
import { demandsWords } from "../../text/query.js";

/** Null: the collection has no text index. */
export function textRanking(collection: Collection, query: string): Extract<Ranking, { kind: "text" }> | null {
  const index = textIndexOf(collection);
  if (index === null) return null;
  return { kind: "text", columns: index.columns, query, demands: demandsWords(query) };
}

/** The weight of this model's vectors beside words, for a query; null: the default model. */
export function modelWeight({ partition }: Request, model: string | null, query: string): number {
  return weightForQuery(partition.models.answersAtOnce(model) ? STATIC_WEIGHT : VECTOR_WEIGHT, query);
}

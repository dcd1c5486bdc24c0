/** How a query's words rank a collection's documents. Called by the searches of collections and of media. */

import type { Request } from "../../actor/request.js";
import { STATIC_WEIGHT, VECTOR_WEIGHT } from "../../catalog/ranked-search.js";
import { type Collection, textIndexOf } from "../../document/collection.js";
import type { Ranking } from "../../document/search-sql.js";

/** Null: the collection has no text index. */
export function textRanking(collection: Collection, query: string): Extract<Ranking, { kind: "text" }> | null {
  const index = textIndexOf(collection);
  if (index === null) return null;
  return { kind: "text", columns: index.columns, query };
}

/** What the likeness of that model's vectors weighs beside words; null: the default model. */
export function modelWeight({ partition }: Request, model: string | null): number {
  return partition.models.answersAtOnce(model) ? STATIC_WEIGHT : VECTOR_WEIGHT;
}

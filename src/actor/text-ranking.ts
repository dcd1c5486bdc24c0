/** How a query's words rank a collection's documents. Called by the searches of collections and of media. */
import { type Collection, textIndexOf } from "../document/collection.js";
import type { Ranking } from "../document/search-sql.js";
import { analyzerOf } from "../text/analysis.js";
import { parseTextQuery, wordsOf } from "../text/query.js";

/** Null: the collection has no text index. */
export function textRanking(collection: Collection, query: string): Extract<Ranking, { kind: "text" }> | null {
  const index = textIndexOf(collection);
  if (index === null) return null;
  const { terms, prefixes } = wordsOf(parseTextQuery(query, analyzerOf(index.language)));
  return { kind: "text", columns: index.columns, query, words: terms.size + prefixes.length };
}

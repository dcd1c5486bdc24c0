/** What a text index tells of a query before it is searched: how much words can decide. Pure. */
import type { TextShape } from "../catalog/ranked-search.js";
import type { TextBody } from "./text-body.js";
import { rarityOf } from "./text-search.js";

/** Null: there are no texts. */
export function textShapeOf(body: TextBody, query: string): TextShape | null {
  if (body.count === 0) return null;
  const terms = new Set<string>();
  body.analyzer.each(query, (term) => {
    if (term !== "") terms.add(term);
  });
  let [known, all] = [0, 0];
  for (const term of terms) {
    const rarity = rarityOf(body, term);
    all += rarity;
    if (body.documentsWith(term) > 0) known += rarity;
  }
  return { meanWords: body.meanLength, knownShare: all === 0 ? 0 : known / all };
}

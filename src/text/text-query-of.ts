/**
 * Translates a tsquery for a text index: into a query that finds every document that the tsquery matches, and perhaps
 * others, so that each answer has to be tested again (`to_tsvector(config, text) @@ query`). Called where a text index
 * helps to answer a condition with @@; the index must be of the same language as the documents' configuration.
 *
 * Only words can be looked up. Weights and distances are left out, and so are exclusions, prefixes (an index knows a
 * bounded number of them), and compounds (their parts are in the query beside them).
 */
import { type TsQueryNode, tsQueryOf } from "../values/ts-query.js";
import { type Analyzer, analyzerOf, normalForm, wordsWithin } from "./analysis.js";
import { both, either, NOTHING, type TextQuery } from "./query.js";

/** Longer words are cut in the index. */
const LEXEME_LENGTH_MAX = 100;
const LETTERS = /^(?:(?![0-9])[\p{L}\p{M}\p{Nl}\p{Nd}])+$/u;
const COMPOUND = /^(?:(?![0-9])[\p{L}\p{M}\p{Nl}\p{Nd}-])+$/u;

/** Of a value of type tsquery. NOTHING: no document matches. Null: the index cannot narrow the search. Throws 42704. */
export function textQueryOf(value: string, language: string): TextQuery | null {
  const query = tsQueryOf(value);
  return query === null ? NOTHING : candidates(query, analyzerOf(language));
}

function candidates(node: TsQueryNode, analyzer: Analyzer): TextQuery | null {
  switch (node.kind) {
    case "word":
      return node.prefix ? null : candidatesOfLexeme(node.word, analyzer);
    case "not":
      return null;
    case "or": {
      const [left, right] = [candidates(node.left, analyzer), candidates(node.right, analyzer)];
      return left === null || right === null ? null : either([left, right]);
    }
    case "and":
    case "phrase": {
      const [left, right] = [candidates(node.left, analyzer), candidates(node.right, analyzer)];
      return left === null || right === null ? (left ?? right) : both([left, right]);
    }
  }
}

function candidatesOfLexeme(lexeme: string, analyzer: Analyzer): TextQuery | null {
  if (lexeme.length > LEXEME_LENGTH_MAX || normalForm(lexeme) !== lexeme) return null;
  const terms: TextQuery[] = [];
  const words = Array.from(wordsWithin(lexeme), ({ word }) => word);
  // A word's lexeme is its stem, as the index has it; a second stemming might give something else.
  if (LETTERS.test(lexeme) && words.length === 1 && words[0] === lexeme) return { kind: "term", term: lexeme };
  if (lexeme.includes("-") && COMPOUND.test(lexeme)) return null;
  // A lexeme of several words may begin or end within a word of the index: a host name is cut before a letter that it
  // cannot have, and the last word is stemmed with the rest.
  for (const word of words.slice(1, -1)) {
    const term = analyzer.termOf(word);
    if (term !== "") terms.push({ kind: "term", term });
  }
  return terms.length === 0 ? null : both(terms);
}

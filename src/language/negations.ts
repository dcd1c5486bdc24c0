/**
 * Corrects what VADER's rules miss about negations: they find them in lower case only, and let them reach the third
 * word after them whatever is in between. Called by sentiment.ts.
 */

/** The package's own list, which it does not export; what ends in "n't" it knows besides. */
const NEGATIONS: ReadonlySet<string> = new Set(
  [
    "aint arent cannot cant couldnt darent didnt doesnt dont hadnt hasnt havent isnt mightnt mustnt neednt oughtnt",
    "shant shouldnt wasnt werent wont wouldnt neither never none nope nor not nothing nowhere uhuh uh-uh without",
    "rarely seldom despite",
  ].flatMap((line) => line.split(" ")),
);
const WORD = /\p{L}[\p{L}'’-]*/gu;
/** After a word: a comma, semicolon or sentence's end, with closing marks. Three points end nothing. */
const CLAUSE_END = /[\p{L}\p{N}]["'”’)]*(?:[,;!?]+|(?<!\.)\.(?!\.))["'”’)]*$/u;
/** As many words as a negation reaches. In capitals they change nothing about which words stand out by theirs. */
const OUT_OF_REACH = "XX XX XX";

/** The sentence as it is to be given to the package. */
export function forVader(sentence: string): string {
  // Where all is in capitals none of them is emphasis, and beside a negation in lower case they would become it.
  const text = /\p{Ll}/u.test(sentence) ? sentence : sentence.toLowerCase();
  const parts: string[] = [];
  let isNegated = false;
  for (const token of text.replace(WORD, plainNegation).split(/\s+/)) {
    parts.push(token);
    isNegated ||= hasNegation(token);
    if (!isNegated || !CLAUSE_END.test(token)) continue;
    parts.push(OUT_OF_REACH);
    isNegated = false;
  }
  return parts.join(" ");
}

/** Negations in lower case and with a plain apostrophe, other words as they are: capitals may be emphasis. */
function plainNegation(word: string): string {
  const plain = word.toLowerCase().replaceAll("’", "'");
  return isNegation(plain) ? plain : word;
}

function hasNegation(token: string): boolean {
  return token.match(WORD)?.some(isNegation) === true;
}

function isNegation(word: string): boolean {
  return NEGATIONS.has(word) || word.includes("n't");
}

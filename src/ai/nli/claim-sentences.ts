/**
 * Reads a sentence for claim-evidence.ts: its words of content, clauses, denials, quantities, hedges and order of
 * events. Pure.
 */

import { type Word, wordsOf } from "./claim-words.js";
import { DENIED_BEFORE_THAT, DENIED_BEFORE_TO, DENYING_WORDS, isColour } from "./opposites.js";
import { quantitiesOf } from "./quantities.js";
import type { Quantity } from "./quantity.js";

export interface Sentence {
  readonly words: readonly Word[];
  /** The places of the words of content that are no part of a quantity. */
  readonly items: readonly number[];
  /** The number of each word's clause. */
  readonly clauses: readonly number[];
  /** The places of words that deny. */
  readonly denials: readonly number[];
  readonly quantities: readonly Quantity[];
  /** The places of words that say that something is possible, planned, wished or told. */
  readonly hedges: readonly number[];
  /** "only", "all", "always": what they narrow or widen has to be said. */
  readonly restrictions: readonly string[];
  readonly order: { readonly earlier: ReadonlySet<string>; readonly later: ReadonlySet<string> } | null;
  readonly isFuture: boolean;
  /** It has been done. */
  readonly isDone: boolean;
  readonly isPassive: boolean;
  /** What it tells may happen at several times: a visit, not a birth. */
  readonly isRepeatable: boolean;
}

const HEDGES =
  /^(?:may|might|could|would|should|perhaps|maybe|possibly|probably|plans?|planned|planning|wants?|wanted|hopes?|hoped|intends?|intended|expect|expects|expected|supposed|says?|said|claims?|claimed|believes?|believed|thinks?|thought|alleged|allegedly|reportedly|if|unless|almost|rumou?rs?|according|proposed?|discuss|discussed|considers?|considered|asks?|asked|tries|tried|wish|wished|mention|mentions|mentioned|comment)$/;
/** "If it rains, …", "according to the owner, …": the clause behind is meant as well. */
const HEDGED_FROM_THE_START = /^(?:if|unless|according)$/;
const RESTRICTIONS = /^(?:only|all|every|everyone|everybody|always|both|still|each)$/;
const NO_CONTENT =
  /^(?:since|until|till|already|yet|still|even|also|anymore|exactly|entire|entirely|everyone|everybody|someone|somebody|anyone|anybody|several|there|any|around|near|along|per|via|upon|within|take|takes|took|place|able|go|goes|going|nobody|nothing|none|noone|less|fewer|least|s)$/;
const REPEATABLE =
  /^(?:visited|travel?led|went|played|won|met|saw|ate|bought|wrote|worked|lived|stayed|swam|sang|called|ran|sold)$/;

/** Phrases, and the words that say the same. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bno one\b/gi, "nobody"],
  [/\bnot (?:true|correct|the case) that\b/gi, "not that"],
  [/\bout of (?:order|service)\b/gi, "broken"],
  [/\bsold out\b/gi, "unavailable"],
  [/(?:'|’)s name (is|was)\b/gi, " $1 called"],
];
const SHADE = /^(?:dark|light|bright|pale|deep)$/;

export function readSentence(given: string): Sentence {
  const text = PHRASES.reduce((plainer, [phrase, words]) => plainer.replaceAll(phrase, words), given);
  const words = wordsOf(text);
  const quantities = quantitiesOf(words);
  const inQuantity = new Set(
    quantities.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)),
  );
  const denials = denialsOf(words);
  const denied = new Set(denials);
  const isHedge = (at: number) => HEDGES.test(words[at]!.word) && !isNoun(words, at);
  const items = words.flatMap(({ word, isContent }, at) =>
    (isContent || isParticle(words, at)) &&
    !inQuantity.has(at) &&
    !NO_CONTENT.test(word) &&
    !isHedge(at) &&
    !(SHADE.test(word) && isColour(words[at + 1]?.word ?? "")) &&
    !isPlainDenial(word, denied.has(at))
      ? [at]
      : [],
  );
  const texts = words.map(({ word }) => word);
  const isFuture = texts.includes("will") || texts.includes("shall");
  const isPassive = words.some(
    ({ word }, at) => /^(?:is|are|was|were|been|be|being)$/.test(word) && isParticiple(words[at + 1]),
  );
  return {
    words,
    items,
    clauses: clausesOf(text, words),
    denials,
    quantities,
    hedges: isFalseTale(texts)
      ? []
      : words.flatMap((_, at) =>
          (isHedge(at) && !inQuantity.has(at)) || HEDGED_FROM_THE_START.test(texts[0] ?? "") ? [at] : [],
        ),
    restrictions: texts.filter((word, at) => RESTRICTIONS.test(word) && !inQuantity.has(at)),
    order: eventsOf(text, words, quantities),
    isFuture,
    isDone: !isFuture && (texts.includes("already") || /\b(?:has|have) been\b/.test(texts.join(" "))),
    isPassive,
    isRepeatable:
      !isPassive &&
      (texts.some((word) => REPEATABLE.test(word)) || /\b(?:was|were) (?:in|at|with)\b/.test(texts.join(" "))),
  };
}

/** "The plan is good", not "the plan to build", "the claim that". */
const isNoun = (words: readonly Word[], at: number) =>
  /^(?:plan|claim|wish|comment|thought|hope)s?$/.test(words[at]!.word) &&
  /^(?:the|a|this|that|these|those|its|his|her|their|our)$/.test(words[at - 1]?.word ?? "") &&
  !/^(?:to|that|of)$/.test(words[at + 1]?.word ?? "");
/** "The light is on." */
const isParticle = (words: readonly Word[], at: number) =>
  at === words.length - 1 && /^(?:on|off|in|out|up|down|above|below)$/.test(words[at]!.word);
/** "The rumour that … is false" denies; it does not leave open. */
const isFalseTale = (texts: readonly string[]) =>
  texts.includes("that") && (texts.includes("false") || texts.includes("untrue"));
const isParticiple = (word: Word | undefined): boolean =>
  word !== undefined && /(?:ed|en|wn|lt|nt|ld|ut|ght|born|ung|made|held)$/.test(word.word);

/** Words that only deny are no content; "refused" is both. */
const isPlainDenial = (word: string, isDenial: boolean) =>
  DENYING_WORDS.has(word) || (isDenial && !/^(?:refus|declin|den[iy]|fail)/.test(word));

function denialsOf(words: readonly Word[]): number[] {
  return words.flatMap(({ word }, at) => {
    if (DENYING_WORDS.has(word)) return [at];
    const next = words[at + 1]?.word ?? "";
    if (next === "to" && DENIED_BEFORE_TO.test(word)) return [at];
    if (next === "that" && DENIED_BEFORE_THAT.test(word)) return [at];
    if (/^(?:false|untrue)$/.test(word) && words.some((one) => one.word === "that")) return [at];
    return /^(?:lacks?|lacked)$/.test(word) ? [at] : [];
  });
}

function clausesOf(text: string, words: readonly Word[]): number[] {
  const clauses: number[] = [];
  let at = 0;
  let clause = 0;
  // Pieces have the words of the whole, in order.
  for (const piece of text.split(/(?=[,;:–—]\s)|(?=\b(?:but|while|whereas|although|though|because|and|or|so)\b)/iu)) {
    for (const _ of wordsOf(piece)) {
      if (at < words.length) clauses.push(clause);
      at++;
    }
    clause++;
  }
  while (clauses.length < words.length) clauses.push(Math.max(0, clause - 1));
  return clauses;
}

/** Of "A before B", "after A, B" and the like. */
function eventsOf(text: string, words: readonly Word[], quantities: readonly Quantity[]): Sentence["order"] {
  const at = words.findIndex(
    ({ word }, i) => (word === "before" || word === "after") && !quantities.some(({ start }) => start === i + 1),
  );
  if (at < 0) return null;
  const stemsIn = (part: string) => new Set(wordsOf(part).flatMap(({ isContent, stem }) => (isContent ? [stem] : [])));
  const initial = /^\s*(before|after)\s+([^,]+),\s*(.+)$/iu.exec(text);
  const inner = /^(.+?)\s+(before|after)\s+(.+)$/iu.exec(text);
  if (initial === null && inner === null) return null;
  const [word, event, other] =
    initial !== null ? [initial[1]!, initial[2]!, initial[3]!] : [inner![2]!, inner![3]!, inner![1]!];
  const [stems, others] = [stemsIn(event), stemsIn(other)];
  return word.toLowerCase() === "before" ? { earlier: others, later: stems } : { earlier: stems, later: others };
}

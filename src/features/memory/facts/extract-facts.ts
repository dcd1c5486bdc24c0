/**
 * Facts that the user of a conversation tells of himself or herself, found by rules: short sentences of the third
 * person. Questions, hypotheticals, and what others are quoted saying are no facts. For English. Called by
 * extract-memories.ts; pure.
 *
 *   message ──▶ sentences ──▶ clauses of the first person ──▶ first-person.ts ──▶ facts
 */
import { factsOfClause } from "./first-person.js";

export interface Fact {
  readonly content: string;
  /** The place of its message. */
  readonly message: number;
  readonly evidence: string;
}

/** What is longer says more than one short fact, or is no prose. */
const SENTENCE_CHARACTERS_MAX = 400;

const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
/** No opening mark within, so that many of them take no longer. */
const QUOTED = /"[^"\n]*"|“[^“”\n]*”|«[^«»\n]*»|(?<![\p{L}\p{N}])'[^'\n]{4,}'(?![\p{L}\p{N}])/gu;
/** Lines that were written by others. */
const CITED_LINE = /^[ \t]*>.*$/gm;
const SENTENCE = /[^.!?\n]+(?:\.(?=[\p{L}\p{N}])[^.!?\n]+)*[.!?]*/gu;
const HYPOTHETICAL =
  /\b(?:if|suppose|supposing|imagine|assume|assuming|pretend|hypothetically|would|could|might|wish|maybe|perhaps|possibly|unless|let's say|what about|in case|as though|used as an example)\b|\b(?:I|we|he|she|they)'d\b/i;
const SAYS =
  "(?:says?|said|told|tells|thinks?|thought|claims?|claimed|asked|asks|wrote|writes|believes?|keeps saying|mentioned)";
const REPORTED = new RegExp(`^(?!I\\b)(?:.{1,60}?) ${SAYS}\\b`, "i");
const OPENER =
  /^(?:(?:hi|hello|hey|yes|yeah|yep|no|ok|okay|well|so|and|but|oh|right|sure|thanks|thank you|great|good morning|good evening|big news|good news|bad news|great news|news|by the way|btw|fyi|actually|also|unfortunately|sadly|luckily|sorry|no wait|wait|correction|in fact|honestly|to be honest|bonjour|remember that|remember|please remember that|please note that|note that|just so you know|you should know that|I think|I guess|I mean|I meant|I should mention that|it is true that|currently|now|these days|this year|since last week)(?:(?: there)?[,:!]+ *| +))+/i;
const CLAUSE_START = "(?:I|I'm|I am|my|we|our|please)";
/** Where a clause of the first person begins within a sentence. */
const CLAUSE_BREAK = new RegExp(
  `(?:[,;:]| -| –)?(?: (?:and|but|so|because|since|although|though|while|then|or))+ (?=${CLAUSE_START}\\b)|[,;:–] (?=${CLAUSE_START}\\b)`,
  "giu",
);
const LIST = /^[^,]{1,40}(?:, [^,]{1,40})*,? (?:and|or) [^,]{1,60}$/u;
const PRONOUN =
  /\b(?:I|he|she|it|we|they|you|who|which|there|funny|no|too|so|by|the way|sorry|of course|please|thanks|though|contrary)\b/i;
const LATELY =
  / (?:now|nowadays|these days|at the moment|currently|again now|already|by the way|though|too|of course|I think|as well|either)$/i;

/** Of one message of the user: those of each sentence, one after the other, so that others get their turn. */
export function* factsOfMessage(text: string, message: number): Generator<readonly Fact[]> {
  const known = new Set<string>();
  const own = text.replaceAll(CODE, " ").replaceAll(CITED_LINE, " ").replaceAll(QUOTED, " … ");
  for (const [sentence] of own.matchAll(SENTENCE)) {
    if (sentence.length > SENTENCE_CHARACTERS_MAX) continue;
    const evidence = sentence.trim();
    const contents = factsOfSentence(evidence).filter((content) => !known.has(content));
    for (const content of contents) known.add(content);
    yield contents.map((content) => ({ content, message, evidence }));
  }
}

function factsOfSentence(sentence: string): string[] {
  if (sentence.includes("?") || sentence.includes("…") || HYPOTHETICAL.test(sentence)) return [];
  const plain = sentence
    .replace(/[.!]+$/, "")
    .replaceAll("’", "'")
    .replaceAll(/\b(I|you|we|they)'ve\b/gi, "$1 have")
    .replaceAll(/\b[Ii]'m\b/g, "I am")
    .replaceAll(/\b(we)'re\b/gi, "$1 are")
    .replaceAll(/\b(I|we|you)'ll\b/gi, "$1 will")
    .replaceAll(/\b(she|he|it|that)'s\b/gi, "$1 is")
    .replaceAll(/\bcan't\b/gi, "can not")
    .replaceAll(/n't\b/gi, " not")
    .replaceAll(/\s+/g, " ")
    .trim();
  const facts: string[] = [];
  for (const clause of plain.split(CLAUSE_BREAK)) {
    const stripped = clause.replace(OPENER, "").trim();
    if (REPORTED.test(stripped)) break;
    facts.push(...factsOfClause(tidied(stripped)));
  }
  return facts;
}

/** Without what follows a comma, unless it is a list or names what is spoken of; my and our in lower case. */
function tidied(clause: string): string {
  const named = /^(?:I|we) (?:also )?have an? [\p{L} ]+, (?:she|he|it) is (?:called|named) \p{Lu}[\p{L}'-]+/u.exec(
    clause,
  );
  let text = named?.[0] ?? clause;
  const comma = text.indexOf(", ");
  if (named === null && comma > 0) {
    const verb = /^(?:I|we|my|our) .*?[\p{L}'-]+ /u.exec(text)?.[0] ?? "";
    const list = text.slice(verb.length);
    const rest = text.slice(comma + 2);
    if (!LIST.test(list) || PRONOUN.test(rest)) {
      text =
        /^\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)*$/u.test(rest) && !PRONOUN.test(rest) ? text : text.slice(0, comma);
    }
  }
  text = text.replace(
    /^(My|Our|We|You|Please|Call|Everyone|It|This|From|Always|Answer|Reply|Keep|Use|Write)\b/,
    (word) => word.toLowerCase(),
  );
  text = text.replace(/ (?:when|while|whenever|because|although|since|until|as|so that) (?:I|we|my|our|it)\b.*$/, "");
  text = text.replace(/^((?:my|our) [^.]{1,60}? (?:is|are)) (?:still|now|currently|actually) /, "$1 ");
  text = text.replace(/^(?<s>I|we) (?:now|currently|still|just|actually) (?!turned|moved|adopted|bought)/u, "$<s> ");
  while (LATELY.test(text)) text = text.replace(LATELY, "");
  return text.trim();
}

/**
 * The words of a sentence in groups that relations.ts reads: names, phrases of common nouns, groups of verbs, and the
 * small words between them.
 */
import type { TaggedSentence, TaggedTerm } from "./tagged-text.js";

export type Chunk = NounChunk | VerbChunk | WordChunk;

interface Span {
  /** UTF-16 offsets in the whole text. */
  readonly start: number;
  readonly end: number;
}

export type EntityType = "Person" | "Organization" | "Place" | "Date" | "Concept" | "Entity";

/** A name, a date or a phrase of common nouns (a concept). */
export interface NounChunk extends Span {
  readonly kind: "noun";
  /** Entity: a name whose kind cannot be told. */
  readonly type: EntityType;
  readonly name: string;
  readonly confidence: number;
  /** Its last word names a role that a person has: "director". */
  readonly role: boolean;
  /** "Google's". */
  readonly possessive: boolean;
  /** Of a concept: the name that it begins with ("Manchester computers"), if that names something. */
  readonly within: NounChunk | null;
}

export interface VerbChunk extends Span {
  readonly kind: "verb";
  /** The last verb's base form, with its particle: "acquire", "give up". */
  readonly root: string;
  /** The last verb as it is written: "based". */
  readonly written: string;
  readonly passive: boolean;
  readonly negated: boolean;
  /** Only "is", "was", "became" and the like. */
  readonly copula: boolean;
}

export interface WordChunk extends Span {
  readonly kind: "pronoun" | "relative" | "preposition" | "and" | "comma" | "article" | "stop";
  /** In lower case. */
  readonly word: string;
}

const ORGANIZATION_WORDS = new Set(
  (
    "inc corp corporation company co ltd llc gmbh plc group university college institute school bank foundation " +
    "association agency ministry department committee council party union press times museum hospital laboratories labs"
  ).split(" "),
);
const PERSON_TITLES = new Set("mr mrs ms dr prof professor sir lord lady president king queen pope".split(" "));
const CLAUSE_WORDS = new Set(["where", "when", "while", "because", "although", "whereas"]);
const RELATIVES = new Set(["who", "which", "that", "whom"]);

/** In the order of the text; words that say nothing for relations are left out. */
export function chunksOf(sentence: TaggedSentence, text: string): Chunk[] {
  const chunks: Chunk[] = [];
  for (let i = 0; i < sentence.length; ) {
    const count = nameLength(sentence, i) || dateLength(sentence, i);
    if (count > 0) {
      chunks.push(nameChunk(sentence.slice(i, i + count), text));
      i += count;
    } else {
      i += pushOther(chunks, sentence, i, text);
    }
    const last = sentence[i - 1] as TaggedTerm;
    // Marks end what they stand after; an abbreviation's point and a hyphen do not.
    const mark = /[,;:()—–!?]/.exec(last.text.slice(-1) + last.after)?.[0];
    if (mark !== undefined) chunks.push(word(last, mark === "," || mark === "(" || mark === ")" ? "comma" : "stop"));
  }
  return withoutModifiers(chunks, text);
}

/**
 * A name right before a common noun makes one concept with it ("Manchester computers", but no person: "gave Bob
 * money"), and a common noun right before a name says little ("southern England"), unless it is a role ("physicist
 * Marie Curie").
 */
function withoutModifiers(chunks: readonly Chunk[], text: string): Chunk[] {
  const kept: Chunk[] = [];
  for (const chunk of chunks) {
    const before = kept.at(-1);
    const touch = before?.kind === "noun" && chunk.kind === "noun" && !before.possessive && isGap(text, before, chunk);
    if (!touch) {
      kept.push(chunk);
    } else if (chunk.type === "Concept" && /^(Organization|Place|Entity)$/.test(before.type)) {
      const within = NATIONALITY.test(before.name) ? null : before;
      kept.splice(-1, 1, { ...chunk, name: `${before.name} ${chunk.name}`, start: before.start, within });
    } else if (before.type === "Concept" && chunk.type !== "Concept" && chunk.type !== "Date" && !before.role) {
      kept.splice(-1, 1, chunk);
    } else {
      kept.push(chunk);
    }
  }
  return kept;
}

const isGap = (text: string, before: Chunk, after: Chunk) => /^\s+$/.test(text.slice(before.end, after.start));

const NATIONALITY = /^(\p{Lu}\p{Ll}+(ish|ese|ian|ean|can)|French|German|Dutch|Greek|Swiss|Czech|Danish|Turkish|Thai)$/u;

const word = (term: TaggedTerm, kind: WordChunk["kind"]): WordChunk => ({
  kind,
  word: term.text.toLowerCase(),
  start: term.start,
  end: term.end,
});

/** Pushes the chunk that begins with a term that is no name, if it means anything; answers how many terms it has. */
function pushOther(chunks: Chunk[], sentence: TaggedSentence, i: number, text: string): number {
  const term = sentence[i] as TaggedTerm;
  const lower = term.text.toLowerCase();
  const verbs = verbLength(sentence, i);
  if (verbs > 0) {
    chunks.push(verbChunk(sentence.slice(i, i + verbs)));
    return verbs;
  }
  const nouns = conceptLength(sentence, i);
  if (nouns > 0) {
    chunks.push(conceptChunk(sentence.slice(i, i + nouns), text));
    return nouns;
  }
  if (term.tags.has("Pronoun")) chunks.push(word(term, "pronoun"));
  else if (RELATIVES.has(lower)) chunks.push(word(term, "relative"));
  else if (CLAUSE_WORDS.has(lower)) chunks.push(word(term, "stop"));
  else if (term.tags.has("Determiner")) chunks.push(word(term, "article"));
  else if (term.tags.has("Preposition") || lower === "to") chunks.push(word(term, "preposition"));
  else if (lower === "and" || lower === "or" || lower === "&") chunks.push(word(term, "and"));
  else if (term.tags.has("Conjunction")) chunks.push(word(term, "stop"));
  return 1;
}

/** Whether the term is a part of a name: capitals say so, except of a word at the sentence's start that is known. */
function isName({ text, tags, known }: TaggedTerm, first: boolean): boolean {
  if (!/\p{Lu}/u.test(text) || tags.has("Date") || tags.has("Pronoun") || tags.has("Verb")) return false;
  if (tags.has("ProperNoun") || tags.has("Person") || tags.has("Place") || tags.has("Organization")) return true;
  if (!tags.has("Noun") && !tags.has("Adjective")) return false;
  return !first || !known || /\p{Lu}/u.test(text.slice(1));
}

/** Terms of the name that begins at `i`; 0: none does. */
function nameLength(sentence: TaggedSentence, i: number): number {
  const term = (at: number) => sentence[at] as TaggedTerm;
  if (i >= sentence.length || !isName(term(i), i === 0) || isRole(term(i))) return 0;
  let end = i + 1;
  while (end < sentence.length && joins(term(end - 1), term(end))) {
    if (isName(term(end), false) || isNumberOfName(term(end))) {
      end++;
    } else if (isOf(sentence, end)) {
      end += term(end + 1).text === "the" ? 3 : 2;
    } else {
      break;
    }
  }
  return end - i;
}

/** "GPT-4", "Hut 8"; years are dates. */
const isNumberOfName = (term: TaggedTerm) =>
  term.tags.has("NumericValue") && /^\d{1,4}$/.test(term.text) && !isDate(term);

/** "CEO", before a name too. */
const isRole = ({ tags }: TaggedTerm) => tags.has("Actor") && !tags.has("ProperNoun");

/** "University | of Oxford", "Bank | of the West", but no "John, director | of Louvre". */
function isOf(sentence: TaggedSentence, at: number): boolean {
  const [before, of] = [sentence[at - 1] as TaggedTerm, sentence[at] as TaggedTerm];
  const next = sentence[at + 1]?.text === "the" ? at + 2 : at + 1;
  if (!/^(of|de|van|von|der|la)$/.test(of.text) || next >= sentence.length) return false;
  const role = before.tags.has("Actor") || (of.text === "of" && before.tags.has("Person"));
  return !role && isName(sentence[next] as TaggedTerm, false);
}

/** Whether a name may go on after the term. */
function joins({ text, after, tags }: TaggedTerm, next: TaggedTerm): boolean {
  if (next.before !== "") return false;
  // "King's College"; "Tesla, Inc."
  if (tags.has("Possessive")) return /^(College|School|Hospital|University)$/.test(next.text);
  if (after === ", " && /^(Inc|Ltd|LLC|Corp|Jr|Sr)$/.test(next.text)) return true;
  return (
    /^(\s*|-|\s*&\s*)$/.test(after) || (after.startsWith(".") && (tags.has("Abbreviation") || /^\p{Lu}$/u.test(text)))
  );
}

function dateLength(sentence: TaggedSentence, i: number): number {
  let end = i;
  while (end < sentence.length && isDate(sentence[end] as TaggedTerm)) end++;
  return end - i;
}

const isDate = ({ text, tags }: TaggedTerm) =>
  (tags.has("Date") && /\d|^\p{Lu}/u.test(text)) || (tags.has("NumericValue") && /^(1\d|20)\d\d$/.test(text));

function typeOf(terms: TaggedSentence): { type: EntityType; confidence: number } {
  if (terms.every(isDate)) return { type: "Date", confidence: 0.9 };
  const last = terms.at(-1) as TaggedTerm;
  const plain = (term: TaggedTerm) => term.text.toLowerCase().replace(/['’]s$|\.$/g, "");
  if (terms.some((term) => ORGANIZATION_WORDS.has(plain(term)))) return { type: "Organization", confidence: 0.9 };
  if (PERSON_TITLES.has(plain(terms[0] as TaggedTerm))) return { type: "Person", confidence: 0.9 };
  const count = (tag: string) => terms.filter((term) => term.tags.has(tag)).length;
  const kinds: EntityType[] = ["Person", "Organization", "Place"];
  const best = kinds.sort((a, b) => count(b) - count(a) || Number(last.tags.has(b)) - Number(last.tags.has(a)))[0];
  const found = count(best as string);
  if (found === 0) return { type: "Entity", confidence: 0.6 };
  return { type: best as EntityType, confidence: found === terms.length ? 0.9 : 0.75 };
}

const withoutEnding = (name: string) => name.replace(/['’]s?$|[)\]"”'’.,;:!?]+$/gu, "").replace(/['’]s$/u, "");

function nameChunk(terms: TaggedSentence, text: string): NounChunk {
  const [first, last] = [terms[0] as TaggedTerm, terms.at(-1) as TaggedTerm];
  const written = text.slice(first.start, last.end);
  // The point of "Corp." or "U.S." belongs to the name.
  const pointed = last.tags.has("Abbreviation") && last.after.startsWith(".");
  const name = pointed
    ? `${written}.`
    : last.tags.has("Acronym")
      ? written.replace(/['’]s$/u, "")
      : withoutEnding(written);
  const possessive = last.tags.has("Possessive");
  return {
    kind: "noun",
    ...typeOf(terms),
    name: name.replace(/\s+/g, " "),
    start: first.start,
    end: first.start + name.length,
    role: false,
    possessive,
    within: null,
  };
}

const isNoun = ({ text, tags }: TaggedTerm) =>
  /[\p{L}\p{N}]/u.test(text) && tags.has("Noun") && !tags.has("Pronoun") && !tags.has("Date");
const isBefore = (term: TaggedTerm) => term.tags.has("Adjective") || term.tags.has("Ordinal") || isNoun(term);

/** Adjectives and common nouns, up to a noun. */
function conceptLength(sentence: TaggedSentence, i: number): number {
  let end = i;
  let length = 0;
  while (end < sentence.length && isBefore(sentence[end] as TaggedTerm)) {
    const term = sentence[end] as TaggedTerm;
    if (end > i && (term.before !== "" || nameLength(sentence, end) > 0)) break;
    end++;
    if (isNoun(term)) length = end - i;
    if (/[^\s-]/.test(term.after) || term.tags.has("Possessive")) break;
  }
  return length;
}

function conceptChunk(terms: TaggedSentence, text: string): NounChunk {
  const [first, last] = [terms[0] as TaggedTerm, terms.at(-1) as TaggedTerm];
  const name = withoutEnding(text.slice(first.start, last.end));
  return {
    kind: "noun",
    type: "Concept",
    name: name.replace(/\s+/g, " ").replace(/^\p{Lu}(?=\p{Ll})/u, (letter) => letter.toLowerCase()),
    start: first.start,
    end: first.start + name.length,
    confidence: 0.5,
    role: last.tags.has("Actor"),
    possessive: last.tags.has("Possessive"),
    within: null,
  };
}

const isVerb = ({ text, tags }: TaggedTerm) =>
  /\p{L}/u.test(text) && (tags.has("Verb") || tags.has("Modal") || tags.has("Auxiliary"));
const isWithVerbs = ({ tags }: TaggedTerm) => tags.has("Adverb") || tags.has("Negative");

/** Verbs with the adverbs and negations between them; "to" joins two ("wants to buy"). */
function verbLength(sentence: TaggedSentence, i: number): number {
  if (!isVerb(sentence[i] as TaggedTerm)) return 0;
  let end = i + 1;
  let length = 1;
  while (end < sentence.length && !/[,;:]/.test((sentence[end - 1] as TaggedTerm).after)) {
    const term = sentence[end] as TaggedTerm;
    const infinitive = term.text === "to" && sentence[end + 1]?.tags.has("Infinitive") === true;
    if (!isVerb(term) && !isWithVerbs(term) && !infinitive) break;
    end++;
    if (isVerb(term) || term.tags.has("Negative")) length = end - i;
  }
  return length;
}

function verbChunk(terms: TaggedSentence): VerbChunk {
  const verbs = terms.filter((term) => isVerb(term) && !term.tags.has("Particle"));
  const main = verbs.at(-1) ?? (terms[0] as TaggedTerm);
  const particle = terms.find((term) => term.tags.has("Particle"));
  const withParticle = (word: string) => (particle === undefined ? word : `${word} ${particle.text.toLowerCase()}`);
  const copula = verbs.every((term) => term.tags.has("Copula") || term.tags.has("Auxiliary"));
  const afterBe = verbs.slice(0, -1).some((term) => term.tags.has("Copula"));
  return {
    kind: "verb",
    root: withParticle(main.root),
    written: withParticle(main.text.toLowerCase()),
    // "was born" is tagged as no passive, but works as one.
    passive: main.tags.has("Passive") || (afterBe && main.root === "born"),
    negated: terms.some((term) => term.tags.has("Negative")),
    copula: copula && verbs.some((term) => term.tags.has("Copula")),
    start: (terms[0] as TaggedTerm).start,
    end: (terms.at(-1) as TaggedTerm).end,
  };
}

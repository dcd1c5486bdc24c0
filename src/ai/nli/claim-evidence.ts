/**
 * Holds a claim against one sentence of evidence, word by word: what of the claim the sentence says, and what stands
 * against it (a denial, an opposite, another quantity or date of the same thing, a reversed order of events). For
 * English. Called by weigh-scores.ts; pure.
 */

import { readSentence, type Sentence } from "./claim-sentences.js";
import type { Word } from "./claim-words.js";
import { isOppositeSide, isSameSide } from "./opposites.js";
import { compareQuantity } from "./quantities.js";
import type { Quantity } from "./quantity.js";
import type { WordMeanings } from "./word-meanings.js";

export interface Evidence {
  /** 0 to 1: how much of the claim the sentence is about, by weight; words that are alike count in part. */
  readonly relatedness: number;
  /** The share that is said in the same words, in their opposites or in words for the same. */
  readonly said: number;
  /** Something stands against the claim, and the rest of it is said. */
  readonly contradicts: boolean;
  /** All of the claim is said, and nothing stands against it. */
  readonly entails: boolean;
  /**
   * The sentence says it of a wish, a plan or a possibility, of another quantity, or in other roles: it entails
   * nothing.
   */
  readonly isOpen: boolean;
  /** What the sentence says is only possible or told, or denied twice: nothing certain stands against the claim. */
  readonly isUncertain: boolean;
  /** The claim has a quantity or a date; a count of things that the sentence counts in no way is none. */
  readonly isMeasured: boolean;
  /** The claim counts things that the sentence does not: "two people" beside "a man and a woman". */
  readonly isUncounted: boolean;
}

/** Less of the claim than that is too little to contradict it. */
const REST_MIN = 0.7;
/** From there on two words are about the same. */
const ALIKE_MIN = 0.45;
const NEAR_MIN = 0.62;

type Match = "same" | "opposite" | "near" | "alike" | "none";

interface Pairing {
  readonly word: Word;
  readonly match: Match;
  readonly likeness: number;
  readonly weight: number;
  /** The words of the evidence. */
  readonly places: readonly number[];
}

export function evidenceOf(premise: string, hypothesis: string, meanings: WordMeanings): Evidence {
  const [said, claimed] = [readSentence(premise), readSentence(hypothesis)];
  const pairings = claimed.items.map((at) => pairingOf(claimed.words[at]!, said, meanings));
  const total = pairings.reduce((sum, { weight }) => sum + weight, 0) || 1;
  const share = (part: (pairing: Pairing) => number) =>
    pairings.reduce((sum, pairing) => sum + pairing.weight * part(pairing), 0) / total;
  const held = quantitiesAgainst(said, claimed, pairings);
  const isCounted = held.some(({ relation }) => relation !== null);
  const read = held.filter((one) => !isUnread(one));
  const isUncounted = read.length < held.length;
  const relatedness = pairings.length === 0 ? Number(isCounted) : share(({ likeness }) => likeness);
  const renamed = namesInstead(said, claimed, pairings);
  const instances = new Set(instancesOf(said, claimed, pairings));
  const isExcused = (pairing: Pairing) => renamed.has(pairing) || instances.has(pairing);
  const rest = share((pairing) =>
    (pairing.match === "alike" || pairing.match === "none") && !isExcused(pairing) ? 0 : 1,
  );
  const isExact =
    share((pairing) => (/^(?:same|opposite)$/.test(pairing.match) || instances.has(pairing) ? 1 : 0)) > 0.999;
  const isOther = pairings.some(
    (pairing) => tellsApart(pairing.word) && !/^(?:same|opposite)$/.test(pairing.match) && !isExcused(pairing),
  );
  const isTurnedRound = isComparison(said) && isComparison(claimed) && isTurned(pairings);
  const points = pointsAgainst(said, claimed, pairings, held) + Number(isTurnedRound) + Number(renamed.size > 0);
  const isUncertain = inScope(said, said.hedges, pairings) && claimed.hedges.length === 0;
  // Without anything in common, or with two things that differ, it is about something else.
  // What is denied, or said of all, of a narrower thing says nothing about the wider one.
  const isTooNarrow = isDenied(said, pairings) && isNarrower(said, pairings, said.denials);
  const ofAnother = isOfAnother(said, pairings);
  const isScattered = isFromElsewhere(said, claimed, pairings);
  const contradicts =
    points === 1 &&
    !isTooNarrow &&
    !ofAnother &&
    !isOther &&
    !isUncertain &&
    !isScattered &&
    rest >= REST_MIN &&
    pairings.some(({ match }) => match === "same");
  const isOpen =
    isUncertain ||
    isOther ||
    // What is denied of one thing says nothing about a similar one.
    (claimed.denials.length > 0 && !isExact) ||
    isTooNarrow ||
    ofAnother ||
    // "A man", "the girl": captions list what somebody wears between what is done.
    (isScattered && isExact && claimed.words[0]?.isContent === true) ||
    isOfMore(said, claimed, pairings) ||
    read.some(({ relation }) => relation !== "within") ||
    isExcepted(said, pairings) ||
    // "Not longer than" does not say "shorter than".
    (isTurnedRound && said.denials.length + claimed.denials.length > 0) ||
    (!isTurnedRound && isExchanged(claimed, pairings, said));
  const isAgainst = points % 2 === 1;
  const isWhole = !isInterrupted(said, pairings);
  const entails =
    !isAgainst &&
    !isOpen &&
    !isScattered &&
    !isUncounted &&
    isExact &&
    isWhole &&
    (pairings.length > 0 || held.length > 0);
  return {
    ...{ relatedness, said: rest, contradicts, entails, isOpen },
    ...{ isUncertain: isUncertain || isDeniedTwice(said, pairings), isMeasured: read.length > 0, isUncounted },
  };
}

/** Whether the claim is of all, of many or of nothing else, which the sentence does not say. */
function isOfMore(said: Sentence, claimed: Sentence, pairings: readonly Pairing[]): boolean {
  return (
    (claimed.restrictions.some((word) => /^(?:all|every|everyone|everybody|each|always)$/.test(word)) &&
      isNarrowerBefore(said, pairings)) ||
    claimed.restrictions.some((word) => !said.restrictions.includes(word)) ||
    (has(claimed, /^many$/) && !has(said, /^(?:many|most|all|every|each)$/))
  );
}

const NAMING = /^(?:called|named|titled|entitled)$/;

/** The pairings of the name that the claim gives to what the sentence gives another one. */
function namesInstead(said: Sentence, claimed: Sentence, pairings: readonly Pairing[]): ReadonlySet<Pairing> {
  const naming = ({ words }: Sentence) => words.findIndex(({ word }) => NAMING.test(word));
  const [at, own] = [naming(said), naming(claimed)];
  const given = pairings.filter((_, i) => claimed.items[i]! > own && claimed.words[claimed.items[i]!]!.isName);
  const isGiven = at >= 0 && own >= 0 && said.words[at + 1]?.isName === true && claimed.words[own + 1]?.isName === true;
  return new Set(isGiven && given.every(({ match }) => match !== "same") ? given : []);
}

/**
 * Whether clauses of the sentence say parts of one clause of the claim of something else: "Eva repaired the fence"
 * beside "Martin repaired the fence while Eva painted the gate".
 */
function isFromElsewhere(said: Sentence, claimed: Sentence, pairings: readonly Pairing[]): boolean {
  const told = pairings.map((pairing, i) => ({ ...pairing, at: claimed.items[i]! }));
  const found = told.filter(({ match, places }) => match !== "alike" && places.length > 0);
  const paired = new Set(found.flatMap(({ places }) => places));
  const clauseOf = (at: number) => said.clauses[at];
  const isApart = (from: number, to: number) => {
    if (clauseOf(from) === clauseOf(to)) return false;
    const first = said.clauses.indexOf(clauseOf(to)!);
    // "Lyon, a city in France": that is the same thing.
    if (to > from && ARTICLE.test(said.words[first]!.word)) return false;
    const before = said.items.findLast((at) => at < first);
    if (to > from && before !== from && /^(?:who|whom|whose|which)$/.test(said.words[first]!.word)) return true;
    return to < from || said.items.some((at) => clauseOf(at) === clauseOf(to) && at < to && !paired.has(at));
  };
  return found.some(({ places, at }, i) => {
    const next = found[i + 1];
    if (next === undefined || next.at === undefined || claimed.clauses[next.at] !== claimed.clauses[at]) return false;
    if (claimed.words.slice(at, next.at).some(({ word }) => SUBORDINATES.test(word))) return false;
    return places.every((from) => next.places.every((to) => isApart(from, to)));
  });
}

const SUBORDINATES = /^(?:when|after|before|since|as|until|till|if|where|that)$/;

const UNIVERSAL = /^(?:all|every|each)$/;

/** The pairings of numbers and names of one of those of which the sentence says it: "every room", "room 12". */
function instancesOf(said: Sentence, claimed: Sentence, pairings: readonly Pairing[]): Pairing[] {
  return pairings.filter((pairing, i) => {
    const kind = pairings[i - 1];
    if (kind === undefined || pairing.match !== "none" || !tellsApart(pairing.word)) return false;
    const isBehind = claimed.items[i - 1] === claimed.items[i]! - 1;
    return (
      isBehind && kind.match === "same" && kind.places.some((at) => UNIVERSAL.test(said.words[at - 1]?.word ?? ""))
    );
  });
}

/** "Few members voted" beside "most members voted". */
function isOtherShare(one: Sentence, other: Sentence): boolean {
  const isFew = ({ words }: Sentence) => words.some(({ word }, at) => word === "few" && words[at - 1]?.word !== "a");
  const many = /^(?:all|every|each|most|many)$/;
  return (isFew(one) && has(other, many)) || (isFew(other) && has(one, many));
}

const has = ({ words }: Sentence, wanted: RegExp) => words.some(({ word }) => wanted.test(word));

/** How many things stand against the claim: a denial, each opposite, another quantity, another order. */
function pointsAgainst(said: Sentence, claimed: Sentence, pairings: readonly Pairing[], held: readonly Held[]): number {
  const opposites = pairings.filter(({ match }) => match === "opposite").length;
  const denied = isDenied(said, pairings) === claimed.denials.length > 0 ? 0 : 1;
  // What has ended stays so: who died in 1820 was not alive in 1830.
  const isLater = opposites === 1 && held.every(({ relation }) => relation !== "apart" && relation !== "earlier");
  const apart = held.some(
    ({ relation }) => relation === "apart" || (relation === "later" && !isLater) || relation === "earlier",
  )
    ? 1
    : 0;
  const reversed = orderOf(said, claimed) === "reversed" ? 1 : 0;
  const otherShare = isOtherShare(said, claimed) ? 1 : 0;
  return opposites + denied + apart + reversed + otherShare + (said.isFuture && claimed.isDone ? 1 : 0);
}

/** Names, ordinals and numbers that name something: with another one it is another thing. */
const tellsApart = ({ word, isName, isNumber }: Word): boolean => isName || isNumber || ORDINAL.test(word);
const ORDINAL = /^(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|other|another)$/;

function pairingOf(word: Word, said: Sentence, meanings: WordMeanings): Pairing {
  const weight = meanings.weightOf(word.word);
  const placesOf = (fits: (other: Word) => boolean) => said.items.filter((at) => fits(said.words[at]!));
  const same = placesOf((other) => isSameWord(word, other));
  if (same.length > 0) return { word, match: "same", likeness: 1, weight, places: same };
  const opposite = placesOf((other) => isOppositeSide(word, other));
  if (opposite.length > 0) return { word, match: "opposite", likeness: 1, weight, places: opposite };
  let [likeness, place] = [0, -1];
  for (const at of said.items) {
    const like = meanings.likeness(word.word, said.words[at]!.word);
    if (like > likeness) [likeness, place] = [like, at];
  }
  const match = likeness >= NEAR_MIN ? "near" : likeness >= ALIKE_MIN ? "alike" : "none";
  return { word, match, likeness: match === "none" ? 0 : likeness, weight, places: match === "none" ? [] : [place] };
}

const isSameWord = (one: Word, other: Word): boolean =>
  one.stem === other.stem || isSameSide(one, other) || (isFamily(one.stem, other.stem) && !one.isName && !other.isName);

const FAMILY_LETTERS = 5;
const isFamily = (one: string, other: string) =>
  Math.min(one.length, other.length) >= FAMILY_LETTERS && (one.startsWith(other) || other.startsWith(one));

function isDenied(said: Sentence, pairings: readonly Pairing[]): boolean {
  const used = new Set(pairings.flatMap(({ match, places }) => (match === "opposite" ? places : [])));
  const denials = said.denials.filter((at) => !used.has(at) && said.words[at]!.word !== "nor");
  return inScope(
    said,
    denials.filter((at) => !areTwo(said, denials, at)),
    pairings,
  );
}

/** "No room is without a window": two in a clause deny nothing. */
const areTwo = ({ clauses }: Sentence, denials: readonly number[], at: number) =>
  denials.filter((other) => clauses[other] === clauses[at]).length === 2;

function isDeniedTwice(said: Sentence, pairings: readonly Pairing[]): boolean {
  return inScope(
    said,
    said.denials.filter((at) => areTwo(said, said.denials, at)),
    pairings,
  );
}

/** "Pets other than dogs are allowed" does not say it of dogs. */
function isExcepted({ words }: Sentence, pairings: readonly Pairing[]): boolean {
  const isException = (at: number) => {
    const before = ARTICLE.test(words[at - 1]?.word ?? "") ? at - 2 : at - 1;
    const word = words[before]?.word ?? "";
    return /^(?:except|excluding|besides)$/.test(word) || (word === "than" && words[before - 1]?.word === "other");
  };
  return pairings.some(({ match, places }) => match === "same" && places.length > 0 && places.every(isException));
}

/**
 * Whether clauses of the evidence that say something of the claim, of these if given, have words of content besides:
 * "fresh bread" beside "bread".
 */
function isNarrower(said: Sentence, pairings: readonly Pairing[], among: readonly number[] | null = null): boolean {
  const paired = new Set(pairings.flatMap(({ places }) => places));
  const clauses = new Set([...paired].map((at) => said.clauses[at]));
  if (among !== null) {
    const own = new Set(among.map((at) => said.clauses[at]));
    for (const clause of clauses) if (!own.has(clause)) clauses.delete(clause);
  }
  return said.items.some((at) => !paired.has(at) && clauses.has(said.clauses[at]));
}

/** Whether a marker stands in a clause that says something of the claim which no clause without a marker says. */
function inScope(said: Sentence, markers: readonly number[], pairings: readonly Pairing[]): boolean {
  const marked = new Set(markers.map((at) => said.clauses[at]));
  return pairings.some(
    ({ match, places }) => match !== "alike" && places.length > 0 && places.every((at) => marked.has(said.clauses[at])),
  );
}

/** "Ann often wins" beside "Ann wins": the model decides whether the words between change anything. */
function isInterrupted(said: Sentence, pairings: readonly Pairing[]): boolean {
  const paired = [...new Set(pairings.flatMap(({ places }) => places))];
  return said.items.some((at) => {
    const beside = paired.filter((other) => said.clauses[other] === said.clauses[at]);
    return !paired.includes(at) && beside.some((other) => other < at) && beside.some((other) => other > at);
  });
}

/**
 * Whether what the claim is about only belongs to what the sentence is about: "Ann's brother won", "the brother of Ann
 * won" and "the man who met Ann won" beside "Ann won".
 */
function isOfAnother(said: Sentence, pairings: readonly Pairing[]): boolean {
  const paired = new Set(pairings.flatMap(({ places }) => places));
  const isUnsaid = (at: number | undefined) => at !== undefined && !paired.has(at);
  const itemBefore = (at: number) => said.items.findLast((item) => item < at);
  const itemBehind = (at: number) => said.items.find((item) => item > at);
  return (pairings[0]?.places ?? []).some((at) => {
    if (said.words[at + 1]?.word === "s" && isUnsaid(itemBehind(at))) return true;
    const before = itemBefore(at);
    if (isUnsaid(before) && isOwner(said.words, at) && !SAME_THING.test(said.words[before!]!.word)) return true;
    return said.words.some(
      (_, place) =>
        place < at &&
        said.clauses[place] === said.clauses[at] &&
        isRelative(said.words, place) &&
        isUnsaid(itemBefore(place)),
    );
  });
}

/** "Of Ann", "of the museum". */
const isOwner = (words: readonly Word[], at: number) =>
  words[at - 1]?.word === "of" || (ARTICLE.test(words[at - 1]?.word ?? "") && words[at - 2]?.word === "of");
/** "The city of Paris" is Paris, "a group of tourists" are tourists. */
const SAME_THING =
  /^(?:city|town|village|island|isle|port|state|kingdom|republic|county|province|month|year|group|pair|couple|crowd|number|majority|team|kind|sort|type)$/;
const ARTICLE = /^(?:a|an|the|this|that|these|those|its|his|her|their|our|my|your)$/;

/** "The firm that bought …", not "shows that the …". */
function isRelative(words: readonly Word[], at: number): boolean {
  const { word } = words[at]!;
  if (word !== "that") return /^(?:who|whom|whose|which)$/.test(word);
  const [before, next] = [words[at - 2]?.word ?? "", words[at + 1]];
  return ARTICLE.test(before) && next?.isContent === true && !next.isName;
}

/** "Every good word counts" beside "every word counts"; what stands behind does not narrow who is meant. */
function isNarrowerBefore(said: Sentence, pairings: readonly Pairing[]): boolean {
  const paired = new Set(pairings.flatMap(({ places }) => places));
  const last = Math.max(-1, ...paired);
  return said.items.some((at) => at < last && !paired.has(at));
}

interface Held {
  readonly claimed: Quantity;
  /**
   * `again`: another time of what may happen more than once. `earlier`, `later`: the claim's date, beside that of the
   * evidence.
   */
  readonly relation: "within" | "apart" | "earlier" | "later" | "open" | "again" | null;
}

const isUnread = ({ claimed, relation }: Held) => relation === null && claimed.behind !== undefined;

/** What the evidence says of each quantity of the claim; null: nothing. */
function quantitiesAgainst(said: Sentence, claimed: Sentence, pairings: readonly Pairing[]): Held[] {
  return claimed.quantities.map((quantity) => {
    const comparable = said.quantities.filter((one) => compareQuantity(one, quantity) !== null);
    const nearest = inNearestClause(comparable, said, pairings);
    const relations = nearest.map((one) => compareQuantity(one, quantity));
    if (relations.length === 0) return { claimed: quantity, relation: null };
    if (relations.includes("within")) return { claimed: quantity, relation: "within" };
    if (relations.includes("open")) return { claimed: quantity, relation: "open" };
    if (!quantity.isDate) return { claimed: quantity, relation: "apart" };
    if (claimed.isRepeatable) return { claimed: quantity, relation: "again" };
    if (quantity.unit !== "year") return { claimed: quantity, relation: "apart" };
    return { claimed: quantity, relation: nearest.every(({ high }) => high < quantity.low) ? "later" : "earlier" };
  });
}

/** Those whose clause says most of the claim. */
function inNearestClause(found: readonly Quantity[], said: Sentence, pairings: readonly Pairing[]): Quantity[] {
  const scoreOf = ({ start }: Quantity) =>
    pairings.filter(
      ({ match, places }) => match !== "none" && places.some((at) => said.clauses[at] === said.clauses[start]),
    ).length;
  const best = Math.max(...found.map(scoreOf));
  return found.filter((one) => scoreOf(one) === best);
}

/** Whether two events, one before the other, stand in the same order in both. */
function orderOf(said: Sentence, claimed: Sentence): "same" | "reversed" | null {
  const [one, other] = [said.order, claimed.order];
  if (one === null || other === null) return null;
  const meet = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].filter((stem) => b.has(stem)).length;
  const straight = Math.min(meet(one.earlier, other.earlier), meet(one.later, other.later));
  const crossed = Math.min(meet(one.earlier, other.later), meet(one.later, other.earlier));
  return straight === crossed ? null : straight > crossed ? "same" : "reversed";
}

const isComparison = ({ words }: Sentence) =>
  words.some(({ word }, at) => word === "than" && /^(?:\p{L}+er|more|less)$/u.test(words[at - 1]?.word ?? ""));

/** "A is longer than B" beside "B is longer than A", "B is shorter than A". */
function isTurned(pairings: readonly Pairing[]): boolean {
  const isSaid = ({ match, places }: Pairing) => places.length === 1 && (match === "same" || match === "opposite");
  if (pairings.length !== 3 || !pairings.every(isSaid)) return false;
  const [first, middle, last] = pairings.map(({ places }) => places[0]!) as [number, number, number];
  return last < middle && middle < first;
}

/** "Ann pays Bob" beside "Bob pays Ann": two of the claim's words around a third stand the other way round. */
function isExchanged(claimed: Sentence, pairings: readonly Pairing[], said: Sentence): boolean {
  if (pairings.length < 3) return false;
  const isOtherVoice = said.isPassive !== claimed.isPassive;
  const passive = said.isPassive ? said : claimed;
  if (isOtherVoice && !passive.words.some(({ word }) => word === "by")) return false;
  const places = pairings.map(({ match, places }) => (match === "same" && places.length === 1 ? places[0]! : -1));
  const [first, last] = [places[0]!, places.at(-1)!];
  if (first < 0 || last < 0) return false;
  // "Ann is paid by Bob" beside "Ann pays Bob": in the other voice they must stand the other way round.
  const [low, high] = isOtherVoice ? [first, last] : [last, first];
  return places.slice(1, -1).some((at) => at > low && at < high);
}

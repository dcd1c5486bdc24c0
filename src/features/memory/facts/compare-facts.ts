/**
 * Whether one fact takes the place of another, as far as words tell. In doubt it does not: a memory that is superseded
 * wrongly is lost to recall, one that stays too long is only old. Pure; called by judge-memories.ts.
 */
import { compareTexts } from "../../../ai/nli/compare-texts.js";
import { ANYTHING, plainSentence, type Slot, slotsOf, subjectOf } from "./fact-slots.js";

/** `open`: words do not tell, a model may. */
export type FactRelation = "contradicts" | "repeats" | "compatible" | "open";

/** What is longer is no single fact: only the same text repeats it, and nothing contradicts all of it. */
const FACT_CHARACTERS_MAX = 400;

export function compareFacts(old: string, fresh: string): FactRelation {
  if (Math.max(old.length, fresh.length) > FACT_CHARACTERS_MAX)
    return old.trim() === fresh.trim() ? "repeats" : "compatible";
  const [before, after] = [slotsOf(old), slotsOf(fresh)];
  const bySlots = compareSlots(before, after);
  const words = compareTexts(old, fresh);
  if (words === "same") return "repeats";
  if (bySlots === "contradicts") return bySlots;
  if (bySlots === "repeats") return isAllSaid(old, fresh) ? "repeats" : "compatible";
  if (words === "opposite" && !isAddition(fresh)) return bySlots === "compatible" ? "compatible" : "contradicts";
  if (bySlots === "compatible") return "compatible";
  // Nothing to do with each other, or two things that may both be.
  if (words === "unrelated" || words === "other" || isAddition(fresh)) return "compatible";
  return firstSubject(old) === firstSubject(fresh) ? "open" : "compatible";
}

function compareSlots(before: readonly Slot[], after: readonly Slot[]): FactRelation {
  if (before.length === 0 || after.length === 0) return "open";
  let shared = 0;
  let isRepeated = before.length === after.length;
  for (const fresh of after) {
    const old = before.find(({ relation, subject }) => relation === fresh.relation && subject === fresh.subject);
    if (old === undefined) {
      isRepeated = false;
      continue;
    }
    shared++;
    const told = compareSlot(old, fresh);
    if (told === "contradicts") return told;
    isRepeated &&= told === "repeats";
  }
  return shared > 0 && isRepeated ? "repeats" : "compatible";
}

function compareSlot(old: Slot, fresh: Slot): FactRelation {
  const isAnything = old.object === ANYTHING || fresh.object === ANYTHING;
  if (old.isDenied !== fresh.isDenied) {
    return isAnything || isDenial(old, fresh) ? "contradicts" : "compatible";
  }
  if (old.object === fresh.object) return "repeats";
  if (old.isDenied || isAnything || !(old.isSingle && fresh.isSingle) || old.kind !== fresh.kind) return "compatible";
  return isPart(old.object, fresh.object) || isPart(fresh.object, old.object) ? "compatible" : "contradicts";
}

/** What is denied may be said in fewer words: "sold the Golf" of "an old Golf", "left Acme" of "works at Acme as …". */
function isDenial(old: Slot, fresh: Slot): boolean {
  if (old.object === fresh.object) return true;
  if (!fresh.isDenied || fresh.object === "") return false;
  return old.isSingle ? old.object.startsWith(`${fresh.object} `) : old.object.endsWith(` ${fresh.object}`);
}

/** "berlin" of "kreuzberg berlin". */
function isPart(some: string, all: string): boolean {
  const words = new Set(all.split(" "));
  return some.split(" ").every((word) => words.has(word));
}

/** Neither says more than the other: they are about as long. */
function isAllSaid(old: string, fresh: string): boolean {
  const [one, other] = [plainSentence(old).split(" ").length, plainSentence(fresh).split(" ").length];
  return Math.abs(one - other) <= 2 && !isAddition(fresh);
}

const isAddition = (sentence: string) => /\b(?:also|too|as well|another|in addition)\b/i.test(sentence);

/** What the sentence is about: its words up to the first verb that is known, roughly. */
function firstSubject(sentence: string): string {
  const plain = plainSentence(sentence);
  const found =
    /^(?<s>(?:the |my )?user(?:'s \p{L}+)?|I|the (?:\p{L}+ ){0,2}?\p{L}+|\p{Lu}\p{L}+(?:'s \p{L}+)?(?: \p{Lu}\p{L}+)?)(?= )/iu.exec(
      plain,
    );
  return subjectOf(found?.groups?.s ?? plain.split(" ")[0]!);
}

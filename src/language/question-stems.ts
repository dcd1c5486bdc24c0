/** The words of a question or sentence that say what it is about, as stems. Used by the helpers beside it. */
import { englishStem } from "../values/stemmer.js";

const STOP = new Set(
  "a an the is are was were be been do does did of in on at to for from with by and or it its this that these those there what which who whom whose when where why how many much long far old has have had can could will would should i me my we us our you your he she him his her they them their there any some am may might must shall as so please into onto upon within during through towards per via until till since while if then than also too very just".split(
    " ",
  ),
);

/** Forms that no rule leads back to their verb. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  (
    "began begin begun begin bought buy broke break broken break brought bring built build came come caught catch " +
    "chose choose chosen choose drew draw drawn draw drove drive driven drive fell fall fallen fall felt feel found find " +
    "flew fly gave give given give grew grow grown grow heard hear held hold kept keep knew know known know led lead " +
    "left leave lent lend lost lose made make meant mean met meet paid pay ran run rose rise said say sang sing sent send " +
    "shown show sold sell sought seek spent spend spoke speak spoken speak stood stand sung sing taken take took take " +
    "taught teach thought think told tell went go gone go goes go won win wore wear worn wear wrote write written write " +
    // Who makes a thing is its manufacturer.
    "manufacturer make manufacturers make manufactured make manufactures make maker make makers make"
  )
    .split(" ")
    .flatMap((word, i, all) => (i % 2 === 0 ? [[word, all[i + 1]!] as const] : [])),
);
/** "Hive four" is hive 4. "One" is often no number. */
const NUMBERS = "two three four five six seven eight nine ten eleven twelve".split(" ");

/** "Painted", "built": what was done. */
export function isPastForm(word: string): boolean {
  return IRREGULAR.has(word) || /[^e]ed$/.test(word);
}

function stemOf(word: string): string {
  const number = NUMBERS.indexOf(word);
  return number >= 0 ? String(number + 2) : englishStem(IRREGULAR.get(word) ?? word);
}

export function stemsOf(text: string): Set<string> {
  const words = wordsOf(text.toLowerCase());
  return new Set(words.filter((word) => !STOP.has(word)).map(stemOf));
}

/** The words as they are written, by their stems. */
export function wordsByStem(text: string): Map<string, string> {
  const words = wordsOf(text.toLowerCase()).filter((word) => !STOP.has(word));
  return new Map(words.map((word) => [stemOf(word), word]));
}

/** "Who painted it", "who pays": what somebody does, as a stem; null: somebody is something, or nobody is asked for. */
export function deedOf(question: string): string | null {
  const verb = /\bwho (\p{L}+)/iu.exec(question)?.[1]?.toLowerCase();
  return verb === undefined || STOP.has(verb) ? null : stemOf(verb);
}

/** "Turbine 3", "hall two" in a question: each as two stems that stand side by side. */
export function labelsOf(question: string): string[] {
  const words = wordsOf(question.toLowerCase());
  return words.flatMap((word, i) => {
    const next = words[i + 1] ?? "";
    const isLabel = !STOP.has(word) && /^\p{L}/u.test(word) && (/^\d+$/.test(next) || NUMBERS.includes(next));
    return isLabel ? `${stemOf(word)} ${stemOf(next)}` : [];
  });
}

/** All stems one after the other, for `labelsOf`. */
export function stemLine(text: string): string {
  return ` ${wordsOf(text.toLowerCase()).map(stemOf).join(" ")} `;
}

export function isOfStem(word: string, stem: string): boolean {
  return stemOf(word.toLowerCase()) === stem;
}

/** "How many parking places": what is counted, as stems. */
export function countedOf(question: string): Set<string> {
  return stemsOf(/\bhow many (\p{L}+(?: \p{L}+)?)/iu.exec(question)?.[1] ?? "");
}

/** What the question is about by name or number, as stems: "Munich" and "2019" in it. Its first word may be any. */
export function namesOf(question: string): Set<string> {
  const words = wordsOf(question);
  const isNumber = (word: string) => NUMBERS.includes(word.toLowerCase());
  const isName = (word: string) => (/^[\p{Lu}\p{N}]/u.test(word) || isNumber(word)) && !STOP.has(word.toLowerCase());
  const names = words.slice(1).filter(isName);
  // In "HOW LONG IS THE WARRANTY" and "How Long Is The Warranty" nothing is told by capitals.
  const isTitle = names.length > 0 && words.slice(1).every((word) => isName(word) || STOP.has(word.toLowerCase()));
  const told = isTitle && words.some((word) => STOP.has(word.toLowerCase()) && /^\p{Lu}/u.test(word)) ? [] : names;
  return new Set(told.map((word) => stemOf(word.toLowerCase())));
}

/** 2.3 and 4,000 are one word each. */
function wordsOf(text: string): string[] {
  return (text.match(/\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    /^\p{N}/u.test(word) ? word.replaceAll(",", "") : word,
  );
}

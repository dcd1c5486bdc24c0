/**
 * What kind of thing a question asks for, and whether a sentence has one that the question does not have itself: a
 * length, a time, an age, a number, a place, a name. Used by `best-sentence.ts`; stateless.
 */
import { englishStem } from "../values/stemmer.js";

const NUMBER_WORD =
  "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|" +
  "(?:twen|thir|for|fif|six|seven|eigh|nine)ty|half|hundred|thousand|million)";
const NUMBER = new RegExp(
  `\\d|\\b(?:${NUMBER_WORD}|once|twice|daily|weekly|monthly|yearly|every|never|always|free|no|none|nothing)\\b`,
  "i",
);
const MONTH =
  "january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|winter";
const TIME = new RegExp(
  `\\b(?:1[5-9]|20)\\d\\d\\b|\\d[:.]\\d\\d|\\b\\d+(?:st|nd|rd|th|am|pm)\\b|\\b(?:in|within|at|from|to|until|till|every) (?:about )?\\d|\\b(?:\\d+|\\w+) (?:o.clock|hours?|days?|weeks?|months?|years?)\\b|\\b(?:noon|midnight|once|twice|daily|weekly|monthly|yearly|every|never|always|after|before|until|while|as soon as|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|${MONTH})\\b`,
  "i",
);
/** "12 February 2022", "in 1987": what is measured is none of these. */
const DATE = new RegExp(
  `\\b\\d{1,2}\\.? (?:${MONTH})(?: \\d{4})?|\\b(?:${MONTH}) \\d{1,2}\\b(?:, \\d{4})?|\\b\\d{4}-\\d{2}-\\d{2}\\b|\\b(?:${MONTH}) (?:1[5-9]|20)\\d\\d\\b|\\b(?:in|since|from|until|of|by|between) (?:${MONTH} )?(?:1[5-9]|20)\\d\\d\\b`,
  "gi",
);
const UNIT =
  /\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|forever|always|until|unlimited|m|mm|cm|km|metres?|meters?|centimetres?|millimetres?|kilometres?|kilometers?|miles?|feet|inch(?:es)?|characters?|letters?|words?|pages?|cubic|square|litres?|liters?|hectares?|acres?|kilograms?|kilos?|kg|grams?|tons?|tonnes?|pounds?|degrees?|people|percent|gb|mb|bytes?|(?:\d|to|till) (?:\d|noon))\b|%|°|\d:\d\d/i;
/** A number with what it is of. */
const OF_UNIT = new RegExp(
  `(?:[€$£] ?)?(?:\\d[\\d.,]*|${NUMBER_WORD}) (?:and a half )?((?:second|minute|hour|day|night|week|month|year|euro|dollar|cent|metre|kilometre|kilogram|percent|lux|degree|litre|volt|(?:kilo|mega|giga)?watts?(?: hour)?)s?)\\b`,
  "gi",
);
/** "41.7", but not "2.7 million". */
const FRACTION = /\b\d+\.\d+\b(?! (?:thousand|million|billion))/g;
/** "A new one", "this one". */
const PRONOUN = /\b(?:this|that|each|every|another|an?|the|which)(?: \p{L}+)? one\b/giu;
/** Begin with capitals, and are nobody's names. */
const DAY_NAME = new RegExp(`^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|${MONTH})$`, "i");
/** "At ten in the evening". */
const HOUR = new RegExp(
  `\\b(?:at|until|till) (?:\\d{1,2}|${NUMBER_WORD})\\b(?= (?:o.clock|in the|at night|am|pm)|[.,;]|$)`,
  "gi",
);
/** "Turbine 3", "hall two". */
const LABEL = new RegExp(`\\b(\\p{L}+) (?:\\d+|${NUMBER_WORD})\\b`, "giu");
const CLOCK = /\b\d{1,2}[:.]\d\d\b/g;
const AGE = /\byears?\b|\baged?\b|\bborn\b|\bold\b|\bin (?:1[5-9]|20)\d\d\b/i;
/** Within a sentence, or two words that begin with capitals. */
const NAME = /(?<=[\p{L},:] )\p{Lu}\p{Ll}+|\p{Lu}\p{Ll}+(?= (?:\p{Lu}\p{Ll}+|[&]))/gu;

const MONEY =
  /[€$£¥]|\b(?:euros?|eur|dollars?|usd|cents?|pounds?|gbp|francs?|chf|kron(?:er|or|a)|yen|rupees?|zloty|free|nothing|charge|cost)\b/i;

const LENGTH =
  /\b(?:m|mm|cm|km|metres?|meters?|centimetres?|millimetres?|kilometres?|kilometers?|miles?|feet|foot|inch(?:es)?|storeys?|floors?|percent|degrees?|points?)\b|%|°/i;
const SPEED =
  /\b(?:knots?|km\/h|kmh|kph|mph|m\/s|twice|half|times)\b|\b(?:an?|per|each|every) (?:second|minute|hour|day|week|month|year)\b|\bpercent\b|%|\b(?:in|within) (?:about )?(?:\d|an?\b|one\b)/i;
const WEIGHT =
  /\d ?(?:kg|g|mg|t|lbs?|oz)\b|\b(?:kilograms?|kilos?|grams?|milligrams?|tons?|tonnes?|pounds?|ounces?)\b/i;

const WHERE =
  /\bwhere (?:is|are|was|were|do|does|did|can|could|will|should|must|has|have)\b|\b(?:in|at|on|to|from) (?:which|what) (?:city|town|country|room|building|place|street|floor|hall)\b/i;
const PLACE =
  /\b(?:in|into|inside|at|on|onto|near|under|beneath|below|above|behind|beside|opposite|between|outside|along|across|around|from|to|via|through|by) (?:the |an? |our |your |its |their )?[\p{L}\d]|\b(?:next to|in front of|here|there|upstairs|downstairs|north|south|east|west|left|right|corner|floor|room|street|avenue|road|square|hall|building)\b/iu;
/** "At least", "in time", "on Mondays": what is said of no place. */
const NO_PLACE = new RegExp(
  `\\b(?:at (?:least|most|once|all|first|last|night|noon|any time)|in (?:time|advance|general|total|addition|case|order|full|part|fact|use|(?:the )?(?:morning|afternoon|evening|meantime|past|future))|on (?:time|average|request|foot|sale)|(?:in|at|on|from|to|by|until|since) (?:the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|\\d[\\d.,:%]*|${NUMBER_WORD})\\b)`,
  "gi",
);

/** The last: whether a sentence without one can be an answer all the same. */
const KINDS: readonly (readonly [asks: RegExp, has: (text: string, question: string) => boolean, can: boolean])[] = [
  [
    /\bhow much (?:does|do|did|is|was|are|will)\b.*\bcosts?\b|\bhow expensive\b|\bwhat (?:does|do|did|will|must)\b.*\b(?:costs?|pays?)\b(?! for\W*$)/i,
    (text) => MONEY.test(text),
    false,
  ],
  [/\bhow old\b/i, (text) => NUMBER.test(text) && AGE.test(text), false],
  [/\bhow fast\b/i, (text) => measured(text) && SPEED.test(text), false],
  [/\bhow heavy\b|\bhow much (?:does|do|did)\b.*\bweigh/i, (text) => measured(text) && WEIGHT.test(text), false],
  [
    /\bhow (?:tall|high|deep|wide)\b/i,
    (text) => measured(text) && (LENGTH.test(text.replaceAll(DATE, " ")) || MONEY.test(text)),
    true,
  ],
  [/\bhow (?:long|far|big|large)\b/i, (text) => measured(text) && UNIT.test(text.replaceAll(DATE, " ")), true],
  [/\bhow many\b/i, counted, false],
  [/\bhow (?:much|often|fast)\b|\bwhat (?:percentage|price|number)\b/i, measured, true],
  [/\bhow (?:soon|late)\b|\bwhen\b|\bwhat (?:time|year|date|day)\b/i, (text) => TIME.test(text), true],
  [WHERE, hasPlace, true],
  [/\bwho(?:m|se)?\b/i, hasOtherName, true],
];

/** "never": it has none, and without one it is no answer. Of a question of no kind any sentence may be. */
export function hasKind(sentence: string, question: string): "yes" | "no" | "never" {
  const kind = KINDS.find(([asks]) => asks.test(question));
  if (kind === undefined) return "yes";
  const [, has, can] = kind;
  return has(withoutEcho(sentence, question), question) ? "yes" : can ? "no" : "never";
}

/** "Students: 45 euros" says what they pay, by the stems of such words; of other questions it says nothing. */
export function pricesSaid(sentence: string, question: string): readonly string[] {
  return /\bwhat\b|\bhow (?:much|expensive)\b/i.test(question) && MONEY.test(sentence) ? PRICES : [];
}

const PRICES = "pay cost price fee fine fare charge".split(" ").map((word) => englishStem(word));

/** The number of "LX-110" answers no question about the LX-110. */
function withoutEcho(sentence: string, question: string): string {
  const said = question.match(/[\p{L}\p{N}-]*\d[\p{L}\p{N}.,-]*(?<![.,])/gu) ?? [];
  return said.reduce((rest, word) => rest.replaceAll(word, " "), sentence);
}

/** "Four weeks" are no number of books, "turbine 3" is no number of turbines. */
function counted(text: string, question: string): boolean {
  const noun = /\bhow many (?:\p{L}+ )??(\p{L}{3})/iu.exec(question)?.[1]?.toLowerCase() ?? "";
  const others = text
    .replaceAll(DATE, " ")
    .replaceAll(CLOCK, " ")
    .replaceAll(FRACTION, " ")
    .replaceAll(HOUR, " ")
    .replaceAll(PRONOUN, " ")
    .replaceAll(LABEL, (all, name) => (noun !== "" && isOne(name, noun) ? " " : all))
    .replaceAll(OF_UNIT, (all, unit) => {
      return unit.toLowerCase().startsWith(noun) ? all : " ";
    });
  return NUMBER.test(others);
}

/** One of those that are counted: "turbine", not "turbines". */
function isOne(word: string, noun: string): boolean {
  return word.toLowerCase().startsWith(noun) && !/s$/i.test(word);
}

function hasPlace(text: string): boolean {
  return PLACE.test(text.replaceAll(DATE, " ").replaceAll(NO_PLACE, " "));
}

function measured(sentence: string): boolean {
  return NUMBER.test(sentence.replaceAll(DATE, " "));
}

/**
 * Whether a sentence says who does what: it has another name, somebody before the verb, or "by". "The house is insured"
 * and "we insured it" do not say who insured it.
 */
export function saysWho(sentence: string, question: string, isDeed: (word: string) => boolean): boolean {
  if (hasOtherName(sentence, question)) return true;
  const words = sentence.match(/[\p{L}\p{N}]+/gu) ?? [];
  const at = words.findIndex(isDeed);
  const asked = new Set((question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.slice(0, 5)));
  const isSomebody = (word: string) =>
    word.length > 3 && !NOBODY.test(word) && !asked.has(word.toLowerCase().slice(0, 5));
  return words.slice(0, Math.max(0, at)).some(isSomebody) || (at >= 0 && words.slice(at).includes("by"));
}

const NOBODY = /^(?:they|them|have|were|been|this|that|these|those|which|will|with|from|also|then|when|there|here)$/i;

function hasOtherName(sentence: string, question: string): boolean {
  const asked = question.toLowerCase();
  return [...sentence.matchAll(NAME)].some(([name]) => !DAY_NAME.test(name) && !asked.includes(name.toLowerCase()));
}

/**
 * What kind of thing a question asks for, and whether a sentence has one that the question does not have itself: a
 * length, a time, an age, a number, a name. Used by `best-sentence.ts`; stateless.
 */

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
  `\\b\\d{1,2}\\.? (?:${MONTH})(?: \\d{4})?|\\b(?:${MONTH}) \\d{1,2}(?:, \\d{4})?|\\b\\d{4}-\\d{2}-\\d{2}\\b|\\b(?:in|since|from|until|of|by|between) (?:${MONTH} )?(?:1[5-9]|20)\\d\\d\\b`,
  "gi",
);
const UNIT =
  /\b(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|years?|decades?|forever|always|until|unlimited|m|mm|cm|km|metres?|meters?|centimetres?|millimetres?|kilometres?|kilometers?|miles?|feet|inch(?:es)?|characters?|letters?|words?|pages?|cubic|square|litres?|liters?|hectares?|acres?|kilograms?|kilos?|kg|grams?|tons?|tonnes?|pounds?|degrees?|people|percent|gb|mb|bytes?|(?:\d|to|till) (?:\d|noon))\b|%|°|\d:\d\d/i;
/** A number with what it is of. */
const OF_UNIT = new RegExp(
  `(?:[€$£] ?)?(?:\\d[\\d.,]*|${NUMBER_WORD}) (?:and a half )?((?:second|minute|hour|day|night|week|month|year|euro|dollar|cent|metre|kilometre|kilogram|percent)s?)\\b`,
  "gi",
);
const CLOCK = /\b\d{1,2}[:.]\d\d\b/g;
const AGE = /\byears?\b|\baged?\b|\bborn\b|\bold\b|\bin (?:1[5-9]|20)\d\d\b/i;
/** Within a sentence, or two words that begin with capitals. */
const NAME = /(?<=[\p{L},:] )\p{Lu}\p{Ll}+|\p{Lu}\p{Ll}+(?= (?:\p{Lu}\p{Ll}+|[&]))/gu;

const MONEY =
  /[€$£¥]|\b(?:euros?|eur|dollars?|usd|cents?|pounds?|gbp|francs?|chf|kron(?:er|or|a)|yen|rupees?|zloty|free|nothing|charge|cost)\b/i;

/** The last: whether a sentence without one can be an answer all the same. */
const KINDS: readonly (readonly [asks: RegExp, has: (text: string, question: string) => boolean, can: boolean])[] = [
  [
    /\bhow much (?:does|do|did|is|was|are|will)\b.*\bcosts?\b|\bhow expensive\b|\bwhat (?:does|do|did|will)\b.*\bcosts?\b/i,
    (text) => MONEY.test(text),
    false,
  ],
  [/\bhow old\b/i, (text) => NUMBER.test(text) && AGE.test(text), false],
  [
    /\bhow (?:long|far|tall|high|big|large|deep|wide|heavy)\b/i,
    (text) => measured(text) && UNIT.test(text.replaceAll(DATE, " ")),
    true,
  ],
  [/\bhow many\b/i, counted, false],
  [/\bhow (?:much|often|fast)\b|\bwhat (?:percentage|price|number)\b/i, measured, true],
  [/\bhow (?:soon|late)\b|\bwhen\b|\bwhat (?:time|year|date|day)\b/i, (text) => TIME.test(text), true],
  [/\bwho(?:m|se)?\b/i, hasOtherName, true],
];

/** "never": it has none, and without one it is no answer. Of a question of no kind any sentence may be. */
export function hasKind(sentence: string, question: string): "yes" | "no" | "never" {
  const kind = KINDS.find(([asks]) => asks.test(question));
  if (kind === undefined) return "yes";
  const [, has, can] = kind;
  return has(withoutEcho(sentence, question), question) ? "yes" : can ? "no" : "never";
}

/** The number of "LX-110" answers no question about the LX-110. */
function withoutEcho(sentence: string, question: string): string {
  const said = question.match(/[\p{L}\p{N}-]*\d[\p{L}\p{N}.,-]*(?<![.,])/gu) ?? [];
  return said.reduce((rest, word) => rest.replaceAll(word, " "), sentence);
}

/** "Four weeks" are no number of books. */
function counted(text: string, question: string): boolean {
  const noun = /\bhow many (?:\p{L}+ )??(\p{L}{3})/iu.exec(question)?.[1]?.toLowerCase() ?? "";
  const others = text
    .replaceAll(DATE, " ")
    .replaceAll(CLOCK, " ")
    .replaceAll(OF_UNIT, (all, unit) => {
      return unit.toLowerCase().startsWith(noun) ? all : " ";
    });
  return NUMBER.test(others);
}

function measured(sentence: string): boolean {
  return NUMBER.test(sentence.replaceAll(DATE, " "));
}

function hasOtherName(sentence: string, question: string): boolean {
  const asked = question.toLowerCase();
  return [...sentence.matchAll(NAME)].some(([name]) => !asked.includes(name.toLowerCase()));
}

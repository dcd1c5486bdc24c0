/** Which sorts of values a phrase has: days, times, dates, money, quantities. Pure; called by fact-slots.ts. */

const WEEKDAY = /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b/i;
const MONTH =
  /\b(?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4}-\d\d-\d\d)\b/i;
const CLOCK = /\b(?:\d{1,2}:\d\d|\d{1,2} ?(?:am|pm)|noon|midnight|\d{1,2} o'clock)\b/i;
const SPELLED_CLOCK = /^(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'clock| am| pm)?$/i;
const MONEY = /\p{Sc}|\b(?:euros?|dollars?|pounds?|francs?|cents?)\b/iu;
const QUANTITY =
  /\b\d[\d.,]* ?(?:kg|kilos?|g|km|m|cm|metres?|meters?|minutes?|hours?|days?|weeks?|percent|%|degrees?)/i;

/** The sorts in one text, in a fixed order; "": none is known. */
export function kindsOf(phrase: string): string {
  const kinds: string[] = [];
  if (WEEKDAY.test(phrase)) kinds.push("weekday");
  if (MONTH.test(phrase)) kinds.push("date");
  if (CLOCK.test(phrase) || SPELLED_CLOCK.test(phrase)) kinds.push("clock");
  if (MONEY.test(phrase)) kinds.push("money");
  if (QUANTITY.test(phrase)) kinds.push("quantity");
  return kinds.join(" ");
}

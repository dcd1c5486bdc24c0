/** Reads currencies from the words around a number. For English. Called by quantities.ts; pure. */
import type { Word } from "./claim-words.js";

/** How all units of money begin. */
export const MONEY = "money:";

/** What stands before a number or behind it. */
const SIGNS: Readonly<Record<string, string>> = {
  "€": "eur",
  eur: "eur",
  $: "usd",
  usd: "usd",
  "£": "gbp",
  gbp: "gbp",
  "¥": "jpy",
  jpy: "jpy",
  chf: "chf",
};
/** What stands only behind a number. */
const NAMES: Readonly<Record<string, readonly [currency: string, factor: number]>> = {
  euro: ["eur", 1],
  euros: ["eur", 1],
  dollar: ["usd", 1],
  dollars: ["usd", 1],
  pence: ["gbp", 0.01],
  yen: ["jpy", 1],
  franc: ["chf", 1],
  francs: ["chf", 1],
};
const CENTS = /^cents?$/;
/** They have cents. */
const WITH_CENTS: ReadonlySet<string> = new Set(["eur", "usd"]);
const POUNDS = /^pounds?$/;
const OF_PRICE =
  /^(?:costs?|costing|pays?|paid|paying|payments?|prices?|priced|sells?|sold|buys?|bought|spends?|spent|earns?|earned|charges?|charged|owes?|owed|worth|salary|wages?|rents?|fees?|fined?|fines|budgets?|loans?|debts?|bills?|invoices?|tax|taxes|donated|borrowed|lent)$/;
const OF_WEIGHT = /^(?:weighs?|weighed|weighing|weights?|heavy|heavier|gained|lost)$/;

type Money = readonly [unit: string, factor: number];

/** The sign or code before a number; null: there is none. */
export function moneyBefore(word: string): Money | null {
  const currency = signOf(word);
  return currency === null ? null : [MONEY + currency, 1];
}

/** The currency whose word stands there, behind the number at `number`; null: there is none. */
export function moneyBehind(words: readonly Word[], at: number, number: number): Money | null {
  const word = words[at]?.word ?? "";
  const before = moneyBefore(word);
  if (before !== null) return before;
  if (POUNDS.test(word)) return arePoundsMoney(words, at, number) ? [`${MONEY}gbp`, 1] : null;
  if (CENTS.test(word)) return centsIn(words);
  const name = nameOf(word);
  return name === null ? null : [MONEY + name[0], name[1]];
}

function signOf(word: string): string | null {
  if (Object.hasOwn(SIGNS, word)) return SIGNS[word]!;
  return /^\p{Sc}$/u.test(word) ? word : null;
}

const nameOf = (word: string) => (Object.hasOwn(NAMES, word) ? NAMES[word]! : null);

/** Cents of the one currency that the sentence names, else of an unknown one. */
function centsIn(words: readonly Word[]): Money {
  const named = new Set(words.flatMap(({ word }) => signOf(word) ?? nameOf(word)?.[0] ?? []));
  const [only] = named;
  return named.size === 1 && WITH_CENTS.has(only!) ? [MONEY + only, 0.01] : [`${MONEY}cent`, 1];
}

/** Pounds are a weight unless the sentence speaks of a price: the nearest such word decides, first those before. */
function arePoundsMoney(words: readonly Word[], at: number, number: number): boolean {
  if (words[at + 1]?.word === "sterling") return true;
  if (words[at + 1]?.word === "of") return false;
  const decides = ({ word }: Word) => OF_PRICE.test(word) || OF_WEIGHT.test(word);
  const decisive = words.slice(0, number).findLast(decides) ?? words.slice(at + 1).find(decides);
  return decisive !== undefined && OF_PRICE.test(decisive.word);
}

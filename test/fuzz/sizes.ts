/**
 * Makes parts of an input large: texts, lists, keys and depth of JSON, and the numbers within statements. Called by
 * fuzzer.ts; pure.
 */
import type { Input } from "./inputs.js";
import type { Random } from "./random.js";

/** `size`: characters of a large part, at most. */
export function enlarged(input: Input, random: Random, size: number): Input {
  if (input.kind === "http") {
    return input.body === null ? input : { ...input, body: enlargedText(input.body, random, size) };
  }
  if (input.kind === "socket") {
    return { ...input, messages: input.messages.map((message) => enlargedText(message, random, size)) };
  }
  return input;
}

function enlargedText(text: string, random: Random, size: number): string {
  if (random.chance(0.4)) return text;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // Spoilt on purpose, or no JSON: as it is, but long.
    return random.chance(0.3) ? text.repeat(times(text.length, random, size)) : text;
  }
  const places = countParts(parsed);
  return JSON.stringify(changeOne(parsed, { left: random.below(places) }, random, size));
}

/** As many times as make between one and all of the size, small and large ones alike. */
function times(length: number, random: Random, size: number): number {
  return Math.max(1, Math.ceil(size ** random.next() / Math.max(1, length)));
}

function countParts(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, part) => sum + countParts(part), 1);
}

function changeOne(value: unknown, place: { left: number }, random: Random, size: number): unknown {
  if (place.left-- === 0) return large(value, random, size);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((part) => changeOne(part, place, random, size));
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, changeOne(part, place, random, size)]));
}

/** Of a key with its value. */
const KEY_CHARACTERS = 20;

function large(value: unknown, random: Random, size: number): unknown {
  if (typeof value === "string") return largeText(value, random, size);
  if (typeof value !== "object" || value === null) return nested(value, random, size);
  if (Array.isArray(value)) {
    const count = times(JSON.stringify(value).length, random, size);
    return Array.from({ length: count * value.length }, (_, i) => value[i % value.length]);
  }
  const count = times(KEY_CHARACTERS, random, size);
  return { ...value, ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i])) };
}

/** Deeper than any bound, but not so deep that this process cannot write it. */
const LEVELS_MAX = 2000;

function nested(value: unknown, random: Random, size: number): unknown {
  let result = value;
  for (let level = Math.min(times(2, random, size), LEVELS_MAX); level > 0; level--) result = [result];
  return result;
}

/** A statement's numbers, or the text itself. */
function largeText(text: string, random: Random, size: number): string {
  const numbers = text.match(/\b\d{1,4}\b/g);
  if (numbers !== null && random.chance(0.6)) {
    const chosen = random.below(numbers.length);
    let seen = 0;
    return text.replace(/\b\d{1,4}\b/g, (number) => (seen++ === chosen ? String(times(1, random, size)) : number));
  }
  if (/^\s*(select|with|insert|update|match|return|unwind)\b/i.test(text) && random.chance(0.7)) {
    const literal = `'${"a b ".repeat(times(4, random, size))}'`;
    return text.replace(/'[^']*'/, () => literal);
  }
  return text.repeat(times(text.length, random, size));
}

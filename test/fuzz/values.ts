/** Odd values for fields, and bodies made from an endpoint's own schema and then spoilt. Called by inputs.ts. */
import type { TSchema } from "typebox";
import type { Random } from "./random.js";

export const NAMES = [
  "item",
  "docs",
  "vecs",
  "m1",
  "Person",
  "alpha",
  "gone",
  "x y",
  "",
  "__proto__",
  "éü",
  "a.b",
  "0",
];

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1,
  0.5,
  1e308,
  -1e-320,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  "",
  "a",
  "0",
  "-1",
  "NaN",
  "null",
  "\u0000",
  "\ud800",
  "💥é\u202e",
  "x".repeat(300),
  "%00../..",
  "' OR 1=1 --",
  "$1",
  "2026-01-31",
  "9999999999999999999999",
  [],
  {},
  [null],
  [[[[[]]]]],
  { $gt: 1 },
  { toString: 1, constructor: { prototype: 1 } },
];

export function oddValue(random: Random, depth = 0): unknown {
  if (depth < 4 && random.chance(0.25)) {
    if (random.chance(0.5)) return random.many(4, () => oddValue(random, depth + 1));
    return Object.fromEntries(random.many(4, () => [random.one(NAMES), oddValue(random, depth + 1)]));
  }
  return random.one(ODD);
}

/** The part of JSON Schema that endpoints use. */
interface Parts {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly TSchema[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A value that fits the schema, more or less; `texts` gives texts by the field's name. */
export function fitting(schema: TSchema, random: Random, texts: (field: string) => unknown, field = ""): unknown {
  if (random.chance(0.06)) return oddValue(random);
  const parts = schema as Parts;
  if (parts.const !== undefined) return parts.const;
  if (parts.enum !== undefined) return random.one(parts.enum);
  if (parts.anyOf !== undefined) return fitting(random.one(parts.anyOf), random, texts, field);
  switch (parts.type) {
    case "object":
      return objectOf(parts, random, texts);
    case "array":
      return random.many(4, () => fitting(parts.items ?? {}, random, texts, field));
    case "integer":
    case "number":
      return numberOf(parts, random);
    case "boolean":
      return random.chance(0.5);
    default:
      return texts(field);
  }
}

function objectOf({ properties, required = [] }: Parts, random: Random, texts: (field: string) => unknown): object {
  const entries: [string, unknown][] = [];
  for (const [name, schema] of Object.entries(properties ?? {})) {
    const wanted = required.includes(name) ? random.chance(0.97) : random.chance(0.4);
    if (wanted) entries.push([name, fitting(schema, random, texts, name)]);
  }
  if (properties === undefined || Object.keys(properties).length === 0 || random.chance(0.05)) {
    entries.push(...random.many(3, (): [string, unknown] => [random.one(NAMES), oddValue(random)]));
  }
  return Object.fromEntries(entries);
}

function numberOf({ minimum = 0, maximum = 20 }: Parts, random: Random): number {
  if (random.chance(0.2)) return random.one([minimum, maximum, minimum - 1, maximum + 1, 0.5, -1, 1e300]);
  return minimum + random.below(Math.min(maximum - minimum, 20) + 1);
}

const SPLINTERS = [
  "'",
  '"',
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ";",
  "--",
  "/*",
  "*/",
  "$1",
  "$$",
  "\\",
  "\u0000",
  ",",
  ".",
  "::",
];
const WORDS =
  "NULL 0 1 -1 9223372036854775807 1e400 '' 'a' ARRAY[1] now() DISTINCT NOT AND UNION ALL OVER() * item id".split(" ");

/** A text with some of its characters or words cut, doubled, moved or replaced. */
export function spoilt(text: string, random: Random): string {
  let result = text;
  for (let n = 1 + random.below(3); n > 0; n--) {
    const words = result.split(/(\s+|[(),])/);
    const at = random.below(words.length);
    switch (random.below(6)) {
      case 0:
        words.splice(at, 1 + random.below(3));
        break;
      case 1:
        words.splice(at, 0, ...words.slice(at, at + 1 + random.below(6)));
        break;
      case 2:
        words[at] = random.one(WORDS);
        break;
      case 3:
        words[at] = random.one(words);
        break;
      case 4:
        words.splice(at, 0, random.one(SPLINTERS));
        break;
      default:
        words[at] = String(words[at]).slice(0, random.below(4));
    }
    result = words.join("");
  }
  return result;
}

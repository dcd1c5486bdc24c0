/**
 * Functions of APOC that queries for Neo4j use most, as far as they only compute: `apoc.coll.*`, `apoc.map.*`,
 * `apoc.text.*`, `apoc.convert.*`, `apoc.number.*`, `apoc.util.*`. Those of dates are in apoc-date-functions.ts.
 */
import { createHash } from "node:crypto";
import { LIST_ITEMS_MAX } from "../../../protocol/limits.js";
import { spend } from "../../../protocol/stretch.js";
import { cypherError } from "../../../values/cypher-error.js";
import { parseKeepingIntegers } from "../../../values/json-text.js";
import { floatValue, type Variant } from "../../../values/variant.js";
import { isList, variantFromJson, variantToJson, variantToText } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { numberOf } from "../variant-order.js";
import { regExpOf } from "./access.js";
import { distinct, extreme, integerIn, keyOf, listIn, mapIn, sorted, textIn } from "./argument-parts.js";
import { add, checkTextLength, isNumber } from "./arithmetic.js";
import { equals } from "./comparison.js";
import { scalarText } from "./conversion.js";
import { cypherFn, cypherFns, wrongArgument } from "./define.js";

const NULLS = { strict: false } as const;

const numbersIn = (name: string, list: Variant): Variant[] =>
  listIn(name, list).filter((item) => {
    if (item === null || isNumber(item)) return item !== null;
    throw wrongArgument(`${name}()`, "a list of numbers", item);
  });

const sum = (name: string, list: Variant) =>
  floatValue(Number(numberOf(numbersIn(name, list).reduce<Variant>((total, item) => add(total, item), 0))));

function ofList(name: string, compute: (list: readonly Variant[]) => Variant): ScalarFunction {
  return cypherFn(name, 1, (list) => compute(listIn(name, list)));
}

function ofLists(name: string, compute: (a: readonly Variant[], b: readonly Variant[]) => Variant): ScalarFunction {
  return cypherFn(name, 2, (a, b) => compute(listIn(name, a ?? []), listIn(name, b ?? [])), NULLS);
}

const keysOf = (list: readonly Variant[]) => new Set(list.map(keyOf));

function flatten(list: readonly Variant[], isDeep: boolean): Variant[] {
  const items = list.flatMap((item) => (isList(item) ? (isDeep ? flatten(item, true) : item) : [item]));
  spend(items.length);
  return items as Variant[];
}

function pairs(list: readonly Variant[], last: boolean): Variant {
  const count = last ? list.length : list.length - 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => [list[i]!, list[i + 1] ?? null]);
}

function partition(list: readonly Variant[], size: number): Variant {
  if (size < 1) throw cypherError("ArgumentError", "NumberOutOfRange", "apoc.coll.partition() takes a size above 0");
  const parts: Variant[] = [];
  for (let i = 0; i < list.length; i += size) parts.push(list.slice(i, i + size));
  return parts;
}

/** Lists are sorted by a property of their items; APOC's order is descending unless the name begins with "^". */
function sortedBy(list: readonly Variant[], property: string): Variant {
  const ascending = property.startsWith("^");
  const name = ascending ? property.slice(1) : property;
  const of = (item: Variant) => mapIn("apoc.coll.sortMaps", item).get(name) ?? null;
  return sorted(list, ascending ? 1 : -1, of);
}

function frequencies(list: readonly Variant[]): Variant {
  const counts = new Map<unknown, { item: Variant; count: number }>();
  for (const item of list) {
    const known = counts.get(keyOf(item));
    if (known === undefined) counts.set(keyOf(item), { item, count: 1 });
    else known.count++;
  }
  return [...counts.values()].map(
    ({ item, count }) =>
      new Map<string, Variant>([
        ["item", item],
        ["count", count],
      ]),
  );
}

const COLL: readonly ScalarFunction[] = [
  cypherFn("apoc.coll.sum", 1, (list) => sum("apoc.coll.sum", list)),
  cypherFn("apoc.coll.avg", 1, (list) => {
    const numbers = numbersIn("apoc.coll.avg", list);
    if (numbers.length === 0) return null;
    return floatValue(Number(numberOf(sum("apoc.coll.avg", numbers))) / numbers.length);
  }),
  cypherFn("apoc.coll.min", 1, (list) => extreme("apoc.coll.min", list, -1)),
  cypherFn("apoc.coll.max", 1, (list) => extreme("apoc.coll.max", list, 1)),
  ofList("apoc.coll.toSet", distinct),
  ofList("apoc.coll.sort", (list) => sorted(list)),
  ofList("apoc.coll.reverse", (list) => [...list].reverse()),
  cypherFn("apoc.coll.sortMaps", 2, (list, name) =>
    sortedBy(listIn("apoc.coll.sortMaps", list), textIn("apoc.coll.sortMaps", name)),
  ),
  ...cypherFns("apoc.coll.flatten", [1, 2], (list, isDeep = false) =>
    flatten(listIn("apoc.coll.flatten", list), isDeep === true),
  ),
  cypherFn("apoc.coll.contains", 2, (list, item) =>
    listIn("apoc.coll.contains", list).some((each) => equals(each, item)),
  ),
  ofLists("apoc.coll.containsAll", (list, items) => {
    const keys = keysOf(list);
    return items.every((item) => keys.has(keyOf(item)));
  }),
  ofLists("apoc.coll.containsAny", (list, items) => {
    const keys = keysOf(list);
    return items.some((item) => keys.has(keyOf(item)));
  }),
  ofLists("apoc.coll.intersection", (a, b) => {
    const keys = keysOf(b);
    return distinct(a.filter((item) => keys.has(keyOf(item))));
  }),
  ofLists("apoc.coll.subtract", (a, b) => {
    const keys = keysOf(b);
    return distinct(a.filter((item) => !keys.has(keyOf(item))));
  }),
  ofLists("apoc.coll.removeAll", (a, b) => {
    const keys = keysOf(b);
    return a.filter((item) => !keys.has(keyOf(item)));
  }),
  ofLists("apoc.coll.union", (a, b) => distinct([...a, ...b])),
  ofLists("apoc.coll.unionAll", (a, b) => [...a, ...b]),
  ofLists("apoc.coll.disjunction", (a, b) => {
    const [ofA, ofB] = [keysOf(a), keysOf(b)];
    return distinct([...a.filter((item) => !ofB.has(keyOf(item))), ...b.filter((item) => !ofA.has(keyOf(item)))]);
  }),
  ofLists("apoc.coll.zip", (a, b) => a.map((item, i) => [item, b[i] ?? null])),
  ofList("apoc.coll.pairs", (list) => pairs(list, true)),
  ofList("apoc.coll.pairsMin", (list) => pairs(list, false)),
  cypherFn("apoc.coll.partition", 2, (list, size) =>
    partition(listIn("apoc.coll.partition", list), integerIn("apoc.coll.partition", size)),
  ),
  cypherFn("apoc.coll.indexOf", 2, (list, item) =>
    listIn("apoc.coll.indexOf", list).findIndex((each) => equals(each, item)),
  ),
  cypherFn(
    "apoc.coll.occurrences",
    2,
    (list, item) => listIn("apoc.coll.occurrences", list).filter((each) => equals(each, item)).length,
  ),
  ofList("apoc.coll.frequencies", frequencies),
  ofList("apoc.coll.duplicates", (list) => {
    const seen = new Set<unknown>();
    return distinct(list.filter((item) => seen.has(keyOf(item)) || !seen.add(keyOf(item))));
  }),
  ofList("apoc.coll.isEmpty", (list) => list.length === 0),
  cypherFn("apoc.coll.insert", 3, (list, at, item) =>
    listIn("apoc.coll.insert", list).toSpliced(integerIn("apoc.coll.insert", at), 0, item),
  ),
  ...cypherFns("apoc.coll.remove", [2, 3], (list, at, count = 1) =>
    listIn("apoc.coll.remove", list).toSpliced(integerIn("apoc.coll.remove", at), integerIn("apoc.coll.remove", count)),
  ),
  cypherFn("apoc.coll.set", 3, (list, at, item) =>
    listIn("apoc.coll.set", list).map((each, i) => (i === at ? item : each)),
  ),
];

function fromPairs(name: string, entries: Iterable<readonly [Variant, Variant]>): Variant {
  const map = new Map<string, Variant>();
  for (const [key, value] of entries)
    if (key !== null) map.set(typeof key === "string" ? key : variantToText(key), value);
  spend(map.size);
  if (map.size > LIST_ITEMS_MAX)
    throw cypherError("ArgumentError", "NumberOutOfRange", `${name}() makes too large a map`);
  return map;
}

function without(map: ReadonlyMap<string, Variant>, keys: readonly Variant[]): Variant {
  const gone = new Set(keys);
  return new Map([...map].filter(([key]) => !gone.has(key)));
}

const keysAt = (name: string, map: ReadonlyMap<string, Variant>, keys: Variant) =>
  listIn(name, keys).map((key) => map.get(textIn(name, key)) ?? null);

const MAP: readonly ScalarFunction[] = [
  cypherFn(
    "apoc.map.merge",
    2,
    (a, b) => {
      return new Map([...mapIn("apoc.map.merge", a ?? new Map()), ...mapIn("apoc.map.merge", b ?? new Map())]);
    },
    NULLS,
  ),
  cypherFn(
    "apoc.map.mergeList",
    1,
    (maps) => new Map(listIn("apoc.map.mergeList", maps).flatMap((map) => [...mapIn("apoc.map.mergeList", map)])),
  ),
  cypherFn("apoc.map.fromPairs", 1, (list) =>
    fromPairs(
      "apoc.map.fromPairs",
      listIn("apoc.map.fromPairs", list).map((pair) => {
        const [key = null, value = null] = listIn("apoc.map.fromPairs", pair);
        return [key, value] as const;
      }),
    ),
  ),
  cypherFn("apoc.map.fromLists", 2, (keys, values) => {
    const items = listIn("apoc.map.fromLists", values);
    return fromPairs(
      "apoc.map.fromLists",
      listIn("apoc.map.fromLists", keys).map((key, i) => [key, items[i] ?? null] as const),
    );
  }),
  cypherFn("apoc.map.fromValues", 1, (list) => {
    const items = listIn("apoc.map.fromValues", list);
    return fromPairs(
      "apoc.map.fromValues",
      Array.from({ length: items.length >> 1 }, (_, i) => [items[2 * i]!, items[2 * i + 1]!] as const),
    );
  }),
  cypherFn(
    "apoc.map.setKey",
    3,
    (map, key, value) => new Map(mapIn("apoc.map.setKey", map ?? new Map())).set(textIn("apoc.map.setKey", key), value),
    NULLS,
  ),
  ...cypherFns("apoc.map.removeKey", [2], (map, key) => without(mapIn("apoc.map.removeKey", map), [key])),
  ...cypherFns("apoc.map.removeKeys", [2], (map, keys) =>
    without(mapIn("apoc.map.removeKeys", map), listIn("apoc.map.removeKeys", keys)),
  ),
  cypherFn("apoc.map.clean", 3, (map, keys, values) => {
    const gone = keysOf(listIn("apoc.map.clean", values));
    const left = without(mapIn("apoc.map.clean", map), listIn("apoc.map.clean", keys)) as ReadonlyMap<string, Variant>;
    return new Map([...left].filter(([, value]) => value !== null && !gone.has(keyOf(value))));
  }),
  cypherFn("apoc.map.values", 2, (map, keys) => keysAt("apoc.map.values", mapIn("apoc.map.values", map), keys)),
  cypherFn("apoc.map.submap", 2, (map, keys) => {
    const source = mapIn("apoc.map.submap", map);
    return fromPairs(
      "apoc.map.submap",
      listIn("apoc.map.submap", keys).map((key) => [key, source.get(textIn("apoc.map.submap", key)) ?? null] as const),
    );
  }),
  ...cypherFns(
    "apoc.map.get",
    [2, 3, 4],
    (map, key, other = null, fails = true) => {
      const found = mapIn("apoc.map.get", map).get(textIn("apoc.map.get", key)) ?? other;
      if (found !== null || fails !== true || mapIn("apoc.map.get", map).has(key)) return found;
      throw cypherError("ArgumentError", "InvalidArgumentValue", `apoc.map.get() found no key ${key}`);
    },
    NULLS,
  ),
  ...cypherFns("apoc.map.sortedProperties", [1], (map) =>
    [...mapIn("apoc.map.sortedProperties", map)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, value]),
  ),
  cypherFn("apoc.map.groupBy", 2, (list, name) => {
    const key = textIn("apoc.map.groupBy", name);
    return fromPairs(
      "apoc.map.groupBy",
      listIn("apoc.map.groupBy", list).map((item) => [mapIn("apoc.map.groupBy", item).get(key) ?? null, item] as const),
    );
  }),
];

const words = (text: string): string[] => text.match(/[\p{Lu}]?[\p{Ll}\p{N}]+|[\p{Lu}\p{N}]+/gu) ?? [];
const capital = (word: string): string => (word === "" ? "" : word[0]!.toUpperCase() + word.slice(1));

function ofText(name: string, change: (text: string) => Variant): ScalarFunction {
  return cypherFn(name, 1, (text) => change(textIn(name, text)), { nanosPerUnit: 20 });
}

/** By the Wagner-Fischer algorithm. */
function levenshtein(a: string, b: string): number {
  spend(a.length * b.length);
  if (a.length * b.length > 1e8) {
    throw cypherError("ArgumentError", "NumberOutOfRange", "the texts are too long to be compared");
  }
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}

const REMOVED = /[^\p{L}\p{N}]/gu;
const cleaned = (text: string): string => text.normalize("NFD").replace(REMOVED, "").toLowerCase();

function joinText(items: Variant, delimiter: Variant): string {
  const parts = listIn("apoc.text.join", items).map((item) =>
    item === null ? "" : (scalarText(item) ?? variantToJson(item)),
  );
  const between = textIn("apoc.text.join", delimiter);
  checkTextLength(parts.reduce((length, part) => length + part.length + between.length, 0));
  return parts.join(between);
}

function repeat(text: Variant, count: Variant): string {
  const [unit, times] = [textIn("apoc.text.repeat", text), integerIn("apoc.text.repeat", count)];
  checkTextLength(unit.length * Math.max(0, times));
  return unit.repeat(Math.max(0, times));
}

function padded(name: string, atStart: boolean): ScalarFunction[] {
  return cypherFns(name, [2, 3], (text, count, by = " ") => {
    const width = integerIn(name, count);
    checkTextLength(width);
    return atStart
      ? textIn(name, text).padStart(width, textIn(name, by))
      : textIn(name, text).padEnd(width, textIn(name, by));
  });
}

const TEXT_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("apoc.text.join", 2, joinText),
  ofText("apoc.text.capitalize", capital),
  ofText("apoc.text.capitalizeAll", (text) => text.replace(/\S+/g, capital)),
  ofText("apoc.text.decapitalize", (text) => (text === "" ? "" : text[0]!.toLowerCase() + text.slice(1))),
  ofText("apoc.text.swapCase", (text) =>
    Array.from(text, (c) => (c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase())).join(""),
  ),
  ofText("apoc.text.camelCase", (text) => {
    const [first = "", ...rest] = words(text).map((word) => word.toLowerCase());
    return first + rest.map(capital).join("");
  }),
  ofText("apoc.text.upperCamelCase", (text) =>
    words(text)
      .map((word) => capital(word.toLowerCase()))
      .join(""),
  ),
  ofText("apoc.text.snakeCase", (text) =>
    words(text)
      .map((word) => word.toLowerCase())
      .join("-"),
  ),
  ofText("apoc.text.toUpperCase", (text) =>
    words(text)
      .map((word) => word.toUpperCase())
      .join("_"),
  ),
  ofText("apoc.text.clean", cleaned),
  ...cypherFns("apoc.text.slug", [1, 2], (text, by = "-") =>
    textIn("apoc.text.slug", text)
      .trim()
      .replace(/[\W\s]+/g, textIn("apoc.text.slug", by)),
  ),
  cypherFn(
    "apoc.text.compareCleaned",
    2,
    (a, b) => cleaned(textIn("apoc.text.compareCleaned", a)) === cleaned(textIn("apoc.text.compareCleaned", b)),
  ),
  ...["apoc.text.replace", "apoc.text.regreplace"].map((name) =>
    cypherFn(
      name,
      3,
      (text, pattern, by) => {
        const matcher = regExpOf(textIn(name, pattern), "gu");
        return textIn(name, text).replace(matcher, textIn(name, by));
      },
      { nanosPerUnit: 100 },
    ),
  ),
  ...cypherFns(
    "apoc.text.split",
    [2, 3],
    (text, pattern, limit = 0) => {
      const parts = textIn("apoc.text.split", text).split(regExpOf(textIn("apoc.text.split", pattern), "u"));
      const most = integerIn("apoc.text.split", limit);
      return most > 0 ? parts.slice(0, most) : parts;
    },
    { nanosPerUnit: 100 },
  ),
  ...cypherFns("apoc.text.indexOf", [2, 3], (text, part, from = 0) =>
    textIn("apoc.text.indexOf", text).indexOf(textIn("apoc.text.indexOf", part), integerIn("apoc.text.indexOf", from)),
  ),
  cypherFn("apoc.text.repeat", 2, repeat),
  ...padded("apoc.text.lpad", true),
  ...padded("apoc.text.rpad", false),
  ...["apoc.text.distance", "apoc.text.levenshteinDistance"].map((name) =>
    cypherFn(name, 2, (a, b) => levenshtein(textIn(name, a), textIn(name, b))),
  ),
  cypherFn("apoc.text.levenshteinSimilarity", 2, (a, b) => {
    const [x, y] = [textIn("apoc.text.levenshteinSimilarity", a), textIn("apoc.text.levenshteinSimilarity", b)];
    const longest = Math.max(x.length, y.length);
    return floatValue(longest === 0 ? 1 : 1 - levenshtein(x, y) / longest);
  }),
  ofText("apoc.text.urlencode", (text) => encodeURIComponent(text).replaceAll("%20", "+")),
  ofText("apoc.text.urldecode", (text) => {
    try {
      return decodeURIComponent(text.replaceAll("+", " "));
    } catch {
      throw cypherError("ArgumentError", "InvalidArgumentValue", "apoc.text.urldecode() cannot decode the text");
    }
  }),
  ofText("apoc.text.base64Encode", (text) => Buffer.from(text).toString("base64")),
  ofText("apoc.text.base64Decode", (text) => Buffer.from(text, "base64").toString()),
  ofText("apoc.text.bytes", (text) => [...Buffer.from(text)]),
];

function fromJson(name: string, text: Variant): Variant {
  const source = textIn(name, text);
  spend(source.length / 4);
  try {
    return variantFromJson(parseKeepingIntegers(source));
  } catch {
    throw cypherError("ArgumentError", "InvalidArgumentValue", `${name}() was given text that is no JSON`);
  }
}

const CONVERT: readonly ScalarFunction[] = [
  cypherFn("apoc.convert.toJson", 1, (value) => variantToJson(value), NULLS),
  cypherFn("apoc.convert.fromJsonMap", 1, (text) => {
    const value = fromJson("apoc.convert.fromJsonMap", text);
    return value === null ? null : new Map(mapIn("apoc.convert.fromJsonMap", value));
  }),
  cypherFn("apoc.convert.fromJsonList", 1, (text) => {
    const value = fromJson("apoc.convert.fromJsonList", text);
    return value === null ? null : listIn("apoc.convert.fromJsonList", value);
  }),
  cypherFn("apoc.convert.toString", 1, (value) => scalarText(value) ?? variantToJson(value)),
  cypherFn("apoc.convert.toList", 1, (value) => (isList(value) ? value : [value])),
  cypherFn("apoc.convert.toSet", 1, (value) => distinct(isList(value) ? value : [value])),
  cypherFn("apoc.convert.toMap", 1, (value) => new Map(mapIn("apoc.convert.toMap", value))),
];

const digest = (name: string, algorithm: string): ScalarFunction =>
  cypherFn(name, 1, (values) => {
    const text = listIn(name, values).map((value) =>
      value === null ? "" : (scalarText(value) ?? variantToJson(value)),
    );
    return createHash(algorithm).update(text.join("")).digest("hex");
  });

const OTHER: readonly ScalarFunction[] = [
  cypherFn("apoc.number.format", 1, (value) => {
    if (!isNumber(value)) return null;
    return new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 }).format(numberOf(value));
  }),
  cypherFn("apoc.number.parseInt", 1, (text) => {
    const value = textIn("apoc.number.parseInt", text).replaceAll(",", "");
    return /^[+-]?\d+(?:\.\d+)?$/.test(value) ? Math.trunc(Number(value)) : null;
  }),
  cypherFn("apoc.number.parseFloat", 1, (text) => {
    const value = textIn("apoc.number.parseFloat", text).replaceAll(",", "");
    return /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value) ? floatValue(Number(value)) : null;
  }),
  digest("apoc.util.md5", "md5"),
  digest("apoc.util.sha1", "sha1"),
  digest("apoc.util.sha256", "sha256"),
  digest("apoc.util.sha384", "sha384"),
  digest("apoc.util.sha512", "sha512"),
];

export const APOC_FUNCTIONS: readonly ScalarFunction[] = [...COLL, ...MAP, ...TEXT_FUNCTIONS, ...CONVERT, ...OTHER];

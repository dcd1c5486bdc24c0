/**
 * Versions and ranges of them as Semantic Versioning 2.0.0 has them, in the notation that npm made common: comparators
 * joined by spaces, alternatives by `||`, with ^, ~, x and *. Pure.
 */

export interface Version {
  readonly numbers: readonly [number, number, number];
  /** Of a pre-release; empty: none. */
  readonly pre: readonly string[];
}

const IDENTIFIERS = "[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*";
const VERSION = new RegExp(
  `^(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})\\.(0|[1-9]\\d{0,8})(?:-(${IDENTIFIERS}))?(?:\\+${IDENTIFIERS})?$`,
);
const PARTIAL = new RegExp(
  `^(\\^|~|>=|<=|>|<|=)?\\s*v?(\\d{1,9}|[xX*])(?:\\.(\\d{1,9}|[xX*]))?(?:\\.(\\d{1,9}|[xX*])(?:-(${IDENTIFIERS}))?)?$`,
);

/** Null for what is no version. */
export function parseVersion(text: string): Version | null {
  const match = VERSION.exec(text);
  if (match === null) return null;
  const pre = match[4]?.split(".") ?? [];
  if (pre.some((part) => /^0\d+$/.test(part))) return null;
  return { numbers: [Number(match[1]), Number(match[2]), Number(match[3])], pre };
}

/** By precedence (section 11): negative when `a` comes first. Both must be versions. */
export function compareVersions(a: string, b: string): number {
  return compare(parseVersion(a)!, parseVersion(b)!);
}

function compare(a: Version, b: Version): number {
  for (let i = 0; i < 3; i++) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i]! - b.numbers[i]!;
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  for (let i = 0; i < Math.min(a.pre.length, b.pre.length); i++) {
    const order = compareIdentifiers(a.pre[i]!, b.pre[i]!);
    if (order !== 0) return order;
  }
  return a.pre.length - b.pre.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

type Test = (version: Version) => boolean;

/** A test of versions; null for what is no range. */
export function parseRange(text: string): ((version: string) => boolean) | null {
  const alternatives = text.split("||").map(parseAll);
  if (alternatives.some((tests) => tests === null)) return null;
  return (version) => {
    const parsed = parseVersion(version);
    return parsed !== null && alternatives.some((tests) => tests!.every((test) => test(parsed)));
  };
}

function parseAll(text: string): readonly Test[] | null {
  const parts = text
    .trim()
    .replace(/(\^|~|>=|<=|>|<|=)\s+/g, "$1")
    .split(/\s+/);
  const tests = parts.map(parseOne);
  return tests.includes(null) ? null : (tests as Test[]);
}

/** Missing parts are anything: `^1.2` is from 1.2.0 to below 2.0.0. */
function parseOne(text: string): Test | null {
  const match = PARTIAL.exec(text);
  if (match === null) return null;
  const [, operator = "", ...rest] = match;
  const given: number[] = [];
  for (const part of rest.slice(0, 3)) {
    if (part === undefined || /^[xX*]$/.test(part)) break;
    given.push(Number(part));
  }
  const pre = given.length === 3 ? (rest[3]?.split(".") ?? []) : [];
  const low: Version = { numbers: [given[0] ?? 0, given[1] ?? 0, given[2] ?? 0], pre };
  if (given.length === 0) return operator === "<" || operator === ">" ? () => false : () => true;
  const above = (kept: number) => raised(low.numbers, kept);
  const from: Test = (version) => compare(version, low) >= 0;
  const below =
    (end: Version): Test =>
    (version) =>
      compare(version, end) < 0;
  const whole = given.length;
  switch (operator) {
    case "^": {
      const first = low.numbers.findIndex((number, i) => number !== 0 || i === whole - 1);
      return both(from, below(above(first)));
    }
    case "~":
      return both(from, below(above(Math.min(whole - 1, 1))));
    case ">=":
      return from;
    case ">":
      return whole === 3
        ? (version) => compare(version, low) > 0
        : (version) => compare(version, above(whole - 1)) >= 0;
    case "<":
      return below(low);
    case "<=":
      return whole === 3 ? (version) => compare(version, low) <= 0 : below(above(whole - 1));
    default:
      return whole === 3 ? (version) => compare(version, low) === 0 : both(from, below(above(whole - 1)));
  }
}

const both =
  (a: Test, b: Test): Test =>
  (version) =>
    a(version) && b(version);

/** The first version whose part at `index` is greater; before its own pre-releases. */
function raised(numbers: Version["numbers"], index: number): Version {
  const next = numbers.map((number, i) => (i < index ? number : i === index ? number + 1 : 0));
  return { numbers: next as unknown as Version["numbers"], pre: ["0"] };
}

/**
 * Regular expressions of JavaScript (flag u) as trees, and whether POSIX's rules for the length of a match (chapter
 * 9.7.3.5) give another match than JavaScript's do: JavaScript takes the first alternative that matches, POSIX the
 * longest match, or the shortest if what comes first is lazy. Used by posix-regexp.ts and posix-match.ts; no state.
 */
import { regExpCost, regExpTokens } from "./regexp-cost.js";

export type RegexNode =
  /** One character. */
  | { readonly kind: "set"; readonly token: string }
  /** An anchor or a lookaround. */
  | { readonly kind: "place"; readonly source: string }
  | { readonly kind: "sequence"; readonly items: readonly RegexNode[] }
  | { readonly kind: "alternatives"; readonly branches: readonly RegexNode[] }
  | { readonly kind: "group"; readonly index: number; readonly inner: RegexNode }
  | {
      readonly kind: "repeat";
      readonly inner: RegexNode;
      readonly least: number;
      readonly most: number;
      /** Null: written as `{n}`, which prefers what its inner part does. */
      readonly prefers: Preference;
    };

export type Preference = "long" | "short" | null;

export interface ParsedPattern {
  readonly root: RegexNode;
  readonly groups: number;
}

const QUANTIFIER = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??$/;
const LOOKAROUND = /^\(\?<?[=!]$/;
const FINITE_MAX = 256;

class Unknown extends Error {}

/** Null: it has back references or lookarounds that take long. */
export function parsePattern(source: string): ParsedPattern | null {
  const reader = new Reader(regExpTokens(source));
  try {
    return { root: reader.alternatives(), groups: reader.groups };
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}

class Reader {
  groups = 0;
  private at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  alternatives(): RegexNode {
    const branches = [this.sequence()];
    while (this.tokens[this.at] === "|") {
      this.at++;
      branches.push(this.sequence());
    }
    return branches.length === 1 ? branches[0]! : { kind: "alternatives", branches };
  }

  private sequence(): RegexNode {
    const items: RegexNode[] = [];
    for (;;) {
      const token = this.tokens[this.at];
      if (token === undefined || token === ")" || token === "|") break;
      this.at++;
      const atom = this.atom(token);
      const quantifier = this.tokens[this.at];
      if (quantifier === undefined || !QUANTIFIER.test(quantifier)) items.push(atom);
      else {
        this.at++;
        items.push(repeated(atom, quantifier));
      }
    }
    return items.length === 1 ? items[0]! : { kind: "sequence", items };
  }

  private atom(token: string): RegexNode {
    if (/^\\[1-9k]/.test(token)) throw new Unknown();
    if (/^(?:[$^]|\\[bB])$/.test(token)) return { kind: "place", source: token };
    if (LOOKAROUND.test(token)) return this.lookaround(this.at - 1);
    if (!token.startsWith("(")) return { kind: "set", token };
    const index = token === "(?:" ? 0 : ++this.groups;
    const inner = this.alternatives();
    this.at++;
    return index === 0 ? inner : { kind: "group", index, inner };
  }

  private lookaround(from: number): RegexNode {
    const before = this.groups;
    this.alternatives();
    this.at++;
    const source = this.tokens.slice(from, this.at).join("");
    const { degree, isAmbiguous } = regExpCost(source);
    if (this.groups > before || degree > 1 || isAmbiguous) throw new Unknown();
    return { kind: "place", source };
  }
}

function repeated(inner: RegexNode, quantifier: string): RegexNode {
  const isLazy = quantifier.length > 1 && quantifier.endsWith("?");
  const bounds = isLazy ? quantifier.slice(0, -1) : quantifier;
  const prefers = isLazy ? "short" : "long";
  if (bounds === "?") return { kind: "repeat", inner, least: 0, most: 1, prefers };
  const unbounded = Number.POSITIVE_INFINITY;
  if (bounds === "*" || bounds === "+") {
    return { kind: "repeat", inner, least: bounds === "+" ? 1 : 0, most: unbounded, prefers };
  }
  const [least, most] = bounds.slice(1, -1).split(",") as [string, string?];
  if (most === undefined) return { kind: "repeat", inner, least: Number(least), most: Number(least), prefers: null };
  return { kind: "repeat", inner, least: Number(least), most: most === "" ? unbounded : Number(most), prefers };
}

export function preferenceOf(pattern: RegexNode): Preference {
  switch (pattern.kind) {
    case "group":
      return preferenceOf(pattern.inner);
    case "alternatives":
      return "long";
    case "sequence":
      for (const item of pattern.items) {
        const preference = preferenceOf(item);
        if (preference !== null) return preference;
      }
      return null;
    case "repeat":
      return pattern.prefers ?? preferenceOf(pattern.inner);
    default:
      return null;
  }
}

export function partsOf(pattern: RegexNode): readonly RegexNode[] {
  if (pattern.kind === "sequence") return pattern.items;
  if (pattern.kind === "alternatives") return pattern.branches;
  return "inner" in pattern ? [pattern.inner] : [];
}

export const hasGroups = (pattern: RegexNode): boolean => pattern.kind === "group" || partsOf(pattern).some(hasGroups);

/** One character as a test. */
export function setTester(token: string, flags: string): RegExp {
  return new RegExp(`^(?:${token})$`, flags.replace(/[gy]/g, ""));
}

/**
 * Whether JavaScript may take another match: alternatives of which one may begin as another does, greedy parts beside
 * lazy ones, or groups that are repeated or left out and whose matches are not all as long.
 */
export function matchesOtherwise(pattern: RegexNode, flags: string): boolean {
  const preferences = new Set<Preference>();
  const differs = (part: RegexNode): boolean => {
    if (part.kind === "repeat") {
      preferences.add(part.prefers);
      if (hasGroups(part.inner) && (part.most > 1 ? widthOf(part.inner) === null : canBeEmpty(part.inner))) return true;
    }
    if (part.kind === "alternatives") {
      preferences.add("long");
      if (!areApart(part.branches, flags)) return true;
    }
    return partsOf(part).some(differs);
  };
  return differs(pattern) || (preferences.has("long") && preferences.has("short"));
}

function areApart(branches: readonly RegexNode[], flags: string): boolean {
  const widths = new Set(branches.map(widthOf));
  if (widths.size === 1 && !widths.has(null)) return true;
  const leads = branches.map(leadOf);
  return leads.every((lead, i) => leads.slice(i + 1).every((other) => partEarly(lead, other, flags)));
}

function canBeEmpty(pattern: RegexNode): boolean {
  if (pattern.kind === "set") return false;
  if (pattern.kind === "place" || (pattern.kind === "repeat" && pattern.least === 0)) return true;
  if (pattern.kind === "alternatives") return pattern.branches.some(canBeEmpty);
  return partsOf(pattern).every(canBeEmpty);
}

/** Characters of every match; null: not always as many. */
function widthOf(pattern: RegexNode): number | null {
  if (pattern.kind === "set") return 1;
  if (pattern.kind === "place") return 0;
  const widths = partsOf(pattern).map(widthOf);
  if (widths.includes(null)) return null;
  if (pattern.kind === "alternatives") return new Set(widths).size === 1 ? widths[0]! : null;
  const width = (widths as number[]).reduce((sum, each) => sum + each, 0);
  if (pattern.kind !== "repeat") return width;
  return pattern.least === pattern.most ? width * pattern.least : null;
}

/** The characters that every match begins with. */
function leadOf(pattern: RegexNode): readonly string[] {
  const lead: string[] = [];
  const add = (part: RegexNode): boolean => {
    if (part.kind === "set") lead.push(part.token);
    if (part.kind === "set" || part.kind === "place") return true;
    if (part.kind === "alternatives") return false;
    if (part.kind === "repeat") return part.least > 0 && add(part.inner) && part.most === 1;
    return partsOf(part).every(add);
  };
  add(pattern);
  return lead;
}

function partEarly(a: readonly string[], b: readonly string[], flags: string): boolean {
  return a.some((token, i) => i < b.length && areDisjoint(token, b[i]!, flags));
}

function areDisjoint(a: string, b: string, flags: string): boolean {
  const members = membersOf(a);
  if (members === null) return membersOf(b) !== null && areDisjoint(b, a, flags);
  const other = setTester(b, flags);
  return members.every((member) => !other.test(member));
}

/** Null: more than can be listed. */
function membersOf(token: string): readonly string[] | null {
  if (token === ".") return null;
  if (!token.startsWith("[") && !token.startsWith("\\")) return [token];
  if (/^\\[^\p{L}\p{N}]$/u.test(token)) return [token.slice(1)];
  const listed = /^\[((?:[^\\\]^-](?:-[^\\\]^-])?)+)\]$/u.exec(token);
  if (listed === null) return null;
  const members: string[] = [];
  for (const [part] of listed[1]!.matchAll(/.-.|./gsu)) {
    const [first, last] = [part.codePointAt(0)!, part.codePointAt(part.length - 1)!];
    if (last - first + members.length > FINITE_MAX) return null;
    for (let code = first; code <= last; code++) members.push(String.fromCodePoint(code));
  }
  return members;
}

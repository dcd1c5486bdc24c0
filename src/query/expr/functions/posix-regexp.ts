/**
 * Regular expressions whose matches are as long as POSIX has them. Where a match begins, V8 or RE2 say
 * (linear-regexp.ts); where it ends and what its groups hold, posix-match.ts, for those patterns alone in which
 * JavaScript may decide otherwise. Called by regex.ts.
 *
 * One difference stays: a pattern with back references, with lookarounds that take long, or with bounds that unfold to
 * thousands of parts is JavaScript's own, and so is an optional part that an earlier one keeps from matching
 * (`a?(ab)?`).
 */
import { REGEX_UNFOLDED_MAX } from "../../../protocol/limits.js";
import { linearRegExp } from "./linear-regexp.js";
import { PosixMatcher } from "./posix-match.js";
import { matchesOtherwise, parsePattern } from "./posix-syntax.js";
import { regExpCost } from "./regexp-cost.js";

/** @param source in JavaScript's syntax; `flags` with u. Throws SyntaxError. */
export function posixRegExp(source: string, flags: string): RegExp {
  const plain = linearRegExp(source, flags);
  if (!/[|?*+{]/.test(source) || regExpCost(source).unfolded > REGEX_UNFOLDED_MAX) return plain;
  const pattern = parsePattern(source);
  if (pattern === null || !matchesOtherwise(pattern.root, flags)) return plain;
  const places = linearRegExp(source, flags, true);
  return new PosixRegExp(source, flags, { places, matcher: new PosixMatcher(pattern, flags) });
}

interface Parts {
  /** Finds where matches begin. */
  readonly places: RegExp;
  readonly matcher: PosixMatcher;
}

/** RegExp's other methods (replace, split, matchAll) all go through `exec`. */
class PosixRegExp extends RegExp {
  private readonly parts: Parts;

  /** As matchAll and split make copies: of another one. */
  constructor(source: string | PosixRegExp, flags: string, parts?: Parts) {
    super(source, flags);
    const own = source instanceof PosixRegExp ? source.parts : parts!;
    this.parts = parts ?? { ...own, places: linearRegExp(own.places.source, flags, true) };
  }

  override test(text: string): boolean {
    if (this.lastIndex !== 0) return this.exec(text) !== null;
    const { places } = this.parts;
    places.lastIndex = 0;
    return places.test(text);
  }

  override exec(text: string): RegExpExecArray | null {
    const { places, matcher } = this.parts;
    places.lastIndex = this.lastIndex;
    const place = places.exec(text);
    if (place === null) {
      this.lastIndex = 0;
      return null;
    }
    const { end, groups } = matcher.match(text, place.index);
    if (this.global || this.sticky) this.lastIndex = end;
    const parts = Array.from({ length: groups.length / 2 }, (_, i) =>
      groups[2 * i]! < 0 ? undefined : text.slice(groups[2 * i]!, groups[2 * i + 1]!),
    );
    parts[0] = text.slice(place.index, end);
    return Object.assign(parts, { index: place.index, input: text, groups: undefined }) as RegExpExecArray;
  }
}

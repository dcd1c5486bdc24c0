/**
 * Versions and ranges of them as Semantic Versioning 2.0.0 has them, by npm's own library. It also takes a leading "v"
 * and ranges without versions of their own pre-releases; recipes are held to plain versions, and a range includes
 * pre-releases.
 */
import { compare, satisfies, valid, validRange } from "semver";

/** Pre-releases count like other versions. */
const OPTIONS = { includePrerelease: true } as const;

/** As the standard writes one: "1.2.3", "1.2.3-beta.1+build.5". */
export function isVersion(text: string): boolean {
  return /^\d/.test(text) && valid(text) !== null;
}

/** By precedence (section 11): negative when `a` comes first. Both must be versions. */
export function compareVersions(a: string, b: string): number {
  return compare(a, b);
}

/** A test of versions; null for what is no range. */
export function parseRange(text: string): ((version: string) => boolean) | null {
  // The library takes nothing for anything.
  if (text.split("||").some((part) => part.trim() === "")) return null;
  if (validRange(text, OPTIONS) === null) return null;
  return (version) => satisfies(version, text, OPTIONS);
}

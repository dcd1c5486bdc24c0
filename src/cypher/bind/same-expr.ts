/**
 * Tells whether two Cypher trees mean the same. Used where a grouping key or a sorted column is written out again.
 */

/** Positions and the case of functions' names do not count. */
export function sameExpr(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => sameExpr(item, b[i]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const isCall = left.kind === "call";
  return Object.keys(left).every((key) => {
    if (key === "position") return true;
    if (key === "name" && isCall) return String(left.name).toLowerCase() === String(right.name).toLowerCase();
    return sameExpr(left[key], right[key]);
  });
}

/** How a row is locked, the weakest first: as `SELECT … FOR` says it. What is written is locked as by FOR UPDATE. */
export const LOCK_STRENGTHS = ["key share", "share", "no key update", "update"] as const;
export type LockStrength = (typeof LOCK_STRENGTHS)[number];

export function isAsStrong(held: LockStrength, wanted: LockStrength): boolean {
  return LOCK_STRENGTHS.indexOf(held) >= LOCK_STRENGTHS.indexOf(wanted);
}

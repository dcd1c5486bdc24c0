/** How a row is locked, the weakest first: as `SELECT … FOR` says it. What is written is locked as by FOR UPDATE. */
export const LOCK_STRENGTHS = ["key share", "share", "no key update", "update"] as const;
export type LockStrength = (typeof LOCK_STRENGTHS)[number];

export function isAsStrong(held: LockStrength, wanted: LockStrength): boolean {
  return LOCK_STRENGTHS.indexOf(held) >= LOCK_STRENGTHS.indexOf(wanted);
}

/** How LOCK TABLE holds a table, the weakest first, in the order of PostgreSQL's numbers, which begin with 1. */
export const TABLE_LOCK_MODES = [
  ...(["access share", "row share", "row exclusive", "share update exclusive"] as const),
  ...(["share", "share row exclusive", "exclusive", "access exclusive"] as const),
] as const;
export type TableLockMode = (typeof TABLE_LOCK_MODES)[number];

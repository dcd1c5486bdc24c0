/**
 * The kinds of variants in the ascending order that openCypher gives them. The order of values
 * (query/expr/variant-order.ts) and that of keys (storage/key-variant.ts, where the numbers are stored) are both by
 * these.
 */
export const KIND = {
  map: 1,
  node: 2,
  relationship: 3,
  list: 4,
  path: 5,
  /** In keys these are paths whose first byte no path has. */
  vector: 5.125,
  bytes: 5.25,
  point: 5.5,
  zonedDateTime: 6,
  localDateTime: 7,
  date: 8,
  zonedTime: 9,
  localTime: 10,
  duration: 11,
  text: 12,
  boolean: 13,
  number: 14,
  null: 15,
} as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

/** The tags of Bolt's messages and structures, and the revisions that are spoken. */

/** From the client. */
export const ASK = {
  hello: 0x01,
  goodbye: 0x02,
  reset: 0x0f,
  run: 0x10,
  begin: 0x11,
  commit: 0x12,
  rollback: 0x13,
  discard: 0x2f,
  pull: 0x3f,
  telemetry: 0x54,
  route: 0x66,
  logon: 0x6a,
  logoff: 0x6b,
} as const;

/** To the client. */
export const TELL = { success: 0x70, record: 0x71, ignored: 0x7e, failure: 0x7f } as const;

/** Values that are structures. */
export const STRUCT = {
  node: 0x4e,
  relationship: 0x52,
  unboundRelationship: 0x72,
  path: 0x50,
  date: 0x44,
  time: 0x54,
  localTime: 0x74,
  localDateTime: 0x64,
  /** With the time that clocks show at the offset, or in the zone: before Bolt 5. */
  offsetDateTimeLocal: 0x46,
  zonedDateTimeLocal: 0x66,
  /** With seconds in UTC: Bolt 5, and Bolt 4 with the patch "utc". */
  offsetDateTime: 0x49,
  zonedDateTime: 0x69,
  duration: 0x45,
  point2D: 0x58,
  point3D: 0x59,
  /** Since Bolt 6. */
  vector: 0x56,
} as const;

/** What a vector's coordinates are: the bytes that stand before one such number in PackStream. */
export const VECTOR_MARKS = {
  INTEGER8: 0xc8,
  INTEGER16: 0xc9,
  INTEGER32: 0xca,
  INTEGER: 0xcb,
  FLOAT32: 0xc6,
  FLOAT: 0xc1,
} as const;

/** A revision of the protocol. */
export interface BoltVersion {
  readonly major: number;
  readonly minor: number;
}

export function isSince({ major, minor }: BoltVersion, sinceMajor: number, sinceMinor: number): boolean {
  return major > sinceMajor || (major === sinceMajor && minor >= sinceMinor);
}

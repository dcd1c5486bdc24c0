/** Tags of variants in records; see variant-writer.ts. Part of a stored format. */
export const TAG = {
  null: 0x00,
  false: 0x01,
  true: 0x02,
  float: 0x03,
  /** Plus the number of bytes, 0 to 8. */
  int: 0x04,
  text: 0x0d,
  utf8Text: 0x0e,
  list: 0x10,
  map: 0x11,
  node: 0x12,
  relationship: 0x13,
  path: 0x14,
  date: 0x20,
  localTime: 0x21,
  zonedTime: 0x22,
  localDateTime: 0x23,
  zonedDateTime: 0x24,
  duration: 0x25,
  point: 0x26,
  bytes: 0x27,
  vector: 0x28,
  /** Plus the length, 0 to 63. */
  shortText: 0x80,
  /** Plus value − SMALL_INT_MIN. */
  smallInt: 0xc0,
} as const;

export const SHORT_TEXT_MAX = 63;
export const SMALL_INT_MIN = -16;
export const SMALL_INT_MAX = 47;

/**
 * The beginning of a connection: four bytes that say it is Bolt, and four proposals of revisions. Newer clients propose
 * to be told what there is (manifest, revision 1), and then choose. Called by connection.ts.
 */
import type { BoltVersion } from "../protocol/bolt/message-tags.js";

const MAGIC = 0x6060b017;
const PROPOSALS = 4;
export const HANDSHAKE_BYTES = 4 + PROPOSALS * 4;
const CHOICE_BYTES = 4;
/** Of the client's capabilities; more is no choice. */
const CAPABILITY_BYTES_MAX = 8;

/** Newest first. A range is a minor and so many before it. */
const OFFERED = [
  { major: 6, minor: 0, range: 0 },
  { major: 5, minor: 8, range: 8 },
  { major: 4, minor: 4, range: 0 },
] as const;

/** "00 00 01 FF" among the proposals. */
const MANIFEST = 0x000001ff;

export type Agreement =
  | { readonly kind: "version"; readonly version: BoltVersion; readonly answer: Buffer }
  /** The client chooses from the answer. */
  | { readonly kind: "manifest"; readonly answer: Buffer }
  /** There is nothing that both speak, or this is no Bolt: the answer, if there is one, and the end. */
  | { readonly kind: "none"; readonly answer: Buffer | null };

/** `bytes`: HANDSHAKE_BYTES of them. */
export function agree(bytes: Buffer): Agreement {
  if (bytes.readUInt32BE(0) !== MAGIC) return { kind: "none", answer: null };
  const proposals = Array.from({ length: PROPOSALS }, (_, i) => bytes.readUInt32BE(4 + i * 4));
  for (const proposal of proposals) {
    if (proposal === MANIFEST) return { kind: "manifest", answer: manifest() };
    const version = firstOf(proposal);
    if (version !== null) return { kind: "version", version, answer: wordOf(version) };
  }
  return { kind: "none", answer: Buffer.alloc(4) };
}

/** The newest revision that is in the proposal's range and offered. */
function firstOf(proposal: number): BoltVersion | null {
  const [range, minor, major] = [(proposal >>> 16) & 0xff, (proposal >>> 8) & 0xff, proposal & 0xff];
  for (let m = minor; m >= Math.max(0, minor - range); m--) {
    const version = { major, minor: m };
    if (isOffered(version)) return version;
  }
  return null;
}

function isOffered({ major, minor }: BoltVersion): boolean {
  return OFFERED.some((each) => each.major === major && minor <= each.minor && minor >= each.minor - each.range);
}

function wordOf({ major, minor }: BoltVersion): Buffer {
  return Buffer.from([0, 0, minor, major]);
}

/** The proposal taken, the number of offers, the offers, and capabilities, of which there are none. */
function manifest(): Buffer {
  const offers = OFFERED.map(({ major, minor, range }) => Buffer.from([0, range, minor, major]));
  return Buffer.concat([Buffer.from([0, 0, 1, 0xff, offers.length]), ...offers, Buffer.from([0])]);
}

export interface Choice {
  /** Null: it is none that was offered. */
  readonly version: BoltVersion | null;
  /** Bytes that the choice took. */
  readonly length: number;
}

/** What the client chose from the manifest, and its capabilities; null: it has not arrived whole. */
export function readChoice(bytes: Buffer): Choice | null {
  if (bytes.length <= CHOICE_BYTES) return null;
  const version = { major: bytes[3]!, minor: bytes[2]! };
  let length = CHOICE_BYTES;
  // A number of seven bits a byte; the highest says that more follow.
  while ((bytes[length]! & 0x80) !== 0) {
    if (++length >= CHOICE_BYTES + CAPABILITY_BYTES_MAX) return { version: null, length };
    if (length >= bytes.length) return null;
  }
  const isPlain = bytes[0] === 0 && bytes[1] === 0;
  return { version: isPlain && isOffered(version) ? version : null, length: length + 1 };
}

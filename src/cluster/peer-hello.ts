/**
 * What a node says first when it connects to another (peer-link.ts): the version of the link that it speaks, and the
 * names of its endpoints by their codes. Frames name endpoints by codes, which differ between releases. So the other
 * end puts its own codes in their place.
 */
import { ENDPOINT_NAMES } from "../protocol/endpoints.js";
import { eachFrame, TAKEN_CODE, UNKNOWN_CODE } from "../protocol/frames.js";
import { LINK_VERSION } from "./releases.js";

export interface PeerHello {
  readonly kind: "hello";
  readonly link: number;
  /** By code. */
  readonly endpoints: readonly string[];
}

export const OWN_HELLO: PeerHello = { kind: "hello", link: LINK_VERSION, endpoints: ENDPOINT_NAMES };

/** Null: frames are taken as they are. */
export type EndpointCodes = Uint16Array | null;

/** This program's codes by those of the other end; undefined: this program does not speak that version of the link. */
export function codesOf({ link, endpoints }: PeerHello, own = ENDPOINT_NAMES): EndpointCodes | undefined {
  if (link !== LINK_VERSION) return undefined;
  const codes = new Map(own.map((name, code) => [name, code]));
  if (endpoints.every((name, code) => codes.get(name) === code)) return null;
  return Uint16Array.from(endpoints, (name) => codes.get(name) ?? UNKNOWN_CODE);
}

/** Changes the codes of requests in place. */
export function translate(frames: ArrayBuffer, codes: Uint16Array): void {
  const numbers = new DataView(frames);
  eachFrame(frames, (_id, start) => {
    const code = numbers.getUint16(start + 8, true);
    if (code < TAKEN_CODE) numbers.setUint16(start + 8, codes[code] ?? UNKNOWN_CODE, true);
  });
}

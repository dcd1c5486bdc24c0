/** The first packet of a connection, which has no letter (chapter 55.7 of PostgreSQL 15's manual). */

import { DbError } from "../protocol/errors.js";
import { MessageFields, namesAndValues, violation } from "../protocol/postgres/message-reader.js";
import { REQUEST } from "../protocol/postgres/message-types.js";

export type FirstPacket =
  | { readonly kind: "ssl" }
  | { readonly kind: "gss" }
  | { readonly kind: "cancel"; readonly session: number; readonly secret: number }
  | {
      readonly kind: "start";
      readonly user: string;
      readonly database: string;
      /** Protocol 3.`minor`. */
      readonly minor: number;
      /** Protocol options that nobody here knows. */
      readonly unknownOptions: readonly string[];
      /** Names and values, as they came. */
      readonly parameters: Buffer;
    };

const BYTES_MIN = 8;
const BYTES_MAX = 10_000;

/** The client says goodbye before it says anything else: there is nobody to answer. */
export class NoStart extends Error {}

/** How the message Terminate begins, read as a length. */
const TERMINATE = 0x58000000;

/** Null: it has not arrived whole. Throws NoStart, 08P01, 0A000. */
export function readFirstPacket(bytes: Buffer): { readonly packet: FirstPacket; readonly length: number } | null {
  if (bytes.length < 4) return null;
  const length = bytes.readInt32BE(0);
  if (length === TERMINATE) throw new NoStart();
  if (length < BYTES_MIN || length > BYTES_MAX) throw violation("the start-up packet has an impossible length");
  if (bytes.length < length) return null;
  const fields = new MessageFields(bytes.subarray(4, length));
  return { packet: packetOf(fields.int32(), fields), length };
}

function packetOf(version: number, fields: MessageFields): FirstPacket {
  if (version === REQUEST.ssl) return { kind: "ssl" };
  if (version === REQUEST.gssEncryption) return { kind: "gss" };
  if (version === REQUEST.cancel) return { kind: "cancel", session: fields.uint32(), secret: fields.int32() };
  const major = version >>> 16;
  if (major !== 3) {
    throw new DbError(
      "not_supported",
      `unsupported frontend protocol ${major}.${version & 0xffff}: server supports 3.0`,
      {
        sqlstate: "0A000",
      },
    );
  }
  const parameters = Buffer.from(fields.rest());
  const pairs = new MessageFields(parameters);
  const said = new Map(namesAndValues(pairs));
  pairs.end();
  const user = said.get("user") ?? "";
  if (user === "") {
    throw new DbError("unauthorized", "no PostgreSQL user name specified in startup packet", { sqlstate: "28000" });
  }
  return {
    kind: "start",
    user,
    database: said.get("database") ?? "",
    minor: version & 0xffff,
    unknownOptions: [...said.keys()].filter((name) => name.startsWith("_pq_.")),
    parameters,
  };
}

/** Values of pgvector's types halfvec and sparsevec in its binary format. */
import { sqlError } from "../../protocol/errors.js";
import { SPARSE_MEMBERS_MAX } from "../../protocol/limits.js";
import type { MessageFields } from "../../protocol/postgres/message-reader.js";
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { halfBits, ofHalfBits } from "../../values/half-vector.js";
import { fitSparse, sparseIn, sparseToText, sparseWith } from "../../values/sparse-vector.js";
import type { SqlType, Value } from "../../values/values.js";
import { checkedVector } from "../../values/vector-text.js";

export function writeHalves(writer: MessageWriter, vector: Float32Array): void {
  writer.uint16(vector.length);
  writer.uint16(0);
  for (const half of halfBits(vector)) writer.uint16(half);
}

export function readHalves(type: SqlType, fields: MessageFields): Value {
  const length = fields.uint16();
  checkUnused(fields.uint16());
  const members = Uint8Array.from(fields.view(length * 2)).buffer;
  // The bytes are turned round in place.
  Buffer.from(members).swap16();
  const bits = new Uint16Array(members);
  if (bits.some((half) => (half & 0x7c00) === 0x7c00)) {
    throw sqlError("22000", "NaN and infinite values are not allowed in halfvec");
  }
  return checkedVector(type, ofHalfBits(bits));
}

export function writeSparse(writer: MessageWriter, text: string): void {
  const { dimensions, places, members } = sparseIn(text);
  writer.int32(dimensions);
  writer.int32(places.length);
  writer.int32(0);
  for (const place of places) writer.int32(place);
  for (const member of members) writer.float32(member);
}

export function readSparse(type: SqlType, fields: MessageFields): Value {
  const dimensions = fields.int32();
  const count = fields.int32();
  checkUnused(fields.int32());
  if (count < 0 || count > SPARSE_MEMBERS_MAX) {
    throw sqlError("54000", `sparsevec cannot have more than ${SPARSE_MEMBERS_MAX} non-zero elements`);
  }
  const places = Array.from({ length: count }, () => fields.int32());
  return fitSparse(
    type,
    sparseToText(
      sparseWith(
        dimensions,
        places.map((place) => [place, fields.float32()] as const),
      ),
    ),
  );
}

/** What later versions may use. */
export function checkUnused(bits: number): void {
  if (bits !== 0) throw sqlError("22P03", `expected unused to be 0, not ${bits}`);
}

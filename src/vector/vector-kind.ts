/** Makes a vector index from its definition, for the life of indexes in memory (src/derived). */
import type { SearchIndexDef, VectorIndexDef } from "../catalog/table.js";
import type { IndexKind } from "../derived/index-body.js";
import { type Indexed, VectorBody } from "./vector-body.js";

/** Changes with the meaning of codes, so that saved graphs with older codes are not used. */
const CODES: Partial<Record<VectorIndexDef["storage"], object>> = { binary: { codes: "above the mean" } };
const BITS = { codes: "bits" };

/** `vectorOf` reads the column out of a record. A cosine has no vector of zeros: those count as missing. */
export function vectorKind(
  { vector, columnIds }: SearchIndexDef,
  indexed: Indexed,
  vectorOf: (record: Uint8Array) => Float32Array | null,
): IndexKind<Float32Array, VectorBody> {
  const definition = vector!;
  // How searches walk does not matter to what the index holds.
  const { efSearch: _, ...kept } = definition;
  const { metric } = kept;
  const { dimensions, isOfBits } = indexed;
  const codes = isOfBits ? BITS : CODES[kept.storage];
  return {
    definition: JSON.stringify({ column: columnIds[0], dimensions, ...kept, ...codes }),
    create: (itemsAt) => VectorBody.create(definition, indexed, itemsAt),
    load: (bytes, itemsAt) => VectorBody.load([bytes], itemsAt),
    loadPieces: (pieces, itemsAt) => VectorBody.load(pieces, itemsAt),
    isBody: (body) => body instanceof VectorBody,
    itemOf: (record) => {
      const found = vectorOf(record);
      return found !== null && metric === "cosine" && found.every((x) => x === 0) ? null : found;
    },
  };
}

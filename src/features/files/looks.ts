/**
 * Images and videos of a folder by their looks: the vectors that the first passage of each has, in fields like those of
 * /v1/multimodal/images, so that a search by an image finds them, too. Called when a folder's collection is made, when
 * its files are to be read anew (which gives a collection of before such fields, and one for a model that came later),
 * and by file-reader.ts.
 */

import type { Request } from "../../actor/request.js";
import { type Collection, collectionOf } from "../../document/collection.js";
import { readSchema } from "../../document/schema-request.js";
import type { ImageLooks } from "../../ingest/image/image-looks.js";
import { VISUAL_DIMENSIONS, VISUAL_MODEL } from "../../ingest/image/visual-feature.js";
import { DbError } from "../../protocol/errors.js";
import type { Transaction } from "../../storage/store.js";
import { changeCollectionIn } from "../documents/change-collection.js";
import type { RunStatement } from "../documents/document-session.js";
import { intoSpace } from "../multimodal/embed-media.js";
import { VISUAL_FIELD, vectorField, vectorFieldOf } from "../multimodal/media-collection.js";
import { type DualEncoderFacts, dualEncoder } from "../multimodal/media-models.js";

/** What sees, for one file. */
export interface Eyes {
  readonly dual: DualEncoderFacts | null;
  /** Why there is no model although one is configured. */
  readonly problem: string | null;
}

export function eyesOf(request: Request): Eyes {
  try {
    return { dual: dualEncoder(request), problem: null };
  } catch (error) {
    // A configured model that is not installed keeps no file from being read: the file's notes say so.
    if (error instanceof DbError) return { dual: null, problem: error.message };
    throw error;
  }
}

/** Vectors by the names of their fields, and what made them. */
export interface LooksVectors {
  readonly fields: Readonly<Record<string, readonly number[]>>;
  readonly models: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Those that the collection has fields for. Throws model_unavailable, overloaded and the like: another try may succeed.
 */
export async function vectorsOf(
  request: Request,
  collection: Collection,
  { feature, pictures }: ImageLooks,
  { dual, problem }: Eyes,
): Promise<LooksVectors> {
  const fields: Record<string, readonly number[]> = {};
  const models: string[] = [];
  const notes = problem === null ? [] : [`looks: no vector of the configured model: ${problem}`];
  if (vectorField(collection, VISUAL_FIELD, VISUAL_DIMENSIONS) === null) {
    notes.push("looks: this collection was made before images were found by them: reprocess it to have that");
    return { fields, models, notes };
  }
  fields[VISUAL_FIELD] = [...feature];
  models.push(VISUAL_MODEL);
  if (dual === null || pictures.length === 0) return { fields, models, notes };
  const name = vectorFieldOf(dual.name);
  if (vectorField(collection, name, dual.dimensions) === null) {
    notes.push(`looks: "${dual.name}" was installed after this collection was made: reprocess it to have its vectors`);
  } else {
    fields[name] = [...(await intoSpace(request, pictures, dual)).vector];
    models.push(dual.name);
  }
  return { fields, models, notes };
}

/**
 * The fields for what sees now, where the collection lacks them; `run` works in the transaction `tx`. They come behind
 * the others: the first vector index of a table is that of its texts, which words are compared with.
 */
export async function addLooksFields(request: Request, tx: Transaction, run: RunStatement, name: string) {
  const table = request.tenant.catalog.view(tx).table(null, name);
  const collection = table === null ? null : collectionOf(table);
  if (collection === null) return;
  const { dual } = eyesOf(request);
  const wanted = [{ name: VISUAL_FIELD, dimensions: VISUAL_DIMENSIONS }];
  if (dual !== null) wanted.push({ name: vectorFieldOf(dual.name), dimensions: dual.dimensions });
  const missing = wanted.filter((field) => !collection.columns.has(field.name));
  if (missing.length === 0) return;
  const schema = readSchema({
    fields: missing.map((field) => ({ ...field, type: "vector" })),
    indexes: missing.map((field) => ({
      name: `near_${field.name}`,
      type: "vector",
      field: field.name,
      metric: "cosine",
    })),
  });
  await changeCollectionIn(request, tx, run, name, { schema, dropFields: [], dropIndexes: [], replaces: false });
}

/**
 * POST /v1/multimodal/images: analyses an image and stores it as a document of a collection, in one transaction.
 */

import type { Request } from "../../actor/request.js";
import { type Collection, collectionOf } from "../../document/collection.js";
import { insertStatement, rowOfDocument } from "../../document/document-rows.js";
import { readSchema } from "../../document/schema-request.js";
import { VISUAL_DIMENSIONS, VISUAL_MODEL } from "../../ingest/image/visual-feature.js";
import type { SeenImage } from "../../ingest/media/look-at-image.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import type { Session } from "../../session/session.js";
import { checkNewName, createCollectionIn } from "../documents/create-collection.js";
import { type RunStatement, writeTogether } from "../documents/document-session.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { intoSpace } from "./embed-media.js";
import {
  IMAGES_COLLECTION,
  imageSchema,
  KIND_FIELD,
  VISUAL_FIELD,
  vectorField,
  vectorFieldOf,
  wordsOf,
} from "./media-collection.js";
import { type DualEncoderFacts, dualEncoder } from "./media-models.js";
import { type MediaMembers, sourceOf, tasksOf } from "./media-source.js";

export interface ImageBody extends MediaMembers {
  readonly collection?: string;
  readonly id?: string;
  readonly caption?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly ocr?: boolean;
}

/** Throws invalid_request for the image, conflict for an id that is taken. */
export async function addImage(request: Request, body: ImageBody): Promise<Answer<ResponseOf<"multimodal.addImage">>> {
  const name = body.collection ?? IMAGES_COLLECTION;
  const isThere = existing(request, name);
  if (!isThere) checkNewName(request, name);
  const source = await sourceOf(request, body, ["image", "image_url"]);
  if (source.modality === "text") throw new Error("an image was asked for");
  const dual = dualEncoder(request);
  const seen = await tasksOf(request).lookAtImage({
    image: source.media,
    feature: true,
    record: true,
    words: body.ocr !== false,
    ...(dual !== null && { pixels: dual.pixels }),
  });
  request.checkpoint();
  const vector = dual === null ? null : (await intoSpace(request, [seen.pixels!], dual)).vector;
  return writeTogether(request, async (run, session) => {
    const collection = await openCollection(request, session, run, name, dual);
    const models: string[] = [];
    const document = documentOf(body, seen, collection, models);
    if (
      dual !== null &&
      vector !== null &&
      vectorField(collection, vectorFieldOf(dual.name), dual.dimensions) !== null
    ) {
      document[vectorFieldOf(dual.name)] = [...vector];
      models.push(dual.name);
    }
    const row = rowOfDocument(collection, document);
    await run(insertStatement(collection, row));
    const { media_type, width, height, text } = document;
    const plain = {
      id: row.id,
      collection: name,
      media_type,
      width,
      height,
      text: (text ?? "") as string,
      models,
      notes: seen.notes,
    };
    return { plain: plain as ResponseOf<"multimodal.addImage"> };
  });
}

/** Throws invalid_request for a table or collection that cannot hold images. */
function existing(request: Request, name: string): boolean {
  const table = withDefinitions(request, (catalog) => catalog.table(null, name));
  if (table === null) return false;
  const collection = collectionOf(table);
  if (collection?.columns.get(KIND_FIELD)?.type === "string") return true;
  throw new DbError("invalid_request", `collection: "${name}" holds no images: it has no field "${KIND_FIELD}".`, {
    field: "collection",
    hint: "Use another name. A collection that does not exist yet is created.",
  });
}

/** In the transaction; made there when it is not there yet. */
async function openCollection(
  request: Request,
  session: Session,
  run: RunStatement,
  name: string,
  dual: DualEncoderFacts | null,
): Promise<Collection> {
  const { tx } = session.contextFor(request);
  const table = request.tenant.catalog.view(tx).table(null, name);
  const found = table === null ? null : collectionOf(table);
  return found ?? createCollectionIn(request, tx, run, name, readSchema(imageSchema(dual)));
}

function documentOf(
  { id, caption = "", metadata = {}, image_url: source }: ImageBody,
  seen: SeenImage,
  collection: Collection,
  models: string[],
): Record<string, unknown> {
  const { mediaType, width, height, bytes, sha256, exif = {}, words = "", thumbnail, feature } = seen;
  const text = wordsOf(caption, words, exif, metadata);
  const hasFeature = vectorField(collection, VISUAL_FIELD, VISUAL_DIMENSIONS) !== null;
  if (hasFeature) models.push(VISUAL_MODEL);
  return {
    ...(id !== undefined && { id }),
    [KIND_FIELD]: "image",
    ...(text !== "" && { text }),
    ...(caption !== "" && { caption }),
    media_type: mediaType,
    width,
    height,
    bytes,
    sha256,
    exif,
    metadata,
    thumbnail,
    ...(source !== undefined && { source }),
    ...(words !== "" && { words }),
    ...(hasFeature && { [VISUAL_FIELD]: [...feature!] }),
  };
}

/**
 * POST /v1/multimodal/search: finds what is like a text, an image or the words in a sound, in all collections whose
 * documents say of what kind they are.
 *
 * A sound is searched for by its words. A text is searched for by its words and its vectors (of texts, and of images
 * if a dual encoder is installed). An image is searched for by the dual encoder where a collection has its vectors,
 * else by the classical feature. Each collection's rankings are fused as in its own search. Scores are from 0 to 1 and
 * do not depend on how many collections are searched. Where different kinds of likeness meet, results are ordered by
 * rank instead.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Request } from "../../actor/request.js";
import { VECTOR_WEIGHT } from "../../catalog/ranked-search.js";
import { type Collection, collectionOf, type Field } from "../../document/collection.js";
import { documentOfRow } from "../../document/document-rows.js";
import { type Ranking, searchStatement } from "../../document/search-sql.js";
import { VISUAL_DIMENSIONS, VISUAL_MODEL } from "../../ingest/image/visual-feature.js";
import type { MediaBytes } from "../../ingest/media/media-bytes.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { EMBEDDING_CHARACTERS_MAX, MEDIA_COLLECTIONS_MAX, SEARCH_LIMIT_DEFAULT } from "../../protocol/limits.js";
import { findCollection } from "../documents/document-session.js";
import { modelWeight, queryShape, textRanking } from "../documents/text-ranking.js";
import { embedderOf } from "../models/request-embedder.js";
import { rowsOf } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { embedMedia, intoSpace, saidIn } from "./embed-media.js";
import { KIND_FIELD, VISUAL_FIELD, vectorField, vectorFieldOf } from "./media-collection.js";
import { dualEncoder } from "./media-models.js";
import { type MediaMembers, type MediaSource, sourceOf } from "./media-source.js";

export const MODALITIES = ["text", "image", "audio", "video"] as const;
export type Modality = (typeof MODALITIES)[number];

export interface MediaSearchBody {
  readonly query: MediaMembers;
  readonly modalities?: readonly Modality[];
  readonly limit?: number;
  readonly collections?: readonly string[];
}

type Method = "dual_encoder" | "visual_feature" | "text";

interface Found {
  readonly collection: string;
  readonly id: string;
  readonly modality: Modality;
  readonly score: number;
  readonly method: string;
  readonly document: Readonly<Record<string, unknown>>;
}

/** How one collection is searched. */
interface Plan {
  readonly collection: Collection;
  readonly rankings: readonly Ranking[];
  readonly methods: readonly Method[];
}

/** Of likenesses that cannot be compared: how much the first places weigh more than those after them. */
const PLACES_K = 60;

export async function searchMedia(
  request: Request,
  body: MediaSearchBody,
): Promise<Omit<ResponseOf<"multimodal.search">, "took_ms">> {
  const { modalities = MODALITIES, limit = SEARCH_LIMIT_DEFAULT } = body;
  const collections = collectionsOf(request, body.collections);
  const source = await sourceOf(request, body.query, ["text", "image", "image_url", "audio"], "query.");
  const transcript = source.modality === "audio" ? await wordsSaidIn(request, source.media) : null;
  const text = source.modality === "text" ? source.text : transcript;
  const { plans, model } =
    text !== null
      ? await textPlans(request, text, collections)
      : await imagePlans(request, source, collections, body.collections !== undefined);
  const lists: Found[][] = [];
  for (const plan of plans) lists.push(await searchOne(request, plan, modalities, limit));
  const results = merged(lists, plans).slice(0, limit);
  const methods = [...new Set(plans.flatMap((plan) => plan.methods))];
  return { results, total: results.length, methods, model, ...(transcript !== null && { transcript }) };
}

async function wordsSaidIn(request: Request, audio: MediaBytes): Promise<string> {
  const text = await saidIn(request, audio);
  if (text !== "") return text.slice(0, EMBEDDING_CHARACTERS_MAX);
  throw new DbError("invalid_request", `${audio.field}: no speech was found in it`, { field: audio.field });
}

function collectionsOf(request: Request, names: readonly string[] | undefined): readonly Collection[] {
  if (names !== undefined) return [...new Set(names)].map((name) => findCollection(request, name));
  const tables = withDefinitions(request, (catalog) => {
    const rights = rightsOfCaller(request.head)(catalog);
    return catalog.tables().filter((table) => rights.mayName(table) && rights.may(table.id, "r"));
  });
  const all = tables.flatMap((table) => collectionOf(table) ?? []).filter(hasKinds);
  if (all.length <= MEDIA_COLLECTIONS_MAX) return all;
  throw new DbError("invalid_request", `collections: name those to search; there are ${all.length}`, {
    field: "collections",
  });
}

function hasKinds({ columns }: Collection): boolean {
  return columns.get(KIND_FIELD)?.type === "string";
}

async function textPlans(request: Request, text: string, collections: readonly Collection[]) {
  const dual = dualEncoder(request);
  const isSeen = (collection: Collection) =>
    dual !== null && vectorField(collection, vectorFieldOf(dual.name), dual.dimensions) !== null;
  const seen = dual !== null && collections.some(isSeen) ? await intoSpace(request, [text], dual) : null;
  const plans: Plan[] = [];
  const embedded = new Map<string | null, Float32Array>();
  for (const collection of collections) {
    const rankings: Ranking[] = [];
    const words = textRanking(collection, text);
    if (words !== null) rankings.push(words);
    const shape = queryShape(request, collection, text);
    for (const { embedding, model } of collection.embedded) {
      const vector = embedded.get(model) ?? (await embedderOf(request).embed([text], model ?? undefined))[0]!;
      embedded.set(model, vector);
      const weight = modelWeight(request, model, text, shape);
      rankings.push({ kind: "vector", column: embedding!, metric: "cosine", vector, weight });
    }
    const methods: Method[] = rankings.length > 0 ? ["text"] : [];
    if (seen !== null && isSeen(collection)) {
      const field = vectorField(collection, vectorFieldOf(seen.model), seen.vector.length)!;
      rankings.push(nearest(field, seen.vector));
      methods.push("dual_encoder");
    }
    if (rankings.length > 0) plans.push({ collection, rankings, methods });
  }
  const model =
    seen?.model ?? (embedded.size > 0 ? request.partition.models.describe([...embedded.keys()][0]!).id : null);
  return { plans, model };
}

async function imagePlans(request: Request, source: MediaSource, collections: readonly Collection[], isNamed: boolean) {
  const dual = dualEncoder(request);
  const bySpace = (collection: Collection) =>
    dual === null ? null : vectorField(collection, vectorFieldOf(dual.name), dual.dimensions);
  const byFeature = (collection: Collection) => vectorField(collection, VISUAL_FIELD, VISUAL_DIMENSIONS);
  const searchable = collections.filter((one) => bySpace(one) !== null || byFeature(one) !== null);
  const blind = collections.find((one) => !searchable.includes(one));
  if (isNamed && blind !== undefined) {
    throw new DbError("invalid_request", `collections: "${blind.name}" has no vectors of images to compare with`, {
      field: "collections",
    });
  }
  // The image is always checked: a broken one is reported even if there is nothing to search.
  const isSeen = searchable.some((one) => bySpace(one) !== null);
  const seen = isSeen ? await embedMedia(request, source, dual!.name) : null;
  const isFelt = seen === null || searchable.some((one) => bySpace(one) === null);
  const felt = isFelt ? await embedMedia(request, source, VISUAL_MODEL) : null;
  const plans = searchable.map((collection): Plan => {
    const field = bySpace(collection);
    if (field !== null) return { collection, rankings: [nearest(field, seen!.vector)], methods: ["dual_encoder"] };
    const ranking = nearest(byFeature(collection)!, felt!.vector);
    return { collection, rankings: [ranking], methods: ["visual_feature"] };
  });
  return { plans, model: (seen ?? felt)!.model };
}

function nearest({ column }: Field, vector: Float32Array): Ranking {
  return { kind: "vector", column: column!, metric: "cosine", vector, weight: VECTOR_WEIGHT };
}

async function searchOne(
  request: Request,
  { collection, rankings, methods }: Plan,
  modalities: readonly Modality[],
  limit: number,
): Promise<Found[]> {
  const filter = kindFilter(collection, modalities);
  if (filter === false) return [];
  const filters = filter === null ? [] : [{ filter, where: "modalities" }];
  const rows = await rowsOf(
    request,
    searchStatement(collection, { rankings, filters, limit, offset: 0, afterId: null }),
  );
  const scorePlace = collection.columns.size + 2;
  const method = methods.join("+");
  const found = rows.filter((row) => row[scorePlace] !== null);
  // Words alone have scores without an upper end.
  const best = rankings.length === 1 && rankings[0]!.kind === "text" ? ((found[0]?.[scorePlace] as number) ?? 1) : 1;
  return found.map((row) => {
    const document = documentOfRow(collection, row) as Record<string, unknown>;
    const kind = document[KIND_FIELD] as string | undefined;
    return {
      collection: collection.name,
      id: row[0] as string,
      modality: modalityOf(kind),
      score: Math.max(0, (row[scorePlace] as number) / best),
      method,
      document: withoutVectors(collection, document),
    };
  });
}

function modalityOf(kind: string | undefined): Modality {
  return kind === "image" || kind === "audio" || kind === "video" ? kind : "text";
}

/** Null: all documents; false: no document can match. A document without a kind is a text. */
function kindFilter(collection: Collection, modalities: readonly Modality[]): object | null | false {
  if (MODALITIES.every((modality) => modalities.includes(modality))) return null;
  const isText = modalities.includes("text");
  if (!hasKinds(collection)) return isText ? null : false;
  const others = MODALITIES.filter((modality) => modality !== "text");
  if (!isText) return { [KIND_FIELD]: { $in: [...modalities] } };
  const left = others.filter((modality) => !modalities.includes(modality));
  return { $or: [{ [KIND_FIELD]: { $exists: false } }, { [KIND_FIELD]: { $nin: left } }] };
}

function withoutVectors({ columns }: Collection, document: Readonly<Record<string, unknown>>): Found["document"] {
  return Object.fromEntries(Object.entries(document).filter(([name]) => columns.get(name)?.type !== "vector"));
}

function merged(lists: readonly Found[][], plans: readonly Plan[]): Found[] {
  const kinds = new Set(plans.map(({ methods }) => methods.filter((method) => method !== "text").join()));
  const scored =
    lists.length <= 1 || kinds.size <= 1
      ? lists.flat()
      : lists.flatMap((list) =>
          list.map((found, place) => ({ ...found, score: (PLACES_K + 1) / (PLACES_K + place + 1) })),
        );
  return scored.sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1));
}

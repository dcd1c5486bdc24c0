/**
 * Bytes of models that were used lately, on shared memory, so that task threads see them without a copy. A model is asked for
 * by its digest, which its record has: so what was deleted or trained anew is never taken for what it was. Bounded, per actor.
 */

import type { Request } from "../../actor/request.js";
import type { ModelBytes } from "../../automl/model-tasks.js";
import { AUTOML_CACHE_BYTES_MAX } from "../../protocol/limits.js";
import { bytesOfModel, noModel, type StoredModel } from "./model-store.js";

/** By tenant and digest, the least recently used first. */
const cached = new Map<string, ModelBytes>();
let bytesHeld = 0;

/** Throws model_not_found when it was deleted meanwhile. */
export async function loadedBytes(request: Request, { id, digest, name }: StoredModel): Promise<ModelBytes> {
  const key = `${request.tenant.number}/${digest}`;
  let model = cached.get(key);
  if (model === undefined) {
    const stored = await bytesOfModel(request, id);
    if (stored === null) throw noModel(name);
    model = cached.get(key);
    if (model === undefined) {
      const bytes = new Uint8Array(new SharedArrayBuffer(stored.length));
      bytes.set(stored);
      model = { digest, bytes };
      bytesHeld += bytes.length;
    }
  }
  cached.delete(key);
  cached.set(key, model);
  for (const [oldest, { bytes }] of cached) {
    if (bytesHeld <= AUTOML_CACHE_BYTES_MAX || oldest === key) break;
    cached.delete(oldest);
    bytesHeld -= bytes.length;
  }
  return model;
}

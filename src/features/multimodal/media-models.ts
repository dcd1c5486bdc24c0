/**
 * Chooses the models for images, by the configuration or by what is installed. Called by the work of /v1/multimodal.
 */

import type { Request } from "../../actor/request.js";
import type { Manifest } from "../../ai/manifest.js";
import { DbError } from "../../protocol/errors.js";
import { PROVIDER_KINDS } from "../../protocol/provider-kinds.js";

export interface DualEncoderFacts {
  readonly name: string;
  readonly dimensions: number;
  /** How it wants images. */
  readonly pixels: { readonly side: number; readonly fit: "crop" | "stretch" };
}

/** What puts texts and images into one space; null: no such model is installed. `name` null: the usual one. */
export function dualEncoder({ partition }: Request, name: string | null = null): DualEncoderFacts | null {
  const { models, config } = partition;
  const wanted = name ?? (config.multimodal.embeddingModel || null);
  if (wanted !== null) return factsOf(models.describeKind(wanted, "dual_encoder"));
  const found = models.firstOf("dual_encoder");
  return found === null ? null : factsOf(found.manifest);
}

function factsOf(manifest: Manifest): DualEncoderFacts {
  return { name: manifest.id, dimensions: manifest.dimensions!, pixels: pixelsOf(manifest) };
}

export function pixelsOf({ image }: Manifest): DualEncoderFacts["pixels"] {
  return { side: image!.size, fit: image!.fit ?? "crop" };
}

/** What describes images. Throws `model_unavailable` that says how to get one, when none is installed. */
export function visionModel({ partition }: Request): string {
  const { models, config } = partition;
  const { visionModel: configured } = config.multimodal;
  if (configured !== "") return configured;
  const found = models.firstOf("vision");
  if (found !== null) return found.name;
  throw new DbError("model_unavailable", "No model that describes images is installed.", {
    hint: `An administrator can pull one: POST /v1/ai/models/pull {"model": "${VISION_PULL}"}, or SELECT PULL_MODEL('${VISION_PULL}'). Or name a provider that is configured: "provider": ${PROVIDER_NAMES}.`,
    pull: VISION_PULL,
  });
}

const PROVIDER_NAMES = PROVIDER_KINDS.map((kind) => `"${kind}"`).join(" or ");

/** Of ai/library/known-models.ts. */
const VISION_PULL = "vit-gpt2-image-captioning";

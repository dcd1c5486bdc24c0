/**
 * POST /v1/multimodal/describe: describes an image in words, by an installed model or by the tenant's provider;
 * without either, by what needs no model (image-facts.ts).
 */

import type { Request } from "../../actor/request.js";
import { type Provider, wholeReply } from "../../ai/providers/provider.js";
import type { ImageJob } from "../../ingest/media/look-at-image.js";
import { DbError } from "../../protocol/errors.js";
import { SHOWN_IMAGE_SIDE_MAX } from "../../protocol/limits.js";
import { FACTS_MODEL, factsOf, type ImageFactsAnswer, sentencesOf } from "./image-facts.js";
import { pixelsOf, visionModel } from "./media-models.js";
import { type MediaMembers, sourceOf, tasksOf } from "./media-source.js";

export interface DescribeBody extends MediaMembers {
  readonly prompt?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly max_tokens?: number;
  readonly temperature?: number;
}

export interface Description {
  readonly text: string;
  readonly model: string;
  readonly provider: string;
  readonly finish_reason: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** Only if no model described it. */
  readonly facts?: ImageFactsAnswer;
  /** What was not done, and how to enable it. */
  readonly notes?: readonly string[];
}

/** Of an answer whose request names no bound, by an installed model. */
const TOKENS_DEFAULT = 64;
const PROMPT_DEFAULT = "Describe the image.";

type Describer =
  | { readonly kind: "native"; readonly model: string }
  | { readonly kind: "provider"; readonly provider: Provider };

/** Throws invalid_request for the image before anything is said of models. */
export async function describeImage(request: Request, body: DescribeBody): Promise<Description> {
  const source = await sourceOf(request, body, ["image", "image_url"]);
  if (source.modality === "text") throw new Error("an image was asked for");
  const tasks = tasksOf(request);
  const describer = describerOf(request, body);
  if (describer instanceof DbError) {
    const isOpen = body.model === undefined && body.provider === undefined;
    if (isOpen && describer.code === "model_unavailable") return byFacts(request, source.media, describer);
    await tasks.lookAtImage({ image: source.media });
    throw describer;
  }
  if (describer.kind === "provider") {
    const { shown } = await tasks.lookAtImage({ image: source.media, shownSideMax: SHOWN_IMAGE_SIDE_MAX });
    request.checkpoint();
    return byProvider(request, describer.provider, body, shown!);
  }
  const { models } = request.partition;
  const manifest = models.describeKind(describer.model, "vision");
  const { pixels } = await tasks.lookAtImage({ image: source.media, pixels: pixelsOf(manifest) });
  request.checkpoint();
  const {
    prompt = PROMPT_DEFAULT,
    max_tokens: tokensMax = manifest.generation?.defaults?.max_tokens ?? TOKENS_DEFAULT,
    temperature = 0,
  } = body;
  const messages = [{ role: "user" as const, content: prompt }];
  const asked = { messages, image: pixels!, tokensMax, temperature, topP: 1, seed: null, stop: [] };
  const written = models.generate(describer.model, asked, request.modelUser, request.signal());
  let text = "";
  for await (const piece of written) text += piece;
  const { reason, inputTokens, outputTokens } = await written.ended;
  if (reason === "cancelled") request.checkpoint();
  return answerOf(text, describer.model, "native", reason, inputTokens, outputTokens);
}

/**
 * An error if no model or provider is available. The image is checked first, because a broken one is broken for all.
 */
function describerOf(request: Request, { provider: name, model }: DescribeBody): Describer | DbError {
  const { models, providers } = request.partition;
  try {
    if (name === undefined || name === "native") {
      if (model === undefined) {
        const usual = visionModel(request);
        models.describeKind(usual, "vision");
        return { kind: "native", model: usual };
      }
      if (name === "native" || models.kindOf(model) !== null) {
        models.describeKind(model, "vision");
        return { kind: "native", model };
      }
    }
    const provider = providers.forTenant(request.tenant, request.budget);
    if (provider !== null && (name === undefined || name === provider.name)) return { kind: "provider", provider };
    if (name === undefined) return unknownModel(request, model!);
    const there = provider === null ? "No provider is configured" : `The configured provider is "${provider.name}"`;
    return new DbError("invalid_request", `provider: ${there}; "${name}" is not available.`, {
      field: "provider",
      hint: "Configure [query.ai_service] or PUT /v1/ai/provider.",
    });
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
}

function unknownModel({ partition }: Request, model: string): never {
  partition.models.describeKind(model, "vision");
  throw new Error("a model that is not there was found");
}

async function byFacts(request: Request, image: ImageJob["image"], missing: DbError): Promise<Description> {
  const seen = await tasksOf(request).lookAtImage({ image, record: true, colours: true, words: true });
  request.checkpoint();
  const facts = factsOf(seen);
  const said = `${missing.message}${missing.details?.hint ?? ""}`;
  const answer = answerOf(sentencesOf(facts), FACTS_MODEL, "native", "stop", 0, 0);
  return { ...answer, facts, notes: [said.trim(), ...seen.notes] };
}

async function byProvider(
  request: Request,
  provider: Provider,
  { prompt = PROMPT_DEFAULT, model, max_tokens: maxTokens, temperature }: DescribeBody,
  image: { readonly base64: string; readonly mediaType: "image/png" | "image/jpeg" },
): Promise<Description> {
  const asked = {
    messages: [{ role: "user" as const, content: prompt, images: [image] }],
    ...(model !== undefined && { model }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
  };
  const reply = await wholeReply(provider.chat(asked, request.signal()));
  request.checkpoint();
  const { text, reason, inputTokens, outputTokens } = reply;
  return answerOf(text, model ?? provider.model, provider.name, reason, inputTokens, outputTokens);
}

function answerOf(
  text: string,
  model: string,
  provider: string,
  reason: string,
  input: number,
  output: number,
): Description {
  const usage = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  return { text: text.trim(), model, provider, finish_reason: reason, usage };
}

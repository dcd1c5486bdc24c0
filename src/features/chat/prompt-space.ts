/**
 * How much of a prompt passages may take, and which models only quote them. Called by all that answer from passages; no
 * state.
 */
import type { Request } from "../../actor/request.js";
import type { Provider } from "../../ai/providers/provider.js";

/** Of the prompt, at most, for passages. */
const PASSAGES_SHARE = 1 / 2;
const CHARACTERS_PER_TOKEN = 4;
/** Of an answer, where the request does not say: what is kept free of the context. */
const ANSWER_TOKENS = 512;
/** Of passages that are quoted from. */
export const QUOTED_CHARACTERS_MAX = 32_768;

export interface PromptSpace {
  /** Of the whole prompt. */
  readonly promptTokens: number;
  /** Of all passages together. */
  readonly passageCharacters: number;
}

/** `model` null: the provider's own. `answerTokens`: as many as the request wants at most. */
export function promptSpace(
  request: Request,
  provider: Provider,
  model: string | null,
  answerTokens = ANSWER_TOKENS,
): PromptSpace {
  const contextTokens = contextOf(request, provider, model);
  const promptTokens = contextTokens - Math.min(answerTokens, Math.ceil(contextTokens / 4));
  return { promptTokens, passageCharacters: Math.floor(promptTokens * PASSAGES_SHARE * CHARACTERS_PER_TOKEN) };
}

/** A model that is too small to answer from passages is not asked where there are collections. */
export function quotesPassages(request: Request, provider: Provider, model: string | null): boolean {
  if (provider.name !== "native") return false;
  return request.partition.models.describeKind(model ?? provider.model, "generation").quotes_passages === true;
}

/** Tokens of a prompt with its answer. */
function contextOf(request: Request, provider: Provider, model: string | null): number {
  const { models, config } = request.partition;
  if (provider.name !== "native") return config.query.aiService.contextTokens;
  return models.describeKind(model ?? provider.model, "generation").max_length;
}

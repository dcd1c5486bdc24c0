/** How many tokens texts have, about, where no model has said it. Pure. */
import type { GenerationRequest } from "./inference-messages.js";
import type { ChatRequest } from "./providers/provider.js";

/** In UTF-8: four letters of English, one or two characters of other scripts. */
const BYTES_PER_TOKEN = 4;
/** About what services count for a picture of usual size. */
const TOKENS_PER_IMAGE = 800;

export function estimatedTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Of all that a model reads: messages, pictures, what it may call. */
export function promptTokens({ messages, tools }: ChatRequest): number {
  let tokens = tools === undefined ? 0 : estimatedTokens(JSON.stringify(tools));
  for (const { content, images = [], toolCalls = [] } of messages) {
    tokens += estimatedTokens(content) + TOKENS_PER_IMAGE * images.length;
    for (const call of toolCalls) tokens += estimatedTokens(JSON.stringify(call.arguments));
  }
  return tokens;
}

/** The same for a bundle; what a sound takes is unknown. */
export function generationTokens({ messages, image }: GenerationRequest): number {
  return promptTokens({ messages }) + (image === undefined ? 0 : TOKENS_PER_IMAGE);
}

/**
 * What of a conversation is put into the prompt. The system prompt, the passages and the new message always are; of the
 * turns before, the newest that fit. The oldest are dropped, whole turns (a message with its answer) at a time, never one
 * between others. Tokens are estimated, at four characters each and four for a message; bundled models count exactly
 * and drop further messages by the same rule (ai/generation/prompt.ts). Holds no state.
 */
import type { ChatMessage } from "../../ai/providers/provider.js";

const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;

export interface Window {
  readonly messages: readonly ChatMessage[];
  /** Messages of the conversation that were left out. */
  readonly dropped: number;
}

/** `history`: oldest first, messages and answers in turns. `tokensMax`: of the whole prompt. */
export function windowOf(
  system: readonly ChatMessage[],
  history: readonly ChatMessage[],
  message: ChatMessage,
  tokensMax: number,
): Window {
  let left = tokensMax - tokensOf([...system, message]);
  let from = history.length;
  while (from >= 2) {
    const needed = tokensOf(history.slice(from - 2, from));
    if (needed > left) break;
    left -= needed;
    from -= 2;
  }
  return { messages: [...system, ...history.slice(from), message], dropped: from };
}

export function tokensOf(messages: readonly ChatMessage[]): number {
  return messages.reduce(
    (sum, { content }) => sum + TOKENS_PER_MESSAGE + Math.ceil(content.length / CHARACTERS_PER_TOKEN),
    0,
  );
}

/** Tools that write texts. */
import Type from "typebox";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { CHAT_CHARACTERS_MAX } from "../../protocol/limits.js";
import { GENERATE_OPTIONS, generateText, writerOf } from "../generation/generate-texts.js";
import type { Tool } from "./tool.js";

const { model, system, max_tokens, temperature, top_p, stop, seed } = GENERATE_OPTIONS.properties;

const generateTextTool: Tool = {
  name: "generate_text",
  door: "none",
  title: "Generate a text",
  description:
    "Writes a text for a prompt with the configured language model, or with the small one that comes with the server.",
  input: Strict({
    prompt: Type.String({ minLength: 1, maxLength: CHAT_CHARACTERS_MAX }),
    model,
    system,
    max_tokens,
    temperature,
    top_p,
    stop,
    seed,
  }),
  hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  forReaders: true,
  call: async ({ request }, { prompt, ...options }) => {
    const { tenant, modelUser } = request;
    const text = await generateText(tenant, modelUser, prompt, options, request.signal());
    const { provider } = writerOf(tenant, modelUser, options.model ?? null);
    const isUnasked = options.model === undefined && provider.name === "native";
    const note = `No provider is configured: the small model of the server itself (${provider.model}) wrote this.`;
    return JSON.stringify({ text, ...(isUnasked && { note }) });
  },
};

export const TEXT_TOOLS: readonly Tool[] = [generateTextTool];

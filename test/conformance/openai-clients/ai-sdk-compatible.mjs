/** The AI SDK with its provider for servers that are compatible with OpenAI. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embed, generateText, streamText, tool } from "ai";
import { z } from "zod";
import { equal, step } from "./steps.mjs";

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const provider = createOpenAICompatible({ name: "tessera", baseURL, apiKey, includeUsage: true });

await step("generateText", async () => {
  const { text, usage } = await generateText({ model: provider("scripted"), prompt: "Hi" });
  equal([text, usage.totalTokens], ["Hello there.", 18]);
});
await step("streamText", async () => {
  const { textStream, usage } = streamText({ model: provider("collection:handbook"), prompt: "The ferry?" });
  let text = "";
  for await (const piece of textStream) text += piece;
  equal([text, (await usage).totalTokens], ["Hello there.", 18]);
});
await step("tool calls", async () => {
  const weather = tool({ description: "The weather.", inputSchema: z.object({ city: z.string() }) });
  const { toolCalls } = await generateText({ model: provider("scripted"), tools: { weather }, prompt: "Kiel?" });
  equal(toolCalls[0].input, { city: "Kiel" });
});
await step("embed", async () => {
  const { embedding } = await embed({ model: provider.embeddingModel("default"), value: "A boat." });
  equal(embedding.length, 384);
});

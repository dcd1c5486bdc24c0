/** The AI SDK with its provider for OpenAI, which uses responses, and chat completions where it is told to. */
import { createOpenAI } from "@ai-sdk/openai";
import { embedMany, generateObject, generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { equal, matches, step } from "./steps.mjs";

const openai = createOpenAI();
const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve(`rain in ${city}`),
});

for (const [name, model] of [
  ["responses", openai("scripted")],
  ["chat", openai.chat("scripted")],
]) {
  await step(`${name}: generateText`, async () => {
    const { text, usage, finishReason } = await generateText({ model, prompt: "Hi" });
    equal(text, "Hello there.");
    equal([usage.inputTokens, usage.outputTokens, finishReason], [11, 7, "stop"]);
  });
  await step(`${name}: streamText`, async () => {
    const { textStream, usage } = streamText({ model, system: "be kind", prompt: "Hi" });
    const pieces = [];
    for await (const piece of textStream) pieces.push(piece);
    equal(pieces, ["Hello ", "there."]);
    equal((await usage).totalTokens, 18);
  });
  await step(`${name}: tools, over two steps`, async () => {
    const request = { model, tools: { weather }, prompt: "The weather in Kiel?", stopWhen: stepCountIs(3) };
    const { text, steps } = await generateText(request);
    equal(text, "It rains in Kiel.");
    equal(steps[0].toolResults[0].output, "rain in Kiel");
    const streamed = streamText(request);
    equal(await streamed.text, "It rains in Kiel.");
  });
  await step(`${name}: generateObject`, async () => {
    const { object } = await generateObject({ model, schema: z.object({ city: z.string() }), prompt: "Where?" });
    equal(object, { city: "Kiel" });
  });
}
await step("responses: a collection's passages", async () => {
  const { text } = await generateText({ model: openai("collection:handbook"), prompt: "When does the ferry leave?" });
  equal(text, "Hello there.");
});
await step("embedMany", async () => {
  const values = ["A boat.", "A walk."];
  const { embeddings } = await embedMany({ model: openai.embedding("default"), values });
  equal(
    embeddings.map(({ length }) => length),
    [384, 384],
  );
});
await step("an error is an APICallError", async () => {
  const error = await generateText({ model: openai("agent:nobody"), prompt: "Hi" }).catch((reason) => reason);
  equal([error.statusCode, error.isRetryable], [404, false]);
  matches(error.message, /There is no agent/);
});

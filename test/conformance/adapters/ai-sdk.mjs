/** The AI SDK through the provider of the adapters. */
import { embed, generateText, streamText } from "ai";
import { createTessera } from "tessera-adapters/ai-sdk";
import { equal, step } from "./steps.mjs";

const tessera = createTessera({ url: process.env.TESSERA_URL, apiKey: process.env.TESSERA_KEY });

await step("generateText", async () => {
  equal((await generateText({ model: tessera("scripted"), prompt: "Hi" })).text, "Hello there.");
});
await step("streamText", async () => {
  const pieces = [];
  for await (const piece of streamText({ model: tessera("scripted"), prompt: "Hi" }).textStream) pieces.push(piece);
  equal(pieces.join(""), "Hello there.");
});
await step("embed", async () => {
  equal((await embed({ model: tessera.textEmbeddingModel("default"), value: "A boat." })).embedding.length, 384);
});
await step("a collection as a model", async () => {
  equal((await generateText({ model: tessera("collection:handbook"), prompt: "When?" })).text.length > 0, true);
});

/** OpenAI's own client, as its quick start has it; test/e2e/openai.test.ts tries more. */
import OpenAI from "openai";
import { equal, step } from "./steps.mjs";

const client = new OpenAI();

await step("responses", async () => {
  const response = await client.responses.create({ model: "scripted", input: "Hi" });
  equal(response.output_text, "Hello there.");
});
await step("chat completions, streamed", async () => {
  const request = { model: "collection:handbook", messages: [{ role: "user", content: "The ferry?" }], stream: true };
  let text = "";
  for await (const { choices } of await client.chat.completions.create(request)) text += choices[0].delta.content ?? "";
  equal(text, "Hello there.");
});
await step("embeddings", async () => {
  const { data } = await client.embeddings.create({ model: "default", input: "A boat." });
  equal(data[0].embedding.length, 384);
});

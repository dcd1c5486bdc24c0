/** LangChain's chat model, structured output, tools and embeddings. */
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAIEmbeddings } from "@langchain/openai";
import { z } from "zod";
import { equal, step } from "./steps.mjs";

const configuration = { baseURL: process.env.OPENAI_BASE_URL };
const model = new ChatOpenAI({ model: "scripted", configuration });

await step("invoke", async () => {
  const { content, usage_metadata: usage } = await model.invoke("Hi");
  equal([content, usage.total_tokens], ["Hello there.", 18]);
});
await step("stream", async () => {
  const pieces = [];
  for await (const { content } of await model.stream("Hi")) if (content !== "") pieces.push(content);
  equal(pieces, ["Hello ", "there."]);
});
await step("bindTools", async () => {
  const weather = tool(({ city }) => `rain in ${city}`, {
    name: "weather",
    description: "The weather of a city.",
    schema: z.object({ city: z.string() }),
  });
  const { tool_calls: calls } = await model.bindTools([weather]).invoke("The weather in Kiel?");
  equal([calls[0].name, calls[0].args], ["weather", { city: "Kiel" }]);
});
await step("withStructuredOutput", async () => {
  const schema = z.object({ city: z.string() });
  equal(await model.withStructuredOutput(schema, { method: "jsonSchema" }).invoke("Where?"), { city: "Kiel" });
});
await step("responses", async () => {
  const responses = new ChatOpenAI({ model: "scripted", useResponsesApi: true, configuration });
  equal((await responses.invoke("Hi")).text, "Hello there.");
});
await step("embedDocuments", async () => {
  const embeddings = new OpenAIEmbeddings({ model: "default", configuration });
  const vectors = await embeddings.embedDocuments(["A boat.", "A walk."]);
  equal(
    vectors.map(({ length }) => length),
    [384, 384],
  );
});

/** Mem0's open-source memory, with its language model and its embeddings from here. */
import { Memory } from "mem0ai/oss";
import { equal, step } from "./steps.mjs";

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const memory = new Memory({
  llm: { provider: "openai", config: { apiKey, baseURL, model: "scripted" } },
  embedder: { provider: "openai", config: { apiKey, baseURL, model: "default", embeddingDims: 384 } },
  vectorStore: { provider: "memory", config: { collectionName: "memories", dimension: 384, dbPath: ":memory:" } },
  disableHistory: true,
});

await step("add, as the model extracts it", async () => {
  const { results } = await memory.add([{ role: "user", content: "I like boats." }], { userId: "ann" });
  equal(results[0].memory, "Likes boats");
});
await step("search", async () => {
  const { results } = await memory.search("What does she like?", { filters: { user_id: "ann" } });
  equal(results[0].memory, "Likes boats");
});

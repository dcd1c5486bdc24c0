/** mem0's open-source memory with its memories in a table. */
import { Memory } from "mem0ai/oss";
import { keptInTessera } from "tessera-adapters/mem0";
import { connect } from "tessera-client";
import { equal, step } from "./steps.mjs";

const { TESSERA_URL: url, TESSERA_KEY: apiKey } = process.env;
const client = connect({ url, apiKey });
const baseURL = `${url}/v1`;
const own = new Memory({
  llm: { provider: "openai", config: { apiKey, baseURL, model: "scripted" } },
  embedder: { provider: "openai", config: { apiKey, baseURL, model: "default", embeddingDims: 384 } },
  vectorStore: { provider: "memory", config: { collectionName: "memories", dimension: 384, dbPath: ":memory:" } },
  disableHistory: true,
});
const memory = keptInTessera(own, { client, table: "mem0_memories" });

let id;
await step("add", async () => {
  const { results } = await memory.add([{ role: "user", content: "I like boats." }], { userId: "ann" });
  equal(results[0].memory, "Likes boats");
  id = results[0].id;
  equal([...(await client.sql`SELECT content FROM mem0_memories`)], [{ content: "Likes boats" }]);
});
await step("search", async () => {
  const { results } = await memory.search("Who likes boats?", { filters: { user_id: "ann" } });
  equal(results[0].memory, "Likes boats");
});
await step("other users' memories are not found", async () => {
  equal((await memory.search("What does she like?", { filters: { user_id: "ben" } })).results, []);
});
await step("get, update, getAll, delete", async () => {
  equal((await memory.get(id)).memory, "Likes boats");
  await memory.update(id, "Loves boats");
  equal(
    (await memory.getAll({ filters: { user_id: "ann" } })).results.map((each) => each.memory),
    ["Loves boats"],
  );
  await memory.delete(id);
  equal(await memory.get(id), null);
});

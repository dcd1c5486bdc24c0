/** LangChain.js over its own contracts: vector store, retriever, history. */
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda, RunnableWithMessageHistory } from "@langchain/core/runnables";
import { SyntheticEmbeddings } from "@langchain/core/utils/testing";
import { TesseraChatMessageHistory, TesseraRetriever, TesseraVectorStore } from "tessera-adapters/langchain";
import { connect } from "tessera-client";
import { equal, step } from "./steps.mjs";

const client = connect({ url: process.env.TESSERA_URL, apiKey: process.env.TESSERA_KEY });
const embeddings = new SyntheticEmbeddings({ vectorSize: 16 });
const store = new TesseraVectorStore(embeddings, { client, table: "lc_documents" });

await step("nothing is found before the first document", async () => {
  equal(await store.similaritySearch("ferry", 2), []);
});
await step("addDocuments and similaritySearchWithScore", async () => {
  const documents = [
    { pageContent: "The ferry leaves at noon.", metadata: { page: 1, kind: "travel" } },
    { pageContent: "Bread needs flour.", metadata: { page: 2, kind: "food" } },
  ];
  equal(await store.addDocuments(documents, { ids: ["a", "b"] }), ["a", "b"]);
  const [[found, score]] = await store.similaritySearchWithScore("Bread needs flour.", 1);
  equal(
    [found.id, found.pageContent, found.metadata, score > 0.999],
    ["b", "Bread needs flour.", { page: 2, kind: "food" }, true],
  );
});
await step("filter, and the retriever of the store", async () => {
  const found = await store.asRetriever({ k: 5, filter: { kind: "travel" } }).invoke("Bread needs flour.");
  equal(
    found.map(({ id }) => id),
    ["a"],
  );
});
await step("a known id is replaced; ids are made up", async () => {
  await store.addDocuments([{ pageContent: "The ferry leaves at one.", metadata: {} }], { ids: ["a"] });
  const [id] = await store.addDocuments([{ pageContent: "New", metadata: { n: 1 } }]);
  equal(typeof id, "string");
  const [found] = await store.similaritySearch("The ferry leaves at one.", 1);
  equal([found.id, found.metadata], ["a", {}]);
});
await step("delete by ids and by filter", async () => {
  await store.delete({ ids: ["a"] });
  await store.delete({ filter: { n: 1 } });
  equal(
    (await store.similaritySearch("anything", 10)).map(({ id }) => id),
    ["b"],
  );
});
await step("fromTexts", async () => {
  const fields = { client, table: "lc_texts" };
  const made = await TesseraVectorStore.fromTexts(["one", "two"], [{ n: 1 }, { n: 2 }], embeddings, fields);
  equal((await made.similaritySearch("two", 1))[0].metadata, { n: 2 });
});
await step("250 documents in one call", async () => {
  const many = new TesseraVectorStore(embeddings, { client, table: "lc_many" });
  await many.addDocuments(Array.from({ length: 250 }, (_, i) => ({ pageContent: `text ${i}`, metadata: { i } })));
  equal([...(await client.sql`SELECT count(*) AS rows FROM lc_many`)], [{ rows: 250 }]);
});
await step("a retriever over a collection", async () => {
  const retriever = new TesseraRetriever({ client, collection: "handbook", k: 1 });
  const [found] = await retriever.invoke("when does the ferry leave?");
  equal(found.pageContent, "The ferry leaves at noon.");
});
await step("history: messages keep their kinds and order; sessions are apart", async () => {
  const history = new TesseraChatMessageHistory({ client, session: "s1" });
  await history.addMessages([new HumanMessage("Hi"), new AIMessage("Hello")]);
  await new TesseraChatMessageHistory({ client, session: "s2" }).addUserMessage("Other");
  equal(
    (await history.getMessages()).map((message) => [message.getType(), message.content]),
    [
      ["human", "Hi"],
      ["ai", "Hello"],
    ],
  );
  await history.clear();
  equal(await history.getMessages(), []);
});
await step("RunnableWithMessageHistory", async () => {
  const echo = new RunnableLambda({ func: (messages) => new AIMessage(`${messages.length} messages`) });
  const chain = new RunnableWithMessageHistory({
    runnable: echo,
    getMessageHistory: (session) => new TesseraChatMessageHistory({ client, session }),
  });
  const config = { configurable: { sessionId: "s3" } };
  await chain.invoke([new HumanMessage("one")], config);
  equal((await chain.invoke([new HumanMessage("two")], config)).content, "3 messages");
});

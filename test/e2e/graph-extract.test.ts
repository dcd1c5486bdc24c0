/**
 * graph/extract with a provider on loopback: what is asked, what is stored, what is refused, and no rights for the
 * text. The same of the facts of a conversation.
 */
import t from "tap";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { TestServer } from "./server.js";

const TEXT = "Marie Curie worked at the Sorbonne.";
const GRAPH = {
  nodes: [
    { name: "Marie Curie", type: "Person", mentions: [], confidence: 0.9 },
    { name: "Sorbonne", type: "University", mentions: [], confidence: 0.8 },
  ],
  edges: [{ from: "Marie Curie", to: "Sorbonne", type: "WORKS_AT", evidence: TEXT, confidence: 0.9 }],
};

const fake = await FakeProvider.start(() => ({ pieces: openaiPieces([JSON.stringify(GRAPH)]) }));
t.teardown(() => fake.close());
const server = await TestServer.start({
  TESSERA_ACTORS: "1",
  ...fake.settings("m-1"),
  TESSERA_QUERY_AI_SERVICE_RETRIES_MAX: "0",
});
t.teardown(() => server.stop());

const extract = async (body: object) =>
  (await server.expect(200, "POST", "/v1/graph/extract", { text: TEXT, ...body })).body.data;
const rows = async (cypher: string) => (await server.expect(200, "POST", "/v1/graph/match", { cypher })).body.data.rows;

t.test("by the provider that is configured", async (t) => {
  const found = await extract({});
  t.match(found, {
    extractor: "provider",
    provider: "openai",
    model: "m-1",
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    stored: false,
    edges: [{ from: "Marie Curie", to: "Sorbonne", type: "WORKS_AT", span: { start: 0, end: TEXT.length } }],
  });
  const { body } = fake.asked.at(-1)!;
  t.match(body, { model: "m-1", response_format: { type: "json_object" }, temperature: 0 });
  t.notOk("tools" in body, "it is offered nothing to call");
  const { model } = await extract({
    options: { provider: "openai", model: "m-2", node_types: ["Person", "University"] },
  });
  t.equal(model, "m-2");
  t.match(fake.asked.at(-1)!.body, { model: "m-2" });
  t.match((await extract({ store: true })).stats, { nodes_created: 2, relationships_created: 1 });
  t.notOk("stats" in (await extract({ store: true, method: "llm" })), "merged by name and type");
  t.same(await rows("MATCH (a:Person)-[r:WORKS_AT]->(b:University) RETURN a.name, b.name, r.confidence"), [
    ["Marie Curie", "Sorbonne", 0.9],
  ]);
});

t.test("rules when they are asked for", async (t) => {
  const before = fake.asked.length;
  t.equal((await extract({ method: "rules" })).extractor, "rules");
  t.equal(fake.asked.length, before);
});

t.test("an answer has no rights", async (t) => {
  const hostile = {
    nodes: [
      { name: "x'}) DETACH DELETE (n) //", type: "A`) DETACH DELETE (n" },
      { name: "Marie Curie", type: "Person` {x: 1}) SET n.y = 1 //" },
      { name: "Sorbonne", type: "\u0000`" },
    ],
    edges: [{ from: "Marie Curie", to: "x'}) DETACH DELETE (n) //", type: "`]->() MATCH (n) DETACH DELETE n //" }],
    graph: "other",
    store: true,
  };
  fake.script = () => ({ pieces: openaiPieces([JSON.stringify(hostile)]) });
  const text = `${TEXT} x'}) DETACH DELETE (n) // was there.`;
  const before = await rows("MATCH (n) RETURN count(n)");
  const { stored, graph } = await extract({ text });
  t.same([stored, graph], [false, "default"]);
  const found = await extract({ text, store: true });
  t.match(found, { graph: "default", stats: { nodes_created: 2, relationships_created: 1 } });
  t.equal(found.stats.nodes_deleted, 0);
  t.same(await rows("MATCH (n) RETURN count(n)"), [[before[0][0] + 2]]);
  t.same(await rows("MATCH (n) WHERE n.y IS NOT NULL RETURN count(n)"), [[0]]);
});

t.test("a provider that fails, and what is refused", async (t) => {
  const refused = async (body: object) => {
    const { status, body: answer } = await server.call("POST", "/v1/graph/extract", { text: TEXT, ...body });
    return [status, answer.error.code, answer.error.details?.field];
  };
  fake.script = () => ({ pieces: openaiPieces(["I would rather not."]) });
  t.same(await refused({}), [502, "provider_error", undefined]);
  fake.script = () => ({ status: 500, pieces: ["{}"] });
  t.same(await refused({}), [503, "provider_unavailable", undefined]);
  t.same(await refused({ options: { provider: "anthropic" } }), [400, "invalid_request", "options.provider"]);
  t.same(await refused({ method: "rules", options: { model: "m" } }), [400, "invalid_request", "options.model"]);
  t.same((await refused({ method: "magic" })).slice(0, 2), [400, "invalid_request"]);
  t.same((await refused({ options: { colour: 1 } })).slice(0, 2), [400, "invalid_request"]);
  t.same((await refused({ options: { node_types: [] } })).slice(0, 2), [400, "invalid_request"]);
  t.same((await refused({ text: "" })).slice(0, 2), [400, "invalid_request"]);
  t.same(await rows("MATCH (n:Sorry) RETURN count(n)"), [[0]]);
});

t.test("facts of a conversation", async (t) => {
  const fact = { content: "The user lives in Rome.", message: 0, evidence: "living in Rome" };
  const answers = ["no JSON", JSON.stringify({ facts: [fact] })];
  const before = fake.asked.length;
  fake.script = (_, number) => ({ pieces: openaiPieces([answers[number - before - 1] ?? "no"]) });
  const messages = [{ role: "user", content: "Still living in Rome, since you ask.", at: "2024-02-03" }];
  const path = "/v1/ai/memory/ann/extract";
  t.match((await server.expect(200, "POST", path, { messages })).body.data, {
    extractor: "provider",
    provider: "openai",
    stored: true,
    usage: { total_tokens: 36 },
    facts: [{ ...fact, valid_from: "2024-02-03T00:00:00.000Z", superseded: [], duplicate_of: null }],
  });
  t.equal(fake.asked.length, before + 2, "one round of repair");
  t.match(fake.asked.at(-1)!.body.messages.at(-1).content, /there is no JSON object/);
  t.notOk("tools" in fake.asked.at(-1)!.body);
  t.match(await server.call("POST", path, { messages, method: "provider" }), {
    status: 502,
    body: { error: { code: "provider_error", message: /did not answer with facts/ } },
  });
});

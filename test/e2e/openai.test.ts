/** OpenAI's interface with OpenAI's own client: models, embeddings, chat completions, tools, streams, and errors. */
import OpenAI from "openai";
import t from "tap";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { TestServer } from "./server.js";

const fake = await FakeProvider.start(() => ({ pieces: [] }));
const server = await TestServer.start({
  ...fake.settings("m-1"),
  TESSERA_QUERY_AI_SERVICE_RETRIES_MAX: "0",
  TESSERA_ACTORS: "1",
});
t.teardown(async () => {
  await server.stop();
  await fake.close();
});
t.beforeEach(() => {
  fake.asked.length = 0;
  fake.script = () => ({ pieces: openaiPieces(["Hello", " there", "!"]) });
});

const { raw_key: apiKey } = (await server.expect(201, "POST", "/v1/api-keys", { name: "openai" })).body.data;
const client = new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
const user = (content: string) => [{ role: "user" as const, content }];

const WEATHER = {
  type: "function" as const,
  function: {
    name: "weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

async function failure(work: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await work;
  } catch (error) {
    if (error instanceof OpenAI.APIError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

await server.expect(201, "POST", "/v1/collections", {
  name: "handbook",
  schema: { fields: [{ name: "text", type: "string", embed: true }] },
});
await server.expect(201, "POST", "/v1/collections/handbook/documents/bulk", {
  documents: [{ text: "The ferry leaves at noon." }, { text: "The bakery opens at six." }],
});
await server.rows(`CREATE AGENT support WITH (instructions = 'You look after the harbour.')`);

t.test("models: installed ones, the provider's, collections and agents", async (t) => {
  const models = [];
  for await (const model of client.models.list()) models.push(model);
  const kinds = new Map(models.map((model) => [model.id, (model as unknown as { kind: string }).kind]));
  t.equal(kinds.get("m-1"), "generation");
  t.equal(kinds.get("tessera-embed-384"), "embedding");
  t.equal(kinds.get("tessera-chat"), "generation");
  t.equal(kinds.get("collection:handbook"), "collection");
  t.equal(kinds.get("agent:support"), "agent");
  t.match(await client.models.retrieve("collection:handbook"), { id: "collection:handbook", object: "model" });
  t.match(await client.models.retrieve("default"), { id: "default", owned_by: "tessera" });
  const error = await failure(client.models.retrieve("nobody"));
  t.ok(error instanceof OpenAI.NotFoundError);
  t.match(error, { code: "model_not_found", param: "model", type: "invalid_request_error" });
});

t.test("embeddings: as numbers, as base64, shortened, and counted", async (t) => {
  const input = ["A boat in the harbour.", "A walk uphill."];
  // The client asks for base64 unless it is told otherwise, and decodes it.
  const decoded = await client.embeddings.create({ model: "tessera-embed-384", input });
  const floats = await client.embeddings.create({ model: "default", input, encoding_format: "float" });
  t.equal(decoded.data.length, 2);
  t.equal(decoded.data[1]!.index, 1);
  for (const [i, { embedding }] of decoded.data.entries()) {
    t.equal(embedding.length, 384);
    t.same(Float32Array.from(embedding), Float32Array.from(floats.data[i]!.embedding));
  }
  t.ok(decoded.usage.prompt_tokens >= 9);
  t.same(floats.usage, decoded.usage, "a text whose vector is remembered counts the same");
  const own = (await server.call("POST", "/v1/ai/embeddings", { text: input[0] })).body.data.embedding;
  t.same(floats.data[0]!.embedding, own);
  const short = await client.embeddings.create({ model: "default", input: input[0]!, dimensions: 64 });
  const [{ embedding }] = short.data as [OpenAI.Embedding];
  t.equal(embedding.length, 64);
  t.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-6);
  const ratio = embedding[0]! / own[0];
  for (const [i, value] of embedding.entries()) t.ok(Math.abs(value - ratio * own[i]) < 1e-6);
  const tokens = await failure(client.embeddings.create({ model: "default", input: [[1, 2], [3]] }));
  t.ok(tokens instanceof OpenAI.BadRequestError);
  t.match(tokens, { param: "input", message: /Lists of tokens/ });
  t.match(await failure(client.embeddings.create({ model: "default", input: "a", dimensions: 385 })), {
    param: "dimensions",
    message: /384/,
  });
  t.match(await failure(client.embeddings.create({ model: "default", input: "" })), { status: 400, param: "input" });
  t.match(await failure(client.embeddings.create({ model: "m-1", input: "a" })), { status: 404 });
});

t.test("a chat completion: what is sent on, and what is answered", async (t) => {
  const { data, response, request_id } = await client.chat.completions
    .create({
      model: "m-2",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Who" },
            { type: "text", text: "are you?" },
          ],
        },
        { role: "developer", content: "be kind" },
        { role: "assistant", content: "Me." },
        { role: "user", content: "Again?" },
      ],
      ...{ temperature: 0.5, top_p: 0.9, seed: 7, stop: "END", max_completion_tokens: 50, logit_bias: { "12": -5 } },
      ...{ frequency_penalty: 0.1, presence_penalty: 0.2, reasoning_effort: "low", user: "ann", store: true, n: 1 },
      ...{ metadata: { a: "b" }, service_tier: "auto", parallel_tool_calls: true, logprobs: false },
    })
    .withResponse();
  t.equal(data.object, "chat.completion");
  t.match(data.id, /^chatcmpl-/);
  t.equal(data.model, "m-2");
  t.match(data.choices, [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello there!" } }]);
  t.same(data.usage, { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
  t.equal(request_id, response.headers.get("x-request-id"));
  t.ok(request_id);
  t.match(fake.asked[0]!.body, {
    model: "m-2",
    messages: [
      { role: "system", content: "be kind" },
      { role: "user", content: "Who\nare you?" },
      { role: "assistant", content: "Me." },
      { role: "user", content: "Again?" },
    ],
    ...{ temperature: 0.5, top_p: 0.9, seed: 7, stop: ["END"], max_tokens: 50, logit_bias: { "12": -5 } },
    ...{ frequency_penalty: 0.1, presence_penalty: 0.2, reasoning_effort: "low" },
  });
  t.notOk("tools" in fake.asked[0]!.body);
});

t.test("a stream: chunks, usage where it is asked for, and the end", async (t) => {
  const request = { model: "m-1", messages: user("Hi") };
  const stream = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  });
  let text = "";
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    chunks.push(chunk);
  }
  t.equal(text, "Hello there!");
  t.equal(chunks[0]!.choices[0]!.delta.role, "assistant");
  t.equal(chunks.at(-2)!.choices[0]!.finish_reason, "stop");
  t.same(chunks.at(-1)!.choices, []);
  t.equal(chunks.at(-1)!.usage!.total_tokens, 18);
  t.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  const raw = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ ...request, stream: true }),
  });
  t.match(raw.headers.get("content-type"), /^text\/event-stream/);
  const body = await raw.text();
  t.ok(body.endsWith("data: [DONE]\n\n"));
  t.notMatch(body, "usage");
});

t.test("tools: calls, choices, and the answer to them", async (t) => {
  fake.script = (_asked, number) => ({
    pieces:
      number === 1
        ? openaiPieces([{ call: "weather", id: "call_a", json: ['{"ci', 'ty":"Kiel"}'] }])
        : openaiPieces(["It rains."]),
  });
  const messages: OpenAI.ChatCompletionMessageParam[] = user("The weather in Kiel?");
  const tools = [WEATHER];
  const first = await client.chat.completions.create({
    ...{ model: "m-1", messages, tools, parallel_tool_calls: false },
    tool_choice: { type: "function", function: { name: "weather" } },
  });
  const [{ message, finish_reason }] = first.choices as [OpenAI.ChatCompletion.Choice];
  t.equal(finish_reason, "tool_calls");
  t.equal(message.content, null);
  t.same(message.tool_calls, [
    { id: "call_a", type: "function", function: { name: "weather", arguments: '{"city":"Kiel"}' } },
  ]);
  t.match(fake.asked[0]!.body, {
    tools: [WEATHER],
    tool_choice: { type: "function", function: { name: "weather" } },
    parallel_tool_calls: false,
  });
  messages.push(message, { role: "tool", tool_call_id: "call_a", content: '{"rain":true}' });
  const second = await client.chat.completions.create({ model: "m-1", messages, tools });
  t.equal(second.choices[0]!.message.content, "It rains.");
  t.match(fake.asked[1]!.body.messages.slice(1), [
    { role: "assistant", tool_calls: [{ id: "call_a", function: { arguments: '{"city":"Kiel"}' } }] },
    { role: "tool", tool_call_id: "call_a", content: '{"rain":true}' },
  ]);
  fake.script = () => ({
    pieces: openaiPieces([
      { call: "weather", json: ['{"city":"Kiel"}'] },
      { call: "weather", json: ['{"city":"Bonn"}'] },
    ]),
  });
  const run = client.chat.completions.stream({ model: "m-1", messages: user("Both?"), tools });
  const { tool_calls: calls = [] } = (await run.finalMessage()) as OpenAI.ChatCompletionMessage;
  t.same(
    calls.map((call) => call.type === "function" && call.function.arguments),
    ['{"city":"Kiel"}', '{"city":"Bonn"}'],
  );
  fake.script = () => ({ pieces: openaiPieces([{ call: "weather", json: ['{"city":'] }]) });
  const broken = await client.chat.completions.create({ model: "m-1", messages: user("Hm?"), tools });
  t.match(broken.choices[0]!.message.tool_calls, [{ function: { arguments: '{"city":' } }], "as the model sent them");
});

t.test("JSON by a schema", async (t) => {
  fake.script = () => ({ pieces: openaiPieces(['{"city":"Kiel"}']) });
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const json_schema = { name: "place", schema, strict: true };
  const response_format = { type: "json_schema" as const, json_schema };
  const answer = await client.chat.completions.create({ model: "m-1", messages: user("Where?"), response_format });
  t.equal(answer.choices[0]!.message.content, '{"city":"Kiel"}');
  t.same(fake.asked[0]!.body.response_format, response_format);
});

t.test("a collection answers from its passages", async (t) => {
  fake.script = () => ({ pieces: openaiPieces(["At noon [1]."]) });
  const request = {
    model: "collection:handbook",
    messages: [{ role: "system" as const, content: "be short" }, ...user("When does the ferry leave?")],
  };
  const answer = await client.chat.completions.create(request);
  t.match(answer.choices[0]!.message, {
    content: "At noon [1].",
    citations: [{ number: 1, collection: "handbook", text: /ferry leaves at noon/, cited: true }],
  });
  const [first, second, last] = fake.asked[0]!.body.messages;
  t.equal(first.content, "be short");
  t.match(second, { role: "system", content: /<passage number="1">\nThe ferry leaves at noon\./ });
  t.match(last, { role: "user", content: "When does the ferry leave?" });
  const citations: unknown[] = [];
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) {
    const delta: { readonly citations?: unknown[] } = chunk.choices[0]!.delta as object;
    citations.push(...(delta.citations ?? []));
  }
  t.ok(citations.length > 0);
  t.match(await failure(client.chat.completions.create({ ...request, model: "collection:none" })), {
    status: 404,
    code: "model_not_found",
  });
});

t.test("an agent works with its own tools", async (t) => {
  fake.script = (_asked, number) => ({
    pieces:
      number === 1 ? openaiPieces([{ call: "list_tables", json: ["{}"] }]) : openaiPieces(["There is a handbook."]),
  });
  const messages = [...user("Hi"), { role: "assistant" as const, content: "Hello." }, ...user("What is there?")];
  const answer = await client.chat.completions.create({ model: "agent:support", messages });
  t.equal(answer.choices[0]!.message.content, "There is a handbook.");
  t.same(answer.usage, { prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 });
  const [system, task] = fake.asked[0]!.body.messages;
  t.match(system.content, /^You look after the harbour\./);
  t.match(task.content, /assistant: Hello\.\n\nThe task now:\nWhat is there\?$/);
  t.match(fake.asked[1]!.body.messages.at(-1), { role: "tool", content: /handbook/ });
  const request = { model: "agent:support", messages, tools: [WEATHER] };
  t.match(await failure(client.chat.completions.create(request)), { status: 400, param: "tools" });
  t.match(await failure(client.chat.completions.create({ model: "agent:nobody", messages })), { status: 404 });
});

t.test("the bundled model refuses what it would not do", async (t) => {
  const request = { model: "tessera-chat", messages: user("Hello"), max_tokens: 4, seed: 1 };
  const answer = await client.chat.completions.create(request);
  t.equal(fake.asked.length, 0, "it is not the provider that was asked");
  t.ok(answer.usage!.completion_tokens <= 4 && answer.usage!.prompt_tokens > 0);
  const fails = (more: object) => failure(client.chat.completions.create({ ...request, ...more }));
  t.match(await fails({ tools: [WEATHER] }), { status: 400, param: "tools", message: /cannot call tools/ });
  t.match(await fails({ response_format: { type: "json_object" } }), { status: 400, param: "response_format" });
  const image_url = { url: "data:image/png;base64,iVBORw0KGgo=" };
  t.match(await fails({ messages: [{ role: "user", content: [{ type: "image_url", image_url }] }] }), {
    status: 400,
    message: /cannot see images/,
  });
});

t.test("errors have OpenAI's form on these routes, and on no others", async (t) => {
  const create = (more: object) =>
    failure(client.chat.completions.create({ model: "m-1", messages: user("Hi"), ...more }));
  const key = await failure(new OpenAI({ apiKey: "sk-wrong", baseURL: `${server.url}/v1` }).models.list());
  t.ok(key instanceof OpenAI.AuthenticationError);
  t.match(key, { code: "invalid_api_key", type: "invalid_request_error", requestID: /./ });
  t.match(await create({ n: 2 }), { status: 400, param: "n", code: "invalid_request" });
  t.match(await create({ temperature: 3 }), { status: 400, param: "temperature" });
  t.match(await create({ colour: "red" }), { status: 400, param: "colour", message: /Unknown field "colour"/ });
  t.match(await create({ messages: [{ role: "king", content: "a" }] }), { status: 400, param: /^messages/ });
  t.match(await create({ messages: [{ role: "tool", content: "a" }] }), { status: 400, message: /tool_call_id/ });
  t.match(await create({ tools: [WEATHER], tool_choice: { type: "function", function: { name: "x" } } }), {
    param: "tool_choice",
  });
  const far = { url: "https://example.com/a.png" };
  t.match(await create({ messages: [{ role: "user", content: [{ type: "image_url", image_url: far }] }] }), {
    status: 400,
    message: /data: URL/,
  });
  const send = (body: string, headers: object = {}) =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...headers },
      body,
    });
  const broken = await send("{");
  t.equal(broken.status, 400);
  t.same(Object.keys((await broken.json()) as object), ["error"]);
  const large = await send(`{"model":"${"m".repeat(40_000_000)}"}`);
  t.equal(large.status, 413);
  t.match(await large.json(), { error: { type: "invalid_request_error", code: "payload_too_large", param: null } });
  const packed = await send("{}", { accept: "application/msgpack" });
  t.match(await packed.json(), { error: { type: "invalid_request_error" } }, "JSON whatever the client accepts");
  const nobody = await fetch(`${server.url}/v1/models`);
  t.equal(nobody.status, 401);
  t.match(await nobody.json(), { error: { message: /./, type: "invalid_request_error", param: null } });
  t.match((await server.call("GET", "/v1/auth/me", undefined, { token: "sk-wrong" })).body, { meta: {} });
});

t.test("a provider that fails, before an answer and within one", async (t) => {
  fake.script = () => ({
    status: 400,
    headers: { "content-type": "application/json" },
    pieces: ['{"error":{"message":"no"}}'],
  });
  const refused = await failure(client.chat.completions.create({ model: "m-1", messages: user("Hi") }));
  t.match(refused, { status: 502, type: "server_error", code: "provider_error" });
  t.equal(refused.headers!.get("x-should-retry"), "false");
  fake.script = () => ({ pieces: openaiPieces(["Hel", "lo"]).slice(0, 3), cut: true });
  const stream = await client.chat.completions.create({ model: "m-1", messages: user("Hi"), stream: true });
  let text = "";
  const error = await failure(
    (async () => {
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
    })(),
  );
  t.equal(text, "Hello");
  t.match(error, { code: /^provider_/ });
});

t.test("a client that leaves stops the answer", async (t) => {
  fake.script = () => ({ pieces: [...openaiPieces(["Hel"]).slice(0, 2), 60_000] });
  const stream = await client.chat.completions.create({ model: "m-1", messages: user("Hi"), stream: true });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content === "Hel") break;
  await fake.asked[0]!.gone;
  t.pass("the provider was left, too");
});

t.test("a key that may only read", async (t) => {
  const body = { name: "reads", permission: "ReadOnly" };
  const { raw_key } = (await server.expect(201, "POST", "/v1/api-keys", body)).body.data;
  const reader = new OpenAI({ apiKey: raw_key, baseURL: `${server.url}/v1`, maxRetries: 0 });
  const answer = await reader.chat.completions.create({ model: "m-1", messages: user("Hi") });
  t.equal(answer.choices[0]!.message.content, "Hello there!");
  const response = await reader.responses.create({ model: "m-1", input: "Hi" });
  t.equal(response.output_text, "Hello there!");
  t.equal((response as { store?: boolean }).store, false);
  t.ok((await failure(reader.responses.delete("resp_1"))) instanceof OpenAI.PermissionDeniedError);
});

t.test("limits are the tenant's, and calls are counted", async (t) => {
  const limited = await TestServer.start({
    TESSERA_ACTORS: "1",
    TESSERA_RATE_LIMIT_PER_SECOND: "1",
    TESSERA_RATE_LIMIT_BURST: "1",
  });
  t.teardown(() => limited.stop());
  const own = new OpenAI({ apiKey: limited.token, baseURL: `${limited.url}/v1`, maxRetries: 0 });
  const list = async () => own.models.list();
  let error: unknown = null;
  for (let i = 0; i < 5 && error === null; i++)
    error = await list().then(
      () => null,
      (thrown: unknown) => thrown,
    );
  t.ok(error instanceof OpenAI.RateLimitError);
  t.match(error, { code: "rate_limit_exceeded", type: "rate_limit_error" });
  t.ok(Number((error as InstanceType<typeof OpenAI.APIError>).headers!.get("retry-after")) > 0);
  const metrics = await (
    await fetch(`${limited.url}/metrics`, { headers: { authorization: `Bearer ${limited.token}` } })
  ).text();
  t.match(metrics, /\/v1\/models/);
});

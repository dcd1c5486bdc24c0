/** The responses of OpenAI's interface with OpenAI's own client: items, events, tools, conversations that are kept. */
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

const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
const client = clientOf(server.token);
const model = "m-1";
const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
};
const said = (at: number): unknown[] =>
  fake.asked[at]!.body.messages.map(({ role, content }: { role: string; content: string }) => [role, content]);
type ApiError = InstanceType<typeof OpenAI.APIError>;
const failure = (work: Promise<unknown>): Promise<ApiError | null> =>
  work.then(
    () => null,
    (error: ApiError) => error,
  );
const fails = (body: object) =>
  failure(
    client.responses.create({ model, input: "Hi", ...body } as OpenAI.Responses.ResponseCreateParamsNonStreaming),
  );

t.test("a response: text in, text out, and what it says of itself", async (t) => {
  const response = await client.responses.create({
    ...{ model, input: "Hi", instructions: "be kind", temperature: 0.2, max_output_tokens: 20 },
    ...{ metadata: { a: "b" }, text: { format: { type: "json_object" } }, reasoning: { effort: "low" }, user: "ann" },
  });
  t.equal(response.output_text, "Hello there!");
  t.match(response, {
    ...{ object: "response", status: "completed", model, instructions: "be kind", metadata: { a: "b" } },
    output: [{ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text" }] }],
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  });
  t.same(said(0), [
    ["system", "be kind"],
    ["user", "Hi"],
  ]);
  t.match(fake.asked[0]!.body, {
    ...{ temperature: 0.2, max_tokens: 20, reasoning_effort: "low", response_format: { type: "json_object" } },
  });
  t.same(await client.responses.retrieve(response.id), response);
  fake.script = () => ({ pieces: openaiPieces(["Hel"], "length") });
  t.match(await client.responses.create({ model, input: "Hi" }), {
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
  });
});

t.test("a conversation goes on from a response that is kept", async (t) => {
  const first = await client.responses.create({ model, input: "One", instructions: "only now" });
  const second = await client.responses.create({
    ...{ model, previous_response_id: first.id },
    input: [{ role: "user", content: [{ type: "input_text", text: "Two" }] }],
  });
  await client.responses.create({ model, input: "Three", previous_response_id: second.id, instructions: "be new" });
  t.same(said(2), [
    ["system", "be new"],
    ["user", "One"],
    ["assistant", "Hello there!"],
    ["user", "Two"],
    ["assistant", "Hello there!"],
    ["user", "Three"],
  ]);
  t.same(await client.responses.delete(first.id), { id: first.id, object: "response", deleted: true });
  t.match(await fails({ previous_response_id: second.id }), { status: 404, param: "previous_response_id" });
  const unkept = await client.responses.create({ model, input: "One", store: false });
  t.match(await fails({ previous_response_id: unkept.id }), { status: 404, message: /are not kept/ });
  t.match(await failure(client.responses.retrieve(unkept.id)), { status: 404 });
});

t.test("each user sees their own", async (t) => {
  const { id } = await client.responses.create({ model, input: "secret" });
  const user = { username: "ben", password: "correct horse battery", roles: ["user"] };
  await server.expect(201, "POST", "/admin/tenants/system/users", user);
  const other = clientOf(await server.login("ben", user.password));
  t.match(await failure(other.responses.retrieve(id)), { status: 404 });
  t.match(await failure(other.responses.delete(id)), { status: 404 });
  t.match(await failure(other.responses.create({ model, input: "and?", previous_response_id: id })), { status: 404 });
});

t.test("tools: calls are items, and so are their outputs", async (t) => {
  fake.script = (_asked, number) => ({
    pieces:
      number === 1
        ? openaiPieces(["Let me see.", { call: "weather", id: "call_a", json: ['{"city":', '"Kiel"}'] }])
        : openaiPieces(["It rains."]),
  });
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "The weather in Kiel?" }];
  const first = await client.responses.create({ model, input, tools: [WEATHER], tool_choice: "required" });
  const [message, call] = first.output as [
    OpenAI.Responses.ResponseOutputMessage,
    OpenAI.Responses.ResponseFunctionToolCall,
  ];
  t.equal(message.type, "message");
  t.match(call, { type: "function_call", call_id: "call_a", name: "weather", arguments: '{"city":"Kiel"}' });
  t.match(fake.asked[0]!.body, { tool_choice: "required", tools: [{ function: { name: "weather" } }] });
  const answered = first.output as OpenAI.Responses.ResponseInput;
  const output = { type: "function_call_output" as const, call_id: "call_a", output: "rain" };
  const second = await client.responses.create({ model, input: [...input, ...answered, output], tools: [WEATHER] });
  t.equal(second.output_text, "It rains.");
  const expected = [
    { role: "user" },
    { role: "assistant", content: "Let me see.", tool_calls: [{ id: "call_a" }] },
    { role: "tool", tool_call_id: "call_a", content: "rain" },
  ];
  t.match(fake.asked[1]!.body.messages, expected);
  const references = first.output.map(({ id }) => ({ type: "item_reference" as const, id: id! }));
  await client.responses.create({ model, input: [...input, ...references, output], tools: [WEATHER] });
  t.match(fake.asked[2]!.body.messages, expected, "references stand for items that are kept");
  await client.responses.create({ model, input: [output], previous_response_id: first.id, tools: [WEATHER] });
  t.match(fake.asked[3]!.body.messages, expected);
});

t.test("a stream tells of each item as it grows", async (t) => {
  fake.script = () => ({ pieces: openaiPieces(["Let ", "me see.", { call: "weather", json: ['{"city":"Kiel"}'] }]) });
  const stream = client.responses.stream({ model, input: "The weather in Kiel?", tools: [WEATHER] });
  const types: string[] = [];
  let [text, numbers] = ["", -1];
  for await (const event of stream) {
    types.push(event.type);
    t.equal(event.sequence_number, ++numbers);
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  t.equal(text, "Let me see.");
  t.same(types, [
    ...["response.created", "response.in_progress"],
    ...["response.output_item.added", "response.content_part.added"],
    ...["response.output_text.delta", "response.output_text.delta", "response.output_text.done"],
    ...["response.content_part.done", "response.output_item.done"],
    ...["response.output_item.added", "response.function_call_arguments.delta"],
    ...["response.function_call_arguments.done", "response.output_item.done"],
    "response.completed",
  ]);
  const final = await stream.finalResponse();
  t.equal(final.output.length, 2);
  t.match(await client.responses.retrieve(final.id), { id: final.id, status: "completed" });
});

t.test("a collection's passages are annotations", async (t) => {
  await server.expect(201, "POST", "/v1/collections", {
    name: "handbook",
    schema: { fields: [{ name: "text", type: "string", embed: true }] },
  });
  await server.expect(201, "POST", "/v1/collections/handbook/documents", { text: "The ferry leaves at noon." });
  fake.script = () => ({ pieces: openaiPieces(["At noon [1]."]) });
  const annotation = { type: "file_citation", file_id: /^handbook\//, filename: /^handbook\//, index: 8 };
  const { output } = await client.responses.create({
    model: "collection:handbook",
    input: "When does the ferry leave?",
  });
  t.match(output, [{ content: [{ text: "At noon [1].", annotations: [annotation] }] }]);
  const stream = await client.responses.create({ model: "collection:handbook", input: "The ferry?", stream: true });
  const told: unknown[] = [];
  for await (const event of stream) {
    if (event.type === "response.output_text.annotation.added") told.push(event.annotation);
  }
  t.match(told, [annotation]);
});

t.test("what is wrong is refused with the field's name", async (t) => {
  t.match(await fails({ background: true }), { status: 400, param: "background" });
  t.match(await fails({ conversation: "conv_1" }), { status: 400, param: "conversation" });
  t.match(await fails({ tools: [{ type: "web_search" }] }), { status: 400, param: /^tools/ });
  t.match(await fails({ input: [{ type: "image_generation_call" }] }), { status: 400, param: "input.0.type" });
  t.match(await fails({ input: [{ role: "king", content: "a" }] }), { status: 400, param: "input.0.role" });
  t.match(await fails({ input: [{ role: "user", content: [{ type: "input_audio" }] }] }), { status: 400 });
  t.match(await fails({ input: [{ type: "item_reference", id: "msg_none_0" }] }), { status: 404 });
  t.match(await fails({ previous_response_id: "resp_none" }), { status: 404, param: "previous_response_id" });
  t.match(await fails({ text: { format: { type: "json_schema" } } }), { status: 400, param: "text.format" });
  t.match(await fails({ model: "agent:nobody" }), { status: 404, code: "model_not_found", param: "model" });
});

t.test("an error within a stream is an event", async (t) => {
  fake.script = () => ({ pieces: openaiPieces(["Hel", "lo"]).slice(0, 3), cut: true });
  const stream = await client.responses.create({ model, input: "Hi", stream: true });
  const types: string[] = [];
  const error = await (async () => {
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === "error") return event;
    }
    return null;
  })();
  t.match(error, { code: /^provider_/, message: /./ });
  t.notOk(types.includes("response.completed"));
});

t.test("an Idempotency-Key gives the same response again", async (t) => {
  const ask = () => client.responses.create({ model, input: "Once" }, { headers: { "Idempotency-Key": "once" } });
  const first = await ask();
  t.equal((await ask()).id, first.id);
  t.equal(fake.asked.length, 1);
  const streamed = { model, input: "Hi", stream: true } as const;
  const refused = await failure(client.responses.create(streamed, { headers: { "Idempotency-Key": "twice" } }));
  t.match(refused, { status: 400, message: /without an Idempotency-Key/ });
});

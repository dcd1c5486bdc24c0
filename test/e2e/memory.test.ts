/** Memories over HTTP, and whether recall finds what is asked for. */
import t from "tap";
import { measureMemories } from "../../bench/quality/memory.js";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const path = (rest: string) => `/v1/ai/memory/${rest}`;

t.test("routes", async (t) => {
  const stored = await server.call("POST", path("Agent-1"), { content: "Ann prefers tea", metadata: { who: "Ann" } });
  t.match(stored, { status: 201, body: { data: { id: /^mem_[0-9a-z]+_[0-9a-z]+$/ } } });
  const { id } = stored.body.data;
  t.match(await server.call("PUT", path("agent-1/lunch"), { content: "Lunch is at noon" }), { status: 200 });
  const found = await server.call("POST", path("agent-1/recall"), { query: "what does Ann drink", k: 1 });
  t.match(found.body.data.memories, [
    { id, content: "Ann prefers tea", metadata: { who: "Ann" }, created_at: /^20.*\.\d{3}Z$/ },
  ]);
  t.ok(found.body.data.memories[0].similarity > 0);
  const all = (await server.call("GET", path("agent-1"))).body.data;
  t.equal(all.total, 2);
  t.match(all.memories, [{ id: "lunch" }, { id }]);
  t.match((await server.call("GET", "/v1/ai/memory")).body.data, {
    namespaces: [{ namespace: "agent-1", table: "_memory_agent-1", count: 2 }],
  });
  t.equal((await server.call("DELETE", path(`agent-1/${id}`))).status, 204);
  t.match(await server.call("DELETE", path(`agent-1/${id}`)), { status: 404, body: { error: { code: "not_found" } } });
  t.equal((await server.call("DELETE", path("agent-1"))).status, 204);
  t.match(await server.call("GET", path("agent-1")), {
    status: 404,
    body: { error: { message: /namespace not found/ } },
  });
  t.same((await server.call("POST", path("agent-1/recall"), { query: "x" })).body.data, { memories: [] });
});

t.test("versions, times, what contradicts", async (t) => {
  const put = (content: string, more = {}) => server.expect(200, "PUT", path("vera/home"), { content, ...more });
  await put("Vera lives in Rome", { valid_from: "2020-01-01" });
  const { superseded } = (await put("Vera lives in Oslo", { valid_from: "2022-05-01T00:00:00Z" })).body.data;
  const get = async (rest: string) => (await server.expect(200, "GET", path(rest))).body.data;
  const [rome] = superseded;
  t.match(await get("vera/home/history"), {
    memories: [
      {
        id: rome,
        content: "Vera lives in Rome",
        valid_from: "2020-01-01T00:00:00.000Z",
        valid_until: "2022-05-01T00:00:00.000Z",
        superseded_by: "home",
      },
      { id: "home", content: "Vera lives in Oslo", valid_until: null, superseded_by: null },
    ],
  });
  t.match(await get("vera"), { total: 1, memories: [{ content: "Vera lives in Oslo" }] });
  t.match(await get("vera?as_of=2021-01-01"), { total: 1, memories: [{ content: "Vera lives in Rome" }] });
  t.match(await get("vera?include_superseded=true"), { total: 2 });
  t.match(
    (await server.expect(200, "GET", "/v1/ai/memory")).body.data.namespaces.find(
      ({ namespace }: { namespace: string }) => namespace === "vera",
    ),
    { count: 1 },
  );
  const recall = async (body: object) =>
    (await server.expect(200, "POST", path("vera/recall"), { query: "home", ...body })).body.data.memories;
  t.match(await recall({ as_of: "2021-01-01" }), [{ id: rome, superseded_by: "home" }]);
  t.equal((await recall({ include_superseded: true })).length, 2);
  const moved = { content: "Vera moved to Lima", supersede: true };
  t.match((await server.expect(201, "POST", path("vera"), moved)).body.data, {
    superseded: ["home"],
    duplicate_of: null,
    judged_by: ["rules"],
  });
  t.match((await server.expect(201, "POST", path("vera"), moved)).body.data, { superseded: [], duplicate_of: /^mem_/ });
  t.match(await recall({}), [{ content: "Vera moved to Lima" }]);
  t.equal((await server.call("DELETE", path(`vera/${rome}`))).status, 204);
  t.match(await get("vera?include_superseded=true"), { total: 0 });
  t.equal((await server.call("GET", path("vera/home/history"))).status, 404);
});

t.test("facts of a conversation, by rules", async (t) => {
  const messages = [
    { role: "user", content: "I live in Oslo now.", at: "2023-03-01T09:00:00Z" },
    { role: "assistant", content: "I live in a computer.", at: "2023-03-01T09:00:01Z" },
    { role: "user", content: "I live in Rome. If I lived in Lima, would you visit?", at: "2021-03-01" },
  ];
  const extract = async (body: object) =>
    (await server.expect(200, "POST", path("otto/extract"), { messages, method: "rules", ...body })).body.data;
  t.match(await extract({ dry_run: true }), {
    stored: false,
    extractor: "rules",
    facts: [
      { content: "The user lives in Rome.", message: 2, valid_from: "2021-03-01T00:00:00.000Z" },
      { content: "The user lives in Oslo.", message: 0, evidence: "I live in Oslo now." },
    ],
  });
  t.equal((await server.call("GET", path("otto"))).status, 404, "only shown");
  const { facts } = await extract({});
  t.same(facts[1].superseded, [facts[0].id]);
  t.match((await extract({})).facts[1], { duplicate_of: facts[1].id });
  const then = { query: "Where does the user live?", as_of: "2022-01-01" };
  t.match((await server.expect(200, "POST", path("otto/recall"), then)).body.data.memories, [
    { content: "The user lives in Rome.", metadata: { source: "extract", message: 2 } },
  ]);
});

// Rules are never changed by looking at these conversations.
t.test("of long conversations the facts are recalled that held", async (t) => {
  const asked = await measureMemories(server, "held-back", 2);
  const count = (outcome: string) => asked.filter((one) => one.outcome === outcome).length;
  t.equal(asked.length, 18);
  t.ok(count("right") >= 15, `right: ${count("right")}`);
  t.ok(count("wrong") <= 1, `wrong: ${count("wrong")}`);
});

t.test("what is wrong with a request", async (t) => {
  for (const [method, rest, body] of [
    ["POST", "a%20b", { content: "x" }],
    ["POST", "a", { content: "" }],
    ["POST", "a", { content: "x", meta: {} }],
    ["POST", "a", { content: "x", metadata: [1] }],
    ["POST", "a/recall", { query: "x", k: 101 }],
    ["POST", "a/recall", { query: "x", k: 1, limit: 1 }],
    ["POST", "a/recall", {}],
    ["POST", "a/recall", { query: "x", recency: 2 }],
    ["POST", "a/recall", { query: "x", as_of: "yesterday" }],
    ["POST", "a", { content: "x", valid_from: "9999-01-01" }],
    ["PUT", "a/b", {}],
    ["PUT", "a/b", { content: "x", supersede: true }],
    ["POST", "a/extract", { messages: [] }],
    ["POST", "a/extract", { messages: [{ role: "user", content: "x", at: "soon" }] }],
    ["POST", "a/extract", { messages: [{ role: "user", content: "x", at: "9999-01-01" }] }],
    ["POST", "a/extract", { messages: [{ role: "user", content: "x" }], method: "provider" }],
  ] as const) {
    t.match(await server.call(method, path(rest), body), { status: 400 }, `${method} ${rest} ${JSON.stringify(body)}`);
  }
  t.match(await server.call("POST", path("blank"), { content: "   " }), { status: 400 });
});

t.test("tenants keep to themselves; a read-only key recalls and does not store", async (t) => {
  const token = await server.tenant("other");
  await server.call("POST", path("shared"), { content: "secret" });
  t.same((await server.call("POST", path("shared/recall"), { query: "secret" }, { token })).body.data.memories, []);
  const made = await server.call("POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" });
  const key = { token: made.body.raw_key as string };
  t.equal((await server.call("POST", path("shared/recall"), { query: "secret" }, key)).body.data.memories.length, 1);
  t.equal((await server.call("POST", path("shared"), { content: "x" }, key)).status, 403);
  t.equal((await server.sql("SELECT memory_store('shared', 'x')", [], key)).status, 403);
  t.equal((await server.sql("SELECT memory_forget('shared', 'x')", [], key)).status, 403);
});

// The bundled model is small, and the questions share few words with what they are about.
t.test("of many memories the right one is recalled", async (t) => {
  for (const [content] of REMEMBERED) await server.call("POST", path("eval"), { content });
  let first = 0;
  let among = 0;
  for (const [content, query] of REMEMBERED) {
    const reply = await server.call("POST", path("eval/recall"), { query, k: 5 });
    const contents = reply.body.data.memories.map((memory: { content: string }) => memory.content);
    if (contents[0] === content) first++;
    if (contents.includes(content)) among++;
  }
  t.comment(`first: ${first} of ${REMEMBERED.length}; among five: ${among}`);
  t.ok(first / REMEMBERED.length >= 0.5, `first: ${first}`);
  t.ok(among / REMEMBERED.length >= 0.8, `among five: ${among}`);
});

/** A memory, and a question that it answers in other words. */
const REMEMBERED: readonly (readonly [content: string, query: string])[] = [
  ["The user's dog is called Biscuit.", "What is the name of the user's pet?"],
  ["Anna is allergic to peanuts.", "Which food must Anna not eat?"],
  ["The weekly meeting is on Tuesdays at ten.", "When do we meet every week?"],
  ["Invoices are paid within thirty days.", "How long do customers have to pay a bill?"],
  ["The database password is rotated every month.", "How often do we change credentials?"],
  ["The user lives in Lisbon near the river.", "Where is the user's home?"],
  ["Production deploys are frozen on Fridays.", "On which day may we not release software?"],
  ["The user prefers answers in Spanish.", "Which language should I reply in?"],
  ["Maria leads the design team.", "Who is in charge of design?"],
  ["The office printer is on the second floor.", "Where can I print a document?"],
  ["The project budget is forty thousand euros.", "How much money may the project spend?"],
  ["Tom plays the violin in an orchestra.", "Who is a musician?"],
  ["The car needs new winter tyres before December.", "What must be done to the vehicle?"],
  ["The user is training for a marathon in April.", "What sport is the user preparing for?"],
  ["Backups run every night at two.", "When is the data saved?"],
  ["The coffee machine breaks when the tank is empty.", "Why does the espresso maker stop working?"],
  ["Grandmother's apple pie recipe needs cinnamon.", "Which spice goes into the dessert?"],
  ["The train to Berlin leaves from platform seven.", "Where does the railway journey to Berlin start?"],
  ["The user is vegetarian.", "Does the user eat meat?"],
  ["Peter's birthday is on the ninth of May.", "When was Peter born?"],
  ["The server room must stay below twenty degrees.", "How cold must the machines be kept?"],
  ["The contract with Acme ends next summer.", "Until when are we bound to Acme?"],
  ["Julia wrote her thesis about coral reefs.", "Which student did research on the ocean?"],
  ["The hotel includes breakfast until eleven.", "Is there a morning meal where we stay?"],
  ["The wifi network is named bluebird.", "Which wireless internet should I connect to?"],
  ["The user dislikes loud music while working.", "What noise disturbs the user?"],
  ["Our competitor raised its prices in March.", "Who became more expensive in spring?"],
  ["The garden is watered at sunset.", "When do the plants get water?"],
  ["The film festival opens with a documentary.", "What movie is shown first?"],
  ["Customer support answers within four hours.", "How quickly do we help clients?"],
  ["The bridge is closed for repairs until June.", "Which road cannot be used?"],
  ["Carlos speaks fluent Japanese.", "Who can translate for visitors from Tokyo?"],
  ["The heating was replaced last winter.", "What was renewed in the building?"],
  ["The user has two daughters and a son.", "How many children does the user have?"],
  ["The recipe takes forty minutes in the oven.", "How long must it bake?"],
  ["Flights to Oslo are cheapest on Wednesdays.", "What day should I book an airplane to Norway?"],
  ["The library card expires in October.", "Until when may I borrow books?"],
  ["The new intern starts on Monday.", "When does the trainee begin?"],
  ["The bakery on the corner sells gluten-free bread.", "Where can I get a loaf without wheat?"],
  ["The alarm code is kept in the red envelope.", "Where do I find the security number?"],
];

/** The language helpers over HTTP and in SQL without a provider, how good they are, and by a provider. */
import t from "tap";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { CATEGORIES, CLASSIFIED, ENTITIES, NEGATED, QUESTIONS, SENTIMENTS } from "./language-samples.js";
import { TestServer } from "./server.js";

const fake = await FakeProvider.start(() => ({ pieces: openaiPieces([reply]) }));
t.teardown(() => fake.close());
let reply = "";

const server = await TestServer.start({
  ...fake.settings("scripted"),
});
t.teardown(() => server.stop());
t.setTimeout(300_000);

const ask = (helper: string, body: object) => server.call("POST", `/v1/ai/${helper}`, body);
const data = async (helper: string, body: object) => {
  const { status, body: answer } = await ask(helper, body);
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(answer)}`);
  return answer.data;
};

t.test("sentiment", async (t) => {
  let right = 0;
  for (const [text, label] of SENTIMENTS) if ((await data("sentiment", { text })).sentiment === label) right++;
  t.comment(`sentiment: ${right} of ${SENTIMENTS.length}`);
  t.ok(right >= 30, String(right));
  const { scores, confidence } = await data("sentiment", { text: "I love it. It is great!" });
  t.ok(Math.abs(scores.positive + scores.negative + scores.neutral - 1) < 1e-6);
  t.ok(confidence > 0.5 && confidence <= 1);
  t.match(await data("sentiment", { text: " ... " }), { sentiment: "neutral" });
  for (const [text, label] of NEGATED) t.match(await data("sentiment", { text }), { sentiment: label }, text);
  const strength = async (text: string) => (await data("sentiment", { text })).scores;
  t.same(await strength("NOT GOOD"), await strength("not good"), "all in capitals is no emphasis");
  t.ok((await strength("I am not HAPPY")).negative > (await strength("I am not happy")).negative, "one word is");
});

t.test("entities", async (t) => {
  let [right, found, wanted] = [0, 0, 0];
  for (const [text, expected] of ENTITIES) {
    const { entities } = await data("entities", { text });
    found += entities.length;
    wanted += expected.length;
    for (const entity of entities) {
      t.equal(text.slice(entity.start, entity.end), entity.text);
      t.equal(entity.type, entity.entity_type);
      if (expected.some(([name, type]) => name === entity.text && type === entity.type)) right++;
    }
  }
  const f1 = (2 * right) / (found + wanted);
  t.comment(`entities: F1 ${f1.toFixed(3)} (${right} right, ${found} found, ${wanted} wanted)`);
  t.ok(f1 >= 0.7, f1.toFixed(3));
  const text = "😀😀 Zoë Müller lives in Tōkyō. 👩‍👩‍👧 Email: zoë@example.com";
  for (const { text: name, start, end } of (await data("entities", { text })).entities)
    t.equal(text.slice(start, end), name);
});

t.test("summaries", async (t) => {
  const text = QUESTIONS.map(([context]) => context)
    .filter((context, i, all) => all.indexOf(context) === i)
    .join(" ");
  for (const max_length of [1, 20, 100, 300, 5000]) {
    const { summary } = await data("summarize", { text, max_length });
    t.ok(summary.length <= max_length, `${max_length}: ${summary.length}`);
    t.ok(summary.length > 0);
    if (max_length === 300) for (const sentence of summary.split(/(?<=\.) /)) t.ok(text.includes(sentence), sentence);
  }
  t.equal((await data("summarize", { text: "One short sentence." })).summary, "One short sentence.");
  t.ok((await data("summarize", { text: "🙂".repeat(500), max_length: 10 })).summary.isWellFormed?.() ?? true);
});

t.test("classes", async (t) => {
  let right = 0;
  for (const [text, category] of CLASSIFIED) {
    const { classifications } = await data("classify", { text, categories: CATEGORIES });
    if (classifications[0].category === category) right++;
    const sum = classifications.reduce(
      (total: number, { confidence }: { confidence: number }) => total + confidence,
      0,
    );
    t.ok(Math.abs(sum - 1) < 0.01);
  }
  t.comment(`classify: ${right} of ${CLASSIFIED.length}`);
  t.ok(right >= 12, String(right));
  const many = await data("classify", {
    text: "A doctor cooks soup.",
    categories: ["health", "food", "sports"],
    multi_label: true,
  });
  t.equal(many.classifications.length, 3);
  t.equal((await data("classify", { text: "The team won the match." })).classifications.length, 10);
});

t.test("answers", async (t) => {
  let [exact, overlapping] = [0, 0];
  for (const [context, question, answer] of QUESTIONS) {
    const found = await data("qa", { question, context });
    t.equal(context.slice(found.start, found.end), found.answer);
    if (found.answer === answer) exact++;
    if (found.answer.includes(answer) || (found.answer !== "" && answer.includes(found.answer))) overlapping++;
    else t.comment(`${question} → ${found.answer}`);
  }
  t.comment(`qa: ${exact} exact, ${overlapping} overlapping of ${QUESTIONS.length}`);
  t.ok(exact >= 10, String(exact));
  t.same(await data("qa", { question: "Who won the football match?", text: "Water boils at 100 degrees." }), {
    answer: "",
    score: 0,
    start: 0,
    end: 0,
  });
});

t.test("SQL functions", async (t) => {
  await server.rows("CREATE TABLE reviews (id int PRIMARY KEY, body text)");
  await server.rows(
    "INSERT INTO reviews VALUES (1, 'I love it, great work'), (2, 'Terrible, I hate it'), (3, NULL), (4, 'Anna moved to Paris')",
  );
  t.same(await server.rows("SELECT id, sentiment(body) FROM reviews ORDER BY id"), [
    [1, "positive"],
    [2, "negative"],
    [3, null],
    [4, "neutral"],
  ]);
  t.same(await server.rows("SELECT id FROM reviews WHERE sentiment(body) = 'negative'"), [[2]]);
  t.same(await server.rows("SELECT classify('The striker scored a goal', ARRAY['sports', 'food'])"), [["sports"]]);
  t.same(await server.rows(`SELECT classify('The striker scored a goal', '["sports", "food"]')`), [["sports"]]);
  t.same(await server.rows("SELECT length(summarize(repeat('A sentence of some words. ', 100), 60)) <= 60"), [[true]]);
  t.same(
    await server.rows(
      "SELECT e->>'type', e->>'text' FROM reviews, jsonb_array_elements(extract_entities(body)) AS e WHERE id = 4",
    ),
    [
      ["PERSON", "Anna"],
      ["LOCATION", "Paris"],
    ],
  );
  t.equal((await server.sql("SELECT classify('x', ARRAY[]::text[])")).status, 400);
  t.equal((await server.sql("SELECT summarize('x', 0)")).status, 400);
});

t.test("what is wrong with a request", async (t) => {
  for (const [helper, body] of [
    ["sentiment", {}],
    ["sentiment", { text: "" }],
    ["sentiment", { text: "a", extra: 1 }],
    ["entities", { text: 5 }],
    ["entities", { text: "x".repeat(200_001) }],
    ["summarize", { text: "a", max_length: 0 }],
    ["classify", { text: "a", categories: [] }],
    ["qa", { question: "a" }],
    ["qa", { question: "a", text: "b", context: "c" }],
    ["sentiment", { text: "a", provider: "anthropic" }],
  ] as const) {
    t.match(await ask(helper, body), { status: 400 }, `${helper} ${JSON.stringify(body).slice(0, 100)}`);
  }
});

t.test("by a provider, when it is asked for", async (t) => {
  const provider = "openai";
  reply = '{"sentiment": "negative", "confidence": 0.8}';
  t.match(await data("sentiment", { text: "fine", provider }), { sentiment: "negative", confidence: 0.8 });
  reply =
    'Sure: {"entities": [{"text": "Bob", "type": "person"}, {"text": "Nobody"}, {"text": "Bob", "type": "PERSON"}]}';
  t.match((await data("entities", { text: "Bob and Bob", model: "large" })).entities, [
    { text: "Bob", type: "PERSON", start: 0, end: 3 },
    { start: 8, end: 11 },
  ]);
  t.equal(fake.asked.at(-1)!.body.model, "large");
  reply = '{"summary": "A very long summary of something"}';
  t.equal((await data("summarize", { text: "x. y. z.", max_length: 12, provider })).summary, "A very…");
  reply = '{"classifications": [{"category": "b", "confidence": 0.7}, {"category": "unknown", "confidence": 1}]}';
  t.same((await data("classify", { text: "x", categories: ["a", "b"], provider })).classifications, [
    { category: "b", confidence: 0.7 },
    { category: "a", confidence: 0 },
  ]);
  reply = '{"answer": "blue", "confidence": 0.5}';
  t.same(await data("qa", { question: "Which colour?", context: "It is Blue.", provider }), {
    answer: "blue",
    score: 0.5,
    start: 6,
    end: 10,
  });
  reply = '{"answer": "green"}';
  t.match(await data("qa", { question: "Which colour?", context: "It is Blue.", provider }), {
    start: null,
    end: null,
  });
  reply = "I cannot do that.";
  t.match(await ask("sentiment", { text: "x", provider }), { body: { error: { code: "provider_error" } } });
  const before = fake.asked.length;
  await data("sentiment", { text: "x", provider: "native" });
  t.equal(fake.asked.length, before);
});

/** What becomes of memories that others take the place of: versions, chains, times, namespaces of earlier versions. */
import t from "tap";
import { script } from "../../session/sql-script.js";

const { rows, run, fails } = await script(t);

const history = (namespace: string, id: string) =>
  rows(`SELECT content, valid_until IS NULL FROM memory_history('${namespace}', '${id}')`);
const stored = async (namespace: string, content: string, options: object) => {
  const [row] = await rows(
    `SELECT memory_store('${namespace}', $$${content}$$, NULL::jsonb, '${JSON.stringify(options)}'::jsonb)`,
  );
  return JSON.parse(row!) as { id: string; superseded: string[]; duplicate_of: string | null; judged_by: string[] };
};
const asOf = (query: string, time: string) =>
  rows(`SELECT content FROM memory_recall('people', '${query}', 10, '{"as_of": "${time}"}') ORDER BY 1`);

t.test("what is replaced keeps its text", async (t) => {
  await rows("SELECT memory_upsert('pets', 'dog', 'The dog is called Rex')");
  await rows(`SELECT memory_upsert('pets', 'dog', 'The dog is called Max', '{"by": "Ann"}')`);
  await rows("SELECT memory_upsert('pets', 'dog', 'The dog is called Bo')");
  t.same(await rows("SELECT id, content FROM memory_recall('pets', 'name of the dog')"), ["dog|The dog is called Bo"]);
  t.same(await history("pets", "dog"), [
    "The dog is called Rex|false",
    "The dog is called Max|false",
    "The dog is called Bo|true",
  ]);
  const chain = `SELECT old.content, fresh.content, old.valid_until = fresh.valid_from
    FROM memory_history('pets', 'dog') AS old JOIN memory_history('pets', 'dog') AS fresh ON fresh.id = old.superseded_by
    ORDER BY 1 DESC`;
  t.same(await rows(chain), [
    "The dog is called Rex|The dog is called Max|true",
    "The dog is called Max|The dog is called Bo|true",
  ]);
  t.same(
    await rows("SELECT metadata FROM memory_history('pets', 'dog') WHERE content LIKE '%Max'"),
    ['{"by": "Ann"}'],
    "with its metadata",
  );
  const all = `SELECT count(*) FROM memory_recall('pets', 'dog', 10, '{"include_superseded": true}')`;
  t.same(await rows(all), ["3"]);
  t.same(await rows("SELECT memory_upsert('pets', 'dog', 'The dog is called Bo')"), ["dog"]);
  t.same(await rows(all), ["3"], "the same again is no new version");
  const [old] = await rows("SELECT id FROM memory_history('pets', 'dog') LIMIT 1");
  t.same(await rows(`SELECT memory_forget('pets', '${old}')`), ["true"]);
  t.same(await rows("SELECT count(*) FROM _memory_pets"), ["0"], "forgetting one forgets the whole chain");
  t.same(await rows("SELECT count(*) FROM memory_history('pets', 'dog')"), ["0"]);
  t.same(await rows("SELECT count(*) FROM memory_history('nowhere', 'dog')"), ["0"]);
});

t.test("what contradicts supersedes, what is known is not stored again", async (t) => {
  const berlin = await stored("judged", "The user lives in Berlin", { supersede: true });
  t.match(berlin, { superseded: [], duplicate_of: null, judged_by: ["rules"] });
  const tea = await stored("judged", "The user likes tea", { supersede: true });
  t.same((await stored("judged", "The user likes coffee", { supersede: true })).superseded, []);
  const again = await stored("judged", "The user lives in Berlin.", { supersede: true });
  t.match(again, { id: berlin.id, duplicate_of: berlin.id, superseded: [] });
  const paris = await stored("judged", "The user moved to Paris", { supersede: true });
  t.same(paris.superseded, [berlin.id]);
  t.same(await history("judged", berlin.id), ["The user lives in Berlin|false", "The user moved to Paris|true"]);
  t.same((await stored("judged", "The user does not like tea", { supersede: true })).superseded, [tea.id]);
  t.same(await rows("SELECT content FROM memory_recall('judged', 'user') ORDER BY 1"), [
    "The user does not like tea",
    "The user likes coffee",
    "The user moved to Paris",
  ]);
  t.same((await stored("judged", "The user lives in Rome", {})).superseded, [], "only if that is wanted");
  const oslo = await stored("judged", "The user lives in Oslo", { supersede: true });
  t.equal(oslo.superseded.length, 2);
  t.equal((await history("judged", oslo.id)).length, 4, "chains are joined");
});

t.test("what held at a time", async (t) => {
  await stored("people", "The user lives in Berlin", { supersede: true, valid_from: "2020-01-01" });
  await stored("people", "The user lives in Paris", { supersede: true, valid_from: "2022-01-01T00:00:00+01:00" });
  t.same(await asOf("home", "2019-06-01"), []);
  t.same(await asOf("home", "2021-06-01"), ["The user lives in Berlin"]);
  t.same(await asOf("home", "2021-12-31 22:59:59"), ["The user lives in Berlin"]);
  t.same(await asOf("home", "2021-12-31 23:00"), ["The user lives in Paris"]);
  const rome = await stored("people", "The user lives in Rome", { supersede: true, valid_from: "2021-01-01" });
  t.equal(rome.superseded.length, 1, "told later, it comes between the others");
  t.same(await asOf("home", "2020-06-01"), ["The user lives in Berlin"]);
  t.same(await asOf("home", "2021-06-01"), ["The user lives in Rome"]);
  t.same(await asOf("home", "2023-06-01"), ["The user lives in Paris"]);
  t.same(await rows("SELECT content FROM memory_recall('people', 'home')"), ["The user lives in Paris"]);
  await rows(`SELECT memory_upsert('people', 'car', 'a Golf', NULL::jsonb, '{"valid_from": "2020-01-01"}'::jsonb)`);
  await rows(`SELECT memory_upsert('people', 'car', 'a Tesla', NULL::jsonb, '{"valid_from": "2022-01-01"}'::jsonb)`);
  await rows(`SELECT memory_upsert('people', 'car', 'a Fiat', NULL::jsonb, '{"valid_from": "2021-01-01"}'::jsonb)`);
  const cars = async (time: string) => (await asOf("car", time)).filter((content) => content.startsWith("a "));
  t.same(await cars("2020-06-01"), ["a Golf"]);
  t.same(await cars("2023-06-01"), ["a Fiat"], "a version that held from before the last one leaves it no time");
});

t.test("namespaces of earlier versions", async (t) => {
  await run(
    `CREATE TABLE _memory_old (id text PRIMARY KEY, content text NOT NULL, metadata jsonb,
       created_at timestamptz NOT NULL DEFAULT now(), model text NOT NULL DEFAULT 'tessera-embed-384',
       embedding vector(384) NOT NULL)`,
    "CREATE INDEX ON _memory_old USING hnsw (embedding vector_cosine_ops)",
    `INSERT INTO _memory_old (id, content, created_at, embedding)
       VALUES ('home', 'The user lives in Berlin', '2021-01-01', embed('The user lives in Berlin'))`,
  );
  const recalled = `SELECT content, valid_from = '2021-01-01', valid_until IS NULL, superseded_by IS NULL
    FROM memory_recall('old', 'home')`;
  t.same(await rows(recalled), ["The user lives in Berlin|true|true|true"]);
  t.same(await rows(`SELECT count(*) FROM memory_recall('old', 'home', 5, '{"as_of": "2020-01-01"}')`), ["0"]);
  t.same(await history("old", "home"), ["The user lives in Berlin|true"]);
  const columns = "SELECT count(*) FROM information_schema.columns WHERE table_name = '_memory_old'";
  t.same(await rows(columns), ["6"], "reading changes nothing");
  await run("BEGIN", "SELECT memory_upsert('old', 'home', 'The user lives in Rome')");
  t.same(await history("old", "home"), ["The user lives in Berlin|false", "The user lives in Rome|true"]);
  await run("ROLLBACK");
  t.same(await rows(columns), ["6"], "it is part of the transaction");
  await run("SELECT memory_upsert('old', 'home', 'The user lives in Rome')");
  t.same(
    await rows(recalled.replace("recall('old', 'home')", "recall('old', 'home', 5, '{\"as_of\": \"2022-01-01\"}')")),
    ["The user lives in Berlin|true|false|false"],
  );
  t.same(await rows("SELECT content FROM memory_recall('old', 'home')"), ["The user lives in Rome"]);
  await run(
    `CREATE TABLE _memory_odd (id text PRIMARY KEY, content text, metadata jsonb, created_at timestamptz,
       model text DEFAULT 'tessera-embed-384', embedding vector(384), chain int)`,
  );
  t.match(await fails("SELECT memory_store('odd', 'x')"), /^42809 the column "chain" .* stands in the way/);
});

t.test("what is wrong with options", async (t) => {
  const store = (options: string) => fails(`SELECT memory_store('a', 'x', NULL::jsonb, '${options}'::jsonb)`);
  t.match(await store('{"superseed": true}'), /^22023 a memory has no option "superseed"/);
  t.match(await store('{"supersede": 1}'), /^22023 .*"supersede" must be true or false/);
  t.match(await store('{"valid_from": "2021-02-30"}'), /^22023 the option "valid_from" must be a date or a time/);
  t.match(await store('{"valid_from": "9999-01-01"}'), /^22008 valid_from is .* still to come/);
  t.match(
    await fails(`SELECT memory_upsert('a', 'b', 'x', NULL::jsonb, '{"supersede": true}'::jsonb)`),
    /^22023 a memory has no option "supersede" here/,
  );
  t.match(await fails(`SELECT * FROM memory_recall('a', 'x', 1, '{"as_of": 7}')`), /^22023 the option "as_of"/);
  t.match(
    await fails(`SELECT * FROM memory_recall('a', 'x', 1, '{"include_superseded": "yes"}')`),
    /^22023 .*must be true or false/,
  );
});

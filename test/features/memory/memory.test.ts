/** Memories in SQL: what is stored, recalled and forgotten, and in which transaction. */
import t from "tap";
import { script } from "../../session/sql-script.js";

t.test("store, recall, forget", async (t) => {
  const { rows, fails } = await script(t);
  const [id] = await rows("SELECT memory_store('notes', 'The cat sleeps on the sofa')");
  t.match(id, /^mem_[0-9a-z]+_[0-9a-z]+$/);
  await rows(`SELECT MEMORY_STORE('notes', 'Invoices are due within thirty days', '{"topic": "money"}')`);
  await rows("SELECT MEMORY_STORE('notes', 'The quarterly report is kept in the blue folder')");
  const found = "SELECT content FROM memory_recall('notes', $$where is the cat$$, 1)";
  t.same(await rows(found), ["The cat sleeps on the sofa"]);
  t.same(await rows("SELECT metadata FROM memory_recall('notes', 'when must a bill be paid', 1)"), [
    '{"topic": "money"}',
  ]);
  t.same(await rows("SELECT count(*) FROM memory_recall('notes', 'cat')"), ["3"]);
  t.same(
    await rows(
      "SELECT id = '" +
        id +
        "', similarity > .3, created_at > now() - interval '1 minute' FROM memory_recall('notes', 'a cat on a sofa') LIMIT 1",
    ),
    ["true|true|true"],
  );
  t.same(await rows(`SELECT memory_forget('notes', '${id}'), memory_forget('notes', '${id}')`), ["true|false"]);
  t.same(await rows("SELECT count(*) FROM memory_recall('notes', 'cat')"), ["2"]);
  t.same(await rows("SELECT memory_forget('nothing', 'x'), memory_forget(NULL, NULL) IS NULL"), ["false|true"]);
  t.same(await rows("SELECT * FROM memory_recall('never', 'x')"), []);
  t.match(await fails("SELECT memory_store('no spaces', 'x')"), /^22023 invalid memory namespace "no spaces"/);
  t.match(await fails("SELECT * FROM memory_recall('a;b', 'x')"), /^22023 invalid memory namespace/);
  t.match(await fails("SELECT memory_store('notes', '')"), /^22023 .* must not be empty/);
  t.match(await fails("SELECT memory_store('notes', NULL)"), /^22004 /);
  t.match(await fails("SELECT memory_store('notes', 'x', '[1]')"), /^22023 not a JSON object/);
  t.match(await fails("SELECT memory_store('notes', 'x', 'y')"), /^22023 not a JSON object/);
  t.match(await fails("SELECT * FROM memory_recall('notes', 'x', -1)"), /^22023 /);
  t.match(await fails(`SELECT * FROM memory_recall('notes', 'x', 1, '{"recent": 1}')`), /^22023 .*no option "recent"/);
});

t.test("a namespace is a table", async (t) => {
  const { rows, run, fails } = await script(t);
  await rows("SELECT memory_store('Facts', 'water boils at 100 degrees')");
  t.same(await rows("SELECT content, metadata IS NULL, model FROM _memory_facts"), [
    "water boils at 100 degrees|true|tessera-embed-384",
  ]);
  t.same(
    await rows("SELECT amname FROM pg_class JOIN pg_am ON pg_am.oid = relam WHERE relname LIKE '%_memory_facts_emb%'"),
    ["hnsw"],
  );
  await run("CREATE TABLE _memory_mine (id int)");
  t.match(await fails("SELECT memory_store('mine', 'x')"), /^42809 the table "_memory_mine" is not a memory namespace/);
  await run("DROP TABLE _memory_facts");
  t.same(await rows("SELECT * FROM memory_recall('facts', 'x')"), []);
});

t.test("many at once, joins, conditions, limits", async (t) => {
  const { rows, run } = await script(t);
  await run(
    "CREATE TABLE topics (topic text, word text)",
    "INSERT INTO topics VALUES ('animals', 'a dog barks in the yard'), ('money', 'interest on a bank account'), ('food', 'soup with bread')",
  );
  t.same(
    await rows("SELECT count(DISTINCT memory_store('all', word, jsonb_build_object('topic', topic))) FROM topics"),
    ["3"],
  );
  await rows("SELECT memory_store('all', 'filler number ' || i) FROM generate_series(1, 150) AS i");
  t.same(await rows("SELECT count(*) FROM _memory_all"), ["153"]);
  t.same(await rows("SELECT count(*) FROM memory_recall('all', 'x', 1000)"), ["100"]);
  t.same(await rows("SELECT count(*) FROM memory_recall('all', 'x', 0)"), ["0"]);
  const best = `SELECT t.topic, m.metadata::jsonb->>'topic' FROM topics AS t
    CROSS JOIN LATERAL memory_recall('all', t.word, 1) AS m ORDER BY 1`;
  t.same(await rows(best), ["animals|animals", "food|food", "money|money"]);
  t.same(
    await rows(
      "SELECT content FROM memory_recall('all', 'puppy', 20) WHERE metadata::jsonb->>'topic' = 'animals' LIMIT 1",
    ),
    ["a dog barks in the yard"],
  );
  t.same(
    await rows("SELECT count(*) FROM memory_recall('all', 'a dog barks in the yard', 10, '{\"min_similarity\": 0.9}')"),
    ["1"],
  );
  t.same(await rows("SELECT memory_forget('all', id) FROM memory_recall('all', 'soup', 1)"), ["true"]);
  t.same(await rows("SELECT count(*) FROM _memory_all"), ["152"]);
});

t.test("upsert", async (t) => {
  const { rows } = await script(t);
  t.same(await rows("SELECT memory_upsert('prefs', 'colour', 'likes blue')"), ["colour"]);
  await rows(`SELECT memory_upsert('prefs', 'colour', 'likes green', '{"since": 2024}')`);
  t.same(await rows("SELECT id, content, metadata FROM memory_recall('prefs', 'favourite colour')"), [
    'colour|likes green|{"since": 2024}',
  ]);
});

t.test("recency", async (t) => {
  const { rows, run } = await script(t);
  await rows(
    "SELECT memory_upsert('log', 'old', 'the meeting is on monday'), memory_upsert('log', 'new', 'the meeting is on monday')",
  );
  await run("UPDATE _memory_log SET created_at = now() - interval '300 days' WHERE id = 'old'");
  const ids = (options: string) =>
    rows(`SELECT string_agg(id, ' ') FROM memory_recall('log', 'when is the meeting', 2, '${options}')`);
  t.same(await ids("{}"), ["new old"]);
  await rows("SELECT memory_upsert('log', 'other', 'something about meetings')");
  await run("UPDATE _memory_log SET created_at = now() - interval '300 days' WHERE id <> 'other'");
  t.match(await ids('{"recency": 1}'), [/^other /]);
  t.match(await ids('{"recency": 0}'), [/^(new old|old new)$/]);
});

t.test("in the statement's transaction", async (t) => {
  const { rows, run, fails } = await script(t);
  await run("BEGIN");
  await rows("SELECT memory_store('draft', 'a thought')");
  t.same(await rows("SELECT content FROM memory_recall('draft', 'thought')"), ["a thought"]);
  await run("ROLLBACK");
  t.same(await rows("SELECT count(*) FROM memory_recall('draft', 'thought')"), ["0"]);
  t.match(await fails("SELECT * FROM _memory_draft"), /^42P01/);
  t.match(await fails("SELECT memory_store('draft', 'x'), 1 / (random() * 0)::int"), /^22012/);
  t.match(await fails("SELECT * FROM _memory_draft"), /^42P01/);
  await run("BEGIN", "SELECT memory_store('kept', 'one')", "SAVEPOINT s", "SELECT memory_store('kept', 'two')");
  await run("ROLLBACK TO s", "COMMIT");
  t.same(await rows("SELECT content FROM _memory_kept"), ["one"]);
  await run("BEGIN READ ONLY");
  t.match(await fails("SELECT memory_store('kept', 'x')"), /^25006 /);
  await run("ROLLBACK");
  await run("CREATE TABLE log (id text)", "INSERT INTO log SELECT memory_store('kept', 'three')");
  t.same(await rows("SELECT count(*) FROM log JOIN _memory_kept USING (id)"), ["1"]);
  t.match(await fails("CREATE TABLE bad (id text DEFAULT memory_store('a', 'b'))"), /^0A000/);
});

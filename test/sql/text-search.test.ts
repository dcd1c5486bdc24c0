/**
 * Text search against PostgreSQL 15: test/golden/oracle/text-search.txt holds statements with what it answered (rows
 * with `|` between columns, or its error).
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { LANGUAGE_NAMES } from "../../src/text/languages.js";
import { TEXT_SEARCH_CONFIGS } from "../../src/values/text-search-configs.js";
import { script } from "../session/sql-script.js";

const SAMPLES = new URL("../../../test/golden/oracle/text-search.txt", import.meta.url);

/** `> statement`, then the lines that it answers. */
function samples(): { readonly sql: string; readonly answer: string }[] {
  return readFileSync(SAMPLES, "utf8")
    .split(/^> /m)
    .slice(1)
    .map((part) => {
      const [sql, ...lines] = part.trimEnd().split("\n");
      return { sql: sql!, answer: lines.join("\n") };
    });
}

t.test("answers as PostgreSQL 15 does", async (t) => {
  const { rows, fails } = await script(t);
  for (const { sql, answer } of samples()) {
    if (answer.startsWith("ERROR ")) t.equal(`ERROR ${await fails(sql)}`, answer, sql);
    else t.equal((await rows(sql)).join("\n"), answer, sql);
  }
});

t.test("values are stored, compared and given back", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table note (id int primary key, body text, words tsvector, wanted tsquery, config regconfig default 'english')",
    "insert into note (id, body) values (1, 'The fat cats'), (2, 'a rat''s tail'), (3, null)",
    "update note set words = to_tsvector(config, body), wanted = plainto_tsquery(body)",
    "create index on note (config)",
  );
  t.same(await rows("select id, words, wanted, config from note order by id"), [
    "1|'cat':3 'fat':2|'fat' & 'cat'|english",
    "2|'rat':2 'tail':4|'rat' & 'tail'|english",
    "3|∅|∅|english",
  ]);
  t.same(await rows("select id from note where words @@ to_tsquery('cats | nothing')"), ["1"]);
  t.same(await rows("select count(*), count(distinct words), max(words) from note where config = 'english'"), [
    "3|2|'rat':2 'tail':4",
  ]);
  t.same(await rows("select a.id, b.id from note a join note b on a.words = b.words order by 1"), ["1|1", "2|2"]);
  t.same(await rows("select to_json(words), words::text, array_agg(words) from note where id = 1 group by words"), [
    `"'cat':3 'fat':2"|'cat':3 'fat':2|{"'cat':3 'fat':2"}`,
  ]);
  t.match(await fails("insert into note (id, config) values (4, 'klingon')"), /^42704 text search configuration/);
});

t.test("default_text_search_config", async (t) => {
  const { rows, run, fails } = await script(t);
  t.same(await rows("show default_text_search_config"), ["pg_catalog.english"]);
  await run("set default_text_search_config = 'simple'");
  t.same(await rows("select to_tsvector('The Rats'), get_current_ts_config()"), ["'rats':2 'the':1|simple"]);
  t.same(await rows("select current_setting('default_text_search_config')"), ["pg_catalog.simple"]);
  t.equal(
    await fails("set default_text_search_config = 'klingon'"),
    '22023 invalid value for parameter "default_text_search_config": "klingon"',
  );
});

t.test("each configuration has its stemmer", async (t) => {
  t.same([...TEXT_SEARCH_CONFIGS].sort(), [...LANGUAGE_NAMES].sort());
  const { rows } = await script(t);
  for (const name of TEXT_SEARCH_CONFIGS) {
    const [words] = await rows(`select to_tsvector('${name}', 'x1 αβγ привет')`);
    t.match(words, /'x1':1/, name);
  }
});

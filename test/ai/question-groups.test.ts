/** What rules make of questions about groups, deeds and money; schemas are written here, no server. */
import t from "tap";
import { matchQuestion } from "../../src/ai/nl2sql/match-question.js";
import type { LookUp } from "../../src/ai/nl2sql/value-mentions.js";
import { schemaOf } from "./question-schemas.js";

const BREWERY = schemaOf({
  beers: "beer_id, beer text, style text, abv number",
  brewers: "brewer_id, brewer_name text",
  batches: "batch_no, beer_id>beers, brewer_id>brewers, brewed_on date",
  pubs: "pub_id, pub_name text, town text",
  pub_orders: "order_no, pub_id>pubs, orderedon date, shippedon date",
  order_lines: "line_no, order_no>pub_orders, beer_id>beers, kegs number, keg_price number",
});
const VOTES = schemaOf({
  parties: "party_id, party_name text",
  candidates: "cand_id, cand_name text, birth_year number, party_id>parties",
  results: "result_id, cand_id>candidates, election_year number, votes number",
  donations: "don_id, donor text, cand_id>candidates, given_at timestamp, amount number",
});

const nothing: LookUp = async () => [];

t.test("groups, deeds and money", async (t) => {
  for (const [schema, question, sql] of [
    [BREWERY, "orders that have not been shipped", /^SELECT pub_orders\.\* .*shippedon IS NULL$/],
    [
      BREWERY,
      "which pub ordered the most kegs",
      /^SELECT pubs\.pub_id.*ORDER BY sum\(order_lines\.kegs\) DESC LIMIT 1$/,
    ],
    [BREWERY, "kegs sold by town", /^SELECT pubs\.town, sum\(order_lines\.kegs\).*GROUP BY pubs\.town/],
    [BREWERY, "revenue per beer", /sum\(order_lines\.kegs \* order_lines\.keg_price\)/],
    [
      BREWERY,
      "average order value",
      /^SELECT avg\(sum_revenue\) AS average FROM \(SELECT pub_orders\.order_no, .*AS sums$/,
    ],
    [BREWERY, "styles with more than one beer", /GROUP BY beers\.style HAVING count\(beers\.beer_id\) > 1/],
    [BREWERY, "beers whose abv is more than twice the average", /abv > 2 \* \(SELECT avg\(beers\.abv\)/],
    [BREWERY, "brewers who have not brewed anything yet", /NOT EXISTS \(SELECT 1 FROM batches/],
    [BREWERY, "last order of every pub", /PARTITION BY pubs\.pub_id.*orderedon DESC\) AS place/],
    [
      BREWERY,
      "styles whose average abv is above the overall average",
      /HAVING avg\(beers\.abv\) > \(SELECT avg\(beers\.abv\) FROM beers\)/,
    ],
    [
      BREWERY,
      "top 2 beers by revenue in each town",
      /PARTITION BY town ORDER BY sum_revenue DESC\) .* WHERE place <= 2/,
    ],
    [VOTES, "total votes per party in 2024", /WHERE results\.election_year = 2024 GROUP BY parties/],
    [VOTES, "average donation", /^SELECT avg\(donations\.amount\)/],
    [
      VOTES,
      "donors who gave more than 500 in total",
      /GROUP BY donations\.donor HAVING sum\(donations\.amount\) > 500/,
    ],
    [VOTES, "number of donations per candidate", /count\(\*\)/],
  ] as const) {
    const made = await matchQuestion(question, schema, nothing).then(
      ({ sql }) => sql,
      (error: Error) => error.message,
    );
    t.match(made, sql, `${question}: ${made}`);
  }
});

t.test("nobody was born in the year of an election", async (t) => {
  const made = await matchQuestion("which candidate got the most votes in 2020", VOTES, nothing).then(
    ({ sql }) => sql,
    (error: Error) => error.message,
  );
  t.notMatch(made, /birth_year = 2020/);
});

t.test("rows that only link others are told by the names of both", async (t) => {
  const schema = schemaOf({ guilds: "guild_id, guild_name text", players: "player_id, nickname text" });
  const [guilds, players] = schema.tables;
  const member = (name: string, isKey: boolean, kind: "number" | "text") =>
    ({ name, kind, typeName: kind, nullable: false, isKey }) as const;
  const members = {
    sqlName: "guild_members",
    name: "guild_members",
    columns: [member("guild_id", true, "number"), member("player_id", true, "number"), member("rank", false, "text")],
    primaryKey: ["guild_id", "player_id"],
  };
  const link = (to: typeof members | (typeof schema.tables)[number], column: string) =>
    ({ from: members, columns: [column], to, references: [column] }) as const;
  const linked = {
    tables: [...schema.tables, members],
    links: [link(guilds!, "guild_id"), link(players!, "player_id")],
    selfLinks: [],
  };
  const inRows: LookUp = async (sql, [runs]) =>
    (sql.includes("(SELECT rank::text") ? ["member"] : sql.includes("(SELECT guild_name::text") ? ["Iron Pact"] : [])
      .filter((value) => (runs as string[]).includes(value.toLowerCase()))
      .map((value) => [value]);
  const { sql } = await matchQuestion("members of Iron Pact", linked, inRows);
  t.match(sql, /^SELECT guild_members\.\*, guilds\.guild_name, players\.nickname FROM guild_members/);
  t.match(sql, /WHERE guilds\.guild_name = 'Iron Pact'$/);
});

t.test("what is counted by things that have none has two meanings", async (t) => {
  // The rows say that a brewer has no batches.
  const some: LookUp = async (sql) => (sql.includes(" EXCEPT ") ? [[3]] : []);
  const question = "number of batches per brewer";
  const error = await matchQuestion(question, BREWERY, some).catch((caught: unknown) => caught);
  t.match(error, { code: "question_not_understood", details: { readings: { length: 2 } } });
  const { readings } = (error as { details: { readings: { sql: string }[] } }).details;
  t.match(readings[0]!.sql, /count\(\*\) AS count FROM batches JOIN brewers/);
  t.match(readings[1]!.sql, /count\(batches\.batch_no\) AS count FROM batches RIGHT JOIN brewers/);
  const { sql, confidence } = await matchQuestion(question, BREWERY, nothing);
  t.equal(sql, readings[0]!.sql);
  t.ok(confidence > 0.8, String(confidence));
});

t.test("what was hardly understood is a reading, not an answer", async (t) => {
  const plain = await matchQuestion("pubs in alphabetical order", BREWERY, nothing);
  t.ok(plain.confidence > 0.9, String(plain.confidence));
  const readings = await matchQuestion("batches by brewers and beers and styles", BREWERY, async (sql) =>
    sql.includes(" EXCEPT ") ? [[1]] : [],
  ).then(
    () => null,
    (error: { details?: { readings?: readonly unknown[] } }) => error.details?.readings,
  );
  t.equal(readings?.length, 1);
});

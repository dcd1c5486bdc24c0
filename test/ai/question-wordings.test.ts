/** Questions whose words stand otherwise than the schema's; schemas are written here, no server. */
import t from "tap";
import { matchQuestion } from "../../src/ai/nl2sql/match-question.js";
import type { LookUp } from "../../src/ai/nl2sql/value-mentions.js";
import { schemaOf } from "./question-schemas.js";

/** Values of columns by their names. */
const lookUpIn =
  (stored: Readonly<Record<string, readonly string[]>>): LookUp =>
  async (sql, [runs]) => {
    if (!sql.includes("DISTINCT")) return [];
    const found = stored[/SELECT "?(\w+)"?::text/.exec(sql)![1]!] ?? [];
    return found.filter((value) => (runs as string[]).includes(value.toLowerCase())).map((value) => [value]);
  };

const PORTS = schemaOf({
  emp: "emp_no, lname text, fname text, title text, wage number",
  cli: "cli_no, lname text, fname text, region text",
  ship: "ship_no, ship_nm text, cargo text, cargo_t number, hold_temp_c number, crew number, emp_no>emp",
  incident_event: "no, ship_no>ship, severity text, raised_at timestamp, cleared_at timestamp, ack_by text",
  claim: "no, cli_no>cli, ship_no>ship, cost number, cargo_value number, filed_on date",
});
const inPorts = lookUpIn({
  cargo: ["fish", "ore"],
  title: ["Clerk", "Pilot"],
  ship_nm: ["Ada", "Bee"],
  region: ["North"],
});

t.test("short names, general endings, other wordings", async (t) => {
  for (const [question, sql] of [
    ["clients who filed no claim", /^SELECT cli\.\* FROM cli WHERE NOT EXISTS \(SELECT 1 FROM claim/],
    ["clients without claims", /^SELECT cli\.\* FROM cli WHERE NOT EXISTS \(SELECT 1 FROM claim/],
    [
      "number of incidents per severity per month",
      /GROUP BY incident_event\.severity, date_trunc\('month', incident_event\.raised_at\)/,
    ],
    ["ships that raised no incident", /FROM ship WHERE NOT EXISTS \(SELECT 1 FROM incident_event/],
    ["highest temperature per ship", /^SELECT ship\.ship_no, ship\.ship_nm, max\(ship\.hold_temp_c\)/],
    ["highest claim cost per region", /^SELECT cli\.region, max\(claim\.cost\)/],
    [
      "the highest paid clerk",
      /^SELECT emp\.\* FROM emp WHERE emp\.title = 'Clerk' AND .*ORDER BY emp\.wage DESC LIMIT 1$/,
    ],
    ["ships carrying fish", /WHERE ship\.cargo = 'fish'$/],
    [
      "who acknowledged the most incidents",
      /WHERE incident_event\.ack_by IS NOT NULL GROUP BY incident_event\.ack_by .*DESC LIMIT 1$/,
    ],
    ["average cost of claims by region, most expensive first", /ORDER BY avg\(claim\.cost\) DESC$/],
    ["share of incidents by severity in percent", /\* 100/],
    [
      "are there ships carrying ore?",
      /^SELECT EXISTS \(SELECT ship\.\* FROM ship WHERE ship\.cargo = 'ore'\) AS answer$/,
    ],
    ["is there a client without claims", /^SELECT EXISTS \(SELECT cli\.\* FROM cli WHERE NOT EXISTS/],
    [
      "difference between the highest and the lowest wage",
      /^SELECT max\(emp\.wage\) - min\(emp\.wage\) AS difference FROM emp$/,
    ],
    [
      "difference between the crew of Ada and Bee",
      /^SELECT \(SELECT ship\.crew .*'Ada'\) - \(SELECT ship\.crew .*'Bee'\) AS difference$/,
    ],
    [
      "cost per cargo value of each claim",
      /^SELECT claim\.no, claim\.cost \* 1\.0 \/ nullif\(claim\.cargo_value, 0\) AS ratio FROM claim$/,
    ],
    ["ships with more than 10 crew carrying fish", /crew > 10/],
    ["how many claims did North file in 2024", /^SELECT count\(\*\).*cli\.region = 'North'/],
    ["how long does it take until", /cannot be turned/],
    [
      "did North file any claims in 2024?",
      /^SELECT EXISTS \(SELECT claim\.\* FROM claim JOIN cli .*cli\.region = 'North'/,
    ],
    [
      "does North have any claims?",
      /^SELECT EXISTS \(SELECT claim\.\* FROM claim JOIN cli .*cli\.region = 'North'\) AS answer$/,
    ],
    ["incidents whose severity is unknown to me", /cannot be turned/],
    [
      "how long do incidents last on average",
      /^SELECT avg\(\(?extract|^SELECT avg\(\(incident_event\.cleared_at - incident_event\.raised_at\)\)/,
    ],
    ["number of claims per ship, including ships with none", /FROM ship LEFT JOIN claim/],
    [
      "number of claims in 2025 compared to 2024",
      /^SELECT year, value, .* FROM \(SELECT 2024, \(SELECT count.* UNION ALL SELECT 2025, \(SELECT count/,
    ],
    ["clients who claimed in 2024", /WHERE EXISTS \(SELECT 1 FROM claim .*filed_on >= DATE '2024-01-01'/],
  ] as const) {
    const made = await matchQuestion(question, PORTS, inPorts).then(
      (answer) => answer.sql,
      (error: Error) => error.message,
    );
    t.match(made, sql, `${question}: ${made}`);
  }
});

const VEREIN = schemaOf({
  mitglied: "mitgl_nr, nachname text, vorname text, ort text, beitritt date, anteile number",
  zahlung: "nr, mitgl_nr>mitglied, betrag number, bezahlt date",
  geraet: "nr, bez text, kosten number",
});

t.test("German names", async (t) => {
  const lookUp = lookUpIn({ ort: ["Jena"] });
  for (const [question, sql] of [
    ["mitglieder from Jena", /WHERE mitglied\.ort = 'Jena'$/],
    ["members who joined in 2020", /FROM mitglied WHERE mitglied\.beitritt >= DATE '2020-01-01'/],
    ["zahlungen that are not bezahlt", /WHERE zahlung\.bezahlt IS NULL$/],
    [
      "total betrag per mitglied",
      /SELECT mitglied\.mitgl_nr, mitglied\.vorname, mitglied\.nachname, sum\(zahlung\.betrag\)/,
    ],
    ["the most expensive geraet", /ORDER BY geraet\.kosten DESC LIMIT 1$/],
  ] as const) {
    const made = await matchQuestion(question, VEREIN, lookUp).then(
      (answer) => answer.sql,
      (error: Error) => error.message,
    );
    t.match(made, sql, `${question}: ${made}`);
  }
});

t.test("what is not understood tells what could be asked", async (t) => {
  for (const [question, askable] of [
    ["ships that sing", ["number of ship per cargo", "average cargo of ship"]],
    ["who is allergic to nuts", ["number of emp per title", "average wage of emp"]],
  ] as const) {
    const error = await matchQuestion(question, PORTS, inPorts).catch((thrown: unknown) => thrown);
    t.match(error, { code: "question_not_understood", details: { could_ask: askable } }, question);
    t.match(error, { details: { hint: `You could ask "${askable[0]}" or "${askable[1]}".` } }, question);
    for (const asked of askable) t.ok((await matchQuestion(asked, PORTS, inPorts)).sql, asked);
  }
});

const FARE = schemaOf({
  customer: "id, full_name text, city text",
  speaker: "id, speaker_nm text",
  talk: "id, title text, speaker_id>speaker, room text",
  feedback: "id, talk_id>talk, customer_id>customer, stars number",
  wind_reading: "id, talk_id>talk, gust number, taken_at timestamp",
  ticket: "id, customer_id>customer, paid_amount number, bought_at timestamp",
});
const inFare = lookUpIn({ full_name: ["Ann Lee", "Bo Fox"], room: ["Blue"] });

t.test("verbs, heads and superlatives in other words", async (t) => {
  for (const [question, sql] of [
    ["the best rated talk", /GROUP BY talk\.id, talk\.title ORDER BY avg\(feedback\.stars\) DESC LIMIT 1$/],
    ["readings in 2024", /^SELECT wind_reading\.\* FROM wind_reading WHERE wind_reading\.taken_at >=/],
    ["how much did Ann Lee spend in 2024", /^SELECT sum\(ticket\.paid_amount\).*'Ann Lee'/],
    ["which room collected the most gust", /GROUP BY talk\.room ORDER BY sum\(wind_reading\.gust\) DESC LIMIT 1$/],
    ["highest ticket paid amount per city", /^SELECT customer\.city, max\(ticket\.paid_amount\)/],
    ["which room is used most often", /ORDER BY count\(\*\) DESC LIMIT 1$|several meanings/],
    // Feedback is no purchase: it says nothing of who bought.
    ["how many different talks did Ann Lee buy", /cannot be turned/],
    ["how many tickets did Ann Lee buy", /^SELECT count\(\*\).*'Ann Lee'/],
    // Nothing says which of them that are.
    ["how many tickets did Ann Lee lose", /cannot be turned/],
    ["which room lost the most gust", /cannot be turned/],
    ["did Ann Lee lose any tickets", /cannot be turned/],
    ["did Ann Lee buy any tickets in 2024", /^SELECT EXISTS \(SELECT ticket\.\*/],
  ] as const) {
    const made = await matchQuestion(question, FARE, inFare).then(
      (answer) => answer.sql,
      (error: Error) => error.message,
    );
    t.match(made, sql, `${question}: ${made}`);
  }
});

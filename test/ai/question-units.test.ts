/** Numbers with a unit, of columns whose names do not say theirs; schemas are written here, no server. */
import t from "tap";
import { matchQuestion } from "../../src/ai/nl2sql/match-question.js";
import { schemaOf } from "./question-schemas.js";

const ROWS = schemaOf({
  film: "film_id, title text, length number, year number",
  song: "song_id, name text, duration number",
  person: "person_id, name text, height number",
});

const ask = (question: string, least: string | null, most: string | null) =>
  matchQuestion(question, ROWS, async (sql) => (sql.startsWith("SELECT min(") ? [[least, most]] : [])).then(
    ({ sql, confidence }) => ({ sql, confidence }),
    (error: Error) => ({ sql: error.message, confidence: 0 }),
  );

t.test("values say the unit", async (t) => {
  for (const [question, least, most, sql] of [
    ["films longer than 2 hours", "46", "185", /WHERE film\.length > 120$/],
    ["Films longer than two hours", "46", "185", /WHERE film\.length > 120$/],
    ["how many films are longer than 90 minutes", "46", "185", /WHERE film\.length > 90$/],
    ["songs longer than 5 minutes", "95", "610.5", /WHERE song\.duration > 300$/],
    ["songs longer than 5 minutes", "95000", "610500", /WHERE song\.duration > 300000$/],
    ["songs longer than 10 minutes", "2", "9", /WHERE song\.duration > 10$/],
    ["persons taller than 2 m", "150", "199", /WHERE person\.height > 200$/],
  ] as const) {
    const made = await ask(question, least, most);
    t.match(made.sql, sql, `${question}: ${made.sql}`);
  }
});

t.test("no unit fits: it is refused, and nothing is stored: as the question has it", async (t) => {
  const refused = await ask("films longer than 20 hours", "46", "185");
  t.match(refused.sql, /film\.length does not say what unit it is in/);
  const empty = await ask("films longer than 2 hours", null, null);
  t.match(empty.sql, /WHERE film\.length > 2$/);
});

t.test("where several units fit, or another than the question's, it is less sure", async (t) => {
  const one = await ask("films longer than 90 minutes", "46", "185");
  const other = await ask("films longer than 2 hours", "46", "185");
  const several = await ask("songs longer than 5 minutes", "1", "500");
  t.match(several.sql, /duration > 5$/);
  t.ok(other.confidence < one.confidence, `${other.confidence} < ${one.confidence}`);
  t.ok(several.confidence < one.confidence, `${several.confidence} < ${one.confidence}`);
});

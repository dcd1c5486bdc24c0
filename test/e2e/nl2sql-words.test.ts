/**
 * Every word of a question has a place in its SQL, or the answer is 422 and names those without one. Questions over
 * schemas with prefixes, short names and names in quotes (test/golden/nl2sql-words.json); `sql` null: no SELECT of
 * these tables answers it that the rules can write.
 */
import { readFileSync } from "node:fs";
import t from "tap";
import { sized } from "../lengths.js";
import { isRight } from "./nl2sql-pairs.js";
import { TestServer } from "./server.js";

interface Schema {
  readonly name: string;
  readonly schema: readonly string[];
  readonly questions: readonly { readonly question: string; readonly sql: string | null }[];
}

/** Of the questions to a schema. */
const EVERY = sized(3, 1);
const FILE = new URL("../../../test/golden/nl2sql-words.json", import.meta.url);
const SCHEMAS: readonly Schema[] = JSON.parse(readFileSync(FILE, "utf8"));

const server = await TestServer.shared();
t.teardown(() => server.stop());

t.test("no answer is to another question", async (t) => {
  let right = 0;
  let answerable = 0;
  for (const { name, schema, questions } of SCHEMAS) {
    const token = await server.tenant(name);
    for (const sql of schema) await server.rows(sql, [], { token });
    for (const { question, sql } of questions.filter((_, i) => i % EVERY === 0)) {
      if (sql !== null) answerable++;
      const { status, body } = await server.call("POST", "/v1/nl2sql/query", { question }, { token });
      if (status === 422) {
        t.equal(body.error.code, "question_not_understood");
        if (/not sure enough|have none, too/.test(body.error.message))
          t.ok(body.error.details.readings.length > 0, question);
        else if (!/names no existing table|does not say which/.test(body.error.message))
          t.ok(body.error.details.not_understood.length > 0, question);
        continue;
      }
      t.equal(status, 200, question);
      t.ok(body.data.confidence <= 0.95);
      const expected = sql === null ? null : await server.rows(sql, [], { token });
      const isAnswer = expected !== null && isRight(expected, body.data.rows, /order by/i.test(sql!));
      t.ok(isAnswer, `[${name}] ${question}: ${body.data.sql}`);
      if (isAnswer) right++;
    }
  }
  t.comment(`${right} of ${answerable} are answered`);
  t.ok(right >= 0.85 * answerable, `${right} of ${answerable} are answered`);
});

t.test("the words that have no place are told", async (t) => {
  const token = await server.tenant("told");
  for (const sql of SCHEMAS[1]!.schema) await server.rows(sql, [], { token });
  for (const [question, words] of [
    ["How many cancelled orders are there?", ["cancelled"]],
    ["customers who have not received their order", ["not", "received"]],
    ["growth of orders per month", ["growth"]],
    ["percentage of returned orders per month", ["percentage"]],
    ["VIP customers from Germany", ["VIP"]],
    ["orders per salesperson", ["per", "salesperson"]],
    ["orders with order_total > customers", [">"]],
  ] as const) {
    const { status, body } = await server.call("POST", "/v1/nl2sql/query", { question }, { token });
    t.equal(status, 422, `${question} ${JSON.stringify(body.data)}`);
    for (const word of words)
      t.ok(body.error.details.not_understood.includes(word), `${question} ${body.error.message}`);
    t.match(body.error.message, `"${words[0]}"`);
  }
});

t.test("names may be written as the schema has them", async (t) => {
  const token = await server.tenant("spelled");
  await server.rows("CREATE TABLE sales_2024 (id integer PRIMARY KEY, unit_price float8)", [], { token });
  await server.rows("INSERT INTO sales_2024 VALUES (1, 2), (2, 6)", [], { token });
  for (const [question, rows] of [
    ["how many rows are in sales_2024", [[2]]],
    ["average unit_price of sales_2024", [[4]]],
    ["how many sales_2024 have unit_price above 5", [[1]]],
  ] as const) {
    const { status, body } = await server.call("POST", "/v1/nl2sql/query", { question, execute: true }, { token });
    t.same({ status, rows: body.data?.rows }, { status: 200, rows }, `${question}: ${JSON.stringify(body)}`);
  }
});

t.test("names of columns may have spaces", async (t) => {
  const token = await server.tenant("spaces");
  await server.rows('CREATE TABLE orders (id integer PRIMARY KEY, city text, "unit price" float8)', [], { token });
  await server.rows("INSERT INTO orders VALUES (1, 'Bern', 2), (2, 'Bern', 6), (3, 'Chur', 5)", [], { token });
  for (const [question, rows] of [
    ["top 1 city by total unit price", [["Bern", 8]]],
    ["cities whose average unit price is more than 4.5", [["Chur", 5]]],
    [
      "average unit price per city",
      [
        ["Bern", 4],
        ["Chur", 5],
      ],
    ],
  ] as const) {
    const { status, body } = await server.call("POST", "/v1/nl2sql/query", { question, execute: true }, { token });
    t.same({ status, rows: body.data?.rows }, { status: 200, rows }, `${question}: ${JSON.stringify(body)}`);
  }
});

t.test("a share is one of rows or of a sum", async (t) => {
  const token = await server.tenant("shares");
  for (const sql of [
    "CREATE TABLE customers (id integer PRIMARY KEY, name text, country text)",
    "CREATE TABLE orders (id integer PRIMARY KEY, customer_id integer REFERENCES customers (id), channel text, note text, revenue float8)",
    "INSERT INTO customers VALUES (1, 'Ann', 'Chile'), (2, 'Bob', 'Peru')",
    "INSERT INTO orders VALUES (1, 1, 'web', 'a', 1), (2, 1, 'web', 'b', 2), (3, 1, 'shop', 'c', 3), (4, 2, 'shop', 'd', 6)",
  ])
    await server.rows(sql, [], { token });
  const ask = (question: string) => server.call("POST", "/v1/nl2sql/query", { question, execute: true }, { token });
  for (const [question, shares] of [
    ["share of orders per channel", [0.5, 0.5]],
    ["share of revenue per channel", [0.75, 0.25]],
    ["share of the total revenue per channel", [0.75, 0.25]],
    ["share of revenue per country", [0.5, 0.5]],
    ["share of orders per country", [0.75, 0.25]],
  ] as const) {
    const { status, body } = await ask(question);
    const given = body.data?.rows.map((row: unknown[]) => Number(row.at(-1)));
    t.same({ status, given }, { status: 200, given: shares }, `${question}: ${JSON.stringify(body)}`);
  }
  for (const [question, word] of [
    ["share of notes per channel", "share"],
    ["share of average revenue per channel", "average"],
    ["share of monthly revenue per channel", "monthly"],
  ] as const) {
    const { status, body } = await ask(question);
    t.equal(status, 422, `${question}: ${JSON.stringify(body)}`);
    t.ok(body.error.details.not_understood.includes(word), body.error.message);
  }
});

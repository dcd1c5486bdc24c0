/** /v1/nl2sql as clients meet it: what goes wrong, what is validated, and SQL by a provider. */
import t from "tap";
import { FakeProvider, openaiPieces } from "../ai/fake-provider.js";
import { schemaSql } from "./nl2sql-pairs.js";
import { TestServer } from "./server.js";

t.test("by rules", async (t) => {
  const server = await TestServer.shared();
  t.teardown(() => server.stop());
  for (const sql of schemaSql("shop")) await server.rows(sql);
  const ask = (body: object) => server.call("POST", "/v1/nl2sql/query", body);

  t.test("an answer", async (t) => {
    const { status, body } = await ask({ question: "How many customers are there?" });
    t.equal(status, 200);
    t.match(body.data, { sql: "SELECT count(*) AS count FROM customers", rows: [[10]], method: "rules" });
    t.match(body.data.columns, [{ name: "count", data_type: "bigint" }]);
    t.ok(body.data.confidence > 0.9 && body.data.confidence <= 1);
    t.ok(body.data.execution_time_ms >= 0);
  });

  t.test("both spellings, no execution, some tables, a row cap", async (t) => {
    const planned = await ask({ query: "customers from Italy", execute: false });
    t.match(planned.body.data, { sql: /country = 'Italy'/, rows: [] });
    t.equal(planned.body.data.columns.length, 7);
    const some = await ask({ question: "How many are there per status?", tables: ["orders"] });
    t.equal(some.body.data.rows.length, 5);
    t.match((await ask({ question: "all products", max_rows: 3 })).body.data, { truncated: true });
    t.match(await ask({ question: "x", tables: ["nope"] }), { status: 404, body: { error: { message: /"nope"/ } } });
  });

  t.test("what is not understood", async (t) => {
    for (const question of [
      "What is the meaning of life?",
      "customers in Atlantis",
      "products that cost more than 7 zorkmids per fortnight and sing",
      "orders that weigh more than 12",
      "???",
      "'; DROP TABLE customers; --",
      '"',
    ]) {
      const { status, body } = await ask({ question });
      t.equal(status, 422, `${question} ${JSON.stringify(body)}`);
      t.match(body.error, { code: "question_not_understood", message: /Understood: /, details: { understood: {} } });
    }
    t.match((await ask({ question: "customers in Atlantis" })).body.error.details, { not_understood: ["Atlantis"] });
    for (const body of [
      {},
      { question: "a", query: "b" },
      { question: "" },
      { question: 1 },
      { question: "a", x: 1 },
    ]) {
      t.match(await ask(body), { status: 400, body: { error: { code: "invalid_request" } } });
    }
    t.match(await ask({ question: "all products", method: "provider" }), { status: 400 });
    t.equal((await server.rows("SELECT count(*) FROM customers"))[0]![0], 10);
  });

  t.test("orders are no questions", async (t) => {
    await server.rows("CREATE TABLE parts (id int PRIMARY KEY, name text, update_count int, deleted boolean)");
    await server.rows("INSERT INTO parts VALUES (1, 'nut', 3, false), (2, 'bolt', 5, true)");
    for (const question of [
      "delete all parts",
      "drop table parts",
      "Please remove the parts",
      "could you truncate parts",
      "INSERT a part",
      "update parts",
      "create table parts",
      "alter parts",
      "grant all on parts to bob",
    ]) {
      const { status, body } = await ask({ question, execute: true });
      t.equal(status, 422, `${question} ${JSON.stringify(body)}`);
      t.match(body.error, { code: "question_not_understood", message: /^Only questions that read data are supported/ });
    }
    t.match(await ask({ question: "how many parts are deleted" }), { status: 200 });
    t.match(await ask({ question: "update count of parts" }), { status: 200 });
    t.match(await ask({ question: "create a list of all parts" }), { status: 200 });
    await server.rows("DROP TABLE parts");
  });

  t.test("values are text, never SQL", async (t) => {
    await server.rows("INSERT INTO categories VALUES (9, 'O''Brien''s \"odd\" % _')");
    const { body } = await ask({ question: "categories named O'Brien's \"odd\" % _" });
    t.not(body.error?.code, "internal_error");
    t.match(await ask({ question: 'products whose name contains "100%"' }), {
      status: 200,
      body: { data: { rows: [] } },
    });
  });

  t.test("words that are easily lost", async (t) => {
    await server.rows("CREATE TABLE staff (id int PRIMARY KEY, name text, dept text, salary int, hired date)");
    await server.rows(`INSERT INTO staff VALUES (1, 'Ann Lee', 'IT', 5000, '2020-01-02'), (2, 'Bob Ray', 'Sales', 6000, '2021-05-05'),
      (3, 'Cy Dee', 'IT', 7000, '2022-06-06')`);
    const sqlOf = async (question: string) => (await ask({ question, tables: ["staff"] })).body.data?.sql ?? "refused";
    t.match(await sqlOf("How many staff are in IT?"), /WHERE staff.dept = 'IT'$/);
    t.match(await sqlOf("staff not in IT"), /WHERE staff.dept <> 'IT'$/);
    t.match(await sqlOf("who earns the most"), /^SELECT staff.name .* ORDER BY staff.salary DESC LIMIT 1$/);
    t.match(await sqlOf("top 2 staff by salary"), /^SELECT staff.\* .* ORDER BY staff.salary DESC LIMIT 2$/);
    t.match(await sqlOf("staff sorted by salary desc limit 2"), /ORDER BY staff.salary DESC LIMIT 2$/);
    t.match(
      await sqlOf("staff earning less than 6k or more than 6900"),
      /\(staff.salary < 6000 OR staff.salary > 6900\)/,
    );
    t.match(await sqlOf("sum of total salary"), /^SELECT sum\(staff.salary\) AS sum_salary FROM staff$/);
    t.equal(await sqlOf("staff older than 30"), "refused");
    t.match(await sqlOf("staff in IT or hired in 2021"), /WHERE \(staff.dept = 'IT' OR staff.hired >= .* AND .*\)$/);
    t.equal(await sqlOf("staff in IT or hired in 2021 or named Bob Ray"), "refused");
    t.equal(await sqlOf("staff ".repeat(101)), "refused");
  });

  t.test("internal tables are asked only by name", async (t) => {
    const dataset = { name: "loans", rows: [{ loan: 1 }, { loan: 2 }] };
    await server.expect(201, "POST", "/v1/automl/datasets", dataset);
    await server.rows("CREATE TABLE loan (id int PRIMARY KEY, dataset text)");
    await server.rows("INSERT INTO loan VALUES (1, 'x'), (2, 'y'), (3, 'z')");
    for (const question of ["how many rows does loan have", "how many dataset rows are there"]) {
      t.notMatch((await ask({ question })).body.data?.sql ?? "", "_automl", question);
    }
    t.match((await ask({ question: "how many loans are there" })).body.data.rows, [[3]]);
    const named = await ask({ question: "how many dataset rows are there", tables: ["_automl_dataset_rows"] });
    t.match(named.body.data, { sql: /FROM _automl_dataset_rows/ }, JSON.stringify(named.body));
  });

  t.test("validate", async (t) => {
    const validate = async (sql: string) => (await server.call("POST", "/v1/nl2sql/validate", { sql })).body.data;
    t.same(await validate("SELECT name FROM products"), { is_valid: true, errors: [], warnings: [] });
    t.match(await validate("SELECT nme FROM products"), { is_valid: false, errors: [/column "nme" does not exist/] });
    t.match(await validate("SELEC 1"), { is_valid: false, errors: [/syntax error/] });
    t.match(await validate("DELETE FROM products"), { is_valid: true, warnings: [/changes data/] });
    t.match(await validate("SELECT $1::int"), { is_valid: true, warnings: [/1 parameter/] });
    t.equal((await server.rows("SELECT count(*) FROM products"))[0]![0], 14);
  });
});

t.test("by a provider", async (t) => {
  const answers: string[] = [];
  const fake = await FakeProvider.start(() => ({
    pieces: openaiPieces([answers.shift() ?? "UNANSWERABLE nothing left"]),
  }));
  t.teardown(() => fake.close());
  const server = await TestServer.start({
    ...fake.settings("scripted"),
  });
  t.teardown(() => server.stop());
  for (const sql of schemaSql("shop")) await server.rows(sql);
  const ask = async (question: string, replies: string[], more: object = {}) => {
    answers.splice(0, answers.length, ...replies);
    return server.call("POST", "/v1/nl2sql/query", { question, ...more });
  };

  t.test("the catalog is in the prompt, and the statement runs", async (t) => {
    const { body } = await ask("Revenue?", [
      "```sql\nSELECT sum(quantity * unit_price) AS revenue FROM order_items;\n```",
    ]);
    t.match(body.data, { method: "openai", confidence: 0.9, columns: [{ name: "revenue" }], rows: [[2760.1]] });
    const { messages } = fake.asked.at(-1)!.body;
    t.match(
      messages[0].content,
      /CREATE TABLE orders \(id integer NOT NULL, .*FOREIGN KEY \(customer_id\) REFERENCES customers/,
    );
    t.same(messages[1], { role: "user", content: "Revenue?" });
  });

  t.test("one repair", async (t) => {
    const { body } = await ask("How many?", ["SELECT count(*) FROM custmers", "SELECT count(*) FROM customers"]);
    t.match(body.data, { confidence: 0.7, rows: [[10]] });
    t.match(fake.asked.at(-1)!.body.messages.at(-1).content, /relation "custmers" does not exist/);
    const before = fake.asked.length;
    const failed = await ask("How many?", ["SELECT x", "SELECT y", "SELECT 1"]);
    t.match(failed, {
      status: 422,
      body: { error: { code: "question_not_understood", details: { sql: "SELECT y" } } },
    });
    t.equal(fake.asked.length - before, 2);
  });

  t.test("nothing but a SELECT runs", async (t) => {
    for (const sql of [
      "DELETE FROM order_items",
      "DROP TABLE order_items",
      "SELECT 1; DELETE FROM order_items",
      "WITH gone AS (DELETE FROM order_items RETURNING 1) SELECT count(*) FROM gone",
      "CREATE (n:Person) RETURN n",
      "EXPLAIN ANALYZE DELETE FROM order_items",
    ]) {
      t.match(await ask("Tidy up", [sql, sql]), { status: 422 }, sql);
    }
    t.equal((await server.rows("SELECT count(*) FROM order_items"))[0]![0], 20);
  });

  t.test("no answer, rules on demand", async (t) => {
    t.match(await ask("Weather?", ["UNANSWERABLE: there is no weather here"]), {
      status: 422,
      body: { error: { message: "there is no weather here" } },
    });
    t.match((await ask("How many customers are there?", [], { method: "rules" })).body.data, { method: "rules" });
  });
});

/**
 * Neighbours in a transactional batch that are the same INSERT are run together. Two tenants get the same batches: one
 * as they are, the other with texts that differ by a space, so that each statement runs by itself. Both must answer the
 * same and have the same data.
 */
import fc from "fast-check";
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const TABLES = [
  "CREATE TABLE kind (id int PRIMARY KEY)",
  `CREATE TABLE item (
     id bigserial PRIMARY KEY, n int NOT NULL CHECK (n < 50), parent bigint REFERENCES item (id), kind int REFERENCES kind,
     code text UNIQUE, twice int GENERATED ALWAYS AS (n * 2) STORED, at timestamptz DEFAULT statement_timestamp())`,
  "CREATE TABLE later (id int PRIMARY KEY, kind int REFERENCES kind DEFERRABLE INITIALLY DEFERRED)",
  "CREATE TABLE counted (n serial, what jsonb)",
  "CREATE TABLE log (what text)",
  "CREATE TABLE watched (n int PRIMARY KEY)",
  `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN INSERT INTO log VALUES ('watched ' || NEW.n); RETURN NEW; END $$`,
  "CREATE TRIGGER notes AFTER INSERT ON watched FOR EACH ROW EXECUTE FUNCTION note()",
  "CREATE TABLE part (n int) PARTITION BY RANGE (n)",
  "CREATE TABLE part_low PARTITION OF part FOR VALUES FROM (0) TO (4)",
];

const CONTENTS = [
  "SELECT id FROM kind ORDER BY 1",
  "SELECT id, n, parent, kind, code, twice FROM item ORDER BY 1",
  "SELECT count(DISTINCT at) = count(*) FROM item",
  "SELECT * FROM later ORDER BY 1",
  "SELECT * FROM counted ORDER BY 1",
  "SELECT * FROM log ORDER BY 1",
  "SELECT * FROM watched ORDER BY 1",
  "SELECT tableoid::regclass::text, n FROM part ORDER BY 2",
  "SELECT (SELECT last_value FROM item_id_seq), (SELECT last_value FROM counted_n_seq)",
];

type Item = { readonly sql: string; readonly parameters: readonly unknown[] };

const small = fc.integer({ min: 1, max: 12 });
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 3 });
const ITEM = fc.tuple(
  small,
  fc.integer({ min: 0, max: 52 }),
  orNull(small),
  orNull(small),
  orNull(fc.string({ maxLength: 2 })),
);

/** A statement and what its parameters may be. */
const STATEMENTS: readonly (readonly [string, fc.Arbitrary<readonly unknown[]>])[] = [
  ["INSERT INTO item (id, n, parent, kind, code) VALUES ($1, $2, $3, $4, $5)", ITEM],
  ["INSERT INTO item (n, code) VALUES ($1 + 1, upper($2))", fc.tuple(small, orNull(fc.string({ maxLength: 3 })))],
  ["INSERT INTO item (n) VALUES ($1)", fc.tuple(fc.constantFrom<unknown>(1, 2, "3", null, "x", 4.5))],
  ["INSERT INTO counted (what) VALUES ($1)", fc.tuple(fc.jsonValue())],
  ["INSERT INTO counted DEFAULT VALUES", fc.constant([])],
  [
    "INSERT INTO kind VALUES ($1)",
    fc.oneof({ weight: 9, arbitrary: fc.tuple(small) }, { weight: 1, arbitrary: fc.constant([]) }),
  ],
  ["INSERT INTO later VALUES ($1, $2)", fc.tuple(fc.integer(), small)],
  ["INSERT INTO watched VALUES ($1)", fc.tuple(fc.integer({ min: 0, max: 99 }))],
  ["INSERT INTO part VALUES ($1)", fc.tuple(fc.integer({ min: 0, max: 4 }))],
  ["INSERT INTO item (n) VALUES ($1) RETURNING id, n", fc.tuple(small)],
  ["INSERT INTO kind VALUES ($1) ON CONFLICT DO NOTHING", fc.tuple(small)],
  ["INSERT INTO item (id, n) VALUES ($1, (SELECT count(*) FROM item))", fc.tuple(small)],
  ["UPDATE item SET n = n + 1 WHERE id = $1", fc.tuple(small)],
];

const RUN = fc
  .constantFrom(...STATEMENTS)
  .chain(([sql, parameters]) =>
    fc
      .array(parameters, { minLength: 1, maxLength: 6 })
      .map((sets): Item[] => sets.map((set) => ({ sql, parameters: set }))),
  );
const BATCHES = fc.array(
  fc.array(RUN, { minLength: 1, maxLength: 4 }).map((runs) => runs.flat()),
  { minLength: 1, maxLength: 8 },
);

interface Tenant {
  batch(statements: readonly unknown[]): Promise<{ readonly status: number; readonly body: unknown }>;
  rows(sql: string): Promise<unknown[][]>;
}

let made = 0;

async function makeTenant(): Promise<Tenant> {
  const token = await server.tenant(`repeats-${++made}`, ["admin"]);
  await server.expect(200, "POST", "/v1/query/execute/batch", { statements: TABLES, transactional: true }, { token });
  return {
    batch: (statements) =>
      server.call("POST", "/v1/query/execute/batch", { statements, transactional: true }, { token }),
    rows: (sql) => server.rows(sql, [], { token }),
  };
}

/** What does not depend on the time and the request. */
function comparable({ status, body }: { readonly status: number; readonly body: unknown }): unknown {
  const { data, error } = body as {
    data?: { results: unknown[] };
    error?: { code: string; message: string; details: object };
  };
  const results = data?.results.map((result) => JSON.stringify(result).replace(/"execution_time_ms":[\d.]+/, ""));
  const details = JSON.stringify(error?.details)?.replace(/\d{4}-\d\d-\d\d [\d:.]+\+00/, "(time)");
  return { status, results, error: error && { code: error.code, message: error.message, details } };
}

t.test("inserts that are run together do what they do one by one", async (t) => {
  await fc.assert(
    fc.asyncProperty(BATCHES, async (batches) => {
      const together = await makeTenant();
      const alone = await makeTenant();
      for (const tenant of [together, alone])
        await tenant.batch([1, 2, 3, 4, 5].map((id) => `INSERT INTO kind VALUES (${id})`));
      for (const items of batches) {
        const one = comparable(await together.batch(items));
        const other = comparable(
          await alone.batch(items.map(({ sql, parameters }, i) => ({ sql: sql + " ".repeat(i % 2), parameters }))),
        );
        t.same(one, other);
        if (JSON.stringify(one) !== JSON.stringify(other)) return false;
      }
      for (const sql of CONTENTS) {
        const [one, other] = [await together.rows(sql), await alone.rows(sql)];
        t.same(one, other, sql);
        if (JSON.stringify(one) !== JSON.stringify(other)) return false;
      }
      return true;
    }),
    { numRuns: 15 },
  );
});

t.test("they are one run: all have the same share of its time", async (t) => {
  const tenant = await makeTenant();
  const statements = Array.from({ length: 200 }, (_, i) => ({
    sql: "INSERT INTO item (n) VALUES ($1)",
    parameters: [i % 50],
  }));
  const { status, body } = await tenant.batch(statements);
  t.equal(status, 200);
  const { results } = (body as { data: { results: { data: { execution_time_ms: number; rows_affected: number } }[] } })
    .data;
  t.equal(new Set(results.map(({ data }) => data.execution_time_ms)).size, 1);
  t.equal(results.length, 200);
  t.same(await tenant.rows("SELECT count(*), min(id), max(id) FROM item"), [[200, 1, 200]]);
});

t.test("the statement that fails is named, and nothing stays", async (t) => {
  const tenant = await makeTenant();
  const ids = [1, 2, 3, 4, 2, 5];
  const { status, body } = await tenant.batch([
    "INSERT INTO log VALUES ('first')",
    ...ids.map((id) => ({ sql: "INSERT INTO kind VALUES ($1)", parameters: [id] })),
  ]);
  t.equal(status, 409);
  t.match((body as { error: object }).error, { details: { statement: 5, sqlstate: "23505", constraint: "kind_pkey" } });
  t.same(await tenant.rows("SELECT (SELECT count(*) FROM kind), (SELECT count(*) FROM log)"), [[0, 0]]);
});

t.test("a row may refer to those before it, not to those after it", async (t) => {
  const tenant = await makeTenant();
  const sql = "INSERT INTO item (id, n, parent) VALUES ($1, 1, $2)";
  const insert = (...rows: (number | null)[][]) => tenant.batch(rows.map((parameters) => ({ sql, parameters })));
  const early = await insert([1, null], [2, 3], [3, null]);
  t.match(early, { status: 409, body: { error: { details: { statement: 1, sqlstate: "23503" } } } });
  t.equal((await insert([1, null], [2, 1], [3, 3], [4, 2])).status, 200);
  t.same(await tenant.rows("SELECT id, parent FROM item ORDER BY id"), [
    [1, null],
    [2, 1],
    [3, 3],
    [4, 2],
  ]);
});

/** The cases of neighbour.ts: what one tenant may send that takes long in one piece. */
import type { Reply, TestServer } from "../../test/e2e/server.js";

export interface NeighbourCase {
  readonly name: string;
  /** What takes this process long, before waits are measured. */
  prepare?(): void;
  run(server: TestServer, token: string, timeoutSeconds: number): Promise<Partial<Reply> & { readonly status: number }>;
}

const statement = (name: string, sql: string, parameters: unknown = undefined): NeighbourCase => ({
  name,
  run: (server, token, timeout_secs) =>
    server.call(
      "POST",
      "/v1/query/execute",
      { sql, timeout_secs, ...(parameters !== undefined && { parameters }) },
      { token },
    ),
});

const SHARED = "reduce(a = [1], i IN range(1, 40) | [a, a])";

export const CASES: readonly NeighbourCase[] = [
  statement("cypher: compare lists that share parts", `WITH ${SHARED} AS x, ${SHARED} AS y RETURN x = y`),
  statement("cypher: write a list that shares parts", `RETURN ${SHARED}`),
  statement("cypher: group by such a list", `UNWIND [1, 2] AS i WITH ${SHARED} AS x, count(*) AS n RETURN n`),
  statement("cypher: reduce that appends", "RETURN size(reduce(a = [], i IN range(1, 80000) | a + i))"),
  statement("cypher: reduce that prepends", "RETURN size(reduce(a = [], i IN range(1, 80000) | i + a))"),
  statement(
    "cypher: all within all",
    "RETURN all(x IN range(1, 100000) WHERE all(y IN range(1, 10000) WHERE y <> -x))",
  ),
  statement("cypher: range of 10 million", "RETURN size(range(1, 10000000))"),
  statement("cypher: range of 10 million, answered", "RETURN range(1, 10000000)"),
  statement("cypher: collect of 10 million", "UNWIND range(1, 10000000) AS i RETURN size(collect(i))"),
  statement("cypher: comprehension of 10 million", "RETURN size([i IN range(1, 10000000) | i * 2])"),
  statement("cypher: reverse of 10 million", "RETURN reverse(range(1, 10000000))[0]"),
  statement(
    "cypher: order by large lists",
    "UNWIND range(1, 200) AS i WITH range(1, 50000) + i AS l RETURN size(l) ORDER BY l",
  ),
  statement("cypher: split of a long text", "RETURN size(split(reduce(s = 'ab', i IN range(1, 23) | s + s), 'a'))"),
  statement(
    "sql: ts_headline of 18 MB",
    "SELECT length(ts_headline(repeat('lorem ipsum dolor ', 1000000), to_tsquery('lorem')))",
  ),
  statement(
    "sql: to_tsvector of 54 MB",
    "SELECT length(to_tsvector('english', repeat('lorem ipsum dolor ', 3000000)))",
  ),
  statement(
    "sql: to_tsvector of 4 MB of different words",
    "SELECT length(to_tsvector('english', (SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 120000) i)))",
  ),
  statement(
    "sql: jsonb_object_agg of 5 million keys",
    "SELECT jsonb_object_agg(i, i) IS NULL FROM generate_series(1, 5000000) i",
  ),
  statement(
    "sql: jsonb_agg of 5 million",
    "SELECT jsonb_array_length(jsonb_agg(i)) FROM generate_series(1, 5000000) i",
  ),
  statement("sql: array_agg of 5 million", "SELECT cardinality(array_agg(i)) FROM generate_series(1, 5000000) i"),
  statement(
    "sql: string_agg of 5 million",
    "SELECT length(string_agg(i::text, ',')) FROM generate_series(1, 5000000) i",
  ),
  statement("sql: replace of 60 MB", "SELECT length(replace(repeat('ab', 30000000), 'a', 'xy'))"),
  statement("sql: replace of 20 MB", "SELECT length(replace(repeat('ab', 10000000), 'a', 'xy'))"),
  statement("sql: translate of 60 MB", "SELECT length(translate(repeat('ab', 30000000), 'ab', 'xy'))"),
  statement("sql: regexp_replace of 40 MB", "SELECT length(regexp_replace(repeat('ab', 20000000), '[ab]', 'x', 'g'))"),
  statement("sql: regexp_split of 20 MB", "SELECT cardinality(regexp_split_to_array(repeat('ab', 10000000), 'a'))"),
  statement("sql: upper of 60 MB", "SELECT length(upper(repeat('ab', 30000000)))"),
  statement("sql: initcap of 60 MB", "SELECT length(initcap(repeat('ab ', 20000000)))"),
  statement("sql: reverse of 60 MB", "SELECT length(reverse(repeat('ab ', 20000000)))"),
  statement(
    "sql: jsonpath **.**.**.**",
    "SELECT jsonb_path_query_array((SELECT jsonb_agg(jsonb_build_object('a', jsonb_build_object('b', i))) FROM generate_series(1, 20000) i), '$.**.**.**.**')",
  ),
  statement("sql: text to jsonb of 40 MB", "SELECT jsonb_array_length(('[' || repeat('1,', 20000000) || '1]')::jsonb)"),
  statement(
    "sql: jsonb built of itself",
    "WITH RECURSIVE r (n, j) AS (SELECT 1, '[1]'::jsonb UNION ALL SELECT n + 1, jsonb_build_array(j, j) FROM r WHERE n < 40) SELECT j FROM r WHERE n = 40",
  ),
  statement(
    "sql: numeric of 100,000 digits",
    "SELECT length((repeat('9', 100000)::numeric * repeat('9', 100000)::numeric)::text)",
  ),
  statement(
    "sql: numeric power",
    "SELECT length((1.0000001::numeric ^ 1234567.891)::text), length((2::numeric ^ 100000)::text)",
  ),
  statement("sql: string_to_array of 30 MB", "SELECT cardinality(string_to_array(repeat('a,', 15000000), ','))"),
  statement(
    "sql: levenshtein-like scan: position",
    "SELECT position(repeat('a', 100000) || 'b' IN repeat('a', 60000000))",
  ),
  statement(
    "table: regexp_split_to_table of 30 MB",
    "SELECT count(*) FROM regexp_split_to_table(repeat('ab ', 10000000), ' ')",
  ),
  statement("table: string_to_table of 30 MB", "SELECT count(*) FROM string_to_table(repeat('ab ', 10000000), ' ')"),
  statement("table: regexp_matches of 30 MB", "SELECT count(*) FROM regexp_matches(repeat('ab ', 10000000), 'a', 'g')"),
  statement("table: unnest of 5 million", "SELECT count(*) FROM unnest(array_fill(1, ARRAY[5000000]))"),
  statement(
    "table: jsonb_array_elements of 1 million",
    "SELECT count(*) FROM jsonb_array_elements((SELECT jsonb_agg(i) FROM generate_series(1, 1000000) i))",
  ),
  statement(
    "table: jsonb_each of 100,000 keys",
    "SELECT count(*) FROM jsonb_each((SELECT jsonb_object_agg(i, i) FROM generate_series(1, 100000) i))",
  ),
  statement(
    "table: json_to_recordset of 20 MB",
    "SELECT count(*) FROM json_to_recordset(('[' || repeat('{\"a\":1,\"b\":\"x\"},', 1000000) || '{}]')::json) AS r (a int, b text)",
  ),
  statement("table: generate_series of 100 million", "SELECT count(*) FROM generate_series(1, 100000000)"),
  statement(
    "window: lag and first_value of large texts",
    "SELECT count(*) FROM (SELECT lag(t) OVER w, first_value(t) OVER w FROM (SELECT repeat('ab', i) AS t FROM generate_series(1, 3000) i) x WINDOW w AS (ORDER BY t)) y",
  ),
  statement(
    "window: string_agg over a growing frame",
    "SELECT max(length(s)) FROM (SELECT string_agg(i::text, ',') OVER (ORDER BY i) AS s FROM generate_series(1, 20000) i) x",
  ),
  statement(
    "window: array_agg over a growing frame",
    "SELECT max(cardinality(a)) FROM (SELECT array_agg(i) OVER (ORDER BY i) AS a FROM generate_series(1, 20000) i) x",
  ),
  statement("sql: LIKE of many percents", `SELECT repeat('a', 200000) LIKE '${"%a".repeat(200)}b'`),
  statement(
    "sql: function that loops",
    "SELECT count(*) FROM generate_series(1, 1000) i WHERE (SELECT count(*) FROM generate_series(1, 20000) j WHERE j % (i + 1) = 0) > 1",
  ),
  statement("sql: answer of one text of 60 MB", "SELECT repeat('ab', 30000000)"),
  ...["max", "jsonb_agg", "json_agg", "count(DISTINCT", "array_agg(DISTINCT", "string_agg"].map((name) => {
    const call = `${name}${name.includes("(") ? " " : "("}${name === "string_agg" ? "v::text, ','" : "v"})`;
    return statement(
      `aggregate: ${call} of documents with a million parts`,
      `SELECT ${call} IS NULL FROM (SELECT jsonb_agg(i) AS v FROM generate_series(1, 1000000) i) x, generate_series(1, 3)`,
    );
  }),
  ...["max(v)", "array_agg(v)", "count(DISTINCT v)", "mode() WITHIN GROUP (ORDER BY v)", "bool_or(v = '{1}')"].map(
    (call) =>
      statement(
        `aggregate: ${call} of arrays of a million members`,
        `SELECT ${call} IS NULL FROM (SELECT array_agg(i) AS v FROM generate_series(1, 1000000) i) x, generate_series(1, 3)`,
      ),
  ),
  ...["collect(v)", "collect(DISTINCT v)", "max(v)", "count(DISTINCT v)"].map((call) =>
    statement(
      `aggregate: ${call} of lists of a million members`,
      `WITH range(1, 1000000) AS v UNWIND [1, 2, 3] AS i RETURN size(toString(size(${call.startsWith("collect") ? call : `[${call}]`})))`,
    ),
  ),
  ...[
    "SELECT count(*) FROM (SELECT v FROM large GROUP BY v) x",
    "SELECT count(*) FROM (SELECT DISTINCT v FROM large) x",
    "SELECT count(*) FROM (SELECT v FROM large UNION SELECT v FROM large) x",
    "SELECT count(*) FROM (SELECT v FROM large INTERSECT SELECT v FROM large) x",
    "SELECT count(*) FROM large a JOIN large b ON a.v = b.v",
    "SELECT count(*) FROM large WHERE v IN (SELECT v FROM large)",
    "SELECT count(*) FROM (SELECT v FROM large ORDER BY v) x",
    "SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY v) FROM large) x",
  ].flatMap((query) =>
    ["array_agg(i)", "jsonb_agg(i)", "string_agg(i::text, ',')"].map((value) =>
      statement(
        `keys: ${value}: ${query}`,
        `WITH large AS (SELECT v, n FROM (SELECT ${value} AS v FROM generate_series(1, 1000000) i) x, generate_series(1, 3) n) ${query}`,
      ),
    ),
  ),
  {
    name: "text index: a row with 12 MB of different words",
    async run(server: TestServer, token: string) {
      const sql = async (statement: string) => {
        const reply = await server.call("POST", "/v1/query/execute", { sql: statement, timeout_secs: 10 }, { token });
        if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
        return reply;
      };
      await sql("CREATE TABLE page (id int PRIMARY KEY, body text)");
      await sql("CREATE INDEX page_body ON page USING text (body)");
      await sql("INSERT INTO page VALUES (1, 'a few words')");
      const search = "SELECT id FROM page WHERE MATCH (body) AGAINST ('words')";
      await sql(search);
      const digests = "(SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 360000) i)";
      await sql(`INSERT INTO page VALUES (2, ${digests})`);
      await sql(search);
      await sql("DELETE FROM page WHERE id = 2");
      return sql(search);
    },
  },
  statement("parameters: 500,000 nested levels", "RETURN $p", { p: 1 }),
  statement("= ANY of 300,000 texts", "SELECT count(*) FROM generate_series(1, 1000) i WHERE i::text = ANY ($1)", [
    Array.from({ length: 300_000 }, (_, i) => `text ${i}`),
  ]),
].map((one) =>
  one.name.startsWith("parameters")
    ? {
        name: one.name,
        run: (server: TestServer, token: string) =>
          server.call(
            "POST",
            "/v1/query/execute",
            `{"sql":"RETURN $p","parameters":{"p":${"[".repeat(500_000)}${"]".repeat(500_000)}}}`,
            { token },
          ),
      }
    : one,
);

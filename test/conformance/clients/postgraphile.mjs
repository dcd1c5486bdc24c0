/** PostGraphile 4: introspects the schema, then answers GraphQL queries and mutations. */

import { createRequire } from "node:module";
import pg from "pg";
import { createPostGraphileSchema, withPostGraphileContext } from "postgraphile";
import { equal, step } from "./steps.mjs";

const require = createRequire(import.meta.url);
const { graphql, printSchema } = createRequire(require.resolve("postgraphile"))("graphql");
const pool = new pg.Pool({ max: 4 });
let schema = null;

async function ask(source) {
  const { data, errors } = await withPostGraphileContext({ pgPool: pool }, (context) =>
    graphql({ schema, source, contextValue: context }),
  );
  if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join("; "));
  return data;
}

await step("introspection of tables, enums, functions, comments", async () => {
  await pool.query(`
    CREATE TYPE mood AS ENUM ('sad', 'happy');
    CREATE TABLE person (id serial PRIMARY KEY, name text NOT NULL UNIQUE, mood mood, at timestamptz DEFAULT now());
    CREATE TABLE post (id serial PRIMARY KEY, author_id int NOT NULL REFERENCES person, title text NOT NULL, tags text[], data jsonb);
    CREATE INDEX ON post (author_id);
    CREATE FUNCTION person_shout(p person) RETURNS text LANGUAGE sql STABLE AS $$ SELECT upper(p.name) $$;
    COMMENT ON TABLE post IS 'what people write';
  `);
  schema = await createPostGraphileSchema(pool, "public", { dynamicJson: true });
  const text = printSchema(schema);
  for (const part of [
    "type Person implements Node",
    "enum Mood",
    "what people write",
    "personByName",
    "shout: String",
    "createPost(",
  ]) {
    if (!text.includes(part)) throw new Error(`the schema lacks ${part}`);
  }
});
await step("mutations", async () => {
  const { createPerson } = await ask(
    'mutation { createPerson(input: {person: {name: "Ann", mood: HAPPY}}) { person { id name mood shout } } }',
  );
  equal(createPerson.person, { id: 1, name: "Ann", mood: "HAPPY", shout: "ANN" });
  await ask(
    'mutation { createPost(input: {post: {authorId: 1, title: "one", tags: ["x"], data: {a: 1}}}) { post { id } } }',
  );
  const { updatePostById } = await ask(
    'mutation { updatePostById(input: {id: 1, postPatch: {title: "two"}}) { post { title } } }',
  );
  equal(updatePostById, { post: { title: "two" } });
});
await step("queries with relations, conditions, pages", async () => {
  const data = await ask(
    '{ allPeople(first: 5, orderBy: NAME_DESC) { totalCount pageInfo { hasNextPage } nodes { name postsByAuthorId(condition: {title: "two"}) { nodes { title tags data } } } } }',
  );
  const posts = { nodes: [{ title: "two", tags: ["x"], data: { a: 1 } }] };
  equal(data.allPeople, {
    totalCount: 1,
    pageInfo: { hasNextPage: false },
    nodes: [{ name: "Ann", postsByAuthorId: posts }],
  });
});
await pool.end();

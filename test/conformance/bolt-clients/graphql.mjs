/** @neo4j/graphql: its quick start, with filters, nested writes, aggregates and paging. */
import { Neo4jGraphQL } from "@neo4j/graphql";
import { graphql } from "graphql";
import neo4j from "neo4j-driver";
import { equal, step } from "./steps.mjs";

const { BOLT_URL, BOLT_USER, BOLT_PASSWORD } = process.env;
const driver = neo4j.driver(BOLT_URL, neo4j.auth.basic(BOLT_USER, BOLT_PASSWORD));
const typeDefs = `
  type Movie @node {
    title: String!
    released: Int
    actors: [Actor!]! @relationship(type: "ACTED_IN", properties: "Role", direction: IN)
  }
  type Actor @node {
    name: String!
    movies: [Movie!]! @relationship(type: "ACTED_IN", properties: "Role", direction: OUT)
  }
  type Role @relationshipProperties {
    roles: [String!]!
  }
`;
const schema = await new Neo4jGraphQL({ typeDefs, driver }).getSchema();

async function ask(source) {
  const { data, errors } = await graphql({ schema, source, contextValue: { executionContext: driver } });
  if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join("; "));
  return data;
}

await step("a nested create", async () => {
  const data = await ask(`mutation {
    createMovies(input: [
      { title: "Forrest Gump", released: 1994, actors: { create: [{ node: { name: "Tom Hanks" }, edge: { roles: ["Forrest"] } }] } }
      { title: "Cast Away", released: 2000 }
    ]) { info { nodesCreated relationshipsCreated } movies { title actors { name } } }
  }`);
  equal(data.createMovies.info, { nodesCreated: 3, relationshipsCreated: 1 });
  equal(data.createMovies.movies[0], { title: "Forrest Gump", actors: [{ name: "Tom Hanks" }] });
});
await step("filters, order, paging", async () => {
  const data = await ask(`{ movies(where: { released: { gt: 1990 } }, sort: [{ released: DESC }], limit: 1) { title } }`);
  equal(data.movies, [{ title: "Cast Away" }]);
});
await step("a relationship's properties", async () => {
  const data = await ask(`{ actors { name moviesConnection { totalCount edges { properties { roles } node { title } } } } }`);
  equal(data.actors[0].moviesConnection.edges, [{ properties: { roles: ["Forrest"] }, node: { title: "Forrest Gump" } }]);
});
await step("update, connect, delete", async () => {
  await ask(`mutation { updateActors(where: { name: { eq: "Tom Hanks" } }, update: { movies: [{
    connect: [{ where: { node: { title: { eq: "Cast Away" } } }, edge: { roles: ["Chuck"] } }] }] }) { info { relationshipsCreated } } }`);
  const data = await ask(`{ movies(where: { actors: { some: { name: { eq: "Tom Hanks" } } } }, sort: [{ title: ASC }]) { title } }`);
  equal(data.movies.map(({ title }) => title), ["Cast Away", "Forrest Gump"]);
  equal(
    (await ask(`mutation { deleteMovies(where: { title: { eq: "Cast Away" } }) { nodesDeleted } }`)).deleteMovies,
    { nodesDeleted: 1 },
  );
});
await step("aggregates", async () => {
  const data = await ask(`{ moviesConnection { aggregate { count { nodes } node { released { max } } } } }`);
  equal(data.moviesConnection.aggregate, { count: { nodes: 1 }, node: { released: { max: 1994 } } });
});
await driver.close();

/** @neo4j/graphql: its quick start over data that is there, with filters, relationships, aggregates and paging. */
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

await driver.executeQuery(`CREATE (:Actor {name: 'Tom Hanks'})-[:ACTED_IN {roles: ['Forrest']}]->(:Movie {title: 'Forrest Gump', released: 1994}),
  (:Movie {title: 'Cast Away', released: 2000})`);
await step("filters, order, paging", async () => {
  const data = await ask(
    `{ movies(where: { released: { gt: 1990 } }, sort: [{ released: DESC }], limit: 1) { title } }`,
  );
  equal(data.movies, [{ title: "Cast Away" }]);
});
await step("a relationship's properties", async () => {
  const data = await ask(
    `{ actors { name moviesConnection { totalCount edges { properties { roles } node { title } } } } }`,
  );
  equal(data.actors[0].moviesConnection.edges, [
    { properties: { roles: ["Forrest"] }, node: { title: "Forrest Gump" } },
  ]);
});
await step("a filter by a relationship", async () => {
  const data = await ask(
    `{ movies(where: { actors: { some: { name: { eq: "Tom Hanks" } } } }) { title actors { name } } }`,
  );
  equal(data.movies, [{ title: "Forrest Gump", actors: [{ name: "Tom Hanks" }] }]);
});
await step("aggregates", async () => {
  const data = await ask(`{ moviesConnection { aggregate { count { nodes } node { released { max } } } } }`);
  equal(data.moviesConnection.aggregate, { count: { nodes: 2 }, node: { released: { max: 2000 } } });
});
await step("mutations: create with nested nodes, update, connect, delete", async () => {
  const made = await ask(`mutation { createMovies(input: [{ title: "Big", released: 1988, actors: { create: [
    { node: { name: "Elizabeth Perkins" }, edge: { roles: ["Susan"] } }] } }]) { info { nodesCreated } movies { title actors { name } } } }`);
  equal(made.createMovies.movies, [{ title: "Big", actors: [{ name: "Elizabeth Perkins" }] }]);
  const changed = await ask(
    `mutation { updateMovies(where: { title: { eq: "Big" } }, update: { released: { set: 1989 }, actors: [{ connect: [
      { where: { node: { name: { eq: "Tom Hanks" } } }, edge: { roles: ["Josh"] } }] }] }) { movies { released actors(sort: [{ name: ASC }]) { name } } } }`,
  );
  equal(changed.updateMovies.movies, [
    { released: 1989, actors: [{ name: "Elizabeth Perkins" }, { name: "Tom Hanks" }] },
  ]);
  const gone = await ask(`mutation { deleteMovies(where: { title: { eq: "Big" } }, delete: { actors: [
    { where: { node: { name: { eq: "Elizabeth Perkins" } } } }] }) { nodesDeleted } }`);
  equal(gone.deleteMovies.nodesDeleted, 2);
});
await driver.close();

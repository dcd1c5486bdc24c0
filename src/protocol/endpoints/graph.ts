/** The property graph: Cypher, and nodes, edges, graphs and indexes one by one. */

import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { EXTRACT_CHARACTERS_MAX, LIST_PAGE_MAX } from "../limits.js";
import { WRITER_KINDS } from "../provider-kinds.js";
import { MUST_BE } from "../schema-fault.js";
import { FEW_WORDS } from "./examples.js";
import { bound, GraphName, GraphStats, limits, MessageId, PageQuery, Strict, Unused } from "./schemas.js";

const Properties = Type.Record(Type.String(), Type.Unknown());
const EntityId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
/** As paths have it: clients send what they were given, as a number or as a text. */
const SentId = Type.Union([EntityId, Type.String({ pattern: "^[0-9]{1,15}$" })]);
const Label = Type.String({ minLength: 1, maxLength: 1000 });

const Node = Type.Object({ id: EntityId, labels: Type.Array(Type.String()), properties: Properties });
const Edge = Type.Object({
  id: EntityId,
  src: EntityId,
  dst: EntityId,
  type: Type.String(),
  properties: Properties,
});

const Statement = Strict({
  cypher: Type.Optional(Type.String({ minLength: 1 })),
  sql: Type.Optional(Type.String({ minLength: 1, description: "Another name for `cypher`." })),
  ...bound,
  graph: Type.Optional(GraphName),
  ...limits,
});

const GraphQuery = { graph: Type.Optional(GraphName) };
const entityId = Type.Object({ id: Type.String({ pattern: "^[0-9]{1,15}$" }) });
const graphName = Type.Object({ name: GraphName });

const InAll = Type.Integer({ description: "Of all pages." });

const Graph = Type.Object({
  name: Type.String(),
  node_count: Type.Optional(
    Type.Integer({ description: "Left out, as edge_count is, where the caller may not read all of the graph." }),
  ),
  edge_count: Type.Optional(Type.Integer()),
  adjacency_bytes: Type.Optional(
    Type.Integer({
      description: "Memory of its relationships as walks use them; left out where no walk has needed it.",
    }),
  ),
});

const Index = Type.Object({
  name: Type.String(),
  entity: Type.Enum(["node", "relationship"]),
  label: Type.String({ description: "A label or a relationship type." }),
  properties: Type.Array(Type.String()),
  unique: Type.Boolean(),
  what: Type.Enum(["index", "constraint"]),
});

const Names = Type.Union([Label, Type.Array(Label)]);
const where = Type.Optional(Type.String({ minLength: 1 }));
const NodeFilter = Type.Union(
  [Label, Type.Array(Label), Strict({ label: Type.Optional(Names), labels: Type.Optional(Names), where })],
  { description: "A label, several of them, {label} or {labels}, or {where}: a condition of Cypher over `n`." },
);
const EdgeFilter = Type.Union(
  [Label, Type.Array(Label), Strict({ type: Type.Optional(Names), types: Type.Optional(Names), where })],
  { description: "A type, several of them, {type} or {types}, or {where}: a condition of Cypher over `r`." },
);

/** UTF-16 offsets in the text. */
const Span = Type.Object({ start: Type.Integer(), end: Type.Integer() });

/** A schema for graphs of texts. */
const Types = Type.Array(
  Type.String({ minLength: 1, maxLength: 64, pattern: "[\\p{L}\\p{N}]", [MUST_BE]: "a name with a letter or digit" }),
  {
    minItems: 1,
    maxItems: 100,
    description: "The extracted graph has only these.",
  },
);

const algorithmBody = {
  algorithm: Type.String({ minLength: 1, maxLength: 100, description: "pagerank, louvain, label_propagation, …" }),
  graph: Type.Optional(GraphName),
  options: Type.Optional(Properties),
  params: Type.Optional(Properties),
  node_filter: Type.Optional(NodeFilter),
  edge_filter: Type.Optional(EdgeFilter),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })),
  write_property: Type.Optional(Label),
};

const shared = { tag: "graph", home: "tenant", door: "statements" } as const;

export const graphEndpoints = [
  {
    name: "graph.match",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/graph/match",
    summary: "Run one Cypher statement.",
    access: "member",
    ...shared,
    body: Statement,
    example: {
      body: {
        cypher: "MERGE (a:Person {name: $name})-[:KNOWS]->(b:Person {name: 'Ben'}) RETURN a.name, b.name",
        parameters: { name: "Ann" },
      },
    },
    response: Type.Object({
      columns: Type.Array(Type.String()),
      rows: Type.Array(Type.Array(Type.Unknown()), {
        description:
          "Values by position. Nodes are {id, labels, properties}, relationships {id, src, dst, type, properties}.",
      }),
      count: Type.Integer(),
      execution_time_ms: Type.Number(),
      stats: Type.Optional(GraphStats),
      truncated: Type.Optional(Type.Boolean()),
    }),
    flat: true,
  },
  {
    name: "graph.match.profile",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/graph/match/profile",
    summary: "Run one Cypher statement and return its plan with rows and times. Its changes are kept.",
    access: "member",
    ...shared,
    body: Statement,
    example: { body: { cypher: "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name, count(b) AS friends" } },
    response: Type.Object({ plan: Type.Array(Type.String()), execution_time_ms: Type.Number() }),
  },
  {
    name: "graph.nodes.create",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/graph/nodes",
    summary: "Make a node.",
    access: "writer",
    ...shared,
    body: Strict({
      labels: Type.Optional(Type.Array(Label, { maxItems: 100 })),
      label: Type.Optional(Label),
      properties: Type.Optional(Properties),
      graph: Type.Optional(GraphName),
    }),
    example: { body: { labels: ["Person"], properties: { name: "Cleo", born: 1990 } } },
    response: Node,
    status: 201,
    flat: true,
  },
  {
    name: "graph.nodes.list",
    method: "GET",
    path: "/v1/graph/nodes",
    summary: "Nodes in the order of their ids, of one label if given.",
    access: "member",
    ...shared,
    pages: { items: "nodes" },
    query: Strict({ ...GraphQuery, ...PageQuery, label: Type.Optional(Label) }),
    response: Type.Object({ nodes: Type.Array(Node), count: Type.Integer() }),
    flat: true,
  },
  {
    name: "graph.nodes.get",
    method: "GET",
    path: "/v1/graph/nodes/{id}",
    summary: "One node.",
    access: "member",
    ...shared,
    params: entityId,
    query: Strict(GraphQuery),
    response: Node,
    flat: true,
  },
  {
    name: "graph.nodes.update",
    keepsIntegers: true,
    method: "PATCH",
    path: "/v1/graph/nodes/{id}",
    summary: "Merge properties into a node (null removes one). `labels` replaces its labels.",
    access: "writer",
    ...shared,
    params: entityId,
    query: Strict(GraphQuery),
    body: Strict({
      labels: Type.Optional(Type.Array(Label, { maxItems: 100 })),
      properties: Type.Optional(Properties),
      graph: Type.Optional(GraphName),
    }),
    example: { params: { id: "1" }, body: { properties: { born: 1991 } } },
    response: Node,
    flat: true,
  },
  {
    name: "graph.nodes.delete",
    method: "DELETE",
    path: "/v1/graph/nodes/{id}",
    summary: "Remove a node and its relationships. With `detach=false`, a node with relationships is not removed.",
    access: "writer",
    ...shared,
    params: entityId,
    query: Strict({ ...GraphQuery, detach: Type.Optional(Type.Enum(["true", "false"])) }),
    status: 204,
  },
  {
    name: "graph.nodes.neighbors",
    method: "GET",
    path: "/v1/graph/nodes/{id}/neighbors",
    summary: "A node's neighbours, each with the relationship to it.",
    access: "member",
    ...shared,
    params: entityId,
    pages: { items: "neighbors" },
    query: Strict({
      ...GraphQuery,
      ...PageQuery,
      direction: Type.Optional(Type.Enum(["in", "out", "both"])),
      type: Type.Optional(Label),
    }),
    response: Type.Object({
      neighbors: Type.Array(Type.Object({ node: Node, edge: Edge })),
      nodes: Type.Array(Node, { description: "The same nodes without duplicates." }),
      edges: Type.Array(Edge, { description: "The same relationships." }),
      count: Type.Integer({ description: "Of neighbors." }),
    }),
    flat: true,
  },
  {
    name: "graph.edges.create",
    keepsIntegers: true,
    method: "POST",
    path: "/v1/graph/edges",
    summary: "Create a relationship between two nodes.",
    access: "writer",
    ...shared,
    body: Strict({
      src: Type.Optional(SentId),
      dst: Type.Optional(SentId),
      from: Type.Optional(SentId),
      to: Type.Optional(SentId),
      type: Label,
      properties: Type.Optional(Properties),
      graph: Type.Optional(GraphName),
    }),
    example: { body: { from: 1, to: 2, type: "KNOWS", properties: { since: 2020 } } },
    response: Edge,
    status: 201,
    flat: true,
  },
  {
    name: "graph.edges.list",
    method: "GET",
    path: "/v1/graph/edges",
    summary: "Relationships in the order of their ids, of one type if given.",
    access: "member",
    ...shared,
    pages: { items: "edges" },
    query: Strict({ ...GraphQuery, ...PageQuery, type: Type.Optional(Label) }),
    response: Type.Object({ edges: Type.Array(Edge), count: Type.Integer() }),
    flat: true,
  },
  {
    name: "graph.edges.get",
    method: "GET",
    path: "/v1/graph/edges/{id}",
    summary: "One relationship.",
    access: "member",
    ...shared,
    params: entityId,
    query: Strict(GraphQuery),
    response: Edge,
    flat: true,
  },
  {
    name: "graph.edges.update",
    keepsIntegers: true,
    method: "PATCH",
    path: "/v1/graph/edges/{id}",
    summary: "Merge properties into a relationship (null removes one).",
    access: "writer",
    ...shared,
    params: entityId,
    query: Strict(GraphQuery),
    body: Strict({ properties: Properties, graph: Type.Optional(GraphName) }),
    example: { params: { id: "1" }, body: { properties: { since: 2021 } } },
    response: Edge,
    flat: true,
  },
  {
    name: "graph.edges.delete",
    method: "DELETE",
    path: "/v1/graph/edges/{id}",
    summary: "Remove a relationship.",
    access: "writer",
    ...shared,
    params: entityId,
    query: Strict(GraphQuery),
    status: 204,
  },
  {
    name: "graph.algorithms",
    method: "POST",
    path: "/v1/graph/algorithms",
    summary: "Run an algorithm over a graph: PageRank, communities, components, centralities, paths.",
    access: "member",
    ...shared,
    slow: true,
    body: Strict(algorithmBody),
    example: {
      body: { algorithm: "page_rank", options: { damping_factor: 0.85 }, node_filter: "Person", limit: 10 },
    },
    response: Type.Object({
      algorithm: Type.String(),
      graph: Type.String(),
      execution_time_ms: Type.Number(),
      columns: Type.Optional(Type.Array(Type.String())),
      results: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
      count: Type.Optional(Type.Integer()),
      written: Type.Optional(Type.Integer({ description: "Number of nodes that now have the property." })),
      stats: Type.Optional(GraphStats),
    }),
  },
  {
    name: "graph.algorithms.message",
    method: "MESSAGE",
    path: "/ws",
    messages: ["graph.algorithm"],
    summary:
      "The same on the WebSocket: graph.progress {phase, progress} while it runs, then graph.columns, graph.rows …, graph.complete; or error. `cancel` stops it.",
    access: "member",
    ...shared,
    slow: true,
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), ...algorithmBody }),
  },
  {
    name: "graph.extract",
    method: "POST",
    path: "/v1/graph/extract",
    summary:
      "Extract the names in a text and their relationships, by a language model or by rules (English). With `store`, merge them into the graph.",
    access: "member",
    ...shared,
    slow: true,
    body: Strict({
      text: Type.String({ minLength: 1, maxLength: EXTRACT_CHARACTERS_MAX }),
      graph: Type.Optional(GraphName),
      store: Type.Optional(
        Type.Boolean({ description: "Merge nodes by type (their label) and name, edges by their ends and type." }),
      ),
      method: Type.Optional(
        Type.Enum(["auto", "provider", "llm", "rules"], {
          description:
            "provider (or llm): the language model; rules: none; auto: the model if a provider is configured.",
        }),
      ),
      options: Type.Optional(
        Strict({
          provider: Type.Optional(
            Type.Enum([...WRITER_KINDS], {
              description: "native: the bundled model. Any other value must name the configured provider.",
            }),
          ),
          model: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
          node_types: Type.Optional(Types),
          edge_types: Type.Optional(Types),
        }),
      ),
      timeout_secs: limits.timeout_secs,
    }),
    example: { body: { text: FEW_WORDS } },
    response: Type.Object({
      nodes: Type.Array(
        Type.Object({
          name: Type.String(),
          type: Type.String(),
          spans: Type.Array(Span),
          confidence: Type.Number(),
        }),
      ),
      edges: Type.Array(
        Type.Object({
          from: Type.String(),
          to: Type.String(),
          type: Type.String(),
          span: Span,
          confidence: Type.Number(),
        }),
      ),
      graph: Type.String(),
      extractor: Type.Enum(["rules", "provider"]),
      provider: Type.Optional(Type.String()),
      model: Type.Optional(Type.String()),
      usage: Type.Optional(
        Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer(), total_tokens: Type.Integer() }),
      ),
      warnings: Type.Optional(
        Type.Array(Type.String(), { description: "Parts of the model's answer that were left out, with the reason." }),
      ),
      stored: Type.Boolean(),
      stats: Type.Optional(GraphStats),
    }),
  },
  {
    name: "graph.graphs.list",
    method: "GET",
    path: "/v1/graph/graphs",
    summary: "The tenant's graphs.",
    access: "member",
    ...shared,
    pages: { items: "graphs", total: "count", most: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Object({ graphs: Type.Array(Graph), count: InAll }),
    flat: true,
  },
  {
    name: "graph.graphs.create",
    method: "POST",
    path: "/v1/graph/graphs",
    summary: "Make a graph.",
    access: "writer",
    ...shared,
    body: Strict({ name: GraphName, description: Unused("only a graph's name is stored.") }),
    example: { body: { name: "people" } },
    response: Graph,
    status: 201,
    flat: true,
  },
  {
    name: "graph.graphs.delete",
    method: "DELETE",
    path: "/v1/graph/graphs/{name}",
    summary: "Remove a graph with all its nodes and relationships.",
    access: "writer",
    ...shared,
    params: graphName,
    status: 204,
  },
  {
    name: "graph.indexes.list",
    method: "GET",
    path: "/v1/graph/indexes",
    summary: "Indexes over properties.",
    access: "member",
    ...shared,
    pages: { items: "indexes", total: "count", most: LIST_PAGE_MAX },
    query: Strict({ ...GraphQuery, ...PageQuery }),
    response: Type.Object({ indexes: Type.Array(Index), count: InAll }),
  },
  {
    name: "graph.indexes.create",
    method: "POST",
    path: "/v1/graph/indexes",
    summary: "Create an index on properties of nodes with a label, or of relationships with a type.",
    access: "writer",
    ...shared,
    body: Strict({
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
      label: Type.Optional(Label),
      type: Type.Optional(Label),
      property: Type.Optional(Label),
      properties: Type.Optional(Type.Array(Label, { minItems: 1, maxItems: 16 })),
      unique: Type.Optional(Type.Boolean()),
      statement: Type.Optional(
        Type.String({
          minLength: 1,
          description: "CREATE INDEX or CREATE CONSTRAINT in Cypher, in place of all but `graph`.",
        }),
      ),
      graph: Type.Optional(GraphName),
    }),
    example: { body: { name: "person_name", label: "Person", property: "name" } },
    response: Type.Object({ indexes: Type.Array(Index), count: Type.Integer() }),
    status: 201,
  },
  {
    name: "graph.indexes.delete",
    method: "DELETE",
    path: "/v1/graph/indexes/{name}",
    summary: "Remove an index.",
    access: "writer",
    ...shared,
    params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 63 }) }),
    query: Strict(GraphQuery),
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];

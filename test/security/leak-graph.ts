/** Of leak-hunt.test.ts: what the reader asks of the graph, in Cypher and by routes. The hidden node is number 5. */
import { type Ask, type Cases, get, post } from "./leak-ask.js";
import { SECRET } from "./leak-tenants.js";

const SEEN = 1;
const HIDDEN = 5;

const patch = (path: string, body: unknown): Ask => ({ method: "PATCH", path, body });
const remove = (path: string): Ask => ({ method: "DELETE", path });
const algorithm = (body: object): Ask => post("/v1/graph/algorithms", body);
const files = (nodes: string): Ask => ({
  path: "/v1/graph/import",
  type: "multipart/form-data; boundary=XX",
  body: `--XX\r\nContent-Disposition: form-data; name="nodes:Note"; filename="n.csv"\r\n\r\n${nodes}\r\n--XX--\r\n`,
});

export const GRAPH_CASES: Cases = {
  "graph.match": [
    "MATCH (n) RETURN count(n)",
    "MATCH (n:Note) RETURN n ORDER BY n.title",
    "MATCH (n:Note {title: 'note 1'})-[r]-(m) RETURN type(r), m",
    "MATCH p = shortestPath((a:Note {title: 'note 1'})-[*]-(b:Note {title: 'note 3'})) RETURN length(p)",
    "MATCH (a:Note {title: 'note 1'})-[:NEXT|SECRETLY*1..3]->(b) RETURN count(b)",
    "MATCH (n:Note) RETURN n.title, COUNT { (n)--() } ORDER BY n.title",
    `MATCH (n) WHERE 1 / (CASE WHEN n.title CONTAINS '${SECRET}' THEN 0 ELSE 1 END) = 1 RETURN count(n)`,
    "OPTIONAL MATCH (n:Secretive) RETURN n",
    "CALL db.labels() YIELD label RETURN label ORDER BY label",
    "CALL db.relationshipTypes()",
    "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey ORDER BY propertyKey",
    "CALL db.index.fulltext.queryNodes('titles', 'note') YIELD node, score RETURN node.title, score ORDER BY score, node.title",
    "CALL algo.pageRank() YIELD node, score RETURN node.title, score ORDER BY node.title",
    "MERGE (n:Note {title: 'note 9', owner: 'other'}) RETURN n",
    "MATCH (n:Note {title: 'note 1'}) SET n.owner = 'other'",
    `MATCH (n:Note) WHERE n.title CONTAINS '${SECRET}' DETACH DELETE n`,
  ].map((cypher) => post("/v1/graph/match", { cypher })),
  "graph.nodes.create": [
    post("/v1/graph/nodes", { labels: ["Note"], properties: { title: "x", owner: "other" } }),
    post("/v1/graph/nodes", { labels: ["Note"], properties: { title: "x" }, graph: "none" }),
  ],
  "graph.nodes.list": [
    get("/v1/graph/nodes"),
    get("/v1/graph/nodes?limit=2&offset=3"),
    get("/v1/graph/nodes?label=Note"),
    get("/v1/graph/nodes?label=Secretive"),
  ],
  "graph.nodes.get": [SEEN, HIDDEN, 99].map((id) => get(`/v1/graph/nodes/${id}`)),
  "graph.nodes.update": [
    ...[HIDDEN, 99].map((id) => patch(`/v1/graph/nodes/${id}`, { properties: { owner: "mine" } })),
    ...[HIDDEN, 99].map((id) => patch(`/v1/graph/nodes/${id}`, { labels: ["Mine"] })),
    patch(`/v1/graph/nodes/${SEEN}`, { properties: { owner: "other" } }),
  ],
  "graph.nodes.delete": [HIDDEN, 99].flatMap((id) => [
    remove(`/v1/graph/nodes/${id}`),
    remove(`/v1/graph/nodes/${id}?detach=false`),
  ]),
  "graph.nodes.neighbors": [
    get(`/v1/graph/nodes/${SEEN}/neighbors`),
    get("/v1/graph/nodes/2/neighbors?direction=out&limit=1"),
    get("/v1/graph/nodes/2/neighbors?type=SECRETLY"),
    get(`/v1/graph/nodes/${HIDDEN}/neighbors`),
  ],
  "graph.edges.create": [
    post("/v1/graph/edges", { from: SEEN, to: HIDDEN, type: "NEXT" }),
    post("/v1/graph/edges", { from: HIDDEN, to: SEEN, type: "NEXT" }),
  ],
  "graph.edges.list": [
    get("/v1/graph/edges"),
    get("/v1/graph/edges?type=SECRETLY"),
    get("/v1/graph/edges?type=NEXT&offset=2"),
  ],
  "graph.edges.get": [1, 4, 99].map((id) => get(`/v1/graph/edges/${id}`)),
  "graph.edges.update": [4, 5, 99].map((id) => patch(`/v1/graph/edges/${id}`, { properties: { since: 1 } })),
  "graph.edges.delete": [4, 5, 99].map((id) => remove(`/v1/graph/edges/${id}`)),
  "graph.algorithms": [
    ...["page_rank", "degree", "weakly_connected_components", "triangle_count", "louvain"].map((name) =>
      algorithm({ algorithm: name }),
    ),
    algorithm({ algorithm: "page_rank", node_filter: "Secretive" }),
    algorithm({ algorithm: "page_rank", node_filter: { where: `n.title CONTAINS '${SECRET}'` } }),
    algorithm({ algorithm: "page_rank", edge_filter: "SECRETLY" }),
  ],
  "graph.extract": [
    post("/v1/graph/extract", { text: "Marie Curie worked in Paris.", method: "rules" }),
    post("/v1/graph/extract", { text: "Marie Curie worked in Paris.", method: "rules", store: true }),
  ],
  "graph.graphs.list": [get("/v1/graph/graphs")],
  "graph.graphs.create": [post("/v1/graph/graphs", { name: "default" })],
  "graph.graphs.delete": [remove("/v1/graph/graphs/default"), remove("/v1/graph/graphs/none")],
  "graph.indexes.list": [get("/v1/graph/indexes"), get("/v1/graph/indexes?graph=none")],
  "graph.indexes.create": [
    post("/v1/graph/indexes", { label: "Note", property: "title", unique: true }),
    post("/v1/graph/indexes", { label: "Secretive", property: "title" }),
  ],
  "graph.indexes.delete": [remove("/v1/graph/indexes/titles"), remove("/v1/graph/indexes/none")],
  "graph.import": [files("id:ID,title,owner\n1,forged,other"), files("id:ID,title\n1,forged")],
};

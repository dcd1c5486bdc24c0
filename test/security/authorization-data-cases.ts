/** Cases of endpoints for a tenant's data, for authorization-cases.ts: statements, documents, vectors, graph. */
import { type Case, get, post, type World } from "./authorization-case.js";

const doc = (w: World) => `/v1/collections/${w.collection}/documents/${w.document}`;
const vec = (w: World) => `/v1/vectors/collections/${w.vectors}`;
const transactionToEnd = (w: World) => `/v1/transactions/${w.transaction}${w.isAnothers ? "" : "-x"}`;

const query: Record<string, Case> = {
  "query.execute": { send: (w) => ({ body: { sql: `SELECT * FROM ${w.table}` } }), others: "400" },
  "query.batch": { send: (w) => ({ body: { statements: [`SELECT * FROM ${w.table}`] } }), others: "200, an error" },
  "query.script": {
    send: (w) => ({ path: "/v1/query/script", body: `SELECT 1; SELECT * FROM ${w.table};`, type: "application/sql" }),
    others: "400",
  },
  "query.prepare": { send: (w) => ({ body: { sql: `SELECT * FROM ${w.table}` } }), others: "400" },
  "query.exec": { send: (w) => ({ body: { statement_id: w.statement } }), others: "404" },
  "query.close": {
    send: (w, n) => ({ body: { statement_id: w.isAnothers ? w.statement : `p${n}` } }),
    before: (_, n) => [["POST", "/v1/query/prepare", { sql: "SELECT 1", name: `p${n}` }]],
    others: "200, nothing closed",
  },
  "transactions.begin": post({}),
  "transactions.execute": {
    send: (w) => ({ path: `/v1/transactions/${w.transaction}/execute`, body: { sql: "SELECT 1" } }),
    others: "404",
  },
  "transactions.savepoint": {
    send: (w) => ({ path: `/v1/transactions/${w.transaction}/savepoint`, body: { name: "s" } }),
    others: "404",
  },
  "transactions.savepoint.rollback": get((w) => `/v1/transactions/${w.transaction}/savepoint/s/rollback`, "404"),
  // Ends what the others need: what is let through is a transaction that is not there any more.
  "transactions.commit": { ...get((w) => `${transactionToEnd(w)}/commit`, "404"), statuses: [404] },
  "transactions.rollback": { ...get((w) => `${transactionToEnd(w)}/rollback`, "404"), statuses: [404] },
  "data.importCsv": {
    send: (w, n) => ({ path: `/v1/data/import/csv?table=${w.table}`, body: `id,secret\n${n},x\n`, type: "text/csv" }),
    others: "400 404",
  },
  "data.importNdjson": {
    send: (w, n) => ({
      path: `/v1/data/import/ndjson?table=${w.table}`,
      body: `{"id":${n},"secret":"x"}\n`,
      type: "application/x-ndjson",
    }),
    others: "400 404",
  },
  // Who may is told that the file is none.
  "data.importParquet": {
    send: (w) => ({ path: `/v1/data/import/parquet?table=${w.table}`, body: "no Parquet", type: "text/plain" }),
    statuses: [400],
    others: "400 404",
  },
  "data.importArrow": {
    send: (w) => ({ path: `/v1/data/import/arrow?table=${w.table}`, body: "no Arrow", type: "text/plain" }),
    statuses: [400],
    others: "400 404",
  },
  "data.export": get((w) => `/v1/data/export?table=${w.table}`, "400"),
};

const documents: Record<string, Case> = {
  "collections.create": { send: (_, n) => ({ body: { name: `made${n}` } }) },
  "collections.replace": {
    send: (w) => ({ path: `/v1/collections/${w.collection}`, body: { schema: { fields: [] } } }),
    others: "404",
  },
  "collections.update": {
    send: (w) => ({ path: `/v1/collections/${w.collection}`, body: { schema: { fields: [] } } }),
    others: "404",
  },
  "collections.delete": {
    send: (w, n) => ({ path: `/v1/collections/${w.isAnothers ? w.collection : `gone${n}`}` }),
    before: (_, n) => [["POST", "/v1/collections", { name: `gone${n}` }]],
    others: "404",
  },
  "documents.insert": {
    send: (w, n) => ({ path: `/v1/collections/${w.collection}/documents`, body: { id: `d${n}` } }),
    others: "404",
  },
  "documents.bulk": {
    send: (w, n) => ({
      path: `/v1/collections/${w.collection}/documents/bulk`,
      body: { documents: [{ id: `d${n}` }] },
    }),
    others: "404",
  },
  "documents.replace": { send: (w) => ({ path: doc(w), body: { data: { a: 1 } } }), others: "404" },
  "documents.patch": { send: (w) => ({ path: doc(w), body: { a: 2 } }), others: "404" },
  "documents.delete": {
    send: (w, n) => ({ path: w.isAnothers ? doc(w) : `/v1/collections/${w.collection}/documents/x${n}` }),
    before: (w, n) => [["POST", `/v1/collections/${w.collection}/documents`, { id: `x${n}` }]],
    others: "404",
  },
  "documents.search": {
    send: (w) => ({ path: `/v1/collections/${w.collection}/search`, body: { query: "secret" } }),
    others: "404",
  },
};

const vectors: Record<string, Case> = {
  "vectors.collections.create": { send: (_, n) => ({ body: { name: `madev${n}`, dimensions: 2 } }) },
  "vectors.collections.delete": {
    send: (w, n) => ({ path: w.isAnothers ? vec(w) : `/v1/vectors/collections/gonev${n}` }),
    before: (_, n) => [["POST", "/v1/vectors/collections", { name: `gonev${n}`, dimensions: 2 }]],
    others: "404",
  },
  "vectors.upsert": {
    send: (w, n) => ({ path: `${vec(w)}/vectors`, body: { id: `v${n}`, vector: [1, 2] } }),
    others: "404",
  },
  "vectors.batch": {
    send: (w, n) => ({ path: `${vec(w)}/vectors/batch`, body: { vectors: [{ id: `v${n}`, vector: [1, 2] }] } }),
    others: "404",
  },
  "vectors.deleteMany": {
    send: (w) => ({ path: `${vec(w)}/vectors`, body: { ids: [w.isAnothers ? w.vector : "none"] } }),
    others: "404",
  },
  "vectors.delete": {
    send: (w, n) => ({ path: `${vec(w)}/vectors/${w.isAnothers ? w.vector : `w${n}`}` }),
    before: (w, n) => [["POST", `${vec(w)}/vectors`, { id: `w${n}`, vector: [1, 2] }]],
    others: "404",
  },
  "vectors.search": { send: (w) => ({ path: `${vec(w)}/search`, body: { vector: [1, 2] } }), others: "404" },
  "vectors.map": { send: (w) => ({ body: { sql: `SELECT * FROM ${w.vectors}` } }), others: "400" },
};

const graph: Record<string, Case> = {
  "graph.match": { send: (w) => ({ body: { cypher: `MATCH (n:${w.label}) RETURN n` } }), others: "200, no rows" },
  "graph.match.profile": {
    send: (w) => ({ body: { cypher: `MATCH (n:${w.label}) RETURN n` } }),
    others: "200, no rows",
  },
  "graph.import": {
    send: (w) => ({
      path: `/v1/graph/import?graph=${w.graph}`,
      body: "--b\r\nContent-Disposition: form-data; name=nodes; filename=n\r\n\r\n:ID\n1\n\r\n--b--\r\n",
      type: "multipart/form-data; boundary=b",
    }),
    others: "400 404",
  },
  "graph.nodes.create": post({ labels: ["Made"] }),
  "graph.nodes.list": get((w) => `/v1/graph/nodes?label=${w.label}`, "200, no rows"),
  "graph.nodes.update": {
    send: (w) => ({ path: `/v1/graph/nodes/${w.node}`, body: { properties: { a: 1 } } }),
    others: "404",
  },
  "graph.nodes.delete": {
    send: (w) => ({ path: `/v1/graph/nodes/${w.isAnothers ? w.node : 9_999_999}?detach=true` }),
    statuses: [404],
    others: "404",
  },
  "graph.edges.create": {
    send: (w) => ({ body: { type: "MADE", src: w.node, dst: w.otherNode } }),
    others: "404",
  },
  "graph.edges.list": get((w) => `/v1/graph/edges?type=OF_${w.label}`, "200, no rows"),
  "graph.edges.update": {
    send: (w) => ({ path: `/v1/graph/edges/${w.edge}`, body: { properties: { a: 1 } } }),
    others: "404",
  },
  "graph.edges.delete": {
    send: (w) => ({ path: `/v1/graph/edges/${w.isAnothers ? w.edge : 9_999_999}` }),
    statuses: [404],
    others: "404",
  },
  "graph.algorithms": { send: (w) => ({ body: { algorithm: "pagerank", graph: w.graph } }), others: "400 404" },
  "graph.algorithms.message": {
    send: (w) => ({ body: { type: "graph.algorithm", algorithm: "pagerank", graph: w.graph } }),
    others: "400 404",
  },
  "graph.graphs.create": { send: (_, n) => ({ body: { name: `madeg${n}` } }) },
  "graph.graphs.delete": {
    send: (w, n) => ({ path: `/v1/graph/graphs/${w.isAnothers ? w.graph : `goneg${n}`}` }),
    before: (_, n) => [["POST", "/v1/graph/graphs", { name: `goneg${n}` }]],
    others: "404",
  },
  "graph.indexes.create": { send: (_, n) => ({ body: { name: `madei${n}`, label: "Made", property: `p${n}` } }) },
  "graph.indexes.delete": {
    send: (w, n) => ({ path: `/v1/graph/indexes/${w.isAnothers ? w.index : `gonei${n}`}` }),
    before: (_, n) => [["POST", "/v1/graph/indexes", { name: `gonei${n}`, label: "Gone", property: `p${n}` }]],
    others: "404",
  },
};

export const DATA_CASES: Readonly<Record<string, Case>> = { ...query, ...documents, ...vectors, ...graph };

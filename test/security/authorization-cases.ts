/**
 * For each endpoint a request that names objects, given the ids of those of a tenant: the matrix sends it with the
 * caller's own ids, which must succeed where the caller may, and with another tenant's, which must find nothing. An
 * endpoint without a case fails the test.
 */
import { wav } from "../ingest/wav-writer.js";

/** What one tenant has; all names and ids differ from other tenants'. */
export interface World {
  readonly tenant: string;
  /** It is not the caller's own: what is to be deleted is what the world names. */
  readonly isAnothers: boolean;
  readonly user: string;
  readonly table: string;
  readonly collection: string;
  readonly document: string;
  readonly vectors: string;
  readonly vector: string;
  readonly node: number;
  readonly otherNode: number;
  readonly edge: number;
  readonly label: string;
  readonly graph: string;
  readonly index: string;
  readonly session: string;
  readonly response: string;
  readonly namespace: string;
  readonly memory: string;
  readonly apiKey: string;
  readonly transaction: string;
  readonly statement: string;
  /** A training. */
  readonly job: string;
  readonly recipe: string;
  readonly execution: string;
}

export interface Sent {
  /** With variables filled in and a query string; the endpoint's path where absent. */
  readonly path?: string;
  readonly body?: unknown;
  /** text/csv and the like; JSON where absent. */
  readonly type?: string;
}

/**
 * What belongs to who made it: what another user of the same tenant is answered with who names it by its id, administrators aside.
 * All else that has an id is the tenant's: every member may name it, which the matrix tries with what a super_admin made.
 */
export const OWNED: Readonly<Record<string, string>> = {
  "query.exec": "404",
  "query.close": "200, nothing closed",
  "transactions.get": "404",
  "transactions.execute": "404",
  "transactions.savepoint": "404",
  "transactions.savepoint.rollback": "404",
  "transactions.commit": "404",
  "transactions.rollback": "404",
  "chat.sessions.get": "404",
  "chat.sessions.delete": "404",
  "chat.sessions.messages": "404",
  "chat.send": "404",
  "chat.stream": "404",
  "socket.chat": "404",
  "openai.responses.create": "404",
  "openai.responses.get": "404",
  "openai.responses.delete": "404",
  "automl.job": "404",
  "automl.stop": "404",
  "socket.automl.follow": "404",
  "apikeys.delete": "404",
};

export type Step = readonly [method: string, path: string, body?: unknown];

export interface Case {
  /** `n` differs from call to call, for names of what is made. */
  readonly send: (world: World, n: number) => Sent;
  /** What must be there first, made by a super_admin of the caller's tenant; failures do not matter. */
  readonly before?: (world: World, n: number) => readonly Step[];
  /** Statuses of a request that is let through; 2xx where absent. Only where success needs what a test cannot have. */
  readonly statuses?: readonly number[];
  /** Answers to a request with another tenant's ids; absent: it names no object. */
  readonly others?: string;
  /** It needs the person, not a key. */
  readonly person?: true;
  /** The handler asks for the role admin or super_admin. */
  readonly admins?: true;
}

/** Backups are made in the background; test/e2e/backups.test.ts has those of other tenants. */
const NO_BACKUP = "bak_00000000000000000000000000000000";
const NO_SCHEDULE = "sch_00000000000000000000000000000000";

const get = (path: (world: World) => string, others?: string): Case => ({
  send: (world) => ({ path: path(world) }),
  ...(others === undefined ? {} : { others }),
});
const post = (body: unknown): Case => ({ send: () => ({ body }) });

const doc = (w: World) => `/v1/collections/${w.collection}/documents/${w.document}`;
const vec = (w: World) => `/v1/vectors/collections/${w.vectors}`;
const memory = (w: World) => `/v1/ai/memory/${w.namespace}`;
const tenantPath = (w: World) => `/admin/tenants/${w.tenant}`;
const issuerOf = ({ tenant }: World, n: number) => ({
  issuer: "https://login.example.com",
  audience: [`${tenant}-${n}`],
  roles_claim: "groups",
  roles: { staff: "user" },
});
const userOf = (n: number) => `made-${n}`;
const password = "a password to be changed";

/** Two pixels wide and high. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAE0lEQVQImWP4z8DwnwGM/zMwAAAf7gP9qS/A4gAAAABJRU5ErkJggg==";

/** A tenth of a second of silence. */
const WAV = wav(() => 0, 0.1, { rate: 8000, bits: 8 }).toString("base64");

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
  "transactions.get": get((w) => `/v1/transactions/${w.transaction}`, "404"),
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
  "schema.tables": get(() => "/v1/schema/tables"),
  "schema.table": get((w) => `/v1/schema/tables/${w.table}`, "404"),
  "schema.columns": get((w) => `/v1/schema/tables/${w.table}/columns`, "404"),
  "schema.indexes": get((w) => `/v1/schema/tables/${w.table}/indexes`, "404"),
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
  "collections.list": get(() => "/v1/collections"),
  "collections.get": get((w) => `/v1/collections/${w.collection}`, "404"),
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
  "documents.list": get((w) => `/v1/collections/${w.collection}/documents`, "404"),
  "documents.get": get(doc, "404"),
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
  "vectors.collections.list": get(() => "/v1/vectors/collections"),
  "vectors.collections.get": get(vec, "404"),
  "vectors.collections.count": get((w) => `${vec(w)}/count`, "404"),
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
  "vectors.get": get((w) => `${vec(w)}/vectors/${w.vector}`, "404"),
  "vectors.delete": {
    send: (w, n) => ({ path: `${vec(w)}/vectors/${w.isAnothers ? w.vector : `w${n}`}` }),
    before: (w, n) => [["POST", `${vec(w)}/vectors`, { id: `w${n}`, vector: [1, 2] }]],
    others: "404",
  },
  "vectors.search": { send: (w) => ({ path: `${vec(w)}/search`, body: { vector: [1, 2] } }), others: "404" },
};

const graph: Record<string, Case> = {
  "graph.match": { send: (w) => ({ body: { cypher: `MATCH (n:${w.label}) RETURN n` } }), others: "200, no rows" },
  "graph.match.profile": {
    send: (w) => ({ body: { cypher: `MATCH (n:${w.label}) RETURN n` } }),
    others: "200, no rows",
  },
  "graph.nodes.create": post({ labels: ["Made"] }),
  "graph.nodes.list": get((w) => `/v1/graph/nodes?label=${w.label}`, "200, no rows"),
  "graph.nodes.get": get((w) => `/v1/graph/nodes/${w.node}`, "404"),
  "graph.nodes.update": {
    send: (w) => ({ path: `/v1/graph/nodes/${w.node}`, body: { properties: { a: 1 } } }),
    others: "404",
  },
  "graph.nodes.delete": {
    send: (w) => ({ path: `/v1/graph/nodes/${w.isAnothers ? w.node : 9_999_999}?detach=true` }),
    statuses: [404],
    others: "404",
  },
  "graph.nodes.neighbors": get((w) => `/v1/graph/nodes/${w.node}/neighbors`, "404"),
  "graph.edges.create": {
    send: (w) => ({ body: { type: "MADE", src: w.node, dst: w.otherNode } }),
    others: "404",
  },
  "graph.edges.list": get((w) => `/v1/graph/edges?type=OF_${w.label}`, "200, no rows"),
  "graph.edges.get": get((w) => `/v1/graph/edges/${w.edge}`, "404"),
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
  "graph.extract": post({ text: "Ann works for Acme in Paris.", method: "rules" }),
  "graph.graphs.list": get(() => "/v1/graph/graphs"),
  "graph.graphs.create": { send: (_, n) => ({ body: { name: `madeg${n}` } }) },
  "graph.graphs.delete": {
    send: (w, n) => ({ path: `/v1/graph/graphs/${w.isAnothers ? w.graph : `goneg${n}`}` }),
    before: (_, n) => [["POST", "/v1/graph/graphs", { name: `goneg${n}` }]],
    others: "404",
  },
  "graph.indexes.list": get(() => "/v1/graph/indexes"),
  "graph.indexes.create": { send: (_, n) => ({ body: { name: `madei${n}`, label: "Made", property: `p${n}` } }) },
  "graph.indexes.delete": {
    send: (w, n) => ({ path: `/v1/graph/indexes/${w.isAnothers ? w.index : `gonei${n}`}` }),
    before: (_, n) => [["POST", "/v1/graph/indexes", { name: `gonei${n}`, label: "Gone", property: `p${n}` }]],
    others: "404",
  },
};

const ai: Record<string, Case> = {
  "ai.embed": post({ text: "hello" }),
  "ai.embedBatch": post({ texts: ["hello"] }),
  "ai.provider.get": get(() => "/v1/ai/provider"),
  "ai.provider.set": {
    ...post({ provider: "ollama", base_url: "http://ollama.example:11434", model: "m" }),
    admins: true,
  },
  "ai.provider.delete": { ...get(() => "/v1/ai/provider"), admins: true, statuses: [200, 204, 404] },
  "chat.sessions.create": post({ title: "made" }),
  "chat.sessions.list": get(() => "/v1/ai/sessions"),
  // A session is its user's: colleagues, too, do not find it.
  "chat.sessions.get": { ...get((w) => `/v1/ai/sessions/${w.session}`, "404"), statuses: [200, 404] },
  "chat.sessions.delete": {
    send: (w) => ({ path: `/v1/ai/sessions/${w.isAnothers ? w.session : "chat_none"}` }),
    statuses: [404],
    others: "404",
  },
  "chat.sessions.messages": {
    ...get((w) => `/v1/ai/sessions/${w.session}/messages`, "404"),
    statuses: [200, 404],
  },
  "chat.send": {
    send: (w) => ({ body: { session_id: w.session, content: "hi", max_tokens: 1 } }),
    statuses: [200, 404],
    others: "404",
  },
  "chat.stream": {
    send: (w) => ({ body: { session_id: w.session, content: "hi", max_tokens: 1 } }),
    statuses: [200, 404],
    others: "404",
  },
  "socket.chat": {
    send: (w) => ({ body: { type: "send_message", session_id: w.session, content: "hi", max_tokens: 1 } }),
    statuses: [200, 404],
    others: "404",
  },
  "openai.models.list": get(() => "/v1/models"),
  "openai.models.get": get((w) => `/v1/models/collection:${w.collection}`, "404"),
  "openai.embeddings": post({ model: "default", input: "hello" }),
  "openai.completions": {
    send: (w) => ({
      body: { model: `collection:${w.collection}`, messages: [{ role: "user", content: "hi" }], max_tokens: 1 },
    }),
    others: "404",
  },
  // A response is its user's, like a session.
  "openai.responses.create": {
    send: (w) => ({ body: { model: `collection:${w.collection}`, input: "hi", previous_response_id: w.response } }),
    statuses: [200, 404],
    others: "404",
  },
  "openai.responses.get": { ...get((w) => `/v1/responses/${w.response}`, "404"), statuses: [200, 404] },
  "openai.responses.delete": {
    send: (w) => ({ path: `/v1/responses/${w.isAnothers ? w.response : "resp_none"}` }),
    statuses: [404],
    others: "404",
  },
  "nl2sql.query": { send: (w) => ({ body: { question: `how many ${w.table}` } }), statuses: [200, 422], others: "422" },
  "nl2sql.validate": { send: (w) => ({ body: { sql: `SELECT * FROM ${w.table}` } }), others: "200, not valid" },
  "memory.list": get(() => "/v1/ai/memory"),
  "memory.store": { send: (_, n) => ({ path: `/v1/ai/memory/made${n}`, body: { content: "x" } }) },
  "memory.get": get(memory, "404"),
  "memory.drop": {
    send: (w, n) => ({ path: w.isAnothers ? memory(w) : `/v1/ai/memory/gone${n}` }),
    before: (_, n) => [["POST", `/v1/ai/memory/gone${n}`, { content: "x" }]],
    others: "404",
  },
  "memory.recall": {
    send: (w) => ({ path: `${memory(w)}/recall`, body: { query: "secret" } }),
    others: "200, no rows",
  },
  "memory.put": { send: (_, n) => ({ path: `/v1/ai/memory/made${n}/one`, body: { content: "x" } }) },
  "memory.forget": {
    send: (w, n) => ({ path: w.isAnothers ? `${memory(w)}/${w.memory}` : `/v1/ai/memory/gone${n}/one` }),
    before: (_, n) => [["PUT", `/v1/ai/memory/gone${n}/one`, { content: "x" }]],
    others: "404",
  },
  // No model that describes images or hears comes with the program; what needs none is told of images.
  "multimodal.describe": post({ prompt: "What is it?", image: PNG }),
  "multimodal.transcribe": { ...post({ audio: WAV }), statuses: [503] },
  "multimodal.search": {
    send: (w) => ({ body: { query: { text: "a" }, collections: [w.collection] } }),
    others: "404",
  },
  "multimodal.embed": post({ input: { image: PNG } }),
  "multimodal.addImage": {
    send: (w, n) => ({ body: { collection: `pictures_of_${w.tenant}`, id: `i${n}`, image: PNG, ocr: false } }),
  },
  "language.sentiment": post({ text: "good" }),
  "language.entities": post({ text: "Ann lives in Paris." }),
  "language.summarize": post({ text: "One sentence. Two sentences. Three of them are here." }),
  "language.classify": post({ text: "a ball game", categories: ["sport", "food"] }),
  "language.qa": post({ question: "Who?", context: "Ann came." }),
  "nli.models": { ...get(() => "/v1/ai/nli/models"), statuses: [200, 503] },
  "nli.verify": { ...post({ statement: "a", truth_anchors: ["a"] }), statuses: [200, 503] },
  "nli.pairs": { ...post({ pairs: [{ premise: "a", hypothesis: "b" }] }), statuses: [200, 400, 503] },
  "ai.models.list": get(() => "/v1/ai/models"),
  "ai.models.get": get(() => "/v1/ai/models/tessera-chat"),
  "ai.models.pull": { ...post({ model: "Not A Name" }), statuses: [400, 404] },
  "ai.models.pulls.list": get(() => "/v1/ai/models/pulls"),
  "ai.models.pulls.get": { ...get(() => "/v1/ai/models/pulls/none"), statuses: [404] },
  "ai.models.pulls.cancel": { ...get(() => "/v1/ai/models/pulls/none"), statuses: [404] },
  "ai.models.delete": { ...get(() => "/v1/ai/models/none"), statuses: [404] },
  "socket.models.pull": { ...post({ type: "model.pull", model: "Not A Name" }), statuses: [400, 404] },
};

const filesPath = "/v1/filesystem-collections";
// Which tenant's they are is told in e2e/filesystem-collections.
const files: Record<string, Case> = {
  "files.create": { ...post({ name: "made" }), admins: true, statuses: [400] },
  "files.list": get(() => filesPath),
  "files.get": { ...get(() => `${filesPath}/none`), statuses: [404] },
  "files.update": { send: () => ({ path: `${filesPath}/none`, body: { paused: true } }), statuses: [404] },
  "files.delete": { ...get(() => `${filesPath}/none`), statuses: [404] },
  "files.documents": { ...get(() => `${filesPath}/none/documents`), statuses: [404] },
  "files.reprocess": { send: () => ({ path: `${filesPath}/none/reprocess`, body: {} }), statuses: [404] },
  "files.thumbnail": { ...get(() => `${filesPath}/none/documents/none/thumbnail`), statuses: [404] },
  "files.progress.connect": { ...get(() => "/ws/filesystem-collections/none/progress"), statuses: [426] },
  "files.progress": { ...post({ type: "files.follow", collection_id: "none" }), statuses: [404] },
};

const automlPath = "/v1/automl";
// Which tenant's they are is told in e2e/automl.
const automl: Record<string, Case> = {
  "automl.train": {
    ...post({ task: "regression", target_column: "y", dataset_id: "none" }),
    statuses: [400, 404],
  },
  "automl.jobs": get(() => `${automlPath}/jobs`),
  "automl.job": { ...get((w) => `${automlPath}/jobs/${w.job}`), statuses: [404] },
  "automl.stop": { send: (w) => ({ path: `${automlPath}/jobs/${w.job}/stop`, body: {} }), statuses: [404] },
  "automl.datasets.create": { ...post({ name: "made" }), statuses: [400] },
  "automl.datasets": get(() => `${automlPath}/datasets`),
  "automl.dataset": { ...get(() => `${automlPath}/datasets/none`), statuses: [404] },
  "automl.dataset.delete": { ...get(() => `${automlPath}/datasets/none`), statuses: [404] },
  "automl.models": get(() => `${automlPath}/models`),
  "automl.model": { ...get(() => `${automlPath}/models/none`), statuses: [404] },
  "automl.model.delete": { ...get(() => `${automlPath}/models/none`), statuses: [404] },
  "automl.predict": {
    send: () => ({ path: `${automlPath}/models/none/predict`, body: { rows: [{ x: 1 }] } }),
    statuses: [404],
  },
  "automl.evaluate": {
    send: () => ({ path: `${automlPath}/models/none/evaluate`, body: { rows: [{ x: 1 }] } }),
    statuses: [404],
  },
  "automl.webhook_secret": get(() => `${automlPath}/webhook-secret`),
  "socket.automl.follow": { send: (w) => ({ body: { type: "automl.follow", job_id: w.job } }), statuses: [404] },
};

const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
const programs: Record<string, Case> = {
  "mcp.call": {
    send: (w) => ({ body: rpc("tools/call", { name: "query", arguments: { sql: `SELECT * FROM ${w.table}` } }) }),
    others: "200, an error",
  },
  "mcp.batch": {
    send: (w) => ({ body: [rpc("tools/call", { name: "describe_table", arguments: { table: w.table } })] }),
    others: "200, an error",
  },
  "mcp.info": get(() => "/v1/mcp/info"),
  "mcp.bridge": get(() => "/v1/mcp/bridge"),
  "mcp.connect": { ...get(() => "/mcp"), statuses: [426] },
  "mcp.message": {
    send: (w) => ({ body: rpc("tools/call", { name: "query", arguments: { sql: `SELECT * FROM ${w.table}` } }) }),
    others: "200, an error",
  },
};

const accounts: Record<string, Case> = {
  "auth.login": { ...post({ username: "nobody-here", password: "not the password" }), statuses: [401, 429] },
  "auth.mfa.verify": { ...post({ mfa_token: "none", code: "000000" }), statuses: [401] },
  "auth.register": { ...post({ username: "a", email: "a@example.com", password }), statuses: [403] },
  "auth.mfa.enroll": { ...post({}), person: true },
  "auth.mfa.confirm": { ...post({ code: "000000" }), person: true, statuses: [400, 401] },
  "auth.mfa.disable": { ...post({ code: "000000", password: "x" }), person: true, statuses: [400, 401] },
  "auth.password": { ...post({ current_password: "x", new_password: password }), person: true, statuses: [400, 401] },
  "users.me": get(() => "/v1/users/me"),
  "auth.oidc.providers": get(() => "/v1/auth/oidc"),
  "auth.oidc.start": { ...post({ provider: "none" }), statuses: [404] },
  "auth.oidc.finish": { ...post({ code: "c", state: "s" }), statuses: [401] },
  "apikeys.create": { send: (_, n) => ({ body: { name: `k${n}` } }), person: true },
  "apikeys.list": get(() => "/v1/api-keys"),
  "apikeys.delete": {
    send: (w) => ({ path: `/v1/api-keys/${w.isAnothers ? w.apiKey : "none"}` }),
    statuses: [404],
    others: "404",
  },
};

const administration: Record<string, Case> = {
  "admin.tenants.list": get(() => "/admin/tenants"),
  "admin.tenants.create": { send: (_, n) => ({ body: { id: `made${n}` } }) },
  "admin.tenants.get": get(tenantPath, "403 but for system"),
  "admin.tenants.update": {
    send: (w) => ({ path: tenantPath(w), body: { name: w.tenant } }),
    others: "403 but for system",
  },
  "admin.tenants.move": {
    send: (w) => ({ path: `${tenantPath(w)}/move`, body: { partition: 99 } }),
    statuses: [400],
    others: "403 but for system",
  },
  "admin.tenants.move.get": { ...get((w) => `${tenantPath(w)}/move`, "403 but for system"), statuses: [404] },
  "admin.tenants.move.cancel": { ...get((w) => `${tenantPath(w)}/move`, "403 but for system"), statuses: [404] },
  "history.get": get(() => "/v1/history"),
  "history.set": { send: () => ({ body: { window_seconds: 60 } }) },
  "history.delete": { ...get(() => "/v1/history"), statuses: [204] },
  "history.undo": { send: () => ({ body: { table: "none", as_of: 1 } }), statuses: [400] },
  "branches.create": { send: (_, n) => ({ body: { name: `made${n}` } }), statuses: [201] },
  "branches.list": get(() => "/v1/branches"),
  "branches.get": { ...get(() => "/v1/branches/none"), statuses: [404] },
  "branches.delete": { ...get(() => "/v1/branches/none"), statuses: [404] },
  "branches.diff": { ...get(() => "/v1/branches/none/diff"), statuses: [404] },
  "branches.merge": { send: () => ({ path: "/v1/branches/none/merge", body: {} }), statuses: [404] },
  "backups.create": { ...post({}), statuses: [202, 409] },
  "backups.list": get(() => "/v1/backups"),
  "backups.get": { ...get(() => `/v1/backups/${NO_BACKUP}`), statuses: [404] },
  "backups.delete": { ...get(() => `/v1/backups/${NO_BACKUP}`), statuses: [404] },
  "backups.verify": { send: () => ({ path: `/v1/backups/${NO_BACKUP}/verify`, body: {} }), statuses: [404] },
  "backups.download": { ...get(() => `/v1/backups/${NO_BACKUP}/download`), statuses: [404] },
  "admin.tenants.backups.import": {
    send: (w) => ({ path: `${tenantPath(w)}/backups`, body: "no archive", type: "application/octet-stream" }),
    statuses: [422],
    others: "403 but for system",
  },
  "backups.schedules.create": { ...post({ cron: "0 3 1 1 *", enabled: false }), statuses: [201, 409] },
  "backups.schedules.list": get(() => "/v1/backup-schedules"),
  "backups.schedules.get": { ...get(() => `/v1/backup-schedules/${NO_SCHEDULE}`), statuses: [404] },
  "backups.schedules.update": {
    send: () => ({ path: `/v1/backup-schedules/${NO_SCHEDULE}`, body: { enabled: false } }),
    statuses: [404],
  },
  "backups.schedules.delete": { ...get(() => `/v1/backup-schedules/${NO_SCHEDULE}`), statuses: [404] },
  "backups.schedules.run": {
    send: () => ({ path: `/v1/backup-schedules/${NO_SCHEDULE}/run`, body: {} }),
    statuses: [404],
  },
  "admin.backups.create": { ...post({}), statuses: [202, 409] },
  "admin.backups.list": get(() => "/admin/backups"),
  "admin.backups.get": { ...get(() => `/admin/backups/${NO_BACKUP}`), statuses: [404] },
  "admin.backups.delete": { ...get(() => `/admin/backups/${NO_BACKUP}`), statuses: [404] },
  "admin.backups.verify": { send: () => ({ path: `/admin/backups/${NO_BACKUP}/verify`, body: {} }), statuses: [404] },
  "admin.backups.restore": { send: () => ({ path: `/admin/backups/${NO_BACKUP}/restore`, body: {} }), statuses: [404] },
  "admin.backups.restore.get": { ...get(() => `/admin/backups/${NO_BACKUP}/restore`), statuses: [404] },
  "admin.tenants.restore": {
    send: (w) => ({ path: `${tenantPath(w)}/restore`, body: { backup: NO_BACKUP } }),
    statuses: [202, 409],
    others: "403 but for system",
  },
  "admin.tenants.restore.get": {
    ...get((w) => `${tenantPath(w)}/restore`, "403 but for system"),
    statuses: [200, 404],
  },
  "admin.audit.list": get((w) => `/admin/audit?tenant=${w.tenant}`, "403 but for system"),
  "admin.log-level.set": post({ level: "warn" }),
  "admin.diagnostics": get(() => "/v1/admin/diagnostics"),
  "admin.cluster": get(() => "/admin/cluster"),
  "admin.placement": get(() => "/admin/placement"),
  "admin.oidc.list": get((w) => `${tenantPath(w)}/oidc`, "403 but for system"),
  "admin.oidc.put": {
    send: (w, n) => ({ path: `${tenantPath(w)}/oidc/corp`, body: issuerOf(w, n) }),
    others: "403 but for system",
  },
  "admin.oidc.delete": {
    send: (w, n) => ({ path: `${tenantPath(w)}/oidc/corp-${n}` }),
    before: (w, n) => [["PUT", `${tenantPath(w)}/oidc/corp-${n}`, issuerOf(w, n)]],
    others: "403 but for system",
  },
  "admin.users.list": get((w) => `${tenantPath(w)}/users`, "403 but for system"),
  "admin.users.create": {
    send: (w, n) => ({ path: `${tenantPath(w)}/users`, body: { username: userOf(n), password } }),
    others: "403 but for system",
  },
  "admin.users.update": {
    send: (w) => ({ path: `${tenantPath(w)}/users/${w.user}`, body: { is_active: true } }),
    others: "403 but for system",
  },
  "admin.users.reset": {
    send: (w) => ({ path: `${tenantPath(w)}/users/${w.user}/reset-password`, body: { password } }),
    others: "403 but for system",
  },
  "admin.users.delete": {
    send: (w, n) => ({ path: `${tenantPath(w)}/users/${w.isAnothers ? w.user : `gone-${n}`}` }),
    before: (w, n) => [["POST", `${tenantPath(w)}/users`, { username: `gone-${n}`, password }]],
    others: "403 but for system",
  },
};

const server: Record<string, Case> = {
  "server.health": get(() => "/health"),
  "server.ready": get(() => "/health/ready"),
  "server.echo": post({ a: 1 }),
  "server.metrics": get(() => "/metrics"),
  "server.openapi": get(() => "/v1/openapi.json"),
  "server.asyncapi": get(() => "/v1/asyncapi.json"),
  "server.docs": { ...get(() => "/v1/api-docs"), statuses: [200, 302] },
  "socket.ticket": post({}),
  "socket.ticket.revoke": { ...get(() => "/v1/ws/ticket"), statuses: [200, 204] },
  "socket.connect": { ...get(() => "/ws"), statuses: [426] },
  "socket.connect.bearer": { ...get(() => "/v1/ws"), statuses: [426] },
  "socket.query": { send: (w) => ({ body: { type: "query", sql: `SELECT * FROM ${w.table}` } }), others: "400" },
  "socket.transaction.begin": post({ type: "transaction.begin" }),
  "socket.transaction.commit": {
    send: (w) => ({
      body: { type: "transaction.commit", transaction: `${w.transaction}${w.isAnothers ? "" : "-x"}` },
    }),
    statuses: [404],
    others: "404",
  },
  "socket.transaction.rollback": {
    send: (w) => ({
      body: { type: "transaction.rollback", transaction: `${w.transaction}${w.isAnothers ? "" : "-x"}` },
    }),
    statuses: [404],
    others: "404",
  },
  "socket.subscribe": { send: (w) => ({ body: { type: "subscribe", table: w.table } }), others: "400 404" },
  "socket.listen": { send: () => ({ body: { type: "listen", channel: "jobs" } }) },
  "changes.listen": get(() => "/v1/listen?channel=jobs"),
  "changes.subscribe": get((w) => `/v1/subscribe?table=${w.table}`, "400 404"),
};

/** A recipe that only reads. */
export const readingRecipe = (id: string, version: string, secret: string) => ({
  ...{ id, version, engine: "*", name: "Reads", description: secret },
  workflow: [{ name: "one", sql: "SELECT 1 AS one" }],
});

const recipe = (w: World) => `/v1/recipes/${w.recipe}`;

const recipes: Record<string, Case> = {
  "recipes.list": get(() => "/v1/recipes"),
  "recipes.schema": get(() => "/v1/recipes/schema"),
  "recipes.import": { send: (_, n) => ({ body: readingRecipe(`made-${n}`, "1.0.0", "x") }) },
  "recipes.export": { send: (w) => ({ body: { tables: [w.table] } }), others: "404" },
  "recipes.get": get(recipe, "404"),
  "recipes.put": {
    send: (w, n) => ({ path: recipe(w), body: readingRecipe(w.recipe, `2.0.${n}`, "x") }),
    others: "404",
  },
  "recipes.delete": {
    send: (w, n) => ({ path: w.isAnothers ? recipe(w) : `/v1/recipes/gone-${n}` }),
    before: (_, n) => [["POST", "/v1/recipes/import", readingRecipe(`gone-${n}`, "1.0.0", "x")]],
    others: "404",
  },
  "recipes.versions": get((w) => `${recipe(w)}/versions`, "404"),
  "recipes.certify": { send: (w) => ({ path: `${recipe(w)}/certify`, body: {} }), others: "404" },
  "recipes.execute": { send: (w) => ({ path: `${recipe(w)}/execute`, body: {} }), others: "404" },
  "recipes.executions": get((w) => `${recipe(w)}/executions`, "404"),
  "recipes.execution": get((w) => `${recipe(w)}/executions/${w.execution}`, "404"),
};

export const CASES: Readonly<Record<string, Case>> = {
  ...recipes,
  ...query,
  ...documents,
  ...vectors,
  ...graph,
  ...ai,
  ...files,
  ...automl,
  ...programs,
  ...accounts,
  ...administration,
  ...server,
};

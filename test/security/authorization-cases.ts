/**
 * For each endpoint a request that names objects, given the ids of those of a tenant: the matrix sends it with the
 * caller's own ids, which must succeed where the caller may, and with another tenant's, which must find nothing.
 *
 * An endpoint needs a case here only if derived-request.ts cannot work its request out from its path and example, or if
 * it is answered in another way: a request that is worked out succeeds, and with another tenant's objects gets 404.
 */
import type { EndpointSpec } from "../../src/protocol/endpoint.js";
import { wav } from "../ingest/wav-writer.js";
import { type Case, get, post, type World } from "./authorization-case.js";
import { DATA_CASES } from "./authorization-data-cases.js";
import { derivedRequest } from "./derived-request.js";

/**
 * What belongs to who made it: what another user of the same tenant is answered with who names it by its id,
 * administrators aside. All else that has an id is the tenant's: every member may name it, which the matrix tries with
 * what a super_admin made.
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
  "evaluation.get": "404",
  "evaluation.delete": "404",
  "evaluation.compare": "404",
  "recipes.execution": "404",
};

/** Backups are made in the background; test/e2e/backups.test.ts has those of other tenants. */
const NO_BACKUP = "bak_00000000000000000000000000000000";
const NO_SCHEDULE = "sch_00000000000000000000000000000000";

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

const ai: Record<string, Case> = {
  "ai.provider.set": {
    ...post({ provider: "ollama", base_url: "http://ollama.example:11434", model: "m" }),
    admins: true,
  },
  "ai.provider.delete": { ...get(() => "/v1/ai/provider"), admins: true, statuses: [200, 204, 404] },
  "chat.sessions.create": post({ title: "made" }),
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
  "openai.models.get": get((w) => `/v1/models/collection:${w.collection}`, "404"),
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
  "memory.store": { send: (_, n) => ({ path: `/v1/ai/memory/made${n}`, body: { content: "x" } }) },
  "memory.drop": {
    send: (w, n) => ({ path: w.isAnothers ? memory(w) : `/v1/ai/memory/gone${n}` }),
    before: (_, n) => [["POST", `/v1/ai/memory/gone${n}`, { content: "x" }]],
    others: "404",
  },
  "memory.recall": {
    send: (w) => ({ path: `${memory(w)}/recall`, body: { query: "secret" } }),
    others: "200, no rows",
  },
  "memory.extract": {
    send: (_, n) => ({
      path: `/v1/ai/memory/made${n}/extract`,
      body: { messages: [{ role: "user", content: "I live in Rome." }], method: "rules" },
    }),
  },
  "memory.put": { send: (_, n) => ({ path: `/v1/ai/memory/made${n}/one`, body: { content: "x" } }) },
  "memory.forget": {
    send: (w, n) => ({ path: w.isAnothers ? `${memory(w)}/${w.memory}` : `/v1/ai/memory/gone${n}/one` }),
    before: (_, n) => [["PUT", `/v1/ai/memory/gone${n}/one`, { content: "x" }]],
    others: "404",
  },
  // No model that describes images or hears comes with the program; what needs none is told of images.
  "multimodal.transcribe": { ...post({ audio: WAV }), statuses: [503] },
  "multimodal.search": {
    send: (w) => ({ body: { query: { text: "a" }, collections: [w.collection] } }),
    others: "404",
  },
  "multimodal.addImage": {
    send: (w, n) => ({ body: { collection: `pictures_of_${w.tenant}`, id: `i${n}`, image: PNG, ocr: false } }),
  },
  "nli.models": { ...get(() => "/v1/ai/nli/models"), statuses: [200, 503] },
  "nli.verify": { ...post({ statement: "a", truth_anchors: ["a"] }), statuses: [200, 503] },
  "nli.pairs": { ...post({ pairs: [{ premise: "a", hypothesis: "b" }] }), statuses: [200, 400, 503] },
  "ai.models.get": get(() => "/v1/ai/models/tessera-chat"),
  "ai.models.pull": { ...post({ model: "Not A Name" }), statuses: [400, 404] },
  "ai.models.pulls.get": { ...get(() => "/v1/ai/models/pulls/none"), statuses: [404] },
  "ai.models.pulls.cancel": { ...get(() => "/v1/ai/models/pulls/none"), statuses: [404] },
  "ai.models.delete": { ...get(() => "/v1/ai/models/none"), statuses: [404] },
  "socket.models.pull": { ...post({ type: "model.pull", model: "Not A Name" }), statuses: [400, 404] },
};

const filesPath = "/v1/filesystem-collections";
// Which tenant's they are is told in e2e/filesystem-collections.
const files: Record<string, Case> = {
  "files.create": { ...post({ name: "made" }), admins: true, statuses: [400] },
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
  "automl.job": { ...get((w) => `${automlPath}/jobs/${w.job}`), statuses: [404] },
  "automl.stop": { send: (w) => ({ path: `${automlPath}/jobs/${w.job}/stop`, body: {} }), statuses: [404] },
  "automl.datasets.create": { ...post({ name: "made" }), statuses: [400] },
  "automl.dataset": { ...get(() => `${automlPath}/datasets/none`), statuses: [404] },
  "automl.dataset.delete": { ...get(() => `${automlPath}/datasets/none`), statuses: [404] },
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
  "socket.automl.follow": { send: (w) => ({ body: { type: "automl.follow", job_id: w.job } }), statuses: [404] },
};

const evaluations = "/v1/evaluations";
const evaluation: Record<string, Case> = {
  "evaluation.answers": { ...post({ items: [{ answer: "a", passages: ["a"] }], keep: false }), statuses: [200, 503] },
  "evaluation.models": { ...post({ model: "none", rows: [{ x: 1 }] }), statuses: [404] },
  // It is its user's, like a session.
  "evaluation.get": { ...get((w) => `${evaluations}/${w.evaluation}`, "404"), statuses: [200, 404] },
  "evaluation.delete": {
    send: (w) => ({ path: `${evaluations}/${w.isAnothers ? w.evaluation : "eval_none"}` }),
    statuses: [404],
    others: "404",
  },
  "evaluation.compare": {
    ...get((w) => `${evaluations}/${w.evaluation}/compare/${w.evaluation}`, "404"),
    statuses: [200, 404],
  },
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
  "auth.oidc.start": { ...post({ provider: "none" }), statuses: [404] },
  "auth.oidc.finish": { ...post({ code: "c", state: "s" }), statuses: [401] },
  "auth.oidc.logout": { ...post({ logout_token: "t" }), statuses: [400] },
  "apikeys.create": { send: (_, n) => ({ body: { name: `k${n}` } }), person: true },
  "apikeys.delete": {
    send: (w) => ({ path: `/v1/api-keys/${w.isAnothers ? w.apiKey : "none"}` }),
    statuses: [404],
    others: "404",
  },
};

const administration: Record<string, Case> = {
  "admin.tenants.create": { send: (_, n) => ({ body: { id: `made${n}` } }) },
  "admin.tenants.get": get(tenantPath, "403 but for system"),
  "admin.tenants.update": {
    send: (w) => ({ path: tenantPath(w), body: { name: w.tenant } }),
    others: "403 but for system",
  },
  "admin.tenants.delete": {
    send: (w) => ({ path: `${tenantPath(w)}?confirm=not-${w.tenant}` }),
    statuses: [400],
    others: "403 but for system",
  },
  "admin.tenants.deletion": { ...get((w) => `${tenantPath(w)}/deletion`, "403 but for system"), statuses: [404] },
  "admin.tenants.move": {
    send: (w) => ({ path: `${tenantPath(w)}/move`, body: { partition: 99 } }),
    statuses: [400],
    others: "403 but for system",
  },
  "admin.tenants.move.get": { ...get((w) => `${tenantPath(w)}/move`, "403 but for system"), statuses: [404] },
  "admin.tenants.move.cancel": { ...get((w) => `${tenantPath(w)}/move`, "403 but for system"), statuses: [404] },
  "admin.tenants.budget.get": get((w) => `${tenantPath(w)}/budget`, "403 but for system"),
  "admin.tenants.budget.set": {
    send: (w) => ({ path: `${tenantPath(w)}/budget`, body: {} }),
    others: "403 but for system",
  },
  "history.set": { send: () => ({ body: { window_seconds: 60 } }) },
  "history.delete": { ...get(() => "/v1/history"), statuses: [204] },
  "history.diff": { ...get(() => "/v1/history/diff?from=1"), statuses: [400] },
  "history.undo": { send: () => ({ body: { table: "none", as_of: 1 } }), statuses: [400] },
  "branches.create": { send: (_, n) => ({ body: { name: `made${n}` } }), statuses: [201] },
  "branches.get": { ...get(() => "/v1/branches/none"), statuses: [404] },
  "branches.change": { send: () => ({ path: "/v1/branches/none", body: { quota_bytes: 1 } }), statuses: [404] },
  "branches.delete": { ...get(() => "/v1/branches/none"), statuses: [404] },
  "branches.diff": { ...get(() => "/v1/branches/none/diff"), statuses: [404] },
  "branches.merge": { send: () => ({ path: "/v1/branches/none/merge", body: {} }), statuses: [404] },
  "backups.create": { ...post({}), statuses: [202, 409] },
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
  "recipes.import": { send: (_, n) => ({ body: readingRecipe(`made-${n}`, "1.0.0", "x") }) },
  "recipes.export": { send: (w) => ({ body: { tables: [w.table] } }), others: "404" },
  "recipes.put": {
    send: (w, n) => ({ path: recipe(w), body: readingRecipe(w.recipe, `2.0.${n}`, "x") }),
    others: "404",
  },
  "recipes.delete": {
    send: (w, n) => ({ path: w.isAnothers ? recipe(w) : `/v1/recipes/gone-${n}` }),
    before: (_, n) => [["POST", "/v1/recipes/import", readingRecipe(`gone-${n}`, "1.0.0", "x")]],
    others: "404",
  },
  "recipes.certify": { send: (w) => ({ path: `${recipe(w)}/certify`, body: {} }), others: "404" },
  "recipes.execution": { ...get((w) => `${recipe(w)}/executions/${w.execution}`, "404"), statuses: [200, 404] },
  "recipes.execute": { send: (w) => ({ path: `${recipe(w)}/execute`, body: {} }), others: "404" },
};

export const CASES: Readonly<Record<string, Case>> = {
  ...recipes,
  ...DATA_CASES,
  ...ai,
  ...files,
  ...automl,
  ...evaluation,
  ...programs,
  ...accounts,
  ...administration,
  ...server,
};

/** Undefined: the endpoint has none, and none can be worked out. */
export function caseOf(endpoint: EndpointSpec): Case | undefined {
  const written = CASES[endpoint.name];
  if (written !== undefined) return written;
  const request = derivedRequest(endpoint);
  if (request === null) return undefined;
  return {
    send: (world) => derivedRequest(endpoint, world)!,
    ...(request.namesObjects && { others: "404" }),
  };
}

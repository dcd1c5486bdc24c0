/**
 * Of leak-hunt.test.ts: what the reader asks of features that read tables on the reader's behalf, with the reader's
 * rights: chats, completions, evaluations, trainings, recipes, media.
 */
import { type Ask, type Cases, get, post } from "./leak-ask.js";
import { FOLDER_CASES } from "./leak-folders.js";
import { SECRET } from "./leak-tenants.js";

const put = (path: string, body: unknown): Ask => ({ method: "PUT", path, body });
const patch = (path: string, body: unknown): Ask => ({ method: "PATCH", path, body });
const remove = (path: string): Ask => ({ method: "DELETE", path });

const message = (text: string): Ask => post("/v1/ai/chat", { session_id: "none", content: text });
const said = (content: string) => [{ role: "user", content }];
const complete = (model: string, content: string): Ask =>
  post("/v1/chat/completions", { model, messages: said(content), temperature: 0, seed: 1 });
const respond = (model: string, input: string): Ask =>
  post("/v1/responses", { model, input, temperature: 0, store: false });
/** What comes back is the reader's own, with ids and times of its own. */
const own = (ask: Ask): Ask => ({ ...ask, byStatus: true });

const pairs = [
  { query: "common word", relevant: ["seen0", "hidden1"] },
  { query: "rare", relevant: ["seen2"] },
];
const settings = [{ name: "text", mode: "text" }];
const BOARD = "SELECT id, note FROM board";
const recipe = {
  id: "count-board",
  version: "1.0.0",
  engine: ">=0.1.0",
  name: "Counts",
  category: "test",
  workflow: [{ name: "count", sql: "SELECT count(*) FROM board" }],
};

export const FEATURE_CASES: Cases = {
  ...FOLDER_CASES,
  "chat.sessions.create": [
    ...[["closed"], ["notes", "closed"], ["none"], ["staff"]].map((collections) =>
      post("/v1/ai/sessions", { title: "x", collections }),
    ),
    own(post("/v1/ai/sessions", { title: "x", collections: ["notes"] })),
  ],
  "chat.sessions.list": [own(get("/v1/ai/sessions"))],
  "chat.sessions.get": [get("/v1/ai/sessions/none")],
  "chat.sessions.delete": [remove("/v1/ai/sessions/none")],
  "chat.sessions.messages": [get("/v1/ai/sessions/none/messages")],
  "chat.send": [message(`common ${SECRET}`), own(post("/v1/ai/chat", { content: "common word" }))],
  "openai.models.list": [get("/v1/models")],
  "openai.models.get": ["notes", "closed", "none"].map((name) => get(`/v1/models/collection:${name}`)),
  "openai.completions": [
    ...["closed", "none", "board"].map((name) => complete(`collection:${name}`, "common word")),
    own(complete("collection:notes", "What is a common word?")),
    own(complete("collection:notes", `What is ${SECRET}?`)),
  ],
  "openai.responses.create": [
    respond("collection:closed", "common word"),
    own(respond("collection:notes", "What is a common word?")),
  ],
  "openai.responses.get": [get("/v1/responses/none")],
  "openai.responses.delete": [remove("/v1/responses/none")],
  "evaluation.retrieval": [
    post("/v1/evaluations/retrieval", { collection: "closed", pairs, settings, keep: false }),
    own(post("/v1/evaluations/retrieval", { collection: "notes", pairs, settings, keep: false })),
    post("/v1/evaluations/retrieval", { collection: "notes", pairs_from: "vault", settings }),
  ],
  "evaluation.answers": [
    post("/v1/evaluations/answers", { collection: "closed", questions: ["What is common?"], keep: false }),
    post("/v1/evaluations/answers", { items_from: "vault" }),
  ],
  "evaluation.models": [
    post("/v1/evaluations/models", { model: "kinds", query: "SELECT 1 AS size, 'small' AS kind" }),
    post("/v1/evaluations/models", { model: "none", table: "board" }),
  ],
  "evaluation.list": [get("/v1/evaluations"), get(`/v1/evaluations?name=${SECRET}`)],
  "evaluation.get": [get("/v1/evaluations/none")],
  "evaluation.delete": [remove("/v1/evaluations/none")],
  "evaluation.compare": [get("/v1/evaluations/none/compare/none")],
  "automl.train": [
    post("/v1/automl/train", { query: BOARD, target: "note", name: "mine", max_trials: 1 }),
    post("/v1/automl/train", { table: "vault", target: "note", name: "mine", max_trials: 1 }),
    post("/v1/automl/train", { query: BOARD, target: "note", name: "kinds", max_trials: 1 }),
  ],
  "automl.jobs": [get("/v1/automl/jobs"), get("/v1/automl/jobs?status=completed")],
  "automl.job": [get("/v1/automl/jobs/none")],
  "automl.stop": [post("/v1/automl/jobs/none/stop", {})],
  "automl.datasets.create": [
    post("/v1/automl/datasets", { name: "d", source: { type: "table", table: "vault" } }),
    post("/v1/automl/datasets", { name: "d", source: { type: "collection", collection: "closed" } }),
  ],
  "automl.datasets": [get("/v1/automl/datasets")],
  "automl.dataset": [get("/v1/automl/datasets/none")],
  "automl.dataset.delete": [remove("/v1/automl/datasets/none")],
  "automl.model.delete": [remove("/v1/automl/models/kinds"), remove("/v1/automl/models/none")],
  "automl.evaluate": [
    post("/v1/automl/models/kinds/evaluate", { query: "SELECT 9 AS size, 'small' AS kind" }),
    post("/v1/automl/models/none/evaluate", { query: BOARD }),
  ],
  "recipes.list": [get("/v1/recipes"), get("/v1/recipes?category=test")],
  "recipes.get": [get("/v1/recipes/none"), get("/v1/recipes/look-up")],
  "recipes.put": [put("/v1/recipes/none", { recipe: { ...recipe, id: "none" } })],
  "recipes.import": [own(post("/v1/recipes/import", { recipe }))],
  "recipes.delete": [remove("/v1/recipes/none")],
  "recipes.versions": [get("/v1/recipes/none/versions")],
  "recipes.certify": [post("/v1/recipes/none/certify", {})],
  "recipes.execute": [own(post("/v1/recipes/look-up/execute", { parameters: { what: "common word" } }))],
  "recipes.executions": [own(get("/v1/recipes/look-up/executions"))],
  "recipes.execution": [get("/v1/recipes/look-up/executions/none")],
  "recipes.export": [
    post("/v1/recipes/export", { tables: ["board"], graph: null }),
    post("/v1/recipes/export", { tables: ["vault"], graph: null }),
    post("/v1/recipes/export", { tables: ["staff"], graph: null }),
    post("/v1/recipes/export", { tables: ["board", "_chat_messages"], graph: null }),
    post("/v1/recipes/export", { tables: [], graph: "default" }),
  ],
  "multimodal.search": [
    post("/v1/multimodal/search", { query: { text: "common word" } }),
    post("/v1/multimodal/search", { query: { text: "common" }, collections: ["closed"] }),
  ],
  "collections.replace": [
    put("/v1/collections/notes", { schema: { fields: [{ name: "title", type: "number" }] } }),
    put("/v1/collections/closed", { schema: { fields: [{ name: "title", type: "number" }] } }),
  ],
  "collections.update": [
    patch("/v1/collections/notes", { schema: { fields: [{ name: "title", type: "number" }] } }),
    patch("/v1/collections/closed", { schema: { fields: [{ name: "title", type: "number" }] } }),
  ],
};

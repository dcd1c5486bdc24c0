/**
 * Examples of requests for the OpenAPI document and the page of the API: one for each endpoint with a body. They
 * belong together: sent in this order to a new tenant, each is answered as the document says. A test does that.
 */

export interface RequestExample {
  /** Of path variables. */
  readonly params?: Readonly<Record<string, string>>;
  readonly body: object;
}

const FEW_WORDS = "Ann Miller of Acme Corporation flew from Berlin to Paris on 3 May 2026.";
const REVIEW = "The soup was cold, but the waiter was friendly and the dessert was wonderful.";
/** A red square of 8 pixels by 8, as PNG. */
const RED_SQUARE =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII=";
/** Some milliseconds of silence, as WAV. */
const SILENCE = `UklGRlQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YTAAAACA${"gICA".repeat(15)}gIA=`;

const user = { tenant: "acme", user: "ann" };
const article = { name: "article" };
const item = { name: "item" };

export const EXAMPLES: Readonly<Record<string, RequestExample>> = {
  "server.echo": { body: { hello: "world" } },

  "admin.tenants.create": { body: { id: "acme", name: "Acme Corporation" } },
  "admin.tenants.update": {
    params: { tenant: "acme" },
    body: { name: "Acme", rate_limit: { per_second: 100, burst: 200 } },
  },
  "admin.tenants.move": { params: { tenant: "acme" }, body: { partition: 0 } },
  "admin.users.create": {
    params: { tenant: "acme" },
    body: { username: "ann", password: "correct horse battery", email: "ann@example.org" },
  },
  "admin.users.update": { params: user, body: { is_active: true } },
  "admin.users.reset": { params: user, body: { password: "a new horse battery" } },
  "admin.log-level.set": { body: { level: "info" } },

  "auth.register": { body: { username: "ben", email: "ben@example.org", password: "correct horse battery" } },
  "auth.login": { body: { username: "ben", password: "correct horse battery" } },
  "auth.password": { body: { current_password: "correct horse battery", new_password: "another horse battery" } },
  "auth.mfa.enroll": { body: {} },
  "auth.mfa.confirm": { body: { code: "123456" } },
  "auth.mfa.verify": { body: { mfa_token: "the token of the answer to a sign-in", code: "123456" } },
  "auth.mfa.disable": { body: { code: "123456", password: "correct horse battery" } },
  "apikeys.create": { body: { name: "reports", permission: "ReadOnly", expires_in_days: 90 } },

  "query.batch": {
    body: {
      queries: [
        "CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, customer text, region text, total numeric)",
        {
          sql: "INSERT INTO orders SELECT i, 'c' || i % 7, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END, i * 1.5 FROM generate_series(1, $1) i ON CONFLICT DO NOTHING",
          parameters: [60],
        },
      ],
      transactional: true,
    },
  },
  "query.execute": {
    body: {
      sql: "SELECT customer, sum(total) AS total FROM orders WHERE total > $1 GROUP BY 1 ORDER BY 2 DESC",
      parameters: [10],
    },
  },
  "query.prepare": { body: { name: "orders_above", sql: "SELECT id, total FROM orders WHERE total > $1 ORDER BY id" } },
  "query.exec": { body: { statement_id: "orders_above", parameters: [80], max_rows: 10 } },
  "query.close": { body: { statement_id: "orders_above" } },

  "transactions.begin": { body: { isolation_level: "serializable", timeout_secs: 60 } },
  "transactions.execute": {
    params: { id: "tx_0123456789abcdef" },
    body: { sql: "UPDATE orders SET total = total + 1 WHERE id = $1", parameters: [7] },
  },
  "transactions.savepoint": { params: { id: "tx_0123456789abcdef" }, body: { name: "before_discount" } },
  "transactions.savepoint.rollback": { params: { id: "tx_0123456789abcdef", name: "before_discount" }, body: {} },
  "transactions.commit": { params: { id: "tx_0123456789abcdef" }, body: {} },
  "transactions.rollback": { params: { id: "tx_0123456789abcdef" }, body: {} },

  "collections.create": {
    body: {
      name: "article",
      schema: {
        fields: [
          { name: "title", type: "string", required: true },
          { name: "year", type: "integer" },
        ],
        indexes: [{ name: "by_title", fields: ["title"], type: "text" }],
      },
    },
  },
  "collections.update": { params: article, body: { schema: { fields: [{ name: "author", type: "string" }] } } },
  "collections.replace": {
    params: article,
    body: {
      schema: {
        fields: [
          { name: "title", type: "string" },
          { name: "year", type: "integer" },
          { name: "author", type: "string" },
        ],
        indexes: [{ name: "by_title", fields: ["title"], type: "text" }],
      },
    },
  },
  "documents.insert": { params: article, body: { id: "a1", title: "Sailing in the harbour", year: 2024 } },
  "documents.bulk": {
    params: article,
    body: {
      documents: [
        { id: "a2", title: "Walking uphill", year: 2025 },
        { id: "a3", title: "Boats and harbours", author: "Ann" },
      ],
    },
  },
  "documents.replace": {
    params: { ...article, id: "a1" },
    body: { data: { title: "Sailing in the old harbour", year: 2026 }, merge: false },
  },
  "documents.patch": { params: { ...article, id: "a1" }, body: { year: 2027 } },
  "documents.search": { params: article, body: { query: "harbour", filters: { year: { $gte: 2020 } }, limit: 10 } },

  "vectors.collections.create": { body: { name: "item", dimensions: 3, metric: "cosine" } },
  "vectors.upsert": { params: item, body: { id: "red", vector: [1, 0, 0], metadata: { colour: "red" } } },
  "vectors.batch": {
    params: item,
    body: {
      vectors: [
        { id: "green", vector: [0, 1, 0], metadata: { colour: "green" } },
        { id: "blue", vector: [0, 0, 1] },
      ],
      on_conflict: "replace",
    },
  },
  "vectors.search": { params: item, body: { vector: [0.9, 0.1, 0], limit: 2, filter: { colour: "red" } } },
  "vectors.deleteMany": { params: item, body: { ids: ["blue"] } },

  "graph.graphs.create": { body: { name: "people" } },
  "graph.match": {
    body: {
      cypher: "MERGE (a:Person {name: $name})-[:KNOWS]->(b:Person {name: 'Ben'}) RETURN a.name, b.name",
      parameters: { name: "Ann" },
    },
  },
  "graph.match.profile": { body: { cypher: "MATCH (a:Person)-[:KNOWS]->(b) RETURN a.name, count(b) AS friends" } },
  "graph.nodes.create": { body: { labels: ["Person"], properties: { name: "Cleo", born: 1990 } } },
  "graph.nodes.update": { params: { id: "1" }, body: { properties: { born: 1991 } } },
  "graph.edges.create": { body: { from: 1, to: 2, type: "KNOWS", properties: { since: 2020 } } },
  "graph.edges.update": { params: { id: "1" }, body: { properties: { since: 2021 } } },
  "graph.algorithms": {
    body: { algorithm: "page_rank", options: { damping_factor: 0.85 }, node_filter: "Person", limit: 10 },
  },
  "graph.extract": { body: { text: FEW_WORDS } },
  "graph.indexes.create": { body: { name: "person_name", label: "Person", property: "name" } },

  "ai.embed": { body: { text: "A boat in the harbour." } },
  "ai.embedBatch": { body: { texts: ["A boat in the harbour.", "A walk uphill."] } },
  "ai.models.pull": { body: { model: "all-minilm-l6-v2", wait: false } },
  "language.sentiment": { body: { text: REVIEW } },
  "language.entities": { body: { text: FEW_WORDS } },
  "language.summarize": { body: { text: `${REVIEW} ${FEW_WORDS}`, max_length: 100 } },
  "language.classify": { body: { text: REVIEW, categories: ["food", "sport", "politics"] } },
  "language.qa": { body: { question: "Where did Ann Miller fly to?", context: FEW_WORDS } },
  "nli.verify": {
    body: { statement: "Ann flew to Paris.", truth_anchors: ["Ann flew from Berlin to Paris.", "The soup was cold."] },
  },
  "nli.pairs": { body: { pairs: [{ premise: "Ann flew from Berlin to Paris.", hypothesis: "Ann flew to Paris." }] } },
  "nl2sql.query": { body: { question: "How many orders are there per region?", execute: true } },
  "nl2sql.validate": { body: { sql: "SELECT region, count(*) FROM orders GROUP BY region" } },

  "chat.sessions.create": { body: { title: "Questions about articles", collections: ["article"] } },
  "chat.send": { body: { message: "Which article is about boats?", max_tokens: 32 } },
  "chat.stream": { body: { message: "Which article is about boats?", max_tokens: 32 } },

  "memory.store": { params: { namespace: "notes" }, body: { content: "Ann likes boats.", metadata: { from: "chat" } } },
  "memory.recall": { params: { namespace: "notes" }, body: { query: "What does Ann like?", k: 3 } },
  "memory.put": { params: { namespace: "notes", id: "ann-likes" }, body: { content: "Ann likes boats and soup." } },

  "multimodal.describe": { body: { image: RED_SQUARE } },
  "multimodal.embed": { body: { input: { type: "image", image: RED_SQUARE } } },
  "multimodal.addImage": { body: { collection: "picture", id: "red", image: RED_SQUARE, caption: "A red square" } },
  "multimodal.search": { body: { query: { text: "a red square" }, limit: 3 } },
  "multimodal.transcribe": { body: { audio: SILENCE } },

  "files.create": { body: { name: "manuals", watch_dir: "/srv/manuals" } },
  "files.update": { params: { id: "manuals" }, body: { paused: false, chunk_size: 800 } },
  "files.reprocess": { params: { id: "manuals" }, body: {} },

  "automl.datasets.create": { body: { name: "orders_data", source: { type: "table", table: "orders" } } },
  "automl.train": {
    body: {
      dataset_id: "orders_data",
      target: "region",
      features: ["customer", "total"],
      name: "region",
      max_trials: 2,
      async_mode: false,
    },
  },
  "automl.predict": { params: { id: "region" }, body: { rows: [{ customer: "c3", total: 12 }], probabilities: true } },
  "automl.evaluate": { params: { id: "region" }, body: { table: "orders" } },
  "automl.stop": { params: { id: "job_0123456789abcdef" }, body: {} },

  "recipes.import": {
    body: {
      recipe: {
        id: "counters",
        version: "1.0.0",
        engine: ">=0.1.0",
        name: "Counters",
        category: "samples",
        parameters: { name: { type: "text" }, by: { type: "integer", default: 1 } },
        schema: ["CREATE TABLE counters (name text PRIMARY KEY, value int NOT NULL)"],
        workflow: [
          {
            name: "count",
            sql: "INSERT INTO counters VALUES ($name, $by) ON CONFLICT (name) DO UPDATE SET value = counters.value + excluded.value RETURNING value",
          },
        ],
        tests: [{ name: "counts", parameters: { name: "visits", by: 5 }, expect: [{ step: "count", rows: [[5]] }] }],
      },
    },
  },
  "recipes.put": {
    params: { id: "counters" },
    body: {
      recipe: {
        id: "counters",
        version: "1.1.0",
        engine: ">=0.1.0",
        name: "Counters that say hello",
        category: "samples",
        parameters: { name: { type: "text" } },
        workflow: [{ name: "greet", sql: "SELECT 'hello ' || $name AS greeting" }],
        tests: [{ name: "greets", parameters: { name: "Ann" }, expect: [{ step: "greet", rows: [["hello Ann"]] }] }],
      },
    },
  },
  "recipes.certify": { params: { id: "counters" }, body: {} },
  "recipes.execute": { params: { id: "counters" }, body: { parameters: { name: "visits" }, dry_run: true } },
  "recipes.export": { body: { id: "orders-copy", name: "Orders", tables: ["orders"], rows: true, format: "json" } },

  "backups.create": { body: { incremental: false } },
  "backups.verify": { params: { id: "bak_0123456789abcdef" }, body: {} },
  "backups.schedules.create": { body: { cron: "0 3 * * *", timezone: "Europe/Berlin", full_every: 7, keep: 14 } },
  "backups.schedules.update": { params: { id: "s_0123456789abcdef" }, body: { enabled: false } },
  "backups.schedules.run": { params: { id: "s_0123456789abcdef" }, body: {} },
  "admin.backups.create": { body: { incremental: false } },
  "admin.backups.verify": { params: { id: "bak_0123456789abcdef" }, body: {} },
  "admin.tenants.restore": { params: { tenant: "acme" }, body: { backup: "bak_0123456789abcdef", replace: true } },
  "admin.backups.restore": { params: { id: "bak_0123456789abcdef" }, body: { tenants: ["acme"], replace: true } },
  "ai.provider.set": {
    body: { provider: "openai", base_url: "https://api.openai.com/v1", model: "gpt-4o-mini", api_key: "sk-0123456789" },
  },
};

/** Import rules between rooms (ARCHITECTURE.md, "Rooms"). `import type` counts. */

/** Each room may import itself and what is listed; a path names a folder under src/. */
const allowed = {
  protocol: [],
  values: ["protocol", "values"],
  config: ["protocol", "values", "storage", "directory"],
  storage: ["protocol", "values"],
  cluster: ["protocol", "storage", "gateway"],
  catalog: ["protocol", "values", "storage"],
  directory: ["protocol", "values", "storage"],
  backup: ["protocol", "values", "storage", "directory"],
  derived: ["protocol", "values", "storage"],
  vector: ["protocol", "values", "storage", "catalog", "derived"],
  text: ["protocol", "values", "storage", "catalog", "derived"],
  net: ["protocol", "values"],
  ai: ["protocol", "values", "net"],
  "query/expr": ["protocol", "values", "text"],
  "query/plan": ["protocol", "values", "catalog", "query/expr"],
  "query/optimize": ["protocol", "values", "catalog", "query/expr", "query/plan"],
  "query/exec": [
    "protocol",
    "values",
    "catalog",
    "storage",
    "derived",
    "vector",
    "text",
    "graph",
    "query/expr",
    "query/plan",
    "query/optimize",
  ],
  "sql/parse": ["protocol", "values"],
  "cypher/parse": ["protocol", "values"],
  "sql/bind": ["protocol", "values", "catalog", "query/expr", "query/plan", "sql/parse"],
  "sql/script": ["protocol", "values", "sql/parse"],
  "sql/manual": ["protocol", "values", "query/expr", "sql/parse", "sql/bind"],
  "sql/routine": ["protocol", "values", "catalog", "storage", "query", "sql/parse", "sql/bind"],
  "cypher/bind": ["protocol", "values", "catalog", "query/expr", "query/plan", "cypher/parse"],
  graph: ["protocol", "values", "storage", "catalog", "derived"],
  document: ["protocol", "values", "storage", "catalog"],
  language: ["protocol", "values", "ai", "graph"],
  automl: ["protocol", "values"],
  "ingest/parse": ["protocol", "values", "ingest/chunk", "ingest/image", "ingest/audio", "ingest/media"],
  "ingest/chunk": ["protocol", "values"],
  "ingest/watch": ["protocol", "values"],
  "ingest/image": ["protocol", "values"],
  "ingest/audio": ["protocol", "values"],
  "ingest/media": ["protocol", "values", "ingest/image", "ingest/audio"],
  // One client's statements. An actor schedules them; features run them.
  session: [
    "protocol",
    "values",
    "storage",
    "catalog",
    "derived",
    "text",
    "net",
    "ai",
    "graph",
    "language",
    "ingest",
    "automl",
    "query",
    "sql",
    "cypher",
    "recipe",
  ],
  // Knows no feature: they reach it through actor-features.ts and partition-part.ts.
  actor: [
    "protocol",
    "values",
    "storage",
    "catalog",
    "directory",
    "derived",
    "vector",
    "ai",
    "query",
    "sql",
    "session",
  ],
  recipe: ["protocol", "values", "automl", "sql/parse", "cypher/parse"],
  gateway: ["protocol", "values"],
  postgres: ["gateway", "protocol"],
  // Sign-in, encryption and frames are the same.
  bolt: ["gateway", "protocol", "postgres"],
  bridge: [],
  cli: ["protocol", "values", "config", "backup"],
};

/** What every feature may import: everything below it, and the contract that it fulfils. */
const belowFeatures = [
  ...Object.keys(allowed).filter((room) => !["gateway", "postgres", "bolt", "bridge", "cli", "config"].includes(room)),
  "ingest",
  "features/feature[.]ts",
];

/** Each feature may also import the features that are listed. */
const features = {
  statements: [],
  models: [],
  documents: ["models", "statements"],
  vectors: ["documents", "models", "statements"],
  feed: ["statements", "vectors"],
  jobs: ["feed"],
  automl: ["feed", "jobs", "models", "statements"],
  generation: [],
  multimodal: ["documents", "models", "statements"],
  postgres: ["feed", "import"],
  recipes: ["automl", "jobs", "statements"],
  tools: ["automl", "documents", "generation", "jobs", "models", "multimodal", "recipes", "statements", "vectors"],
  agent: ["jobs", "statements", "tools"],
  placement: ["feed", "jobs"],
  backup: ["feed", "jobs", "placement"],
  bolt: ["postgres"],
  chat: ["generation", "models", "statements", "tools"],
  directory: ["backup", "placement"],
  claims: [],
  files: ["documents", "feed", "jobs", "multimodal", "statements"],
  graph: ["statements"],
  import: ["statements", "files"],
  language: ["models", "statements"],
  mcp: ["documents", "statements", "tools"],
  memory: ["statements"],
  nl2sql: ["statements"],
  openai: ["agent", "chat", "generation", "models", "statements", "tools"],
};

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      // The algebra's nodes are one recursive type, declared in two files.
      to: { circular: true, via: { pathNot: "^src/query/plan/(plan|graph-plans)[.]ts$" } },
    },
    // The frameworks that adapters are for are not installed here.
    {
      name: "no-unresolved",
      severity: "error",
      from: { pathNot: "^clients/adapters/" },
      to: { couldNotResolve: true },
    },
    ...Object.entries(allowed).map(([room, rooms]) => ({
      name: `${room.replace("/", "-")}-imports`,
      severity: "error",
      from: { path: `^src/${room}/` },
      to: { path: "^(src|workers)/", pathNot: [room, ...rooms].map((name) => `^src/${name}/`) },
    })),
    ...Object.entries(features).map(([feature, others]) => ({
      name: `features-${feature}-imports`,
      severity: "error",
      from: { path: `^src/features/${feature}/` },
      to: {
        path: "^(src|workers)/",
        pathNot: [
          ...belowFeatures.map((name) => (name.endsWith("ts") ? `^src/${name}$` : `^src/${name}/`)),
          ...[feature, ...others].map((name) => `^src/features/${name}/`),
        ],
      },
    })),
    {
      // Without [cluster] no line of it is loaded.
      name: "cluster-is-loaded-when-wanted",
      severity: "error",
      from: {
        path: "^(src|workers)/",
        pathNot: "^(src/cluster/|src/cluster-(node|commands)[.]ts$|workers/lease[.]ts$)",
      },
      to: { path: "^src/cluster(/|-)", dependencyTypesNot: ["dynamic-import", "type-only"] },
    },
    {
      name: "clients-stand-alone",
      severity: "error",
      from: { path: "^clients/([^/]+)/src/" },
      to: { pathNot: "^clients/$1/src/" },
    },
    {
      // It reaches the server by the client alone, as any other program.
      name: "console-uses-the-client",
      severity: "error",
      from: { path: "^console/" },
      to: {
        pathNot: ["^console/", "^clients/typescript/src/index[.]ts$", "^node_modules/(preact|@codemirror|@lezer)/"],
      },
    },
    {
      // What a feature can do is for other features, its routes are for clients.
      name: "features-call-no-handlers",
      severity: "error",
      from: { path: "^src/features/([^/]+)/", pathNot: "directory-services[.]ts$" },
      to: { path: "^src/features/.*-routes[.]ts$", pathNot: "^src/features/$1/" },
    },
    {
      name: "features-have-rules",
      severity: "error",
      from: { path: "^src/features/[^/]+/", pathNot: Object.keys(features).map((name) => `^src/features/${name}/`) },
      to: {},
    },
  ],
  options: {
    parser: "swc",
    skipAnalysisNotInRules: true,
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
    doNotFollow: { path: "node_modules" },
  },
};

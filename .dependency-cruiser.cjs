/** Import rules between rooms (ARCHITECTURE.md, "Rooms"). `import type` counts. */

/** Each room may import itself and what is listed; a path names a folder under src/. */
const allowed = {
  protocol: [],
  config: ["protocol", "storage", "directory"],
  storage: ["protocol"],
  catalog: ["protocol", "storage"],
  directory: ["protocol", "storage"],
  derived: ["protocol", "storage"],
  vector: ["protocol", "storage", "catalog", "derived"],
  text: ["protocol", "storage", "catalog", "derived"],
  ai: ["protocol"],
  "query/expr": ["protocol", "text"],
  "query/plan": ["protocol", "catalog", "query/expr"],
  "query/optimize": ["protocol", "catalog", "query/expr", "query/plan"],
  "query/exec": [
    "protocol",
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
  "sql/parse": ["protocol"],
  "cypher/parse": ["protocol"],
  "sql/bind": ["protocol", "catalog", "query/expr", "query/plan", "sql/parse"],
  "sql/manual": ["protocol", "query/expr", "sql/parse", "sql/bind"],
  "sql/routine": ["protocol", "catalog", "storage", "query", "sql/parse", "sql/bind"],
  "cypher/bind": ["protocol", "catalog", "query/expr", "query/plan", "cypher/parse"],
  graph: ["protocol", "storage", "catalog", "derived"],
  document: ["protocol", "storage", "catalog"],
  actor: [
    "protocol",
    "storage",
    "catalog",
    "directory",
    "derived",
    "vector",
    "text",
    "ai",
    "document",
    "graph",
    "query",
    "sql",
    "cypher",
  ],
  gateway: ["protocol"],
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
    { name: "no-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    ...Object.entries(allowed).map(([room, rooms]) => ({
      name: `${room.replace("/", "-")}-imports`,
      severity: "error",
      from: { path: `^src/${room}/` },
      to: { path: "^(src|workers)/", pathNot: [room, ...rooms].map((name) => `^src/${name}/`) },
    })),
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
    doNotFollow: { path: "node_modules" },
  },
};

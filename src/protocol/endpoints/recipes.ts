/** Recipes: documents that bundle a schema, data, a workflow of statements, and tests. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { LIST_PAGE_MAX } from "../limits.js";
import { ColumnMeta, GraphName, GraphStats, Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

const id = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,99}$" });
const version = Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "Default: the newest." }));
const ofRecipe = Type.Object({ id });
const dryRun = Type.Optional(
  Type.Enum(["true", "false"], { description: "With true, the recipe is certified and returned, but not stored." }),
);

const YAML_TYPES = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"] as const;

const Certificate = Type.Object({
  digest: Type.String(),
  engine: Type.String({ description: "The version of the server that certified it." }),
  certified_at: Timestamp,
  tests: Type.Integer({ description: "Number of the recipe's own tests that ran." }),
  statements: Type.Integer(),
  execution_time_ms: Type.Number(),
});

const entry = {
  id: Type.String(),
  version: Type.String(),
  name: Type.String(),
  description: Type.String(),
  category: Type.String(),
  tags: Type.Array(Type.String()),
  digest: Type.String({ description: "SHA-256 of the canonical form, without the signature." }),
  built_in: Type.Boolean({ description: "It comes with the server and is tested with it." }),
  certificate: Nullable(Certificate),
  signed_by: Nullable(Type.String({ description: "The key that signed it." })),
  source_url: Nullable(Type.String()),
  created_at: Nullable(Timestamp),
};

const Entry = Type.Object(entry);
const Whole = Type.Object({ ...entry, parameters: Type.Record(Type.String(), Type.Unknown()), recipe: Type.Unknown() });

const Result = Type.Object({
  step: Type.String(),
  language: Type.Enum(["sql", "cypher", "train", "predict"]),
  statement: Type.String({ description: "The statement as in the recipe. Parameters are bound separately." }),
  skipped: Type.Optional(Type.Boolean({ description: "True: its condition was not true." })),
  columns: Type.Optional(Type.Array(ColumnMeta)),
  rows: Type.Optional(Type.Array(Type.Array(Type.Unknown()))),
  row_count: Type.Optional(Type.Integer()),
  rows_affected: Type.Optional(Type.Integer()),
  truncated: Type.Optional(Type.Boolean({ description: "True: there were more rows than the limit." })),
  stats: Type.Optional(GraphStats),
  notices: Type.Optional(Type.Array(Type.String())),
  execution_time_ms: Type.Optional(Type.Number()),
});

const execution = {
  execution_id: Type.String(),
  recipe_id: Type.String(),
  version: Type.String(),
  statements_executed: Type.Integer(),
  execution_time_ms: Type.Number(),
};

const PastExecution = Type.Object({
  ...execution,
  status: Type.Enum(["running", "completed", "failed", "interrupted"], {
    description:
      "interrupted: the server stopped, the client disconnected, or it timed out. Its changes were rolled back.",
  }),
  user_id: Type.String(),
  parameters: Type.Unknown(),
  steps: Type.Unknown({ description: "The results without their rows." }),
  error: Type.Unknown(),
  started_at: Timestamp,
});

const brought = {
  url: Type.Optional(
    Type.String({ minLength: 1, maxLength: 2000, description: "The address that the server fetches it from." }),
  ),
  recipe: Type.Optional(Type.Unknown({ description: "The document as JSON. It may also be the body itself." })),
  source: Type.Optional(Type.String({ description: "The document as YAML or JSON text." })),
};

export const recipeEndpoints = [
  {
    name: "recipes.list",
    door: "statements",
    method: "GET",
    path: "/v1/recipes",
    summary: "The tenant's recipes and those that come with the server, each in its newest version.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    pages: { items: "recipes", total: "total", most: LIST_PAGE_MAX },
    query: Strict({
      ...PageQuery,
      category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
      tag: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    }),
    response: Type.Object({ recipes: Type.Array(Entry), total: Type.Integer() }),
  },
  {
    name: "recipes.schema",
    door: "none",
    method: "GET",
    path: "/v1/recipes/schema",
    summary: "The JSON Schema of recipes.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    // Properties named $schema and $id would be taken for the document's own.
    response: Type.Object({}, { additionalProperties: true, description: "A JSON Schema, draft 2020-12." }),
  },
  {
    name: "recipes.import",
    door: "statements",
    method: "POST",
    path: "/v1/recipes/import",
    summary:
      "Import a recipe from an address or the body. It is parsed, checked, certified (run with its own tests in a transaction that is rolled back) and stored.",
    tag: "recipes",
    access: "writer",
    home: "tenant",
    query: Strict({ dry_run: dryRun }),
    body: Type.Object(brought),
    textBody: { types: YAML_TYPES, is: "source" },
    example: {
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
    response: Whole,
    status: 201,
    slow: true,
    failures: [413, 415, 422, 502],
  },
  {
    name: "recipes.export",
    door: "statements",
    method: "POST",
    path: "/v1/recipes/export",
    summary:
      "Export the tenant's tables and a graph as a recipe: definitions, a limited number of rows, nodes and edges.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    body: Strict({
      id: Type.Optional(id),
      name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
      version: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "1.0.0 unless said." })),
      description: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
      tables: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 500, description: "All unless said." }),
      ),
      graph: Type.Optional(Nullable(GraphName)),
      rows: Type.Optional(Type.Boolean({ description: "false: definitions alone." })),
      format: Type.Optional(Type.Enum(["json", "yaml"], { description: "yaml: also as YAML text in `source`." })),
    }),
    bodyOptional: true,
    example: { body: { id: "orders-copy", name: "Orders", tables: ["orders"], rows: true, format: "json" } },
    response: Type.Object({
      recipe: Type.Unknown(),
      digest: Type.String(),
      notes: Type.Array(Type.String({ description: "What the recipe leaves out." })),
      source: Type.Optional(Type.String()),
    }),
    slow: true,
  },
  {
    name: "recipes.get",
    door: "statements",
    method: "GET",
    path: "/v1/recipes/{id}",
    summary: "One recipe with its document.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    params: ofRecipe,
    query: Strict({ version }),
    response: Whole,
  },
  {
    name: "recipes.put",
    door: "statements",
    method: "PUT",
    path: "/v1/recipes/{id}",
    summary: "Store a new version of a recipe. It is certified like an import. Existing versions never change.",
    tag: "recipes",
    access: "writer",
    home: "tenant",
    params: ofRecipe,
    query: Strict({ dry_run: dryRun }),
    body: Type.Object(brought),
    textBody: { types: YAML_TYPES, is: "source" },
    example: {
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
    response: Whole,
    slow: true,
    failures: [413, 415, 422, 502],
  },
  {
    name: "recipes.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/recipes/{id}",
    summary: "Delete a recipe, or one version of it. What it created remains.",
    tag: "recipes",
    access: "writer",
    home: "tenant",
    params: ofRecipe,
    query: Strict({ version }),
    status: 204,
  },
  {
    name: "recipes.versions",
    door: "statements",
    method: "GET",
    path: "/v1/recipes/{id}/versions",
    summary: "All versions of a recipe, newest first.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    params: ofRecipe,
    response: Type.Object({ versions: Type.Array(Entry), total: Type.Integer() }),
  },
  {
    name: "recipes.certify",
    door: "statements",
    method: "POST",
    path: "/v1/recipes/{id}/certify",
    summary: "Certify a recipe again, for instance after an update of the server.",
    tag: "recipes",
    access: "writer",
    home: "tenant",
    params: ofRecipe,
    body: Strict({ version }),
    bodyOptional: true,
    example: { params: { id: "counters" }, body: { version: "1.0.0" } },
    response: Certificate,
    slow: true,
    failures: [422],
  },
  {
    name: "recipes.execute",
    door: "statements",
    method: "POST",
    path: "/v1/recipes/{id}/execute",
    summary:
      "Execute a recipe in one transaction: definitions and data with the first execution of a version, then the workflow.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    params: ofRecipe,
    body: Strict({
      parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      dry_run: Type.Optional(Type.Boolean({ description: "With true, everything is rolled back." })),
      version,
      setup: Type.Optional(
        Type.Enum(["auto", "always", "schema", "never"], {
          description:
            "When definitions and data are created: with the first execution of a version (auto), now, now without the data (schema), or not.",
        }),
      ),
    }),
    bodyOptional: true,
    example: { params: { id: "counters" }, body: { parameters: { name: "visits" }, dry_run: true } },
    response: Type.Object({
      ...execution,
      success: Type.Boolean(),
      dry_run: Type.Boolean(),
      set_up: Type.Boolean({ description: "Definitions were made." }),
      results: Type.Array(Result),
    }),
    slow: true,
  },
  {
    name: "recipes.executions",
    door: "statements",
    method: "GET",
    path: "/v1/recipes/{id}/executions",
    summary: "Executions of a recipe, newest first.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    params: ofRecipe,
    pages: { items: "executions", total: "total", most: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Object({ executions: Type.Array(PastExecution), total: Type.Integer() }),
  },
  {
    name: "recipes.execution",
    door: "statements",
    method: "GET",
    path: "/v1/recipes/{id}/executions/{execution_id}",
    summary: "One execution of a recipe.",
    tag: "recipes",
    access: "member",
    home: "tenant",
    params: Type.Object({ id, execution_id: Type.String({ minLength: 1, maxLength: 100 }) }),
    response: PastExecution,
  },
] as const satisfies readonly EndpointSpec[];

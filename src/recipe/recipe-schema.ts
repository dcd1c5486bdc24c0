/** The schema of recipes: what GET /v1/recipes/schema publishes and documents are checked against. */
import Type from "typebox";
import { METRICS } from "../automl/contract.js";
import {
  AUTOML_TRIALS_MAX,
  RECIPE_PARAMETERS_MAX,
  RECIPE_SEED_ROWS_MAX,
  RECIPE_STATEMENTS_MAX,
  RECIPE_STEPS_MAX,
  RECIPE_TESTS_MAX,
  SQL_BYTES_MAX,
} from "../protocol/limits.js";
import { PARAMETER_TYPES } from "./recipe.js";

const strict = <P extends Type.TProperties>(properties: P, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description !== undefined && { description }) });

export const RECIPE_ID_PATTERN = "^[a-z0-9][a-z0-9._-]{0,99}$";
/** Names of parameters and of values that steps keep. */
export const NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,62}$";

const text = (description: string, maxLength = 10_000) => Type.String({ minLength: 1, maxLength, description });
const name = (description: string) => Type.String({ pattern: NAME_PATTERN, description });
const sql = Type.String({
  minLength: 1,
  maxLength: SQL_BYTES_MAX,
  description: "One statement of SQL; $name is a parameter.",
});
const cypher = Type.String({
  minLength: 1,
  maxLength: SQL_BYTES_MAX,
  description: "One statement of Cypher; $name is a parameter.",
});
const graph = Type.String({
  pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$",
  description: 'The graph for Cypher. Default: "default".',
});
const statement = { sql: Type.Optional(sql), cypher: Type.Optional(cypher), graph: Type.Optional(graph) };

const ParameterSchema = strict({
  type: Type.Enum([...PARAMETER_TYPES]),
  description: Type.Optional(text("What it is for.", 2000)),
  default: Type.Optional(Type.Unknown({ description: "Without a default, the parameter is required. May be null." })),
  enum: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1, maxItems: 1000, description: "The allowed values." })),
  minimum: Type.Optional(Type.Number({ description: "For an integer or number." })),
  maximum: Type.Optional(Type.Number()),
  min_length: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Number of characters of a text, elements of a vector or items of a list.",
    }),
  ),
  max_length: Type.Optional(Type.Integer({ minimum: 0 })),
  items: Type.Optional(
    Type.Enum(["text", "integer", "number", "boolean"], { description: "Type of a list's items. Default: text." }),
  ),
});

const Row = Type.Array(Type.Unknown(), { maxItems: 1600 });

const TableSeedSchema = strict(
  {
    table: text("A table of the schema above.", 63),
    columns: Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { minItems: 1, maxItems: 1600 }),
    rows: Type.Array(Row, { maxItems: RECIPE_SEED_ROWS_MAX, description: "A value per column." }),
  },
  "Rows of a table. A row whose key already exists is not changed.",
);

const Key = Type.Union([Type.String({ minLength: 1, maxLength: 200 }), Type.Integer()]);
const Properties = Type.Record(Type.String(), Type.Unknown());

const GraphSeedSchema = strict(
  {
    graph: Type.Optional(graph),
    nodes: Type.Array(
      strict({
        key: Key,
        labels: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 20 })),
        properties: Type.Optional(Properties),
      }),
      { maxItems: RECIPE_SEED_ROWS_MAX, description: "`key` is what edges call a node by; it is not stored." },
    ),
    edges: Type.Optional(
      Type.Array(
        strict({
          from: Key,
          to: Key,
          type: Type.String({ minLength: 1, maxLength: 200 }),
          properties: Type.Optional(Properties),
        }),
        { maxItems: RECIPE_SEED_ROWS_MAX },
      ),
    ),
  },
  "Nodes and edges of a graph.",
);

/** Of `schema` and `seed`. */
export const StatementForm = strict(statement);

/** The form that an item of `seed` is meant to have; null: none. */
export function seedForm(item: unknown): Type.TObject | null {
  if (typeof item !== "object" || item === null) return null;
  if ("table" in item) return TableSeedSchema;
  if ("nodes" in item) return GraphSeedSchema;
  return "sql" in item || "cypher" in item ? StatementForm : null;
}

const modelName = Type.String({
  pattern: "^[A-Za-z_][A-Za-z0-9_.-]{0,99}$",
  description: "The model's name. Each training creates its next version.",
});

const TrainingSchema = strict(
  {
    model: modelName,
    query: Type.String({ minLength: 1, maxLength: SQL_BYTES_MAX, description: "SQL that returns the training rows." }),
    target: text("The column to predict.", 63),
    task: Type.Optional(Type.Enum(["auto", "binary_classification", "multiclass_classification", "regression"])),
    features: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 1600 })),
    max_trials: Type.Optional(Type.Integer({ minimum: 1, maximum: AUTOML_TRIALS_MAX })),
    time_budget_secs: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400 })),
    metric: Type.Optional(Type.Enum([...METRICS])),
    seed: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  },
  "A model that is trained in the background after the execution commits.",
);

const PredictionSchema = strict(
  {
    model: modelName,
    query: Type.String({
      minLength: 1,
      maxLength: SQL_BYTES_MAX,
      description: "SQL that returns the rows to predict.",
    }),
  },
  "Predictions of a trained model. They are added to the rows as the columns prediction and probability.",
);

const StepSchema = strict({
  name: name("The step's name in results, tests and errors. It must be unique."),
  description: Type.Optional(text("What it does.", 2000)),
  ...statement,
  train: Type.Optional(TrainingSchema),
  predict: Type.Optional(PredictionSchema),
  when: Type.Optional(text("An SQL condition over parameters and stored rows. The step is skipped unless it is true.")),
  keep: Type.Optional(
    name("Stores the rows as a parameter of this name for later steps: a list of objects (jsonb in SQL)."),
  ),
  output: Type.Optional(Type.Boolean({ description: "With false, the answer leaves the rows out." })),
});

const ExpectationSchema = strict({
  step: name("The step whose result is checked."),
  skipped: Type.Optional(Type.Boolean()),
  columns: Type.Optional(Type.Array(Type.String(), { maxItems: 1600 })),
  rows: Type.Optional(Type.Array(Row, { maxItems: 1000, description: "All expected rows, in order." })),
  contains: Type.Optional(Type.Array(Row, { maxItems: 1000, description: "Rows that must be among the result." })),
  row_count: Type.Optional(Type.Integer({ minimum: 0 })),
  row_count_min: Type.Optional(Type.Integer({ minimum: 0 })),
  rows_affected: Type.Optional(Type.Integer({ minimum: 0 })),
  tolerance: Type.Optional(Type.Number({ minimum: 0, description: "By how much numbers may differ. Default: 1e-9." })),
});

const TestSchema = strict({
  name: text("What the test shows.", 200),
  parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  expect: Type.Optional(Type.Array(ExpectationSchema, { minItems: 1, maxItems: 200 })),
  error: Type.Optional(text("The execution must fail with this code.", 100)),
});

const members = (schemaItem: Type.TSchema, seedItem: Type.TSchema) =>
  strict(
    {
      id: Type.String({ pattern: RECIPE_ID_PATTERN, description: "1 to 100 characters of a-z, 0-9, dot, - and _." }),
      version: text("A semantic version, such as 1.0.0.", 100),
      engine: text("The server versions that it runs on, such as >=0.1.0 or ^1.2.", 200),
      name: text("A title.", 200),
      description: Type.Optional(text("What it does and what it needs.")),
      category: Type.Optional(text("A word to find it by.", 100)),
      tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
      parameters: Type.Optional(
        Type.Record(Type.String(), ParameterSchema, {
          maxProperties: RECIPE_PARAMETERS_MAX,
          description: "By name.",
        }),
      ),
      schema: Type.Optional(
        Type.Array(schemaItem, {
          maxItems: RECIPE_STATEMENTS_MAX,
          description: "Definitions, run when a version is first executed. One statement each; a string is SQL.",
        }),
      ),
      seed: Type.Optional(
        Type.Array(seedItem, {
          maxItems: RECIPE_STATEMENTS_MAX,
          description: "Data, inserted after the schema.",
        }),
      ),
      workflow: Type.Array(StepSchema, { minItems: 1, maxItems: RECIPE_STEPS_MAX }),
      tests: Type.Optional(Type.Array(TestSchema, { maxItems: RECIPE_TESTS_MAX })),
      signature: Type.Optional(
        strict({
          algorithm: Type.Literal("ed25519"),
          value: Type.String({
            minLength: 1,
            maxLength: 200,
            description: "The signature of the digest's text, in base64.",
          }),
        }),
      ),
    },
    "A recipe. docs/guide/recipes.md explains it by example.",
  );

/** What is published. */
export const RecipeSchema = members(
  Type.Union([sql, StatementForm]),
  Type.Union([TableSeedSchema, GraphSeedSchema, StatementForm]),
);

/** What is checked first: of a union nobody could say which form was meant. */
export const RecipeForm = members(Type.Union([sql, Type.Object({})]), Type.Unknown());

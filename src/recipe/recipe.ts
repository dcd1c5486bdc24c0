/** A recipe that has been read (read-recipe.ts): the document as JSON, checked. docs/guide/recipes.md explains it. */

export const PARAMETER_TYPES = [
  "text",
  "integer",
  "number",
  "boolean",
  "date",
  "timestamp",
  "uuid",
  "json",
  "vector",
  "list",
  "identifier",
] as const;

export type ParameterType = (typeof PARAMETER_TYPES)[number];

export interface Parameter {
  readonly type: ParameterType;
  readonly description?: string;
  /** Absent: the parameter has to be sent. */
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** UTF-16 units of a text or identifier; numbers of a vector, items of a list. */
  readonly min_length?: number;
  readonly max_length?: number;
  /** Of a list: "text" unless said. */
  readonly items?: "text" | "integer" | "number" | "boolean";
}

/** One of `sql` and `cypher` is there. */
export interface Statement {
  readonly sql?: string;
  readonly cypher?: string;
  /** The graph that Cypher is about. */
  readonly graph?: string;
}

export interface TableSeed {
  readonly table: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface GraphSeed {
  readonly graph?: string;
  readonly nodes: readonly {
    readonly key: string | number;
    readonly labels?: readonly string[];
    readonly properties?: Readonly<Record<string, unknown>>;
  }[];
  readonly edges?: readonly {
    readonly from: string | number;
    readonly to: string | number;
    readonly type: string;
    readonly properties?: Readonly<Record<string, unknown>>;
  }[];
}

export type Seed = TableSeed | GraphSeed | Statement;

/** A model that is trained once the execution is committed. */
export interface Training {
  /** Its name; each training makes the name's next version. */
  readonly model: string;
  /** SQL that returns the training rows. */
  readonly query: string;
  readonly target: string;
  readonly task?: "auto" | "binary_classification" | "multiclass_classification" | "regression";
  readonly features?: readonly string[];
  readonly max_trials?: number;
  readonly time_budget_secs?: number;
  readonly metric?: string;
  readonly seed?: number;
}

/** What a trained model says of rows. */
export interface Prediction {
  readonly model: string;
  /** SQL that returns the rows to predict. */
  readonly query: string;
}

/** One of `sql`, `cypher`, `train` and `predict` is there. */
export interface Step extends Statement {
  readonly name: string;
  readonly description?: string;
  readonly train?: Training;
  readonly predict?: Prediction;
  /** A condition of SQL; the step is skipped unless it is true. */
  readonly when?: string;
  /** Later steps know the rows by this name, as a list of objects. */
  readonly keep?: string;
  /** False: its rows are not told. */
  readonly output?: boolean;
}

export interface Expectation {
  readonly step: string;
  readonly skipped?: boolean;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly unknown[])[];
  readonly contains?: readonly (readonly unknown[])[];
  readonly row_count?: number;
  readonly row_count_min?: number;
  readonly rows_affected?: number;
  /** Tolerance for numbers; 1e-9 by default, times the number if that is greater. */
  readonly tolerance?: number;
}

export interface RecipeTest {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly expect?: readonly Expectation[];
  /** The execution must fail with this code. */
  readonly error?: string;
}

export interface Signature {
  readonly algorithm: "ed25519";
  /** Base64. */
  readonly value: string;
}

export interface Recipe {
  readonly id: string;
  readonly version: string;
  readonly engine: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly parameters: Readonly<Record<string, Parameter>>;
  readonly schema: readonly (string | Statement)[];
  readonly seed: readonly Seed[];
  readonly workflow: readonly Step[];
  readonly tests: readonly RecipeTest[];
  readonly signature?: Signature;
}

/** Where a text begins in its document, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /**
   * Further lines of the text follow each other in the document, from this column on; else only the beginning is known.
   */
  readonly margin?: number;
}

/** A recipe as it was read. */
export interface ReadRecipe {
  /** As it was written. */
  readonly document: object;
  /** The same with what it leaves out. */
  readonly recipe: Recipe;
  /** `sha256:` and hexadecimal digits: of the canonical form without the signature. */
  readonly digest: string;
  /** Where the statements stand, by their paths ("workflow[2].sql"); empty where there was no text. */
  readonly places: Readonly<Record<string, Place>>;
  /** As YAML, where that was asked for. */
  readonly text?: string;
}

/** A document that was read before. */
export function recipeOf(document: object): Recipe {
  const value = document as Partial<Recipe>;
  const {
    description = "",
    category = "general",
    tags = [],
    parameters = {},
    schema = [],
    seed = [],
    tests = [],
  } = value;
  return { ...(value as Recipe), description, category, tags, parameters, schema, seed, tests };
}

/** What a step does, the statement that it runs, and where that stands below the step. */
export function actionOf({ sql, cypher, train, predict, graph }: Step): {
  readonly kind: "sql" | "cypher" | "train" | "predict";
  readonly statement: Statement;
  readonly path: readonly string[];
} {
  if (train !== undefined) return { kind: "train", statement: { sql: train.query }, path: ["train", "query"] };
  if (predict !== undefined) return { kind: "predict", statement: { sql: predict.query }, path: ["predict", "query"] };
  if (sql !== undefined) return { kind: "sql", statement: { sql }, path: ["sql"] };
  return { kind: "cypher", statement: { cypher: cypher!, ...(graph !== undefined && { graph }) }, path: ["cypher"] };
}

export const statementOf = (item: string | Statement): Statement => (typeof item === "string" ? { sql: item } : item);

/** Where character `position` (from 1) of the text is that begins at `place`. */
export function placeWithin({ line, column, margin }: Place, text: string, position: number): Place {
  if (margin === undefined) return { line, column };
  const before = [...text].slice(0, position - 1).join("");
  const lines = before.split("\n").length - 1;
  const characters = before.length - (before.lastIndexOf("\n") + 1);
  return { line: line + lines, column: (lines === 0 ? column : margin) + characters };
}

/** A step's condition as a statement. */
export const conditionQuery = (when: string): string => `SELECT (${when}${conditionEnd}`;

/** On a line of its own, so that a comment may end the condition. */
export const conditionEnd = "\n)";

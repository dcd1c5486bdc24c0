/** What questions that are made of simpler ones are answered with. Used by `compositions.ts` and what it calls. */
import type { QueryShape } from "./query-shape.js";
import type { SchemaFacts } from "./schema-facts.js";

/** An answer to one of the simpler questions. */
export interface SimpleAnswer {
  readonly sql: string;
  readonly confidence: number;
  readonly shape: QueryShape;
}

export interface ComposedAnswer {
  readonly sql: string;
  readonly confidence: number;
}

/** Null: the question is not understood. `schema`: with fewer links, for what they would leave unclear. */
export type Answer = (text: string, schema?: SchemaFacts) => Promise<SimpleAnswer | null>;

/** A list of lists, and a sum that no word names, are less sure than what they are made of. */
export const COMPOSED_MAX = 0.88;

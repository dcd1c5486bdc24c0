/**
 * Extensions. What they bring is always there; a tenant's record says that it asked for one. So pg_extension and dumps
 * name only what scripts created. `ddl-extension.ts` makes the records.
 */
import type { TypeName } from "../values/values.js";

export interface ExtensionDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly name: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}

export interface AvailableExtension {
  /** The version whose interface is there. */
  readonly version: string;
  readonly comment: string;
  /** Types of the extension; absent: none. */
  readonly types?: readonly TypeName[];
}

/** By name, in alphabetical order. */
export const AVAILABLE_EXTENSIONS: ReadonlyMap<string, AvailableExtension> = new Map([
  ["btree_gin", { version: "1.3", comment: "indexes USING gin on plain types, which are definitions alone" }],
  ["btree_gist", { version: "1.7", comment: "exclusion constraints USING gist of plain types, distances" }],
  ["citext", { version: "1.6", comment: "data type for case-insensitive character strings", types: ["citext"] }],
  ["fuzzystrmatch", { version: "1.1", comment: "how alike words are spelt and sound, without Double Metaphone" }],
  ["hstore", { version: "1.8", comment: "data type for storing sets of (key, value) pairs", types: ["hstore"] }],
  [
    "ltree",
    {
      version: "1.2",
      comment: "data type for hierarchical tree-like structures",
      types: ["ltree", "lquery", "ltxtquery"],
    },
  ],
  ["pg_trgm", { version: "1.6", comment: "text similarity measurement and index searching based on trigrams" }],
  ["pgcrypto", { version: "1.3", comment: "cryptographic functions" }],
  ["plpgsql", { version: "1.0", comment: "PL/pgSQL procedural language" }],
  ["unaccent", { version: "1.1", comment: "texts without accents" }],
  ["uuid-ossp", { version: "1.1", comment: "generate universally unique identifiers (UUIDs)" }],
  [
    "vector",
    { version: "0.8.0", comment: "vector data type and hnsw access method", types: ["vector", "halfvec", "sparsevec"] },
  ],
]);

/** The extension that every tenant has, without a record. */
export const BUILT_IN_EXTENSION = "plpgsql";

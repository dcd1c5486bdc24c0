/** Schemas: the name spaces of relations and types. Stored like tables; the built-in ones are not stored. */
import { randomBytes } from "node:crypto";

export interface SchemaDef {
  /** Unique within the tenant. */
  readonly id: number;
  readonly name: string;
  readonly comment?: string;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
  /** Of the record of the built-in schema `public`: the tenant does not have it any more. One made since is another. */
  readonly dropped?: true;
}

/** Schemas whose relations and types are computed from the definitions. */
export const SYSTEM_SCHEMAS: readonly string[] = ["pg_catalog", "information_schema"];

/** Schemas that every tenant has at first, without a record. */
export const BUILT_IN_SCHEMAS: readonly string[] = ["public", ...SYSTEM_SCHEMAS];

/** How sessions name their own schema of temporary relations. */
export const TEMPORARY_ALIAS = "pg_temp";
const TEMPORARY_PREFIX = "pg_temp_";

/** A name for the temporary relations of one session. */
export function newTemporarySchema(): string {
  return `${TEMPORARY_PREFIX}${randomBytes(8).toString("hex")}`;
}

export function isTemporarySchema(name: string): boolean {
  return name.startsWith(TEMPORARY_PREFIX);
}

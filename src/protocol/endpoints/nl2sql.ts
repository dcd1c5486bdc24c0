/** Questions in plain language about the tenant's tables. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { QUESTION_CHARACTERS_MAX } from "../limits.js";
import { ColumnMeta, limits, otherDatabase, Strict, sql, Unused } from "./schemas.js";

const question = Type.Optional(Type.String({ minLength: 1, maxLength: QUESTION_CHARACTERS_MAX }));

export const nl2sqlEndpoints = [
  {
    name: "nl2sql.query",
    method: "POST",
    path: "/v1/nl2sql/query",
    summary:
      "Answer a question about the tenant's tables: it becomes a SELECT, by the configured provider or else by rules, which is planned before it runs.",
    tag: "query",
    access: "member",
    home: "tenant",
    slow: true,
    failures: [422, 502],
    body: Strict({
      question,
      query: question,
      execute: Type.Optional(Type.Boolean({ description: "false: only the SQL; true unless said." })),
      tables: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), {
          minItems: 1,
          maxItems: 200,
          description: "Only these tables are asked; all unless said.",
        }),
      ),
      method: Type.Optional(
        Type.Enum(["auto", "rules", "provider"], {
          description: "auto: the provider where one is configured, else rules.",
        }),
      ),
      model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Of the provider." })),
      dialect: Unused("the SQL is of the one dialect that this server runs."),
      ...otherDatabase,
      ...limits,
    }),
    example: { body: { question: "How many orders are there per region?", execute: true } },
    response: Type.Object({
      sql: Type.String(),
      confidence: Type.Number({
        description:
          "0 to 1. By rules: how well names fitted, .95 at most; by a provider .9, or .7 when its first SQL did not plan.",
      }),
      method: Type.String({ description: '"rules" or the provider.' }),
      columns: Type.Array(ColumnMeta),
      rows: Type.Array(Type.Array(Type.Unknown())),
      execution_time_ms: Type.Number(),
      truncated: Type.Optional(Type.Boolean()),
    }),
  },
  {
    name: "nl2sql.validate",
    method: "POST",
    path: "/v1/nl2sql/validate",
    summary: "Whether a statement would plan, and what is wrong with it if not. Nothing is run.",
    tag: "query",
    access: "member",
    home: "tenant",
    body: Strict({ sql }),
    example: { body: { sql: "SELECT region, count(*) FROM orders GROUP BY region" } },
    response: Type.Object({
      is_valid: Type.Boolean(),
      errors: Type.Array(Type.String()),
      warnings: Type.Array(Type.String()),
    }),
  },
] as const satisfies readonly EndpointSpec[];

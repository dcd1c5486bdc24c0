/** Questions in plain language about the tenant's tables. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { QUESTION_CHARACTERS_MAX } from "../limits.js";
import { ColumnMeta, limits, otherDatabase, Strict, sql, Unused } from "./schemas.js";

const question = Type.Optional(Type.String({ minLength: 1, maxLength: QUESTION_CHARACTERS_MAX }));

export const nl2sqlEndpoints = [
  {
    name: "nl2sql.query",
    door: "statements",
    method: "POST",
    path: "/v1/nl2sql/query",
    summary:
      "Answer a question about the tenant's tables. The configured provider, or else rules, turn it into a SELECT, which is planned before it runs.",
    tag: "query",
    access: "member",
    home: "tenant",
    slow: true,
    failures: [422, 502],
    body: Strict({
      question,
      query: question,
      execute: Type.Optional(Type.Boolean({ description: "With false, only the SQL is returned. Default: true." })),
      tables: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), {
          minItems: 1,
          maxItems: 200,
          description: "Use only these tables. Default: all.",
        }),
      ),
      method: Type.Optional(
        Type.Enum(["auto", "rules", "provider"], {
          description: "auto: the provider if one is configured, else rules.",
        }),
      ),
      model: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: "Of the provider." })),
      dialect: Unused("this server has one SQL dialect."),
      ...otherDatabase,
      ...limits,
    }),
    example: { body: { question: "How many orders are there per region?", execute: true } },
    response: Type.Object({
      sql: Type.String(),
      confidence: Type.Number({
        description:
          "0 to 1. With rules: how well names matched, at most 0.95. With a provider: 0.9, or 0.7 if its first SQL did not plan.",
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
    door: "statements",
    method: "POST",
    path: "/v1/nl2sql/validate",
    summary: "Check whether a statement can be planned, and what is wrong if not. Nothing runs.",
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

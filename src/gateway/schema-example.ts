/**
 * Makes examples for the OpenAPI document from the schemas: required fields and the first of several choices, with
 * telling names and values where the property's name suggests them. Called by openapi.ts; pure.
 */

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly description?: string;
}

/** By the property's name, where they fit its schema. */
const VALUES: Readonly<Record<string, unknown>> = {
  sql: "SELECT 1 AS one",
  cypher: "MATCH (n) RETURN count(n) AS nodes",
  algorithm: "pagerank",
  username: "ann",
  email: "ann@example.org",
  password: "correct horse battery",
  code: "123456",
  id: "a1",
  name: "orders",
  collection: "orders",
  table: "orders",
  text: "The quick brown fox.",
  texts: ["The quick brown fox."],
  query: "fox",
  question: "How many orders are there?",
  content: "The sky is blue.",
  message: "Hello",
  namespace: "notes",
  label: "Person",
  metric: "cosine",
  dimensions: 3,
  vector: [0.1, 0.2, 0.3],
  values: [0.1, 0.2, 0.3],
  language: "english",
  timestamp: "2026-01-02T03:04:05.678Z",
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:05.678Z",
  expires_at: "2026-01-02T04:04:05.678Z",
  statements: ["SELECT 1 AS one"],
  premise: "The sky is blue.",
  hypothesis: "The sky has a colour.",
  statement: "The sky is blue.",
};

/** Texts for patterns, the first that fits. */
const TEXTS = [
  "orders",
  "a1",
  "ann",
  "1",
  "0",
  "true",
  "nli-mini",
  "org/model",
  "00000000-0000-4000-8000-000000000000",
  "2026-01-02",
  "https://login.example.com",
];
const DEPTH_MAX = 6;

/** `isWhole`: with properties that need not be there. */
export function exampleOf(schema: unknown, isWhole = false): unknown {
  return made(schema as Schema, "", isWhole, 0);
}

function made(schema: Schema, name: string, isWhole: boolean, depth: number): unknown {
  const { anyOf, allOf } = schema;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (anyOf !== undefined) return made(anyOf.find(({ type }) => type !== "null") ?? anyOf[0]!, name, isWhole, depth);
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => made(part, name, isWhole, depth)));
  if (schema.default !== undefined) return schema.default;
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  const known = VALUES[name];
  if (known !== undefined && fits(schema, type, known)) return known;
  switch (type) {
    case "object":
      return objectOf(schema, isWhole, depth);
    case "array": {
      const { items, minItems = 0 } = schema;
      if (items === undefined || depth > DEPTH_MAX) return [];
      const one = made(items, name.replace(/s$/, ""), isWhole, depth + 1);
      return Array.from({ length: Math.max(minItems, 1) }, () => one);
    }
    case "integer":
      return Math.max(schema.minimum ?? 1, (schema.exclusiveMinimum ?? 0) + 1 > 1 ? schema.exclusiveMinimum! + 1 : 0);
    case "number":
      return Math.max(schema.minimum ?? 0, (schema.exclusiveMinimum ?? -0.5) + 0.5);
    case "boolean":
      return true;
    case "string":
      return textOf(schema);
    case "null":
      return null;
    default:
      return known ?? {};
  }
}

function objectOf({ properties = {}, required = [] }: Schema, isWhole: boolean, depth: number): object {
  if (depth > DEPTH_MAX) return {};
  const names = Object.keys(properties).filter((name) => isWhole || required.includes(name));
  return Object.fromEntries(names.map((name) => [name, made(properties[name]!, name, isWhole, depth + 1)]));
}

function fits(schema: Schema, type: string | undefined, value: unknown): boolean {
  if (type === undefined) return true;
  if (type === "string") return typeof value === "string" && textFits(schema, value);
  if (type === "integer" || type === "number") return typeof value === "number";
  if (type !== "array" || !Array.isArray(value)) return false;
  const item = schema.items;
  if (item === undefined) return true;
  if (item.anyOf !== undefined) return item.anyOf.some((one) => one.type === typeof value[0]);
  return item.type === undefined || item.type === typeof value[0];
}

function textFits({ pattern, minLength = 0 }: Schema, text: string): boolean {
  return text.length >= minLength && (pattern === undefined || new RegExp(pattern).test(text));
}

function textOf(schema: Schema): string {
  if (schema.description?.startsWith("RFC 3339")) return "2026-01-02T03:04:05.678Z";
  return TEXTS.find((text) => textFits(schema, text)) ?? "a".repeat(Math.max(schema.minLength ?? 1, 1));
}

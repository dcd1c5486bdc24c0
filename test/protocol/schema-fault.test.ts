/** Every kind of error that the library for schemas knows is told in a sentence of ours. */
import t from "tap";
import Type from "typebox";
import type { TValidationError } from "typebox/error";
import { Errors } from "typebox/value";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { faultOf, fieldName, MUST_BE } from "../../src/protocol/schema-fault.js";

type Case = readonly [schema: object, value: unknown, expected: string];

function told(schema: object, value: unknown): string {
  const { path, names, says, kind, hint } = faultOf(schema, value, Errors(schema as Type.TSchema, value));
  const at = fieldName([...path, ...names]);
  return `${at === "" ? "it" : at} ${kind === "unknown" ? "is unknown" : says}${hint === null ? "" : ` | ${hint}`}`;
}

/** The type asks for every kind of error, so that one that a newer library adds fails to compile. */
const CASES: { readonly [K in TValidationError["keyword"]]: readonly Case[] } = {
  additionalProperties: [
    [
      Type.Object({ filter: Type.Any() }, { additionalProperties: false }),
      { filters: 1 },
      'filters is unknown | Did you mean "filter"?',
    ],
    [
      Type.Object({ a: Type.Any() }, { additionalProperties: false }),
      { zebra: 1 },
      "zebra is unknown | Remove the field or correct its name.",
    ],
  ],
  anyOf: [
    [
      Type.Union([Type.String(), Type.Array(Type.String())]),
      5,
      "it must be a string or an array of strings, not a number",
    ],
    [Type.Union([Type.Literal("a"), Type.Literal("b")]), "c", "it must be one of a, b"],
    [Type.Union([Type.String({ minLength: 1 }), Type.Null()]), "", "it must not be empty"],
    [
      Type.Union([Type.String(), Type.Object({ sql: Type.String() })]),
      { sql: 5 },
      "sql must be a string, not a number",
    ],
  ],
  boolean: [[{ type: "array", prefixItems: [{}], items: false }, [1, 2], "[1] is not allowed here"]],
  const: [[Type.Literal("2.0"), "1", "it must be 2.0"]],
  contains: [
    [{ type: "array", contains: { type: "number" } }, ["a"], "it must hold at least 1 of the items that are asked for"],
  ],
  dependencies: [[{ dependencies: { a: ["b"] } }, { a: 1 }, 'it needs "b" where "a" is sent']],
  dependentRequired: [[{ dependentRequired: { a: ["b", "c"] } }, { a: 1 }, 'it needs "b", "c" where "a" is sent']],
  enum: [[Type.Enum(["cosine", "l2"]), "cosin", "it must be one of cosine, l2"]],
  exclusiveMaximum: [
    [Type.Number({ minimum: 0, exclusiveMaximum: 1 }), 1, "it must be at least 0 and less than 1, not 1"],
  ],
  exclusiveMinimum: [[Type.Number({ exclusiveMinimum: 0 }), 0, "it must be greater than 0, not 0"]],
  format: [
    [{ type: "string", format: "date" }, "soon", "it must be a date such as 2026-01-31"],
    [{ type: "string", format: "ipv4" }, "soon", 'it must be a string of the form "ipv4"'],
  ],
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  if: [[{ if: { type: "string" }, then: { minLength: 3 } }, "a", "it does not fit the fields beside it"]],
  maxItems: [[Type.Array(Type.Any(), { maxItems: 1 }), [1, 2], "it must hold at most 1 item"]],
  maxLength: [[Type.String({ maxLength: 2 }), "abc", "it must have at most 2 characters"]],
  maxProperties: [[{ type: "object", maxProperties: 1 }, { a: 1, b: 2 }, "it must have at most 1 field"]],
  maximum: [[Type.Number({ maximum: 2 }), 9, "it must be at most 2, not 9"]],
  minItems: [
    [Type.Array(Type.Any(), { minItems: 1 }), [], "it must not be empty"],
    [Type.Array(Type.Any(), { minItems: 2 }), [1], "it must hold at least 2 items"],
  ],
  minLength: [
    [Type.String({ minLength: 1 }), "", "it must not be empty"],
    [Type.String({ minLength: 8 }), "short", "it must have at least 8 characters"],
  ],
  minProperties: [
    [{ type: "object", minProperties: 1 }, {}, "it must not be empty"],
    [{ type: "object", minProperties: 2 }, { a: 1 }, "it must have at least 2 fields"],
  ],
  minimum: [
    [Type.Integer({ minimum: 1 }), 0, "it must be at least 1, not 0"],
    [Type.Integer({ minimum: 1, maximum: 100 }), 0, "it must be from 1 to 100, not 0"],
  ],
  multipleOf: [[Type.Number({ multipleOf: 5 }), 7, "it must be a multiple of 5"]],
  not: [
    [{ not: { type: "number" } }, 3, "it has a value that is not allowed here"],
    [Type.Object({ a: Type.Never() }), { a: 3 }, "a has a value that is not allowed here"],
  ],
  oneOf: [
    [{ oneOf: [{ type: "number" }, { minimum: 0 }] }, 3, "it fits several of the forms that exclude each other"],
    [{ oneOf: [{ type: "string" }, { type: "null" }] }, 3, "it must be a string or null, not a number"],
  ],
  pattern: [
    [Type.String({ pattern: "^[0-9]{1,6}$" }), "many", "it must be a whole number of at most 6 digits"],
    [Type.String({ pattern: "^(true|false)$" }), "yes", "it must be one of true, false"],
    [
      Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$" }),
      "a b",
      "it must be 1 to 63 characters of letters, digits, _, ., -; the first one is a letter, a digit or _",
    ],
    [Type.String({ pattern: "^[a-z]{1,20}$" }), "A", "it must be 1 to 20 characters of small letters"],
    [Type.String({ pattern: "x$", [MUST_BE]: "a text that ends with x" }), "y", "it must be a text that ends with x"],
    [Type.String({ pattern: "x$" }), "y", "it must be a string that matches x$"],
  ],
  propertyNames: [
    [{ type: "object", propertyNames: false }, { ab: 1 }, 'it has fields with names that are not allowed: "ab"'],
    [{ type: "object", propertyNames: { maxLength: 1 } }, { ab: 1 }, "ab must have at most 1 character"],
  ],
  required: [
    [
      Type.Object({ dimensions: Type.Integer({ minimum: 1, maximum: 9 }) }),
      {},
      'dimensions is missing | Send "dimensions": a whole number from 1 to 9.',
    ],
    [
      Type.Object({ a: Type.Object({ "b/c": Type.Boolean() }) }),
      { a: {} },
      'a.b/c is missing | Send "b/c": true or false.',
    ],
  ],
  type: [
    [Type.String(), null, "it must be a string, not null"],
    [Type.String(), ["a"], "it must be a string, not an array"],
    [
      Type.Integer({ minimum: 1, maximum: 5 }),
      "3",
      "it must be a whole number from 1 to 5, not a string; leave the quotes out",
    ],
    [Type.Integer(), 2.5, "it must be a whole number, not 2.5"],
    [Type.Number({ minimum: 0 }), "hot", "it must be a number of at least 0, not a string"],
    [Type.Boolean(), "true", "it must be true or false, not a string; leave the quotes out"],
    [Type.Boolean(), 1, "it must be true or false, not a number"],
    [Type.Array(Type.Number()), "1,2", "it must be an array of numbers, not a string"],
    [Type.Object({ text: Type.Optional(Type.String()) }), "cat", "it must be an object (fields: text), not a string"],
    [Type.Record(Type.String(), Type.Integer()), { "a/b": "x" }, "a/b must be a whole number, not a string"],
    [Type.Null(), true, "it must be null, not true"],
    [{ type: ["string", "null"] }, 3, "it must be a string or null, not a number"],
    [
      Type.Array(Type.Object({ v: Type.Array(Type.Number()) })),
      [{ v: [1, "2"] }],
      "[0].v[1] must be a number, not a string; leave the quotes out",
    ],
  ],
  unevaluatedItems: [
    [{ type: "array", prefixItems: [{}], unevaluatedItems: false }, [1, 2], "it holds more items than are allowed"],
  ],
  unevaluatedProperties: [
    [
      { type: "object", properties: { size: {} }, unevaluatedProperties: false },
      { sizes: 1 },
      'sizes is unknown | Did you mean "size"?',
    ],
  ],
  uniqueItems: [[{ type: "array", uniqueItems: true }, [1, 1], "it must not hold the same item twice"]],
  "~refine": [
    [
      Type.Refine(
        Type.String(),
        () => false,
        () => "must rhyme",
      ),
      "x",
      "it must rhyme",
    ],
  ],
};

for (const [keyword, cases] of Object.entries(CASES)) {
  t.test(keyword, async (t) => {
    for (const [schema, value, expected] of cases) t.equal(told(schema, value), expected);
  });
}

t.test("every pattern of the endpoints has words", async (t) => {
  const patterns: string[] = [];
  const look = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { pattern, [MUST_BE]: words } = schema as { pattern?: unknown; [MUST_BE]?: string };
    if (typeof pattern === "string" && words === undefined) patterns.push(pattern);
    for (const part of Object.values(schema)) look(part);
  };
  for (const { body, query, params } of ENDPOINTS) for (const schema of [body, query, params]) look(schema);
  t.ok(patterns.length > 10);
  for (const pattern of new Set(patterns)) {
    t.notMatch(told(Type.String({ pattern }), "\u0000"), /matches/, pattern);
  }
});

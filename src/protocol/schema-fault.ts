/**
 * What is wrong with a value by its schema, in words. TypeBox compiles the checks; each sentence about what they find
 * stands here. Called by all that check a body, an argument, an option, a recipe or a model's manifest. No state.
 */
import type { TValidationError } from "typebox/error";
import { nearestName } from "./nearest-name.js";

/** The keyword of a schema that says in words what its `pattern` wants: "must be" goes before it. */
export const MUST_BE = "x-must-be";

export interface SchemaFault {
  /** A member that the schema does not know, one that is missing, or a value that it refuses. */
  readonly kind: "unknown" | "missing" | "value";
  /** Where: of the object that the members are about, or of the value. */
  readonly path: readonly (string | number)[];
  /** The unknown or missing members; else empty. */
  readonly names: readonly string[];
  /** The members that are known there; of an unknown one only. */
  readonly known: readonly string[];
  /** "must be a string, not a number"; empty for unknown members. */
  readonly says: string;
  /** What mends it, a sentence; null where `says` does. */
  readonly hint: string | null;
}

/** The parts of JSON Schema that are put into words. */
interface SchemaParts {
  readonly [MUST_BE]?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaParts[];
  readonly oneOf?: readonly SchemaParts[];
  readonly items?: SchemaParts;
  readonly properties?: Readonly<Record<string, SchemaParts>>;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly exclusiveMinimum?: number | bigint;
  readonly exclusiveMaximum?: number | bigint;
}

type Keyword = TValidationError["keyword"];
type ErrorOf<K extends Keyword> = Extract<TValidationError, { keyword: K }>;

/** Of an object with more, a message does not list the fields. */
const LISTED_FIELDS_MAX = 16;

/** Of the errors that `schema` finds in `value`, the one that says most: an unknown member, a missing one, then any. */
export function faultOf(schema: object, value: unknown, found: readonly object[]): SchemaFault {
  const errors = found as readonly TValidationError[];
  for (const error of errors) {
    if (error.keyword === "additionalProperties") {
      return unknownMembers(schema, error, error.params.additionalProperties);
    }
    if (error.keyword === "unevaluatedProperties") {
      return unknownMembers(schema, error, error.params.unevaluatedProperties.map(String));
    }
  }
  const missing = errors.find((error): error is ErrorOf<"required"> => error.keyword === "required");
  if (missing !== undefined) {
    const names = missing.params.requiredProperties;
    const member = partsAt(schema, missing.schemaPath).properties?.[names[0]!];
    const hint = member === undefined ? null : `Send "${names[0]}": ${described(member)}.`;
    return { kind: "missing", path: pathOf(missing.instancePath), names, known: [], says: "is missing", hint };
  }
  const error = tellingError(errors);
  const says = sentenceOf(error, partsAt(schema, error.schemaPath), valueAt(value, error.instancePath));
  return { kind: "value", path: pathOf(error.instancePath), names: [], known: [], says, hint: null };
}

function unknownMembers(schema: object, error: TValidationError, names: readonly string[]): SchemaFault {
  const known = Object.keys(partsAt(schema, error.schemaPath).properties ?? {});
  const near = nearestName(names[0]!, known);
  const hint = near === null ? "Remove the field or correct its name." : `Did you mean "${near}"?`;
  return { kind: "unknown", path: pathOf(error.instancePath), names, known, says: "", hint };
}

/** "statements", 3, "sql" → "statements[3].sql" */
export function fieldName(path: readonly (string | number)[]): string {
  let name = "";
  for (const part of path) {
    if (typeof part === "number") name += `[${part}]`;
    else name += name === "" ? part : `.${part}`;
  }
  return name;
}

/** Where none of a union's forms fits, the one that was meant tells what is wrong; if none was, all are named. */
function tellingError(errors: readonly TValidationError[]): TValidationError {
  const first = errors.find(({ keyword }) => keyword !== "boolean") ?? errors[0]!;
  const union = errors.findLast(
    ({ keyword, instancePath, schemaPath }) =>
      (keyword === "anyOf" || keyword === "oneOf") &&
      instancePath === first.instancePath &&
      first.schemaPath.startsWith(`${schemaPath}/`),
  );
  if (union === undefined) return first;
  const within = errors.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/`));
  const deeper = within.filter(({ instancePath }) => instancePath.startsWith(`${union.instancePath}/`));
  if (deeper.length > 0) return tellingError(deeper);
  const ofForm = within.find(
    ({ keyword }) => !["type", "const", "enum", "anyOf", "oneOf", "boolean"].includes(keyword),
  );
  return ofForm ?? union;
}

function sentenceOf({ keyword, params }: TValidationError, schema: SchemaParts, value: unknown): string {
  const sentence = SENTENCES[keyword] as (params: object, schema: SchemaParts, value: unknown) => string;
  return sentence(params, schema, value);
}

type Sentence<K extends Keyword> = (params: ErrorOf<K>["params"], schema: SchemaParts, value: unknown) => string;

const FORMATS: Readonly<Record<string, string>> = {
  date: "a date such as 2026-01-31",
  "date-time": "a time such as 2026-01-31T12:00:00Z",
  time: "a time of day such as 12:00:00Z",
  email: "an address such as ann@example.com",
  uri: "an address such as https://example.com/file",
  uuid: "a UUID such as 123e4567-e89b-42d3-a456-426614174000",
};

const wrongType = (_: unknown, schema: SchemaParts, value: unknown): string => {
  const wanted = described(schema);
  return wanted.startsWith("one of ") ? `must be ${wanted}` : `must be ${wanted}, not ${sent(schema, value)}`;
};
const outOfRange = (_: unknown, schema: SchemaParts, value: unknown): string =>
  `must be ${range(schema)}, not ${String(value)}`;
const dependent = ({
  property,
  dependencies,
}: {
  readonly property: string;
  readonly dependencies: string[];
}): string => `needs ${quoted(dependencies)} where "${property}" is sent`;

/** Every kind of error has one: the type says so. */
const SENTENCES: { readonly [K in Keyword]: Sentence<K> } = {
  additionalProperties: ({ additionalProperties }) => `has unknown fields: ${quoted(additionalProperties)}`,
  anyOf: wrongType,
  boolean: () => "is not allowed here",
  const: ({ allowedValue }) => `must be ${written(allowedValue)}`,
  contains: ({ minContains, maxContains }) =>
    `must hold ${maxContains === undefined ? `at least ${minContains}` : `${minContains} to ${maxContains}`} of the items that are asked for`,
  dependencies: dependent,
  dependentRequired: dependent,
  enum: ({ allowedValues }) => `must be one of ${allowedValues.map(written).join(", ")}`,
  exclusiveMaximum: outOfRange,
  exclusiveMinimum: outOfRange,
  format: ({ format }) => `must be ${FORMATS[format] ?? `a string of the form "${format}"`}`,
  if: () => "does not fit the fields beside it",
  maxItems: ({ limit }) => `must hold at most ${counted(limit, "item")}`,
  maxLength: ({ limit }) => `must have at most ${counted(limit, "character")}`,
  maxProperties: ({ limit }) => `must have at most ${counted(limit, "field")}`,
  maximum: outOfRange,
  minItems: ({ limit }) => (limit === 1 ? "must not be empty" : `must hold at least ${counted(limit, "item")}`),
  minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${counted(limit, "character")}`),
  minProperties: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${counted(limit, "field")}`),
  minimum: outOfRange,
  multipleOf: ({ multipleOf }) => `must be a multiple of ${multipleOf}`,
  not: () => "has a value that is not allowed here",
  oneOf: ({ passingSchemas }, schema, value) =>
    passingSchemas.length > 0 ? "fits several of the forms that exclude each other" : wrongType(null, schema, value),
  pattern: ({ pattern }, schema) => `must be ${schema[MUST_BE] ?? patternInWords(String(pattern))}`,
  propertyNames: ({ propertyNames }) => `has fields with names that are not allowed: ${quoted(propertyNames)}`,
  required: ({ requiredProperties }) => `lacks ${quoted(requiredProperties)}`,
  type: wrongType,
  unevaluatedItems: () => "holds more items than are allowed",
  unevaluatedProperties: ({ unevaluatedProperties }) =>
    `has unknown fields: ${quoted(unevaluatedProperties.map(String))}`,
  uniqueItems: () => "must not hold the same item twice",
  "~refine": ({ message }) => message,
};

/** Numbers, lists of words and names; other patterns are shown as they are, unless their schema has words for them. */
function patternInWords(pattern: string): string {
  const digits = /^\^\[0-9\]\{1,(\d+)\}\$$/.exec(pattern);
  if (digits !== null) return `a whole number of at most ${counted(Number(digits[1]), "digit")}`;
  const words = /^\^\((\w+(?:\|\w+)*)\)\$$/.exec(pattern);
  if (words !== null) return `one of ${words[1]!.replaceAll("|", ", ")}`;
  const name = /^\^(?:\[([^\]\\]+)\])?\[([^\]\\]+)\]\{([01]),(\d+)\}\$$/.exec(pattern);
  if (name === null) return `a string that matches ${pattern}`;
  const [, first, rest = "", from, to] = name;
  const most = Number(to) + (first === undefined ? 0 : 1);
  const begin = first === undefined || first === rest ? "" : `; the first one is ${listed(charactersOf(first, true))}`;
  return `${from === "0" && first === undefined ? 0 : 1} to ${most} characters of ${charactersOf(rest, false).join(", ")}${begin}`;
}

const RANGES: readonly (readonly [range: string, one: string, several: string])[] = [
  ["A-Za-z", "a letter", "letters"],
  ["a-z", "a small letter", "small letters"],
  ["A-Z", "a capital letter", "capital letters"],
  ["0-9", "a digit", "digits"],
];

/** "A-Za-z0-9_-" → letters, digits, _, - */
function charactersOf(inBrackets: string, isOne: boolean): string[] {
  const words: string[] = [];
  let rest = inBrackets;
  for (const [range, one, several] of RANGES) {
    if (!rest.includes(range)) continue;
    words.push(isOne ? one : several);
    rest = rest.replace(range, "");
  }
  return [...words, ...[...rest].map((character) => (character === " " ? "space" : character))];
}

/** What the schema wants: "a whole number from 1 to 100". */
function described(schema: SchemaParts): string {
  const { [MUST_BE]: words, const: constant, enum: values, anyOf, oneOf, type } = schema;
  if (words !== undefined) return words;
  if (constant !== undefined) return written(constant);
  if (values !== undefined) return `one of ${values.map(written).join(", ")}`;
  const forms = anyOf ?? oneOf;
  if (forms !== undefined) return union(forms);
  if (Array.isArray(type)) return listed(type.map((one) => described({ ...schema, type: one })));
  return ofType(schema);
}

function union(forms: readonly SchemaParts[]): string {
  const constants = forms.flatMap((form) => (form.const === undefined ? [] : [written(form.const)]));
  if (constants.length === forms.length) return `one of ${constants.join(", ")}`;
  return listed([...new Set(forms.map(described))]);
}

function ofType(schema: SchemaParts): string {
  const { type, items, properties } = schema;
  if (type === "array") return items === undefined ? "an array" : `an array${ofItems(items)}`;
  if (type === "integer" || type === "number") {
    const noun = type === "integer" ? "a whole number" : "a number";
    const bounds = range(schema);
    return bounds === "" ? noun : `${noun} ${bounds.startsWith("at ") ? "of " : ""}${bounds}`;
  }
  if (type === "object") {
    const names = Object.keys(properties ?? {});
    const isListed = names.length > 0 && names.length <= LISTED_FIELDS_MAX;
    return isListed ? `an object (fields: ${names.join(", ")})` : "an object";
  }
  return NOUNS[String(type)] ?? "another value";
}

const NOUNS: Readonly<Record<string, string>> = { string: "a string", boolean: "true or false", null: "null" };

const PLURALS: Readonly<Record<string, string>> = {
  string: " of strings",
  number: " of numbers",
  integer: " of whole numbers",
  object: " of objects",
};

const ofItems = (items: SchemaParts): string => PLURALS[String(items.type)] ?? "";

/** "from 1 to 100", "at least 1", "greater than 0 and at most 1", or nothing. */
function range({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: SchemaParts): string {
  if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}`;
  const bounds: string[] = [];
  if (minimum !== undefined) bounds.push(`at least ${minimum}`);
  if (exclusiveMinimum !== undefined) bounds.push(`greater than ${exclusiveMinimum}`);
  if (maximum !== undefined) bounds.push(`at most ${maximum}`);
  if (exclusiveMaximum !== undefined) bounds.push(`less than ${exclusiveMaximum}`);
  return bounds.join(" and ");
}

/** What came instead. Texts are not repeated: they may be long, or secret. */
function sent(schema: SchemaParts, value: unknown): string {
  if (typeof value === "string") {
    const wanted = String(schema.type);
    const isNumber =
      (wanted === "integer" || wanted === "number") && value.trim() !== "" && Number.isFinite(Number(value));
    const isFlag = wanted === "boolean" && (value === "true" || value === "false");
    return isNumber || isFlag ? "a string; leave the quotes out" : "a string";
  }
  if (value === null || value === undefined) return "null";
  if (typeof value === "number") return schema.type === "integer" ? String(value) : "a number";
  if (typeof value === "bigint") return "a number";
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "an array";
  if (value instanceof Uint8Array) return "bytes";
  return value instanceof Date ? "a time" : "an object";
}

const written = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** The schema that an error is about: "#/properties/statements/items/anyOf/1". */
function partsAt(schema: object, pointer: string): SchemaParts {
  let part: unknown = schema;
  for (const name of partsOf(pointer)) part = (part as Record<string, unknown> | undefined)?.[name];
  return typeof part === "object" && part !== null ? part : {};
}

function valueAt(value: unknown, pointer: string): unknown {
  let part = value;
  for (const name of partsOf(pointer)) part = (part as Record<string, unknown> | null | undefined)?.[name];
  return part;
}

const partsOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

const pathOf = (pointer: string): (string | number)[] =>
  partsOf(pointer).map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** Values of a recipe's parameters: checked against their definitions, with defaults put in. Pure. */
import { IDENTIFIER_BYTES_MAX } from "../protocol/limits.js";
import type { BoundValue } from "./bind-statement.js";
import type { Parameter } from "./recipe.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const IS_OF: Readonly<Record<Parameter["type"], (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string" && !value.includes("\0"),
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => typeof value === "number" && Number.isFinite(value),
  boolean: (value) => typeof value === "boolean",
  date: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  timestamp: (value) => typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value)),
  uuid: (value) => typeof value === "string" && UUID.test(value),
  json: () => true,
  vector: (value) => Array.isArray(value) && value.length > 0 && value.every((item) => Number.isFinite(item)),
  list: (value) => Array.isArray(value),
  identifier: (value) => typeof value === "string" && isIdentifier(value),
};

const WORDS: Readonly<Record<Parameter["type"], string>> = {
  text: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  date: 'a date such as "2024-05-01"',
  timestamp: 'a timestamp such as "2024-05-01T12:00:00Z"',
  uuid: "a UUID",
  json: "any value",
  vector: "a list of numbers that is not empty",
  list: "a list",
  identifier: `a name: letters, digits and _ (1 to ${IDENTIFIER_BYTES_MAX}), not beginning with a digit`,
};

/** It is quoted besides; names that need more than this are for the recipe's author to write. */
function isIdentifier(text: string): boolean {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(text) && Buffer.byteLength(text) <= IDENTIFIER_BYTES_MAX;
}

/** What is wrong with a value, in words that follow the parameter's name; null: nothing. */
export function faultOfValue(parameter: Parameter, value: unknown): string | null {
  const { type, items = "text", minimum, maximum } = parameter;
  if (value === null) return parameter.default === null ? null : `must be ${WORDS[type]}, not null`;
  if (!IS_OF[type](value)) return `must be ${WORDS[type]}`;
  if (type === "list" && !(value as unknown[]).every((item) => item !== null && IS_OF[items](item))) {
    return `must be a list, each item ${WORDS[items]}`;
  }
  if (minimum !== undefined && (value as number) < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && (value as number) > maximum) return `must be at most ${maximum}`;
  return faultOfLength(parameter, value) ?? faultOfChoice(parameter, value);
}

function faultOfLength({ type, min_length: min, max_length: max }: Parameter, value: unknown): string | null {
  if (min === undefined && max === undefined) return null;
  const { length } = value as string | unknown[];
  const unit = type === "list" ? "items" : type === "vector" ? "numbers" : "characters";
  if (min !== undefined && length < min) return `must have at least ${min} ${unit}, and has ${length}`;
  return max !== undefined && length > max ? `must have at most ${max} ${unit}, and has ${length}` : null;
}

function faultOfChoice({ enum: choices }: Parameter, value: unknown): string | null {
  if (choices === undefined || choices.includes(value)) return null;
  return `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(", ")}`;
}

/** What is wrong with a definition; null: nothing. */
export function faultOfParameter(parameter: Parameter): string | null {
  const { type, minimum, maximum, min_length: min, max_length: max, items, enum: choices } = parameter;
  const isNumber = type === "integer" || type === "number";
  if (!isNumber && (minimum !== undefined || maximum !== undefined)) return "only numbers have minimum and maximum";
  const hasLength = ["text", "identifier", "vector", "list"].includes(type);
  if (!hasLength && (min !== undefined || max !== undefined)) return `${type} has no min_length and max_length`;
  if (items !== undefined && type !== "list") return "only a list has items";
  if (choices !== undefined && ["json", "vector", "list"].includes(type)) return `${type} has no enum`;
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) return "minimum is greater than maximum";
  if (min !== undefined && max !== undefined && min > max) return "min_length is greater than max_length";
  const wrong = choices?.find((choice) => !IS_OF[type](choice));
  if (wrong !== undefined) return `enum: ${JSON.stringify(wrong)} must be ${WORDS[type]}`;
  if (parameter.default === undefined) return null;
  if (parameter.default === null && type === "identifier") return "default: a name cannot be null";
  const fault = faultOfValue(parameter, parameter.default);
  return fault === null ? null : `default: ${fault}`;
}

export interface ParameterFault {
  readonly name: string;
  readonly fault: string;
}

/** All parameters by name; or the first fault. */
export function bindParameters(
  definitions: Readonly<Record<string, Parameter>>,
  given: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, BoundValue> | ParameterFault {
  const names = Object.keys(definitions);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    return {
      name: unknown.slice(0, 100),
      fault: `is no parameter of the recipe; it has ${names.join(", ") || "none"}`,
    };
  }
  const values = new Map<string, BoundValue>();
  for (const name of names) {
    const parameter = definitions[name]!;
    const value = Object.hasOwn(given, name) ? given[name] : parameter.default;
    if (value === undefined) return { name, fault: `is missing: ${WORDS[parameter.type]}` };
    const fault = faultOfValue(parameter, value);
    if (fault !== null) return { name, fault };
    const { type, items } = parameter;
    values.set(name, { type, value, ...(items !== undefined && { items }) });
  }
  return values;
}

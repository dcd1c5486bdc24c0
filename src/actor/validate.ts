/**
 * From a frame to a handler's input: decodes path variables, query string and body, and checks each with the
 * validator compiled from the endpoint's schema when the actor started. Errors name the field and what it must be.
 */
import { createHash } from "node:crypto";
import type { TObject, TProperties } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { Check as isValid } from "typebox/value";
import type { Endpoint } from "../protocol/endpoint.js";
import { UNUSED } from "../protocol/endpoints/schemas.js";
import { DbError } from "../protocol/errors.js";
import { REQUEST_BODY_MSGPACK, REQUEST_BODY_TEXT, type RequestFrame } from "../protocol/frames.js";
import type { Turns } from "../protocol/json-pieces.js";
import { parseJsonBody, parseMsgpackBody } from "./parse-body.js";

type Check = Validator<TProperties, TObject>;

export interface Input {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // Checked against the endpoint's schema, from which each handler takes its static type.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
  /** Of fields of the body that were taken and left aside; absent where there are none. */
  readonly warnings?: readonly string[];
}

/** A promise where the body is large, which is then read with turns in between; without `turns` it is read at once. */
export interface Validate {
  (frame: RequestFrame): Input;
  (frame: RequestFrame, turns: Turns | null): Input | Promise<Input>;
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/** Everything that can be decided once per endpoint is decided here. */
export function compileValidator(endpoint: Endpoint): Validate {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const checkParams = endpoint.params === undefined ? null : Compile(endpoint.params);
  const checkQuery = endpoint.query === undefined ? null : Compile(endpoint.query);
  const { body, checksBody, codes, jsonRpc } = endpoint;
  const checkBody = body === undefined || checksBody ? null : Compile(body);
  const unused = checkBody === null ? [] : unusedFields(body!);
  const input = (frame: RequestFrame, body: unknown): Input => {
    const read = {
      params: checkParams === null ? NOTHING : checked(checkParams, paramsOf(frame, names), "path variable"),
      query: checkQuery === null ? NOTHING : checked(checkQuery, queryOf(frame), "query parameter"),
      body: checkBody === null ? body : checked(checkBody, asObject(body, endpoint), "field"),
    };
    return unused.length === 0 ? read : withoutUnused(read, unused);
  };
  const validate = (frame: RequestFrame, turns: Turns | null = null): Input | Promise<Input> => {
    if (checkBody === null && !checksBody) return input(frame, jsonRpc && rawBody(frame));
    const body = bodyOf(frame, endpoint, turns);
    return body instanceof Promise ? body.then((value: unknown) => input(frame, value)) : input(frame, body);
  };
  return (codes === undefined ? validate : withCodes(validate, codes)) as Validate;
}

interface UnusedField {
  readonly name: string;
  readonly warning: string;
}

function unusedFields(body: TObject): UnusedField[] {
  return Object.entries(body.properties).flatMap(([name, schema]) => {
    const why = (schema as { readonly [UNUSED]?: string })[UNUSED];
    return why === undefined ? [] : [{ name, warning: `The field "${name}" is not used: ${why}` }];
  });
}

/** Handlers do not see these fields; the answer says so. */
function withoutUnused(input: Input, unused: readonly UnusedField[]): Input {
  const sent = unused.filter(({ name }) => Object.hasOwn(input.body, name));
  if (sent.length === 0) return input;
  const names = new Set(sent.map(({ name }) => name));
  const body = Object.fromEntries(Object.entries(input.body).filter(([name]) => !names.has(name)));
  return { ...input, body, warnings: sent.map(({ warning }) => warning) };
}

type AnyValidate = (frame: RequestFrame, turns?: Turns | null) => Input | Promise<Input>;

/** As the endpoint calls its errors. */
function withCodes(validate: AnyValidate, codes: NonNullable<Endpoint["codes"]>): AnyValidate {
  const renamed = (error: unknown): unknown => {
    if (!(error instanceof DbError)) return error;
    return new DbError(codes[error.code] ?? error.code, error.message, error.details);
  };
  return (frame, turns) => {
    try {
      const input = validate(frame, turns);
      if (!(input instanceof Promise)) return input;
      return input.catch((error: unknown) => {
        throw renamed(error);
      });
    } catch (error) {
      throw renamed(error);
    }
  };
}

function paramsOf(frame: RequestFrame, names: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) out[names[i]!] = frame.head.params[i]!;
  return out;
}

function queryOf(frame: RequestFrame): Readonly<Record<string, string>> {
  const { query } = frame.head;
  return query === "" ? NOTHING : Object.fromEntries(new URLSearchParams(query));
}

function bodyOf(frame: RequestFrame, endpoint: Endpoint, turns: Turns | null): unknown {
  if (!frame.hasBody) {
    if (endpoint.bodyOptional) return {};
    throw new DbError("invalid_request", "The body is missing; send a JSON object.");
  }
  if ((frame.flags & REQUEST_BODY_MSGPACK) !== 0) return parseMsgpackBody(frame.bodyBytes, turns);
  if ((frame.flags & REQUEST_BODY_TEXT) !== 0) return { [endpoint.textBody!.is]: frame.bodyText };
  return parseJsonBody(frame.bodyBytes, endpoint, turns);
}

function asObject(body: unknown, { listIs }: Endpoint): unknown {
  return listIs !== undefined && Array.isArray(body) ? { [listIs]: body } : body;
}

/** Bytes; what is wrong with them is told in the protocol of the endpoint. */
function rawBody(frame: RequestFrame): Buffer {
  if ((frame.flags & REQUEST_BODY_MSGPACK) !== 0) {
    throw new DbError("unsupported_media_type", "Send application/json.");
  }
  return frame.hasBody ? frame.bodyBytes : Buffer.alloc(0);
}

/**
 * The value, if it is as the schema says, or would be without fields that are null: clients that serialise options which
 * are not set send those. Else throws invalid_request that names the field.
 */
export function checked<T>(check: Check, value: T, what: string): T {
  if (check.Check(value)) return value;
  const rest = withoutNulls(check, value);
  if (rest !== value && check.Check(rest)) return rest;
  throw fieldError(check, rest, what);
}

/** Without the optional fields that are null and may not be; the value itself where there are none. */
function withoutNulls<T>(check: Check, value: T): T {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { properties = {}, required = [] } = check.Type() as { properties?: TProperties; required?: string[] };
  const isAbsent = ([name, held]: [string, unknown]): boolean =>
    held === null && Object.hasOwn(properties, name) && !required.includes(name) && !isValid(properties[name]!, null);
  const fields = Object.entries(value);
  const kept = fields.filter((field) => !isAbsent(field));
  return kept.length === fields.length ? value : (Object.fromEntries(kept) as T);
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Record<string, unknown>;
  readonly message: string;
}

/** Of more items not all errors are collected: that takes longer than the check. */
const LONG_LIST = 64;

interface ListSchema {
  readonly type?: string;
  readonly items?: TObject;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, ListSchema>>;
  /** One thing may stand for a list of one. */
  readonly anyOf?: readonly ListSchema[];
}

/** Compiled with the first item that is wrong. */
const itemChecks = new WeakMap<object, Check>();

function checkOfItems(items: TObject): Check {
  let check = itemChecks.get(items);
  if (check === undefined) {
    check = Compile(items) as Check;
    itemChecks.set(items, check);
  }
  return check;
}

/** What is wrong in a long list of the value: that it is too long, or its first item that is wrong. Undefined: nothing. */
function longListError(schema: ListSchema, value: unknown, what: string, path: string): DbError | undefined {
  if (Array.isArray(value)) {
    const [list, ...others] = (schema.anyOf ?? [schema]).filter(({ type }) => type === "array");
    if (list === undefined || others.length > 0 || value.length <= LONG_LIST) return undefined;
    const { items, maxItems = Number.POSITIVE_INFINITY } = list;
    if (value.length > maxItems) {
      const field = fieldPath(path);
      const message = `The ${what} "${field}" must not have more than ${maxItems} items.`;
      return new DbError("invalid_request", message, { field });
    }
    if (items === undefined) return undefined;
    const check = checkOfItems(items);
    const wrong = value.findIndex((item) => !check.Check(item));
    return wrong === -1 ? undefined : fieldError(check, value[wrong], what, `${path}/${wrong}`);
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const error = longListError(property, (value as Readonly<Record<string, unknown>>)[name], what, `${path}/${name}`);
    if (error !== undefined) return error;
  }
  return undefined;
}

/**
 * The first error, told with the field's path and, for an unknown field, the fields there are. `at`: where the value
 * stands in the body.
 */
function fieldError(check: Check, value: unknown, what: string, at = ""): DbError {
  const inList = longListError(check.Type() as ListSchema, value, what, at);
  if (inList !== undefined) return inList;
  const errors = (check.Errors(value) as SchemaError[]).map((error) => ({
    ...error,
    instancePath: at + error.instancePath,
  }));
  const unknown = errors.find((error) => error.keyword === "additionalProperties");
  if (unknown !== undefined) {
    const path = fieldPath(unknown.instancePath);
    const names = (unknown.params.additionalProperties as string[]).map(
      (name) => `"${path === "" ? "" : `${path}.`}${name}"`,
    );
    const known = Object.keys(schemaAt(check, unknown.schemaPath).properties ?? {});
    return new DbError(
      "invalid_request",
      `Unknown ${what} ${names.join(", ")}. Known: ${known.join(", ") || "none"}.`,
      {
        field: names[0]!.slice(1, -1),
        hint: "Remove the field or correct its name.",
      },
    );
  }
  const required = errors.find((error) => error.keyword === "required");
  if (required !== undefined) {
    const path = fieldPath(required.instancePath);
    const missing = (required.params.requiredProperties as string[]).map((name) =>
      path === "" ? name : `${path}.${name}`,
    );
    return new DbError("invalid_request", `Missing ${what} "${missing.join('", "')}".`, { field: missing[0]! });
  }
  const first = errors.find((error) => error.message !== "schema is false") ?? errors[0]!;
  const field = fieldPath(first.instancePath);
  const subject = field === "" ? "The body" : `The ${what} "${field}"`;
  const allowed = allowedValues(first, errors);
  const fault = allowed === null ? first.message : `must be one of ${allowed.join(", ")}`;
  return new DbError("invalid_request", `${subject} ${fault}.`, field === "" ? undefined : { field });
}

/** What the value may be instead, where the schema lists it: as an enum, or as a union of constants. Else null. */
function allowedValues(
  { instancePath, params }: SchemaError,
  errors: readonly SchemaError[],
): readonly unknown[] | null {
  if (params.allowedValues !== undefined) return params.allowedValues as readonly unknown[];
  const here = errors.filter((error) => error.instancePath === instancePath);
  // The union's own error comes last: where it is there, no constant is missing.
  const constants = here.filter(({ keyword }) => keyword === "const");
  const isWhole = here.length === constants.length + 1 && here.at(-1)!.keyword === "anyOf";
  return isWhole && constants.length > 0 ? constants.map((error) => error.params.allowedValue) : null;
}

/** The schema that an error is about: "#/properties/statements/items/anyOf/1". */
function schemaAt(check: Check, path: string): { readonly properties?: object } {
  let schema: unknown = check.Type();
  for (const part of path.split("/").slice(1)) schema = (schema as Record<string, unknown> | undefined)?.[part];
  return (schema ?? check.Type()) as { readonly properties?: object };
}

/** "/statements/3/sql" → "statements[3].sql" */
function fieldPath(pointer: string): string {
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    if (/^\d+$/.test(part)) path += `[${part}]`;
    else path += path === "" ? part : `.${part}`;
  }
  return path;
}

/** Tells two requests with the same Idempotency-Key apart: everything but the credential, SHA-256. */
export function hashRequest(frame: RequestFrame): string {
  const hash = createHash("sha256");
  hash.update(`${frame.code}\u0000${frame.head.query}\u0000${frame.head.params.join("\u0000")}\u0000`);
  if (frame.hasBody) hash.update(frame.bodyBytes);
  return hash.digest("base64url");
}

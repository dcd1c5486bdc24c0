/**
 * Turns a frame into a handler's input: decodes path variables, query string and body, and checks each with the
 * validator that the endpoint's first request compiled from its schema. Errors name the field and what it must be.
 */

import { createHash } from "node:crypto";
import type { TObject, TProperties } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import { Check as isValid } from "typebox/value";
import type { Endpoint } from "../protocol/endpoint.js";
import type { BodyOf, EndpointName, ParamsOf, QueryOf } from "../protocol/endpoints.js";
import { DbError } from "../protocol/errors.js";
import { REQUEST_BODY_MSGPACK, REQUEST_BODY_TEXT, type RequestFrame } from "../protocol/frames.js";
import { faultOf, fieldName } from "../protocol/schema-fault.js";
import type { Turns } from "../protocol/turns.js";
import { parseJsonBody, parseMsgpackBody } from "./parse-body.js";
import { unusedFields } from "./unused-fields.js";

type Check = Validator<TProperties, TObject>;

export interface Input {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  // Checked against the endpoint's schema, from which each handler takes its static type.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any;
  /** Of fields and query parameters that were taken and left aside; absent where there are none. */
  readonly warnings?: readonly string[];
}

/** The input of one endpoint's handler. */
export interface InputOf<E extends EndpointName> {
  readonly params: ParamsOf<E>;
  readonly query: QueryOf<E>;
  readonly body: BodyOf<E>;
  readonly warnings?: readonly string[];
}

/** A promise where the body is large, which is then read with turns in between; without `turns` it is read at once. */
export interface Validate {
  (frame: RequestFrame): Input;
  (frame: RequestFrame, turns: Turns | null): Input | Promise<Input>;
}

const NOTHING: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Compiled by the first request: a start of some 300 endpoints would take longer by a fifteenth, and most are never
 * asked.
 */
export function validatorOf(endpoint: Endpoint): Validate {
  let compiled: Validate | null = null;
  const validate = (frame: RequestFrame, turns: Turns | null = null): Input | Promise<Input> => {
    compiled ??= compileValidator(endpoint);
    return compiled(frame, turns);
  };
  return validate as Validate;
}

/** Everything that can be decided once per endpoint is decided here. */
export function compileValidator(endpoint: Endpoint): Validate {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  const checkParams = endpoint.params === undefined ? null : Compile(endpoint.params);
  const checkQuery = endpoint.query === undefined ? null : Compile(endpoint.query);
  const { body, bytesBody, checksBody, codes, jsonRpc } = endpoint;
  const checkBody = body === undefined || checksBody ? null : Compile(body);
  const withoutUnused = checkBody === null ? null : unusedFields(body!, "field");
  const queryWithoutUnused = endpoint.query === undefined ? null : unusedFields(endpoint.query, "query parameter");
  const asChecked = (body: unknown): unknown => (checkBody === null ? body : asObject(body, endpoint));
  const input = (frame: RequestFrame, sent: unknown, isRight = false): Input => {
    const read = {
      params: checkParams === null ? NOTHING : checked(checkParams, paramsOf(frame, names), "path variable"),
      query: checkQuery === null ? NOTHING : checked(checkQuery, queryOf(frame), "query parameter"),
      body: checkBody === null || isRight ? sent : checked(checkBody, sent, "field"),
    };
    const isStray = checkQuery === null && frame.head.query !== "" && jsonRpc === undefined;
    if (withoutUnused === null && queryWithoutUnused === null && !isStray) return read;
    const notes = new Set<string>();
    if (isStray) noteStray(queryOf(frame), body, notes);
    const query = queryWithoutUnused === null ? read.query : queryWithoutUnused(read.query, notes);
    const used = withoutUnused === null ? read.body : withoutUnused(read.body, notes);
    return notes.size === 0 ? read : { ...read, query, body: used, warnings: [...notes] };
  };
  const inTurns = async (frame: RequestFrame, sent: Promise<unknown>, turns: Turns): Promise<Input> => {
    const body = asChecked(await sent);
    return input(frame, body, checkBody !== null && (await isRightInTurns(checkBody, body, turns)));
  };
  const validate = (frame: RequestFrame, turns: Turns | null = null): Input | Promise<Input> => {
    if (checkBody === null && !checksBody) return input(frame, (jsonRpc || bytesBody) && rawBody(frame));
    const body = bodyOf(frame, endpoint, turns);
    return body instanceof Promise ? inTurns(frame, body, turns!) : input(frame, asChecked(body));
  };
  return (codes === undefined ? validate : withCodes(validate, codes)) as Validate;
}

/** The endpoint has no query parameters. One that is a field of the body would have been meant to do something. */
function noteStray(query: Readonly<Record<string, string>>, body: TObject | undefined, notes: Set<string>): void {
  for (const name of Object.keys(query)) {
    if (body !== undefined && Object.hasOwn(body.properties ?? {}, name)) {
      const message = `"${name}" is a field of the body. It has no effect as a query parameter.`;
      throw new DbError("invalid_request", message, { field: name, hint: `Send "${name}" in the body.` });
    }
    if (name === "as_of") {
      const message = "This endpoint cannot be asked about the past: as_of has no meaning here.";
      throw new DbError("invalid_request", message, {
        field: name,
        hint: "Documents, searches and vectors can be read as of a moment; the past cannot be written.",
      });
    }
    notes.add(`The query parameter "${name.slice(0, 100)}" is not used: this endpoint has none.`);
  }
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

/** Raw bytes; errors in them are reported in the protocol of the endpoint. */
function rawBody(frame: RequestFrame): Buffer {
  if ((frame.flags & REQUEST_BODY_MSGPACK) !== 0) {
    throw new DbError("unsupported_media_type", "Send application/json.");
  }
  return frame.hasBody ? frame.bodyBytes : Buffer.alloc(0);
}

/**
 * The value, if it is as the schema says, or would be without fields that are null: clients that serialise options
 * which are not set send those. Else throws invalid_request that names the field.
 */
export function checked<T>(check: Check, value: T, what: string): T {
  if (check.Check(value)) return value;
  const rest = withoutNulls(check, value);
  if (rest !== value && check.Check(rest)) return rest;
  throw fieldError(check, rest, what);
}

/** Items of a list that are checked at once. */
const ITEMS_AT_ONCE = 4096;

/**
 * Whether the body is as the schema says, found with turns between the items of its long lists. False: that is not
 * known, so the whole has to be checked.
 */
export async function isRightInTurns(check: Check, body: unknown, turns: Turns): Promise<boolean> {
  if (typeof body !== "object" || body === null) return false;
  const { properties = {} } = check.Type() as { properties?: Record<string, ListSchema> };
  const long = Object.entries(body).filter(
    ([name, value]) => Object.hasOwn(properties, name) && hasManyItems(properties[name]!, value),
  ) as [string, readonly unknown[]][];
  if (long.length === 0) return false;
  // The body with some items of each long list.
  const part: Record<string, unknown> = { ...body };
  for (const [name, list] of long) part[name] = list.slice(0, ITEMS_AT_ONCE);
  for (const [name, list] of long) {
    for (let at = 0; at < list.length; at += ITEMS_AT_ONCE) {
      part[name] = list.slice(at, at + ITEMS_AT_ONCE);
      if (!check.Check(part)) return false;
      if (turns.shouldYield()) await turns.yieldTurn();
    }
  }
  return true;
}

/** A long list whose items are checked one by one, however many others there are. */
function hasManyItems(schema: ListSchema, value: unknown): boolean {
  if (!Array.isArray(value) || value.length <= ITEMS_AT_ONCE) return false;
  const [list, ...others] = (schema.anyOf ?? [schema]).filter(({ type }) => type === "array");
  if (list === undefined || others.length > 0 || list.uniqueItems === true) return false;
  return value.length <= (list.maxItems ?? Number.POSITIVE_INFINITY);
}

/** Removes optional fields that are null although they may not be; returns the value itself if there are none. */
function withoutNulls<T>(check: Check, value: T): T {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { properties = {}, required = [] } = check.Type() as { properties?: TProperties; required?: string[] };
  const isAbsent = ([name, held]: [string, unknown]): boolean =>
    held === null && Object.hasOwn(properties, name) && !required.includes(name) && !isValid(properties[name]!, null);
  const fields = Object.entries(value);
  const kept = fields.filter((field) => !isAbsent(field));
  return kept.length === fields.length ? value : (Object.fromEntries(kept) as T);
}

/** Of more items not all errors are collected: that takes longer than the check. */
const LONG_LIST = 64;

interface ListSchema {
  readonly type?: string;
  readonly items?: TObject;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
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

/**
 * What is wrong in a long list of the value: that it is too long, or its first item that is wrong. Undefined: nothing.
 */
function longListError(
  schema: ListSchema,
  value: unknown,
  what: string,
  path: readonly (string | number)[],
): DbError | undefined {
  if (Array.isArray(value)) {
    const [list, ...others] = (schema.anyOf ?? [schema]).filter(({ type }) => type === "array");
    if (list === undefined || others.length > 0 || value.length <= LONG_LIST) return undefined;
    const { items, maxItems = Number.POSITIVE_INFINITY } = list;
    if (value.length > maxItems) {
      const field = fieldName(path);
      const message = `The ${what} "${field}" must hold at most ${maxItems} items.`;
      return new DbError("invalid_request", message, { field });
    }
    if (items === undefined) return undefined;
    const check = checkOfItems(items);
    const wrong = value.findIndex((item) => !check.Check(item));
    return wrong === -1 ? undefined : fieldError(check, value[wrong], what, [...path, wrong]);
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const error = longListError(property, (value as Readonly<Record<string, unknown>>)[name], what, [...path, name]);
    if (error !== undefined) return error;
  }
  return undefined;
}

/**
 * Told with the field's path and, for an unknown field, the fields there are. `at`: where the value stands in the body.
 */
function fieldError(check: Check, value: unknown, what: string, at: readonly (string | number)[] = []): DbError {
  const inList = longListError(check.Type() as ListSchema, value, what, at);
  if (inList !== undefined) return inList;
  const fault = faultOf(check.Type(), value, check.Errors(value));
  const { kind, names, known, says } = fault;
  const path = [...at, ...fault.path];
  const hint = fault.hint === null ? {} : { hint: fault.hint };
  if (kind === "value") {
    const field = fieldName(path);
    const subject = field === "" ? "The body" : `The ${what} "${field}"`;
    return new DbError("invalid_request", `${subject} ${says}.`, field === "" ? undefined : { field });
  }
  const fields = names.map((name) => fieldName([...path, name]));
  const list = `"${fields.join('", "')}"`;
  const message =
    kind === "missing" ? `Missing ${what} ${list}.` : `Unknown ${what} ${list}. Known: ${known.join(", ") || "none"}.`;
  return new DbError("invalid_request", message, { field: fields[0]!, ...hint });
}

/** Tells two requests with the same Idempotency-Key apart: everything but the credential, SHA-256. */
export function hashRequest(frame: RequestFrame): string {
  const hash = createHash("sha256");
  hash.update(`${frame.code}\u0000${frame.head.query}\u0000${frame.head.params.join("\u0000")}\u0000`);
  hash.update(`${frame.head.branch}\u0000${frame.head.asOf}\u0000`);
  if (frame.hasBody) hash.update(frame.bodyBytes);
  return hash.digest("base64url");
}

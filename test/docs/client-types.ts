/**
 * The types of the client's `call`: of every route what is sent and what is answered, from the declarations of
 * endpoints.
 */
import type { TSchema } from "typebox";
import type { Endpoint } from "../../src/protocol/endpoint.js";
import { UNUSED } from "../../src/protocol/endpoints/schemas.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";

/** Where `make docs` writes them. */
export const CLIENT_TYPES_FILE = "clients/typescript/src/api-types.ts";

/** The keywords of JSON Schema that declarations use. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly [UNUSED]?: string;
}

/** Values of a query and of path variables are texts; numbers and booleans become some. */
function asQuery(schema: Schema): string {
  if (schema.type === "string" && schema.enum === undefined) return "string | number | boolean";
  return typeOf(schema).replace('"true" | "false"', 'boolean | "true" | "false"');
}

const key = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" | ");
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "integer":
    case "number":
      return "number";
    case "array":
      return `readonly (${typeOf(schema.items ?? {})})[]`;
    case "object":
      return objectType(schema, typeOf);
    default:
      return "unknown";
  }
}

function objectType(schema: Schema, ofMember: (member: Schema) => string): string {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema;
  const members = Object.entries(properties)
    .filter(([, member]) => member[UNUSED] === undefined)
    .map(([name, member]) => memberLine(name, ofMember(member), member, required.includes(name)));
  const others = patternProperties === undefined ? undefined : Object.values(patternProperties)[0];
  if (others !== undefined) members.push(`readonly [name: string]: ${typeOf(others)};`);
  else if (additionalProperties === true) members.push("readonly [name: string]: unknown;");
  if (members.length === 0) return additionalProperties === false ? "Record<string, never>" : "Record<string, unknown>";
  return `{ ${members.join(" ")} }`;
}

function memberLine(name: string, type: string, { description }: Schema, isRequired: boolean): string {
  const comment = description === undefined ? "" : `\n/** ${description.replaceAll("*/", "* /")} */\n`;
  return `${comment}readonly ${key(name)}${isRequired ? "" : "?"}: ${type}${isRequired ? "" : " | undefined"};`;
}

function sentType(endpoint: Endpoint): string {
  const members: string[] = [];
  const add = (name: string, schema: TSchema | undefined, ofMember: (member: Schema) => string, mayLack: boolean) => {
    if (schema !== undefined) members.push(`readonly ${name}${mayLack ? "?" : ""}: ${objectType(schema, ofMember)};`);
  };
  add("params", endpoint.params, asQuery, false);
  add("query", endpoint.query, asQuery, ((endpoint.query ?? {}) as Schema).required === undefined);
  add("body", endpoint.body, typeOf, endpoint.bodyOptional === true);
  const [media] = endpoint.streamedBody ?? [];
  if (media !== undefined) members.push("readonly content: Blob | string;", "readonly contentType: string;");
  return members.length === 0 ? "Nothing" : `{ ${members.join(" ")} }`;
}

/** Answers that are streams or no JSON are for `fetch`; sockets are for the client. */
const isCallable = ({ response, status, jsonRpc }: Endpoint): boolean =>
  jsonRpc === undefined && (response !== undefined || status === 204);

export function clientTypes(): string {
  const routes = ENDPOINTS.filter(isCallable).map((endpoint) => {
    const { method, path, summary, response } = endpoint;
    const answer = response === undefined ? "undefined" : typeOf(response);
    return `/** ${summary.replaceAll("*/", "* /")} */
${JSON.stringify(`${method} ${path}`)}: { readonly sent: ${sentType(endpoint)}; readonly answer: ${answer} };`;
  });
  return `/** Every route of the server: what is sent, and what it answers. Written by \`make docs\` from the server's declarations. */

/** A route to which nothing is sent. */
export type Nothing = { readonly body?: Readonly<Record<string, never>> };

/** By method and path; variables of a path stand in braces. */
export interface Api {
${routes.join("\n")}
}
`;
}

/** Options of SQL functions that come as a JSON object (GENERATE, AGENT_RUN). Called by the session's services; no state. */
import type Type from "typebox";
import { Errors } from "typebox/value";
import { sqlError } from "../protocol/errors.js";
import type { Json } from "../values/values.js";

/** The options as `schema` (an object that refuses unknown members) declares them. Throws 22023 that names the member. */
export function readCallOptions<S extends Type.TObject>(fn: string, schema: S, given: Json | null): Type.Static<S> {
  if (given === null) return {} as Type.Static<S>;
  const value = objectOf(fn, given.value);
  const [wrong] = Errors(schema, value);
  if (wrong === undefined) return value as Type.Static<S>;
  const known = Object.keys(schema.properties).join(", ");
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const unknown = isObject ? Object.keys(value).find((name) => !Object.hasOwn(schema.properties, name)) : undefined;
  if (unknown !== undefined) {
    throw sqlError("22023", `${fn}: there is no option "${unknown}"`, { hint: `Options: ${known}.` });
  }
  const place = wrong.instancePath.slice(1).replaceAll("/", ".");
  throw sqlError("22023", `${fn}: ${place === "" ? "the options" : `the option "${place}"`} ${wrong.message}`, {
    hint: `The options are a JSON object of: ${known}.`,
  });
}

/** A parameter may come as a text that reads as JSON. */
function objectOf(fn: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch (error) {
    throw sqlError("22023", `${fn}: the options are not valid JSON: ${(error as Error).message}`);
  }
}

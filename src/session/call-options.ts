/**
 * Reads options of SQL functions that come as a JSON object (GENERATE, AGENT_RUN). Called by the session's services;
 * no state.
 */
import type Type from "typebox";
import { Errors } from "typebox/value";
import { sqlError } from "../protocol/errors.js";
import { jsonFaultOf } from "../protocol/json-fault.js";
import { faultOf, fieldName } from "../protocol/schema-fault.js";
import type { Json } from "../values/values.js";

/**
 * The options as `schema` (an object that refuses unknown members) declares them. Throws 22023 that names the member.
 */
export function readCallOptions<S extends Type.TObject>(fn: string, schema: S, given: Json | null): Type.Static<S> {
  if (given === null) return {} as Type.Static<S>;
  const value = objectOf(fn, given.value);
  const errors = Errors(schema, value);
  if (errors.length === 0) return value as Type.Static<S>;
  const { kind, path, names, known, says, hint } = faultOf(schema, value, errors);
  const options = `Options: ${(known.length > 0 ? known : Object.keys(schema.properties)).join(", ")}.`;
  if (kind === "unknown") {
    const near = hint?.startsWith("Did") ? `${hint} ` : "";
    throw sqlError("22023", `${fn}: there is no option "${fieldName([...path, names[0]!])}"`, { hint: near + options });
  }
  const place = fieldName([...path, ...names.slice(0, 1)]);
  const subject = place === "" ? "the options" : `the option "${place}"`;
  throw sqlError("22023", `${fn}: ${subject} ${says}`, { hint: options });
}

/** A parameter may come as a text that reads as JSON. */
function objectOf(fn: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw sqlError("22023", `${fn}: the options are not valid JSON: ${jsonFaultOf(value)}`);
  }
}

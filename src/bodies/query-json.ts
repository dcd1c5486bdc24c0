/** JSON in the query string of an address. Pure. */
import { DbError } from "../protocol/errors.js";
import { parseJsonBody } from "./parse-body.js";

/** Whole numbers that a double cannot hold are BigInts. Throws invalid_request, with the field. */
export function jsonOfQuery(text: string, field: string): unknown {
  const form = { keepsIntegers: true, what: `The query parameter "${field}"` };
  try {
    return parseJsonBody(Buffer.from(text), form, null);
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    throw new DbError("invalid_request", error.message, { ...error.details, field });
  }
}

/** A statement's. Throws the same, and where they are neither a list nor an object. */
export function parametersOfQuery(text: string): readonly unknown[] | Readonly<Record<string, unknown>> {
  const value = jsonOfQuery(text, "parameters");
  if (typeof value === "object" && value !== null) return value as readonly unknown[];
  throw new DbError("invalid_request", 'The query parameter "parameters" must be a list or an object.', {
    field: "parameters",
    hint: 'For SQL: parameters=[1,"a"]. For Cypher: parameters={"name":"Ann"}.',
  });
}

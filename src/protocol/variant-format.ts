/** Variants as JSON, for answers: integers and floats as int8 and float8 are, temporal values as ISO 8601 text. */
import { sqlError } from "./errors.js";
import type { Value } from "./values.js";

export function variantToJson(_value: Value): string {
  throw sqlError("0A000", "variants cannot be printed yet");
}

/** CREATE SEQUENCE, ALTER SEQUENCE and the options of identity columns. */
import { PLAIN_SEQUENCE, type SequenceNumber, type SequenceOptions, sequenceNumber } from "../../catalog/sequence.js";
import { sqlError } from "../../protocol/errors.js";
import { typeFromName } from "../../query/expr/type-spellings.js";
import { INT2, INT4, INT8 } from "../../values/values.js";
import type { OptionNode } from "../parse/ast-definitions.js";
import { withPosition } from "./coerce.js";

/**
 * Options that say something about the numbers; OWNED BY and SEQUENCE NAME are the statement's. Throws 42601, 22023.
 */
export function bindSequenceOptions(options: readonly OptionNode[]): SequenceOptions {
  const found: { -readonly [K in keyof SequenceOptions]: SequenceOptions[K] } = { ...PLAIN_SEQUENCE };
  const seen = new Set<string>();
  for (const option of options) {
    const { name, value, position } = option;
    if (seen.has(name)) throw sqlError("42601", "conflicting or redundant options", { position });
    seen.add(name);
    switch (name) {
      case "as": {
        const type = withPosition(position, () => typeFromName(String(value)));
        if (type !== INT2 && type !== INT4 && type !== INT8) {
          throw sqlError("22023", "sequence type must be smallint, integer, or bigint", { position });
        }
        found.type = type;
        break;
      }
      case "start":
      case "increment":
      case "cache":
        found[name] = numberOf(option);
        break;
      case "minvalue":
        found.min = value === true ? "none" : numberOf(option);
        break;
      case "maxvalue":
        found.max = value === true ? "none" : numberOf(option);
        break;
      case "restart":
        found.restart = value === true ? "start" : numberOf(option);
        break;
      case "cycle":
        found.cycle = value === true;
        break;
    }
  }
  return found;
}

/** Throws 22003 beyond 64 bits. */
function numberOf({ value, position }: OptionNode): SequenceNumber {
  if (!/^-?\d+$/.test(String(value))) {
    throw sqlError("22P02", `invalid input syntax for type bigint: "${value}"`, { position });
  }
  const number = BigInt(String(value));
  if (number === BigInt.asIntN(64, number)) return sequenceNumber(number);
  throw sqlError("22003", `value "${value}" is out of range for type bigint`, { position });
}

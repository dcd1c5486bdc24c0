/** Constants as SQL text with their types, for conditions that definitions are turned into. */

import { castName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";

/** `text`: the value in its type's text form. */
export function writeConstant(type: SqlType, text: string): string {
  if (/^(?:int2|int4|int8|oid)$/.test(type.name)) return text.startsWith("-") ? `(${text})` : text;
  if (type.name === "numeric" && /^[\d.]+$/.test(text)) return text;
  if (type.name === "bool") return text.startsWith("t") ? "true" : "false";
  return `'${text.replaceAll("'", "''")}'::${castName(type)}`;
}

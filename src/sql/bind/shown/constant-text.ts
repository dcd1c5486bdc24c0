/** Constants as PostgreSQL prints them: with their type, unless their spelling tells it. */

import { baseType } from "../../../query/expr/types.js";
import { fromText, toText } from "../../../values/text-format.js";
import type { SqlType, Value } from "../../../values/values.js";
import { NotPrinted } from "./print-context.js";

/** `always`: with its type in any case; `never`: a cast that stands behind says it. */
export type Label = "usual" | "always" | "never";

export interface ConstantNames {
  readonly timeZone: string;
  type(type: SqlType): string;
}

export function constantText(type: SqlType, value: Value, label: Label, names: ConstantNames): string {
  if (value === null) return label === "never" ? "NULL" : `NULL::${names.type(type)}`;
  const output = toText(type, value, names.timeZone);
  const text = type.name === "bool" ? SPELLED[output]! : output;
  const isPlain = isEvident(type, text);
  const written = isPlain ? text : quoteLiteral(text);
  if (label === "never" || (label === "usual" && isPlain && type.modifier === null)) return written;
  return `${written}::${names.type(type)}`;
}

/** A backslash stands for itself, as standard_conforming_strings has it. */
const quoteLiteral = (text: string) => `'${text.replaceAll("'", "''")}'`;

const SPELLED: Readonly<Record<string, string>> = { t: "true", f: "false" };

/** Numbers that are read as the type that they are of, and booleans. */
function isEvident({ name, user }: SqlType, text: string): boolean {
  if (user !== undefined) return false;
  if (name === "bool") return true;
  if (name === "int4") return !text.startsWith("-");
  return name === "numeric" && /^\d/.test(text) && /[eE.]/.test(text);
}

/** A string in quotes as a constant of a type. */
export function literalText(text: string, type: SqlType, label: Label, names: ConstantNames): string {
  if (type.name === "unknown") return quoteLiteral(text);
  const base = baseType(type);
  if (base !== type && type.user === undefined && type.modifier !== null) {
    throw new NotPrinted("a constant with a modifier");
  }
  // An OID's name is looked up.
  if (base.typeName !== undefined || base.name === "oid") return labelled(quoteLiteral(text), type, label, names);
  const value = fromText(base, text);
  return constantText(base, value, label, names);
}

function labelled(text: string, type: SqlType, label: Label, names: ConstantNames): string {
  return label === "never" ? text : `${text}::${names.type(type)}`;
}

/** Functions of enum types (chapter 9.10): their arguments only say which type is meant, and may be NULL. */
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, type SqlType, type Value } from "../../../values/values.js";
import { baseType } from "../types.js";
import { type FunctionFamily, family, fn } from "./define.js";

function enumFamily(
  name: string,
  arity: number,
  returns: (type: SqlType) => SqlType,
  answer: (labels: readonly string[], ...values: (string | null)[]) => Value,
): FunctionFamily {
  const form = `(${Array(arity).fill("anyenum").join(", ")}) → ${returns === same ? "anyenum" : "anyarray"}`;
  return family(name, form, (types) => {
    const known = types.map(baseType).find((type) => type.name === "enum");
    if (types.length !== arity || known === undefined) return null;
    if (types.some((type) => type.name !== "unknown" && baseType(type) !== known)) return null;
    const labels = known.user!.labels.map(({ label }) => label);
    const args = types.map(() => known);
    return fn(name, args, returns(known), (...values: (string | null)[]) => answer(labels, ...values), {
      strict: false,
    });
  });
}

const same = (type: SqlType) => type;

/** From one label to another; NULL leaves that end open. */
function range(labels: readonly string[], from: string | null, to: string | null): Value {
  const first = from === null ? 0 : labels.indexOf(from);
  const last = to === null ? labels.length : labels.indexOf(to) + 1;
  return sqlArray(labels.slice(first, Math.max(first, last)));
}

export const ENUM_FAMILIES: readonly FunctionFamily[] = [
  enumFamily("enum_first", 1, same, (labels) => labels[0] ?? null),
  enumFamily("enum_last", 1, same, (labels) => labels.at(-1) ?? null),
  enumFamily("enum_range", 1, arrayOf, (labels) => sqlArray(labels)),
  enumFamily("enum_range", 2, arrayOf, (labels, from, to) => range(labels, from ?? null, to ?? null)),
];

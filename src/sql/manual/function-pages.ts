/** Pages of functions, operators and types, generated from the registries that the binder resolves names in. */

import { CHAPTERS, type Chapter, REGISTERED_FUNCTIONS } from "../../query/expr/functions/registry.js";
import { TABLE_FUNCTION_FAMILIES, TABLE_FUNCTIONS } from "../../query/expr/functions/table-registry.js";
import { spellingsOf } from "../../query/expr/type-spellings.js";
import { builtInTypes, displayName } from "../../query/expr/types.js";
import type { SqlType } from "../../values/values.js";
import { SEQUENCE_FUNCTIONS } from "../bind/sequence-functions.js";
import { SYSTEM_FUNCTIONS } from "../bind/system/system-functions.js";
import type { ManualPage } from "./page.js";

interface Overload {
  readonly name: string;
  readonly args: readonly SqlType[];
  readonly variadic?: SqlType;
  readonly returns: SqlType;
  readonly operator?: string;
}

/** A call, or a use of an operator, with its types. */
function form({ name, args, variadic, returns, operator }: Overload): string {
  const types = args.map(displayName);
  const result = displayName(returns);
  if (operator !== undefined && args.length > 0) {
    return types.length === 1
      ? `${operator} ${types[0]} → ${result}`
      : `${types[0]} ${operator} ${types[1]} → ${result}`;
  }
  if (variadic !== undefined) types.push(`VARIADIC ${displayName(variadic)}`);
  return `${name}(${types.join(", ")}) → ${result}`;
}

type Entry = { readonly name: string } & ({ readonly form: string } | Omit<Overload, "name">);

/** One page per name; names of the syntax's own constructs ("is json") have no page. */
function pages(title: string, kind: ManualPage["kind"], entries: readonly Entry[]): ManualPage[] {
  const forms = new Map<string, Set<string>>();
  for (const entry of entries) {
    if (entry.name.includes(" ")) continue;
    const text = "form" in entry ? familyForm(entry.name, entry.form, kind) : form(entry);
    forms.set(entry.name, (forms.get(entry.name) ?? new Set()).add(text));
  }
  return [...forms].map(([name, texts]) => ({
    title: name,
    kind,
    syntax: [...texts].join("\n"),
    description: title,
    example: "",
  }));
}

/** "(a, b) → c" of a family, written as a call or as a use of an operator. */
function familyForm(name: string, form: string, kind: ManualPage["kind"]): string {
  const operands = kind === "operator" ? /^\((\w+), (\w+)\) → (.*)$/.exec(form) : null;
  return operands === null ? name + form : `${operands[1]} ${name} ${operands[2]} → ${operands[3]}`;
}

function chapterPages(chapter: Chapter): ManualPage[] {
  const { title } = chapter;
  return [
    ...pages(title, "function", [...(chapter.functions ?? []), ...(chapter.families ?? [])]),
    ...pages(title, "operator", [...(chapter.operators ?? []), ...(chapter.operatorFamilies ?? [])]),
    ...pages(title, "aggregate", [...(chapter.aggregates ?? []), ...(chapter.aggregateFamilies ?? [])]),
    ...pages(title, "window function", [...(chapter.windowFunctions ?? []), ...(chapter.windowFamilies ?? [])]),
  ];
}

/** Functions that return rows; their registry may still grow while the process starts. */
function setPages(): ManualPage[] {
  const rows = [...TABLE_FUNCTIONS.values()].flat().map(({ name, args, returns }) => ({
    name,
    form: `(${args.map(displayName).join(", ")}) → setof ${returns.fields?.map((field) => field.name).join(", ") ?? displayName(returns)}`,
  }));
  return pages("Functions that return rows", "function", [...rows, ...[...TABLE_FUNCTION_FAMILIES.values()].flat()]);
}

function typePages(): ManualPage[] {
  return builtInTypes()
    .filter((type) => type.element === null && type.name !== "unknown")
    .map((type) => ({
      title: displayName(type),
      kind: "type",
      syntax: [displayName(type), ...spellingsOf(type.name)]
        .filter((text, i, all) => all.indexOf(text) === i)
        .join(" | "),
      description: "Data type. Add [] for an array of it. CAST(x AS type) and x::type convert.",
      example: "",
    }));
}

export function functionPages(): ManualPage[] {
  return [
    ...CHAPTERS.flatMap(chapterPages),
    ...pages("Functions of models and memories", "function", REGISTERED_FUNCTIONS),
    ...setPages(),
    ...pages("Sequence functions", "function", SEQUENCE_FUNCTIONS),
    ...pages("System information functions", "function", SYSTEM_FUNCTIONS),
    ...typePages(),
  ];
}

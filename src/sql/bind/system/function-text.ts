/** What pg_get_functiondef and its kin print of functions. */
import { type FunctionDef, keptBody, type RoutineParameter, type RoutineType } from "../../../catalog/function.js";
import { quoteIdentifier } from "../../../query/expr/print.js";
import type { Value } from "../../../values/values.js";
import { statementsOf } from "../sql-body.js";
import { functionFacts } from "./builtin-facts.js";
import { catalogIndex } from "./catalog-index.js";
import { namedType, shownType, typeText } from "./object-names.js";
import type { SystemView } from "./system-view.js";
import { keptText } from "./view-text.js";

function nameOf(type: RoutineType, view: SystemView): string {
  const { catalog } = view;
  if (type.relationId !== undefined) {
    const { relationId } = type;
    const relation = catalog.tableById(relationId) ?? catalog.views().find(({ id }) => id === relationId);
    return relation === undefined || relation === null ? "record" : namedType(view, relation);
  }
  return type.polymorphic ?? type.name ?? shownType(view, type.type);
}

const functionOf = ({ catalog }: SystemView, oid: number): FunctionDef | null =>
  catalogIndex(catalog).functions.get(oid) ?? null;

const WRITTEN = { in: "", out: "OUT ", inout: "INOUT ", variadic: "VARIADIC ", table: "" } as const;

function parameterText(
  { name, mode, type, defaultSql }: RoutineParameter,
  defaults: boolean,
  view: SystemView,
): string {
  const value = defaults && defaultSql !== null ? ` DEFAULT ${defaultSql}` : "";
  return `${WRITTEN[mode]}${name === null ? "" : `${quoteIdentifier(name)} `}${nameOf(type, view)}${value}`;
}

export function functionArguments(view: SystemView, oid: number): Value {
  const own = functionOf(view, oid);
  if (own === null) return builtInArguments(view, oid);
  return parametersText(own, true, view);
}

export function functionIdentity(view: SystemView, oid: number): Value {
  const own = functionOf(view, oid);
  if (own === null) return builtInArguments(view, oid);
  return parametersText(own, false, view);
}

function parametersText({ kind, parameters }: FunctionDef, defaults: boolean, view: SystemView): string {
  const shown = parameters.filter(({ mode }) => mode !== "table");
  const mode = ({ mode }: RoutineParameter) => (kind === "procedure" && mode === "in" ? "IN " : "");
  return shown.map((parameter) => `${mode(parameter)}${parameterText(parameter, defaults, view)}`).join(", ");
}

const BUILT_IN_MODES: Readonly<Record<string, string>> = { i: "", o: "OUT ", b: "INOUT ", v: "VARIADIC ", t: "" };

function builtInArguments(view: SystemView, oid: number): Value {
  const facts = functionFacts().get(oid);
  if (facts === undefined) return null;
  const types = facts.all?.types ?? facts.args;
  const texts = types.flatMap((type, i) => {
    const mode = facts.all?.modes[i] ?? (facts.variadic > 0 && i === types.length - 1 ? "v" : "i");
    if (mode === "t") return [];
    const name = facts.all?.names[i];
    return [`${BUILT_IN_MODES[mode]}${name ? `${quoteIdentifier(name)} ` : ""}${typeText(view, type, null)}`];
  });
  return texts.join(", ");
}

export function functionResult(view: SystemView, oid: number): Value {
  const fn = functionOf(view, oid);
  if (fn === null) {
    const facts = functionFacts().get(oid);
    return facts === undefined ? null : `${facts.set ? "SETOF " : ""}${typeText(view, facts.result, null)}`;
  }
  if (fn.kind === "procedure") return null;
  const table = fn.parameters.filter(({ mode }) => mode === "table");
  if (table.length > 0) return `TABLE(${table.map((column) => parameterText(column, false, view)).join(", ")})`;
  return `${fn.returnsSet ? "SETOF " : ""}${nameOf(fn.returns, view)}`;
}

/** The statement that makes the function. */
export function functionDefinition(view: SystemView, oid: number): Value {
  const fn = functionOf(view, oid);
  if (fn === null) return null;
  const what = fn.kind === "procedure" ? "PROCEDURE" : "FUNCTION";
  const lines = [
    `CREATE OR REPLACE ${what} ${quoteIdentifier(fn.schema)}.${quoteIdentifier(fn.name)}(${functionArguments(view, oid)})`,
  ];
  const result = functionResult(view, oid);
  if (result !== null) lines.push(` RETURNS ${result}`);
  lines.push(` LANGUAGE ${fn.language}`);
  const traits = [
    ...(fn.volatility === "volatile" ? [] : [fn.volatility.toUpperCase()]),
    ...(fn.strict ? ["STRICT"] : []),
    ...(fn.securityDefiner ? ["SECURITY DEFINER"] : []),
    ...(fn.leakproof ? ["LEAKPROOF"] : []),
  ];
  if (traits.length > 0) lines.push(` ${traits.join(" ")}`);
  for (const [name, value] of fn.settings) lines.push(` SET ${name} TO '${value.replaceAll("'", "''")}'`);
  if (fn.standard) return `${[...lines, standardBodyShown(view, fn)].join("\n")}\n`;
  const mark = quoteMark(fn);
  return `${[...lines, `AS ${mark}${fn.body}${mark}`].join("\n")}\n`;
}

/** A body that was written as statements. */
export function standardBodyShown(view: SystemView, fn: FunctionDef): string {
  const kept = keptBody(fn);
  return kept === null ? fn.body : keptText(view, kept, statementsOf(fn));
}

/** A dollar quote that the body does not hold. */
function quoteMark({ kind, body }: FunctionDef): string {
  let tag: string = kind;
  while (body.includes(`$${tag}$`)) tag += "x";
  return `$${tag}$`;
}

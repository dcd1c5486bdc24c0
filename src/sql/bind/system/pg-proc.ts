/** pg_proc, with the functions that statements made, and what pg_get_functiondef and its kin print of them. */
import {
  type FunctionDef,
  inputsOf,
  outputsOf,
  type RoutineParameter,
  type RoutineType,
} from "../../../catalog/function.js";
import { quotedIdentifier } from "../../../catalog/relation-names.js";
import { displayName, idOfOid, oidOfId } from "../../../query/expr/types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, FLOAT4, INT2, NAME, OID, RECORD, TEXT, type Value } from "../../../values/values.js";
import { OWNER_OID, schemaOid, typeOid } from "./relation-facts.js";
import { type SystemView, systemRelation } from "./system-view.js";

const LANGUAGES = { internal: 12, sql: 14, plpgsql: 13_500 } as const;
const KINDS = { function: "f", procedure: "p", aggregate: "a" } as const;
const MODES = { in: "i", out: "o", inout: "b", variadic: "v", table: "t" } as const;

function nameOf(type: RoutineType, { catalog }: Pick<SystemView, "catalog">): string {
  if (type.relationId !== undefined) {
    const { relationId } = type;
    const relation = catalog.tableById(relationId) ?? catalog.views().find(({ id }) => id === relationId);
    return relation === undefined || relation === null ? "record" : quotedIdentifier(relation.name);
  }
  return type.polymorphic ?? type.name ?? displayName(type.type);
}

const oidOf = (type: RoutineType): number =>
  type.relationId === undefined
    ? typeOid(type.polymorphic === undefined ? type.type : RECORD)
    : oidOfId(type.relationId, 2);

export const PG_PROC = systemRelation(
  "pg_catalog",
  "pg_proc",
  {
    oid: OID,
    proname: NAME,
    pronamespace: OID,
    proowner: OID,
    prolang: OID,
    procost: FLOAT4,
    prorows: FLOAT4,
    provariadic: OID,
    prokind: TEXT,
    prosecdef: BOOL,
    proleakproof: BOOL,
    proisstrict: BOOL,
    proretset: BOOL,
    provolatile: TEXT,
    proparallel: TEXT,
    pronargs: INT2,
    pronargdefaults: INT2,
    prorettype: OID,
    proargtypes: arrayOf(OID),
    proallargtypes: arrayOf(OID),
    proargmodes: arrayOf(TEXT),
    proargnames: arrayOf(TEXT),
    prosrc: TEXT,
    proconfig: arrayOf(TEXT),
  },
  function* (view) {
    for (const fn of view.catalog.functions()) {
      const inputs = inputsOf(fn);
      const variadic = inputs.find(({ mode }) => mode === "variadic");
      const list = (values: readonly Value[]) => sqlArray(values);
      const named = fn.parameters.some(({ name }) => name !== null);
      yield {
        oid: oidOfId(fn.id),
        proname: fn.name,
        pronamespace: schemaOid(fn.schema, view),
        proowner: OWNER_OID,
        prolang: LANGUAGES[fn.language],
        procost: fn.cost ?? 100,
        prorows: fn.returnsSet ? (fn.rows ?? 1000) : 0,
        provariadic: variadic === undefined ? 0 : typeOid(variadic.type.type.element ?? RECORD),
        prokind: KINDS[fn.kind],
        prosecdef: fn.securityDefiner ?? false,
        proleakproof: fn.leakproof ?? false,
        proisstrict: fn.strict,
        proretset: fn.returnsSet,
        provolatile: fn.volatility[0]!,
        proparallel: (fn.parallel ?? "unsafe")[0]!,
        pronargs: inputs.length,
        pronargdefaults: inputs.filter(({ defaultSql }) => defaultSql !== null).length,
        prorettype: oidOf(fn.returns),
        proargtypes: list(inputs.map(({ type }) => oidOf(type))),
        ...(outputsOf(fn).length > 0 && {
          proallargtypes: list(fn.parameters.map(({ type }) => oidOf(type))),
          proargmodes: list(fn.parameters.map(({ mode }) => MODES[mode])),
        }),
        ...(named && { proargnames: list(fn.parameters.map(({ name }) => name ?? "")) }),
        prosrc: fn.standard ? "" : fn.body,
        ...(fn.settings.length > 0 && { proconfig: list(fn.settings.map(([name, value]) => `${name}=${value}`)) }),
      };
    }
  },
);

function functionOf(view: SystemView, oid: number): FunctionDef | null {
  const id = idOfOid(oid)?.id;
  return view.catalog.functions().find((fn) => fn.id === id) ?? null;
}

const WRITTEN = { in: "", out: "OUT ", inout: "INOUT ", variadic: "VARIADIC ", table: "" } as const;

function parameterText(
  { name, mode, type, defaultSql }: RoutineParameter,
  defaults: boolean,
  view: SystemView,
): string {
  const value = defaults && defaultSql !== null ? ` DEFAULT ${defaultSql}` : "";
  return `${WRITTEN[mode]}${name === null ? "" : `${quotedIdentifier(name)} `}${nameOf(type, view)}${value}`;
}

export function functionArguments(view: SystemView, oid: number): Value {
  const shown = functionOf(view, oid)?.parameters.filter(({ mode }) => mode !== "table");
  return shown?.map((parameter) => parameterText(parameter, true, view)).join(", ") ?? null;
}

export function functionIdentity(view: SystemView, oid: number): Value {
  const shown = functionOf(view, oid)?.parameters.filter(({ mode }) => mode !== "table" && mode !== "out");
  return shown?.map((parameter) => parameterText(parameter, false, view)).join(", ") ?? null;
}

export function functionResult(view: SystemView, oid: number): Value {
  const fn = functionOf(view, oid);
  if (fn === null || fn.kind === "procedure") return null;
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
    `CREATE OR REPLACE ${what} ${quotedIdentifier(fn.schema)}.${quotedIdentifier(fn.name)}(${functionArguments(view, oid)})`,
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
  if (fn.standard) return `${[...lines, fn.body].join("\n")}\n`;
  const mark = quoteMark(fn);
  return `${[...lines, `AS ${mark}${fn.body}${mark}`].join("\n")}\n`;
}

/** A dollar quote that the body does not hold. */
function quoteMark({ kind, body }: FunctionDef): string {
  let tag: string = kind;
  while (body.includes(`$${tag}$`)) tag += "x";
  return `$${tag}$`;
}

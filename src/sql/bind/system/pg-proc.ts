/** pg_proc: the built-in functions, and those that statements made. */
import { inputsOf, outputsOf } from "../../../catalog/function.js";
import { oidOfId } from "../../../query/expr/types.js";
import { catalogVector } from "../../../values/catalog-types.js";
import { sqlArray } from "../../../values/text-format-array.js";
import { RECORD, type Value } from "../../../values/values.js";
import { builtInFunctionRows } from "./builtin-functions.js";
import { routineTypeOid } from "./object-names.js";
import { LANGUAGE_OIDS, OWNER_OID, schemaOid, typeOid } from "./relation-facts.js";
import { definedRelation } from "./system-view.js";

const KINDS = { function: "f", procedure: "p", aggregate: "a" } as const;
const MODES = { in: "i", out: "o", inout: "b", variadic: "v", table: "t" } as const;

export const PG_PROC = definedRelation(
  "pg_catalog",
  "pg_proc",
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
        prolang: LANGUAGE_OIDS[fn.language],
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
        prorettype: routineTypeOid(fn.returns),
        proargtypes: catalogVector(inputs.map(({ type }) => routineTypeOid(type))),
        ...(outputsOf(fn).length > 0 && {
          proallargtypes: list(fn.parameters.map(({ type }) => routineTypeOid(type))),
          proargmodes: list(fn.parameters.map(({ mode }) => MODES[mode])),
        }),
        ...(named && { proargnames: list(fn.parameters.map(({ name }) => name ?? "")) }),
        prosrc: fn.standard ? "" : fn.body,
        ...(fn.settings.length > 0 && { proconfig: list(fn.settings.map(([name, value]) => `${name}=${value}`)) }),
      };
    }
  },
  builtInFunctionRows,
);

/** pg_range: the built-in ranges, and those of CREATE TYPE … AS RANGE. */
import type { CatalogView } from "../../../catalog/catalog-view.js";
import { oidOfId, pgOidOf } from "../../../query/expr/types.js";
import { functionFactsByName, typeFacts } from "./builtin-facts.js";
import { operatorClassOf } from "./builtin-operators.js";
import { collationOid, knownTypeOids } from "./builtin-types.js";
import { RANGE_FACTS } from "./data/types.js";
import { linesOf } from "./shapes.js";
import { definedRelation, type SystemRow } from "./system-view.js";

/** Of the function of two values of the subtype; 0: it has been dropped. */
function differenceOid(name: string, subtype: number, catalog: CatalogView): number {
  const builtIn = functionFactsByName().get(name);
  const facts = builtIn?.find(({ args }) => args.length === 2 && args.every((arg) => arg === subtype));
  const own = catalog.functions().find((fn) => fn.name === name);
  return facts?.oid ?? (own === undefined ? 0 : oidOfId(own.id));
}

export const PG_RANGE = definedRelation(
  "pg_catalog",
  "pg_range",
  function* ({ catalog }) {
    for (const type of catalog.types()) {
      if (type.kind !== "range") continue;
      const { subtype, multirange, collation, subtypeDiff } = type;
      const rngsubtype = pgOidOf(subtype);
      yield {
        rngtypid: oidOfId(type.id),
        rngsubtype,
        rngmultitypid: oidOfId(multirange.id),
        rngcollation: collation === undefined ? typeFacts().get(rngsubtype)!.collation : collationOid(collation),
        rngsubopc: operatorClassOf(rngsubtype),
        rngcanonical: 0,
        rngsubdiff: subtypeDiff === undefined ? 0 : differenceOid(subtypeDiff, rngsubtype, catalog),
      };
    }
  },
  function* () {
    for (const line of linesOf(RANGE_FACTS)) {
      const [rngtypid, rngsubtype, rngmultitypid, rngcollation, rngsubopc, rngcanonical, rngsubdiff] = line
        .split("|")
        .map(Number);
      if (!knownTypeOids().has(rngtypid!)) continue;
      yield { rngtypid, rngsubtype, rngmultitypid, rngcollation, rngsubopc, rngcanonical, rngsubdiff } as SystemRow;
    }
  },
);

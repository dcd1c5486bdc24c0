/** pg_indexam_has_property, pg_index_has_property and pg_index_column_has_property. */
import type { ScalarFunction } from "../../../query/expr/expr.js";
import { REGCLASS } from "../../../values/catalog-types.js";
import { BOOL, INT4, OID, TEXT, type Value } from "../../../values/values.js";
import { catalogIndex } from "./catalog-index.js";
import { systemFunction } from "./define-function.js";
import { BTREE_OID, SEARCH_METHOD_OIDS } from "./relation-facts.js";
import type { SystemView } from "./system-view.js";

const isMethod = (oid: number) => oid === BTREE_OID || Object.values<number>(SEARCH_METHOD_OIDS).includes(oid);

function methodProperty(oid: number, property: string): Value {
  if (!isMethod(oid)) return null;
  const isTree = oid === BTREE_OID;
  switch (property) {
    case "can_order":
    case "can_unique":
    case "can_exclude":
    case "can_include":
      return isTree;
    case "can_multi_col":
      return oid !== SEARCH_METHOD_OIDS.hnsw;
    default:
      return null;
  }
}

function indexProperty({ catalog }: SystemView, oid: number, property: string): Value {
  const index = catalogIndex(catalog).indexes.get(oid);
  if (index === undefined) return null;
  const isTree = index.method === BTREE_OID;
  switch (property) {
    case "clusterable":
      return false;
    case "index_scan":
      return true;
    case "backward_scan":
      return isTree;
    case "bitmap_scan":
      return false;
    default:
      return null;
  }
}

const DESCENDING = 1;
const NULLS_FIRST = 2;

function columnProperty({ catalog }: SystemView, oid: number, column: number, property: string): Value {
  const index = catalogIndex(catalog).indexes.get(oid);
  if (index === undefined || column < 1 || column > index.columnIds.length + index.included.length) return null;
  const options = index.options[column - 1];
  const isKey = options !== undefined && index.method === BTREE_OID;
  switch (property) {
    case "asc":
      return isKey ? (options & DESCENDING) === 0 : null;
    case "desc":
      return isKey ? (options & DESCENDING) !== 0 : null;
    case "nulls_first":
      return isKey ? (options & NULLS_FIRST) !== 0 : null;
    case "nulls_last":
      return isKey ? (options & NULLS_FIRST) === 0 : null;
    case "orderable":
      return isKey;
    case "distance_orderable":
      return index.method === SEARCH_METHOD_OIDS.hnsw;
    case "returnable":
    case "search_array":
    case "search_nulls":
      return isKey;
    default:
      return null;
  }
}

export const INDEX_PROPERTIES: readonly ScalarFunction[] = [
  systemFunction("pg_indexam_has_property", [OID, TEXT], BOOL, (_view, oid: number, property: string) =>
    methodProperty(oid, property),
  ),
  systemFunction("pg_index_has_property", [REGCLASS, TEXT], BOOL, indexProperty),
  systemFunction("pg_index_column_has_property", [REGCLASS, INT4, TEXT], BOOL, columnProperty),
];

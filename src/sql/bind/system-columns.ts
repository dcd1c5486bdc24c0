/**
 * The system columns of a table's rows: no part of `*`, found by their names (scope.ts). PostgreSQL tells by them where
 * and by which transactions a row was written. Here
 *
 *   ctid               is made of the row's storage key (values/row-place.ts)
 *   xmin               is made of the row's values, so it changes when they do
 *   xmax               is 0; in RETURNING of INSERT … ON CONFLICT DO UPDATE something else if the row was there
 *   cmin, cmax         are 0
 *
 * Only a statement that names ctid reads storage keys: who asks for it where the rows come without them gets
 * `RowKeyNeeded`, and the statement is bound again with keys of that table's rows (bind-statement.ts).
 */
import { permissionDenied } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ColumnId, EvalContext, Expr, ScalarFunction } from "../../query/expr/expr.js";
import { contextFn, fn } from "../../query/expr/functions/define.js";
import { columnsOf } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { keyHash, placeOfKey, versionOf } from "../../values/row-place.js";
import { toText } from "../../values/text-format.js";
import { BOOL, BYTEA, type SqlType, typeOf, type Value } from "../../values/values.js";
import type { Binding } from "./binding.js";
import type { BindEnvironment } from "./bound-statement.js";
import { constant } from "./coerce.js";
import { caseOf } from "./logic.js";
import { checkedRights } from "./relation-rights.js";
import type { SystemColumns } from "./scope.js";

/** Thrown while a statement is bound. */
export class RowKeyNeeded {
  constructor(readonly tableId: number) {}
}

const TID = typeOf("tid");
const XID = typeOf("xid");

const PLACE: ScalarFunction = fn("ctid", [BYTEA], TID, (key: Uint8Array) => placeOfKey(key));

const NONE = constant(XID, "0");
/** FrozenTransactionId of PostgreSQL: a transaction that is no longer of interest. */
const SOME = constant(XID, "2");
const NAMES: ReadonlySet<string> = new Set(["ctid", "xmin", "xmax", "cmin", "cmax"]);

interface SystemFacts {
  readonly table: TableDef;
  /** What the relation is called, for messages. */
  readonly name: string;
  readonly columns: readonly Expr[];
  readonly env: BindEnvironment;
  /** null: the rows come without their storage keys. */
  rowKey(): ColumnId | null;
  /** A column that tells whether the row was there before; null: xmax is 0. */
  wasThere?(): Expr;
}

export function systemColumns({ table, name, columns, env, rowKey, wasThere }: SystemFacts): SystemColumns {
  let key: Expr | null = null;
  const place = (): Expr => {
    const may = checkedRights(env)?.columns(table.id, "r") ?? "all";
    if (may !== "all") throw permissionDenied("table", table.name);
    const id = rowKey();
    if (id === null) throw new RowKeyNeeded(table.id);
    key = { kind: "column", id, type: BYTEA, name: `${name}.ctid` };
    return Object.freeze({ kind: "call", type: TID, fn: PLACE, args: [key] });
  };
  return {
    get key() {
      return key;
    },
    has: (column) => NAMES.has(column),
    get(column) {
      switch (column) {
        case "ctid":
          return place();
        case "xmin":
          return versionExpr(columns);
        case "xmax":
          return wasThere === undefined ? NONE : caseOf(XID, [[wasThere(), SOME]], NONE);
        default:
          return NAMES.has(column) ? NONE : undefined;
      }
    },
  };
}

/** Of the row that a statement stores, for RETURNING; none where it names a view. */
export function storedColumns(
  { table, face, instead }: { readonly table: TableDef; readonly face: TableDef; readonly instead?: unknown },
  name: string,
  row: readonly OutputColumn[],
  rowKey: () => ColumnId | null,
  { env }: Binding,
  wasThere?: () => Expr,
): { readonly hidden?: SystemColumns } {
  if (face !== table || instead !== undefined) return {};
  const columns = row.map(columnExpr);
  return { hidden: systemColumns({ table, name, columns, env, rowKey, ...(wasThere && { wasThere }) }) };
}

/** Of a row that is not there. */
export const NO_SYSTEM_COLUMNS: SystemColumns = new Map(
  [...NAMES].map((name) => [name, constant(name === "ctid" ? TID : XID, null)]),
);

/** Where the place of the row is not known while the statement runs. */
export function noPlace(row: string): never {
  throw sqlError("0A000", `ctid of ${row} is not supported`, { hint: "Name the columns of its primary key." });
}

function versionExpr(columns: readonly Expr[]): Expr {
  const types = columns.map(({ type }) => type);
  const version: ScalarFunction = Object.freeze({
    name: "xmin",
    args: types,
    returns: XID,
    volatility: "immutable",
    strict: false,
    apply: (...values: Value[]) => versionOf(textsOf(types, values)),
  });
  return Object.freeze({ kind: "call", type: XID, fn: version, args: columns });
}

function* textsOf(types: readonly SqlType[], values: readonly Value[]): Iterable<string | null> {
  for (let i = 0; i < types.length; i++) yield values[i] === null ? null : toText(types[i]!, values[i]!);
}

/** Keys that no two rows of the table share the place of. */
function tellsAll({ primaryKey, columns, children = [], parents = [] }: TableDef): boolean {
  if (children.length > 0 || parents.length > 0) return false;
  if (primaryKey === null) return true;
  const [id] = primaryKey;
  const type = columns.find((column) => column.id === id)?.type.name;
  return primaryKey.length === 1 && (type === "int2" || type === "int4");
}

/**
 * Of UPDATE and DELETE whose condition names ctid: a further condition of the rows that they change, which throws when
 * two of them have the same place, because then one of them may not be meant. null: that cannot be.
 */
export function oneRowPerPlace(table: TableDef, where: Expr | null, rowKey: ColumnId): Expr | null {
  if (where === null || tellsAll(table) || !columnsOf(where).has(rowKey)) return null;
  const key: Expr = { kind: "column", id: rowKey, type: BYTEA, name: "ctid" };
  return { kind: "call", type: BOOL, fn: ONE_ROW, args: [key] };
}

const PLACES_MAX = 2_000_000;

/** By run of a statement: the key of each place, as a hash. */
const keysByPlace = new WeakMap<EvalContext, Map<string, number>>();

const ONE_ROW: ScalarFunction = contextFn(
  "one_row_per_ctid",
  [BYTEA],
  BOOL,
  (context, key: Uint8Array) => {
    let keys = keysByPlace.get(context);
    if (keys === undefined) {
      keys = new Map();
      keysByPlace.set(context, keys);
    }
    const place = placeOfKey(key);
    const hash = keyHash(key);
    const known = keys.get(place);
    if (known !== undefined && known !== hash) throw refused(`two of the rows have the ctid ${place}`);
    if (keys.size === PLACES_MAX) throw refused(`more than ${PLACES_MAX} rows are found by their ctid`);
    keys.set(place, hash);
    return true;
  },
  { volatility: "volatile" },
);

const refused = (what: string) =>
  sqlError("54000", what, { hint: "Find the rows by their primary key, which tells them for certain." });

/**
 * Columns, constraints, elements of indexes and options as definitions have them. Called by from-pg-ddl.ts and
 * from-pg-alter.ts.
 */
import type { ColumnDef, Constraint, DefElem, IndexElem, Node } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { ColumnDefNode, ConstraintNode, ForeignKeyAction, IndexElement, OptionNode } from "./ast-definitions.js";
import { type Conversion, notSupported, only, pathOf, strings } from "./conversion.js";
import { convertType } from "./from-pg-expr.js";
import { relationName } from "./from-pg-query.js";
import { ASSIGNED, ON_UPDATE } from "./table-dialect.js";

export function columnDef(node: ColumnDef, c: Conversion): ColumnDefNode {
  const position = c.position(node.location);
  if (node.typeName === undefined) throw notSupported("a column without a type", position);
  return {
    name: node.colname ?? "",
    type: convertType(node.typeName, c),
    constraints: columnConstraints(node.constraints, c),
    collation: node.collClause === undefined ? null : strings(node.collClause.collname),
    position,
  };
}

/** DEFERRABLE and INITIALLY follow the constraint that they are about as items of their own. */
export function columnConstraints(nodes: readonly Node[] | undefined, c: Conversion): ConstraintNode[] {
  const result: ConstraintNode[] = [];
  for (const node of nodes ?? []) {
    const item = only(node, "Constraint");
    const last = result.at(-1);
    if (item.contype?.startsWith("CONSTR_ATTR_")) {
      const deferred = item.contype === "CONSTR_ATTR_DEFERRED";
      const deferrable = deferred || item.contype === "CONSTR_ATTR_DEFERRABLE";
      if (last !== undefined && deferrable) {
        result[result.length - 1] = { ...last, deferrable, initiallyDeferred: last.initiallyDeferred || deferred };
      }
      continue;
    }
    result.push(constraint(item, c));
  }
  return result;
}

const FOREIGN_KEY_ACTIONS: Record<string, ForeignKeyAction> = {
  a: "no action",
  r: "restrict",
  c: "cascade",
  n: "set null",
  d: "set default",
};

export function constraint(node: Constraint, c: Conversion): ConstraintNode {
  const position = c.position(node.location);
  const shared = {
    name: node.conname ?? null,
    deferrable: node.deferrable ?? false,
    initiallyDeferred: node.initdeferred ?? false,
    notValid: node.skip_validation ?? false,
    position,
  };
  switch (node.contype) {
    case "CONSTR_NOTNULL":
      return { ...shared, kind: "not null" };
    case "CONSTR_DEFAULT":
      return { ...shared, kind: "default", expr: c.expr(node.raw_expr!) };
    case "CONSTR_IDENTITY":
      return {
        ...shared,
        kind: "identity",
        always: node.generated_when === "a",
        options: convertOptions(node.options, c),
      };
    case "CONSTR_GENERATED":
      return { ...shared, kind: "generated", expr: c.expr(node.raw_expr!), stored: node.generated_kind !== "v" };
    case "CONSTR_CHECK":
      if (node.conname === ASSIGNED) return { ...shared, name: null, kind: "assigned" };
      if (node.conname === ON_UPDATE) return { ...shared, name: null, kind: "on update", expr: c.expr(node.raw_expr!) };
      return {
        ...shared,
        kind: "check",
        expr: c.expr(node.raw_expr!),
        ...(node.is_no_inherit && { noInherit: true }),
      };
    case "CONSTR_PRIMARY":
    case "CONSTR_UNIQUE":
      return {
        ...shared,
        kind: node.contype === "CONSTR_PRIMARY" ? "primary key" : "unique",
        columns: strings(node.keys),
        including: strings(node.including),
        nullsNotDistinct: node.nulls_not_distinct ?? false,
        index: node.indexname ?? null,
      };
    case "CONSTR_FOREIGN": {
      const match = node.fk_matchtype === "f" ? "full" : node.fk_matchtype === "p" ? "partial" : "simple";
      return {
        ...shared,
        kind: "foreign key",
        columns: strings(node.fk_attrs),
        table: relationName(node.pktable!, c),
        references: strings(node.pk_attrs),
        match,
        onUpdate: FOREIGN_KEY_ACTIONS[node.fk_upd_action ?? "a"] ?? "no action",
        onDelete: FOREIGN_KEY_ACTIONS[node.fk_del_action ?? "a"] ?? "no action",
        onDeleteColumns: strings(node.fk_del_set_cols),
      };
    }
    case "CONSTR_EXCLUSION":
      return { ...shared, ...exclusion(node, c) };
    default:
      return { ...shared, kind: "null" };
  }
}

export function indexElement(element: IndexElem, c: Conversion): IndexElement {
  const nulls = element.nulls_ordering ?? "SORTBY_NULLS_DEFAULT";
  return {
    column: element.name ?? null,
    expr: c.optional(element.expr),
    descending: element.ordering === "SORTBY_DESC",
    nullsFirst: nulls === "SORTBY_NULLS_DEFAULT" ? null : nulls === "SORTBY_NULLS_FIRST",
    operatorClass: strings(element.opclass).at(-1) ?? null,
    collation: element.collation === undefined ? null : strings(element.collation),
  };
}

function exclusion(node: Constraint, c: Conversion) {
  const pairs = (node.exclusions ?? []).map((pair) => only(pair, "List").items ?? []);
  return {
    kind: "exclude" as const,
    method: (node.access_method ?? "btree").toLowerCase(),
    elements: pairs.map(([element]) => indexElement(only(element!, "IndexElem"), c)),
    operators: pairs.map(([, operator]) => strings(only(operator!, "List").items).at(-1) ?? ""),
    including: strings(node.including),
    where: c.optional(node.where_clause),
  };
}

export function convertOptions(nodes: readonly Node[] | undefined, c: Conversion): OptionNode[] {
  return (nodes ?? []).map((node) => convertOption(only(node, "DefElem"), c));
}

export function convertOption(
  element: Pick<DefElem, "defnamespace" | "defname" | "arg" | "location">,
  c: Conversion,
): OptionNode {
  const { defnamespace: space, defname = "" } = element;
  const name = space === undefined ? defname : `${space}.${defname}`;
  return { name, value: optionValue(element.arg), position: c.position(element.location) };
}

/** Of an option that is on or off; one without a value is on. Throws 22023. */
export function switched({ name, value }: OptionNode): boolean {
  const text = String(value).toLowerCase();
  if (/^(?:true|on|yes|1)$/.test(text)) return true;
  if (/^(?:false|off|no|0)$/.test(text)) return false;
  throw sqlError("22023", `invalid value for boolean option "${name}": ${value}`);
}

function optionValue(node: Node | undefined): string | number | boolean {
  if (node === undefined) return true;
  if ("Integer" in node) return node.Integer.ival ?? 0;
  if ("Float" in node) return node.Float.fval ?? "0";
  if ("Boolean" in node) return node.Boolean.boolval ?? false;
  return pathOf(node).join(".");
}

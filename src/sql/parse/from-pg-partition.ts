/** Partitions in the grammar's JSON, converted to our tree. Called by from-pg-ddl.ts. */
import type { CreateStmt, Node, PartitionBoundSpec, PartitionSpec } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { PartitionColumnNode, PartitionOfNode } from "./ast-definitions.js";
import type { PartitionBoundNode, PartitionByNode, PartitionDatumNode, PartitionElement } from "./ast-partition.js";
import { type Conversion, only, strings } from "./conversion.js";
import { relationName } from "./from-pg-query.js";

const STRATEGIES = {
  PARTITION_STRATEGY_RANGE: "range",
  PARTITION_STRATEGY_LIST: "list",
  PARTITION_STRATEGY_HASH: "hash",
} as const;

export function convertPartitionBy(spec: PartitionSpec, c: Conversion): PartitionByNode {
  return {
    strategy: STRATEGIES[spec.strategy ?? "PARTITION_STRATEGY_RANGE"],
    elements: (spec.partParams ?? []).map((param): PartitionElement => {
      const element = only(param, "PartitionElem");
      return {
        column: element.name ?? null,
        expr: c.optional(element.expr),
        operatorClass: strings(element.opclass).at(-1) ?? null,
        collation: element.collation === undefined ? null : strings(element.collation),
        position: c.position(element.location),
      };
    }),
    position: c.position(spec.location),
  };
}

/** `columns`: those of the statement, with constraints of the partition's own. */
export function convertPartitionOf(
  node: CreateStmt,
  columns: readonly PartitionColumnNode[],
  c: Conversion,
): PartitionOfNode {
  const parent = relationName(only(node.inhRelations![0], "RangeVar"), c);
  return { parent, bound: convertPartitionBound(node.partbound!, c), columns };
}

export function convertPartitionBound(spec: PartitionBoundSpec, c: Conversion): PartitionBoundNode {
  const position = c.position(spec.location);
  if (spec.is_default) return { kind: "default", position };
  switch (spec.strategy) {
    case "h":
      return { kind: "hash", modulus: spec.modulus ?? 0, remainder: spec.remainder ?? 0, position };
    case "l":
      return { kind: "list", values: c.exprs(spec.listdatums), position };
    case "r":
      return { kind: "range", from: datums(spec.lowerdatums, c), to: datums(spec.upperdatums, c), position };
    default:
      throw sqlError("0A000", "a partition's bound of this kind is not supported", { position });
  }
}

/** MINVALUE and MAXVALUE come as names of columns. */
function datums(nodes: readonly Node[] | undefined, c: Conversion): PartitionDatumNode[] {
  return (nodes ?? []).map((node) => {
    const expr = c.expr(node);
    const word = expr.kind === "column" && expr.path.length === 1 ? expr.path[0] : undefined;
    return word === "minvalue" || word === "maxvalue" ? word : expr;
  });
}

/**
 * The state that the `from-pg-*` files share while one statement is converted from the grammar's JSON: positions, the
 * depth bound, and the calls across files (an expression holds queries, a query holds expressions).
 */
import type { Node, ObjectType, SelectStmt } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import { SQL_DEPTH_MAX } from "../../protocol/limits.js";
import type { DataModifyingNode, ExprNode, QueryNode } from "./ast-query.js";
import type { GraphTableBody } from "./graph-table.js";

/** The tags of the grammar's nodes, and the node under a tag. */
export type Tag = Node extends infer N ? (N extends unknown ? keyof N : never) : never;
export type NodeOf<K extends Tag> = Node extends infer N ? (N extends Record<K, infer V> ? V : never) : never;

export class Conversion {
  private depth = 0;

  constructor(
    /** 1-based character position of a byte offset. */
    private readonly positionOfByte: (offset: number) => number,
    private readonly exprOf: (node: Node, conversion: Conversion) => ExprNode,
    private readonly queryOf: (statement: SelectStmt, conversion: Conversion) => QueryNode,
    private readonly dataStatementOf: (node: Node, conversion: Conversion) => DataModifyingNode,
    /** GRAPH_TABLEs by the numbers of their placeholders (dialect.ts). */
    readonly graphTable: (index: number) => GraphTableBody,
  ) {}

  /** The grammar leaves out a location of 0 and writes −1 for none. */
  position(location: number | undefined): number {
    if (location === undefined) return this.positionOfByte(0);
    return location < 0 ? 0 : this.positionOfByte(location);
  }

  expr(node: Node): ExprNode {
    this.enter();
    const converted = this.exprOf(node, this);
    this.depth--;
    return converted;
  }

  exprs(nodes: readonly Node[] | undefined): ExprNode[] {
    return (nodes ?? []).map((node) => this.expr(node));
  }

  optional(node: Node | undefined): ExprNode | null {
    return node === undefined ? null : this.expr(node);
  }

  query(statement: SelectStmt): QueryNode {
    this.enter();
    const converted = this.queryOf(statement, this);
    this.depth--;
    return converted;
  }

  /** A query that the grammar wraps in a node. */
  subquery(node: Node | undefined): QueryNode {
    return this.query(only(node, "SelectStmt"));
  }

  dataStatement(node: Node): DataModifyingNode {
    this.enter();
    const converted = this.dataStatementOf(node, this);
    this.depth--;
    return converted;
  }

  /** Call around any other recursion. */
  nested<T>(convert: () => T): T {
    this.enter();
    const converted = convert();
    this.depth--;
    return converted;
  }

  private enter(): void {
    if (++this.depth > SQL_DEPTH_MAX) throw tooComplex();
  }
}

export function tooComplex(): Error {
  return sqlError("54001", "statement too complex", {
    hint: `The statement nests deeper than ${SQL_DEPTH_MAX} levels.`,
  });
}

export function notSupported(what: string, position: number): Error {
  return sqlError("0A000", `${what} is not supported yet`, position > 0 ? { position } : undefined);
}

/** The one tag of a node. */
export function tagOf(node: Node): Tag {
  for (const tag in node) return tag as Tag;
  throw new Error("a node of the grammar without a tag");
}

/** The node under a tag that the grammar guarantees here. */
export function only<K extends Tag>(node: Node | undefined, tag: K): NodeOf<K> {
  return (node as unknown as Record<K, NodeOf<K>>)[tag];
}

/** The texts of a list of String nodes. */
export function strings(nodes: readonly Node[] | undefined): string[] {
  return (nodes ?? []).map((node) => only(node, "String").sval ?? "");
}

export function objectName(type: ObjectType | undefined): string {
  return (type ?? "").replace(/^OBJECT_/, "").replace(/_/g, " ");
}

/** A name that the grammar gives as a list, a string, or a type's name. */
export function pathOf(node: Node | undefined): string[] {
  if (node === undefined) return [];
  const tag = tagOf(node);
  if (tag === "List") return (only(node, "List").items ?? []).flatMap(pathOf);
  if (tag === "TypeName") return strings(only(node, "TypeName").names).filter((part) => part !== "pg_catalog");
  if (tag === "String") return [only(node, "String").sval ?? ""];
  return [];
}

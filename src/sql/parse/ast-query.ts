/**
 * The syntax tree of SQL, part one: expressions, queries and FROM items (statements are in `ast.ts`). Made by
 * `parse.ts`, read by `sql/bind`. Nodes are frozen and tagged by `kind`; they say what was written, not what it means.
 *
 * Every `position` is a 1-based character position in the text that the client sent; 0 means not known.
 */

import type { LockStrength } from "../../protocol/lock-strength.js";

/** A possibly qualified name: `path` holds its parts, outermost first (`schema.table` → ["schema", "table"]). */
export interface NameNode {
  readonly path: readonly string[];
  /** The table that is meant, whatever its name is now; absent: it is found by the path. */
  readonly tableId?: number;
  /** ONLY: without the tables that inherit from it; absent: with them. */
  readonly only?: true;
  readonly position: number;
}

/** `numeric(10,2)[]`: the name as written or as the grammar spells it (`int4` for `INTEGER`), without `pg_catalog`. */
export interface TypeNode {
  readonly name: string;
  readonly schema: string | null;
  readonly modifiers: readonly ExprNode[];
  /** 0: not an array. */
  readonly arrayDimensions: number;
  readonly setOf: boolean;
  readonly position: number;
}

export type ExprNode =
  | NullNode
  | BooleanNode
  | IntegerNode
  | NumberNode
  | StringNode
  | BitStringNode
  | ParameterNode
  | ColumnNode
  | CallNode
  | OperatorNode
  | QuantifiedNode
  | LogicNode
  | NotNode
  | IsNullNode
  | IsBooleanNode
  | DistinctFromNode
  | BetweenNode
  | InNode
  | NullIfNode
  | CoalesceNode
  | ExtremeNode
  | CaseNode
  | CastNode
  | CollateNode
  | SubqueryNode
  | ArrayNode
  | RowNode
  | SubscriptNode
  | FieldNode
  | ValueFunctionNode
  | GroupingNode
  | MergeActionNode
  | CurrentOfNode
  | StoredNode
  | DefaultNode;

interface At {
  readonly position: number;
}

export interface NullNode extends At {
  readonly kind: "null";
}

export interface BooleanNode extends At {
  readonly kind: "boolean";
  readonly value: boolean;
}

/** An integer literal that fits 32 bits. */
export interface IntegerNode extends At {
  readonly kind: "integer";
  readonly value: number;
}

/** Any other number literal, as written: `1.5`, `1e10`, `3000000000`. */
export interface NumberNode extends At {
  readonly kind: "number";
  readonly text: string;
}

/** An expression out of the definition of something in this schema (sql/bind/stored-expression.ts). */
export interface StoredNode extends At {
  readonly kind: "stored";
  readonly input: ExprNode;
  readonly schema: string;
}

/** A quoted literal; its type is unknown until the context gives one. */
export interface StringNode extends At {
  readonly kind: "string";
  readonly value: string;
}

/** `B'101'` (text "b101") or `X'1F'` (text "x1F"). */
export interface BitStringNode extends At {
  readonly kind: "bits";
  readonly text: string;
}

/** `$n`; index is 0-based. */
export interface ParameterNode extends At {
  readonly kind: "parameter";
  readonly index: number;
}

/** `a`, `t.a`, `s.t.a`; with `star`, `*` or `t.*` (path is then the qualifier). */
export interface ColumnNode extends At {
  readonly kind: "column";
  readonly path: readonly string[];
  readonly star: boolean;
}

export interface ArgumentNode {
  /** `name => value` */
  readonly name: string | null;
  readonly value: ExprNode;
}

/**
 * A function, aggregate or window call, also where it is written as syntax (`EXTRACT(year FROM x)`, `x AT TIME ZONE
 * y`). `count(*)` has `star` and no arguments.
 */
export interface CallNode extends At {
  readonly kind: "call";
  readonly path: readonly string[];
  readonly args: readonly ArgumentNode[];
  readonly star: boolean;
  readonly variadic: boolean;
  readonly distinct: boolean;
  readonly orderBy: readonly SortNode[];
  readonly withinGroup: boolean;
  readonly filter: ExprNode | null;
  readonly over: WindowNode | null;
  /** It was written as syntax of its own. */
  readonly isSyntax?: true;
}

/** `left name right`, or prefix when `left` is null. LIKE is `~~`, ILIKE `~~*`, `!~~` and `!~~*` negated. */
export interface OperatorNode extends At {
  readonly kind: "operator";
  readonly name: string;
  /** Of OPERATOR(schema.name); absent: it is looked up. */
  readonly schema?: string;
  readonly left: ExprNode | null;
  readonly right: ExprNode;
}

/** `left name ANY|ALL (array)` */
export interface QuantifiedNode extends At {
  readonly kind: "quantified";
  readonly name: string;
  /** As in OperatorNode. */
  readonly schema?: string;
  readonly all: boolean;
  readonly left: ExprNode;
  readonly array: ExprNode;
}

export interface LogicNode extends At {
  readonly kind: "and" | "or";
  readonly args: readonly ExprNode[];
}

export interface NotNode extends At {
  readonly kind: "not";
  readonly input: ExprNode;
}

export interface IsNullNode extends At {
  readonly kind: "is null";
  readonly input: ExprNode;
  readonly negated: boolean;
}

/** `IS [NOT] TRUE|FALSE|UNKNOWN`; `value` null is UNKNOWN. */
export interface IsBooleanNode extends At {
  readonly kind: "is boolean";
  readonly input: ExprNode;
  readonly value: boolean | null;
  readonly negated: boolean;
}

export interface DistinctFromNode extends At {
  readonly kind: "distinct from";
  readonly left: ExprNode;
  readonly right: ExprNode;
  /** IS NOT DISTINCT FROM */
  readonly negated: boolean;
}

export interface BetweenNode extends At {
  readonly kind: "between";
  readonly input: ExprNode;
  readonly low: ExprNode;
  readonly high: ExprNode;
  readonly symmetric: boolean;
  readonly negated: boolean;
}

export interface InNode extends At {
  readonly kind: "in";
  readonly input: ExprNode;
  readonly items: readonly ExprNode[];
  readonly negated: boolean;
}

export interface NullIfNode extends At {
  readonly kind: "nullif";
  readonly left: ExprNode;
  readonly right: ExprNode;
}

export interface CoalesceNode extends At {
  readonly kind: "coalesce";
  readonly args: readonly ExprNode[];
}

export interface ExtremeNode extends At {
  readonly kind: "greatest" | "least";
  readonly args: readonly ExprNode[];
}

/** `input` null: a searched CASE. */
export interface CaseNode extends At {
  readonly kind: "case";
  readonly input: ExprNode | null;
  readonly branches: readonly { readonly when: ExprNode; readonly result: ExprNode }[];
  readonly otherwise: ExprNode | null;
}

export interface CastNode extends At {
  readonly kind: "cast";
  readonly input: ExprNode;
  readonly type: TypeNode;
}

export interface CollateNode extends At {
  readonly kind: "collate";
  readonly input: ExprNode;
  readonly collation: readonly string[];
}

/** `(SELECT …)`, `EXISTS (…)`, `input IN (…)`, `input name ANY|ALL (…)`, `ARRAY(…)`. `in` is `= ANY`. */
export interface SubqueryNode extends At {
  readonly kind: "subquery";
  readonly form: "scalar" | "exists" | "any" | "all" | "array";
  readonly query: QueryNode;
  readonly input: ExprNode | null;
  /** The operator of any/all, else null. */
  readonly operator: string | null;
  /** Of OPERATOR(schema.name). */
  readonly schema?: string;
  /** Written as IN. */
  readonly isIn: boolean;
}

export interface ArrayNode extends At {
  readonly kind: "array";
  readonly elements: readonly ExprNode[];
}

/** `ROW(…)` or `(a, b)`. */
export interface RowNode extends At {
  readonly kind: "row";
  readonly items: readonly ExprNode[];
}

/** `input[i]`, or `input[low:high]` where a bound may be missing. */
export interface SubscriptNode extends At {
  readonly kind: "subscript";
  readonly input: ExprNode;
  /** The first subscript of `(x[…])[…]`'s second group: it applies to what the first one gives. */
  readonly separate?: true;
  readonly slice: boolean;
  readonly lower: ExprNode | null;
  readonly upper: ExprNode | null;
}

/** `(input).name`, or `(input).*` when the name is "*". */
export interface FieldNode extends At {
  readonly kind: "field";
  readonly input: ExprNode;
  readonly name: string;
}

/** `CURRENT_DATE`, `CURRENT_TIMESTAMP(3)`, `CURRENT_USER`, … */
export interface ValueFunctionNode extends At {
  readonly kind: "value function";
  readonly name: string;
  readonly precision: number | null;
}

/** MERGE_ACTION(), in RETURNING of MERGE. */
export interface MergeActionNode extends At {
  readonly kind: "merge action";
}

/** CURRENT OF, the whole WHERE of UPDATE or DELETE. */
export interface CurrentOfNode extends At {
  readonly kind: "current of";
  readonly cursor: string;
}

export interface GroupingNode extends At {
  readonly kind: "grouping";
  readonly args: readonly ExprNode[];
}

/** `DEFAULT` as a value of INSERT or UPDATE. */
export interface DefaultNode extends At {
  readonly kind: "default";
}

export interface SortNode extends At {
  readonly expr: ExprNode;
  readonly descending: boolean;
  /** null: as the direction implies (last when ascending). */
  readonly nullsFirst: boolean | null;
  /** USING operator. */
  readonly using: string | null;
}

export interface FrameBound {
  readonly kind: "unbounded preceding" | "preceding" | "current row" | "following" | "unbounded following";
  readonly offset: ExprNode | null;
}

export interface FrameNode {
  readonly mode: "rows" | "range" | "groups";
  readonly start: FrameBound;
  readonly end: FrameBound;
  readonly exclude: "no others" | "current row" | "group" | "ties";
  /** Written without its end. */
  readonly isShort?: true;
}

/** A window. `name`: of `OVER name`, which has nothing else, or of a definition in the WINDOW clause. */
export interface WindowNode extends At {
  readonly name: string | null;
  /** The window that this one builds upon: `OVER (base …)`. */
  readonly base: string | null;
  readonly partitionBy: readonly ExprNode[];
  readonly orderBy: readonly SortNode[];
  /** null: the default frame. */
  readonly frame: FrameNode | null;
}

// ---- queries ----

/** A whole query with its clauses; the sides of a set operation are queries too. */
export interface QueryNode extends At {
  readonly kind: "query";
  readonly with: WithNode | null;
  readonly body: SelectBody | ValuesBody | SetOperationBody;
  readonly orderBy: readonly SortNode[];
  readonly limit: ExprNode | null;
  readonly offset: ExprNode | null;
  readonly withTies: boolean;
  readonly locking: readonly LockingNode[];
}

export interface SelectBody {
  readonly kind: "select";
  readonly distinct: "all" | "distinct" | { readonly on: readonly ExprNode[] };
  readonly targets: readonly TargetNode[];
  readonly from: readonly FromNode[];
  readonly where: ExprNode | null;
  readonly groupBy: readonly GroupingElement[];
  readonly groupDistinct: boolean;
  readonly having: ExprNode | null;
  readonly windows: readonly WindowNode[];
}

export interface ValuesBody {
  readonly kind: "values";
  readonly rows: readonly (readonly ExprNode[])[];
}

export interface SetOperationBody {
  readonly kind: "set operation";
  readonly op: "union" | "intersect" | "except";
  readonly all: boolean;
  readonly left: QueryNode;
  readonly right: QueryNode;
}

export interface TargetNode extends At {
  readonly expr: ExprNode;
  /** AS name */
  readonly name: string | null;
}

export type GroupingElement =
  | { readonly kind: "expr"; readonly expr: ExprNode }
  | { readonly kind: "empty" }
  | {
      readonly kind: "rollup" | "cube" | "sets";
      readonly items: readonly GroupingElement[];
      readonly position: number;
    };

export interface LockingNode {
  readonly strength: LockStrength;
  readonly relations: readonly NameNode[];
  readonly wait: "block" | "skip" | "error";
}

export interface WithNode extends At {
  readonly recursive: boolean;
  readonly tables: readonly CommonTableNode[];
}

export interface CommonTableNode extends At {
  readonly name: string;
  readonly columns: readonly string[];
  readonly materialized: boolean | null;
  readonly statement: QueryNode | DataModifyingNode;
  readonly search?: SearchNode;
  readonly cycle?: CycleNode;
}

/** SEARCH DEPTH|BREADTH FIRST BY columns SET sequence. */
export interface SearchNode extends At {
  readonly depthFirst: boolean;
  readonly columns: readonly string[];
  readonly sequence: string;
}

/** CYCLE columns SET mark TO value DEFAULT otherwise USING path. */
export interface CycleNode extends At {
  readonly columns: readonly string[];
  readonly mark: string;
  readonly value: ExprNode;
  readonly otherwise: ExprNode;
  readonly path: string;
}

/** A data-modifying statement as its statement node (ast.ts); typed loosely here because statements hold queries. */
export interface DataModifyingNode {
  readonly kind: "insert" | "update" | "delete" | "merge";
  readonly position: number;
}

// ---- FROM ----

export interface AliasNode {
  readonly name: string;
  readonly columns: readonly string[];
}

export type FromNode = FromTable | FromSubquery | FromFunction | FromJoin | GraphTableNode;

export interface FromTable extends At {
  readonly kind: "table";
  readonly name: NameNode;
  readonly alias: AliasNode | null;
  readonly sample: SampleNode | null;
}

/** TABLESAMPLE method(args) [REPEATABLE (seed)] */
export interface SampleNode extends At {
  readonly method: string;
  readonly args: readonly ExprNode[];
  readonly seed: ExprNode | null;
}

export interface FromSubquery extends At {
  readonly kind: "from subquery";
  readonly query: QueryNode;
  readonly alias: AliasNode | null;
  readonly lateral: boolean;
  /**
   * An element of GRAPH_TABLE: expressions over one table, which stand for its columns without a subquery's plan; they
   * are only named with the alias before.
   */
  readonly element?: true;
}

/** `f(…) [WITH ORDINALITY]`, or several side by side (`ROWS FROM (…)`). */
export interface FromFunction extends At {
  readonly kind: "from function";
  readonly functions: readonly { readonly call: ExprNode; readonly columns: readonly ColumnSpec[] }[];
  readonly ordinality: boolean;
  readonly lateral: boolean;
  readonly alias: AliasNode | null;
  /** `AS t(a int, b text)` */
  readonly columns: readonly ColumnSpec[];
}

export interface ColumnSpec {
  readonly name: string;
  readonly type: TypeNode;
}

export interface FromJoin extends At {
  readonly kind: "join";
  readonly type: "inner" | "left" | "right" | "full" | "cross";
  readonly left: FromNode;
  readonly right: FromNode;
  readonly natural: boolean;
  readonly using: readonly string[] | null;
  readonly usingAlias: AliasNode | null;
  readonly condition: ExprNode | null;
  readonly alias: AliasNode | null;
}

/** `GRAPH_TABLE (graph MATCH paths WHERE … COLUMNS (…))` of SQL/PGQ. */
export interface GraphTableNode extends At {
  readonly kind: "graph table";
  readonly graph: NameNode;
  /** Vertices and edges in turn, beginning and ending with a vertex. */
  readonly paths: readonly (readonly GraphElementNode[])[];
  readonly where: ExprNode | null;
  readonly columns: readonly TargetNode[];
  readonly alias: AliasNode | null;
}

/** `(a IS label WHERE …)` or `-[e IS label WHERE …]->`. */
export interface GraphElementNode extends At {
  readonly kind: "vertex" | "edge";
  readonly variable: string | null;
  /** null: any. */
  readonly labels: GraphLabelNode | null;
  readonly where: ExprNode | null;
  /** Of an edge, as the pattern is read. */
  readonly direction: "right" | "left" | "either";
}

export type GraphLabelNode =
  | (At & { readonly kind: "label"; readonly name: string })
  /** `%` */
  | (At & { readonly kind: "any" })
  | (At & { readonly kind: "not"; readonly operand: GraphLabelNode })
  | (At & { readonly kind: "and" | "or"; readonly operands: readonly GraphLabelNode[] });

/**
 * The syntax tree of Cypher: expressions and patterns, then clauses and statements. Made by `parse.ts`, read by
 * `print.ts`, `cypher/bind` and the session. Every node is readonly and tagged by `kind`; `position` is the 0-based
 * UTF-16 offset where the node begins, for operators the offset of the operator.
 */
export interface Node {
  readonly position: number;
}

export type Expr =
  | Literal
  | Parameter
  | Variable
  | PropertyAccess
  | IndexAccess
  | SliceAccess
  | LabelTest
  | FunctionCall
  | CountAll
  | UnaryExpr
  | NotExpr
  | ArithmeticExpr
  | LogicalExpr
  | ComparisonExpr
  | TextMatchExpr
  | InExpr
  | NullTest
  | ListLiteral
  | MapLiteral
  | MapProjection
  | CaseExpr
  | ListComprehension
  | PatternComprehension
  | QuantifierExpr
  | ReduceExpr
  | PatternExpr
  | SubqueryExpr;

export type Literal =
  | (Node & { readonly kind: "null" })
  | (Node & { readonly kind: "boolean"; readonly value: boolean })
  /** A number within ±(2^53 − 1), else a bigint within 64 bits: as `values/values.ts` holds int8. */
  | (Node & { readonly kind: "integer"; readonly value: number | bigint })
  | (Node & { readonly kind: "float"; readonly value: number })
  | (Node & { readonly kind: "string"; readonly value: string });

/** `$name`, `$0` (its name is "0"). */
export interface Parameter extends Node {
  readonly kind: "parameter";
  readonly name: string;
}

/** A use or a definition of a variable. */
export interface Variable extends Node {
  readonly kind: "variable";
  readonly name: string;
}

export interface PropertyAccess extends Node {
  readonly kind: "property";
  readonly target: Expr;
  readonly name: string;
}

export interface IndexAccess extends Node {
  readonly kind: "index";
  readonly target: Expr;
  readonly index: Expr;
}

/** `target[from..to]`; null: open on that side. */
export interface SliceAccess extends Node {
  readonly kind: "slice";
  readonly target: Expr;
  readonly from: Expr | null;
  readonly to: Expr | null;
}

/** `n:Label`; on a relationship a test of its type. */
export interface LabelTest extends Node {
  readonly kind: "label-test";
  readonly target: Expr;
  readonly labels: LabelExpr;
}

export interface FunctionCall extends Node {
  readonly kind: "call";
  /** As written, with its namespaces: `algo.pageRank`. Names of functions are compared without case. */
  readonly name: string;
  readonly distinct: boolean;
  readonly args: readonly Expr[];
}

/** `count(*)`. */
export interface CountAll extends Node {
  readonly kind: "count-all";
}

/** A sign before anything but a bare number, whose sign is part of the literal. */
export interface UnaryExpr extends Node {
  readonly kind: "unary";
  readonly operator: "+" | "-";
  readonly operand: Expr;
}

export interface NotExpr extends Node {
  readonly kind: "not";
  readonly operand: Expr;
}

/** All are left-associative, `^` too. */
export interface ArithmeticExpr extends Node {
  readonly kind: "arithmetic";
  readonly operator: "+" | "-" | "*" | "/" | "%" | "^" | "||";
  readonly left: Expr;
  readonly right: Expr;
}

/** Two or more operands of the same operator, left to right. */
export interface LogicalExpr extends Node {
  readonly kind: "logical";
  readonly operator: "AND" | "OR" | "XOR";
  readonly operands: readonly Expr[];
}

export type ComparisonOperator = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** `a < b <= c` means `a < b AND b <= c`, with b evaluated once. */
export interface ComparisonExpr extends Node {
  readonly kind: "comparison";
  readonly first: Expr;
  readonly rest: readonly {
    readonly operator: ComparisonOperator;
    readonly operand: Expr;
    readonly position: number;
  }[];
}

export interface TextMatchExpr extends Node {
  readonly kind: "text-match";
  readonly operator: "STARTS WITH" | "ENDS WITH" | "CONTAINS" | "=~";
  readonly left: Expr;
  readonly right: Expr;
}

export interface InExpr extends Node {
  readonly kind: "in";
  readonly item: Expr;
  readonly list: Expr;
}

export interface NullTest extends Node {
  readonly kind: "null-test";
  readonly operand: Expr;
  /** IS NOT NULL. */
  readonly negated: boolean;
}

export interface ListLiteral extends Node {
  readonly kind: "list";
  readonly items: readonly Expr[];
}

export interface MapEntry extends Node {
  readonly key: string;
  readonly value: Expr;
}

export interface MapLiteral extends Node {
  readonly kind: "map";
  readonly entries: readonly MapEntry[];
}

/** `n {.name, .*, key: value, other}`. */
export interface MapProjection extends Node {
  readonly kind: "map-projection";
  readonly variable: Variable;
  readonly items: readonly MapProjectionItem[];
}

export type MapProjectionItem =
  | (Node & { readonly kind: "property"; readonly name: string })
  | (Node & { readonly kind: "all" })
  | (Node & { readonly kind: "entry"; readonly key: string; readonly value: Expr })
  | Variable;

export interface CaseExpr extends Node {
  readonly kind: "case";
  /** null: each WHEN is a predicate. */
  readonly subject: Expr | null;
  readonly branches: readonly { readonly when: Expr; readonly result: Expr }[];
  readonly otherwise: Expr | null;
}

/** `[x IN list WHERE p | r]`; `filter(…)` and `extract(…)` arrive as this too. */
export interface ListComprehension extends Node {
  readonly kind: "list-comprehension";
  readonly variable: Variable;
  readonly list: Expr;
  readonly where: Expr | null;
  /** null: the element itself. */
  readonly result: Expr | null;
}

export interface PatternComprehension extends Node {
  readonly kind: "pattern-comprehension";
  /** Its `variable` is the path's name, if it has one. */
  readonly pattern: PathPattern;
  readonly where: Expr | null;
  readonly result: Expr;
}

export interface QuantifierExpr extends Node {
  readonly kind: "quantifier";
  readonly quantifier: "all" | "any" | "none" | "single";
  readonly variable: Variable;
  readonly list: Expr;
  /** null: the element itself is the predicate. */
  readonly where: Expr | null;
}

export interface ReduceExpr extends Node {
  readonly kind: "reduce";
  readonly accumulator: Variable;
  readonly initial: Expr;
  readonly variable: Variable;
  readonly list: Expr;
  readonly result: Expr;
}

/**
 * A pattern where an expression may stand: true where a match exists. Plain patterns stand only where a truth value
 * is wanted; `shortestPath(…)` and `allShortestPaths(…)` (`pattern.search`) give a path and a list of paths anywhere.
 */
export interface PatternExpr extends Node {
  readonly kind: "pattern";
  readonly pattern: PathPattern;
}

/** `EXISTS {…}`, `COUNT {…}`, `COLLECT {…}`; a bare pattern in the braces arrives as a MATCH without RETURN. */
export interface SubqueryExpr extends Node {
  readonly kind: "subquery";
  readonly result: "exists" | "count" | "collect";
  readonly query: Query;
}

/** `A:B` and `A&B` are both `and`. */
export type LabelExpr =
  | (Node & { readonly kind: "label"; readonly name: string })
  /** `%`: any label at all. */
  | (Node & { readonly kind: "any-label" })
  | DynamicLabel
  | (Node & { readonly kind: "not-label"; readonly operand: LabelExpr })
  | (Node & { readonly kind: "and-labels" | "or-labels"; readonly operands: readonly LabelExpr[] });

/** `$(name)`, `$all(names)`, `$any(names)`: a string or a list of them. */
export interface DynamicLabel extends Node {
  readonly kind: "dynamic-label";
  readonly names: Expr;
  /** One of them is enough. */
  readonly any: boolean;
}

export interface PathPattern extends Node {
  readonly kind: "path";
  /** `p = …`. */
  readonly variable: Variable | null;
  /** An object: so many of the shortest paths of each pair of nodes, or all paths of so many lengths. */
  readonly search: "all" | "shortest" | "all-shortest" | { readonly by: "paths" | "groups"; readonly count: number };
  readonly start: NodePattern;
  readonly steps: readonly PathStep[];
  /** No node, or no relationship, comes twice in a path; absent: what the match asks of relationships is all. */
  readonly mode?: "acyclic" | "trail";
  /** `(path WHERE …)`: of each path, before the shortest are chosen; absent: there is none. */
  readonly where?: Expr;
}

export interface PathStep {
  readonly relationship: RelationshipPattern;
  readonly node: NodePattern;
}

export interface NodePattern extends Node {
  readonly kind: "node";
  readonly variable: Variable | null;
  readonly labels: LabelExpr | null;
  readonly properties: MapLiteral | Parameter | null;
  readonly where: Expr | null;
}

export interface RelationshipPattern extends Node {
  readonly kind: "relationship";
  readonly variable: Variable | null;
  readonly types: LabelExpr | null;
  /** `:SIMILAR_TO > 0.5`. */
  readonly similarity: Similarity | null;
  /** null: exactly one relationship, not a list. */
  readonly length: PathLength | null;
  readonly properties: MapLiteral | Parameter | null;
  readonly where: Expr | null;
  /** It is walked several times, between nodes of which something may be said; absent: there is no more to say. */
  readonly group?: PathGroup;
  /** As the pattern is read: `->` right, `<-` left; `--` and `<-->` either. */
  readonly direction: "right" | "left" | "either";
}

/** `((a)-[…]->(b)-[…]->(c) WHERE …)+`. */
export interface PathGroup {
  readonly nodes: readonly NodePattern[];
  /** Those after the first one, which the group belongs to. */
  readonly further: readonly RelationshipPattern[];
  readonly where: Expr | null;
}

export interface Similarity extends Node {
  readonly operator: ">" | ">=";
  readonly threshold: Literal | Parameter;
}

/** `*min..max`, both inclusive; null: open (a missing minimum is 1). */
export interface PathLength extends Node {
  readonly min: number | null;
  readonly max: number | null;
}

/** Single queries joined by UNION; with one part `all` is false. */
export interface Query extends Node {
  readonly kind: "query";
  readonly parts: readonly SingleQuery[];
  /** UNION ALL. */
  readonly all: boolean;
}

export interface SingleQuery extends Node {
  readonly clauses: readonly Clause[];
  /** It ends in FINISH, which says that there are no rows. */
  readonly finish?: true;
}

export type Clause =
  | MatchClause
  | UnwindClause
  | CallClause
  | SubqueryCallClause
  | ProjectionClause
  | CreateClause
  | MergeClause
  | SetClause
  | RemoveClause
  | DeleteClause
  | ForeachClause;

export interface MatchClause extends Node {
  readonly kind: "match";
  readonly optional: boolean;
  /** REPEATABLE ELEMENTS: a relationship may come several times in a match. */
  readonly repeatable?: true;
  readonly patterns: readonly PathPattern[];
  /** SEARCH: the call that finds what a variable is, and what holds of it before the nearest are taken. */
  readonly search?: { readonly call: CallClause; readonly within: Expr | null };
  readonly where: Expr | null;
}

export interface UnwindClause extends Node {
  readonly kind: "unwind";
  readonly list: Expr;
  readonly variable: Variable;
}

export interface CallClause extends Node {
  readonly kind: "call";
  readonly procedure: string;
  /** null: no parentheses, the arguments are the parameters of the same names (standalone calls only). */
  readonly args: readonly Expr[] | null;
  /** null: no YIELD. `*` only in standalone calls. */
  readonly yields: readonly YieldItem[] | "*" | null;
  readonly where: Expr | null;
  readonly optional: boolean;
  /** The statement's only clause. */
  readonly standalone: boolean;
}

/** `CALL (a, b) { … }`: the query's rows for each row. */
export interface SubqueryCallClause extends Node {
  readonly kind: "subquery-call";
  /**
   * What the query sees of those around it; `*`: all. Without parentheses it is what the WITHs name that it begins
   * with.
   */
  readonly imports: readonly Variable[] | "*";
  /** They were named in parentheses: a WITH in the query does not hide them. */
  readonly keeps: boolean;
  readonly query: Query;
  /** A row for which the query gives none stays, with nulls. */
  readonly optional: boolean;
  /** IN TRANSACTIONS; null: the query runs in the statement's. */
  readonly transactions: CallTransactions | null;
}

/** `IN TRANSACTIONS OF 100 ROWS ON ERROR CONTINUE REPORT STATUS AS s`. */
export interface CallTransactions extends Node {
  /** Rows for each transaction. */
  readonly rows: Expr | null;
  readonly onError: "fail" | "continue" | "break";
  /** How long a part runs again that lost against another transaction; null: it does not. */
  readonly retrySeconds: Expr | null;
  readonly status: Variable | null;
}

export interface YieldItem extends Node {
  readonly field: string;
  /** What the field is called from here on: the alias, or its own name. */
  readonly variable: Variable;
}

/** WITH and RETURN. */
export interface ProjectionClause extends Node {
  readonly kind: "with" | "return";
  readonly distinct: boolean;
  /** `*`, before any items. */
  readonly star: boolean;
  readonly items: readonly ProjectionItem[];
  readonly orderBy: readonly SortItem[];
  readonly skip: Expr | null;
  readonly limit: Expr | null;
  /** Of WITH only. */
  readonly where: Expr | null;
}

export interface ProjectionItem extends Node {
  readonly expr: Expr;
  /** In WITH only variables can do without: see cypher/bind/check.ts. */
  readonly alias: Variable | null;
  /** The column's name: the alias, or the expression as it is written. */
  readonly name: string;
}

export interface SortItem extends Node {
  readonly expr: Expr;
  readonly descending: boolean;
}

export interface CreateClause extends Node {
  readonly kind: "create";
  readonly patterns: readonly PathPattern[];
}

export interface MergeClause extends Node {
  readonly kind: "merge";
  readonly pattern: PathPattern;
  readonly onCreate: readonly SetItem[];
  readonly onMatch: readonly SetItem[];
}

export interface SetClause extends Node {
  readonly kind: "set";
  readonly items: readonly SetItem[];
}

export type SetItem =
  | (Node & { readonly kind: "set-property"; readonly target: ChangedProperty; readonly value: Expr })
  /** `n = map`. */
  | (Node & { readonly kind: "replace"; readonly variable: Variable; readonly value: Expr })
  /** `n += map`. */
  | (Node & { readonly kind: "add"; readonly variable: Variable; readonly value: Expr })
  | LabelsItem;

/** `n.p`, `n[expression]`. */
export type ChangedProperty = PropertyAccess | IndexAccess;

/** `n:A:$(b)`, to be set or removed. */
export interface LabelsItem extends Node {
  readonly kind: "labels";
  readonly variable: Variable;
  readonly labels: readonly string[];
  readonly dynamic: readonly DynamicLabel[];
}

export interface RemoveClause extends Node {
  readonly kind: "remove";
  readonly items: readonly RemoveItem[];
}

export type RemoveItem = (Node & { readonly kind: "remove-property"; readonly target: ChangedProperty }) | LabelsItem;

export interface DeleteClause extends Node {
  readonly kind: "delete";
  readonly detach: boolean;
  readonly targets: readonly Expr[];
}

export interface ForeachClause extends Node {
  readonly kind: "foreach";
  readonly variable: Variable;
  readonly list: Expr;
  /** Updating clauses only. */
  readonly clauses: readonly Clause[];
}

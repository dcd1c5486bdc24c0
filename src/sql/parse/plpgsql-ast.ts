/** The syntax tree of PL/pgSQL. Made by `plpgsql-parser.ts`; expressions and statements of SQL in it stay text. */

/** A piece of SQL: an expression (what may follow SELECT), or a whole statement. */
export interface PlSql {
  readonly text: string;
  /** 1-based line of the body. */
  readonly line: number;
}

/** What is assigned to: `x`, `r.f`, `a[1]`, `r.a[i].b`; parts after the name in order. */
export interface PlTarget {
  readonly path: readonly string[];
  /** Subscripts and fields behind the first subscript. */
  readonly rest: readonly PlAccess[];
  readonly line: number;
}

export type PlAccess =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "index"; readonly index: PlSql }
  | { readonly kind: "slice"; readonly lower: PlSql | null; readonly upper: PlSql | null };

export interface PlVariable {
  readonly kind: "variable";
  readonly name: string;
  /** As written: `int[]`, `t.c%type`, `t%rowtype`, `record`. */
  readonly type: string;
  readonly constant: boolean;
  readonly notNull: boolean;
  readonly initial: PlSql | null;
  readonly line: number;
}

export interface PlAlias {
  readonly kind: "alias";
  readonly name: string;
  /** `$1` or a variable. */
  readonly of: readonly string[];
  readonly line: number;
}

export interface PlCursor {
  readonly kind: "cursor";
  readonly name: string;
  /** SCROLL or NO SCROLL; null: neither. */
  readonly scroll: boolean | null;
  readonly parameters: readonly { readonly name: string; readonly type: string }[];
  readonly query: PlSql;
  readonly line: number;
}

export type PlDeclaration = PlVariable | PlAlias | PlCursor;

export interface PlHandler {
  /** Names of conditions, and SQLSTATEs as `sqlstate:22012`. */
  readonly conditions: readonly string[];
  readonly body: readonly PlStatement[];
}

export interface PlBlock {
  readonly kind: "block";
  readonly label: string | null;
  readonly declarations: readonly PlDeclaration[];
  readonly body: readonly PlStatement[];
  readonly handlers: readonly PlHandler[] | null;
  readonly line: number;
}

interface Loop {
  readonly label: string | null;
  readonly body: readonly PlStatement[];
  readonly line: number;
}

/** A query of which the text is computed. */
export interface PlDynamic {
  readonly query: PlSql;
  readonly using: readonly PlSql[];
}

export interface PlInto {
  readonly targets: readonly PlTarget[];
  readonly strict: boolean;
}

/** Arguments of a cursor that is opened; `name` null: by position. */
export interface PlCursorArgument {
  readonly name: string | null;
  readonly value: PlSql;
}

export type PlLoop =
  | (Loop & { readonly kind: "loop" })
  | (Loop & { readonly kind: "while"; readonly condition: PlSql })
  | (Loop & {
      readonly kind: "for integer";
      readonly variable: string;
      readonly reverse: boolean;
      readonly lower: PlSql;
      readonly upper: PlSql;
      readonly step: PlSql | null;
    })
  | (Loop & { readonly kind: "for query"; readonly targets: readonly PlTarget[]; readonly query: PlSql | PlDynamic })
  | (Loop & {
      readonly kind: "for cursor";
      readonly variable: string;
      readonly cursor: string;
      readonly args: readonly PlCursorArgument[];
    })
  | (Loop & {
      readonly kind: "foreach";
      readonly targets: readonly PlTarget[];
      readonly slice: number;
      readonly array: PlSql;
    });

interface At {
  readonly line: number;
}

export type PlStatement =
  | PlBlock
  | PlLoop
  | (At & { readonly kind: "null" })
  | (At & { readonly kind: "assign"; readonly target: PlTarget; readonly value: PlSql })
  | (At & {
      readonly kind: "if";
      readonly branches: readonly { readonly condition: PlSql; readonly body: readonly PlStatement[] }[];
      readonly otherwise: readonly PlStatement[] | null;
    })
  | (At & {
      readonly kind: "case";
      readonly input: PlSql | null;
      readonly branches: readonly { readonly values: readonly PlSql[]; readonly body: readonly PlStatement[] }[];
      readonly otherwise: readonly PlStatement[] | null;
    })
  | (At & { readonly kind: "exit" | "continue"; readonly label: string | null; readonly when: PlSql | null })
  | (At & { readonly kind: "return"; readonly value: PlSql | null })
  | (At & { readonly kind: "return next"; readonly value: PlSql | null })
  | (At & { readonly kind: "return query"; readonly query: PlSql | PlDynamic })
  | (At & { readonly kind: "perform"; readonly query: PlSql })
  | (At & { readonly kind: "sql"; readonly statement: PlSql; readonly into: PlInto | null })
  | (At & { readonly kind: "execute"; readonly dynamic: PlDynamic; readonly into: PlInto | null })
  | (At & {
      readonly kind: "diagnostics";
      readonly stacked: boolean;
      readonly items: readonly { readonly target: PlTarget; readonly item: string }[];
    })
  | (At & {
      readonly kind: "raise";
      readonly level: string;
      /** Null with a condition, or with nothing. */
      readonly format: string | null;
      readonly condition: string | null;
      readonly args: readonly PlSql[];
      readonly options: readonly { readonly name: string; readonly value: PlSql }[];
    })
  | (At & { readonly kind: "assert"; readonly condition: PlSql; readonly message: PlSql | null })
  | (At & {
      readonly kind: "open";
      readonly cursor: string;
      /** Of a query that is written here: SCROLL or NO SCROLL; null: neither. */
      readonly scroll: boolean | null;
      readonly args: readonly PlCursorArgument[];
      readonly query: PlSql | PlDynamic | null;
    })
  | (At & {
      readonly kind: "fetch";
      readonly cursor: string;
      readonly move: boolean;
      readonly direction: string;
      readonly count: PlSql | null;
      readonly targets: readonly PlTarget[];
    })
  | (At & { readonly kind: "close"; readonly cursor: string })
  | (At & { readonly kind: "end transaction"; readonly action: "commit" | "rollback"; readonly chain: boolean });

export interface PlBody {
  readonly block: PlBlock;
  readonly conflict: "error" | "variable" | "column";
  /** All pieces of SQL, for a check of their syntax: expressions, and statements. */
  readonly expressions: readonly PlSql[];
  readonly statements: readonly PlSql[];
}

/**
 * The mistakes that Cypher's checker reports, and what is known of the statement. Extended by `check-expressions.ts`.
 */

import type { DbError } from "../../protocol/errors.js";
import type { CypherErrorType } from "../../values/cypher-error.js";
import { type SemanticErrorDetail, type SyntaxErrorDetail, syntaxError } from "../parse/syntax-error.js";
import type { ProcedureCatalog } from "./procedure-catalog.js";
import type { Scope } from "./scope.js";
import { describeKinds, describeType, mayBe, type StaticKind, type StaticType } from "./static-type.js";

/** The place of an expression; `aggregates`: whether an aggregate is allowed there ("inside" another one it is not). */
export interface Place {
  readonly scope: Scope;
  readonly aggregates: "allowed" | "forbidden" | "inside";
}

interface Named {
  readonly name: string;
  readonly position: number;
}

export abstract class CheckBase {
  /** `parameters`: names of those that came with the statement; null: not known yet. */
  constructor(
    protected readonly text: string,
    protected readonly procedures: ProcedureCatalog,
    protected readonly parameters: ReadonlySet<string> | null,
  ) {}

  /** `what at offset …: remedy`. */
  protected mistake(
    position: number,
    detail: SyntaxErrorDetail | SemanticErrorDetail,
    what: string,
    remedy = "",
    type: CypherErrorType = "SyntaxError",
  ): DbError {
    return syntaxError(this.text, position, detail, what, remedy === "" ? "" : `: ${remedy}`, type);
  }

  protected typeOfVariable({ name, position }: Named, scope: Scope): StaticType {
    const type = scope.find(name);
    if (type !== null) return type;
    const remedy = "MATCH, UNWIND, CALL or WITH has to bring it here first";
    throw this.mistake(position, "UndefinedVariable", `variable \`${name}\` is not defined`, remedy);
  }

  protected alreadyBound({ name, position }: Named, remedy: string): DbError {
    return this.mistake(position, "VariableAlreadyBound", `variable \`${name}\` is bound already`, remedy);
  }

  /** Defines a variable that must be new. */
  protected define(variable: Named, type: StaticType, scope: Scope): void {
    if (scope.has(variable.name)) throw this.alreadyBound(variable, "another name is free");
    scope.define(variable.name, type);
  }

  /** The type again; raises InvalidArgumentType when it is known to be none of the wanted kinds. */
  protected require(
    { position }: { readonly position: number },
    type: StaticType,
    wanted: readonly StaticKind[],
    wantedBy: string,
  ): StaticType {
    if (mayBe(type, wanted)) return type;
    const what = `${wantedBy} expected ${describeKinds(wanted)} and not ${describeType(type)}`;
    throw this.mistake(position, "InvalidArgumentType", what);
  }
}

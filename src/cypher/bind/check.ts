/**
 * Cypher's semantic check: a statement's names, kinds of variables, types, aggregates and calls, before it is bound. It
 * raises what openCypher calls errors of compile time. Called by the binder for each statement that it binds.
 */
import type { Statement } from "../parse/statement-ast.js";
import { QueryChecker } from "./check-queries.js";
import type { ProcedureCatalog } from "./procedure-catalog.js";
import { Scope } from "./scope.js";

/**
 * Raises the first mistake of a statement as a `syntax_error` with openCypher's type, detail and phase and the position
 * in `text`. `parameters`: names of those that came with it, where they are known; a lone CALL without parentheses
 * takes its arguments from them.
 */
export function checkStatement(
  statement: Statement,
  text: string,
  procedures: ProcedureCatalog,
  parameters: ReadonlySet<string> | null = null,
): void {
  new StatementChecker(text, procedures, parameters).statement(statement);
}

class StatementChecker extends QueryChecker {
  statement({ body }: Statement): void {
    if (body.kind === "query") this.query(body, null);
    else if (body.kind === "create-index" && body.options !== null) {
      this.typeOf(body.options, { scope: new Scope(), aggregates: "forbidden" });
    }
  }
}

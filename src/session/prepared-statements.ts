/**
 * The prepared statements of one tenant: texts by owner and id, so that no client can change what another one's id
 * means. Their plans are in the plan cache like all others.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import { PREPARED_STATEMENTS_MAX } from "../protocol/limits.js";
import type { Language } from "./statement-run.js";

export interface PreparedStatement {
  readonly id: string;
  readonly sql: string;
  readonly language?: Language;
  readonly graph?: string;
  readonly parameterCount: number;
}

export interface OwnedStatement extends PreparedStatement {
  /** Its name (owner.ts). */
  readonly owner: string;
}

const nameOf = (owner: string, id: string): string => `${owner}\u0000${id}`;

export class PreparedStatements {
  /** By owner and id. */
  private readonly statements = new Map<string, OwnedStatement>();

  get size(): number {
    return this.statements.size;
  }

  /** `name`, when given, is the id; preparing the same text under the same name again is fine. */
  add(owner: string, text: Omit<PreparedStatement, "id">, name: string | undefined): PreparedStatement {
    const id = name ?? randomUUID();
    const known = this.statements.get(nameOf(owner, id));
    if (known !== undefined) {
      if (known.sql === text.sql && known.language === text.language && known.graph === text.graph) return known;
      throw new DbError("conflict", `prepared statement "${id}" already exists`, {
        sqlstate: "42P05",
        hint: "Close it first, or choose another name.",
      });
    }
    if (this.statements.size >= PREPARED_STATEMENTS_MAX) {
      throw new DbError(
        "invalid_request",
        `The tenant already has ${PREPARED_STATEMENTS_MAX} prepared statements, which is the limit. Close some with /v1/query/close.`,
      );
    }
    const statement = { owner, id, ...text };
    this.statements.set(nameOf(owner, id), statement);
    return statement;
  }

  get(owner: string, id: string): PreparedStatement {
    const statement = this.statements.get(nameOf(owner, id));
    if (statement === undefined) {
      throw new DbError("statement_not_found", `prepared statement "${id}" does not exist`, {
        sqlstate: "26000",
        hint: "Prepared statements are forgotten when the server restarts; prepare it again.",
      });
    }
    return statement;
  }

  list(): readonly OwnedStatement[] {
    return [...this.statements.values()];
  }

  /** Takes statements that the tenant had elsewhere. */
  restore(statements: readonly OwnedStatement[]): void {
    for (const statement of statements) this.statements.set(nameOf(statement.owner, statement.id), statement);
  }

  /** False when there was none of that id. */
  remove(owner: string, id: string): boolean {
    return this.statements.delete(nameOf(owner, id));
  }
}

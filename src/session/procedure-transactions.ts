/**
 * COMMIT and ROLLBACK in the body of a procedure or of DO. The statement that calls it is alone: it is outside of a
 * transaction block, so its transaction ends with it, or in it, and then the statement goes on in another one. One per
 * session.
 */
import { sqlError } from "../protocol/errors.js";
import type { BoundStatement } from "../sql/bind/bound-statement.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { ExecutionScope } from "./execution-scope.js";
import type { SettingsMark } from "./settings.js";
import type { Client } from "./statement-run.js";
import { applyOnCommit } from "./temporary-relations.js";
import { type GivenModes, NO_MODES } from "./transaction-modes.js";

interface AloneStatement {
  readonly tx: ShardTransaction;
  readonly request: Client;
  /** To which ROLLBACK goes back. */
  settings: SettingsMark;
}

export class ProcedureTransactions {
  /** The statement that runs; null: it may not end its transaction. */
  private alone: AloneStatement | null = null;
  /** Its transaction has modes of its own. */
  private hasModes = false;

  constructor(private readonly scope: ExecutionScope) {}

  /** A statement of the client's begins. */
  begin({ kind }: BoundStatement, request: Client, tx: ShardTransaction): void {
    const { block, names } = this.scope;
    if (block.isOpen) {
      this.alone = null;
      return;
    }
    block.constraints?.reset();
    const mayEnd = (kind === "call" || kind === "do") && commitsParts(request);
    this.alone = mayEnd ? { tx, request, settings: names.settings.current() } : null;
  }

  /** Resolves with when the next transaction began. Throws 2D000, and what a COMMIT throws. */
  async end(action: "commit" | "rollback", chain: boolean): Promise<number> {
    const { alone } = this;
    if (alone === null) throw sqlError("2D000", "invalid transaction termination");
    const { block, names, tenant, cursors } = this.scope;
    const { tx, request } = alone;
    await cursors.hold(request);
    if (action === "commit") await this.commit(alone);
    else {
      tenant.rollBackWhole(tx);
      names.settings.restore(alone.settings);
    }
    cursors.endTransaction();
    block.constraints?.reset();
    names.settings.endStatement();
    alone.settings = names.settings.current();
    const { isolation, readOnly, deferrable } = block.modes;
    block.modes.begin(chain ? { isolation, readOnly, deferrable } : NO_MODES);
    this.hasModes = true;
    block.startAgain(tx);
    request.checkpoint();
    return block.startedMicros;
  }

  /**
   * SET TRANSACTION: of the isolation only right after a COMMIT or ROLLBACK, because what calls a body is a query.
   * Throws 25001.
   */
  setModes(modes: GivenModes): void {
    const { alone } = this;
    const { block } = this.scope;
    if (!this.hasModes && !block.isOpen) block.modes.query();
    this.hasModes = !block.isOpen;
    block.modes.change(modes);
    if (alone === null || block.modes.hasQueried) return;
    alone.tx.rollback();
    block.startAgain(alone.tx);
  }

  /** The statement has ended; outside of a transaction block SET LOCAL ends with it. */
  finish(): void {
    const { block, names } = this.scope;
    if (this.hasModes) block.modes.end();
    this.hasModes = false;
    if (!block.isOpen) names.settings.endStatement();
  }

  private async commit({ tx, request }: AloneStatement): Promise<void> {
    const { names, tenant } = this.scope;
    await this.checkDeferred(tx, request);
    await tx.prepareCommit(request);
    applyOnCommit(names, tx);
    const origin = request.origin ?? request;
    const { hasActed } = origin;
    // What is committed is not done again, should the rest of the statement fail.
    origin.hasActed = true;
    try {
      tenant.transactions.ending(() => origin.commitPart!(tx));
    } catch (error) {
      origin.hasActed = hasActed;
      throw error;
    }
  }

  /** What the functions of a statement that is alone have left to check for the end of its transaction. */
  checkDeferred(tx: ShardTransaction, request: Client): void | Promise<void> {
    const { block } = this.scope;
    if (block.isOpen || block.constraints === null || !block.constraints.anyWait) return;
    return block.constraints.endTransaction(this.scope.contextFor(tx, request, []));
  }
}

function commitsParts(request: Client): boolean {
  return (request.origin ?? request).commitPart !== undefined;
}

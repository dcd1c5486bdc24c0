/** The channels that one session listens to. LISTEN and UNLISTEN count from their transaction's commit on. */
import type { SessionCommand } from "../../sql/parse/session-command.js";

type Change = Exclude<SessionCommand, { readonly kind: "notify" }>;

export class Channels {
  readonly names = new Set<string>();
  /** Of the open transaction, in order. */
  private changes: Change[] = [];

  note(change: Change): void {
    this.changes.push(change);
  }

  transactionEnded(hasCommitted: boolean): void {
    if (this.changes.length === 0) return;
    const { changes } = this;
    this.changes = [];
    if (hasCommitted) for (const change of changes) this.apply(change);
  }

  private apply({ kind, channel }: Change): void {
    if (kind === "listen") this.names.add(channel);
    else if (channel === null) this.names.clear();
    else this.names.delete(channel);
  }

  /** All at once, whatever the transaction. */
  clear(): void {
    this.changes = [];
    this.names.clear();
  }
}

/**
 * Subscriptions to the same changes in the same form: each change is looked at once, and one message for all goes to
 * the gateway. Made by subscriptions.ts with its first member; follows its table while it has members.
 */
import { DbError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { ChangeForm } from "./change-form.js";
import type { RowView } from "./follow-target.js";
import type { ChangedRow, RowChange, TableEvent } from "./row-change.js";
import type { TableFollower, TableWatch } from "./table-watch.js";

/** Somebody who gets what the group's channel gets. */
export interface Member {
  /** Ends it; `sequence` is what it has seen. */
  end(error: DbError): void;
}

export interface GroupHost {
  /** Runs `work` with what conditions need. */
  withContext<T>(work: (context: ExecContext) => T): T;
  publish(channel: number, sequence: number, message: Uint8Array): void;
  /** The view of the table as it is now. Throws when the subscription makes no sense any more. */
  view(): RowView;
  /** A fault of ours. */
  failed(error: unknown): void;
  /** The last member has left. */
  empty(): void;
}

export class ChangeGroup implements TableFollower {
  readonly members = new Set<Member>();
  private view: RowView;
  /** Messages by change, while the change is in memory; null: the change does not concern this group. */
  private messages = new WeakMap<RowChange, Uint8Array | null>();

  constructor(
    readonly channel: number,
    readonly form: ChangeForm,
    readonly watch: TableWatch,
    private readonly host: GroupHost,
  ) {
    this.view = host.view();
  }

  join(member: Member): void {
    if (this.members.size === 0) this.watch.followers.add(this);
    this.members.add(member);
  }

  leave(member: Member): void {
    if (!this.members.delete(member) || this.members.size > 0) return;
    this.watch.followers.delete(this);
    this.host.empty();
  }

  changed(rows: readonly ChangedRow[]): void {
    try {
      for (const { micros, message } of this.messagesOf(rows)) this.host.publish(this.channel, micros, message);
    } catch (error) {
      this.endAll(error);
    }
  }

  /** The message for followers about these changes. */
  messagesOf(rows: readonly ChangedRow[]): { readonly micros: number; readonly message: Uint8Array }[] {
    return this.host.withContext((context) => {
      const messages: { micros: number; message: Uint8Array }[] = [];
      for (const row of rows) {
        let message = this.messages.get(row.change);
        if (message === undefined) {
          message = this.messageOf(row, context);
          this.messages.set(row.change, message);
        }
        if (message !== null) messages.push({ micros: row.micros, message });
      }
      return messages;
    });
  }

  /**
   * To followers, a row that leaves the filter is deleted and a row that enters it is inserted, as in PostgreSQL's row
   * filters.
   */
  private messageOf({ before, after, micros }: ChangedRow, context: ExecContext): Uint8Array | null {
    const old = before !== null && this.view.holds(before, context) ? before : null;
    const now = after !== null && this.view.holds(after, context) ? after : null;
    if (now === null && old === null) return null;
    const operation = now === null ? "delete" : old === null ? "insert" : "update";
    return this.written(operation, this.view.document(now ?? old!), micros);
  }

  private written(operation: string, document: string, micros: number): Uint8Array {
    const { name, fields } = this.view;
    const timestamp = new Date(micros / 1000).toISOString();
    const head = `{"operation":"${operation}","collection":${JSON.stringify(name)}${fields}`;
    const json = `${head},"document":${document},"timestamp":"${timestamp}","sequence":${micros}}`;
    return this.form.shared("change", json, micros);
  }

  happened(event: TableEvent, micros: number): void {
    if (event === "dropped") {
      this.endAll(
        new DbError("not_found", "The subscribed table or collection was dropped.", {
          sequence: micros,
          sqlstate: "42P01",
        }),
      );
      return;
    }
    if (event === "truncated") this.host.publish(this.channel, micros, this.written("truncate", "null", micros));
    try {
      this.view = this.host.view();
      this.messages = new WeakMap();
    } catch (error) {
      this.endAll(error);
    }
  }

  private endAll(thrown: unknown): void {
    if (!(thrown instanceof DbError)) this.host.failed(thrown);
    const error = thrown instanceof DbError ? thrown : new DbError("internal_error");
    for (const member of [...this.members]) member.end(error);
  }
}

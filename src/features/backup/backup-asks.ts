/**
 * Asks the directory's actor: for a restore of a tenant (RESTORE in SQL), or for the mark of the backup folder. The
 * main thread carries question and answer. Owned by the tenant's actor.
 */
import type { BackupAnswer, BackupAsk } from "../../protocol/backup-orders.js";
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";

type Hear = (answer: BackupAnswer) => void;
type Wanted<T = BackupAsk> = T extends unknown ? Omit<T, "id"> : never;

/** Another node has the directory, or none: the question may be lost. */
const MARK_MS_MAX = 10_000;

export class BackupAsks {
  private readonly waiting = new Map<number, Hear>();
  private last = 0;

  constructor(private readonly say: (message: FromActor) => void) {}

  /** How the restore began. Rejects with what was wrong with the question, or why `signal` was aborted. */
  async restore(wanted: Omit<Extract<BackupAsk, { wants: "restore" }>, "id" | "wants">, signal: AbortSignal) {
    const answer = await this.ask({ wants: "restore", ...wanted }, signal);
    return "view" in answer ? answer.view : {};
  }

  /** What the folder's mark must say. Throws partition_unavailable when nobody answers. */
  async mark(partition: number): Promise<string> {
    const late = new DbError("partition_unavailable", "The directory does not answer. Make the backup again.");
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(late), MARK_MS_MAX);
    try {
      const answer = await this.ask({ wants: "mark", partition }, over.signal);
      return "mark" in answer ? answer.mark : "";
    } finally {
      clearTimeout(timer);
    }
  }

  private ask(wanted: Wanted, signal: AbortSignal): Promise<BackupAnswer> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.waiting.delete(id);
        reject(signal.reason as Error);
      };
      this.waiting.set(id, (answer) => {
        signal.removeEventListener("abort", stop);
        if ("error" in answer) reject(new DbError(answer.error.code, answer.error.message));
        else resolve(answer);
      });
      signal.addEventListener("abort", stop, { once: true });
      this.say({ kind: "backup-ask", ask: { id, ...wanted } });
    });
  }

  heard(answer: BackupAnswer): void {
    this.waiting.get(answer.id)?.(answer);
    this.waiting.delete(answer.id);
  }
}

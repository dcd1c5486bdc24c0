/**
 * Asks the directory's actor to restore a tenant, for RESTORE in SQL. The main thread carries question and answer.
 * Owned by the tenant's actor.
 */
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";
import type { RestoreAnswer, RestoreAsk } from "../../protocol/placement.js";

type Hear = (answer: RestoreAnswer) => void;

export class RestoreAsks {
  private readonly waiting = new Map<number, Hear>();
  private last = 0;

  constructor(private readonly say: (message: FromActor) => void) {}

  /** How the restore began. Rejects with what was wrong with the question, or why `signal` was aborted. */
  ask(wanted: Omit<RestoreAsk, "id">, signal: AbortSignal): Promise<object> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.waiting.delete(id);
        reject(signal.reason as Error);
      };
      this.waiting.set(id, (answer) => {
        signal.removeEventListener("abort", stop);
        if ("view" in answer) resolve(answer.view);
        else reject(new DbError(answer.error.code, answer.error.message));
      });
      signal.addEventListener("abort", stop, { once: true });
      this.say({ kind: "restore-ask", ask: { id, ...wanted } });
    });
  }

  heard(answer: RestoreAnswer): void {
    this.waiting.get(answer.id)?.(answer);
    this.waiting.delete(answer.id);
  }
}

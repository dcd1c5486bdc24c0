/**
 * An actor's end of the library of models: calls that are answered later, and the library's announcements to all
 * actors. Made by the actor; handlers and statements reach it through their partition.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../../protocol/errors.js";
import {
  errorOf,
  type FromLibrary,
  type LibraryAnswers,
  type LibraryFacts,
  type LibraryRequest,
  type PullFacts,
  type ToLibrary,
} from "../../protocol/model-library.js";

/** What the library asks of the actor's models. */
export interface LibraryListener {
  /** Resolves when the bundle in that folder is in use no longer. */
  letGo(directory: string): Promise<void>;
  /** The installed models have changed. */
  changed(): void;
}

interface Call {
  readonly resolve: (value: LibraryAnswers[keyof LibraryAnswers]) => void;
  readonly reject: (error: unknown) => void;
  readonly report: ((facts: PullFacts) => void) | null;
}

export interface PullWaiting {
  readonly report?: (facts: PullFacts) => void;
  /** Ends the waiting, not the pull. */
  readonly signal?: AbortSignal;
}

export class LibraryClient {
  private readonly calls = new Map<string, Call>();
  /** Of this actor's life, so that no answer to an earlier one's call is taken for one of its own. */
  private readonly life = randomUUID();
  private lastCall = 0;

  constructor(
    private readonly say: (message: ToLibrary) => void,
    private readonly listener: LibraryListener,
  ) {}

  /** Begins or joins a pull. */
  startPull(model: string): Promise<PullFacts> {
    return this.ask({ do: "pull", model, wait: false });
  }

  /** Begins or joins a pull and waits for its end. Rejects with what it failed with. */
  async pull(model: string, { report, signal }: PullWaiting = {}): Promise<PullFacts> {
    const facts = await this.ask({ do: "pull", model, wait: true }, report, signal);
    if (facts.error !== null) throw errorOf(facts.error);
    return facts;
  }

  pulls(): Promise<readonly PullFacts[]> {
    return this.ask({ do: "pulls" });
  }

  findPull(pull: string): Promise<PullFacts> {
    return this.ask({ do: "find-pull", pull });
  }

  cancelPull(pull: string): Promise<PullFacts> {
    return this.ask({ do: "cancel", pull });
  }

  /** Returns the name of the deleted model. */
  delete(model: string): Promise<string> {
    return this.ask({ do: "delete", model });
  }

  facts(): Promise<LibraryFacts> {
    return this.ask({ do: "facts" });
  }

  hear(message: FromLibrary): void {
    switch (message.kind) {
      case "progress":
        this.calls.get(message.call)?.report?.(message.pull);
        break;
      case "answer":
        this.take(message.call)?.resolve(message.value);
        break;
      case "refused":
        this.take(message.call)?.reject(errorOf(message.error));
        break;
      case "let-go": {
        const { ask } = message;
        void this.listener.letGo(message.directory).then(() => this.say({ kind: "let-go", ask }));
        break;
      }
      case "changed":
        this.listener.changed();
        break;
      case "lost":
        for (const call of [...this.calls.keys()]) this.take(call)!.reject(lost());
        break;
    }
  }

  private ask<R extends LibraryRequest>(
    request: R,
    report?: (facts: PullFacts) => void,
    signal?: AbortSignal,
  ): Promise<LibraryAnswers[R["do"]]> {
    signal?.throwIfAborted();
    const call = `${this.life} ${++this.lastCall}`;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.calls.delete(call);
        this.say({ kind: "forget", call });
        reject(signal!.reason);
      };
      const settled = <T>(settle: (value: T) => void) => {
        return (value: T): void => {
          signal?.removeEventListener("abort", onAbort);
          settle(value);
        };
      };
      this.calls.set(call, {
        resolve: settled(resolve as (value: LibraryAnswers[keyof LibraryAnswers]) => void),
        reject: settled(reject),
        report: report ?? null,
      });
      signal?.addEventListener("abort", onAbort);
      this.say({ kind: "call", call, request });
    });
  }

  private take(call: string): Call | undefined {
    const found = this.calls.get(call);
    this.calls.delete(call);
    return found;
  }
}

function lost(): DbError {
  return new DbError("overloaded", "The model library restarted; retry.", { retry_after_seconds: 1 });
}

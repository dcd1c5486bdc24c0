/**
 * The library's end of the messages from actors: they become calls of model-library.ts, whose answers go back to the
 * actor that asked. Made by the library's thread (workers/library.ts), which owns it.
 */
import { DbError } from "../../protocol/errors.js";
import {
  type FromLibrary,
  type FromLibraryThread,
  type LibraryAnswers,
  type LibraryRequest,
  type ToLibrary,
  type ToLibraryThread,
  toldError,
} from "../../protocol/model-library.js";
import { type LibrarySettings, type LibrarySurroundings, ModelLibrary } from "./model-library.js";
import { WishKeeper } from "./wish-keeper.js";

/** How long a bundle that is to be deleted may still be in use. */
const LET_GO_MS = 10_000;

/** A question to all actors whether they have let go. */
interface Asked {
  /** Those that have not said so; null: it is not known yet who was asked. */
  waiting: Set<number> | null;
  /** Those that answered before it was known who was asked. */
  readonly early: Set<number>;
  readonly resolve: (all: boolean) => void;
}

export class LibraryService {
  private readonly library: ModelLibrary;
  /** In a cluster. */
  private readonly keeper: WishKeeper | null = null;
  private readonly asked = new Map<number, Asked>();
  private lastAsk = 0;
  private readonly answering = new Set<Promise<void>>();
  /** Stops the reports of a pull, by call. */
  private readonly following = new Map<string, () => void>();

  constructor(
    private readonly settings: LibrarySettings,
    private readonly say: (message: FromLibraryThread) => void,
  ) {
    const around: LibrarySurroundings = {
      letGo: (directory) => this.letGo(directory),
      changed: () => {
        say({ kind: "to-all", message: { kind: "changed" } });
        this.keeper?.wake();
      },
      log: (level, message, fields) => say({ kind: "log", level, message, fields }),
    };
    this.library = new ModelLibrary(settings, around);
    if (settings.shared === null) return;
    this.keeper = new WishKeeper(this.library, settings.shared, around);
    this.keeper.start();
  }

  hear(message: Exclude<ToLibraryThread, { kind: "close" }>): void {
    switch (message.kind) {
      case "from-actor":
        this.heardFrom(message.actor, message.message);
        break;
      case "actor-ended":
        for (const ask of this.asked.keys()) this.letGone(ask, message.actor);
        break;
      case "sent": {
        const asked = this.asked.get(message.ask);
        if (asked === undefined) break;
        asked.waiting = new Set(message.actors.filter((actor) => !asked.early.has(actor)));
        this.settle(message.ask);
        break;
      }
    }
  }

  /** Resolves when everybody has been answered. */
  async close(): Promise<void> {
    const kept = this.keeper?.close();
    await this.library.close();
    await kept;
    await Promise.all(this.answering);
    this.settings.shared?.close();
  }

  private heardFrom(actor: number, message: ToLibrary): void {
    switch (message.kind) {
      case "call":
        this.begin(this.answer(actor, message.call, message.request));
        break;
      case "forget":
        this.following.get(message.call)?.();
        break;
      case "let-go":
        this.letGone(message.ask, actor);
        break;
    }
  }

  private begin(answer: Promise<void>): void {
    this.answering.add(answer);
    void answer.finally(() => this.answering.delete(answer));
  }

  private async answer(actor: number, call: string, request: LibraryRequest): Promise<void> {
    const to = (message: FromLibrary) => this.say({ kind: "to-actor", actor, message });
    try {
      to({ kind: "answer", call, value: await this.work(call, request, to) });
    } catch (error) {
      const told = error instanceof DbError ? error : new DbError("internal_error", (error as Error).message);
      if (told.code === "internal_error") {
        this.say({
          kind: "log",
          level: "warn",
          message: "a call to the library failed",
          fields: { error: String(error) },
        });
      }
      to({ kind: "refused", call, error: toldError(told) });
    } finally {
      this.following.delete(call);
    }
  }

  private async work(
    call: string,
    request: LibraryRequest,
    to: (message: FromLibrary) => void,
  ): Promise<LibraryAnswers[keyof LibraryAnswers]> {
    const { library } = this;
    switch (request.do) {
      case "pull": {
        const pull = library.pull(request.model);
        if (!request.wait) return pull;
        to({ kind: "progress", call, pull });
        const { ended, stop } = library.follow(pull.id, (facts) => to({ kind: "progress", call, pull: facts }));
        this.following.set(call, stop);
        return ended.finally(stop);
      }
      case "pulls":
        return library.pulls();
      case "find-pull":
        return library.find(request.pull);
      case "cancel":
        return library.cancel(request.pull);
      case "delete":
        return library.delete(request.model);
      case "facts":
        return library.facts();
    }
  }

  private letGo(directory: string): Promise<boolean> {
    const ask = ++this.lastAsk;
    return new Promise<boolean>((resolve) => {
      const late = setTimeout(() => settled(false), LET_GO_MS);
      const settled = (all: boolean): void => {
        clearTimeout(late);
        this.asked.delete(ask);
        resolve(all);
      };
      this.asked.set(ask, { waiting: null, early: new Set(), resolve: settled });
      this.say({ kind: "to-all", message: { kind: "let-go", ask, directory } });
    });
  }

  /** The actor said so, or is no more. */
  private letGone(ask: number, actor: number): void {
    const asked = this.asked.get(ask);
    if (asked === undefined) return;
    if (asked.waiting === null) asked.early.add(actor);
    else asked.waiting.delete(actor);
    this.settle(ask);
  }

  private settle(ask: number): void {
    const asked = this.asked.get(ask);
    if (asked?.waiting?.size === 0) asked.resolve(true);
  }
}

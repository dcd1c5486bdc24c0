/**
 * Has a node of a cluster do what all nodes shall: pulls models that are wanted and not here, one after the other, and
 * deletes what was deleted at another node. Looks every few seconds, and tells the others what this node has. Made by
 * library-service.ts; runs as long as the library's thread.
 */
import { DbError } from "../../protocol/errors.js";
import type { ModelWish, SharedModels, SharedView } from "../../protocol/shared-models.js";
import type { HeldBundle, LibrarySurroundings, ModelLibrary } from "./model-library.js";
import { LATEST, parseModelReference } from "./model-reference.js";

const LOOK_MS = 3000;
/** After the first failure; each further one waits twice as long. */
const PAUSE_MS = 5000;
const PAUSE_MS_MAX = 600_000;
/** After these errors there is nothing to wait for but the next look. */
const PASSING: ReadonlySet<string> = new Set(["overloaded", "shutting_down"]);

type Wanted = Extract<ModelWish, { readonly state: "wanted" }>;

export interface Step {
  readonly id: string;
  readonly wish: ModelWish;
}

/** What is to be done so that a node has what all shall have. */
export function stepsOf(
  wishes: SharedView["wishes"],
  held: ReadonlyMap<string, HeldBundle>,
): { readonly pull: readonly (Step & { readonly wish: Wanted })[]; readonly drop: readonly Step[] } {
  const pull: (Step & { readonly wish: Wanted })[] = [];
  const drop: Step[] = [];
  for (const [id, wish] of wishes) {
    const bundle = held.get(id);
    // What comes with the program is neither pulled nor deleted, and what somebody put there by hand is not deleted.
    if (bundle?.isOwn) continue;
    if (wish.state === "wanted" && !isThat(wish, bundle)) pull.push({ id, wish });
    if (wish.state === "deleted" && bundle !== undefined && bundle.tag !== null) drop.push({ id, wish });
  }
  return { pull, drop };
}

/** Requests may name a model by its tag, so that has to be the same, too. */
function isThat({ model, digest }: Wanted, bundle: HeldBundle | undefined): boolean {
  return bundle?.digest === digest && (bundle.tag ?? LATEST) === parseModelReference(model).tag;
}

interface Failure {
  /** What it was about: with something else there is reason to try again. */
  readonly about: string;
  readonly times: number;
  readonly nextMs: number;
  readonly why: string;
}

export class WishKeeper {
  /** By id. */
  private readonly failures = new Map<string, Failure>();
  private isEnded = false;
  /** Something has changed since the last look began. */
  private isDueNow = false;
  private endPause: () => void = () => undefined;
  private pulling: Promise<void> | null = null;
  private running: Promise<void> = Promise.resolve();
  private hasAdopted = false;
  private isSilent = false;
  /** What was here at the last look. */
  private seen = "";

  constructor(
    private readonly library: Pick<ModelLibrary, "bundles" | "pull" | "follow" | "deleteUnwanted">,
    private readonly shared: SharedModels,
    private readonly around: Pick<LibrarySurroundings, "changed" | "log">,
    private readonly now: () => number = Date.now,
  ) {}

  start(): void {
    this.running = this.run();
  }

  /** Something has changed here: the next look is now. */
  wake(): void {
    this.isDueNow = true;
    this.endPause();
  }

  /** Pulls have to be ended by the library. */
  async close(): Promise<void> {
    this.isEnded = true;
    this.wake();
    await this.running;
    await this.pulling;
  }

  private async run(): Promise<void> {
    while (!this.isEnded) {
      this.isDueNow = false;
      await this.look().then(
        () => this.answers(),
        (error: unknown) => this.isUnanswered(error),
      );
      if (!this.isDueNow) await this.pause();
    }
  }

  private async pause(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LOOK_MS);
      this.endPause = resolve;
    });
    clearTimeout(timer);
  }

  private answers(): void {
    this.isSilent = false;
  }

  private isUnanswered(error: unknown): void {
    if (this.isSilent || this.isEnded) return;
    this.isSilent = true;
    this.around.log("warn", "etcd does not say which models the nodes shall have", { error: String(error) });
  }

  /** Once; `pulled` resolves when the pull that it has begun, if any, has ended. */
  async look(): Promise<void> {
    if (!this.hasAdopted) await this.adopt();
    const view = await this.shared.view();
    const before = this.library.bundles();
    this.noteChanges(before);
    const { pull, drop } = stepsOf(view.wishes, before);
    for (const step of drop) if (this.isDue(step, view)) await this.drop(step, view);
    const due = pull.find((step) => this.isDue(step, view));
    if (due !== undefined && this.pulling === null && !this.isEnded) {
      this.pulling = this.pull(due, view).finally(() => {
        this.pulling = null;
        this.wake();
      });
    }
    await this.tell([...pull, ...drop]);
  }

  /** For tests: until no pull is under way. */
  async idle(): Promise<void> {
    await this.pulling;
  }

  /** What was pulled before there was a cluster, or by a release that told nobody, all nodes shall have from now on. */
  private async adopt(): Promise<void> {
    for (const [id, { digest, tag }] of this.library.bundles()) {
      if (tag === null) continue;
      await this.shared.setFirst(id, { state: "wanted", model: `${id}:${tag}`, digest, sinceMs: this.now() });
    }
    this.hasAdopted = true;
  }

  /** Another node may have the same folder for its models. */
  private noteChanges(held: ReadonlyMap<string, HeldBundle>): void {
    const seen = JSON.stringify([...held]);
    if (this.seen !== "" && this.seen !== seen) this.around.changed();
    this.seen = seen;
  }

  private async tell(steps: readonly Step[]): Promise<void> {
    const held = this.library.bundles();
    const { pull, drop } = stepsOf(new Map(steps.map(({ id, wish }) => [id, wish])), held);
    const open = new Set([...pull, ...drop].map(({ id }) => id));
    const problems: Record<string, string> = {};
    for (const [id, { why }] of this.failures) {
      if (open.has(id)) problems[id] = why;
      else this.failures.delete(id);
    }
    const has = Object.fromEntries([...held].map(([id, { digest }]) => [id, digest]));
    await this.shared.tell({ has, problems });
  }

  private isDue({ id, wish }: Step, view: SharedView): boolean {
    const failure = this.failures.get(id);
    return failure === undefined || failure.about !== aboutOf(id, wish, view) || failure.nextMs <= this.now();
  }

  private async pull({ id, wish }: Step & { readonly wish: Wanted }, view: SharedView): Promise<void> {
    try {
      const { id: pull } = this.library.pull(wish.model, wish.digest);
      const { error } = await this.library.follow(pull, () => undefined).ended;
      if (error === null) this.failures.delete(id);
      else this.failed({ id, wish }, view, error);
    } catch (error) {
      this.failed({ id, wish }, view, error);
    }
  }

  private async drop({ id, wish }: Step, view: SharedView): Promise<void> {
    try {
      await this.library.deleteUnwanted(id, this.shared);
      this.failures.delete(id);
    } catch (error) {
      // Without etcd nothing is deleted, and that is said for all models at once.
      if (error instanceof DbError && error.code === "log_unavailable") throw error;
      this.failed({ id, wish }, view, error);
    }
  }

  private failed({ id, wish }: Step, view: SharedView, error: unknown): void {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    if (code !== undefined && PASSING.has(code)) return;
    if (code === "model_in_use" && wish.state === "wanted") return;
    const about = aboutOf(id, wish, view);
    const known = this.failures.get(id);
    const times = known?.about === about ? known.times + 1 : 1;
    const pause = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** (times - 1));
    this.failures.set(id, { about, times, nextMs: this.now() + pause, why: message });
    if (known?.why === message) return;
    const fields = { model: wish.state === "wanted" ? wish.model : id, problem: message };
    if (wish.state === "deleted") this.around.log("warn", "a model that was deleted is still on this node", fields);
    else {
      const told =
        "this node lacks a model that all nodes shall have: name a source that has it in ai.pull.sources, or delete the model";
      this.around.log("warn", told, fields);
    }
  }
}

/** The wish, and the nodes that can help with it. */
function aboutOf(id: string, wish: ModelWish, { nodes }: SharedView): string {
  if (wish.state === "deleted") return "deleted";
  const having = [...nodes].filter(([, told]) => told.has[id] === wish.digest).map(([node]) => node);
  return [wish.model, wish.digest, ...having.sort()].join(" ");
}

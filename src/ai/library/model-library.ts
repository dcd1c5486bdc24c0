/**
 * The library of the installation's models: pulls them into the model root and deletes them there. All actors share
 * the root, so there is one library, in a thread of its own (workers/library.ts). A model is therefore pulled once
 * however many ask for it, and neither hashing nor the disk keeps a request waiting. It owns the jobs, and remembers
 * some that have ended.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { DbError } from "../../protocol/errors.js";
import { type AvailableModel, type LibraryFacts, type PullFacts, toldError } from "../../protocol/model-library.js";
import type { SharedModels, WishChange } from "../../protocol/shared-models.js";
import { type FoundBundle, findBundles } from "../bundle.js";
import { KNOWN_MODELS, type KnownModel, knownModel } from "./known-models.js";
import { LATEST, type ModelReference, parseModelReference, referenceText } from "./model-reference.js";
import type { Offer } from "./model-source.js";
import { type PulledForm, type PullProgress, type PullSettings, pullModel } from "./pull.js";
import { freeBytes, removeStaging, tidy, uninstall } from "./staging.js";

export interface LibrarySettings extends PullSettings {
  /** The folder of the bundles that come with the program. */
  readonly bundled: string;
  /** The model that embeds when none is named. */
  readonly embeddingModel: string;
  /** Of one pull, milliseconds. */
  readonly timeoutMs: number;
  /** A source is a hub. */
  readonly hasHub: boolean;
  /** Of a cluster; null: there is one machine. */
  readonly shared: SharedModels | null;
}

export interface LibrarySurroundings {
  /** All actors shall use the bundle in that folder no longer; resolves to false when one cannot in time. */
  letGo(directory: string): Promise<boolean>;
  /** Tells all actors to look again at what is installed. */
  changed(): void;
  log(level: "info" | "warn", message: string, fields: object): void;
}

const RUNNING_MAX = 2;
const WAITING_MAX = 16;
const ENDED_KEPT_MAX = 100;
/** Between two reports of one pull. */
const REPORT_MS = 200;

type Job = {
  -readonly [Field in keyof PullFacts]: PullFacts[Field];
} & {
  readonly reference: PulledForm;
  readonly abort: AbortController;
  readonly followers: Set<(facts: PullFacts) => void>;
  readonly ended: Promise<void>;
  end: () => void;
  reportedMs: number;
};

export class ModelLibrary {
  /** In the order in which they were asked for. */
  private readonly jobs = new Map<string, Job>();
  private tidied: Promise<void> | null = null;
  /** By their names. */
  private readonly deleting = new Set<string>();

  constructor(
    private readonly settings: LibrarySettings,
    private readonly around: LibrarySurroundings,
  ) {}

  /**
   * Begins to pull a model (`name:tag`), or joins the running pull of it. Throws an error if the name is not valid. In
   * a cluster all nodes shall have it then. `digest`: they shall already, and it has to be this bundle.
   */
  pull(text: string, digest: string | null = null): PullFacts {
    const reference = parseModelReference(text);
    const name = nameOf(reference);
    const active = [...this.jobs.values()].filter(isActive);
    const same = active.find((job) => nameOf(job.reference) === name);
    if (same !== undefined) {
      if (same.reference.tag === reference.tag) return factsOf(same);
      throw new DbError("model_in_use", `Another form of it, "${same.model}", is being pulled; wait or cancel that.`, {
        pull: same.id,
      });
    }
    if (active.length >= RUNNING_MAX + WAITING_MAX) {
      throw new DbError("overloaded", "Too many models are being pulled; retry later.", { retry_after_seconds: 10 });
    }
    this.refuseBundled(reference);
    const job = newJob({ ...reference, digest });
    this.jobs.set(job.id, job);
    this.startWaiting();
    return factsOf(job);
  }

  /**
   * Resolves when the pull has ended. `report` is told now and then how it gets on; stopped by the returned function.
   */
  follow(
    id: string,
    report: (facts: PullFacts) => void,
  ): { readonly ended: Promise<PullFacts>; readonly stop: () => void } {
    const job = this.job(id);
    job.followers.add(report);
    return { ended: job.ended.then(() => factsOf(job)), stop: () => job.followers.delete(report) };
  }

  /** Newest first. */
  pulls(): PullFacts[] {
    return [...this.jobs.values()].reverse().map(factsOf);
  }

  /** Throws `not_found`. */
  find(id: string): PullFacts {
    return factsOf(this.job(id));
  }

  /** Its downloaded files are removed, too. A pull that has ended stays as it is. */
  async cancel(id: string): Promise<PullFacts> {
    const job = this.job(id);
    if (job.status === "pending") this.finish(job, new DbError("pull_cancelled"));
    else if (job.status === "running") {
      job.abort.abort(new DbError("pull_cancelled"));
      await job.ended;
    }
    return factsOf(job);
  }

  /**
   * Deletes an installed model, by `name` or `name:tag`, once nobody uses it any more. Gives its name. Rejects with
   * `model_not_found`, `model_in_use`, and `forbidden` for what comes with the program. In a cluster it goes from all
   * nodes, also when it is not installed here yet.
   */
  async delete(text: string): Promise<string> {
    const reference = parseModelReference(text);
    const wanted = text.includes(":") ? reference : { ...reference, tag: null };
    const { root, shared } = this.settings;
    const awaited = bundleOf(root, wanted) === null ? await this.awaited(wanted) : null;
    const found = awaited === null ? this.installed(wanted) : null;
    const id = awaited ?? idOf(found!);
    const mark = async (): Promise<boolean> => {
      await shared?.set(id, { state: "deleted", sinceMs: Date.now() });
      return true;
    };
    await this.remove(id, found, mark);
    return id;
  }

  /** Deletes what was pulled here and deleted elsewhere, unless it is wanted again. Rejects with `model_in_use`. */
  async deleteUnwanted(id: string, shared: SharedModels): Promise<void> {
    const found = bundleOf(this.settings.root, { name: id, tag: null });
    if (found === null || found.pulled === null || idOf(found) !== id) return;
    // Nobody can pull it here meanwhile.
    await this.remove(id, found, async () => (await shared.wish(id))?.state === "deleted");
  }

  /** The id of a model that this node shall have and has not; null: there is no such model. */
  private async awaited({ name, tag }: Wanted): Promise<string | null> {
    const { shared, bundled } = this.settings;
    if (shared === null || bundleOf(bundled, { name, tag: null }) !== null) return null;
    for (const [id, wish] of (await shared.view()).wishes) {
      if (wish.state !== "wanted") continue;
      const own = parseModelReference(wish.model);
      if ((id === name || own.name === name) && (tag === null || tag === own.tag)) return id;
    }
    return null;
  }

  /** `found`: what is installed of it. `agrees` is asked when nobody uses it any more; false: it stays. */
  private async remove(id: string, found: FoundBundle | null, agrees: () => Promise<boolean>): Promise<void> {
    const { embeddingModel } = this.settings;
    if (id === embeddingModel || found?.manifest?.alias === embeddingModel) {
      throw new DbError("model_in_use", `"${id}" is the model in ai.embedding_model; configure another one first.`, {
        model: id,
        sqlstate: "55006",
      });
    }
    const pull = [...this.jobs.values()].find((job) => isActive(job) && [job.name, nameOf(job.reference)].includes(id));
    if (pull !== undefined) throw new DbError("model_in_use", `"${id}" is being pulled.`, { pull: pull.id });
    if (this.deleting.has(id)) throw beingDeleted(id);
    this.deleting.add(id);
    try {
      if (found === null) await agrees();
      else await this.removeFiles(id, found.directory, agrees);
    } finally {
      this.deleting.delete(id);
    }
  }

  private async removeFiles(id: string, directory: string, agrees: () => Promise<boolean>): Promise<void> {
    const { around, settings } = this;
    try {
      if (!(await around.letGo(directory))) {
        throw new DbError("model_in_use", `"${id}" is in use by long requests, so it was not deleted. Retry later.`, {
          model: id,
          sqlstate: "55006",
        });
      }
      if (!(await agrees())) return;
      await uninstall(settings.root, directory);
      await removeStaging(settings.root, id);
      around.log("info", "a model was deleted", { model: id });
    } finally {
      around.changed();
    }
  }

  /** What is in the root, by id; of what comes with the program it says so. */
  bundles(): ReadonlyMap<string, HeldBundle> {
    const { root, bundled } = this.settings;
    const held = new Map<string, HeldBundle>();
    for (const found of findBundles(bundled)) held.set(idOf(found), { digest: found.digest, tag: null, isOwn: true });
    for (const found of findBundles(root)) {
      held.set(idOf(found), { digest: found.digest, tag: found.pulled?.tag ?? null, isOwn: false });
    }
    return held;
  }

  async facts(): Promise<LibraryFacts> {
    const { root, sources, hasHub, shared } = this.settings;
    this.makeRoot();
    return {
      ...(shared !== null && { shared: await shared.view() }),
      sources: sources.map(({ name }) => name),
      freeBytes: await freeBytes(root),
      available: hasHub ? KNOWN_MODELS.map(availableOf) : [],
    };
  }

  /** Ends all pulls; their downloaded files stay for later ones. */
  async close(): Promise<void> {
    const ending = new DbError("shutting_down");
    for (const job of this.jobs.values()) if (job.status === "pending") this.finish(job, ending);
    const running = [...this.jobs.values()].filter(isActive);
    for (const job of running) job.abort.abort(ending);
    await Promise.all(running.map(({ ended }) => ended));
  }

  private job(id: string): Job {
    const job = this.jobs.get(id);
    if (job !== undefined) return job;
    throw new DbError(
      "not_found",
      `There is no pull ${JSON.stringify(id.slice(0, 100))}. Old pulls are forgotten after a while.`,
    );
  }

  private startWaiting(): void {
    for (const job of this.jobs.values()) {
      const running = [...this.jobs.values()].filter(({ status }) => status === "running").length;
      if (running >= RUNNING_MAX) return;
      if (job.status === "pending") void this.run(job);
    }
  }

  private async run(job: Job): Promise<void> {
    job.status = "running";
    job.phase = "resolving";
    const { settings, around } = this;
    const made: { wish: WishChange | null } = { wish: null };
    const late = setTimeout(() => {
      const message = `The pull took longer than ${settings.timeoutMs / 1000} s (ai.pull.timeout_seconds); pull again to continue.`;
      job.abort.abort(new DbError("model_source_failed", message));
    }, settings.timeoutMs);
    try {
      this.makeRoot();
      this.tidied ??= tidy(settings.root, Date.now());
      await this.tidied;
      around.log("info", "a model is being pulled", { model: job.model, pull: job.id });
      const agreed = async (id: string, digest: string): Promise<void> => {
        made.wish = await this.wish(job, id, digest);
      };
      const progress = { ...this.progressOf(job), agreed };
      const { id, bytes } = await pullModel(job.reference, settings, progress, job.abort.signal);
      job.name = id;
      job.bytesTotal = bytes;
      job.restartRequired = this.installed({ name: id, tag: null }).manifest?.kind === "nli";
      around.changed();
      around.log("info", "a model was pulled", { model: job.model, source: job.source, bytes });
      this.finish(job, null);
    } catch (error) {
      if (made.wish !== null) await this.takeBack(made.wish);
      if (!(error instanceof DbError)) around.log("warn", "a pull failed", { model: job.model, error: String(error) });
      else around.log("info", "a model was not pulled", { model: job.model, problem: error.message });
      this.finish(job, error instanceof DbError ? error : new DbError("internal_error", (error as Error).message));
    } finally {
      clearTimeout(late);
      this.startWaiting();
    }
  }

  /** In a cluster: all nodes shall have what a client has pulled. */
  private async wish({ model, reference }: Job, id: string, digest: string): Promise<WishChange | null> {
    const { shared } = this.settings;
    if (shared === null || reference.digest !== null) return null;
    return shared.set(id, { state: "wanted", model, digest, sinceMs: Date.now() });
  }

  /** What could not be installed here is wanted nowhere. */
  private async takeBack(wish: WishChange): Promise<void> {
    await this.settings.shared!.takeBack(wish).catch((error: unknown) => {
      const fields = { model: wish.id, problem: String(error) };
      this.around.log(
        "warn",
        "a model could not be installed here, but other nodes pull it: delete it or pull it again",
        fields,
      );
    });
  }

  private progressOf(job: Job): Omit<PullProgress, "agreed"> {
    return {
      resolved: (source, offer) => this.resolved(job, source, offer),
      passed: (source, message) => {
        job.passedOver = [...job.passedOver, { source, message }];
        // What all nodes shall have is asked for again and again, and the log says in another place what is missing.
        const level = job.reference.digest === null ? "warn" : "info";
        this.around.log(level, "a source of models was passed over", { source, problem: message });
      },
      moved: (bytes) => {
        job.bytesDone += bytes;
        report(job, false);
      },
      installing: () => {
        job.phase = "installing";
        report(job, true);
      },
    };
  }

  private resolved(job: Job, source: string, { id, files }: Offer): void {
    if (bundleOf(this.settings.bundled, { name: id, tag: null }) !== null) throw comesWithTheProgram(id);
    if (this.deleting.has(id)) throw beingDeleted(id);
    const other = [...this.jobs.values()].find((one) => one !== job && one.status === "running" && one.name === id);
    if (other !== undefined) {
      throw new DbError("model_in_use", `The same model is being pulled as "${other.model}".`, { pull: other.id });
    }
    job.source = source;
    job.name = id;
    job.phase = "downloading";
    const sizes = files.map(({ bytes }) => bytes);
    job.bytesTotal = sizes.includes(null) ? null : sizes.reduce<number>((sum, bytes) => sum + bytes!, 0);
    report(job, true);
  }

  private finish(job: Job, error: DbError | null): void {
    job.status = error === null ? "completed" : error.code === "pull_cancelled" ? "cancelled" : "failed";
    job.phase = "done";
    job.error = error === null ? null : toldError(error);
    job.endedMs = Date.now();
    report(job, true);
    job.end();
    const ended = [...this.jobs.values()].filter((one) => !isActive(one));
    for (const old of ended.slice(0, Math.max(0, ended.length - ENDED_KEPT_MAX))) this.jobs.delete(old.id);
  }

  private makeRoot(): void {
    mkdirSync(this.settings.root, { recursive: true });
  }

  private refuseBundled({ name }: ModelReference): void {
    const found = bundleOf(this.settings.bundled, { name, tag: null });
    if (found !== null) throw comesWithTheProgram(idOf(found));
  }

  /** In the root. Throws as `delete` says. */
  private installed(reference: Wanted): FoundBundle {
    const { root, bundled } = this.settings;
    const found = bundleOf(root, reference);
    if (found !== null) return found;
    const own = bundleOf(bundled, reference);
    if (own !== null) {
      throw new DbError("forbidden", `The model "${idOf(own)}" comes with the program and cannot be deleted.`, {
        model: idOf(own),
        sqlstate: "42501",
      });
    }
    const text = reference.tag === null ? reference.name : `${reference.name}:${reference.tag}`;
    const names = findBundles(root).map(idOf).join(", ");
    throw new DbError("model_not_found", `There is no model "${text}" to delete; installed: ${names || "none"}.`, {
      model: text,
      sqlstate: "42704",
    });
  }
}

export interface HeldBundle {
  readonly digest: string;
  /** Null: it was not pulled. */
  readonly tag: string | null;
  /** It comes with the program. */
  readonly isOwn: boolean;
}

/** What is asked for among the installed bundles; `tag` null: whatever was pulled. */
interface Wanted {
  readonly name: string;
  readonly tag: string | null;
}

function bundleOf(root: string, { name, tag }: Wanted): FoundBundle | null {
  const found = findBundles(root);
  const one = found.find((bundle) => idOf(bundle) === name) ?? found.find(({ manifest }) => manifest?.alias === name);
  if (one === undefined || (tag !== null && tag !== (one.pulled?.tag ?? LATEST))) return null;
  return one;
}

function idOf({ manifest, directory }: FoundBundle): string {
  return manifest?.id ?? directory.split(/[/\\]/).at(-1)!;
}

/** What a name and an alias of a known model have in common. */
function nameOf({ name }: ModelReference): string {
  return knownModel(name)?.name ?? name;
}

function comesWithTheProgram(id: string): DbError {
  return new DbError("conflict", `The model "${id}" comes with the program, so it already exists and is not pulled.`, {
    model: id,
  });
}

function beingDeleted(id: string): DbError {
  return new DbError("model_in_use", `"${id}" is being deleted; retry in a moment.`, { model: id, sqlstate: "55006" });
}

function isActive({ status }: PullFacts): boolean {
  return status === "pending" || status === "running";
}

function newJob(reference: PulledForm): Job {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    id: `pull_${randomUUID()}`,
    model: referenceText(reference),
    name: null,
    status: "pending",
    phase: "waiting",
    source: null,
    bytesDone: 0,
    bytesTotal: null,
    passedOver: [],
    error: null,
    restartRequired: false,
    startedMs: Date.now(),
    endedMs: null,
    reference,
    abort: new AbortController(),
    followers: new Set(),
    ended,
    end,
    reportedMs: 0,
  };
}

/** `now`: even if the last report was a moment ago. */
function report(job: Job, now: boolean): void {
  const at = performance.now();
  if (job.followers.size === 0 || (!now && at - job.reportedMs < REPORT_MS)) return;
  job.reportedMs = at;
  const facts = factsOf(job);
  for (const follower of job.followers) follower(facts);
}

function factsOf(job: Job): PullFacts {
  const { id, model, name, status, phase, source, bytesDone, bytesTotal } = job;
  const { passedOver, error, restartRequired, startedMs, endedMs } = job;
  const main = { id, model, name, status, phase, source, bytesDone, bytesTotal };
  return { ...main, passedOver, error, restartRequired, startedMs, endedMs };
}

function availableOf({ name, alias, kind, licence, tags }: KnownModel): AvailableModel {
  return { name, alias: alias ?? null, kind, licence, tags: Object.keys(tags) };
}

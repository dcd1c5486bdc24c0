/**
 * One pull: finds the model at the first source that has it, downloads what is missing, checks it, and puts the bundle
 * into the model root. Called by model-library.ts, which owns the job.
 *
 *   sources in order ──▶ sizes, disk ──▶ files, one after the other ──▶ manifest ──▶ {root}/{id}/
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import { BundleError, parseManifest } from "../manifest.js";
import { digestOfManifest } from "./bundle-offer.js";
import { download } from "./download.js";
import { type ModelReference, referenceText } from "./model-reference.js";
import type { ModelSource, Offer, StoredFile } from "./model-source.js";
import { SourceError } from "./source-error.js";
import {
  freeBytes,
  install,
  installedFiles,
  openStaging,
  partOf,
  removeStaging,
  sizeOf,
  takeInstalled,
} from "./staging.js";

export interface PullSettings {
  /** The model root; it exists. */
  readonly root: string;
  readonly sources: readonly ModelSource[];
  /** Of one model. */
  readonly bytesMax: number;
  /** What a pull leaves free on the disk. */
  readonly freeBytesMin: number;
  /** See DownloadLimits. */
  readonly retries: number;
  readonly backoffMs: number;
}

/** The reported state of a running pull. */
export interface PullProgress {
  /** Throws when the bundle must not be installed: another pull is about it, say. */
  resolved(source: string, offer: Offer): void;
  /** A source did not answer as it should; the next one is asked. */
  passed(source: string, why: string): void;
  moved(bytes: number): void;
  installing(): void;
  /** It is here and was checked: it is installed when this resolves. Rejects when it must not be. */
  agreed(id: string, digest: string): Promise<void>;
}

export interface PulledModel {
  readonly id: string;
  readonly bytes: number;
}

interface Resolved {
  readonly source: ModelSource;
  readonly offer: Offer;
}

const OTHER_BUNDLE = "it has another bundle of that name than the nodes of the cluster shall have";

/** After these errors nothing is kept for the next pull. */
const FINAL: ReadonlySet<ErrorCode> = new Set(["model_rejected", "disk_full", "pull_cancelled"]);

/** `digest`: of the manifest that is wanted; null: whatever the source has. */
export interface PulledForm extends ModelReference {
  readonly digest: string | null;
}

/** Rejects with a DbError of the table, or with the signal's reason. */
export async function pullModel(
  model: PulledForm,
  settings: PullSettings,
  progress: PullProgress,
  signal: AbortSignal,
): Promise<PulledModel> {
  const { root } = settings;
  const { source, offer } = await resolve(model, settings, progress, signal);
  progress.resolved(source.name, offer);
  const folder = await openStaging(root, offer.id);
  try {
    await checkRoom(folder, offer, settings);
    const files = await load(folder, offer, settings, progress, signal);
    progress.installing();
    const manifest = await offer.manifest(files);
    parseManifest(manifest);
    const digest = digestOfManifest(manifest);
    if (model.digest !== null && digest !== model.digest) throw new BundleError(OTHER_BUNDLE);
    signal.throwIfAborted();
    await progress.agreed(offer.id, digest);
    const pulled = { tag: model.tag, source: source.name, pulled_at: new Date().toISOString() };
    await install(root, offer.id, files, { "manifest.json": manifest, "pulled.json": JSON.stringify(pulled) });
    return { id: offer.id, bytes: sum(files) };
  } catch (error) {
    const told = signal.aborted ? signal.reason : asDbError(error, source.name, model);
    // What may go better next time goes on from there.
    if (told instanceof DbError && FINAL.has(told.code)) await removeStaging(root, offer.id);
    throw told;
  }
}

/**
 * The first source that has the model. One that cannot be asked is passed over, which is told. Where a digest is
 * wanted, a source that knows its digest only later is taken if no other has the model.
 */
async function resolve(
  model: PulledForm,
  settings: PullSettings,
  progress: PullProgress,
  signal: AbortSignal,
): Promise<Resolved> {
  const problems: string[] = [];
  let perhaps: Resolved | null = null;
  for (const source of settings.sources) {
    try {
      const offer = await ask(source, model, settings, signal);
      if (offer === null) continue;
      if (model.digest === null || offer.digest === model.digest) return { source, offer };
      if (offer.digest !== null) throw new SourceError(OTHER_BUNDLE, false);
      perhaps ??= { source, offer };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceError)) throw asDbError(error, source.name, model);
      progress.passed(source.name, error.message);
      problems.push(`${source.name}: ${error.message}`);
    }
  }
  if (perhaps !== null) return perhaps;
  const text = referenceText(model);
  if (problems.length > 0) {
    throw new DbError("model_source_failed", `No source provided "${text}". ${problems.join("; ")}.`, { model: text });
  }
  throw new DbError("model_not_found", `No source has the model "${text}".`, {
    model: text,
    sqlstate: "42704",
    hint: `These sources from ai.pull.sources were asked: ${settings.sources.map(({ name }) => name).join(", ") || "none"}.`,
  });
}

async function ask(
  source: ModelSource,
  model: ModelReference,
  { retries, backoffMs }: PullSettings,
  signal: AbortSignal,
): Promise<Offer | null> {
  for (let failures = 1; ; failures++) {
    try {
      return await source.find(model, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SourceError) || !error.mayPass || failures > retries) throw error;
      await sleep(Math.max(error.retryAfterMs, backoffMs * 2 ** (failures - 1)), undefined, { signal });
    }
  }
}

async function checkRoom(folder: string, { files }: Offer, settings: PullSettings): Promise<void> {
  const { bytesMax, freeBytesMin } = settings;
  const bytes = files.reduce((all, file) => all + (file.bytes ?? 0), 0);
  if (bytes > bytesMax) {
    throw new DbError("model_rejected", `The model has ${bytes} bytes; ai.pull.bytes_max allows ${bytesMax}.`);
  }
  let here = 0;
  for (const file of files) here += await sizeOf(partOf(folder, file));
  const free = await freeBytes(folder);
  if (free - Math.max(0, bytes - here) >= freeBytesMin) return;
  throw new DbError(
    "disk_full",
    `The model needs ${bytes - here} more bytes. The disk has ${free} left, and ${freeBytesMin} must stay free (ai.pull.free_bytes_min).`,
  );
}

async function load(
  folder: string,
  offer: Offer,
  { root, bytesMax, retries, backoffMs }: PullSettings,
  { moved }: PullProgress,
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const installed = await installedFiles(root);
  const files: StoredFile[] = [];
  for (const file of offer.files) {
    const path = partOf(folder, file);
    await takeInstalled(path, file, installed);
    const limits = { signal, bytesMax: bytesMax - sum(files), retries, backoffMs, moved };
    files.push(await download(file, path, limits));
  }
  return files;
}

function sum(files: readonly StoredFile[]): number {
  return files.reduce((all, { bytes }) => all + bytes, 0);
}

function asDbError(error: unknown, source: string, model: ModelReference): unknown {
  const text = referenceText(model);
  if (error instanceof SourceError) {
    return new DbError("model_source_failed", `${source} did not provide "${text}": ${error.message}.`, {
      model: text,
    });
  }
  if (error instanceof BundleError) {
    return new DbError("model_rejected", `"${text}" from ${source} cannot be used: ${error.message}.`, { model: text });
  }
  return error;
}

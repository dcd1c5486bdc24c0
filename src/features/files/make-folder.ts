/**
 * Makes and deletes filesystem collections, for routes and for statements of SQL: the collection of passages, the
 * record and the job in one transaction.
 */

import type { Request } from "../../actor/request.js";
import { readSchema } from "../../document/schema-request.js";
import { type AllowedFolder, allowedFolder } from "../../ingest/watch/folder-roots.js";
import { DbError } from "../../protocol/errors.js";
import { administers } from "../../protocol/identity.js";
import type { JobRecord } from "../../protocol/placement.js";
import type { Answer, TextAnswer } from "../../session/answer.js";
import type { Session } from "../../session/session.js";
import type { Transaction } from "../../storage/store.js";
import { checkNewName, createCollectionIn } from "../documents/create-collection.js";
import { type RunStatement, writeTogether } from "../documents/document-session.js";
import { ownerOf } from "../jobs/background-request.js";
import { deleteJob, putJob } from "../jobs/job-records.js";
import { JOBS } from "../jobs/jobs.js";
import { fileTasksOf, jobName, workOf } from "./file-jobs.js";
import { allFolders, deleteFolder, type Folder, insertFolder, newId } from "./file-store.js";
import { CREATE_TABLES, FOLDERS_NAME, passageSchema, THUMBNAILS_NAME } from "./file-tables.js";
import { alone } from "./file-turns.js";
import { tableOfFolder } from "./folder-access.js";
import { type FolderOptions, folderOptions } from "./folder-options.js";
import { type IngestPlan, planOf } from "./ingest-plan.js";
import { addLooksFields } from "./looks.js";
import { removeThumbnails } from "./thumbnails.js";

export interface NewFolder {
  readonly name: string;
  readonly path: string;
  /** The name by which the request has the path. */
  readonly pathField: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Reading files of the server is no right of every user's. Throws forbidden. */
export function requireFolderAdmin({ head }: Request, what = "make filesystem collections"): void {
  if (administers(head)) return;
  throw new DbError("forbidden", `Only admins of the tenant have permission to ${what}.`);
}

/** A collection that may be made: `record` is that of its job. */
export interface PreparedFolder {
  readonly folder: Folder;
  readonly plan: IngestPlan;
  readonly record: JobRecord;
}

/** Throws the error that explains why it cannot be made. */
export async function prepareFolder(
  request: Request,
  { name, path, pathField, options: given }: NewFolder,
): Promise<PreparedFolder> {
  requireFolderAdmin(request);
  const { partition, tenant, head } = request;
  const { files } = partition.config;
  const options = folderOptions(given);
  // The library of patterns is loaded with the first collection; whoever wrote a wrong one hears of it here.
  (await import("../../ingest/watch/path-filter.js")).pathFilter(options);
  const tasks = fileTasksOf(partition);
  const allowed = await allowedFolder(files.roots, head.tenantId, path, pathField);
  checkNewName(request, name);
  await checkRoom(request, files.collectionsPerTenantMax);
  const plan = await readablePlan(() => planOf(tasks, allowed.path, options, files), pathField);
  const folder = newFolder(name, allowed, options);
  return { folder, plan, record: { ...jobName(tenant.number, folder.id), owner: ownerOf(request) } };
}

/** In the transaction `tx`, in which `run` works. */
export async function writeFolder(
  request: Request,
  { folder, record }: PreparedFolder,
  tx: Transaction,
  run: RunStatement,
): Promise<void> {
  // A client hears nothing of the tables behind its collection, as it would of those that are there already.
  const { catalog } = request.tenant;
  const isThere = [FOLDERS_NAME, THUMBNAILS_NAME].every((name) => catalog.view(tx).table(null, name) !== null);
  if (!isThere) for (const sql of CREATE_TABLES) await run({ own: true, sql, params: [] });
  const schema = readSchema(passageSchema(folder.options.embed_text));
  const { table } = await createCollectionIn(request, tx, run, folder.name, schema);
  await addLooksFields(request, tx, run, folder.name);
  await insertFolder(run, { ...folder, tableId: table.id }, request.head.userId);
  putJob(tx, record);
}

/** `answerOf` is called before the commit. Its job begins once it is on disk. */
export async function makeFolder<T>(
  request: Request,
  wanted: NewFolder,
  answerOf: (prepared: PreparedFolder) => Answer<T>,
): Promise<Answer<T>> {
  const prepared = await prepareFolder(request, wanted);
  const answer = await writeTogether(request, async (run, session) => {
    await writeFolder(request, prepared, session.contextFor(request).tx, run);
    return answerOf(prepared);
  });
  request.partition.part(JOBS).queue.start(prepared.record);
  return answer;
}

function newFolder(name: string, { path }: AllowedFolder, options: FolderOptions): Folder {
  const now = new Date().toISOString();
  const times = { createdAt: now, updatedAt: now, scannedAt: null };
  return { id: newId("fsc"), name, tableId: null, root: path, options, paused: false, problem: null, ...times };
}

async function checkRoom(request: Request, max: number): Promise<void> {
  const { length: total } = await allFolders(request);
  if (total < max) return;
  throw new DbError("rate_limited", `The tenant already has ${total} filesystem collections, which is the limit.`, {
    hint: "Delete one, or ask the operator to raise collections_per_tenant_max of [files].",
  });
}

async function readablePlan(make: () => Promise<IngestPlan>, field: string): Promise<IngestPlan> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof DbError) throw error;
    throw new DbError("invalid_request", `The folder cannot be read: ${(error as Error).message}`, { field });
  }
}

/** In the transaction `tx`. `retains`: its collection of passages stays, as one like any other. */
export async function eraseFolder(
  request: Request,
  folder: Pick<Folder, "id" | "name" | "tableId">,
  retains: boolean,
  tx: Transaction,
  run: RunStatement,
): Promise<void> {
  const { id, name } = folder;
  await deleteFolder(run, id);
  await removeThumbnails(request, run, id, null);
  const hasTable = tableOfFolder(request.tenant.catalog.view(tx), folder) !== null;
  if (!retains && hasTable) await run({ sql: `DROP TABLE public."${name}"`, params: [] });
  deleteJob(tx, jobName(request.tenant.number, id));
}

export async function removeFolder(request: Request, folder: Folder, retains: boolean): Promise<TextAnswer> {
  const { partition, tenant } = request;
  const erase = async (run: RunStatement, session: Session): Promise<TextAnswer> => {
    await eraseFolder(request, folder, retains, session.contextFor(request).tx, run);
    return {};
  };
  const answer = await alone(request, () => writeTogether(request, erase));
  workOf(partition, tenant.number, folder.id)?.poke();
  await partition.part(JOBS).queue.cancel(jobName(tenant.number, folder.id));
  return answer;
}

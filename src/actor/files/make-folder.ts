/**
 * Filesystem collections are made and deleted here, for routes and for statements of SQL: the collection of passages, the
 * record and the job in one transaction.
 */
import { readSchema } from "../../document/schema-request.js";
import { type AllowedFolder, allowedFolder } from "../../ingest/watch/folder-roots.js";
import { DbError } from "../../protocol/errors.js";
import { ownerOf } from "../background/background-request.js";
import { deleteJob, putJob } from "../background/job-records.js";
import { checkNewName, createCollectionIn } from "../create-collection.js";
import { writeTogether } from "../document-session.js";
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import { withDefinitions } from "../with-definitions.js";
import { fileTasksOf, jobName, workOf } from "./file-jobs.js";
import { deleteFolder, type Folder, insertFolder, listFolders, newId } from "./file-store.js";
import { CREATE_TABLES, passageSchema } from "./file-tables.js";
import { type FolderOptions, folderOptions } from "./folder-options.js";
import { type IngestPlan, planOf } from "./ingest-plan.js";

export interface NewFolder {
  readonly name: string;
  readonly path: string;
  /** The name by which the request has the path. */
  readonly pathField: string;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Reading files of the server is no right of every user's. Throws forbidden. */
export function requireFolderAdmin({ head }: Request): void {
  if (head.roles.includes("admin") || head.roles.includes("super_admin")) return;
  throw new DbError("forbidden", "Only admins of the tenant have permission to make filesystem collections.");
}

/** `answerOf` is called before the commit. Its job begins once it is on disk. */
export async function makeFolder(
  request: Request,
  { name, path, pathField, options: given }: NewFolder,
  answerOf: (folder: Folder, plan: IngestPlan) => Answer,
): Promise<Answer> {
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
  const record = { ...jobName(tenant.number, folder.id), owner: ownerOf(request) };
  const answer = await writeTogether(request, async (run, session) => {
    for (const sql of CREATE_TABLES) await run({ sql, params: [] });
    await createCollectionIn(request, session, run, name, readSchema(passageSchema(options.embed_text)));
    await insertFolder(run, folder, head.userId);
    putJob(session.contextFor(request).tx, record);
    return answerOf(folder, plan);
  });
  partition.jobs.start(record);
  return answer;
}

function newFolder(name: string, { path }: AllowedFolder, options: FolderOptions): Folder {
  const now = new Date().toISOString();
  const times = { createdAt: now, updatedAt: now, scannedAt: null };
  return { id: newId("fsc"), name, root: path, options, paused: false, problem: null, ...times };
}

async function checkRoom(request: Request, max: number): Promise<void> {
  const { total } = await listFolders(request, 1, 0);
  if (total < max) return;
  throw new DbError("rate_limited", `The tenant has ${total} filesystem collections, the most that it may have.`, {
    hint: "Delete one, or have the operator raise collections_per_tenant_max of [files].",
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

/** `retains`: its collection of passages stays, as one like any other. */
export async function removeFolder(request: Request, folder: Folder, retains: boolean): Promise<Answer> {
  const { partition, tenant } = request;
  const name = jobName(tenant.number, folder.id);
  const answer = await writeTogether(request, async (run, session) => {
    await deleteFolder(run, folder.id);
    const hasTable = withDefinitions(request, (catalog) => catalog.table(null, folder.name)) !== null;
    if (!retains && hasTable) await run({ sql: `DROP TABLE public."${folder.name}"`, params: [] });
    deleteJob(session.contextFor(request).tx, name);
    return {};
  });
  workOf(partition, tenant.number, folder.id)?.poke();
  await partition.jobs.cancel(name);
  return answer;
}

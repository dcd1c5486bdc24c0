/** /v1/filesystem-collections: folders of the server as collections, the files in them, and how far they are read. */

import type { Handlers } from "../../actor/handler.js";
import { messageErrorJson } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { numberedPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import type { Session } from "../../session/session.js";
import { type RunStatement, writeTogether } from "../documents/document-session.js";
import { CHANGE_FORMS } from "../feed/change-form.js";
import { JOBS } from "../jobs/jobs.js";
import { updateFolder } from "./change-folder.js";
import { workOf } from "./file-jobs.js";
import { countFiles, type Folder, findFolder, hasFile, type ListedFile, listFiles } from "./file-store.js";
import { alone } from "./file-turns.js";
import {
  ownFolder,
  requireTable,
  requireWholeFolder,
  type SeenFolder,
  seenFiles,
  seenFolder,
  seenFolders,
} from "./folder-access.js";
import { eventOfRecord, topicOf } from "./folder-events.js";
import { optionsIn } from "./folder-options.js";
import { addLooksFields } from "./looks.js";
import { makeFolder, removeFolder, requireFolderAdmin } from "./make-folder.js";
import { readAnew } from "./read-anew.js";
import { THUMBNAIL_TYPE, thumbnailOf, withThumbnails } from "./thumbnails.js";

export const fileHandlers = {
  "files.create": createFolder,
  "files.list": async (request, { query }) => {
    const { limit, offset, page } = numberedPageOf(query);
    const { folders, total } = await seenFolders(request, limit, offset);
    const items: ShownFolder[] = [];
    for (const folder of folders) items.push(await shownFolder(request, folder));
    return { plain: { collections: items, total, page, page_size: limit } };
  },
  "files.get": async (request, { params }) => {
    return { plain: await shownFolder(request, await seenFolder(request, params.id!)) };
  },
  "files.update": updateOne,
  "files.delete": async (request, { params, query }) => {
    const folder = await ownFolder(request, params.id!);
    return removeFolder(request, folder, query.retain_data === "true");
  },
  "files.documents": listDocuments,
  "files.reprocess": reprocess,
  "files.thumbnail": thumbnail,
  "files.progress": followProgress,
} satisfies Handlers;

type ShownFolder = ResponseOf<"files.get">;

function createFolder(request: Request, { body }: InputOf<"files.create">): Promise<Answer<ShownFolder>> {
  requireFolderAdmin(request);
  const { name, watch_dir: watchDir, path } = body;
  if ((watchDir === undefined) === (path === undefined)) {
    throw new DbError("invalid_request", 'Send the folder either as "watch_dir" or as "path".', { field: "watch_dir" });
  }
  const folder = {
    name,
    path: (watchDir ?? path)!,
    pathField: path === undefined ? ("watch_dir" as const) : ("path" as const),
    options: optionsIn(body),
  };
  return makeFolder(request, folder, ({ folder: made, plan }) => ({
    plain: {
      ...described(made),
      status: "ingesting",
      files: { total: plan.files, pending: plan.files, processing: 0, indexed: 0, failed: 0, bytes: plan.bytes },
      document_count: plan.files,
      chunk_count: 0,
      plan,
      ingest_plan: plan,
    },
  }));
}

function described(folder: Folder) {
  const { id, name, root, options, paused, problem, createdAt, updatedAt, scannedAt } = folder;
  return {
    id,
    collection_id: id,
    name,
    collection: name,
    watch_dir: root,
    path: root,
    ...options,
    paused,
    error: problem,
    created_at: createdAt,
    updated_at: updatedAt,
    last_scan_at: scannedAt,
  };
}

async function shownFolder(request: Request, folder: SeenFolder): Promise<ShownFolder> {
  const { pending, indexed, failed } = await countFiles(request, folder.id, seenFiles(folder));
  const isScanning = workOf(request.partition, request.tenant.number, folder.id)?.isLooking ?? false;
  const total = pending.files + indexed.files + failed.files;
  const status = folder.paused
    ? "paused"
    : folder.scannedAt === null || pending.files > 0
      ? folder.scannedAt === null && folder.problem !== null
        ? "error"
        : "ingesting"
      : isScanning
        ? "scanning"
        : "ready";
  return {
    ...described(folder),
    // It may be about files that the caller may not see.
    error: folder.access.sees === "all" ? folder.problem : null,
    status,
    files: {
      total,
      pending: pending.files,
      indexed: indexed.files,
      failed: failed.files,
      bytes: pending.bytes + indexed.bytes + failed.bytes,
    },
    document_count: total,
    chunk_count: indexed.chunks + pending.chunks,
    // Until its files are counted nothing is done.
    progress: folder.scannedAt === null && total === 0 ? 0 : total === 0 ? 1 : (indexed.files + failed.files) / total,
  };
}

async function updateOne(
  request: Request,
  { params, body }: InputOf<"files.update">,
): Promise<Answer<ResponseOf<"files.update">>> {
  const folder = await ownFolder(request, params.id!);
  return updateFolder(request, folder, body, (changed, queued) => ({
    plain: { ...described(changed), status: changed.paused ? "paused" : "ingesting", queued },
  }));
}

type ShownFiles = ResponseOf<"files.documents">;

async function listDocuments(
  request: Request,
  { params, query }: InputOf<"files.documents">,
): Promise<Answer<ShownFiles>> {
  const folder = await seenFolder(request, params.id!);
  const { limit, offset, page } = numberedPageOf(query);
  // What is being read is pending in its record.
  const status = query.status === "processing" ? "pending" : (query.status ?? null);
  const { files, total } = await listFiles(request, folder.id, status, { limit, offset, seen: seenFiles(folder) });
  const work = workOf(request.partition, request.tenant.number, folder.id);
  const pictured = await withThumbnails(
    request,
    folder.id,
    files.map(({ id }) => id),
  );
  const documents = files.map((file) => ({
    ...shownFile(file, work?.isReading(file.path) ?? false),
    thumbnail_url: pictured.has(file.id)
      ? `/v1/filesystem-collections/${folder.id}/documents/${file.id}/thumbnail`
      : null,
  }));
  return { plain: { documents, total, page, page_size: limit } };
}

function shownFile(file: ListedFile, isReading: boolean): Omit<ShownFiles["documents"][number], "thumbnail_url"> {
  const { id, path, status, size, hash, kind, mediaType, title, metadata, notes, chunks, errorCode, error } = file;
  return {
    id,
    document_id: id,
    path,
    filename: path.slice(path.lastIndexOf("/") + 1),
    status: status === "pending" && isReading ? "processing" : status,
    size_bytes: size,
    hash,
    kind,
    media_type: mediaType,
    title,
    metadata,
    notes: notes ?? [],
    chunk_count: chunks,
    error,
    error_code: errorCode,
    quarantined: status === "failed",
    attempts: file.attempts,
    next_attempt_at: status === "pending" && file.attempts > 0 ? file.dueAt : null,
    found_at: file.foundAt,
    read_at: file.readAt,
  };
}

type Queued = ResponseOf<"files.reprocess">;

async function reprocess(request: Request, { params, body }: InputOf<"files.reprocess">): Promise<Answer<Queued>> {
  const folder = await ownFolder(request, params.id!);
  const { document_id: documentId, path } = (body ?? {}) as { readonly document_id?: string; readonly path?: string };
  if (documentId !== undefined && path !== undefined) {
    throw new DbError("invalid_request", 'Send "document_id" or "path", not both.', { field: "path" });
  }
  const one = documentId ?? path ?? null;
  const concerned = one === null ? ({ kind: "all" } as const) : ({ kind: "one", file: one } as const);
  const mark = async (run: RunStatement, session: Session): Promise<Answer<Queued>> => {
    requireTable(session.catalog, folder);
    await addLooksFields(request, session.contextFor(request).tx, run, folder.name);
    const queued = await readAnew(run, folder.id, concerned, new Date().toISOString());
    if (queued === 0 && one !== null) {
      const message = `The filesystem collection has no file "${one.slice(0, 200)}".`;
      throw new DbError("not_found", message, { field: path === undefined ? "document_id" : "path" });
    }
    return { plain: { collection_id: folder.id, queued, paused: folder.paused } };
  };
  const answer = await alone(request, () => writeTogether(request, mark));
  workOf(request.partition, request.tenant.number, folder.id)?.readAgain();
  return answer;
}

async function thumbnail(request: Request, { params }: Input): Promise<Answer> {
  const folder = await seenFolder(request, params.id!);
  const fileId = params.document_id!;
  const isSeen = folder.access.sees === "all" || (await hasFile(request, folder.id, fileId, seenFiles(folder)));
  const image = isSeen ? await thumbnailOf(request, folder.id, fileId) : null;
  if (image === null) {
    throw new DbError("not_found", `There is no thumbnail for a file "${params.document_id!.slice(0, 100)}".`, {
      field: "document_id",
      hint: "Images have thumbnails, and so do videos if ffmpeg is installed. Reprocess files that an earlier version has read.",
    });
  }
  const sink = await request.openReply(THUMBNAIL_TYPE, ["Cache-Control: private, max-age=60"]);
  sink.end(image);
  return STREAMED;
}

async function followProgress(request: Request, { body }: Input): Promise<Answer> {
  const folder = await seenFolder(request, body.collection_id);
  const mayFollow = () => requireWholeFolder(request, body.collection_id, folder);
  mayFollow();
  const id = request.head.params[0]!;
  const form = CHANGE_FORMS[request.wantsMsgpack ? "msgpack" : "json"];
  const way = {
    form,
    id,
    errorMessage: (error: DbError) => Buffer.from(messageErrorJson(error, id, request.requestId)),
    errorText: (errorJson: string) => errorJson,
  };
  const read = async () => ({
    message: eventOfRecord(await findFolder(request, folder.id), await countFiles(request, folder.id)),
    isOver: false,
  });
  await request.partition.part(JOBS).progress.follow(request, topicOf(folder.id), way, read, mayFollow);
  return STREAMED;
}

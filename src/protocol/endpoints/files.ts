/** Filesystem collections: folders of the server whose files are read, cut into passages and kept up to date. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import {
  CHUNK_CHARACTERS_MAX,
  CHUNK_CHARACTERS_MIN,
  FOLDER_DEBOUNCE_MS_MAX,
  GLOB_CHARACTERS_MAX,
  GLOBS_MAX,
  THUMBNAIL_PIXELS,
} from "../limits.js";
import { MessageId, Nullable, PageQuery, Strict, Timestamp, Unused } from "./schemas.js";

const Globs = (what: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: GLOB_CHARACTERS_MAX }), { maxItems: GLOBS_MAX, description: what });

const options = {
  recursive: Type.Optional(Type.Boolean({ description: "With folders inside; true unless said." })),
  embed_text: Type.Optional(Type.Boolean({ description: "A vector for each passage; true unless said." })),
  ocr_images: Type.Optional(Type.Boolean({ description: "Read the words in images; false unless said." })),
  chunk_size: Type.Optional(
    Type.Integer({
      minimum: CHUNK_CHARACTERS_MIN,
      maximum: CHUNK_CHARACTERS_MAX,
      description: "Characters of a passage, at most; 1000 unless said.",
    }),
  ),
  overlap: Type.Optional(
    Type.Integer({ minimum: 0, description: "Characters that passages repeat, at most; 100 unless said." }),
  ),
  chunk_overlap: Type.Optional(Type.Integer({ minimum: 0, description: "The same." })),
  debounce_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: FOLDER_DEBOUNCE_MS_MAX,
      description: "Milliseconds without a further change until a change is looked at; 150 unless said.",
    }),
  ),
  include: Type.Optional(Globs("Only files that match one of these: *.md, docs/**/*.pdf, *.{png,jpg}.")),
  exclude: Type.Optional(
    Globs('No files and folders that match one of these; ["**/.*"], what is hidden, unless said.'),
  ),
};

const Plan = Type.Object(
  {
    files: Type.Integer(),
    bytes: Type.Integer(),
    by_kind: Type.Array(Type.Object({ kind: Type.String(), files: Type.Integer(), bytes: Type.Integer() })),
    steps: Type.Array(Type.Object({ step: Type.String(), description: Type.String() })),
    estimated_seconds: Type.Integer(),
    skipped: Type.Array(Type.Object({ path: Type.String(), reason: Type.String() })),
    truncated: Type.Boolean({ description: "The numbers are of the first files only." }),
  },
  { description: "What reading the folder will take, by names and sizes: a forecast." },
);

const Folder = Type.Object({
  id: Type.String(),
  collection_id: Type.String({ description: "The same." }),
  name: Type.String({ description: "Of the collection with the passages, which search and SQL know." }),
  watch_dir: Type.String({ description: "With all links followed." }),
  status: Type.String({ description: "ingesting, scanning, ready, paused, or error: it cannot be read." }),
  paused: Type.Boolean(),
  error: Nullable(Type.String({ description: "Why it does not follow its folder, or not wholly." })),
  files: Type.Object({
    total: Type.Integer(),
    pending: Type.Integer(),
    indexed: Type.Integer(),
    failed: Type.Integer(),
    bytes: Type.Integer(),
  }),
  document_count: Type.Integer(),
  chunk_count: Type.Integer(),
  queued: Type.Optional(Type.Integer({ description: "Files that a change of options has read anew." })),
  plan: Type.Optional(Plan),
  ingest_plan: Type.Optional(Plan),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_scan_at: Nullable(Timestamp),
});

const File = Type.Object({
  id: Type.String(),
  path: Type.String({ description: "In the folder." }),
  filename: Type.String(),
  status: Type.String({ description: "pending, processing, indexed, or failed: set aside with its error." }),
  size_bytes: Type.Integer(),
  hash: Nullable(Type.String({ description: "SHA-256 of what was read." })),
  kind: Nullable(Type.String()),
  chunk_count: Type.Integer(),
  thumbnail_url: Nullable(Type.String({ description: "Of images, and of videos where ffmpeg is installed." })),
  error: Nullable(Type.String()),
  error_code: Nullable(Type.String()),
  attempts: Type.Integer(),
});

const FolderId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128, description: "Or the name." }) });

const paged = { total: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() };
const tag = "filesystem collections";
const path = "/v1/filesystem-collections";

export const fileEndpoints = [
  {
    name: "files.create",
    method: "POST",
    path,
    summary:
      "Have a folder of the server read into a collection and followed: each passage of a file becomes a document. Admins of a tenant; the operator lists folders in [files] roots.",
    tag,
    access: "writer",
    home: "tenant",
    slow: true,
    body: Strict({
      name: Type.String({ minLength: 1, maxLength: 63 }),
      watch_dir: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: "The same." })),
      watch: Unused('a folder is followed from when it is made; PATCH {"paused": true} stops that.'),
      ...options,
    }),
    example: { body: { name: "manuals", watch_dir: "/srv/manuals" } },
    response: Folder,
    status: 201,
  },
  {
    name: "files.list",
    method: "GET",
    path,
    summary: "The tenant's filesystem collections.",
    tag,
    access: "member",
    home: "tenant",
    query: Strict(PageQuery),
    response: Type.Object({ collections: Type.Array(Folder), ...paged }),
  },
  {
    name: "files.get",
    method: "GET",
    path: `${path}/{id}`,
    summary: "One filesystem collection, and how far it is read.",
    tag,
    access: "member",
    home: "tenant",
    params: FolderId,
    response: Folder,
  },
  {
    name: "files.update",
    method: "PATCH",
    path: `${path}/{id}`,
    summary:
      "Pause it or have it go on, or change its options: files that the change concerns are read anew, others stay as they are. name, watch_dir and embed_text cannot be changed. Options are an admin's to change.",
    tag,
    access: "writer",
    home: "tenant",
    params: FolderId,
    body: Strict({
      paused: Type.Optional(
        Type.Boolean({ description: "Files that are being read are finished, changes wait in the folder." }),
      ),
      ...options,
      name: Type.Optional(Type.String({ description: "As it is; it cannot be changed." })),
      watch_dir: Type.Optional(Type.String({ description: "As it is; it cannot be changed." })),
      path: Type.Optional(Type.String({ description: "The same." })),
    }),
    example: { params: { id: "manuals" }, body: { paused: false, chunk_size: 800 } },
    response: Folder,
  },
  {
    name: "files.delete",
    method: "DELETE",
    path: `${path}/{id}`,
    summary: "Stop following the folder. Its collection goes too, unless retain_data is true.",
    tag,
    access: "writer",
    home: "tenant",
    params: FolderId,
    query: Strict({ retain_data: Type.Optional(Type.Enum(["true", "false"])) }),
    status: 204,
  },
  {
    name: "files.documents",
    method: "GET",
    path: `${path}/{id}/documents`,
    summary: "Its files in the order of their paths, each with what became of it.",
    tag,
    access: "member",
    home: "tenant",
    params: FolderId,
    query: Strict({ status: Type.Optional(Type.Enum(["pending", "processing", "indexed", "failed"])), ...PageQuery }),
    response: Type.Object({ documents: Type.Array(File), ...paged }),
  },
  {
    name: "files.reprocess",
    method: "POST",
    path: `${path}/{id}/reprocess`,
    summary: "Read all files anew, or one, also those that were set aside.",
    tag,
    access: "writer",
    home: "tenant",
    params: FolderId,
    body: Strict({
      document_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    }),
    bodyOptional: true,
    example: { params: { id: "manuals" }, body: {} },
    response: Type.Object({ collection_id: Type.String(), queued: Type.Integer(), paused: Type.Boolean() }),
    status: 202,
  },
  {
    name: "files.thumbnail",
    method: "GET",
    path: `${path}/{id}/documents/{document_id}/thumbnail`,
    summary: `A small picture of an image or a video: WebP, at most ${THUMBNAIL_PIXELS} pixels wide and high.`,
    tag,
    access: "member",
    home: "tenant",
    params: Type.Object({
      id: Type.String({ minLength: 1, maxLength: 128, description: "Or the name." }),
      document_id: Type.String({ minLength: 1, maxLength: 128 }),
    }),
    streamedReply: ["image/webp"],
  },
  {
    name: "files.progress.connect",
    method: "GET",
    path: "/ws/filesystem-collections/{id}/progress",
    summary:
      "A WebSocket that tells how a filesystem collection gets on: /ws/filesystem-collections/{id}/progress?token=<ticket>. GET /v1/asyncapi.json describes its messages. A request without an upgrade gets 426.",
    tag,
    access: "public",
    home: "gateway",
    params: FolderId,
    status: 101,
  },
  {
    name: "files.progress",
    method: "MESSAGE",
    path: "/ws",
    messages: ["files.follow"],
    summary:
      "How a filesystem collection gets on, as /ws/filesystem-collections/{id}/progress tells it: scan_started, file_processing, file_done, file_failed, scan_complete, paused, resumed; the last one first.",
    tag,
    access: "member",
    home: "tenant",
    live: true,
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      collection_id: Type.String({ minLength: 1, maxLength: 128 }),
    }),
  },
] as const satisfies readonly EndpointSpec[];

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
  recursive: Type.Optional(Type.Boolean({ description: "Include subfolders. Default: true." })),
  embed_text: Type.Optional(Type.Boolean({ description: "Embed each passage. Default: true." })),
  ocr_images: Type.Optional(Type.Boolean({ description: "Read the words in images. Default: false." })),
  chunk_size: Type.Optional(
    Type.Integer({
      minimum: CHUNK_CHARACTERS_MIN,
      maximum: CHUNK_CHARACTERS_MAX,
      description: "The most characters of a passage. Default: 1000.",
    }),
  ),
  overlap: Type.Optional(
    Type.Integer({ minimum: 0, description: "The most characters that passages overlap. Default: 100." }),
  ),
  chunk_overlap: Type.Optional(Type.Integer({ minimum: 0, description: "The same." })),
  debounce_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: FOLDER_DEBOUNCE_MS_MAX,
      description: "Milliseconds without further changes before a change is processed. Default: 150.",
    }),
  ),
  include: Type.Optional(Globs("Read only files that match one of these patterns: *.md, docs/**/*.pdf, *.{png,jpg}.")),
  exclude: Type.Optional(
    Globs('Skip files and folders that match one of these patterns. Default: ["**/.*"], which skips hidden ones.'),
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
    truncated: Type.Boolean({ description: "True: the numbers cover only the first files." }),
  },
  { description: "A forecast of the work, from names and sizes." },
);

const Folder = Type.Object({
  id: Type.String(),
  collection_id: Type.String({ description: "The same." }),
  name: Type.String({ description: "The collection with the passages, for search and SQL." }),
  collection: Type.String({ description: "The same as `name`." }),
  watch_dir: Type.String({ description: "The path with all links resolved." }),
  path: Type.String({ description: "The same as `watch_dir`." }),
  recursive: Type.Boolean(),
  embed_text: Type.Boolean(),
  ocr_images: Type.Boolean(),
  chunk_size: Type.Integer(),
  overlap: Type.Integer(),
  include: Type.Array(Type.String()),
  exclude: Type.Array(Type.String()),
  debounce_ms: Type.Integer(),
  status: Type.String({ description: "ingesting, scanning, ready, paused, or error (it cannot be read)." }),
  paused: Type.Boolean(),
  error: Nullable(Type.String({ description: "Why the folder is not watched, or only in part." })),
  files: Type.Object({
    total: Type.Integer(),
    pending: Type.Integer(),
    indexed: Type.Integer(),
    failed: Type.Integer(),
    bytes: Type.Integer(),
  }),
  document_count: Type.Integer(),
  chunk_count: Type.Integer(),
  progress: Type.Optional(Type.Number({ description: "0 to 1: the share of files that were read." })),
  queued: Type.Optional(Type.Integer({ description: "Files that are read again because options changed." })),
  plan: Type.Optional(Plan),
  ingest_plan: Type.Optional(Plan),
  created_at: Timestamp,
  updated_at: Timestamp,
  last_scan_at: Nullable(Timestamp),
});

const File = Type.Object({
  id: Type.String(),
  document_id: Type.String({ description: "The same." }),
  path: Type.String({ description: "In the folder." }),
  filename: Type.String(),
  status: Type.String({ description: "pending, processing, indexed, or failed (skipped because of its error)." }),
  size_bytes: Type.Integer(),
  hash: Nullable(Type.String({ description: "SHA-256 of the content that was read." })),
  kind: Nullable(Type.String()),
  media_type: Nullable(Type.String()),
  title: Nullable(Type.String()),
  metadata: Type.Unknown(),
  notes: Type.Array(Type.String({ description: "What could not be extracted." })),
  chunk_count: Type.Integer(),
  thumbnail_url: Nullable(Type.String({ description: "For images, and for videos if ffmpeg is installed." })),
  error: Nullable(Type.String()),
  error_code: Nullable(Type.String()),
  quarantined: Type.Boolean({ description: "It failed too often and is read again only by `reprocess`." }),
  attempts: Type.Integer(),
  next_attempt_at: Nullable(Timestamp),
  found_at: Timestamp,
  read_at: Nullable(Timestamp),
});

const FolderId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 128, description: "Or the name." }) });

const paged = { total: Type.Integer(), page: Type.Integer(), page_size: Type.Integer() };
const tag = "filesystem collections";
const path = "/v1/filesystem-collections";

export const fileEndpoints = [
  {
    name: "files.create",
    door: "statements",
    method: "POST",
    path,
    summary:
      "Read a folder of the server into a collection and watch it for changes: each passage of a file becomes a document. For admins of a tenant. The operator allows folders in [files] roots.",
    tag,
    access: "writer",
    home: "tenant",
    slow: true,
    body: Strict({
      name: Type.String({ minLength: 1, maxLength: 63 }),
      watch_dir: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: "The same." })),
      watch: Unused('a folder is watched from the start. PATCH {"paused": true} stops that.'),
      ...options,
    }),
    example: { body: { name: "manuals", watch_dir: "/srv/manuals" } },
    response: Folder,
    status: 201,
  },
  {
    name: "files.list",
    door: "statements",
    method: "GET",
    path,
    summary: "The tenant's filesystem collections.",
    tag,
    access: "member",
    home: "tenant",
    pages: { items: "collections", total: "total" },
    query: Strict(PageQuery),
    response: Type.Object({ collections: Type.Array(Folder), ...paged }),
  },
  {
    name: "files.get",
    door: "statements",
    method: "GET",
    path: `${path}/{id}`,
    summary: "One filesystem collection and its progress.",
    tag,
    access: "member",
    home: "tenant",
    params: FolderId,
    response: Folder,
  },
  {
    name: "files.update",
    door: "statements",
    method: "PATCH",
    path: `${path}/{id}`,
    summary:
      "Pause or resume it, or change its options. Files affected by the change are read again. name, watch_dir and embed_text cannot be changed. Only an admin can change options.",
    tag,
    access: "writer",
    home: "tenant",
    params: FolderId,
    body: Strict({
      paused: Type.Optional(
        Type.Boolean({ description: "Files that are being read are finished. Further changes wait." }),
      ),
      ...options,
      name: Type.Optional(Type.String({ description: "Cannot be changed; only its current value is accepted." })),
      watch_dir: Type.Optional(Type.String({ description: "Cannot be changed; only its current value is accepted." })),
      path: Type.Optional(Type.String({ description: "The same." })),
    }),
    example: { params: { id: "manuals" }, body: { paused: false, chunk_size: 800 } },
    // Files are counted when somebody asks for the folder.
    response: Type.Omit(Folder, ["files", "document_count", "chunk_count"]),
  },
  {
    name: "files.delete",
    door: "statements",
    method: "DELETE",
    path: `${path}/{id}`,
    summary: "Stop watching the folder. Its collection is dropped too, unless retain_data is true.",
    tag,
    access: "writer",
    home: "tenant",
    params: FolderId,
    query: Strict({ retain_data: Type.Optional(Type.Enum(["true", "false"])) }),
    status: 204,
  },
  {
    name: "files.documents",
    door: "statements",
    method: "GET",
    path: `${path}/{id}/documents`,
    summary: "Its files in the order of their paths, each with its status.",
    tag,
    access: "member",
    home: "tenant",
    params: FolderId,
    pages: { items: "documents", total: "total" },
    query: Strict({ status: Type.Optional(Type.Enum(["pending", "processing", "indexed", "failed"])), ...PageQuery }),
    response: Type.Object({ documents: Type.Array(File), ...paged }),
  },
  {
    name: "files.reprocess",
    door: "statements",
    method: "POST",
    path: `${path}/{id}/reprocess`,
    summary: "Read all files again, or one, including failed ones.",
    tag,
    access: "writer",
    home: "tenant",
    params: FolderId,
    body: Strict({
      document_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    }),
    bodyOptional: true,
    example: { params: { id: "manuals" }, body: { path: "boats.md" } },
    response: Type.Object({ collection_id: Type.String(), queued: Type.Integer(), paused: Type.Boolean() }),
    status: 202,
  },
  {
    name: "files.thumbnail",
    door: "statements",
    method: "GET",
    path: `${path}/{id}/documents/{document_id}/thumbnail`,
    summary: `A thumbnail of an image or a video: WebP, at most ${THUMBNAIL_PIXELS} pixels wide and high.`,
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
    door: "none",
    method: "GET",
    path: "/ws/filesystem-collections/{id}/progress",
    summary:
      "A WebSocket that reports the progress of a filesystem collection: /ws/filesystem-collections/{id}/progress?token=<ticket>. GET /v1/asyncapi.json describes its messages. A request without an upgrade gets 426.",
    tag,
    access: "public",
    home: "gateway",
    params: FolderId,
    status: 101,
  },
  {
    name: "files.progress",
    door: "statements",
    method: "MESSAGE",
    path: "/ws",
    messages: ["files.follow"],
    summary:
      "Recent progress of a filesystem collection, as reported by /ws/filesystem-collections/{id}/progress: scan_started, file_processing, file_done, file_failed, scan_complete, paused, resumed; newest first.",
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

/** Files of rows into tables and out of them, and folders of the server whose files are read and kept up to date. */
import { pause } from "./backoff.js";
import type { CallOptions, WriteOptions } from "./options.js";
import { type AnswerOf, callRoute, type SentTo } from "./routes.js";
import { newKey, type Transport } from "./transport.js";

/** Formats of files of rows. */
export type RowFormat = "csv" | "ndjson" | "parquet" | "arrow";

/** Of an import: the table and what is done with its rows. */
export type ImportOptions = Omit<SentTo<"POST /v1/data/import/csv">["query"], "table"> &
  WriteOptions & {
    /** `csv` unless said. */
    readonly format?: RowFormat;
    /** The file is compressed by gzip. */
    readonly gzip?: boolean;
  };

/** How many rows were stored. */
export type Imported = AnswerOf<"POST /v1/data/import/csv">;

/** What is exported: a table, or the rows of a query. */
export interface ExportOptions extends CallOptions {
  readonly table?: string;
  readonly schema?: string;
  readonly query?: string;
  /** `csv` unless said. */
  readonly format?: RowFormat;
}

/** A folder that the server follows. */
export type Folder = AnswerOf<"GET /v1/filesystem-collections/{id}">;

/** How a folder is read. */
export type FolderOptions = Omit<SentTo<"POST /v1/filesystem-collections">["body"], "name" | "watch_dir" | "path">;

/** What of a folder can change. */
export type FolderChange = SentTo<"PATCH /v1/filesystem-collections/{id}">["body"];

/** A file of a folder, with its status. */
export type FolderFile = AnswerOf<"GET /v1/filesystem-collections/{id}/documents">["documents"][number];

const TYPES: Readonly<Record<RowFormat, string>> = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
  arrow: "application/vnd.apache.arrow.stream",
};
const EVERY_MS = 500;
const PAGE_SIZE = 200;

/** `db.files`. */
export class Files {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** Stores the rows of a file in a table, all or none. `create: true` makes the table. */
  async import(table: string, content: Blob | string, options: ImportOptions = {}): Promise<Imported> {
    const { format = "csv", gzip, signal, idempotencyKey = newKey(), ...query } = options;
    return this.transport.ask<Imported>("POST", `/v1/data/import/${format}`, {
      query: { table, ...query },
      content,
      headers: { "content-type": TYPES[format], ...(gzip === true && { "content-encoding": "gzip" }) },
      signal,
      idempotencyKey,
    });
  }

  /** A table, or the rows of a query, as a file. Its body comes as it is read. */
  export({ format = "csv", signal, table, schema, query }: ExportOptions): Promise<Response> {
    const asked = { format, table, schema, sql: query };
    return this.transport.open("GET", "/v1/data/export", { query: asked, signal, accept: "*/*" });
  }

  /**
   * Has a folder of the server read into the collection `name`, and followed. The operator says which folders may be.
   */
  follow(name: string, folder: string, options: FolderOptions & WriteOptions = {}): Promise<Folder> {
    const { signal, idempotencyKey, ...rest } = options;
    const body = { name, watch_dir: folder, ...rest };
    return callRoute(this.transport, "POST /v1/filesystem-collections", { body, signal, idempotencyKey });
  }

  /** All folders that the server follows. */
  async folders({ signal }: CallOptions = {}): Promise<readonly Folder[]> {
    return (await callRoute(this.transport, "GET /v1/filesystem-collections", { signal })).collections;
  }

  /** A folder, by its id or name. Throws NotFoundError. */
  folder(id: string, { signal }: CallOptions = {}): Promise<Folder> {
    return callRoute(this.transport, "GET /v1/filesystem-collections/{id}", { params: { id }, signal });
  }

  /** A folder whenever something about it has changed, until all of its files are read. */
  async *progress(
    id: string,
    { everyMs = EVERY_MS, signal }: CallOptions & { readonly everyMs?: number } = {},
  ): AsyncGenerator<Folder, void> {
    for (let told = ""; ; await pause(everyMs, signal)) {
      const folder = await this.folder(id, { signal });
      const now = JSON.stringify([folder.status, folder.files, folder.error]);
      if (now !== told) yield folder;
      told = now;
      if (!["ingesting", "scanning"].includes(folder.status)) return;
    }
  }

  /** The files of a folder in the order of their paths, page by page as they are read. */
  async *list(
    id: string,
    { status, signal }: CallOptions & { readonly status?: "pending" | "processing" | "indexed" | "failed" } = {},
  ): AsyncGenerator<FolderFile, void> {
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { limit: PAGE_SIZE, offset, ...(status !== undefined && { status }) };
      const sent = { params: { id }, query, signal };
      const page = await callRoute(this.transport, "GET /v1/filesystem-collections/{id}/documents", sent);
      yield* page.documents;
      if (page.documents.length < PAGE_SIZE) return;
    }
  }

  /** Pauses a folder, resumes it, or changes how it is read. */
  async change(id: string, body: FolderChange, { signal }: CallOptions = {}): Promise<void> {
    await callRoute(this.transport, "PATCH /v1/filesystem-collections/{id}", { params: { id }, body, signal });
  }

  /** Reads all files of a folder again, or one. Gives how many will be read. */
  async reprocess(id: string, path?: string, { signal }: CallOptions = {}): Promise<number> {
    const body = path === undefined ? {} : { path };
    const sent = { params: { id }, body, signal };
    return (await callRoute(this.transport, "POST /v1/filesystem-collections/{id}/reprocess", sent)).queued;
  }

  /** Stops following a folder. Its collection goes, too, unless `keepsDocuments`. */
  async unfollow(
    id: string,
    { keepsDocuments = false, signal }: CallOptions & { readonly keepsDocuments?: boolean } = {},
  ): Promise<void> {
    const query = { retain_data: keepsDocuments };
    await callRoute(this.transport, "DELETE /v1/filesystem-collections/{id}", { params: { id }, query, signal });
  }
}

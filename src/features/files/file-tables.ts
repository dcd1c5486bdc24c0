/**
 * The tables in which a tenant's filesystem collections and the files in them are recorded, made with the first
 * collection. Their passages are in a collection of documents of their own. Called by file-store.ts.
 */

export const FOLDERS = `"_file_collections"`;
export const FILES = `"_file_documents"`;
export const THUMBNAILS = `"_file_thumbnails"`;
/** As the catalog knows them. */
export const FOLDERS_NAME = "_file_collections";
export const THUMBNAILS_NAME = "_file_thumbnails";

export const CREATE_THUMBNAILS = `CREATE TABLE IF NOT EXISTS ${THUMBNAILS} (
  folder_id text NOT NULL, file_id text NOT NULL, image bytea NOT NULL, PRIMARY KEY (folder_id, file_id))`;

export const CREATE_TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${FOLDERS} (
    id text PRIMARY KEY, name text NOT NULL UNIQUE, root text NOT NULL, options jsonb NOT NULL,
    paused boolean NOT NULL, problem text, created_by text NOT NULL,
    created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL, scanned_at timestamptz)`,
  `CREATE TABLE IF NOT EXISTS ${FILES} (
    folder_id text NOT NULL, path text NOT NULL, id text NOT NULL, status text NOT NULL, revision bigint NOT NULL,
    size bigint NOT NULL, stamp text NOT NULL, hash text, kind text, media_type text, title text, metadata jsonb,
    notes jsonb, chunks bigint NOT NULL, error_code text, error text, attempts bigint NOT NULL,
    due_at timestamptz NOT NULL, found_at timestamptz NOT NULL, read_at timestamptz,
    PRIMARY KEY (folder_id, path))`,
  `CREATE INDEX IF NOT EXISTS "_file_documents_due" ON ${FILES} (folder_id, status, due_at)`,
  `CREATE INDEX IF NOT EXISTS "_file_documents_id" ON ${FILES} (id)`,
  CREATE_THUMBNAILS,
];

/** What a collection's documents have: a passage of a file each. Fields for looks come behind them (looks.ts). */
export function passageSchema(embedText: boolean): object {
  const string = (name: string, more: object = {}) => ({ name, type: "string", ...more });
  return {
    fields: [
      string("text", { required: true, embed: embedText }),
      string("file"),
      string("title"),
      string("heading"),
      { name: "page", type: "integer" },
      string("kind"),
      { name: "chunk", type: "integer" },
      { name: "start_offset", type: "integer" },
      { name: "end_offset", type: "integer" },
      { name: "start_seconds", type: "number" },
      { name: "end_seconds", type: "number" },
      string("document_id", { required: true, index: true }),
    ],
    indexes: [{ name: "words", type: "text", fields: ["text", "heading", "title", "file"] }],
  };
}

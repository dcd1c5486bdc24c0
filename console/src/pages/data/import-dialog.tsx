/** Imports a file into a table: what is in it, which types its columns get, and how far it is. */
import { useEffect, useRef, useState } from "preact/hooks";
import { linesOf } from "../../../../clients/typescript/src/index.js";
import { loadCatalog } from "../../lib/catalog.js";
import { isAbort } from "../../lib/errors.js";
import { bytesText, countText, plural } from "../../lib/format.js";
import { goTo } from "../../lib/router.js";
import { uploadingClient } from "../../lib/session.js";
import { DataGrid } from "../../ui/data-grid.js";
import { ActionDialog } from "../../ui/dialog.js";
import { Select, Switch, TextField } from "../../ui/field.js";
import { Notice } from "../../ui/notice.js";
import { tell } from "../../ui/toast.js";
import { formatOf, type Preview, previewOf, tableNameOf } from "./import-preview.js";

interface ImportDialogProps {
  readonly file: File | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Progress {
  /** Bytes that are on their way, before the server says how far it is. */
  readonly sent?: number;
  readonly rows?: number;
  readonly bytes?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly created?: readonly { readonly name: string; readonly type: string }[];
  readonly execution_time_ms?: number;
}

type OnConflict = "error" | "ignore" | "update";

const CONFLICTS: readonly (readonly [OnConflict, string])[] = [
  ["error", "Stop"],
  ["ignore", "Leave the row out"],
  ["update", "Replace the stored row"],
];

/** A line of the answer: how far the import is, in the end its result, or an error. */
function progressIn(line: string): Progress {
  const said = JSON.parse(line) as { readonly progress?: Progress; readonly data?: Progress } & Progress;
  return said.progress ?? said.data ?? said;
}

/** The last thing that the server says. Its errors are thrown. */
async function importFile(
  file: File,
  query: Record<string, string>,
  told: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Progress> {
  const sender = uploadingClient((sent) => told({ sent }));
  const { path, type } = formatOf(file.name)!;
  const response = await sender.fetch("POST", `/v1/data/import/${path}`, {
    ...{ query, content: file, contentType: type, accept: "application/x-ndjson", signal },
  });
  let last: Progress = {};
  for await (const lines of linesOf(response)) {
    for (const line of lines) last = progressIn(line);
    if (last.error !== undefined) throw new Error(last.error.message);
    told(last);
  }
  return last;
}

export function ImportDialog({ file: dropped, onClose, onDone }: ImportDialogProps) {
  const [file, setFile] = useState(dropped);
  const [table, setTable] = useState("");
  const [canCreate, setCreate] = useState(true);
  const [onConflict, setOnConflict] = useState<OnConflict>("error");
  const [preview, setPreview] = useState<Preview | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  // The server undoes an import that nobody waits for any more.
  useEffect(() => () => stop.current?.abort(), []);
  useEffect(() => {
    if (file === null) return;
    setTable(tableNameOf(file.name));
    setPreview(null);
    setError(null);
    previewOf(file).then(setPreview, setError);
  }, [file]);
  const run = async (): Promise<void> => {
    setError(null);
    setProgress({});
    stop.current = new AbortController();
    try {
      const query = { table, create: String(canCreate), on_conflict: onConflict };
      const { rows = 0 } = await importFile(file!, query, setProgress, stop.current.signal);
      tell(`${plural(rows, "row")} imported into ${table}.`);
      void loadCatalog();
      onDone();
      onClose();
      goTo(["data", "table", table]);
    } catch (failure) {
      if (isAbort(failure)) {
        tell("The import is stopped.");
        return;
      }
      setError(failure);
      setProgress(null);
    }
  };
  const isKnown = file === null || formatOf(file.name) !== null;
  return (
    <ActionDialog
      title="Import a file"
      action="Import"
      onAction={() => void run()}
      disabled={file === null || !isKnown || table === "" || progress !== null}
      error={error}
      onClose={onClose}
      isWide
    >
      <label class="file-choice">
        <span>
          {file === null
            ? "Choose a file of CSV, JSON lines or Parquet, or drop one on the page."
            : `${file.name}, ${bytesText(file.size)}`}
        </span>
        <input
          type="file"
          accept=".csv,.tsv,.ndjson,.jsonl,.parquet"
          onChange={(event) => setFile(event.currentTarget.files?.[0] ?? null)}
        />
      </label>
      {!isKnown && (
        <Notice tone="bad">Files of this kind cannot be imported: it takes .csv, .ndjson, .jsonl and .parquet.</Notice>
      )}
      {file !== null && isKnown && (
        <>
          <div class="form-row">
            <TextField label="Table" value={table} onInput={setTable} isCode />
            <Select label="If a key exists already" value={onConflict} options={CONFLICTS} onChange={setOnConflict} />
            <Switch label="Create the table if there is none" isOn={canCreate} onChange={setCreate} />
          </div>
          {preview !== null && (
            <div class="import-preview">
              <h3>
                {preview.rows.length === 0 ? "The columns, with their types" : "The first rows, with guessed types"}
              </h3>
              <div class="import-grid">
                <DataGrid label="The first rows" columns={preview.columns} rows={preview.rows} />
              </div>
            </div>
          )}
        </>
      )}
      {progress !== null && (
        <div role="status" class="row">
          <progress max={file?.size ?? 1} value={progress.bytes ?? progress.sent} aria-label="Imported" />
          {progress.rows !== undefined
            ? `${countText(progress.rows)} rows`
            : progress.sent !== undefined && `${bytesText(progress.sent)} of ${bytesText(file!.size)} sent`}
        </div>
      )}
    </ActionDialog>
  );
}

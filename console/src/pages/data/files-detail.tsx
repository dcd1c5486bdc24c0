/** A folder whose files are read into a collection: its progress and its files. */
import { useState } from "preact/hooks";
import { bytesText, countText, percentText, timeText } from "../../lib/format.js";
import { useEvery, useGet, useReturn } from "../../lib/load.js";
import { goTo, linkTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Notice, Waiting } from "../../ui/notice.js";
import { Facts, Page } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";

interface Folder {
  readonly name: string;
  readonly watch_dir: string;
  readonly status: string;
  readonly paused: boolean;
  readonly error: string | null;
  readonly files: { readonly total: number; readonly failed: number; readonly bytes: number };
  readonly chunk_count: number;
  readonly progress?: number;
  readonly created_at: string;
}

interface FileEntry {
  readonly id: string;
  readonly path: string;
  readonly status: string;
  readonly size_bytes: number;
  readonly chunk_count: number;
  readonly error: string | null;
}

const REFRESH_MS = 5_000;

interface FilesDetailProps {
  readonly id: string;
  readonly onChanged: () => void;
}

export function FilesDetail({ id, onChanged }: FilesDetailProps) {
  const path = `/v1/filesystem-collections/${encodeURIComponent(id)}`;
  const folder = useGet<Folder>(path);
  const files = useGet<{ documents: readonly FileEntry[]; total: number }>(`${path}/documents`, { limit: 1_000 });
  const [isLeaving, setLeaving] = useState(false);
  useEvery(REFRESH_MS, () => {
    folder.renew();
    files.renew();
  });
  const again = (): void => {
    folder.again();
    files.again();
  };
  useReturn(again);
  const { data } = folder;
  if (data === undefined) return <Waiting error={folder.error} />;
  const call = (work: () => Promise<unknown>, done: string): void => void attempt(work, done).then(again);
  const toggle = (): void =>
    call(
      () => client().request("PATCH", path, { body: { paused: !data.paused } }),
      data.paused ? "The folder is watched again." : "Changes wait until it goes on.",
    );
  const remove = async (): Promise<void> => {
    if (!(await attempt(() => client().request("DELETE", path), `${data.name} is gone.`))) return;
    goTo(["data"]);
    onChanged();
  };
  return (
    <Page
      title={data.name}
      lead={data.watch_dir}
      actions={
        <>
          <Button icon="search" onClick={() => goTo(["search"], { collection: data.name })}>
            Search
          </Button>
          <Button
            label="Read all files anew, also those that failed"
            onClick={() =>
              call(() => client().request("POST", `${path}/reprocess`, { body: {} }), "All files are read.")
            }
          >
            Read again
          </Button>
          <Button onClick={toggle}>{data.paused ? "Resume" : "Pause"}</Button>
          <Button kind="quiet" icon="trash" label={`Drop ${data.name}`} onClick={() => setLeaving(true)} />
        </>
      }
    >
      <Failure error={folder.error} />
      {data.error !== null && <Notice tone="warn">{data.error}</Notice>}
      <FolderFacts folder={data} />
      <FileList files={files.data?.documents} total={files.data?.total ?? 0} error={files.error} />
      {isLeaving && (
        <Confirm
          title={`Drop ${data.name}?`}
          action="Drop"
          onConfirm={() => void remove()}
          onClose={() => setLeaving(false)}
        >
          <p>The passages go with it. The files themselves stay. This cannot be taken back.</p>
        </Confirm>
      )}
    </Page>
  );
}

function FolderFacts({ folder: { name, status, files, chunk_count: passages, ...more } }: { readonly folder: Folder }) {
  const tone = status === "error" ? "bad" : status === "ready" ? "good" : "neutral";
  return (
    <Facts
      facts={[
        [
          "State",
          <Badge key="state" tone={tone}>
            {`${status} ${percentText(more.progress)}`.trim()}
          </Badge>,
        ],
        ["Files", countText(files.total)],
        ["Failed", countText(files.failed)],
        ["Size", bytesText(files.bytes)],
        [
          "Passages",
          <a key="passages" href={linkTo(["data", "collection", name])}>
            {countText(passages)}
          </a>,
        ],
        ["Since", timeText(more.created_at)],
      ]}
    />
  );
}

interface FileListProps {
  readonly files: readonly FileEntry[] | undefined;
  readonly total: number;
  readonly error: unknown;
}

function FileList({ files, total, error }: FileListProps) {
  return (
    <ListPanel
      title="Files"
      rows={files}
      error={error}
      keyOf={(file) => file.id}
      none="No file was found yet."
      columns={[
        { name: "File", cell: (file) => file.path, isWide: true },
        {
          name: "State",
          cell: ({ status }) => (
            <Badge tone={status === "failed" ? "bad" : status === "indexed" ? "good" : "neutral"}>{status}</Badge>
          ),
        },
        { name: "Size", cell: (file) => bytesText(file.size_bytes), isNumber: true },
        { name: "Passages", cell: (file) => countText(file.chunk_count), isNumber: true },
        { name: "Problem", cell: (file) => file.error ?? "", isWide: true },
      ]}
      foot={
        files !== undefined &&
        files.length < total && (
          <p class="none">
            The first {countText(files.length)} of {countText(total)}.
          </p>
        )
      }
    />
  );
}

/** A folder whose files are read into a collection: its progress and its files. */
import { bytesText, timeText } from "../../lib/format.js";
import { useEvery, useGet, useReturn } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { Facts, Page } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";

interface Folder {
  readonly id: string;
  readonly name: string;
  readonly watch_dir: string;
  readonly status: string;
  readonly created_at?: string;
}

interface FileEntry {
  readonly id: string;
  readonly filename?: string;
  readonly path?: string;
  readonly status: string;
  readonly size_bytes?: number;
  readonly error?: string | null;
}

const REFRESH_MS = 5_000;

export function FilesDetail({ id }: { readonly id: string }) {
  const path = `/v1/filesystem-collections/${encodeURIComponent(id)}`;
  const folder = useGet<Folder>(path);
  const files = useGet<{ documents: readonly FileEntry[] }>(`${path}/documents`);
  useEvery(REFRESH_MS, () => {
    folder.renew();
    files.renew();
  });
  useReturn(() => {
    folder.again();
    files.again();
  });
  const { data } = folder;
  if (data === undefined) return <Waiting error={folder.error} />;
  const isPaused = data.status === "paused";
  const toggle = (): void => {
    const body = { status: isPaused ? "active" : "paused" };
    void attempt(() => client().request("PATCH", path, { body })).then(folder.again);
  };
  return (
    <Page
      title={data.name}
      lead={data.watch_dir}
      actions={<Button onClick={toggle}>{isPaused ? "Resume" : "Pause"}</Button>}
    >
      <Failure error={folder.error} />
      <Facts
        facts={[
          ["State", <Badge key="state">{data.status}</Badge>],
          ["Since", timeText(data.created_at)],
        ]}
      />
      <ListPanel
        title="Files"
        rows={files.data?.documents}
        error={files.error}
        keyOf={(file) => file.id}
        none="No file was found yet."
        columns={[
          { name: "File", cell: (file) => file.filename ?? file.path ?? file.id, isWide: true },
          {
            name: "State",
            cell: (file) => <Badge tone={file.status === "failed" ? "bad" : "neutral"}>{file.status}</Badge>,
          },
          {
            name: "Size",
            cell: (file) => bytesText(file.size_bytes),
            isNumber: true,
          },
          { name: "Problem", cell: (file) => file.error ?? "", isWide: true },
        ]}
      />
    </Page>
  );
}

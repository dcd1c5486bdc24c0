/** Backups of the tenant, with their progress. */
import { useState } from "preact/hooks";
import { bytesText, countText, timeText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { client, session } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { attempt } from "../../ui/toast.js";

interface BackupRow {
  readonly id: string;
  readonly status: "running" | "verifying" | "completed" | "failed";
  readonly kind: string;
  readonly entries: number;
  readonly bytes: number;
  readonly started_at: string;
  readonly holds_until: string | null;
  readonly verified_at: string | null;
  readonly error: { readonly message: string } | null;
}

const EVERY_MS = 2_000;
const TONES = { running: "accent", verifying: "accent", completed: "good", failed: "bad" } as const;

interface Chosen {
  readonly what: "delete" | "restore";
  readonly backup: BackupRow;
}

export function Backups() {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const { data, error, again } = useGet<{ backups: readonly BackupRow[] }>("/v1/backups");
  useEvery(EVERY_MS, again);
  const call = (method: "POST" | "DELETE", path: string, done: string, body?: object): void => {
    void attempt(() => client().request(method, path, body === undefined ? {} : { body }), done).then(again);
  };
  const act = ({ what, backup }: Chosen): void => {
    if (what === "delete") call("DELETE", `/v1/backups/${backup.id}`, "The backup is gone.");
    else {
      const current = session.get();
      const tenant = current.state === "in" ? current.user.tenant : "";
      call("POST", `/admin/tenants/${encodeURIComponent(tenant)}/restore`, "The restore has begun.", {
        backup: backup.id,
      });
    }
  };
  return (
    <>
      <Failure error={error} />
      <ListPanel
        title="Backups"
        actions={
          <>
            <Button onClick={() => call("POST", "/v1/backups", "The backup has begun.", { incremental: true })}>
              Incremental
            </Button>
            <Button icon="plus" onClick={() => call("POST", "/v1/backups", "The backup has begun.", {})}>
              Full backup
            </Button>
          </>
        }
        rows={data?.backups}
        keyOf={({ id }) => id}
        none="There is none yet."
        columns={[
          { name: "Begun", cell: (one) => timeText(one.started_at) },
          { name: "Kind", cell: ({ kind }) => kind },
          { name: "State", cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
          { name: "Entries", cell: ({ entries }) => countText(entries), isNumber: true },
          { name: "Size", cell: ({ bytes }) => bytesText(bytes), isNumber: true },
          { name: "Restores up to", cell: (one) => timeText(one.holds_until) },
          { name: "Verified", cell: (one) => timeText(one.verified_at) },
          { name: "Problem", cell: (one) => one.error?.message ?? "", isWide: true },
          {
            name: "",
            cell: (backup) => (
              <span class="row">
                <Button onClick={() => call("POST", `/v1/backups/${backup.id}/verify`, "The backup is being read.")}>
                  Verify
                </Button>
                <Button onClick={() => setChosen({ what: "restore", backup })}>Restore</Button>
                <Button
                  kind="quiet"
                  icon="trash"
                  label="Delete this backup"
                  onClick={() => setChosen({ what: "delete", backup })}
                />
              </span>
            ),
          },
        ]}
      />
      {chosen !== null && (
        <Confirm
          title={chosen.what === "delete" ? "Delete this backup?" : "Restore this backup?"}
          action={chosen.what === "delete" ? "Delete" : "Restore"}
          onConfirm={() => act(chosen)}
          onClose={() => setChosen(null)}
        >
          <p>
            {chosen.what === "delete"
              ? "It cannot be restored any more."
              : "Everything of this tenant is replaced by what the backup holds. The tenant does not answer meanwhile."}
          </p>
        </Confirm>
      )}
    </>
  );
}

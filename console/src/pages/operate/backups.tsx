/** Backups of the tenant, with their progress. */
import { useEffect, useState } from "preact/hooks";
import { TesseraError } from "../../../../clients/typescript/src/index.js";
import { loadCatalog } from "../../lib/catalog.js";
import { isPassing } from "../../lib/errors.js";
import { bytesText, countText, timeText } from "../../lib/format.js";
import { useEvery, useGet, useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { keptStore, useStore } from "../../lib/store.js";
import { Badge, Button } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { ListPanel } from "../../ui/list-table.js";
import { Notice } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { attempt, tellError } from "../../ui/toast.js";

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

interface RestoreState {
  readonly backup: string;
  readonly state: "checking" | "restoring" | "verifying" | "completed" | "failed";
  readonly entries: number;
  readonly verified: boolean | null;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly error: { readonly message: string } | null;
}

const EVERY_MS = 2_000;
const TONES = { running: "accent", verifying: "accent", completed: "good", failed: "bad" } as const;

interface BackupList {
  readonly backups: readonly BackupRow[];
  readonly restoring: boolean;
}

/** The tenant whose restore this browser has begun or seen last. */
const restored = keptStore<string | null>("restored", null);

interface Chosen {
  readonly what: "delete" | "restore";
  readonly backup: BackupRow;
}

export function Backups({ tenant }: { readonly tenant: string }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const { data, error, again, renew } = useGet<BackupList>("/v1/backups");
  const restorePath = `/admin/tenants/${encodeURIComponent(tenant)}/restore`;
  const isRestored = useStore(restored) === tenant;
  const restore = useLoad(
    async (signal) => (isRestored ? newestRestore(restorePath, signal) : null),
    [restorePath, isRestored],
  );
  useEvery(EVERY_MS, () => {
    renew();
    if (isRestored) restore.renew();
  });
  // Whoever has begun the restore. The tenant says so while the backup is read, and then does not answer.
  const isUnderWay = data?.restoring === true || isPassing(error);
  useEffect(() => {
    if (isUnderWay) restored.set(tenant);
  }, [isUnderWay, tenant]);
  const isDone = restore.data?.state === "completed";
  useEffect(() => {
    // The tenant has other tables now.
    if (isDone) loadCatalog().catch(tellError);
  }, [isDone]);
  const call = (method: "POST" | "DELETE", path: string, done: string, body?: object): void => {
    void attempt(() => client().request(method, path, body === undefined ? {} : { body }), done).then(again);
  };
  const act = ({ what, backup }: Chosen): void => {
    if (what === "delete") call("DELETE", `/v1/backups/${backup.id}`, "The backup is gone.");
    // The question before it has said that everything is replaced.
    else {
      call("POST", restorePath, "The restore has begun.", { backup: backup.id, replace: true });
      restored.set(tenant);
    }
  };
  return (
    <>
      {restore.data != null && <RestorePanel restore={restore.data} backups={data?.backups ?? []} />}
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
        error={error}
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

/** Null: the server remembers none any more. */
async function newestRestore(path: string, signal: AbortSignal): Promise<RestoreState | null> {
  try {
    return await client().request<RestoreState>("GET", path, { signal });
  } catch (failure) {
    if (!(failure instanceof TesseraError) || failure.status !== 404) throw failure;
    restored.set(null);
    return null;
  }
}

interface RestorePanelProps {
  readonly restore: RestoreState;
  readonly backups: readonly BackupRow[];
}

function RestorePanel({ restore, backups }: RestorePanelProps) {
  const { state, entries, verified, error } = restore;
  const whole = backups.find(({ id }) => id === restore.backup);
  const isUnderWay = state !== "completed" && state !== "failed";
  const tone = isUnderWay ? "accent" : state === "completed" ? "good" : "bad";
  return (
    <Panel title="The newest restore" actions={<Badge tone={tone}>{state}</Badge>}>
      {isUnderWay && <progress max={whole?.entries} value={entries} aria-label="Progress of the restore" />}
      <Facts
        facts={[
          ["Backup of", whole === undefined ? restore.backup : timeText(whole.started_at)],
          ["Begun", timeText(restore.started_at)],
          ["Ended", timeText(restore.finished_at)],
          ["Entries", countText(entries)],
          ["Same as the backup", verified === null ? "not known" : verified ? "yes" : "no"],
        ]}
      />
      {error !== null && <Notice tone="bad">{error.message}</Notice>}
    </Panel>
  );
}

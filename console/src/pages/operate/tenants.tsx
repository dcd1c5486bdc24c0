/** All tenants of the installation, with their limits. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { useGet } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { attempt } from "../../ui/toast.js";

interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  readonly partition: number;
  readonly rate_limit: { readonly per_second: number; readonly burst: number } | null;
  readonly created_at: string;
}

export function Tenants() {
  const [open, setOpen] = useState<TenantRow | "new" | null>(null);
  const { data, error, again } = useGet<{ tenants: readonly TenantRow[] }>("/admin/tenants");
  const switchIt = (tenant: TenantRow): void => {
    const body = { is_active: !tenant.is_active };
    void attempt(() => client().request("PATCH", `/admin/tenants/${tenant.id}`, { body })).then(again);
  };
  return (
    <>
      <ListPanel
        title="Tenants"
        actions={
          <Button icon="plus" onClick={() => setOpen("new")}>
            Tenant
          </Button>
        }
        rows={data?.tenants}
        error={error}
        keyOf={({ id }) => id}
        none="There are none."
        columns={[
          { name: "Tenant", cell: ({ id }) => <strong>{id}</strong> },
          { name: "Name", cell: ({ name }) => name },
          {
            name: "State",
            cell: (one) => <Badge tone={one.is_active ? "good" : "bad"}>{one.is_active ? "active" : "disabled"}</Badge>,
          },
          { name: "Partition", cell: ({ partition }) => partition, isNumber: true },
          { name: "Requests a second", cell: (one) => one.rate_limit?.per_second ?? "as configured", isNumber: true },
          { name: "Since", cell: (one) => timeText(one.created_at) },
          {
            name: "",
            cell: (one) => (
              <span class="row">
                <Button onClick={() => goTo(["operate", "users"], { tenant: one.id })}>Users</Button>
                <Button onClick={() => setOpen(one)}>Limit</Button>
                {one.id !== "system" && (
                  <Button onClick={() => switchIt(one)}>{one.is_active ? "Disable" : "Enable"}</Button>
                )}
              </span>
            ),
          },
        ]}
      />
      {open !== null && (
        <TenantDialog tenant={open === "new" ? null : open} onClose={() => setOpen(null)} onDone={again} />
      )}
    </>
  );
}

interface TenantDialogProps {
  readonly tenant: TenantRow | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function TenantDialog({ tenant, onClose, onDone }: TenantDialogProps) {
  const [id, setId] = useState("");
  const [limit, setLimit] = useState(String(tenant?.rate_limit?.per_second ?? ""));
  const { error, run } = useRun();
  const set = async (): Promise<void> => {
    const perSecond = Number(limit);
    const rate = limit === "" ? null : { per_second: perSecond, burst: Math.max(1, perSecond * 2) };
    const isDone = await run(() =>
      tenant === null
        ? client().request("POST", "/admin/tenants", { body: { id } })
        : client().request("PATCH", `/admin/tenants/${tenant.id}`, { body: { rate_limit: rate } }),
    );
    if (!isDone) return;
    onDone();
    onClose();
  };
  const actions = (
    <Button kind="primary" onClick={() => void set()}>
      {tenant === null ? "Make" : "Set"}
    </Button>
  );
  return (
    <Dialog title={tenant === null ? "A new tenant" : `The limit of ${tenant.id}`} onClose={onClose} actions={actions}>
      {tenant === null ? (
        <TextField label="Tenant" hint="A short name, such as acme." value={id} onInput={setId} isFocused />
      ) : (
        <TextField
          label="Requests a second"
          hint="0 means no limit. Empty: as the server is configured."
          type="number"
          value={limit}
          onInput={setLimit}
          isFocused
        />
      )}
      <Failure error={error} />
    </Dialog>
  );
}

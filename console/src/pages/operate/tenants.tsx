/** All tenants of the installation, with their limits. */
import { useState } from "preact/hooks";
import { countText, timeText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { ActionDialog } from "../../ui/dialog.js";
import { TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { attempt, tell } from "../../ui/toast.js";

interface TenantRow {
  readonly id: string;
  readonly name: string;
  readonly is_active: boolean;
  readonly partition: number;
  readonly rate_limit: { readonly per_second: number; readonly burst: number } | null;
  readonly created_at: string;
}

/** How often the list is read while a tenant is being deleted. */
const EVERY_MS = 2_000;

type Open = { readonly what: "new" } | { readonly what: "change" | "delete"; readonly tenant: TenantRow };

export function Tenants() {
  const [open, setOpen] = useState<Open | null>(null);
  /** They stay in the list until their accounts are gone. */
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const { data, error, again, renew } = useGet<{ tenants: readonly TenantRow[] }>("/admin/tenants");
  const isLeaving = (id: string): boolean => leaving.has(id);
  useEvery(EVERY_MS, () => {
    if (data?.tenants.some(({ id }) => isLeaving(id)) === true) renew();
  });
  const switchIt = (tenant: TenantRow): void => {
    const body = { is_active: !tenant.is_active };
    void attempt(() => client().request("PATCH", place(tenant), { body })).then(again);
  };
  return (
    <>
      <ListPanel
        title="Tenants"
        actions={
          <Button icon="plus" onClick={() => setOpen({ what: "new" })}>
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
          { name: "State", cell: (one) => <TenantState tenant={one} isLeaving={isLeaving(one.id)} /> },
          { name: "Partition", cell: ({ partition }) => partition, isNumber: true },
          { name: "Requests a second", cell: rateText, isNumber: true },
          { name: "Since", cell: (one) => timeText(one.created_at) },
          {
            name: "",
            cell: (tenant) =>
              !isLeaving(tenant.id) && (
                <span class="row">
                  <Button onClick={() => goTo(["operate", "users"], { tenant: tenant.id })}>Users</Button>
                  <Button onClick={() => goTo(["operate", "limits"], { tenant: tenant.id })}>Limits</Button>
                  <Button onClick={() => setOpen({ what: "change", tenant })}>Change</Button>
                  {tenant.id !== "system" && (
                    <>
                      <Button onClick={() => switchIt(tenant)}>{tenant.is_active ? "Disable" : "Enable"}</Button>
                      <Button
                        kind="quiet"
                        icon="trash"
                        label={`Delete ${tenant.id}`}
                        onClick={() => setOpen({ what: "delete", tenant })}
                      />
                    </>
                  )}
                </span>
              ),
          },
        ]}
      />
      {open?.what === "delete" && (
        <DeleteDialog
          tenant={open.tenant}
          onClose={() => setOpen(null)}
          onDone={() => {
            setLeaving((before) => new Set([...before, open.tenant.id]));
            again();
          }}
        />
      )}
      {open !== null && open.what !== "delete" && (
        <TenantDialog
          tenant={open.what === "new" ? null : open.tenant}
          onClose={() => setOpen(null)}
          onDone={() => {
            setLeaving(new Set());
            again();
          }}
        />
      )}
    </>
  );
}

function place({ id }: TenantRow): string {
  return `/admin/tenants/${encodeURIComponent(id)}`;
}

function TenantState({ tenant, isLeaving }: { readonly tenant: TenantRow; readonly isLeaving: boolean }) {
  if (isLeaving) return <Badge tone="warn">being deleted</Badge>;
  return <Badge tone={tenant.is_active ? "good" : "bad"}>{tenant.is_active ? "active" : "disabled"}</Badge>;
}

function rateText({ rate_limit: limit }: TenantRow): string {
  if (limit === null) return "as configured";
  return limit.per_second === 0 ? "no limit" : countText(limit.per_second);
}

interface DialogProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The name is typed once more: nothing brings the tenant back. */
function DeleteDialog({ tenant, onClose, onDone }: DialogProps & { readonly tenant: TenantRow }) {
  const [typed, setTyped] = useState("");
  const { error, isBusy, run } = useRun();
  const remove = async (): Promise<void> => {
    if (!(await run(() => client().request("DELETE", place(tenant), { query: { confirm: typed } })))) return;
    tell(`${tenant.id} is being deleted.`);
    onDone();
    onClose();
  };
  return (
    <ActionDialog
      title={`Delete the tenant ${tenant.id}?`}
      action="Delete for ever"
      isDangerous
      disabled={typed !== tenant.id || isBusy}
      error={error}
      onAction={() => void remove()}
      onClose={onClose}
    >
      <p>
        All that it has goes: tables, documents, files, models, branches, users, keys and its own backups. Its users are
        signed out at once. Nothing brings it back but a backup that is kept elsewhere.
      </p>
      <TextField label={`Type ${tenant.id} to go on`} value={typed} onInput={setTyped} isFocused isCode />
    </ActionDialog>
  );
}

function TenantDialog({ tenant, onClose, onDone }: DialogProps & { readonly tenant: TenantRow | null }) {
  const [id, setId] = useState("");
  const [name, setName] = useState(tenant?.name ?? "");
  const [limit, setLimit] = useState(String(tenant?.rate_limit?.per_second ?? ""));
  const [burst, setBurst] = useState(String(tenant?.rate_limit?.burst ?? ""));
  const { error, isBusy, run } = useRun();
  const set = async (): Promise<void> => {
    const perSecond = Number(limit);
    const most = burst === "" ? Math.max(1, perSecond * 2) : Number(burst);
    const body = {
      ...(tenant === null && { id }),
      ...(name !== "" && { name }),
      ...(limit !== "" ? { rate_limit: { per_second: perSecond, burst: most } } : tenant && { rate_limit: null }),
    };
    const isDone = await run(() =>
      tenant === null
        ? client().request("POST", "/admin/tenants", { body })
        : client().request("PATCH", place(tenant), { body }),
    );
    if (!isDone) return;
    onDone();
    onClose();
  };
  return (
    <ActionDialog
      title={tenant === null ? "A new tenant" : `The tenant ${tenant.id}`}
      action={tenant === null ? "Make" : "Change"}
      disabled={isBusy}
      error={error}
      onAction={() => void set()}
      onClose={onClose}
    >
      {tenant === null && (
        <TextField label="Tenant" hint="A short name, such as acme." value={id} onInput={setId} isFocused />
      )}
      <TextField label="Name" hint="As people know it." value={name} onInput={setName} />
      <TextField
        label="Requests a second"
        hint="0 means no limit. Empty: as the server is configured."
        type="number"
        value={limit}
        onInput={setLimit}
      />
      <TextField
        label="Requests at once"
        hint="As many may come together. Empty: twice as many as in a second."
        type="number"
        value={burst}
        onInput={setBurst}
      />
    </ActionDialog>
  );
}

/** What all users and keys of a tenant together may use in a day, and have used today. */
import { useState } from "preact/hooks";
import { bytesText, countText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { linkTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client, isOperator, type User } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { ActionDialog } from "../../ui/dialog.js";
import { TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { TenantSelect } from "./tenant-select.js";

type Kind = "rows" | "bytes" | "tokens";

interface Budget extends Readonly<Partial<Record<`${Kind}_per_day`, number>>> {
  readonly used_today: Readonly<Record<Kind, number>>;
}

const EVERY_MS = 5_000;

const KINDS: readonly { readonly id: Kind; readonly name: string; readonly text: (count: number) => string }[] = [
  { id: "rows", name: "Rows of results", text: countText },
  { id: "bytes", name: "Bytes of answers", text: bytesText },
  { id: "tokens", name: "Tokens of models", text: countText },
];

interface LimitsProps {
  /** The user's own, unless the user is an operator. */
  readonly tenant: string;
  readonly user: User;
}

export function Limits({ tenant, user }: LimitsProps) {
  const [isOpen, setOpen] = useState(false);
  const path = isOperator(user) ? `/admin/tenants/${encodeURIComponent(tenant)}/budget` : "/admin/budget";
  const { data, error, again, renew } = useGet<Budget>(path);
  useEvery(EVERY_MS, renew);
  const limitOf = (kind: Kind): number | undefined => data?.[`${kind}_per_day`];
  const isCounted = KINDS.some(({ id }) => limitOf(id) !== undefined);
  return (
    <>
      {isOperator(user) && <TenantSelect tab="limits" tenant={tenant} />}
      <ListPanel
        title={`What ${tenant} may use in a day`}
        label="Limits"
        actions={
          <Button disabled={data === undefined} onClick={() => setOpen(true)}>
            Change
          </Button>
        }
        rows={data === undefined ? undefined : KINDS}
        error={error}
        keyOf={({ id }) => id}
        none="There are none."
        columns={[
          { name: "What", cell: ({ name }) => <strong>{name}</strong> },
          {
            name: "Today",
            cell: ({ id, text }) => (isCounted ? text(data!.used_today[id]) : "not counted"),
            isNumber: true,
          },
          {
            name: "Limit",
            cell: ({ id, text }) => (limitOf(id) === undefined ? "none" : text(limitOf(id)!)),
            isNumber: true,
          },
          {
            name: "Used",
            cell: ({ id, name }) =>
              limitOf(id) !== undefined && (
                <progress max={limitOf(id)} value={data!.used_today[id]} aria-label={`${name} used`} />
              ),
          },
        ]}
        foot={
          <p class="none">
            All users and keys together, in a day of UTC. What goes beyond is refused until the next day. Use is counted
            while there is a limit.
            {isOperator(user) && (
              <>
                {" "}
                How many requests a second each tenant may send is set under{" "}
                <a href={linkTo(["operate", "tenants"])}>Tenants</a>.
              </>
            )}
          </p>
        }
      />
      {isOpen && data !== undefined && (
        <LimitsDialog budget={data} onClose={() => setOpen(false)} onDone={again} path={path} tenant={tenant} />
      )}
    </>
  );
}

interface LimitsDialogProps {
  readonly budget: Budget;
  readonly path: string;
  readonly tenant: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function LimitsDialog({ budget, path, tenant, onClose, onDone }: LimitsDialogProps) {
  const [typed, setTyped] = useState<Readonly<Record<Kind, string>>>({
    rows: String(budget.rows_per_day ?? ""),
    bytes: String(budget.bytes_per_day ?? ""),
    tokens: String(budget.tokens_per_day ?? ""),
  });
  const { error, isBusy, run } = useRun();
  const set = async (): Promise<void> => {
    const limited = KINDS.filter(({ id }) => typed[id] !== "");
    const body = Object.fromEntries(limited.map(({ id }) => [`${id}_per_day`, Number(typed[id])]));
    if (!(await run(() => client().request("PUT", path, { body })))) return;
    onDone();
    onClose();
  };
  return (
    <ActionDialog
      title={`The limits of ${tenant}`}
      action="Set"
      disabled={isBusy}
      error={error}
      onAction={() => void set()}
      onClose={onClose}
    >
      {KINDS.map(({ id, name }, i) => (
        <TextField
          key={id}
          label={`${name} in a day`}
          hint="Empty: no limit."
          type="number"
          value={typed[id]}
          onInput={(value) => setTyped((before) => ({ ...before, [id]: value }))}
          isFocused={i === 0}
        />
      ))}
    </ActionDialog>
  );
}

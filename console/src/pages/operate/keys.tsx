/** API keys of the tenant. A key is shown once, when it is made. */
import { useState } from "preact/hooks";
import { countText, timeText } from "../../lib/format.js";
import { useGet } from "../../lib/load.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { ActionDialog, Confirm, Dialog } from "../../ui/dialog.js";
import { Select, TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { ShownOnce } from "../../ui/shown-once.js";
import { attempt } from "../../ui/toast.js";

interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly key_preview: string;
  readonly permission: string;
  readonly expires_at: string | null;
  readonly last_used: string | null;
  readonly usage_count: number;
}

export function Keys() {
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<KeyRow | null>(null);
  const { data, error, again } = useGet<{ keys: readonly KeyRow[] }>("/v1/api-keys");
  const remove = ({ id, name }: KeyRow): void => {
    const work = () => client().request("DELETE", `/v1/api-keys/${encodeURIComponent(id)}`);
    void attempt(work, `${name} does not work any more.`).then(again);
  };
  return (
    <>
      <ListPanel
        title="API keys"
        actions={
          <Button icon="plus" onClick={() => setNew(true)}>
            Key
          </Button>
        }
        rows={data?.keys}
        error={error}
        keyOf={({ id }) => id}
        none="There are none."
        columns={[
          { name: "Name", cell: ({ name }) => <strong>{name}</strong> },
          { name: "Key", cell: (key) => <code>{key.key_preview}</code> },
          { name: "May", cell: (key) => <Badge>{key.permission === "ReadOnly" ? "read" : "read and write"}</Badge> },
          { name: "Until", cell: (key) => timeText(key.expires_at) || "for ever" },
          { name: "Last used", cell: (key) => timeText(key.last_used) },
          { name: "Requests", cell: (key) => countText(key.usage_count), isNumber: true },
          {
            name: "",
            cell: (key) => (
              <Button kind="quiet" icon="trash" label={`Delete ${key.name}`} onClick={() => setRemoved(key)} />
            ),
          },
        ]}
      />
      {isNew && <NewKey onClose={() => setNew(false)} onDone={again} />}
      {removed !== null && (
        <Confirm
          title={`Delete ${removed.name}?`}
          action="Delete"
          onConfirm={() => remove(removed)}
          onClose={() => setRemoved(null)}
        >
          <p>Programs that use it are refused at once.</p>
        </Confirm>
      )}
    </>
  );
}

function NewKey({ onClose, onDone }: { readonly onClose: () => void; readonly onDone: () => void }) {
  const [name, setName] = useState("");
  const [permission, setPermission] = useState<"FullAccess" | "ReadOnly">("ReadOnly");
  const [made, setMade] = useState<string | null>(null);
  const { error, isBusy, run } = useRun();
  const make = (): Promise<boolean> =>
    run(async () => {
      const body = { name, permission };
      const { raw_key: key } = await client().request<{ raw_key: string }>("POST", "/v1/api-keys", { body });
      setMade(key);
      onDone();
    });
  const options = [["ReadOnly", "Read"] as const, ["FullAccess", "Read and write"] as const];
  if (made !== null) {
    return (
      <Dialog title="A new API key" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
        <ShownOnce secret={made} />
      </Dialog>
    );
  }
  return (
    <ActionDialog
      title="A new API key"
      action="Make"
      disabled={isBusy}
      error={error}
      onAction={() => void make()}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onInput={setName} isFocused />
      <Select label="May" value={permission} options={options} onChange={setPermission} />
    </ActionDialog>
  );
}

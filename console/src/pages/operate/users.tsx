/** Users of the tenant: who they are, and whether they may sign in. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Confirm, Dialog } from "../../ui/dialog.js";
import { Select, TextField } from "../../ui/field.js";
import { ListTable } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";

interface UserRow {
  readonly id: string;
  readonly username: string;
  readonly roles: readonly string[];
  readonly is_active: boolean;
  readonly mfa_enabled: boolean;
  readonly last_login: string | null;
}

export function Users({ tenant }: { readonly tenant: string }) {
  const path = `/admin/tenants/${encodeURIComponent(tenant)}/users`;
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<UserRow | null>(null);
  const { data, error, again } = useLoad(
    (signal) => client().request<{ users: readonly UserRow[] }>("GET", path, { signal }),
    [path],
  );
  const change = (work: Promise<unknown>, done: string): void => {
    void attempt(() => work, done).then(again);
  };
  const place = ({ id }: UserRow): string => `${path}/${encodeURIComponent(id)}`;
  return (
    <>
      <Failure error={error} />
      <Panel
        title={`Users of ${tenant}`}
        isFlush
        actions={
          <Button icon="plus" onClick={() => setNew(true)}>
            User
          </Button>
        }
      >
        <ListTable
          label="Users"
          rows={data?.users ?? []}
          keyOf={({ id }) => id}
          none="There are none."
          columns={[
            { name: "Name", cell: ({ username }) => <strong>{username}</strong> },
            { name: "Roles", cell: ({ roles }) => roles.join(", ") },
            {
              name: "State",
              cell: (user) => (
                <Badge tone={user.is_active ? "good" : "bad"}>{user.is_active ? "active" : "disabled"}</Badge>
              ),
            },
            { name: "Second factor", cell: (user) => (user.mfa_enabled ? "yes" : "no") },
            { name: "Last sign-in", cell: (user) => timeText(user.last_login) },
            {
              name: "",
              cell: (user) => (
                <span class="row">
                  <Button
                    onClick={() =>
                      change(
                        client().request("PATCH", place(user), { body: { is_active: !user.is_active } }),
                        user.is_active ? `${user.username} is disabled.` : `${user.username} is enabled.`,
                      )
                    }
                  >
                    {user.is_active ? "Disable" : "Enable"}
                  </Button>
                  <Button
                    kind="quiet"
                    icon="trash"
                    label={`Delete ${user.username}`}
                    onClick={() => setRemoved(user)}
                  />
                </span>
              ),
            },
          ]}
        />
      </Panel>
      {isNew && <NewUser path={path} onClose={() => setNew(false)} onDone={again} />}
      {removed !== null && (
        <Confirm
          title={`Delete ${removed.username}?`}
          action="Delete"
          onClose={() => setRemoved(null)}
          onConfirm={() => change(client().request("DELETE", place(removed)), `${removed.username} is gone.`)}
        >
          <p>The user's API keys stop working, too.</p>
        </Confirm>
      )}
    </>
  );
}

interface NewUserProps {
  readonly path: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function NewUser({ path, onClose, onDone }: NewUserProps) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<"user" | "admin">("user");
  const [error, setError] = useState<unknown>(null);
  const make = async (): Promise<void> => {
    try {
      await client().request("POST", path, { body: { username, password, roles: [role] } });
      onDone();
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  const actions = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" onClick={() => void make()}>
        Make
      </Button>
    </>
  );
  return (
    <Dialog title="A new user" onClose={onClose} actions={actions}>
      <TextField label="Name" value={username} onInput={setUsername} isFocused />
      <TextField
        label="Password"
        hint="At least 8 characters."
        type="password"
        autocomplete="new-password"
        value={password}
        onInput={setPassword}
      />
      <Select label="Role" value={role} options={["user", "admin"]} onChange={setRole} />
      <Failure error={error} />
    </Dialog>
  );
}

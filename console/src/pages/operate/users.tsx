/** Users of a tenant: who they are, and whether they may sign in. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { useGet, useLoad } from "../../lib/load.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { ActionDialog, Confirm, Dialog } from "../../ui/dialog.js";
import { Select, TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { ShownOnce } from "../../ui/shown-once.js";
import { attempt } from "../../ui/toast.js";
import { runDefinitions, StatementShown, scriptOf } from "../data/statement-dialog.js";
import { TenantSelect } from "./tenant-select.js";
import { GroupChoice, type Groups, loadGroups, NO_GROUPS, roleStatements, rolesOf, UserRoles } from "./user-roles.js";

interface UserRow {
  readonly id: string;
  readonly username: string;
  readonly roles: readonly string[];
  readonly is_active: boolean;
  readonly mfa_enabled: boolean;
  readonly last_login: string | null;
}

interface UsersProps {
  readonly tenant: string;
  /** To other tenants. */
  readonly canSwitch: boolean;
  /** The tenant that is signed in to: statements are about it, and so are roles that statements make. */
  readonly isOwn: boolean;
}

export function Users({ tenant, canSwitch, isOwn }: UsersProps) {
  const path = `/admin/tenants/${encodeURIComponent(tenant)}/users`;
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<UserRow | null>(null);
  const [reset, setReset] = useState<UserRow | null>(null);
  const [granted, setGranted] = useState<UserRow | null>(null);
  const roles = useLoad((signal) => (isOwn ? loadGroups(signal) : Promise.resolve(NO_GROUPS)), [isOwn]);
  const groups = roles.data ?? NO_GROUPS;
  const { data, error, again } = useGet<{ users: readonly UserRow[] }>(path);
  const change = (work: Promise<unknown>, done: string): void => {
    void attempt(() => work, done).then(again);
  };
  const place = ({ id }: UserRow): string => `${path}/${encodeURIComponent(id)}`;
  return (
    <>
      {canSwitch && <TenantSelect tab="users" tenant={tenant} />}
      <ListPanel
        title={`Users of ${tenant}`}
        actions={
          <Button icon="plus" onClick={() => setNew(true)}>
            User
          </Button>
        }
        label="Users"
        rows={data?.users}
        error={error}
        keyOf={({ id }) => id}
        none="There are none."
        columns={[
          { name: "Name", cell: ({ username }) => <strong>{username}</strong> },
          { name: "Roles", cell: (user) => [...user.roles, ...rolesOf(groups, user.username)].join(", ") },
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
                {groups.names.length > 0 && !user.roles.some((role) => role.endsWith("admin")) && (
                  <Button onClick={() => setGranted(user)}>Roles</Button>
                )}
                <Button onClick={() => setReset(user)}>Reset password</Button>
                <Button kind="quiet" icon="trash" label={`Delete ${user.username}`} onClick={() => setRemoved(user)} />
              </span>
            ),
          },
        ]}
      />
      {isNew && (
        <NewUser
          path={path}
          groups={groups}
          onClose={() => setNew(false)}
          onDone={() => {
            again();
            roles.again();
          }}
        />
      )}
      {granted !== null && (
        <UserRoles
          username={granted.username}
          groups={groups}
          onClose={() => setGranted(null)}
          onDone={() => {
            setGranted(null);
            roles.again();
          }}
        />
      )}
      {reset !== null && <ResetDialog user={reset} place={place(reset)} onClose={() => setReset(null)} />}
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

interface ResetDialogProps {
  readonly user: UserRow;
  readonly place: string;
  readonly onClose: () => void;
}

/** For who has forgotten it. The server makes the new one up. */
function ResetDialog({ user: { username }, place, onClose }: ResetDialogProps) {
  const [made, setMade] = useState<string | null>(null);
  const { error, isBusy, run } = useRun();
  const reset = (): Promise<boolean> =>
    run(async () => {
      const path = `${place}/reset-password`;
      setMade((await client().request<{ password: string }>("POST", path, { body: {} })).password);
    });
  const title = `A new password for ${username}`;
  if (made !== null) {
    return (
      <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
        <ShownOnce secret={made} />
      </Dialog>
    );
  }
  return (
    <ActionDialog
      title={title}
      action="Reset"
      isDangerous
      disabled={isBusy}
      error={error}
      onAction={() => void reset()}
      onClose={onClose}
    >
      <p>The present password does not work any more, and {username} is signed out everywhere.</p>
    </ActionDialog>
  );
}

interface NewUserProps {
  readonly path: string;
  readonly groups: Groups;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

type Role = "user" | "admin" | "super_admin";

const ROLES: readonly (readonly [Role, string])[] = [
  ["user", "user: works with the data"],
  ["admin", "admin: also sees and ends the work of others"],
  ["super_admin", "super_admin: also manages users and backups"],
];

function NewUser({ path, groups, onClose, onDone }: NewUserProps) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [role, setRole] = useState<Role>("user");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { error, isBusy, run } = useRun();
  const statements = role === "user" ? roleStatements(groups, username, chosen) : [];
  const make = async (): Promise<void> => {
    const body = { username, password, roles: [role] };
    if (!(await run(() => client().request("POST", path, { body })))) return;
    // The user is there, whatever becomes of the statements.
    if (statements.length > 0) await attempt(() => runDefinitions(statements));
    onDone();
    onClose();
  };
  return (
    <ActionDialog
      title="A new user"
      action="Make"
      disabled={isBusy}
      onAction={() => void make()}
      error={error}
      onClose={onClose}
    >
      <TextField label="Name" value={username} onInput={setUsername} isFocused />
      <TextField
        label="Password"
        hint="At least 8 characters."
        type="password"
        autocomplete="new-password"
        value={password}
        onInput={setPassword}
      />
      <Select label="Role" value={role} options={ROLES} onChange={setRole} />
      {role === "user" && <GroupChoice groups={groups} chosen={chosen} onChange={setChosen} />}
      <StatementShown statement={scriptOf(statements)} />
    </ActionDialog>
  );
}

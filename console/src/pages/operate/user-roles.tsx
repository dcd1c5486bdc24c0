/** Roles that statements have made, and which of them a user has: which tables and rows the user may see and change. */
import { useState } from "preact/hooks";
import { client } from "../../lib/session.js";
import { DefinitionDialog } from "../data/statement-dialog.js";
import { quotedName } from "../query/sidebar.js";

export interface Groups {
  /** Roles that users can have. */
  readonly names: readonly string[];
  /** Users that act as a role of their own name. */
  readonly users: ReadonlySet<string>;
  /** By user. */
  readonly members: ReadonlyMap<string, readonly string[]>;
}

export const NO_GROUPS: Groups = { names: [], users: new Set(), members: new Map() };

const LISTED = `SELECT rolname AS name, rolcanlogin AS is_user FROM pg_roles
WHERE NOT rolsuper AND rolname <> 'member' AND rolname !~ '^pg_' ORDER BY 1`;
const MEMBERS = `SELECT m.rolname AS username, g.rolname AS name FROM pg_auth_members a
JOIN pg_roles m ON m.oid = a.member JOIN pg_roles g ON g.oid = a.roleid ORDER BY 2`;

export async function loadGroups(signal: AbortSignal): Promise<Groups> {
  const [listed, pairs] = await Promise.all([
    client().query<{ name: string; is_user: boolean }>(LISTED, [], { signal }),
    client().query<{ username: string; name: string }>(MEMBERS, [], { signal }),
  ]);
  const roles = [...listed];
  const names = roles.filter(({ is_user }) => !is_user).map(({ name }) => name);
  const users = new Set(roles.filter(({ is_user }) => is_user).map(({ name }) => name));
  // Before a tenant has its first role, each of its users is listed as one.
  if (names.length === 0) return NO_GROUPS;
  const members = new Map<string, readonly string[]>();
  for (const { username, name } of pairs) members.set(username, [...(members.get(username) ?? []), name]);
  return { names, users, members };
}

export function rolesOf({ members }: Groups, username: string): readonly string[] {
  return members.get(username) ?? [];
}

/** What gives the user these roles and no others. */
export function roleStatements(groups: Groups, username: string, chosen: readonly string[]): readonly string[] {
  const user = quotedName(username);
  const listOf = (names: readonly string[]): string => names.map(quotedName).join(", ");
  if (!groups.users.has(username)) return chosen.length === 0 ? [] : [`CREATE USER ${user} IN ROLE ${listOf(chosen)}`];
  const before = rolesOf(groups, username);
  const given = chosen.filter((name) => !before.includes(name));
  const taken = before.filter((name) => !chosen.includes(name));
  return [
    ...(given.length > 0 ? [`GRANT ${listOf(given)} TO ${user}`] : []),
    ...(taken.length > 0 ? [`REVOKE ${listOf(taken)} FROM ${user}`] : []),
  ];
}

interface GroupChoiceProps {
  readonly groups: Groups;
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

export function GroupChoice({ groups, chosen, onChange }: GroupChoiceProps) {
  if (groups.names.length === 0) return null;
  return (
    <fieldset class="row">
      <legend class="hint">Roles of tables and rows</legend>
      {groups.names.map((name) => (
        <label key={name} class="switch">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, name] : chosen.filter((each) => each !== name))
            }
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface UserRolesProps {
  readonly username: string;
  readonly groups: Groups;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function UserRoles({ username, groups, onClose, onDone }: UserRolesProps) {
  const [chosen, setChosen] = useState(rolesOf(groups, username));
  const statements = roleStatements(groups, username, chosen);
  return (
    <DefinitionDialog
      title={`Roles of ${username}`}
      statements={statements}
      action="Change"
      done={`${username} has these roles.`}
      disabled={statements.length === 0}
      onClose={onClose}
      onDone={onDone}
    >
      <GroupChoice groups={groups} chosen={chosen} onChange={setChosen} />
    </DefinitionDialog>
  );
}

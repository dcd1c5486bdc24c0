/** Who sees and changes which rows of a table: its policies, and whether they count. */
import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { Select, Switch, TextArea, TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import {
  type PolicyCommand,
  type PolicyDraft,
  policyDropStatement,
  policyStatement,
  rowSecurityStatement,
} from "./definition-statements.js";
import { DefinitionDialog } from "./statement-dialog.js";
import { named } from "./table-facts.js";

interface PolicyRow {
  readonly policyname: string;
  readonly permissive: string;
  readonly roles: readonly string[];
  readonly cmd: string;
  readonly qual: string | null;
  readonly with_check: string | null;
}

interface Policies {
  readonly isOn: boolean;
  readonly rows: readonly PolicyRow[];
  readonly roles: readonly string[];
}

const STATE = "SELECT relrowsecurity AS is_on FROM pg_class WHERE oid = $1::regclass";
const LISTED = `SELECT policyname, permissive, roles, cmd, qual, with_check FROM pg_policies p
JOIN pg_class c ON c.relname = p.tablename JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = p.schemaname
WHERE c.oid = $1::regclass ORDER BY 1`;
const ROLES = "SELECT rolname FROM pg_roles WHERE rolname !~ '^pg_' ORDER BY 1";

async function policiesOf(table: string, signal: AbortSignal): Promise<Policies> {
  const [state, rows, roles] = await Promise.all([
    client().query<{ is_on: boolean }>(STATE, [named(table)], { signal }),
    client().query<PolicyRow>(LISTED, [named(table)], { signal }),
    client().query<{ rolname: string }>(ROLES, [], { signal }),
  ]);
  return { isOn: state[0]?.is_on === true, rows: [...rows], roles: roles.map(({ rolname }) => rolname) };
}

/** A statement that waits for a yes. */
interface Asked {
  readonly title: string;
  readonly statement: string;
  readonly action: string;
}

export function PoliciesPanel({ table }: { readonly table: string }) {
  const { data, error, again } = useLoad((signal) => policiesOf(table, signal), [table]);
  const [isNew, setNew] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const isOn = data?.isOn === true;
  const turned = {
    title: `Row security of ${table}`,
    statement: rowSecurityStatement(table, !isOn),
    action: isOn ? "Turn off" : "Turn on",
  };
  const done = (): void => {
    setNew(false);
    setAsked(null);
    again();
  };
  return (
    <>
      <ListPanel
        title="Policies of rows"
        actions={
          data !== undefined && (
            <>
              <Badge tone={isOn ? "good" : "neutral"}>{isOn ? "row security is on" : "row security is off"}</Badge>
              <Button onClick={() => setAsked(turned)}>{turned.action}</Button>
              <Button icon="plus" onClick={() => setNew(true)}>
                Policy
              </Button>
            </>
          )
        }
        rows={data?.rows}
        error={error}
        keyOf={({ policyname }) => policyname}
        none={isOn ? "There are none: only administrators see rows." : "There are none: privileges alone count."}
        columns={[
          { name: "Name", cell: ({ policyname }) => <strong>{policyname}</strong> },
          { name: "For", cell: ({ cmd }) => <code>{cmd}</code> },
          { name: "Roles", cell: ({ roles }) => roles.join(", ") },
          { name: "Rows found", cell: ({ qual }) => <code>{qual ?? ""}</code>, isWide: true },
          { name: "Rows stored", cell: (policy) => <code>{policy.with_check ?? ""}</code>, isWide: true },
          { name: "Kind", cell: ({ permissive }) => permissive.toLowerCase() },
          {
            name: "",
            cell: ({ policyname: name }) => (
              <Button
                kind="quiet"
                icon="trash"
                label={`Drop ${name}`}
                onClick={() =>
                  setAsked({ title: `Drop ${name}?`, statement: policyDropStatement(table, name), action: "Drop" })
                }
              />
            ),
          },
        ]}
      />
      {asked !== null && (
        <DefinitionDialog
          title={asked.title}
          statements={[asked.statement]}
          action={asked.action}
          done="Done."
          isDangerous
          onClose={() => setAsked(null)}
          onDone={done}
        />
      )}
      {isNew && data !== undefined && (
        <PolicyDialog table={table} policies={data} onClose={() => setNew(false)} onDone={done} />
      )}
    </>
  );
}

const COMMANDS: readonly (readonly [PolicyCommand, string])[] = [
  ["ALL", "reading and writing"],
  ["SELECT", "reading"],
  ["INSERT", "inserting"],
  ["UPDATE", "updating"],
  ["DELETE", "deleting"],
];

/** Conditions to begin with. */
const EXAMPLES: readonly (readonly [string, string])[] = [
  ["Rows of the user who asks", "owner = current_user"],
  ["Rows of the caller's team, by the token", "team = current_setting('request.jwt.claims', true)::jsonb->>'team'"],
  ["Rows that are published", "published"],
  ["Rows of the last 30 days", "created_at > now() - interval '30 days'"],
  ["All rows", "true"],
];

interface PolicyDialogProps {
  readonly table: string;
  readonly policies: Policies;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function PolicyDialog({ table, policies: { isOn, roles }, onClose, onDone }: PolicyDialogProps) {
  const [policy, setPolicy] = useState<PolicyDraft>({
    ...{ name: "", command: "ALL", isRestrictive: false, role: "", using: "", check: "" },
  });
  const [turnsOn, setTurnsOn] = useState(!isOn);
  const set = (part: Partial<PolicyDraft>): void => setPolicy((now) => ({ ...now, ...part }));
  const { name, command, isRestrictive, role, using, check } = policy;
  const [finds, stores] = [command !== "INSERT", command !== "SELECT" && command !== "DELETE"];
  return (
    <DefinitionDialog
      title={`A policy for ${table}`}
      statements={[
        policyStatement(table, { ...policy, name: name === "" ? "…" : name }),
        ...(turnsOn ? [rowSecurityStatement(table, true)] : []),
      ]}
      action="Make"
      done={`${name} is made.`}
      disabled={name.trim() === "" || (using.trim() === "" && check.trim() === "")}
      onClose={onClose}
      onDone={onDone}
    >
      <TextField label="Name" value={name} onInput={(text) => set({ name: text })} isFocused isCode />
      <div class="form-row">
        <Select label="For" value={command} options={COMMANDS} onChange={(chosen) => set({ command: chosen })} />
        <Select
          label="Of the role"
          value={role}
          options={[["", "all"] as const, ...roles.map((one) => [one, one] as const)]}
          onChange={(chosen) => set({ role: chosen })}
        />
      </div>
      <Select
        label="Begin with"
        value=""
        options={[["", "Choose a condition"] as const, ...EXAMPLES.map(([label, sql]) => [sql, label] as const)]}
        onChange={(sql) => set(finds ? { using: sql } : { check: sql })}
      />
      {finds && (
        <TextArea label="Rows that are found" value={using} rows={2} onInput={(text) => set({ using: text })} isCode />
      )}
      {stores && (
        <TextArea
          label={finds ? "Rows that are stored; empty: the same" : "Rows that are stored"}
          value={check}
          rows={2}
          onInput={(text) => set({ check: text })}
          isCode
        />
      )}
      <Switch
        label="Restrictive: must be true besides the others"
        isOn={isRestrictive}
        onChange={(isNow) => set({ isRestrictive: isNow })}
      />
      {!isOn && <Switch label="Turn row security on" isOn={turnsOn} onChange={setTurnsOn} />}
    </DefinitionDialog>
  );
}

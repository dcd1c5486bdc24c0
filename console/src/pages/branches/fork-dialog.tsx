/** Makes a branch, and ends one. */
import { useState } from "preact/hooks";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { branchShown, showBranch, tenantClient } from "../../lib/session.js";
import { ActionDialog, Confirm } from "../../ui/dialog.js";
import { Select, Switch, TextField } from "../../ui/field.js";
import { attempt, tell } from "../../ui/toast.js";
import { type BranchRow, listOf, momentOf, pathOfBranch } from "./branch-facts.js";

interface ForkDialogProps {
  readonly tenant: string;
  readonly branches: readonly BranchRow[];
  readonly onClose: () => void;
}

/** No branch has such a name. */
const NOTHING = "/";

const MEGABYTE = 1e6;

const LIVES = [
  ["", "until it is deleted"],
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "7 days"],
  ["2592000", "30 days"],
] as const;

export function ForkDialog({ tenant, branches, onClose }: ForkDialogProps) {
  const [name, setName] = useState("");
  const [from, setFrom] = useState("");
  const [asOf, setAsOf] = useState("");
  const [life, setLife] = useState<(typeof LIVES)[number][0]>("86400");
  const [quota, setQuota] = useState("");
  const [users, setUsers] = useState("");
  const [keys, setKeys] = useState("");
  const [ownPolicies, setOwnPolicies] = useState(false);
  const [enters, setEnters] = useState(true);
  const { error, isBusy, run } = useRun();
  const make = async (): Promise<void> => {
    const body = {
      name,
      ...(from === NOTHING ? { empty: true } : from !== "" && { from }),
      ...(asOf.trim() !== "" && from !== NOTHING && { as_of: momentOf(asOf) }),
      ...(life !== "" && { ttl_seconds: Number(life) }),
      ...(quota.trim() !== "" && { quota_bytes: Math.round(Number(quota) * MEGABYTE) }),
      // Without them it has what the branch has that it is forked from.
      ...(listOf(users) !== null && { users: listOf(users) }),
      ...(listOf(keys) !== null && { keys: listOf(keys) }),
      ...(ownPolicies && { policies: "branch" }),
    };
    if (!(await run(() => tenantClient().request("POST", "/v1/branches", { body })))) return;
    tell(`The branch ${name} is made.`);
    onClose();
    goTo(["branches", "of", name]);
    if (enters) showBranch(name);
  };
  return (
    <ActionDialog
      title="A new branch"
      action="Make"
      disabled={isBusy}
      onAction={() => void make()}
      error={error}
      onClose={onClose}
    >
      <TextField label="Name" hint="1 to 63 of a-z, 0-9, - and _." value={name} onInput={setName} isFocused />
      <Select
        label="From"
        value={from}
        options={[
          ["", tenant],
          ...branches.map((each) => [each.name, `branch ${each.name}`] as const),
          [NOTHING, "nothing: an empty database"],
        ]}
        onChange={setFrom}
      />
      {from !== NOTHING && (
        <TextField
          label="As of"
          hint="A time, or the number of a commit, within the past that is kept. Empty: now."
          placeholder="2026-11-20 10:00Z"
          value={asOf}
          onInput={setAsOf}
        />
      )}
      <Select label="It stays" value={life} options={LIVES} onChange={setLife} />
      <details>
        <summary>Limits and who may enter</summary>
        <TextField
          label="Megabytes of its own"
          hint="What it may hold of what it has written. Empty: any number."
          type="number"
          value={quota}
          onInput={setQuota}
        />
        <TextField
          label="Users"
          hint="Names, with commas between them. Administrators may always enter. Empty: as in what it is forked from."
          value={users}
          onInput={setUsers}
        />
        <TextField
          label="API keys"
          hint="Their ids, with commas between them. Empty: as in what it is forked from."
          value={keys}
          onInput={setKeys}
        />
        <Switch label="Only its own roles and policies" isOn={ownPolicies} onChange={setOwnPolicies} />
      </details>
      <Switch label="Work in it at once" isOn={enters} onChange={setEnters} />
    </ActionDialog>
  );
}

interface DeleteBranchProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function DeleteBranch({ name, onClose, onDone }: DeleteBranchProps) {
  const remove = async (): Promise<void> => {
    const isDone = await attempt(() => tenantClient().request("DELETE", pathOfBranch(name)), `${name} is deleted.`);
    if (isDone && branchShown() === name) showBranch(null);
    if (isDone) onDone();
  };
  return (
    <Confirm title={`Delete ${name}?`} action="Delete" onClose={onClose} onConfirm={() => void remove()}>
      <p>All that was changed in it and not merged is lost.</p>
    </Confirm>
  );
}

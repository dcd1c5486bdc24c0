/** Merges a branch into its origin. What the merge would do, and its conflicts, are shown before it writes. */
import { useState } from "preact/hooks";
import { countText, plural } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { useRun } from "../../lib/run.js";
import { tenantClient } from "../../lib/session.js";
import { Button } from "../../ui/button.js";
import { Select, Switch } from "../../ui/field.js";
import { Failure, Notice, Waiting } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { tell } from "../../ui/toast.js";
import { type Diff, type Merged, pathOfBranch } from "./branch-facts.js";
import { RowSides } from "./changed-rows.js";

interface MergePanelProps {
  readonly name: string;
  readonly from: string | null;
  readonly diff: Diff;
  readonly onMerged: () => void;
}

type Resolution = "refuse" | "ours" | "theirs";

export function MergePanel({ name, from, diff, onMerged }: MergePanelProps) {
  const [conflicts, setConflicts] = useState<Resolution>("refuse");
  const [isSome, setSome] = useState(false);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { error, isBusy, run } = useRun();
  const origin = from === null ? "the tenant" : `the branch ${from}`;
  const body = { conflicts, ...(isSome && { tables: chosen }) };
  const isNothing = isSome && chosen.length === 0;
  const path = `${pathOfBranch(name)}/merge`;
  const trial = useLoad(
    async (signal) => {
      if (isNothing) return null;
      return tenantClient().request<Merged>("POST", path, { body: { ...body, dry_run: true }, signal });
    },
    [path, body],
  );
  const merge = async (): Promise<void> => {
    let done: Merged | null = null;
    const isDone = await run(async () => {
      done = await tenantClient().request<Merged>("POST", path, { body });
    });
    trial.again();
    if (!isDone || !done!.merged) return;
    tell(`Merged: ${told(done!)}.`);
    onMerged();
  };
  const mayMerge = trial.data != null && (conflicts !== "refuse" || trial.data.conflicts_total === 0);
  const choose = (table: string, isOn: boolean): void =>
    setChosen((now) => (isOn ? [...now, table] : now.filter((each) => each !== table)));
  return (
    <Panel title={`Merge ${name} into ${origin}`}>
      <div class="form-row slim">
        <Select
          label="Rows that both have changed"
          value={conflicts}
          options={[
            ["refuse", "are conflicts: nothing is merged"],
            ["ours", "stay as in the origin (ours)"],
            ["theirs", "become as in the branch (theirs)"],
          ]}
          onChange={setConflicts}
        />
        <Switch label="Only some tables" isOn={isSome} onChange={setSome} />
      </div>
      {isSome && (
        <fieldset class="row">
          <legend class="hint">A later merge writes the rest.</legend>
          {diff.tables.map(({ table }) => (
            <label key={table} class="switch">
              <input
                type="checkbox"
                checked={chosen.includes(table)}
                onChange={(event) => choose(table, event.currentTarget.checked)}
              />
              <span>{table}</span>
            </label>
          ))}
        </fieldset>
      )}
      <Trial merged={trial.data} error={trial.error} isNothing={isNothing} resolution={conflicts} />
      <Failure error={error} />
      <div class="row">
        <Button kind="primary" disabled={!mayMerge || isBusy || trial.isLoading} onClick={() => void merge()}>
          Merge
        </Button>
      </div>
    </Panel>
  );
}

interface TrialProps {
  readonly merged: Merged | null | undefined;
  readonly error: unknown;
  readonly isNothing: boolean;
  readonly resolution: Resolution;
}

const RESOLVED: Readonly<Record<Exclude<Resolution, "refuse">, string>> = {
  ours: "It stays as in the origin",
  theirs: "It becomes as in the branch",
};

/** What the merge would do. */
function Trial({ merged, error, isNothing, resolution }: TrialProps) {
  if (isNothing) return <p class="muted">Choose tables.</p>;
  if (error !== null || merged == null) return <Waiting error={error} />;
  const { conflicts, conflicts_total: total } = merged;
  return (
    <>
      {total > 0 && resolution === "refuse" ? (
        <Notice tone="warn">
          Nothing is merged: both have changed {plural(total, "row")} since the fork, and not in the same way. Say above
          which side counts.
        </Notice>
      ) : (
        <p>The merge writes {told(merged)}.</p>
      )}
      {total > 0 && resolution !== "refuse" && (
        <p>
          {RESOLVED[resolution]}, what both have changed: {plural(total, "row")}.
        </p>
      )}
      {total > conflicts.length && <p class="muted">The first {countText(conflicts.length)} are shown.</p>}
      {conflicts.map(({ table, base, ours, theirs }, i) => (
        <RowSides
          key={`${i}/${table}`}
          title={table}
          sides={[
            { label: "Base (at the fork)", row: base },
            { label: "Ours (the origin)", row: ours },
            { label: "Theirs (the branch)", row: theirs },
          ]}
          hasAll={false}
        />
      ))}
    </>
  );
}

function told({ added, changed, removed }: Merged): string {
  const parts = [
    ...(added > 0 ? [plural(added, "new row")] : []),
    ...(changed > 0 ? [plural(changed, "changed row")] : []),
    ...(removed > 0 ? [plural(removed, "removal")] : []),
  ];
  return parts.length === 0 ? "nothing" : parts.join(" and ");
}

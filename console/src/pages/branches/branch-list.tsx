/** All branches of the tenant: fork one, work in one, delete one. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { linkTo } from "../../lib/router.js";
import { showBranch } from "../../lib/session.js";
import { Badge, Button, ReloadButton } from "../../ui/button.js";
import { ListPanel } from "../../ui/list-table.js";
import { type BranchRow, useTenantGet } from "./branch-facts.js";
import { DeleteBranch, ForkDialog } from "./fork-dialog.js";

interface BranchListProps {
  readonly tenant: string;
  /** The branch that the console is about. */
  readonly shown: string | null;
  readonly mayChange: boolean;
}

export function BranchList({ tenant, shown, mayChange }: BranchListProps) {
  const [isNew, setNew] = useState(false);
  const [removed, setRemoved] = useState<string | null>(null);
  const { data, error, again } = useTenantGet<{ branches: readonly BranchRow[] }>("/v1/branches", { limit: 1000 });
  return (
    <>
      <ListPanel
        title={`Branches of ${tenant}`}
        label="Branches"
        actions={
          <>
            <ReloadButton onClick={again} />
            {mayChange && (
              <Button icon="plus" onClick={() => setNew(true)}>
                Branch
              </Button>
            )}
          </>
        }
        rows={data?.branches}
        error={error}
        keyOf={({ name }) => name}
        none={data === undefined ? "Loading …" : "There are none. A branch takes no time and no room."}
        columns={[
          {
            name: "Branch",
            cell: ({ name }) => (
              <span class="row">
                <a href={linkTo(["branches", "of", name])}>
                  <strong>{name}</strong>
                </a>
                {name === shown && <Badge tone="warn">you are here</Badge>}
              </span>
            ),
          },
          { name: "From", cell: ({ from, empty }) => (empty ? "nothing" : (from ?? tenant)) },
          { name: "As of", cell: ({ start }) => timeText(start.at) },
          { name: "Made by", cell: ({ created_by }) => created_by },
          { name: "Ends", cell: ({ expires_at }) => (expires_at === null ? "never" : timeText(expires_at)) },
          {
            name: "",
            cell: ({ name }) => (
              <span class="row">
                {name === shown ? (
                  <Button onClick={() => showBranch(null)}>Leave</Button>
                ) : (
                  <Button label={`All pages are about ${name}`} onClick={() => showBranch(name)}>
                    Work in it
                  </Button>
                )}
                {mayChange && (
                  <Button kind="quiet" icon="trash" label={`Delete ${name}`} onClick={() => setRemoved(name)} />
                )}
              </span>
            ),
          },
        ]}
      />
      {isNew && <ForkDialog tenant={tenant} branches={data?.branches ?? []} onClose={() => setNew(false)} />}
      {removed !== null && <DeleteBranch name={removed} onClose={() => setRemoved(null)} onDone={again} />}
    </>
  );
}

/** One branch: what it is, what it has changed, and how it is merged. */
import { useState } from "preact/hooks";
import { bytesText, timeText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { goTo, linkTo, replacePlace } from "../../lib/router.js";
import { showBranch, tenantClient } from "../../lib/session.js";
import { Badge, Button, ReloadButton } from "../../ui/button.js";
import { Select } from "../../ui/field.js";
import { Waiting } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { type BranchRow, comparisonOf, type Diff, pathOfBranch, THE_TENANT, useTenantGet } from "./branch-facts.js";
import { Changes } from "./changes.js";
import { DeleteBranch } from "./fork-dialog.js";
import { MergePanel } from "./merge-panel.js";

interface BranchDetailProps {
  readonly name: string;
  /** The branch that the console is about. */
  readonly shown: string | null;
  readonly mayChange: boolean;
  readonly query: Readonly<Record<string, string>>;
}

export function BranchDetail({ name, shown, mayChange, query }: BranchDetailProps) {
  const [isMerging, setMerging] = useState(false);
  const [isRemoved, setRemoved] = useState(false);
  const [round, setRound] = useState(0);
  const path = pathOfBranch(name);
  const place = ["branches", "of", name];
  const against = query.against ?? null;
  const comparison = comparisonOf(name, against);
  const branch = useTenantGet<BranchRow>(path);
  const isEmpty = branch.data?.empty;
  // What began with nothing has nothing to be compared with, unless it is another branch.
  const mayCompare = isEmpty === false || (isEmpty === true && against !== null);
  const diff = useLoad<Diff | null>(
    async (signal) =>
      mayCompare
        ? tenantClient().request("GET", comparison.path, { query: { ...comparison.query, limit: 0 }, signal })
        : null,
    [path, against, mayCompare],
  );
  if (branch.data === undefined) return <Waiting error={branch.error} />;
  const { from, start, merged, created_by, created_at, expires_at, held_bytes, quota_bytes } = branch.data;
  const { users, keys, policies } = branch.data;
  const again = (): void => {
    branch.again();
    diff.again();
    setRound((count) => count + 1);
  };
  return (
    <>
      <Panel
        title={`Branch ${name}`}
        actions={
          <>
            <ReloadButton onClick={again} />
            <Button onClick={() => showBranch(name === shown ? null : name)}>
              {name === shown ? "Leave" : "Work in it"}
            </Button>
            {mayChange && isEmpty === false && against === null && (
              <Button expanded={isMerging} onClick={() => setMerging((now) => !now)}>
                Merge …
              </Button>
            )}
            {mayChange && (
              <Button kind="quiet" icon="trash" label={`Delete ${name}`} onClick={() => setRemoved(true)} />
            )}
          </>
        }
      >
        <Facts
          facts={[
            ["From", <Origin key="origin" branch={branch.data} />],
            ...(isEmpty === false ? ([["As of", `${timeText(start.at)}, commit ${start.sequence}`]] as const) : []),
            ["Made", `${timeText(created_at)} by ${created_by}`],
            ...(merged == null ? [] : ([["Merged", `${timeText(merged.at)}, commit ${merged.sequence}`]] as const)),
            ["Ends", expires_at === null ? "when it is deleted" : timeText(expires_at)],
            ["Holds", `${bytesText(held_bytes)}${quota_bytes === null ? "" : ` of ${bytesText(quota_bytes)}`}`],
            ["Who may enter", users === null ? "all users of the tenant" : [...users, "administrators"].join(", ")],
            ...(keys === null ? [] : ([["With API keys", keys.length === 0 ? "none" : keys.join(", ")]] as const)),
            ...(policies === "branch" ? ([["Policies", "its own alone"]] as const) : []),
            ...(isEmpty === false
              ? ([["Definitions", <Definitions key="definitions" names={diff.data?.definitions} />]] as const)
              : []),
            ["For PostgreSQL clients", <code key="database">dbname={name}</code>],
          ]}
        />
      </Panel>
      <Against
        name={name}
        isEmpty={isEmpty === true}
        against={against}
        onChange={(next) => replacePlace(place, { against: next })}
      />
      {isEmpty === true && against === null && (
        <p class="none">It began empty, so there is nothing to compare it with, and nothing to merge it into.</p>
      )}
      {mayCompare && diff.data == null && <Waiting error={diff.error} />}
      {diff.data != null && (
        <>
          {isMerging && against === null && <MergePanel name={name} from={from} diff={diff.data} onMerged={again} />}
          <Changes key={against} place={place} comparison={comparison} diff={diff.data} query={query} round={round} />
        </>
      )}
      {isRemoved && <DeleteBranch name={name} onClose={() => setRemoved(false)} onDone={() => goTo(["branches"])} />}
    </>
  );
}

interface AgainstProps {
  readonly name: string;
  readonly isEmpty: boolean;
  /** Null: what it began with. */
  readonly against: string | null;
  readonly onChange: (against: string | undefined) => void;
}

function Against({ name, isEmpty, against, onChange }: AgainstProps) {
  const { data } = useTenantGet<{ branches: readonly BranchRow[] }>("/v1/branches", { limit: 1000 });
  const others = (data?.branches ?? []).map((each) => each.name).filter((other) => other !== name);
  const named = against === null || against === THE_TENANT || others.includes(against) ? [] : [against];
  return (
    <div class="form-row slim">
      <Select
        label="Compare with"
        value={against ?? ""}
        options={[
          ["", isEmpty ? "nothing" : "what it began with"],
          [THE_TENANT, "the tenant as it is"],
          ...named,
          ...others,
        ]}
        onChange={(next) => onChange(next === "" ? undefined : next)}
      />
    </div>
  );
}

function Origin({ branch: { from, empty } }: { readonly branch: BranchRow }) {
  if (empty) return <>nothing: it began empty</>;
  return from === null ? <>the tenant</> : <a href={linkTo(["branches", "of", from])}>{from}</a>;
}

/** Tables that the branch has made, altered or dropped. */
function Definitions({ names }: { readonly names: readonly string[] | undefined }) {
  if (names === undefined) return null;
  if (names.length === 0) return <>as in the origin</>;
  return (
    <span class="row">
      {names.map((name) => (
        <Badge key={name} tone="warn">
          {name}
        </Badge>
      ))}
    </span>
  );
}

/** Who did what: administration, sign-ins, keys, refused credentials. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { useGet } from "../../lib/load.js";
import { Badge, Button } from "../../ui/button.js";
import { Select, TextField } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";

interface Entry {
  readonly number: number;
  readonly at: string;
  readonly action: string;
  readonly outcome: "ok" | "refused" | "failed";
  readonly code: string | null;
  readonly tenant: string | null;
  readonly username: string | null;
  readonly address: string | null;
  readonly target: readonly string[];
  readonly count: number;
  /** Of the audit of data. */
  readonly door?: string;
  readonly statement?: string | null;
}

interface Trail {
  readonly entries: readonly Entry[];
  readonly next_before: number | null;
}

const LIMIT = 100;
const TONES = { ok: "good", refused: "bad", failed: "warn" } as const;

export function Audit() {
  const [action, setAction] = useState("");
  const [outcome, setOutcome] = useState<"" | Entry["outcome"]>("");
  const [what, setWhat] = useState<"administration" | "data">("administration");
  const [before, setBefore] = useState<readonly number[]>([]);
  const isData = what === "data";
  const { data, error, again } = useGet<Trail>(isData ? "/admin/audit/data" : "/admin/audit", {
    limit: LIMIT,
    before: before.at(-1),
    ...(isData ? { table: action || undefined } : { action: action || undefined, outcome: outcome || undefined }),
  });
  const choose = (next: typeof what) => {
    setBefore([]);
    setAction("");
    setWhat(next);
  };
  const options = [["", "All outcomes"] as const, "ok" as const, "refused" as const, "failed" as const];
  return (
    <>
      <div class="form-row">
        <Select label="Of" value={what} options={["administration", "data"]} onChange={choose} />
        <TextField
          label={isData ? "Table" : "Action"}
          placeholder={isData ? "such as salary" : "such as auth or admin.users"}
          value={action}
          onInput={setAction}
          isCode
        />
        {!isData && <Select label="Outcome" value={outcome} options={options} onChange={setOutcome} />}
        <Button icon="refresh" onClick={again}>
          Load again
        </Button>
      </div>
      <ListPanel
        title="Audit trail"
        actions={
          <>
            <Button disabled={before.length === 0} onClick={() => setBefore(before.slice(0, -1))}>
              Newer
            </Button>
            <Button disabled={data?.next_before == null} onClick={() => setBefore([...before, data!.next_before!])}>
              Older
            </Button>
          </>
        }
        rows={data?.entries}
        error={error}
        keyOf={({ number }) => String(number)}
        none={isData ? "No table is audited, or nobody used one." : "Nothing is recorded."}
        columns={[
          { name: "When", cell: ({ at }) => timeText(at) },
          { name: "Action", cell: (entry) => <code>{entry.action}</code> },
          {
            name: "Outcome",
            cell: (entry) => <Badge tone={TONES[entry.outcome]}>{entry.code ?? entry.outcome}</Badge>,
          },
          { name: "User", cell: ({ username }) => username ?? "" },
          { name: "Tenant", cell: ({ tenant }) => tenant ?? "" },
          { name: "Address", cell: ({ address }) => address ?? "" },
          { name: "About", cell: ({ target }) => target.join(", "), isWide: true },
          ...(isData
            ? [
                { name: "Through", cell: ({ door }: Entry) => <code>{door}</code> },
                { name: "Statement", cell: ({ statement }: Entry) => <code>{statement?.slice(0, 8) ?? ""}</code> },
              ]
            : [{ name: "Times", cell: ({ count }: Entry) => count, isNumber: true }]),
        ]}
      />
    </>
  );
}

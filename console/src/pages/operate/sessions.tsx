/** Sessions of the tenant: those of PostgreSQL's protocol and of Bolt, with what each runs. */
import { useState } from "preact/hooks";
import { timeText } from "../../lib/format.js";
import { useEvery, useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Badge, Button, ReloadButton } from "../../ui/button.js";
import { Confirm } from "../../ui/dialog.js";
import { ListPanel } from "../../ui/list-table.js";
import { attempt } from "../../ui/toast.js";

interface SessionRow {
  readonly pid: number;
  readonly usename: string | null;
  readonly application_name: string | null;
  readonly client_addr: string | null;
  readonly state: string | null;
  readonly query_start: string | null;
  readonly query: string | null;
}

const EVERY_MS = 3_000;
const SQL =
  "SELECT pid, usename, application_name, client_addr, state, query_start, query FROM pg_stat_activity ORDER BY query_start DESC NULLS LAST";

export function Sessions() {
  const { data, error, again, renew } = useLoad((signal) => client().query<SessionRow>(SQL, [], { signal }), []);
  const [leaving, setLeaving] = useState<SessionRow | null>(null);
  useEvery(EVERY_MS, renew);
  const call = (name: "pg_cancel_backend" | "pg_terminate_backend", pid: number, done: string): void => {
    void attempt(() => client().query(`SELECT ${name}($1)`, [pid]), done).then(again);
  };
  return (
    <>
      <ListPanel
        title="Sessions"
        actions={<ReloadButton onClick={again} />}
        rows={data}
        error={error}
        keyOf={({ pid }) => String(pid)}
        none="Nobody is connected by PostgreSQL's protocol or Bolt. Requests over HTTP have no session."
        columns={[
          { name: "Number", cell: ({ pid }) => pid, isNumber: true },
          { name: "User", cell: ({ usename }) => usename ?? "" },
          { name: "Program", cell: (row) => row.application_name ?? "" },
          { name: "Address", cell: (row) => row.client_addr ?? "" },
          {
            name: "State",
            cell: ({ state }) => <Badge tone={state === "active" ? "accent" : "neutral"}>{state ?? ""}</Badge>,
          },
          { name: "Since", cell: (row) => timeText(row.query_start) },
          { name: "Statement", cell: ({ query }) => <code>{(query ?? "").slice(0, 300)}</code>, isWide: true },
          {
            name: "",
            cell: (row) => (
              <span class="row">
                <Button onClick={() => call("pg_cancel_backend", row.pid, "Cancelled.")}>Cancel</Button>
                <Button kind="danger" onClick={() => setLeaving(row)}>
                  End
                </Button>
              </span>
            ),
          },
        ]}
      />
      {leaving !== null && (
        <Confirm
          title={`End session ${leaving.pid}?`}
          action="End"
          onConfirm={() => call("pg_terminate_backend", leaving.pid, "Ended.")}
          onClose={() => setLeaving(null)}
        >
          <p>The connection of {leaving.usename ?? "nobody"} is closed, and its open transaction is rolled back.</p>
        </Confirm>
      )}
    </>
  );
}

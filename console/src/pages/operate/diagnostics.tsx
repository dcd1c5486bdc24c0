/** For whoever looks for a cause: slow statements, the machine, the threads, and all of it as a file. */
import { useState } from "preact/hooks";
import { download } from "../../lib/download.js";
import { bytesText, countText, durationText, timeText } from "../../lib/format.js";
import { goTo } from "../../lib/router.js";
import { Button, ReloadButton } from "../../ui/button.js";
import { Select } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { attempt } from "../../ui/toast.js";
import { fetchReport, useReport } from "./report.js";

interface SlowStatement {
  readonly time: number;
  readonly tenant: string;
  readonly user: string | null;
  readonly ms: number;
  readonly rows: number | null;
  readonly error: string | null;
  readonly sql: string;
  readonly language: "sql" | "cypher";
}

const SECONDS: readonly (readonly [string, string])[] = [
  ["0", "without a profile"],
  ["5", "with 5 s of profile"],
  ["30", "with 30 s of profile"],
];

export function Diagnostics() {
  const { data, error, again } = useReport();
  const [seconds, setSeconds] = useState("0");
  const [isBusy, setBusy] = useState(false);
  if (data === undefined) return <Waiting error={error} />;
  const slow = data.slow_statements.map((line) => JSON.parse(line) as SlowStatement).reverse();
  const { system, versions, threads } = data;
  const save = (): void => {
    setBusy(true);
    const name = `tessera-diagnostics-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.json.gz`;
    void attempt(async () => download(name, await fetchReport(seconds))).then(() => setBusy(false));
  };
  return (
    <>
      <Failure error={error} />
      <ListPanel
        title="Slow statements"
        actions={<ReloadButton onClick={again} />}
        rows={slow}
        keyOf={({ time }, i) => `${time} ${i}`}
        none="None since the server started."
        columns={[
          { name: "At", cell: ({ time }) => timeText(new Date(time).toISOString()) },
          { name: "Tenant", cell: ({ tenant }) => tenant },
          { name: "User", cell: ({ user }) => user ?? "" },
          { name: "Time", cell: ({ ms }) => durationText(ms), isNumber: true },
          { name: "Rows", cell: ({ rows }) => (rows === null ? "" : countText(rows)), isNumber: true },
          { name: "Statement", cell: ({ sql }) => <code>{sql}</code>, isWide: true },
          { name: "Problem", cell: ({ error: failed }) => failed ?? "" },
          {
            name: "",
            cell: ({ sql, language }) => (
              <Button onClick={() => goTo(["query"], { [language]: sql, title: "Slow" })}>Open</Button>
            ),
          },
        ]}
      />
      <div class="charts">
        <Panel title="Machine">
          <Facts
            facts={[
              ["System", system.system],
              ["Processors", `${system.processors} × ${system.processor}`],
              ["Memory", bytesText(system.memory_bytes)],
              ["Memory free", bytesText(system.memory_free_bytes)],
              ["Load", system.load_averages.map((load) => load.toFixed(1)).join(" · ")],
              ["Versions", `Tessera ${versions.tessera}, Node.js ${versions.node}`],
            ]}
          />
        </Panel>
        <ListPanel
          title="Threads"
          rows={threads}
          keyOf={({ thread }) => thread}
          none="None."
          columns={[
            { name: "Thread", cell: ({ thread }) => thread },
            { name: "Heap", cell: ({ heap }) => bytesText(heap.used_heap_size), isNumber: true },
            { name: "At most", cell: ({ heap }) => bytesText(heap.heap_size_limit), isNumber: true },
          ]}
        />
      </div>
      <Panel title="All of it">
        <p class="muted">
          A file for support: versions, settings without secrets, metrics, slow statements, the log's last lines and
          heaps. It has no data of tenants.
        </p>
        <div class="form-row slim">
          <Select label="Contents" value={seconds} options={SECONDS} onChange={setSeconds} />
          <Button kind="primary" icon="download" disabled={isBusy} onClick={save}>
            {isBusy ? "Collecting …" : "Download"}
          </Button>
        </div>
      </Panel>
    </>
  );
}

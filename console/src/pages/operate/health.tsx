/** The server's state, and charts of the last minutes, which begin when this page is opened. */
import { useEffect, useRef, useState } from "preact/hooks";
import { bytesText, durationText, measureText, percentText } from "../../lib/format.js";
import { useEvery, useGet } from "../../lib/load.js";
import { client, isOperator, type User } from "../../lib/session.js";
import { Badge } from "../../ui/button.js";
import { Chart, type ChartData } from "../../ui/chart.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { failedPerSecond, perSecond, quantileMs, type Reading, readingOf } from "./metrics.js";

const EVERY_MS = 3_000;
const READINGS_MAX = 400;

interface Status {
  readonly status: string;
  readonly version: string;
  readonly uptime_seconds: number;
  readonly partitions: readonly { readonly partition: number; readonly status: string }[];
}

export function Health({ user }: { readonly user: User }) {
  const status = useGet<Status>("/health");
  const readings = useRef<Reading[]>([]);
  const [count, setCount] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const read = (): void => {
    status.again();
    client()
      .fetch("GET", "/metrics")
      .then((answer) => answer.text())
      .then((text) => {
        readings.current.push(readingOf(text, Date.now()));
        if (readings.current.length > READINGS_MAX) readings.current.shift();
        setCount((now) => now + 1);
        setError(null);
      }, setError);
  };
  useEffect(read, []);
  useEvery(EVERY_MS, read);
  return (
    <>
      <Failure error={error ?? status.error} />
      <ServerPanel status={status.data} last={readings.current.at(-1)} />
      <Charts readings={readings.current} count={count} />
      {isOperator(user) && <Placement />}
    </>
  );
}

interface ServerPanelProps {
  readonly status: Status | undefined;
  readonly last: Reading | undefined;
}

/** What is not known yet is left open. */
function ServerPanel({ status: data, last }: ServerPanelProps) {
  const value = (name: string, text: (value: number) => string): string =>
    last === undefined ? "…" : text(last.sums.get(name) ?? 0);
  return (
    <Panel title="Server">
      <Facts
        facts={[
          [
            "State",
            <Badge key="s" tone={data === undefined ? "neutral" : data.status === "ok" ? "good" : "bad"}>
              {data?.status ?? "…"}
            </Badge>,
          ],
          ["Version", data?.version ?? "…"],
          ["Running for", data === undefined ? "…" : durationText(data.uptime_seconds * 1000)],
          ["Memory", value("process_resident_memory_bytes", bytesText)],
          ["Connections", value("tessera_connections", measureText)],
          ["Disk free", value("tessera_disk_free_bytes", bytesText)],
          ["Slow statements", value("tessera_actor_slow_statements_total", measureText)],
          [
            "Partitions",
            data === undefined
              ? "…"
              : `${data.partitions.filter((one) => one.status === "ready").length} of ${data.partitions.length} ready`,
          ],
        ]}
      />
    </Panel>
  );
}

function Charts({ readings, count }: { readonly readings: readonly Reading[]; readonly count: number }) {
  if (count < 2) return <p class="muted">Charts begin with the second reading, in a few seconds.</p>;
  const pairs = readings.slice(1).map((now, i) => [readings[i]!, now] as const);
  const line = (name: string, of: (before: Reading, now: Reading) => number): ChartData => ({
    ...{ kind: "line", xKind: "time", x: pairs.map(([, now]) => now.at) },
    series: [{ name, values: pairs.map(([before, now]) => of(before, now)) }],
  });
  const requests = line("requests", (before, now) => perSecond(before, now, "tessera_http_requests_total"));
  const failed = { name: "failed (5xx)", values: pairs.map(([before, now]) => failedPerSecond(before, now)) };
  const quantile = (name: string, part: number) => ({
    name,
    values: pairs.map(([before, now]) => quantileMs(before, now, part)),
  });
  const latency = [quantile("half", 0.5), quantile("95%", 0.95), quantile("99%", 0.99)];
  const charts: readonly (readonly [string, ChartData])[] = [
    ["Requests a second", { ...requests, series: [...requests.series, failed] }],
    ["Requests take at most, ms", { ...requests, series: latency }],
    ["CPU, cores", line("cores", (a, b) => perSecond(a, b, "process_cpu_seconds_total"))],
    ["Memory, MB", line("resident", (_, now) => (now.sums.get("process_resident_memory_bytes") ?? 0) / 1e6)],
  ];
  return (
    <div class="charts">
      {charts.map(([title, data]) => (
        <Panel key={title} title={title}>
          <div class="small-chart">
            <Chart label={title} data={data} />
          </div>
        </Panel>
      ))}
    </div>
  );
}

interface Placed {
  readonly actors: readonly {
    readonly actor: number;
    readonly up: boolean;
    readonly load: number | null;
    readonly heap_bytes: number | null;
    readonly requests_running: number | null;
  }[];
  readonly partitions: readonly {
    readonly partition: number;
    readonly actor: number;
    readonly tenants: number;
    readonly stored_bytes: number | null;
    readonly load: number | null;
  }[];
}

function Placement() {
  const { data, error, renew } = useGet<Placed>("/admin/placement");
  useEvery(EVERY_MS * 2, renew);
  if (data === undefined) return <Waiting error={error} />;
  return (
    <>
      <Failure error={error} />
      <div class="charts">
        <ListPanel
          title="Actors"
          rows={data.actors}
          keyOf={({ actor }) => String(actor)}
          none="None."
          columns={[
            { name: "Actor", cell: ({ actor }) => actor },
            { name: "State", cell: ({ up }) => <Badge tone={up ? "good" : "bad"}>{up ? "up" : "down"}</Badge> },
            { name: "Load", cell: ({ load }) => percentText(load), isNumber: true },
            { name: "Heap", cell: (one) => bytesText(one.heap_bytes), isNumber: true },
            { name: "Running", cell: (one) => one.requests_running ?? "", isNumber: true },
          ]}
        />
        <ListPanel
          title="Partitions"
          rows={data.partitions}
          keyOf={({ partition }) => String(partition)}
          none="None."
          columns={[
            { name: "Partition", cell: ({ partition }) => partition },
            { name: "Actor", cell: ({ actor }) => actor },
            { name: "Tenants", cell: ({ tenants }) => tenants, isNumber: true },
            { name: "Stored", cell: (one) => bytesText(one.stored_bytes), isNumber: true },
            { name: "Load", cell: ({ load }) => percentText(load), isNumber: true },
          ]}
        />
      </div>
    </>
  );
}

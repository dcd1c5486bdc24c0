/**
 * docs/METRICS.md: every metric that a server declares. Written by scripts/metrics-doc.mjs, held against the file by
 * metrics-page.test.ts.
 */
import { type MetricsSources, metricsPage, RequestMetrics } from "../../src/gateway/metrics.js";

export function metricsTable(): string {
  // Nothing is read of them until the page is rendered.
  const nothing = null as never;
  const sources: MetricsSources = {
    ...{ requests: new RequestMetrics([]), pool: nothing, watermarks: nothing, admission: nothing, open: nothing },
  };
  const lines = metricsPage(sources)
    .describe()
    .map(({ name, type, labels, help }) => `| \`${name}\` | ${type} | ${labels.join(", ")} | ${help} |`);
  return [
    "# Metrics",
    "",
    "What `GET /metrics` tells, in Prometheus' text format. Made from the declarations by `make docs`.",
    "",
    "Gauges are read, and counters of the hot paths copied, when the page is asked for; a request pays for a few additions.",
    "`actor` is an actor's thread, `partition` one of its shards. `nodejs_` and `process_` are of the process and of the gateway's",
    "thread. An actor that does not answer within a second is left out of a reading, and its metrics with it.",
    "",
    "| metric | type | labels | what |",
    "|---|---|---|---|",
    ...lines,
    "",
  ].join("\n");
}

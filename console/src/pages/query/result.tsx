/** What a statement has answered: as a table, chart, graph, JSON or plan, with summaries of its columns beside it. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { countText, durationText, plural } from "../../lib/format.js";
import { lazy } from "../../lib/lazy.js";
import { place, replacePlace } from "../../lib/router.js";
import { keptStore, useStore } from "../../lib/store.js";
import { Badge, Button } from "../../ui/button.js";
import { DataGrid } from "../../ui/data-grid.js";
import { Switch } from "../../ui/field.js";
import { Empty, Failure } from "../../ui/notice.js";
import { Tabs } from "../../ui/tabs.js";
import { ValueDialog } from "../../ui/value-dialog.js";
import { ExportMenu } from "./export.js";
import { followRun, type List, type Run, stopRun, type TabWork } from "./run.js";
import { sortedOrder } from "./sort.js";

export type ResultView = "table" | "chart" | "graph" | "map" | "json";

const ChartView = lazy(async () => (await import("./chart-view.js")).ChartView);
const GraphView = lazy(async () => (await import("./graph-result.js")).GraphResult);
const MapView = lazy(async () => (await import("../search/vector-map.js")).VectorMap);
const JsonView = lazy(async () => (await import("./json-view.js")).JsonView);
const PlanView = lazy(async () => (await import("./plan-view.js")).PlanView);
const Summaries = lazy(async () => (await import("./summaries.js")).Summaries);

const summariesShown = keptStore("query.summaries", false);

export function Result({ work, run }: { readonly work: TabWork; readonly run: Run | null }) {
  const { path, query } = useStore(place);
  const view = query.view ?? "table";
  const setView = (id: ResultView): void => replacePlace(path, { ...query, view: id === "table" ? undefined : id });
  const hasSummaries = useStore(summariesShown);
  if (run === null) {
    return (
      <div class="result">
        <Empty icon="query" title="Nothing has run yet">
          Write a statement, or choose a table on the left.
        </Empty>
      </div>
    );
  }
  const hasRows = run.columns.length > 0 && !run.isPlan;
  const hasGraph = run.language === "cypher" || run.columns.some(({ data_type: type }) => type === "variant");
  const hasVectors = run.language === "sql" && run.columns.some(({ data_type: type }) => /^vector\b/.test(type));
  const views = [
    { id: "table" as const, label: "Table" },
    { id: "chart" as const, label: "Chart" },
    ...(hasGraph ? [{ id: "graph" as const, label: "Graph" }] : []),
    ...(hasVectors ? [{ id: "map" as const, label: "Map" }] : []),
    { id: "json" as const, label: "JSON" },
  ];
  const shown = views.find(({ id }) => id === view)?.id ?? "table";
  return (
    <div class="result">
      <div class="result-head">
        {hasRows && <Tabs label="Show the result as" tabs={views} current={shown} onChange={setView} />}
        <Status run={run} />
        <span class="spacer" />
        {hasRows && (
          <>
            <LiveSwitch work={work} run={run} />
            <ExportMenu run={run} />
            <Button
              kind="quiet"
              icon="panel"
              label="Summaries of the columns"
              pressed={hasSummaries}
              onClick={() => summariesShown.update((now) => !now)}
            />
          </>
        )}
      </div>
      <div class={hasRows && hasSummaries ? "result-body with-summaries" : "result-body"}>
        <div class="result-view">
          <Body run={run} view={shown} />
        </div>
        {hasRows && hasSummaries && <Summaries columns={run.columns} rows={run.rows} count={run.count} />}
      </div>
    </div>
  );
}

function Body({ run, view }: { readonly run: Run; readonly view: ResultView }) {
  if (run.state === "failed") {
    return (
      <div class="result-message">
        <Failure error={run.error} />
      </div>
    );
  }
  if (run.isPlan) return run.state === "running" ? null : <PlanView rows={run.rows} language={run.language} />;
  if (run.columns.length === 0) {
    const text = run.rowsAffected === undefined ? "Done." : `${plural(run.rowsAffected, "row")} changed.`;
    return <div class="result-message">{run.state === "done" ? text : null}</div>;
  }
  if (view === "chart") return <ChartView columns={run.columns} rows={run.rows} count={run.count} />;
  if (view === "graph") return <GraphView rows={run.rows} count={run.count} />;
  if (view === "map") return <MapView source={sourceOf(run)} />;
  if (view === "json") return <JsonView columns={run.columns} rows={run.rows} count={run.count} />;
  return <TableView run={run} />;
}

/** The server runs the statement again: vectors that have gone to the browser would only have to go back. */
function sourceOf({ statement, parameters }: Run): { readonly sql: string; readonly parameters?: unknown } {
  return { sql: statement.text, ...(Object.keys(parameters).length > 0 && { parameters }) };
}

function TableView({ run }: { readonly run: Run }) {
  const [sorted, setSorted] = useState<{ column: number; isDown: boolean } | null>(null);
  const [open, setOpen] = useState<{ row: List; column: number } | null>(null);
  useEffect(() => setSorted(null), [run.columns]);
  const isRunning = run.state === "running";
  const order = useMemo(
    () => (sorted === null || isRunning ? null : sortedOrder(run.rows, sorted.column, sorted.isDown)),
    [sorted, run.rows, run.count, isRunning],
  );
  const sort = (column: number): void =>
    setSorted((now) => {
      if (now?.column !== column) return { column, isDown: false };
      return now.isDown ? null : { column, isDown: true };
    });
  return (
    <>
      <DataGrid
        label="Rows of the result"
        columns={run.columns}
        rows={run.rows}
        none={isRunning ? undefined : "No rows."}
        order={order}
        sorted={sorted}
        onSort={sort}
        onOpen={(row, column) => setOpen({ row, column })}
        fresh={run.fresh}
      />
      {open !== null && (
        <ValueDialog columns={run.columns} row={open.row} column={open.column} onClose={() => setOpen(null)} />
      )}
    </>
  );
}

function Status({ run }: { readonly run: Run }) {
  const seconds = useSeconds(run.state === "running");
  const rows = run.columns.length > 0 && !run.isPlan ? plural(run.count, "row") : "";
  if (run.isLive) {
    return (
      <span class="result-status" role="status">
        <Badge tone="good">Live</Badge> {rows}
      </span>
    );
  }
  if (run.state === "running") {
    return (
      <span class="result-status" role="status">
        <Badge tone="accent">Running</Badge> {rows} {seconds > 0 && `${seconds} s`}
      </span>
    );
  }
  const changed = run.rowsAffected === undefined ? "" : `${countText(run.rowsAffected)} changed`;
  return (
    <span class="result-status" role="status">
      {run.state === "failed" && <Badge tone="bad">Failed</Badge>}
      {run.state === "stopped" && <Badge tone="warn">Stopped</Badge>}
      {[rows, changed, durationText(run.ms)].filter((text) => text !== "").join(" · ")}
      {run.truncated && <Badge tone="warn">There are more rows</Badge>}
      {run.notices.map((notice) => (
        <Badge key={notice}>{notice}</Badge>
      ))}
    </span>
  );
}

function useSeconds(isRunning: boolean): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    setSeconds(0);
    if (!isRunning) return;
    const timer = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return seconds;
}

function LiveSwitch({ work, run }: { readonly work: TabWork; readonly run: Run }) {
  return (
    <Switch
      label="Live"
      isOn={run.isLive}
      disabled={run.state === "running"}
      onChange={(isOn) => {
        if (isOn) void followRun(work);
        else stopRun(work);
      }}
    />
  );
}

/** What is different between two states: counts of each table, and the rows with both values, a page at a time. */
import { useEffect, useState } from "preact/hooks";
import { countText, plural } from "../../lib/format.js";
import { replacePlace } from "../../lib/router.js";
import { Button } from "../../ui/button.js";
import { Select, Switch } from "../../ui/field.js";
import { ListPanel } from "../../ui/list-table.js";
import { Waiting } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { CHANGES, type Change, type Comparison, type Counts, type Diff, useTenantGet } from "./branch-facts.js";
import { RowSides } from "./changed-rows.js";

interface ChangesProps {
  /** Of the page, whose query string has the filter. */
  readonly place: readonly string[];
  readonly comparison: Comparison;
  /** Its counts. */
  readonly diff: Diff;
  readonly query: Readonly<Record<string, string>>;
  /** Another one: the rows are asked for again. */
  readonly round: number;
}

const ROWS_OF_PAGE = 25;

export function Changes({ place, comparison, diff, query, round }: ChangesProps) {
  if (diff.tables.length === 0) return <p class="none">{NOTHING[comparison.sides[0]] ?? "No row differs."}</p>;
  const isMerged = diff.tables.some(({ in_origin = 0 }) => in_origin > 0);
  return (
    <>
      <ListPanel
        title="Changed tables"
        rows={diff.tables}
        keyOf={({ table }) => table}
        none=""
        columns={[
          {
            name: "Table",
            cell: ({ table }) => (
              <button
                type="button"
                class="link"
                onClick={() => replacePlace(place, { ...query, table, change: undefined })}
              >
                {table}
              </button>
            ),
          },
          ...CHANGES.map((change) => ({
            name: change === "added" ? "Added" : change === "changed" ? "Changed" : "Removed",
            cell: (counts: Counts) => countText(counts[change]),
            isNumber: true,
          })),
          ...(isMerged
            ? [
                {
                  name: "Merged already",
                  cell: ({ in_origin }: Diff["tables"][number]) => countText(in_origin ?? 0),
                  isNumber: true,
                },
              ]
            : []),
        ]}
      />
      <Rows key={round} place={place} comparison={comparison} diff={diff} query={query} />
    </>
  );
}

const NOTHING: Readonly<Record<string, string>> = {
  Before: "No row of the branch differs from what it began with.",
};

function changeNamed(text: string | undefined): Change | "" {
  return CHANGES.find((change) => change === text) ?? "";
}

function Rows({ place, comparison, diff, query }: Omit<ChangesProps, "round">) {
  const [hasAll, setAll] = useState(false);
  const [offset, setOffset] = useState(0);
  const { table = "" } = query;
  const change = changeNamed(query.change);
  useEffect(() => setOffset(0), [table, change]);
  const { data, error } = useTenantGet<Diff>(comparison.path, {
    ...comparison.query,
    ...{ table: table === "" ? undefined : table, change: change === "" ? undefined : change },
    ...{ limit: ROWS_OF_PAGE, offset },
  });
  const count = countOf(diff, table, change);
  const filter = (next: { table?: string; change?: string }): void => {
    const wanted = { table, change, ...next };
    replacePlace(place, {
      ...query,
      table: wanted.table === "" ? undefined : wanted.table,
      change: wanted.change === "" ? undefined : wanted.change,
    });
  };
  return (
    <Panel title={plural(count, "row")} actions={<Pages offset={offset} count={count} onChange={setOffset} />}>
      <div class="form-row slim">
        <Select
          label="Table"
          value={table}
          options={[["", "all"], ...diff.tables.map((each) => each.table)]}
          onChange={(next) => filter({ table: next })}
        />
        <Select
          label="Kind of change"
          value={change}
          options={[["", "all"], ...CHANGES]}
          onChange={(next) => filter({ change: next })}
        />
        <Switch label="All columns" isOn={hasAll} onChange={setAll} />
      </div>
      {data === undefined ? (
        <Waiting error={error} />
      ) : (
        data.rows.map((row, i) => (
          <RowSides
            key={`${offset + i}`}
            title={row.table}
            change={row.change}
            isInOrigin={row.in_origin === true}
            sides={[
              { label: comparison.sides[0], row: row.before },
              { label: comparison.sides[1], row: row.after },
            ]}
            hasAll={hasAll}
          />
        ))
      )}
    </Panel>
  );
}

interface PagesProps {
  readonly offset: number;
  readonly count: number;
  readonly onChange: (offset: number) => void;
}

function Pages({ offset, count, onChange }: PagesProps) {
  if (count <= ROWS_OF_PAGE) return null;
  const last = Math.min(offset + ROWS_OF_PAGE, count);
  return (
    <span class="row">
      <span class="muted">
        {countText(offset + 1)} to {countText(last)}
      </span>
      <Button disabled={offset === 0} onClick={() => onChange(Math.max(0, offset - ROWS_OF_PAGE))}>
        Previous rows
      </Button>
      <Button disabled={last === count} onClick={() => onChange(offset + ROWS_OF_PAGE)}>
        Next rows
      </Button>
    </span>
  );
}

/** Rows that the filter leaves. */
function countOf({ tables }: Diff, table: string, change: Change | ""): number {
  const wanted = tables.filter((each) => table === "" || each.table === table);
  const kinds = CHANGES.filter((kind) => change === "" || kind === change);
  return wanted.reduce((sum, counts) => sum + kinds.reduce((all, kind) => all + counts[kind], 0), 0);
}

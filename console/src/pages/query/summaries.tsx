/** What is in each column of a result: how many values, their range, and how they are spread. */
import { useEffect, useState } from "preact/hooks";
import type { Column } from "../../../../clients/typescript/src/index.js";
import { cellText, plural, shortCount } from "../../lib/format.js";
import type { List } from "./run.js";
import { type Summary, summaryOf } from "./summarize.js";

interface SummariesProps {
  readonly columns: readonly Column[];
  readonly rows: readonly List[];
  readonly count: number;
  /** Beside each other, not one below the other. */
  readonly isWide?: boolean;
}

const ROWS_MAX = 200_000;
const COLUMNS_MAX = 60;

export function Summaries({ columns, rows, count, isWide }: SummariesProps) {
  const read = Math.min(count, ROWS_MAX);
  const [summaries, setSummaries] = useState<readonly Summary[]>([]);
  // One column at a time, so that the page answers in between.
  useEffect(() => {
    const found: Summary[] = [];
    let timer: ReturnType<typeof setTimeout>;
    const next = (): void => {
      const column = columns[found.length];
      if (column === undefined || found.length >= COLUMNS_MAX) return;
      found.push(summaryOf(column, found.length, rows, read));
      setSummaries([...found]);
      timer = setTimeout(next, 0);
    };
    timer = setTimeout(next, 150);
    return () => clearTimeout(timer);
  }, [columns, rows, read]);
  const look = isWide === true ? "summaries wide" : "summaries";
  return (
    // A region that scrolls has to take the focus, so that arrows can scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section class={look} tabIndex={0} aria-label="Summaries of the columns">
      {count > read && <p class="muted">Of the first {plural(read, "row")}.</p>}
      {summaries.map((summary, index) => (
        <ColumnSummary key={index} summary={summary} />
      ))}
    </section>
  );
}

function ColumnSummary({ summary }: { readonly summary: Summary }) {
  const { name, type, nulls, distinct, range, bars, isSample } = summary;
  const most = Math.max(...bars.map((bar) => bar.count), 1);
  return (
    <div class="summary">
      <div class="summary-head">
        <strong>{name}</strong>
        <small>{type}</small>
      </div>
      <div class="muted">
        {isSample ? "many different" : `${shortCount(distinct)} different`}
        {nulls > 0 && ` · ${shortCount(nulls)} NULL`}
        {range !== null && ` · mean ${range.mean}`}
      </div>
      {range === null ? (
        <ul class="tops">
          {bars.map(({ label, count }) => (
            <li key={label}>
              <span class="top-bar" style={{ width: `${(count / most) * 100}%` }} />
              <span class="top-label">{cellText(label)}</span>
              <span class="number">{shortCount(count)}</span>
            </li>
          ))}
        </ul>
      ) : (
        <>
          <div class="spread" aria-hidden="true">
            {bars.map(({ label, count }) => (
              <span key={label} style={{ height: `${(count / most) * 100}%` }} title={`${label}: ${count}`} />
            ))}
          </div>
          <div class="spread-ends number">
            <span>{range.least}</span>
            <span>{range.most}</span>
          </div>
        </>
      )}
    </div>
  );
}

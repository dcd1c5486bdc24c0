/** How large a table is, and what is in its columns: of all rows, or of a sample of them where there are many. */
import { bytesText, countText, plural } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Busy, ReloadButton } from "../../ui/button.js";
import { Failure } from "../../ui/notice.js";
import { Facts, Panel } from "../../ui/panel.js";
import { quotedName } from "../query/sidebar.js";
import { Summaries } from "../query/summaries.js";
import { named, type TableFacts } from "./table-facts.js";

interface Sizes {
  readonly rows: number | null;
  readonly bytes: number;
  readonly index_bytes: number;
}

const SIZES = `SELECT (SELECT n_live_tup::float8 FROM pg_stat_user_tables WHERE relid = $1::regclass) AS rows,
  pg_total_relation_size($1::regclass)::float8 AS bytes, pg_indexes_size($1::regclass)::float8 AS index_bytes`;
/** So many rows say enough of how values are spread. */
const SAMPLE = 10_000;
const COLUMNS_MAX = 60;
const CHARACTERS = 100;

interface StatisticsProps {
  readonly name: string;
  readonly facts: TableFacts;
  readonly isView: boolean;
}

/** Long texts and vectors are cut by the server. */
function sampleOf(name: string, { columns }: TableFacts, rows: number | null): string {
  const shown = columns.slice(0, COLUMNS_MAX).map(({ name: column, data_type: type }) => {
    const quoted = quotedName(column);
    const isShort = /^(?:smallint|integer|bigint|numeric|real|double|boolean|date|time|uuid)/.test(type);
    return isShort && !type.endsWith("[]") ? quoted : `left(${quoted}::text, ${CHARACTERS}) AS ${quoted}`;
  });
  const part = rows === null || rows <= SAMPLE ? null : Math.max(0.0001, (100 * SAMPLE) / rows);
  const sample = part === null ? "" : ` TABLESAMPLE BERNOULLI (${part.toPrecision(4)})`;
  return `SELECT ${shown.join(", ")} FROM ${named(name)}${sample}`;
}

export function Statistics({ name, facts, isView }: StatisticsProps) {
  const { data, error, again, isLoading } = useLoad(
    async (signal) => {
      const sizes = isView ? undefined : (await client().query<Sizes>(SIZES, [named(name)], { signal }))[0];
      const sql = sampleOf(name, facts, sizes?.rows ?? null);
      const { columns, lists } = await client().query(sql, [], { signal, maxRows: SAMPLE * 2 });
      // Not those that they were cast to.
      const typed = columns.map((column, i) => ({ ...column, data_type: facts.columns[i]!.data_type }));
      return { sizes, columns: typed, lists };
    },
    [name],
  );
  if (data === undefined) {
    return (
      <div class="thing-body">
        <Failure error={error} />
        {isLoading && <Busy label="Reading rows" />}
      </div>
    );
  }
  const { sizes, columns, lists } = data;
  const isSample = sizes?.rows != null && sizes.rows > lists.length;
  return (
    <div class="thing-body">
      <Failure error={error} />
      {sizes !== undefined && (
        <Panel title="Size" actions={<ReloadButton onClick={again} />}>
          <Facts
            facts={[
              ["Rows", sizes.rows === null ? "" : countText(sizes.rows)],
              ["Rows and indexes", bytesText(sizes.bytes)],
              ["Indexes", bytesText(sizes.index_bytes)],
              ["Bytes a row", sizes.rows ? bytesText(Math.round((sizes.bytes - sizes.index_bytes) / sizes.rows)) : ""],
            ]}
          />
        </Panel>
      )}
      <Panel title={isSample ? `Columns, by a sample of ${plural(lists.length, "row")}` : "Columns"} isFlush>
        {lists.length === 0 ? (
          <p class="none">There are no rows.</p>
        ) : (
          <Summaries columns={columns} rows={lists} count={lists.length} isWide />
        )}
      </Panel>
    </div>
  );
}

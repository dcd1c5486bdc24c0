/** What a table is made of: columns, indexes, constraints; of a view, its query. */
import { bytesText, countText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Badge } from "../../ui/button.js";
import { ListTable } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { named, type TableFacts, type TableIndex } from "./table-facts.js";

interface DefinitionProps {
  readonly name: string;
  readonly facts: TableFacts;
  readonly isView: boolean;
}

export function Definition({ name, facts, isView }: DefinitionProps) {
  return (
    <div class="thing-body">
      {isView && <ViewQuery name={name} />}
      <Panel title="Columns" isFlush>
        <ListTable
          label="Columns"
          rows={facts.columns}
          keyOf={(column) => column.name}
          none="There are none."
          columns={[
            { name: "Name", cell: (column) => <strong>{column.name}</strong> },
            { name: "Type", cell: (column) => <code>{column.data_type}</code> },
            { name: "Default", cell: (column) => <code>{column.default_value ?? ""}</code> },
            {
              name: "Rules",
              cell: (column) => (
                <span class="row">
                  {column.is_primary_key && <Badge tone="accent">Primary key</Badge>}
                  {column.is_unique && !column.is_primary_key && <Badge>Unique</Badge>}
                  {!column.nullable && !column.is_primary_key && <Badge>Not null</Badge>}
                </span>
              ),
            },
          ]}
        />
      </Panel>
      {!isView && (
        <Panel title="Indexes" isFlush>
          <ListTable
            label="Indexes"
            rows={facts.indexes}
            keyOf={(index) => index.name}
            none="There are none."
            columns={[
              { name: "Name", cell: (index) => index.name },
              { name: "Kind", cell: (index) => <code>{index.type}</code> },
              { name: "Columns", cell: (index) => index.columns.join(", ") },
              { name: "State", cell: (index) => <IndexState index={index} /> },
            ]}
          />
        </Panel>
      )}
      {facts.constraints.length > 0 && (
        <Panel title="Constraints" isFlush>
          <ListTable
            label="Constraints"
            rows={facts.constraints}
            keyOf={(constraint) => constraint.name}
            none=""
            columns={[
              { name: "Name", cell: (constraint) => constraint.name },
              { name: "Definition", cell: (constraint) => <code>{constraint.definition}</code>, isWide: true },
            ]}
          />
        </Panel>
      )}
    </div>
  );
}

function IndexState({ index }: { readonly index: TableIndex }) {
  const { progress } = index;
  if (progress === undefined) return index.is_unique ? <Badge>Unique</Badge> : null;
  const tone = progress.state === "ready" ? "good" : "neutral";
  return (
    <span class="row">
      <Badge tone={tone}>{progress.state}</Badge>
      <span class="muted number">
        {countText(progress.items)} items, {bytesText(progress.size_bytes)}
        {progress.items_waiting > 0 && `, ${countText(progress.items_waiting)} waiting`}
      </span>
    </span>
  );
}

function ViewQuery({ name }: { readonly name: string }) {
  const { data, error } = useLoad(
    (signal) =>
      client().query<{ sql: string }>("SELECT pg_get_viewdef($1::regclass) AS sql", [named(name)], { signal }),
    [name],
  );
  return (
    <Panel title="Query">
      <Failure error={error} />
      <pre>{data?.[0]?.sql ?? ""}</pre>
    </Panel>
  );
}

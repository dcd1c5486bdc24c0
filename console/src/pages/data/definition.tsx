/** What a table is made of: columns, indexes, constraints; of a view, its query. */
import { useState } from "preact/hooks";
import { bytesText, countText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { client } from "../../lib/session.js";
import { Badge, Button } from "../../ui/button.js";
import { ListPanel } from "../../ui/list-table.js";
import { Failure } from "../../ui/notice.js";
import { Panel } from "../../ui/panel.js";
import { ColumnDialog, IndexDialog } from "./definition-dialogs.js";
import { columnDropStatement, indexDropStatement } from "./definition-statements.js";
import { PoliciesPanel } from "./policies.js";
import { DefinitionDialog } from "./statement-dialog.js";
import { named, type TableFacts, type TableIndex } from "./table-facts.js";

interface DefinitionProps {
  readonly name: string;
  readonly facts: TableFacts;
  readonly isView: boolean;
  /** The definition is another one now. */
  readonly onChanged: () => void;
}

/** A form, or a statement that waits for a yes. */
type Open = "column" | "index" | { readonly title: string; readonly statement: string };

export function Definition({ name, facts, isView, onChanged }: DefinitionProps) {
  const [open, setOpen] = useState<Open | null>(null);
  const form = {
    ...{ table: name, facts },
    onClose: () => setOpen(null),
    onDone: () => {
      setOpen(null);
      onChanged();
    },
  };
  return (
    <div class="thing-body">
      {isView && <ViewQuery name={name} />}
      <Columns name={name} facts={facts} isView={isView} onOpen={setOpen} />
      {!isView && <Indexes name={name} facts={facts} onOpen={setOpen} />}
      {facts.constraints.length > 0 && (
        <ListPanel
          title="Constraints"
          rows={facts.constraints}
          keyOf={(constraint) => constraint.name}
          none=""
          columns={[
            { name: "Name", cell: (constraint) => constraint.name },
            { name: "Definition", cell: (constraint) => <code>{constraint.definition}</code>, isWide: true },
          ]}
        />
      )}
      {!isView && <PoliciesPanel table={name} />}
      {open === "column" && <ColumnDialog {...form} />}
      {open === "index" && <IndexDialog {...form} />}
      {open !== null && typeof open === "object" && (
        <DefinitionDialog
          title={open.title}
          statements={[open.statement]}
          action="Drop"
          done="It is gone."
          isDangerous
          onClose={form.onClose}
          onDone={form.onDone}
        />
      )}
    </div>
  );
}

interface PartProps extends Omit<DefinitionProps, "onChanged"> {
  readonly onOpen: (open: Open) => void;
}

function Columns({ name, facts, isView, onOpen }: PartProps) {
  return (
    <ListPanel
      title="Columns"
      actions={
        !isView && (
          <Button icon="plus" onClick={() => onOpen("column")}>
            Column
          </Button>
        )
      }
      rows={facts.columns}
      keyOf={(column) => column.name}
      none="There are none."
      columns={[
        { name: "Name", cell: (column) => <strong>{column.name}</strong> },
        { name: "Type", cell: (column) => <code>{column.data_type}</code> },
        { name: "Default", cell: (column) => <code>{column.default_value ?? ""}</code>, isWide: true },
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
        {
          name: "",
          cell: (column) =>
            !isView && (
              <Button
                kind="quiet"
                icon="trash"
                label={`Drop ${column.name}`}
                onClick={() =>
                  onOpen({ title: `Drop ${column.name}?`, statement: columnDropStatement(name, column.name) })
                }
              />
            ),
        },
      ]}
    />
  );
}

function Indexes({ name, facts, onOpen }: Omit<PartProps, "isView">) {
  return (
    <ListPanel
      title="Indexes"
      actions={
        <Button icon="plus" onClick={() => onOpen("index")}>
          Index
        </Button>
      }
      rows={facts.indexes}
      keyOf={(index) => index.name}
      none="There are none."
      columns={[
        { name: "Name", cell: (index) => index.name },
        { name: "Kind", cell: (index) => <code>{index.type}</code> },
        { name: "Columns", cell: (index) => index.columns.join(", "), isWide: true },
        { name: "State", cell: (index) => <IndexState index={index} /> },
        {
          name: "",
          cell: (index) =>
            !index.is_primary && (
              <Button
                kind="quiet"
                icon="trash"
                label={`Drop ${index.name}`}
                onClick={() =>
                  onOpen({ title: `Drop ${index.name}?`, statement: indexDropStatement(name, index.name) })
                }
              />
            ),
        },
      ]}
    />
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

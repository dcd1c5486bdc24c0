/** All of it at a glance. */
import { Button } from "../../ui/button.js";
import { ListTable } from "../../ui/list-table.js";
import { Empty } from "../../ui/notice.js";
import { Page, Panel } from "../../ui/panel.js";
import { type DataKind, type DataThing, linkOf } from "./things.js";

const NAMES: Readonly<Record<DataKind, string>> = {
  ...{ table: "Table", view: "View", collection: "Collection", vectors: "Vectors", graph: "Graph" },
  ...{ files: "Folder of files", model: "Model" },
};

interface OverviewProps {
  readonly things: readonly DataThing[];
  readonly onNew: () => void;
}

export function Overview({ things, onNew }: OverviewProps) {
  const newTable = (
    <Button kind="primary" icon="plus" onClick={onNew}>
      Table
    </Button>
  );
  if (things.length === 0) {
    return (
      <Empty icon="data" title="There is nothing yet">
        <p>Drop a file of CSV, JSON lines or Parquet here, and it becomes a table. Or make one by hand.</p>
        <p>{newTable}</p>
      </Empty>
    );
  }
  return (
    <Page
      title="Data"
      lead="Drop a file of CSV, JSON lines or Parquet anywhere on this page to import it."
      actions={newTable}
    >
      <Panel title="All" isFlush>
        <ListTable
          label="All"
          rows={things}
          keyOf={({ kind, id }) => `${kind}/${id}`}
          none=""
          columns={[
            { name: "Name", cell: (thing) => <a href={linkOf(thing)}>{thing.name}</a> },
            { name: "Kind", cell: ({ kind }) => NAMES[kind] },
            { name: "Size", cell: ({ facts }) => facts },
          ]}
        />
      </Panel>
    </Page>
  );
}

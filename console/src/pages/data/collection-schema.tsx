/** The fields and indexes of a collection of documents. */
import { countText } from "../../lib/format.js";
import { Badge } from "../../ui/button.js";
import { ListTable } from "../../ui/list-table.js";
import { Panel } from "../../ui/panel.js";

interface SchemaField {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly unique?: boolean;
  readonly embed?: boolean | string;
}

interface SchemaIndex {
  readonly name: string;
  readonly type: string;
  readonly fields: readonly string[];
}

interface IndexState {
  readonly name: string;
  readonly state: string;
  readonly items?: number;
  readonly items_waiting?: number;
}

/** A collection as the server describes it. */
export interface CollectionFacts {
  readonly schema?: { readonly fields?: readonly SchemaField[]; readonly indexes?: readonly SchemaIndex[] } | null;
  readonly document_count: number;
  readonly indexes?: readonly IndexState[];
}

export function CollectionSchema({ facts }: { readonly facts: CollectionFacts }) {
  const states = new Map((facts.indexes ?? []).map((index) => [index.name, index]));
  return (
    <div class="thing-body">
      <Panel title="Fields" isFlush>
        <ListTable
          label="Fields"
          rows={facts.schema?.fields ?? []}
          keyOf={({ name }) => name}
          none="Documents may have any fields."
          columns={[
            { name: "Name", cell: ({ name }) => <strong>{name}</strong> },
            { name: "Type", cell: ({ type }) => <code>{type}</code> },
            {
              name: "Rules",
              cell: ({ required, unique, embed }) => (
                <span class="row">
                  {required === true && <Badge>Required</Badge>}
                  {unique === true && <Badge>Unique</Badge>}
                  {embed !== undefined && embed !== false && <Badge tone="accent">Found by meaning</Badge>}
                </span>
              ),
            },
          ]}
        />
      </Panel>
      <Panel title="Indexes" isFlush>
        <ListTable
          label="Indexes"
          rows={facts.schema?.indexes ?? []}
          keyOf={({ name }) => name}
          none="There are none."
          columns={[
            { name: "Name", cell: ({ name }) => name },
            { name: "Kind", cell: ({ type }) => <code>{type}</code> },
            { name: "Fields", cell: ({ fields }) => fields.join(", ") },
            { name: "State", cell: ({ name }) => <StateOf index={states.get(name)} /> },
          ]}
        />
      </Panel>
    </div>
  );
}

function StateOf({ index }: { readonly index: IndexState | undefined }) {
  if (index === undefined) return null;
  return (
    <span class="row">
      <Badge tone={index.state === "ready" ? "good" : "neutral"}>{index.state}</Badge>
      <span class="muted number">
        {index.items !== undefined && `${countText(index.items)} items`}
        {(index.items_waiting ?? 0) > 0 && `, ${countText(index.items_waiting!)} waiting`}
      </span>
    </span>
  );
}

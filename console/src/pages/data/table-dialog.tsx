/** Makes a table: its name and its columns. The statement is shown before it runs. */
import { useState } from "preact/hooks";
import { Button } from "../../ui/button.js";
import { Switch, TextField } from "../../ui/field.js";
import { type ColumnDraft, isWhole, NEW_COLUMN, TYPES, tableStatement } from "./definition-statements.js";
import { DefinitionDialog } from "./statement-dialog.js";

const FIRST: readonly ColumnDraft[] = [
  { ...NEW_COLUMN, name: "id", type: "bigint GENERATED ALWAYS AS IDENTITY", isKey: true },
  NEW_COLUMN,
];

interface TableDialogProps {
  readonly onClose: () => void;
  readonly onMade: (name: string) => void;
}

export function TableDialog({ onClose, onMade }: TableDialogProps) {
  const [name, setName] = useState("");
  const [columns, setColumns] = useState(FIRST);
  const change = (at: number, column: ColumnDraft): void =>
    setColumns((now) => now.map((one, i) => (i === at ? column : one)));
  return (
    <DefinitionDialog
      title="A new table"
      statements={[tableStatement(name === "" ? "…" : name, columns)]}
      action="Make"
      done={`${name} is made.`}
      disabled={name.trim() === "" || !columns.some(isWhole)}
      isWide
      onClose={onClose}
      onDone={() => {
        onClose();
        onMade(name.trim());
      }}
    >
      <TextField
        label="Name"
        hint="A dot comes after a schema, such as sales.order."
        value={name}
        onInput={setName}
        isFocused
      />
      <fieldset class="drafts">
        <legend>Columns</legend>
        {columns.map((column, i) => (
          <div key={i} class="draft">
            <ColumnFields column={column} onChange={(now) => change(i, now)} hasKey />
            <Button
              kind="quiet"
              icon="trash"
              label={`Leave out column ${i + 1}`}
              disabled={columns.length === 1}
              onClick={() => setColumns((now) => now.filter((_, at) => at !== i))}
            />
          </div>
        ))}
        <div>
          <Button icon="plus" onClick={() => setColumns((now) => [...now, NEW_COLUMN])}>
            Column
          </Button>
        </div>
      </fieldset>
    </DefinitionDialog>
  );
}

interface ColumnFieldsProps {
  readonly column: ColumnDraft;
  readonly onChange: (column: ColumnDraft) => void;
  /** It may be of the primary key. */
  readonly hasKey?: boolean;
}

export function ColumnFields({ column, onChange, hasKey }: ColumnFieldsProps) {
  const set = (part: Partial<ColumnDraft>): void => onChange({ ...column, ...part });
  return (
    <>
      <TextField label="Column" value={column.name} onInput={(name) => set({ name })} isCode />
      <TextField label="Type" value={column.type} offered={TYPES} onInput={(type) => set({ type })} isCode />
      <TextField
        label="Default"
        value={column.standard}
        placeholder="such as now()"
        onInput={(standard) => set({ standard })}
        isCode
      />
      <div class="draft-rules">
        {hasKey === true && <Switch label="Key" isOn={column.isKey} onChange={(isKey) => set({ isKey })} />}
        <Switch label="Required" isOn={column.isRequired} onChange={(isRequired) => set({ isRequired })} />
        <Switch label="Unique" isOn={column.isUnique} onChange={(isUnique) => set({ isUnique })} />
      </div>
    </>
  );
}

/**
 * Changes of rows. The statement is shown before it runs, and it runs in a transaction that changes one row or none.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { cellText, countText } from "../../lib/format.js";
import { Button } from "../../ui/button.js";
import type { GridColumn, GridRow } from "../../ui/data-grid.js";
import { Switch, TextArea, TextField } from "../../ui/field.js";
import { Notice } from "../../ui/notice.js";
import { ValueDialog, wholeText } from "../../ui/value-dialog.js";
import { StatementDialog } from "./statement-dialog.js";
import { applyChange, type Change, deletionOf, insertionOf, type TableFacts, updateOf } from "./table-facts.js";

interface RowDialogProps {
  readonly table: string;
  readonly facts: TableFacts;
  readonly columns: readonly GridColumn[];
  readonly row: GridRow;
  readonly column: number;
  readonly canChange: boolean;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function RowDialog(props: RowDialogProps) {
  const { table, facts, columns, row, column, canChange, onClose, onChanged } = props;
  const before = row[column];
  const [text, setText] = useState(before === null || before === undefined ? "" : wholeText(before));
  const [isNull, setNull] = useState(before === null);
  const [isDeletion, setDeletion] = useState(false);
  const described = facts.columns.find(({ name }) => name === columns[column]!.name);
  if (!canChange || described === undefined) {
    return <ValueDialog columns={columns} row={row} column={column} onClose={onClose} />;
  }
  const key = facts.columns
    .filter((one) => one.is_primary_key)
    .map(({ name }) => [name, row[columns.findIndex((one) => one.name === name)]] as const);
  const change = isDeletion ? deletionOf(table, key) : updateOf(table, described, isNull ? null : text, key);
  return (
    <ChangeDialog
      title={isDeletion ? "Delete this row" : `Change ${described.name}`}
      change={change}
      action={isDeletion ? "Delete" : "Change"}
      isDangerous={isDeletion}
      onClose={onClose}
      onChanged={onChanged}
    >
      {isDeletion ? (
        <Notice tone="warn">The whole row is removed.</Notice>
      ) : (
        <>
          <TextArea
            label={`${described.name} · ${described.data_type}`}
            value={isNull ? "" : text}
            rows={Math.min(12, Math.max(2, text.split("\n").length))}
            onInput={(now) => {
              setText(now);
              setNull(false);
            }}
            isCode
          />
          {described.nullable && <Switch label="NULL" isOn={isNull} onChange={setNull} />}
        </>
      )}
      <Button icon={isDeletion ? "edit" : "trash"} onClick={() => setDeletion((now) => !now)}>
        {isDeletion ? "Change it instead" : "Delete the row instead"}
      </Button>
    </ChangeDialog>
  );
}

interface InsertDialogProps {
  readonly table: string;
  readonly facts: TableFacts;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function InsertDialog({ table, facts, onClose, onChanged }: InsertDialogProps) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const cells = facts.columns.flatMap(({ name }) => (texts[name] === undefined ? [] : [[name, texts[name]] as const]));
  return (
    <ChangeDialog
      title={`A row for ${table}`}
      change={insertionOf(table, cells)}
      action="Insert"
      onClose={onClose}
      onChanged={onChanged}
    >
      {facts.columns.map(({ name, data_type: type, default_value: value, nullable }) => (
        <TextField
          key={name}
          label={`${name} · ${type}${nullable ? "" : " · required"}`}
          value={texts[name] ?? ""}
          placeholder={value ?? ""}
          onInput={(text) =>
            setTexts((now) => {
              const { [name]: _left, ...others } = now;
              return text === "" ? others : { ...others, [name]: text };
            })
          }
          isCode
        />
      ))}
      <p class="hint">Empty fields get their default.</p>
    </ChangeDialog>
  );
}

interface ChangeDialogProps {
  readonly title: string;
  readonly change: Change;
  readonly action: string;
  readonly isDangerous?: boolean | undefined;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function ChangeDialog({ change, onChanged, ...dialog }: ChangeDialogProps) {
  const values = change.values.map((value, i) => `\n-- $${i + 1} = ${shortText(cellText(value))}`);
  return (
    <StatementDialog
      {...dialog}
      statement={change.sql + values.join("")}
      run={() => applyChange(change)}
      done="One row changed."
      onDone={onChanged}
    />
  );
}

const CHARACTERS_MAX = 200;

function shortText(text: string): string {
  return text.length > CHARACTERS_MAX
    ? `${text.slice(0, CHARACTERS_MAX)} … (${countText(text.length)} characters)`
    : text;
}

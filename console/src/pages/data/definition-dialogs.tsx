/** Adds a column or an index to a table. The statement is shown before it runs. */
import { useState } from "preact/hooks";
import { Button } from "../../ui/button.js";
import { Select, TextField } from "../../ui/field.js";
import { Notice } from "../../ui/notice.js";
import {
  columnStatement,
  type IndexDraft,
  type IndexKind,
  indexStatement,
  isWhole,
  NEW_COLUMN,
} from "./definition-statements.js";
import { DefinitionDialog } from "./statement-dialog.js";
import { ColumnFields } from "./table-dialog.js";
import type { TableColumn, TableFacts } from "./table-facts.js";

export interface DefinitionFormProps {
  readonly table: string;
  readonly facts: TableFacts;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ColumnDialog({ table, onClose, onDone }: DefinitionFormProps) {
  const [column, setColumn] = useState(NEW_COLUMN);
  return (
    <DefinitionDialog
      title={`A column for ${table}`}
      statements={[columnStatement(table, column)]}
      action="Add"
      done={`${column.name} is added.`}
      disabled={!isWhole(column)}
      onClose={onClose}
      onDone={onDone}
    >
      <div class="stack">
        <ColumnFields column={column} onChange={setColumn} />
      </div>
      {column.isRequired && column.standard.trim() === "" && (
        <Notice tone="warn">Rows that exist have no value for a required column: give it a default.</Notice>
      )}
    </DefinitionDialog>
  );
}

const KINDS: readonly (readonly [IndexKind, string])[] = [
  ["order", "Finds and sorts by values"],
  ["unique", "The same, and no value comes twice"],
  ["words", "Finds texts by words"],
  ["parts", "Finds parts of words, and misspelt ones"],
  ["near", "Finds the nearest vectors"],
];

const LANGUAGES = ["english", "german", "french", "spanish", "italian", "portuguese", "dutch", "simple"];

const METRICS: readonly (readonly [IndexDraft["metric"], string])[] = [
  ["cosine", "Cosine, <=>"],
  ["l2", "Straight distance, <->"],
  ["ip", "Inner product, <#>"],
];

function isFor(kind: IndexKind, { data_type: type }: TableColumn): boolean {
  if (kind === "near") return type.startsWith("vector");
  if (kind === "words" || kind === "parts") return /^(?:text|character|varchar)/.test(type);
  return !type.startsWith("vector");
}

export function IndexDialog({ table, facts, onClose, onDone }: DefinitionFormProps) {
  const [kind, setKind] = useState<IndexKind>("order");
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [language, setLanguage] = useState("english");
  const [metric, setMetric] = useState<IndexDraft["metric"]>("cosine");
  const [condition, setCondition] = useState("");
  const offered = facts.columns.filter((column) => isFor(kind, column)).map(({ name }) => name);
  const columns = chosen.filter((name) => offered.includes(name));
  const toggle = (name: string): void => {
    if (columns.includes(name)) setChosen(columns.filter((one) => one !== name));
    else setChosen(kind === "near" ? [name] : [...columns, name]);
  };
  return (
    <DefinitionDialog
      title={`An index on ${table}`}
      statements={[indexStatement(table, { kind, columns, language, metric, condition })]}
      action="Make"
      done="The index is made."
      disabled={columns.length === 0}
      onClose={onClose}
      onDone={onDone}
    >
      <Select label="What it does" value={kind} options={KINDS} onChange={setKind} />
      <fieldset class="drafts">
        <legend>Columns, in this order</legend>
        <div class="row">
          {offered.map((name) => (
            <Button key={name} pressed={columns.includes(name)} onClick={() => toggle(name)}>
              {columns.length > 1 && columns.includes(name) && `${columns.indexOf(name) + 1} · `}
              {name}
            </Button>
          ))}
          {offered.length === 0 && <span class="muted">No column has a type for it.</span>}
        </div>
      </fieldset>
      {kind === "words" && <Select label="Language" value={language} options={LANGUAGES} onChange={setLanguage} />}
      {kind === "near" && <Select label="Distance" value={metric} options={METRICS} onChange={setMetric} />}
      {(kind === "order" || kind === "unique") && (
        <TextField
          label="Only rows with"
          hint="Empty: all rows."
          placeholder="such as closed_on IS NULL"
          value={condition}
          onInput={setCondition}
          isCode
        />
      )}
    </DefinitionDialog>
  );
}

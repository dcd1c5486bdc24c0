/** Makes a view: its name and its query. The statement is shown before it runs. */
import { useState } from "preact/hooks";
import { Switch, TextArea, TextField } from "../../ui/field.js";
import { viewStatement } from "./definition-statements.js";
import { DefinitionDialog } from "./statement-dialog.js";

interface ViewDialogProps {
  readonly onClose: () => void;
  readonly onMade: (name: string) => void;
}

export function ViewDialog({ onClose, onMade }: ViewDialogProps) {
  const [name, setName] = useState("");
  const [query, setQuery] = useState("");
  const [isKept, setKept] = useState(false);
  return (
    <DefinitionDialog
      title="A new view"
      statements={[viewStatement(name.trim() === "" ? "…" : name, query.trim() === "" ? "…" : query, isKept)]}
      action="Make"
      done={`${name.trim()} is made.`}
      disabled={name.trim() === "" || query.trim() === ""}
      isWide
      onClose={onClose}
      onDone={() => {
        onClose();
        onMade(name.trim());
      }}
    >
      <TextField
        label="Name"
        hint="A dot comes after a schema, such as sales.newest."
        value={name}
        onInput={setName}
        isFocused
      />
      <TextArea
        label="Query"
        hint="Its columns are the columns of the view."
        placeholder="SELECT country, count(*) AS cities FROM city GROUP BY country"
        rows={6}
        value={query}
        onInput={setQuery}
        isCode
      />
      <Switch label="Store its rows until it is refreshed (materialized)" isOn={isKept} onChange={setKept} />
    </DefinitionDialog>
  );
}

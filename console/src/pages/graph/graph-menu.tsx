/** What can be done to a whole graph: a statement of Cypher that changes it, and its end. */
import { useState } from "preact/hooks";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { ActionDialog, Confirm } from "../../ui/dialog.js";
import { TextArea } from "../../ui/field.js";
import { Menu } from "../../ui/menu.js";
import { attempt, tell } from "../../ui/toast.js";

const EXAMPLE = "CREATE (:Person {name: 'Ada'})-[:KNOWS]->(:Person {name: 'Ben'})";

export type GraphWork = "change" | "drop";

interface GraphMenuProps {
  readonly name: string;
  readonly onChoose: (work: GraphWork) => void;
}

export function GraphMenu({ name, onChoose }: GraphMenuProps) {
  return (
    <Menu
      icon="edit"
      label={`Change the graph ${name}`}
      kind="plain"
      entries={[
        { label: "Change it by Cypher", run: () => onChoose("change") },
        { label: "Drop it", run: () => onChoose("drop") },
      ]}
    />
  );
}

interface GraphDialogProps {
  readonly name: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** Of what was chosen in the menu. */
export function GraphWorkDialog({ work, ...props }: GraphDialogProps & { readonly work: GraphWork }) {
  if (work === "change") return <ChangeDialog {...props} />;
  const { name, onClose } = props;
  const drop = async (): Promise<void> => {
    const path = `/v1/graph/graphs/${encodeURIComponent(name)}`;
    if (await attempt(() => client().request("DELETE", path), `${name} is gone.`)) goTo(["data"]);
  };
  return (
    <Confirm title={`Drop ${name}?`} action="Drop" onConfirm={() => void drop()} onClose={onClose}>
      <p>All its nodes and relationships are removed. This cannot be taken back.</p>
    </Confirm>
  );
}

function ChangeDialog({ name, onClose, onChanged }: GraphDialogProps) {
  const [cypher, setCypher] = useState("");
  const { error, isBusy, run } = useRun();
  const change = async (): Promise<void> => {
    const body = { cypher, graph: name };
    if (!(await run(() => client().request("POST", "/v1/graph/match", { body })))) return;
    tell(`${name} is changed.`);
    onClose();
    onChanged();
  };
  return (
    <ActionDialog
      title={`Change ${name}`}
      action="Run"
      disabled={isBusy || cypher.trim() === ""}
      error={error}
      isWide
      onAction={() => void change()}
      onClose={onClose}
    >
      <TextArea label="Cypher" placeholder={EXAMPLE} rows={6} value={cypher} onInput={setCypher} isCode />
    </ActionDialog>
  );
}

/** Makes a collection: of documents, of vectors that come from elsewhere, or of the files of a folder. Or a graph. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { ActionDialog } from "../../ui/dialog.js";
import { Select, TextField } from "../../ui/field.js";
import { tell } from "../../ui/toast.js";

interface CollectionDialogProps {
  readonly onClose: () => void;
  readonly onMade: (name: string) => void;
}

interface FormProps extends CollectionDialogProps {
  readonly title: string;
  readonly place: string;
  /** What the server needs beside the name. */
  readonly body: object;
  readonly isWhole?: boolean;
  readonly children: ComponentChildren;
}

function NamedForm({ title, place, body, isWhole = true, children, onClose, onMade }: FormProps) {
  const [typed, setTyped] = useState("");
  const { error, isBusy, run } = useRun();
  const name = typed.trim();
  const make = async (): Promise<void> => {
    if (!(await run(() => client().request("POST", place, { body: { name, ...body } })))) return;
    tell(`${name} is made.`);
    onClose();
    onMade(name);
  };
  return (
    <ActionDialog
      title={title}
      action="Make"
      disabled={isBusy || name === "" || !isWhole}
      error={error}
      onAction={() => void make()}
      onClose={onClose}
    >
      <TextField label="Name" value={typed} onInput={setTyped} isFocused />
      {children}
    </ActionDialog>
  );
}

export function DocumentsDialog(props: CollectionDialogProps) {
  const [typed, setTyped] = useState("");
  const names = typed
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const fields = names.map((name) => ({ name, type: "string", embed: true }));
  return (
    <NamedForm
      {...props}
      title="A new collection of documents"
      place="/v1/collections"
      body={fields.length === 0 ? {} : { schema: { fields } }}
    >
      <TextField
        label="Fields to find by meaning"
        hint="Names with commas, such as title, body. Documents may have any others, too."
        value={typed}
        onInput={setTyped}
      />
    </NamedForm>
  );
}

const METRICS = [["cosine", "Cosine"] as const, ["l2", "Euclidean"] as const, ["dot", "Inner product"] as const];

export function VectorsDialog(props: CollectionDialogProps) {
  const [dimensions, setDimensions] = useState("");
  const [metric, setMetric] = useState<(typeof METRICS)[number][0]>("cosine");
  return (
    <NamedForm
      {...props}
      title="A new collection of vectors"
      place="/v1/vectors/collections"
      body={{ dimensions: Number(dimensions), metric }}
      isWhole={dimensions !== ""}
    >
      <TextField
        label="Dimensions"
        hint="As many numbers as each vector has."
        type="number"
        value={dimensions}
        onInput={setDimensions}
      />
      <Select label="Distance" value={metric} options={METRICS} onChange={setMetric} />
    </NamedForm>
  );
}

export function GraphDialog(props: CollectionDialogProps) {
  return (
    <NamedForm {...props} title="A new graph" place="/v1/graph/graphs" body={{}}>
      <p class="muted">It has its own nodes and relationships. Cypher on the Query page is about the graph default.</p>
    </NamedForm>
  );
}

export function FolderDialog(props: CollectionDialogProps) {
  const [folder, setFolder] = useState("");
  return (
    <NamedForm
      {...props}
      title="A new folder of files"
      place="/v1/filesystem-collections"
      body={{ watch_dir: folder.trim() }}
      isWhole={folder.trim() !== ""}
    >
      <TextField
        label="Folder of the server"
        hint="Its files are read and watched. The setting files.roots says which folders are allowed."
        placeholder="/srv/manuals"
        value={folder}
        onInput={setFolder}
        isCode
      />
    </NamedForm>
  );
}

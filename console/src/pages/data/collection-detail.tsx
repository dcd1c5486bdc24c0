/** A collection of documents: its documents, which can be changed as JSON, and its schema. */
import { useState } from "preact/hooks";
import { countText } from "../../lib/format.js";
import { useLoad } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";
import { Badge, Busy, Button } from "../../ui/button.js";
import { Confirm, Dialog } from "../../ui/dialog.js";
import { TextArea } from "../../ui/field.js";
import { Failure } from "../../ui/notice.js";
import { Tabs } from "../../ui/tabs.js";
import { attempt } from "../../ui/toast.js";
import { type CollectionFacts, CollectionSchema } from "./collection-schema.js";
import { DocumentLines } from "./document-lines.js";

type Doc = Readonly<Record<string, unknown>> & { readonly id: string };

interface DocumentPage {
  readonly items: readonly Doc[];
  readonly total: number;
}

const PAGE = 100;
const TABS = [
  { id: "documents" as const, label: "Documents" },
  { id: "schema" as const, label: "Schema" },
];

interface CollectionDetailProps {
  readonly name: string;
  readonly onChanged: () => void;
}

export function CollectionDetail({ name, onChanged }: CollectionDetailProps) {
  const [shown, setShown] = useState<"documents" | "schema">("documents");
  const [isDropping, setDropping] = useState(false);
  const path = `/v1/collections/${encodeURIComponent(name)}`;
  const facts = useLoad((signal) => client().request<CollectionFacts>("GET", path, { signal }), [path]);
  const drop = (): void => {
    void attempt(() => client().request("DELETE", path), `${name} is gone.`).then((isDone) => {
      if (!isDone) return;
      goTo(["data"]);
      onChanged();
    });
  };
  return (
    <div class="thing">
      <header class="thing-head">
        <h2>{name}</h2>
        <Tabs label={`About ${name}`} tabs={TABS} current={shown} onChange={setShown} />
        <span class="spacer" />
        <Button icon="search" onClick={() => goTo(["search"], { collection: name })}>
          Search
        </Button>
        <Button kind="quiet" icon="trash" label={`Drop ${name}`} onClick={() => setDropping(true)} />
      </header>
      <Failure error={facts.error} />
      {shown === "documents" ? (
        <Documents path={path} onChanged={facts.again} />
      ) : (
        facts.data !== undefined && <CollectionSchema facts={facts.data} />
      )}
      {isDropping && (
        <Confirm title={`Drop ${name}?`} action="Drop" onConfirm={drop} onClose={() => setDropping(false)}>
          <p>Its documents go with it. This cannot be taken back.</p>
        </Confirm>
      )}
    </div>
  );
}

function Documents({ path, onChanged }: { readonly path: string; readonly onChanged: () => void }) {
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<Doc | "new" | null>(null);
  const { data, error, again } = useLoad(
    (signal) => client().request<DocumentPage>("GET", `${path}/documents`, { query: { page, limit: PAGE }, signal }),
    [path, page],
  );
  const changed = (): void => {
    setOpen(null);
    again();
    onChanged();
  };
  if (data === undefined) return error === null ? <Busy /> : <Failure error={error} />;
  const pages = Math.max(1, Math.ceil(data.total / PAGE));
  return (
    <>
      <div class="thing-tools">
        <Badge>{countText(data.total)} documents</Badge>
        <span class="spacer" />
        <Button icon="plus" onClick={() => setOpen("new")}>
          Document
        </Button>
        <Button kind="quiet" icon="refresh" label="Load again" onClick={again} />
      </div>
      <Failure error={error} />
      <ul class="document-list">
        {data.items.map((doc) => (
          <li key={doc.id}>
            <button type="button" class="document" onClick={() => setOpen(doc)}>
              <DocumentLines doc={doc} />
            </button>
          </li>
        ))}
      </ul>
      <footer class="thing-foot">
        <Button disabled={page === 1} onClick={() => setPage(page - 1)}>
          Previous
        </Button>
        <span class="muted number">
          Page {page} of {countText(pages)}
        </span>
        <Button disabled={page >= pages} onClick={() => setPage(page + 1)}>
          Next
        </Button>
      </footer>
      {open !== null && (
        <DocumentDialog
          path={path}
          doc={open === "new" ? null : open}
          onClose={() => setOpen(null)}
          onChanged={changed}
        />
      )}
    </>
  );
}

interface DocumentDialogProps {
  readonly path: string;
  readonly doc: Doc | null;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function DocumentDialog({ path, doc, onClose, onChanged }: DocumentDialogProps) {
  const { id, ...content } = doc ?? { id: "" };
  const [text, setText] = useState(JSON.stringify(content, null, 2));
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setError(null);
    try {
      await work();
      onChanged();
    } catch (failure) {
      setError(failure);
    }
  };
  const [isLeaving, setLeaving] = useState(false);
  const place = `${path}/documents/${encodeURIComponent(id)}`;
  const store = async (): Promise<void> => {
    const data = JSON.parse(text) as object;
    if (doc === null) await client().request("POST", `${path}/documents`, { body: data });
    else await client().request("PUT", place, { body: { data } });
  };
  const actions = (
    <>
      {doc !== null && (
        <Button kind="danger" onClick={() => setLeaving(true)}>
          Delete
        </Button>
      )}
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="primary" onClick={() => void run(store)}>
        {doc === null ? "Insert" : "Replace"}
      </Button>
    </>
  );
  if (isLeaving) {
    const remove = () => void run(() => client().request("DELETE", place));
    return (
      <Confirm title={`Delete ${id}?`} action="Delete" onConfirm={remove} onClose={() => setLeaving(false)}>
        <p>The document is removed from the collection and from its indexes.</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={doc === null ? "A new document" : id} onClose={onClose} actions={actions} isWide>
      <TextArea label="The document as JSON" value={text} rows={18} onInput={setText} isCode />
      <Failure error={error} />
    </Dialog>
  );
}

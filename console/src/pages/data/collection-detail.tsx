/** A collection of documents: its documents, which can be changed as JSON, and its schema. */
import { useEffect, useState } from "preact/hooks";
import { countText, plural } from "../../lib/format.js";
import { useGet, useReturn } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import { useRun } from "../../lib/run.js";
import { client } from "../../lib/session.js";
import { Badge, Button, ReloadButton } from "../../ui/button.js";
import { ActionDialog, Confirm } from "../../ui/dialog.js";
import { TextArea } from "../../ui/field.js";
import { Failure, Waiting } from "../../ui/notice.js";
import { type CollectionFacts, CollectionSchema } from "./collection-schema.js";
import { DocumentLines } from "./document-lines.js";
import { Thing, useTab } from "./thing.js";

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
  const [shown, setShown] = useTab(TABS);
  const path = `/v1/collections/${encodeURIComponent(name)}`;
  const facts = useGet<CollectionFacts>(path);
  useReturn(facts.again);
  return (
    <Thing
      name={name}
      tabs={TABS}
      shown={shown}
      onShow={setShown}
      action={
        <Button icon="search" onClick={() => goTo(["search"], { collection: name })}>
          Search
        </Button>
      }
      drop={() => client().request("DELETE", path)}
      loss="Its documents go with it."
      onDropped={onChanged}
    >
      <Failure error={facts.error} />
      {shown === "documents" ? (
        <Documents
          path={path}
          onChanged={() => {
            facts.again();
            onChanged();
          }}
        />
      ) : (
        facts.data !== undefined && <CollectionSchema facts={facts.data} />
      )}
    </Thing>
  );
}

function Documents({ path, onChanged }: { readonly path: string; readonly onChanged: () => void }) {
  const [page, setPage] = useState(1);
  const [open, setOpen] = useState<Doc | "new" | null>(null);
  const { data, error, again } = useGet<DocumentPage>(`${path}/documents`, { page, limit: PAGE });
  useReturn(again);
  const pages = Math.max(1, Math.ceil((data?.total ?? 0) / PAGE));
  // Others may have deleted what the last pages showed.
  useEffect(() => {
    if (data !== undefined && page > pages) setPage(pages);
  }, [data]);
  const changed = (): void => {
    setOpen(null);
    again();
    onChanged();
  };
  if (data === undefined) return <Waiting error={error} />;
  return (
    <>
      <div class="thing-tools">
        <Badge>{plural(data.total, "document")}</Badge>
        <span class="spacer" />
        <Button icon="plus" onClick={() => setOpen("new")}>
          Document
        </Button>
        <ReloadButton onClick={again} />
      </div>
      <Failure error={error} />
      {data.items.length === 0 && <p class="none">There are no documents.</p>}
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
  const { error, run } = useRun();
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    if (await run(work)) onChanged();
  };
  const [isLeaving, setLeaving] = useState(false);
  const place = `${path}/documents/${encodeURIComponent(id)}`;
  const store = async (): Promise<void> => {
    const data = JSON.parse(text) as object;
    if (doc === null) await client().request("POST", `${path}/documents`, { body: data });
    else await client().request("PUT", place, { body: { data } });
  };
  if (isLeaving) {
    const remove = () => void change(() => client().request("DELETE", place));
    return (
      <Confirm title={`Delete ${id}?`} action="Delete" onConfirm={remove} onClose={() => setLeaving(false)}>
        <p>The document is removed from the collection and from its indexes.</p>
      </Confirm>
    );
  }
  return (
    <ActionDialog
      title={doc === null ? "A new document" : id}
      action={doc === null ? "Insert" : "Replace"}
      onAction={() => void change(store)}
      error={error}
      other={
        doc !== null && (
          <Button kind="danger" onClick={() => setLeaving(true)}>
            Delete
          </Button>
        )
      }
      onClose={onClose}
      isWide
    >
      <TextArea label="The document as JSON" value={text} rows={18} onInput={setText} isCode />
    </ActionDialog>
  );
}

/** Everything that the tenant keeps: a list of it, and the chosen thing. */
import { useEffect, useState } from "preact/hooks";
import { lazy } from "../../lib/lazy.js";
import { useReturn } from "../../lib/load.js";
import { goTo } from "../../lib/router.js";
import type { PageProps } from "../../shell/pages.js";
import { Busy, Button } from "../../ui/button.js";
import { FilterInput } from "../../ui/field.js";
import { Icon, type IconName } from "../../ui/icon.js";
import { Menu } from "../../ui/menu.js";
import { Empty, Failure } from "../../ui/notice.js";
import { CollectionDetail } from "./collection-detail.js";
import { DocumentsDialog, FolderDialog, GraphDialog, VectorsDialog } from "./collection-dialog.js";
import { FilesDetail } from "./files-detail.js";
import { ImportDialog } from "./import-dialog.js";
import { Overview } from "./overview.js";
import { TableDetail } from "./table-detail.js";
import { TableDialog } from "./table-dialog.js";
import { type DataKind, type DataThing, linkOf, useThings } from "./things.js";
import { VectorsDetail } from "./vectors-detail.js";
import { ViewDialog } from "./view-dialog.js";

const Diagram = lazy(async () => (await import("./diagram.js")).Diagram);

const KINDS: readonly (readonly [DataKind, string, IconName])[] = [
  ["table", "Tables", "table"],
  ["view", "Views", "view"],
  ["collection", "Collections", "document"],
  ["vectors", "Vector collections", "vector"],
  ["graph", "Graphs", "graph"],
  ["files", "Folders of files", "folder"],
  ["model", "Models", "models"],
];

export function DataPage({ path }: PageProps) {
  const { data: things, error, again, isLoading } = useThings();
  useReturn(again);
  const [filter, setFilter] = useState("");
  const [isDropping, setDropping] = useState(false);
  const [making, setMaking] = useState<NewKind | null>(null);
  const [imported, setImported] = useState<File | "choose" | null>(null);
  const [kind, name] = path;
  return (
    <section
      class={`data${kind === undefined ? "" : " has-thing"}${isDropping ? " dropping" : ""}`}
      aria-label="Data"
      onDragOver={(event) => {
        event.preventDefault();
        setDropping(true);
      }}
      onDragLeave={(event) => {
        if (event.target === event.currentTarget) setDropping(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setDropping(false);
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) setImported(file);
      }}
    >
      <h1 class="unseen">Data</h1>
      <aside class="data-side" aria-label="What there is">
        <div class="data-side-head">
          <FilterInput value={filter} onInput={setFilter} />
          <Button icon="plan" label="Diagram of tables and keys" onClick={() => goTo(["data", "diagram"])} />
          <Menu
            icon="plus"
            label="Make something new"
            kind="plain"
            entries={[
              { label: "Table", run: () => setMaking("table") },
              { label: "View", run: () => setMaking("view") },
              { label: "Collection of documents", run: () => setMaking("collection") },
              { label: "Collection of vectors", run: () => setMaking("vectors") },
              { label: "Graph", run: () => setMaking("graph") },
              { label: "Folder of files", run: () => setMaking("files") },
            ]}
          />
          <Button icon="upload" label="Import a file" onClick={() => setImported("choose")} />
          <Button icon="refresh" label="Load again" onClick={again} />
        </div>
        <div class="data-side-list">
          <Failure error={error} />
          {things === undefined && error === null && <Busy />}
          {things !== undefined && <ThingList things={things} filter={filter} current={path} />}
        </div>
      </aside>
      <div class="data-main">
        {kind === "diagram" ? (
          <Diagram />
        ) : name === undefined ? (
          things !== undefined && <Overview things={things} onNew={() => setMaking("table")} />
        ) : (
          <Detail
            key={`${kind}/${name}`}
            kind={kind!}
            name={name}
            things={things}
            isLoading={isLoading}
            onChanged={again}
          />
        )}
      </div>
      {making !== null && <NewThing kind={making} onClose={() => setMaking(null)} onMade={again} />}
      {imported !== null && (
        <ImportDialog file={imported === "choose" ? null : imported} onClose={() => setImported(null)} onDone={again} />
      )}
    </section>
  );
}

type NewKind = Exclude<DataKind, "model">;

interface NewThingProps {
  readonly kind: NewKind;
  readonly onClose: () => void;
  readonly onMade: () => void;
}

function NewThing({ kind, onClose, onMade }: NewThingProps) {
  const made = (name: string): void => {
    onMade();
    location.hash = linkOf({ kind, id: name });
  };
  if (kind === "view") return <ViewDialog onClose={onClose} onMade={made} />;
  if (kind === "graph") return <GraphDialog onClose={onClose} onMade={made} />;
  if (kind === "collection") return <DocumentsDialog onClose={onClose} onMade={made} />;
  if (kind === "vectors") return <VectorsDialog onClose={onClose} onMade={made} />;
  if (kind === "files") return <FolderDialog onClose={onClose} onMade={made} />;
  return <TableDialog onClose={onClose} onMade={made} />;
}

interface ThingListProps {
  readonly things: readonly DataThing[];
  readonly filter: string;
  readonly current: readonly string[];
}

function ThingList({ things, filter, current }: ThingListProps) {
  const wanted = filter.trim().toLowerCase();
  const shown = things.filter(({ name }) => name.toLowerCase().includes(wanted));
  if (shown.length === 0)
    return <p class="none">{wanted === "" ? "There is nothing yet." : "Nothing has this name."}</p>;
  return (
    <>
      {KINDS.map(([kind, title, icon]) => {
        const those = shown.filter((thing) => thing.kind === kind);
        if (those.length === 0) return null;
        return (
          <div key={kind}>
            <h2 class="side-title">{title}</h2>
            {those.map((thing) => (
              <a
                key={thing.id}
                class="side-entry"
                href={linkOf(thing)}
                aria-current={current[0] === kind && current[1] === thing.id ? "page" : undefined}
              >
                <Icon name={icon} />
                <span>{thing.name}</span>
                <small class="number">{thing.size}</small>
              </a>
            ))}
          </div>
        );
      })}
    </>
  );
}

interface DetailProps {
  readonly kind: string;
  readonly name: string;
  readonly things: readonly DataThing[] | undefined;
  readonly isLoading: boolean;
  readonly onChanged: () => void;
}

/** An address, such as the palette's, may say another kind than the thing is of, or its name in place of its id. */
function meant(kind: string, name: string, things: readonly DataThing[] | undefined): DataThing | undefined {
  const named = things?.filter((one) => one.id === name || one.name === name) ?? [];
  return named.find((one) => one.kind === kind) ?? named[0];
}

function Detail({ kind, name, things, isLoading, onChanged }: DetailProps) {
  const thing = meant(kind, name, things);
  const isElsewhere = thing !== undefined && (thing.kind !== kind || thing.id !== name);
  useEffect(() => {
    if (isElsewhere) location.replace(linkOf(thing));
  }, [isElsewhere]);
  // It may have been made since the list was loaded. Asked once: it may also not be there at all.
  const isNew = things !== undefined && thing === undefined;
  useEffect(() => {
    if (isNew) onChanged();
  }, [isNew]);
  if (isElsewhere || (things === undefined && isLoading)) return <Busy />;
  if (kind === "table" || kind === "view")
    return <TableDetail name={name} isView={kind === "view"} onChanged={onChanged} />;
  if (kind === "collection") return <CollectionDetail name={name} onChanged={onChanged} />;
  if (kind === "vectors") return <VectorsDetail name={name} onChanged={onChanged} />;
  if (kind === "files" && thing !== undefined) return <FilesDetail id={name} onChanged={onChanged} />;
  return (
    <Empty icon="data" title="There is no such thing">
      It may have another name, or be gone.
    </Empty>
  );
}

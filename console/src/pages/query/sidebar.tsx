/** Beside the editor: what can be queried, what was run, and what was saved. */
import { useState } from "preact/hooks";
import { type CatalogObject, catalog } from "../../lib/catalog.js";
import { clockText, durationText, plural } from "../../lib/format.js";
import { idOfRelation } from "../../lib/relation-names.js";
import { useStore } from "../../lib/store.js";
import { Busy, Button } from "../../ui/button.js";
import { FilterInput } from "../../ui/field.js";
import { Icon } from "../../ui/icon.js";
import { Tabs } from "../../ui/tabs.js";
import { forget, kept, showQuery } from "./query-tabs.js";

type Shown = "schema" | "history" | "saved";

const TABS = [
  { id: "schema" as const, label: "Schema" },
  { id: "history" as const, label: "History" },
  { id: "saved" as const, label: "Saved" },
];

export function Sidebar({ onClose }: { readonly onClose: () => void }) {
  const [shown, setShown] = useState<Shown>("schema");
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  return (
    <aside class="query-side" aria-label="Schema, history and saved queries">
      <div class="query-side-head">
        <Tabs label="Beside the editor" tabs={TABS} current={shown} onChange={setShown} />
        <span class="spacer" />
        <span class="only-small">
          <Button kind="quiet" icon="close" label="Close" onClick={onClose} />
        </span>
      </div>
      <FilterInput class="query-side-filter" value={filter} onInput={setFilter} />
      <div class="query-side-list">
        {shown === "schema" && <Schema wanted={wanted} />}
        {shown === "history" && <History wanted={wanted} />}
        {shown === "saved" && <Saved wanted={wanted} />}
      </div>
    </aside>
  );
}

function Schema({ wanted }: { readonly wanted: string }) {
  const { objects, graph } = useStore(catalog);
  if (objects === null) return <Busy />;
  const found = objects.filter(
    ({ name, schema, columns }) =>
      !schema.startsWith("graph:") &&
      // What the server keeps for itself is found by its name only.
      (wanted !== "" || !name.startsWith("_")) &&
      (name.toLowerCase().includes(wanted) || (wanted !== "" && columns.some((one) => one.name.includes(wanted)))),
  );
  const labels = graph.labels.filter((label) => label.toLowerCase().includes(wanted));
  return (
    <>
      {found.map((object) => (
        <ObjectEntry key={`${object.schema}.${object.name}`} object={object} />
      ))}
      {labels.length > 0 && <h2 class="side-title">Labels of the graph</h2>}
      {labels.map((label) => (
        <button
          key={label}
          type="button"
          class="side-entry"
          onClick={() => showQuery("cypher", `MATCH (n:${quotedLabel(label)})\nRETURN n\nLIMIT 100`, label)}
        >
          <Icon name="graph" />
          <span>{label}</span>
        </button>
      ))}
      {found.length + labels.length === 0 && <p class="none">Nothing here.</p>}
    </>
  );
}

export function quotedLabel(label: string): string {
  return /^[A-Za-z_]\w*$/.test(label) ? label : `\`${label.replaceAll("`", "``")}\``;
}

/** Words that mean something else in SQL where they stand alone. */
const RESERVED = new Set(
  (
    "all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character check " +
    "coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role " +
    "current_schema current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists " +
    "extract false fetch float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int " +
    "integer intersect interval into is isnull join lateral leading least left like limit localtime localtimestamp national natural nchar none " +
    "normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real " +
    "references returning right row select session_user setof similar smallint some substring symmetric system_user table tablesample " +
    "then time timestamp to trailing treat trim true union unique user using values varchar variadic verbose when where window with"
  ).split(" "),
);

export function quotedName(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name);
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`;
}

/** As a statement names it. */
export function tableName({ schema, name }: { readonly schema: string; readonly name: string }): string {
  return schema === "public" ? quotedName(name) : `${quotedName(schema)}.${quotedName(name)}`;
}

function ObjectEntry({ object }: { readonly object: CatalogObject }) {
  const [isOpen, setOpen] = useState(false);
  const shown = idOfRelation(object);
  return (
    <>
      <div class="side-row">
        <button
          type="button"
          class="side-open"
          aria-expanded={isOpen}
          aria-label={`Columns of ${shown}`}
          onClick={() => setOpen((now) => !now)}
        >
          <Icon name={isOpen ? "down" : "right"} />
        </button>
        <button
          type="button"
          class="side-entry"
          title={`Query ${shown}`}
          onClick={() => showQuery("sql", `SELECT *\nFROM ${tableName(object)}\nLIMIT 1000`, object.name)}
        >
          <Icon name={object.kind === "view" ? "view" : "table"} />
          <span>{shown}</span>
        </button>
      </div>
      {isOpen && (
        <ul class="side-columns">
          {object.columns.map(({ name, type }) => (
            <li key={name}>
              <span>{name}</span>
              <small>{type}</small>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function History({ wanted }: { readonly wanted: string }) {
  const all = useStore(kept().history);
  const found = all.filter(({ text }) => text.toLowerCase().includes(wanted));
  if (found.length === 0) return <p class="none">Statements that you run are listed here.</p>;
  return (
    <>
      {found.map(({ text, language, at, ms, rows, error }) => (
        <button key={at + text} type="button" class="side-query" onClick={() => showQuery(language, text)}>
          <code>{text}</code>
          <small class={error === null ? undefined : "bad"}>
            {error ?? `${plural(rows, "row")} · ${durationText(ms)}`} · {clockText(at)}
          </small>
        </button>
      ))}
    </>
  );
}

function Saved({ wanted }: { readonly wanted: string }) {
  const all = useStore(kept().saved);
  const found = all.filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(wanted));
  if (found.length === 0) return <p class="none">The star above the editor saves a query.</p>;
  return (
    <>
      {found.map(({ id, name, language, text }) => (
        <div key={id} class="side-row">
          <button type="button" class="side-query" onClick={() => showQuery(language, text, name)}>
            <strong>{name}</strong>
            <code>{text}</code>
          </button>
          <Button kind="quiet" icon="trash" label={`Delete ${name}`} onClick={() => forget(id)} />
        </div>
      ))}
    </>
  );
}

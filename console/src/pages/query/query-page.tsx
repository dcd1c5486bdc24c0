/** Statements of SQL and Cypher in tabs, with what they answer. */
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { TesseraError } from "../../../../clients/typescript/src/index.js";
import { messageOf } from "../../lib/errors.js";
import { hasMod, useKeys } from "../../lib/keys.js";
import { place, replacePlace } from "../../lib/router.js";
import { takeNext } from "../../lib/run-next.js";
import { keptStore, useStore } from "../../lib/store.js";
import type { PageProps } from "../../shell/pages.js";
import { Busy } from "../../ui/button.js";
import { Failure } from "../../ui/notice.js";
import type { EditorHandle } from "./editor.js";
import { Parameters } from "./parameters.js";
import { QueryTabs } from "./query-tab-row.js";
import { changeTab, kept, openTab, type QueryTab, selectTab, showQuery } from "./query-tabs.js";
import { QueryToolbar } from "./query-toolbar.js";
import { Result } from "./result.js";
import { type Asked, runStatement, stopRun, workOf } from "./run.js";
import { Sidebar } from "./sidebar.js";
import { parametersOf, type Statement, statementAt, statementsOf, typedValue } from "./split.js";

const sideShown = keptStore("query.side", window.innerWidth > 900);
const rowLimit = keptStore("query.rows", 100_000);
const editorShare = keptStore("query.editor", 42);

export function QueryPage({ path, query }: PageProps) {
  const { all, current } = useStore(kept().tabs);
  const hasSide = useStore(sideShown);
  const tab = all.find(({ id }) => id === current) ?? all[0]!;
  // The address opens a tab or chooses one; after that it names the one that is shown.
  useEffect(() => {
    if (query.sql !== undefined) showQuery("sql", query.sql, query.title);
    else if (query.cypher !== undefined) showQuery("cypher", query.cypher, query.title);
    else if (all.some(({ id }) => id === path[0])) selectTab(path[0]!);
    nameTab();
  }, [query.sql, query.cypher, path[0]]);
  useEffect(nameTab, [tab.id]);
  useKeys((event) => {
    if (event.altKey && !hasMod(event) && event.code === "KeyT") {
      event.preventDefault();
      openTab(tab.language);
    }
  });
  return (
    <div class={hasSide ? "query with-side" : "query"}>
      <h1 class="unseen">Query</h1>
      {hasSide && <Sidebar onClose={() => sideShown.set(false)} />}
      <div class="query-main">
        <QueryTabs tabs={all} current={tab.id} hasSide={hasSide} onSide={() => sideShown.update((now) => !now)} />
        <Workplace key={tab.id} tab={tab} />
      </div>
    </div>
  );
}

function nameTab(): void {
  const { current } = kept().tabs.get();
  const { path, query } = place.get();
  const isStatement = query.sql !== undefined || query.cypher !== undefined;
  // Another tab begins with its table.
  const view = isStatement ? query.view : undefined;
  if (isStatement || path[1] !== current) replacePlace(["query", current], { view });
}

/** The place of a character that the server counts from 1, in UTF-16. */
function offsetOf(text: string, position: number): number {
  return [...text].slice(0, position - 1).join("").length;
}

function faultOf(error: unknown, { text, from }: Statement) {
  if (!(error instanceof TesseraError) || error.position === undefined) return null;
  const at = Math.min(offsetOf(text, error.position), Math.max(text.length - 1, 0));
  const word = /^(?:[\w.]+|\S)/.exec(text.slice(at))?.[0] ?? " ";
  return { from: from + at, to: from + at + word.length, message: messageOf(error) };
}

function Workplace({ tab }: { readonly tab: QueryTab }) {
  const work = workOf(tab.id);
  const run = useStore(work.run);
  const share = useStore(editorShare);
  const limit = useStore(rowLimit);
  const editor = useRef<EditorHandle | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const names = [
    ...new Set(statementsOf(tab.text, tab.language).flatMap(({ text }) => parametersOf(text, tab.language))),
  ];

  const chosen = (isAll: boolean): readonly Statement[] => {
    const handle = editor.current;
    const text = handle?.text() ?? tab.text;
    const selected = handle?.selection() ?? null;
    if (selected !== null) {
      const inside = statementsOf(text.slice(selected.from, selected.to), tab.language);
      return inside.map((one) => ({ ...one, from: one.from + selected.from, to: one.to + selected.from }));
    }
    if (isAll) return statementsOf(text, tab.language);
    const one = statementAt(text, handle?.cursor() ?? 0, tab.language);
    return one === undefined ? [] : [one];
  };
  const start = async (isAll: boolean, plan?: Asked["plan"]): Promise<void> => {
    editor.current?.mark(null);
    for (const statement of chosen(isAll)) {
      const wanted = parametersOf(statement.text, tab.language);
      const values = wanted.map((name) => typedValue(tab.parameters[name] ?? ""));
      const parameters =
        tab.language === "sql" ? values : Object.fromEntries(wanted.map((name, i) => [name, values[i]]));
      const asked = {
        statement,
        language: tab.language,
        parameters,
        maxRows: limit,
        ...(plan !== undefined && { plan }),
      };
      if (await runStatement(work, asked)) continue;
      editor.current?.mark(faultOf(work.run.get()?.error, statement));
      return;
    }
  };
  useEffect(() => {
    if (takeNext(tab.text)) void start(false);
  }, []);
  useKeys((event) => {
    if (!hasMod(event)) return;
    if (event.key === "Enter") void start(event.shiftKey);
    else if (event.key === ".") stopRun(work);
    else return;
    event.preventDefault();
  });
  return (
    <div
      class="workplace"
      ref={box}
      style={{ gridTemplateRows: `auto auto minmax(90px, ${share}%) 5px minmax(0, 1fr)` }}
    >
      <QueryToolbar
        tab={tab}
        work={work}
        isRunning={run?.state === "running"}
        limit={limit}
        onLimit={rowLimit.set}
        onRun={(isAll, plan) => void start(isAll, plan)}
      />
      <Parameters names={names} tab={tab} />
      <LazyEditor tab={tab} onReady={(handle) => (editor.current = handle)} />
      <Splitter box={box} />
      <Result work={work} run={run} />
    </div>
  );
}

type EditorProps = import("preact").ComponentProps<typeof import("./editor.js").default>;
let loadedEditor: ComponentType<EditorProps> | null = null;

/** The editor is the largest part of the console, so the page does not wait for it. */
function LazyEditor({ tab, onReady }: { readonly tab: QueryTab; readonly onReady: (handle: EditorHandle) => void }) {
  const [Editor, setEditor] = useState(() => loadedEditor);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (Editor !== null) return;
    import("./editor.js").then((module) => {
      loadedEditor = module.default;
      setEditor(() => module.default);
    }, setError);
  }, []);
  if (error !== null) return <Failure error={error} />;
  if (Editor === null) return <Busy label="Loading the editor" />;
  return (
    <Editor
      text={tab.text}
      language={tab.language}
      onReady={onReady}
      onChange={(text) => changeTab(tab.id, { text })}
    />
  );
}

/** Between editor and result; it can be drawn, and moved by arrows. */
function Splitter({ box }: { readonly box: { readonly current: HTMLDivElement | null } }) {
  const share = useStore(editorShare);
  const set = (percent: number): void => editorShare.set(Math.round(Math.max(12, Math.min(80, percent))));
  return (
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-label="Height of the editor"
      aria-orientation="horizontal"
      aria-valuenow={share}
      aria-valuemin={12}
      aria-valuemax={80}
      onKeyDown={(event) => {
        if (event.key === "ArrowUp") set(share - 4);
        if (event.key === "ArrowDown") set(share + 4);
      }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId) || box.current === null) return;
        const { top, height } = box.current.getBoundingClientRect();
        set(((event.clientY - top - 44) / height) * 100);
      }}
    />
  );
}

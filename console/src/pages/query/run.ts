/**
 * Runs statements for a tab: rows as they come over the WebSocket, cancellation, open transactions, and live queries.
 */
import type { Column } from "../../../../clients/typescript/src/index.js";
import { loadCatalog } from "../../lib/catalog.js";
import { isAbort } from "../../lib/errors.js";
import { branchShown, client } from "../../lib/session.js";
import { createStore, type Store } from "../../lib/store.js";
import { remember } from "./query-tabs.js";
import type { Language, Statement } from "./split.js";

export type List = readonly unknown[];

/** What a tab shows of its last statement. */
export interface Run {
  readonly state: "running" | "done" | "failed" | "stopped";
  readonly statement: Statement;
  readonly language: Language;
  readonly parameters: readonly unknown[] | Readonly<Record<string, unknown>>;
  readonly columns: readonly Column[];
  /** It grows while the statement runs; `count` says how far it is to be read. */
  readonly rows: List[];
  readonly count: number;
  readonly startedAt: number;
  readonly ms: number;
  readonly rowsAffected: number | undefined;
  readonly truncated: boolean;
  readonly notices: readonly string[];
  readonly error: unknown;
  /** Rows that the last change has brought, of a live query. */
  readonly fresh: ReadonlySet<List>;
  readonly isLive: boolean;
  /** It is about a plan: what EXPLAIN gave. */
  readonly isPlan: boolean;
}

/** A transaction that stays open between statements. */
export interface OpenTransaction {
  readonly id: string;
  readonly expiresAt: string;
  readonly statements: number;
}

export interface TabWork {
  readonly run: Store<Run | null>;
  readonly transaction: Store<OpenTransaction | null>;
  stop: AbortController | null;
}

const works = new Map<string, TabWork>();

/** A tab has other results and another transaction in each branch. */
export function workOf(tab: string): TabWork {
  const key = `${branchShown() ?? ""}/${tab}`;
  let work = works.get(key);
  if (work === undefined) {
    work = { run: createStore<Run | null>(null), transaction: createStore<OpenTransaction | null>(null), stop: null };
    works.set(key, work);
  }
  return work;
}

export interface Asked {
  readonly statement: Statement;
  readonly language: Language;
  readonly parameters: Run["parameters"];
  readonly maxRows: number;
  readonly plan?: "explain" | "analyze";
}

const NOTHING_FRESH: ReadonlySet<List> = new Set();
const DEFINES = /^\s*(?:create|drop|alter|rename|truncate|comment|merge)\b/i;
/** While rows come, the page is drawn this often. */
const DRAWN_EVERY_MS = 80;

/** Resolves when the statement has ended; the run says how. Gives whether it was done. */
export async function runStatement(work: TabWork, asked: Asked): Promise<boolean> {
  work.stop?.abort();
  const stop = new AbortController();
  work.stop = stop;
  const run = begunRun(asked);
  work.run.set(run);
  const draw = (more: Partial<Run>): void => {
    if (work.stop === stop) work.run.update((now) => ({ ...(now ?? run), ...more }));
  };
  const startedAt = performance.now();
  let error: unknown = null;
  try {
    await (asked.plan === undefined
      ? streamInto(work, run, asked, stop.signal, draw)
      : explainInto(work, run, asked, stop.signal));
  } catch (failure) {
    error = failure;
  }
  const ms = performance.now() - startedAt;
  const state = error === null ? "done" : isAbort(error) ? "stopped" : "failed";
  draw({
    state,
    error: state === "failed" ? error : null,
    ms,
    count: run.rows.length,
    columns: work.run.get()!.columns,
  });
  if (work.stop === stop) work.stop = null;
  if (asked.plan === undefined) {
    const told = state === "failed" ? String((error as Error).message) : state === "stopped" ? "stopped" : null;
    const { text } = asked.statement;
    remember({ language: asked.language, text, at: new Date().toISOString(), ms, rows: run.rows.length, error: told });
    if (state === "done" && DEFINES.test(text)) loadCatalog().catch(() => undefined);
  }
  return state === "done";
}

function begunRun({ statement, language, parameters, plan }: Asked): Run {
  return {
    ...{ state: "running", statement, language, parameters, columns: [], rows: [], count: 0, startedAt: Date.now() },
    ...{ ms: 0, rowsAffected: undefined, truncated: false, notices: [], error: null, fresh: NOTHING_FRESH },
    ...{ isLive: false, isPlan: plan !== undefined },
  };
}

async function streamInto(
  work: TabWork,
  run: Run,
  { statement, language, parameters, maxRows }: Asked,
  signal: AbortSignal,
  draw: (more: Partial<Run>) => void,
): Promise<void> {
  const transaction = work.transaction.get()?.id;
  const parts = client().parts(statement.text, parameters, {
    ...{ signal, language, maxRows },
    ...(transaction !== undefined && { transaction }),
  });
  let drawnAt = performance.now();
  for await (const part of parts) {
    if (part.type === "columns") draw({ columns: part.columns });
    else if (part.type === "rows") {
      for (const row of part.rows) run.rows.push(row);
      const now = performance.now();
      if (now - drawnAt < DRAWN_EVERY_MS) continue;
      drawnAt = now;
      draw({ count: run.rows.length, ms: now });
    } else draw({ rowsAffected: part.rowsAffected, truncated: part.truncated, notices: part.notices });
  }
  if (transaction !== undefined) {
    work.transaction.update((now) => (now === null ? null : { ...now, statements: now.statements + 1 }));
  }
}

/** What runs to be measured is rolled back, unless the tab has a transaction of its own. */
async function explainInto(work: TabWork, run: Run, asked: Asked, signal: AbortSignal): Promise<void> {
  const { statement, language, parameters, plan } = asked;
  const isAnalysis = plan === "analyze";
  const head =
    language === "cypher"
      ? isAnalysis
        ? "PROFILE "
        : "EXPLAIN "
      : `EXPLAIN (FORMAT JSON${isAnalysis ? ", ANALYZE" : ""}) `;
  const own = isAnalysis && work.transaction.get() === null ? await beginTransaction() : null;
  try {
    const transaction = own?.id ?? work.transaction.get()?.id;
    const options = { signal, language, ...(transaction !== undefined && { transaction }) };
    for await (const part of client().parts(head + statement.text, parameters, options)) {
      if (part.type === "rows") run.rows.push(...part.rows);
    }
  } finally {
    if (own !== null) await endTransaction(own.id, "rollback").catch(() => undefined);
  }
}

export function stopRun(work: TabWork): void {
  work.stop?.abort(new DOMException("stopped", "AbortError"));
}

interface Begun {
  readonly id: string;
  readonly expires_at: string;
}

function beginTransaction(): Promise<Begun> {
  return client().request<Begun>("POST", "/v1/transactions", { body: {} });
}

function endTransaction(id: string, how: "commit" | "rollback"): Promise<unknown> {
  return client().request("POST", `/v1/transactions/${encodeURIComponent(id)}/${how}`, { body: {} });
}

export async function openTransaction(work: TabWork): Promise<void> {
  const { id, expires_at: expiresAt } = await beginTransaction();
  work.transaction.set({ id, expiresAt, statements: 0 });
}

export async function closeTransaction(work: TabWork, how: "commit" | "rollback"): Promise<void> {
  const open = work.transaction.get();
  if (open === null) return;
  try {
    await endTransaction(open.id, how);
  } finally {
    // Whatever was answered, it is not open any more.
    work.transaction.set(null);
  }
}

/** Keeps the result of the last statement up to date until it is stopped. It is live from the first answer on. */
export async function followRun(work: TabWork): Promise<void> {
  const last = work.run.get();
  if (last === null) return;
  const stop = new AbortController();
  work.stop?.abort();
  work.stop = stop;
  try {
    for await (const { columns, rows, changed } of client().live(last.statement.text, last.parameters, {
      signal: stop.signal,
      language: last.language,
    })) {
      if (work.stop !== stop) return;
      const now = { columns, rows: [...rows], count: rows.length, fresh: new Set(changed), isLive: true };
      work.run.update((run) => run && { ...run, ...now, columns: sameColumns(run.columns, columns) });
    }
  } catch (error) {
    if (isAbort(error)) work.run.update((run) => run && { ...run, isLive: false, fresh: NOTHING_FRESH });
    else work.run.update((run) => run && { ...run, isLive: false, state: "failed", error });
  }
}

/** The same list while nothing is different, so that a table keeps its widths. */
function sameColumns(before: readonly Column[], now: readonly Column[]): readonly Column[] {
  return now.length === 0 || JSON.stringify(before) === JSON.stringify(now) ? before : now;
}

/** The tabs of the query page, kept by this browser, with what they have run and what the user has saved. */
import { session } from "../../lib/session.js";
import { keptStore, type Store } from "../../lib/store.js";
import type { Language } from "./split.js";

export interface QueryTab {
  readonly id: string;
  readonly title: string;
  readonly language: Language;
  readonly text: string;
  /** What was typed as the values of parameters. */
  readonly parameters: Readonly<Record<string, string>>;
}

export interface PastQuery {
  readonly language: Language;
  readonly text: string;
  readonly at: string;
  readonly ms: number;
  readonly rows: number;
  readonly error: string | null;
}

export interface SavedQuery {
  readonly id: string;
  readonly name: string;
  readonly language: Language;
  readonly text: string;
}

interface Tabs {
  readonly all: readonly QueryTab[];
  readonly current: string;
}

const HISTORY_MAX = 200;

interface Kept {
  readonly tabs: Store<Tabs>;
  readonly history: Store<readonly PastQuery[]>;
  readonly saved: Store<readonly SavedQuery[]>;
}

const byUser = new Map<string, Kept>();

/** Each user has their own. */
export function kept(): Kept {
  const current = session.get();
  const owner = current.state === "in" ? `${current.user.tenant}.${current.user.username}` : "";
  let found = byUser.get(owner);
  if (found === undefined) {
    const first = newTab("sql", "", "Query 1");
    found = {
      tabs: keptStore<Tabs>(`tabs.${owner}`, { all: [first], current: first.id }),
      history: keptStore<readonly PastQuery[]>(`history.${owner}`, []),
      saved: keptStore<readonly SavedQuery[]>(`saved.${owner}`, []),
    };
    byUser.set(owner, found);
  }
  return found;
}

function newTab(language: Language, text: string, title: string): QueryTab {
  return { id: newId(), title, language, text, parameters: {} };
}

function newId(): string {
  return `${Date.now().toString(36)}${Math.floor(Math.random() * 1e6).toString(36)}`;
}

export function openTab(language: Language = "sql", text = "", title?: string): void {
  kept().tabs.update(({ all }) => {
    const numbers = all.map((tab) => Number(/^Query (\d+)$/.exec(tab.title)?.[1] ?? 0));
    const tab = newTab(language, text, title ?? `Query ${Math.max(0, ...numbers) + 1}`);
    return { all: [...all, tab], current: tab.id };
  });
}

/** A tab with that text comes to the front; it is made if there is none. */
export function showQuery(language: Language, text: string, title?: string): void {
  const found = kept()
    .tabs.get()
    .all.find((tab) => tab.text === text);
  if (found === undefined) openTab(language, text, title);
  else selectTab(found.id);
}

export function selectTab(id: string): void {
  kept().tabs.update((tabs) => ({ ...tabs, current: id }));
}

export function changeTab(id: string, change: Partial<QueryTab>): void {
  kept().tabs.update(({ all, current }) => ({
    all: all.map((tab) => (tab.id === id ? { ...tab, ...change } : tab)),
    current,
  }));
}

/** The last one is replaced by an empty one. */
export function closeTab(id: string): void {
  kept().tabs.update(({ all, current }) => {
    const at = all.findIndex((tab) => tab.id === id);
    const rest = all.filter((tab) => tab.id !== id);
    const left = rest.length === 0 ? [newTab("sql", "", "Query 1")] : rest;
    return { all: left, current: current === id ? left[Math.min(at, left.length - 1)]!.id : current };
  });
}

export function remember(past: PastQuery): void {
  kept().history.update((all) => {
    const others = all.filter(({ text, language }) => text !== past.text || language !== past.language);
    return [past, ...others].slice(0, HISTORY_MAX);
  });
}

export function save(name: string, language: Language, text: string): void {
  kept().saved.update((all) => [...all.filter((one) => one.name !== name), { id: newId(), name, language, text }]);
}

export function forget(id: string): void {
  kept().saved.update((all) => all.filter((one) => one.id !== id));
}

/** The tabs of pages that are several: for the pages themselves, and for the palette. */
import { isOperator, type User } from "../lib/session.js";

export interface PageTab<T extends string = string> {
  readonly id: T;
  readonly label: string;
  readonly isForOperators?: boolean;
}

export const AI_TABS = [
  { id: "chat", label: "Chat" },
  { id: "ask", label: "Questions as SQL" },
  { id: "claims", label: "Claims" },
  { id: "memory", label: "Memory" },
  { id: "agents", label: "Agents" },
  { id: "models", label: "Models", isForOperators: true },
] as const satisfies readonly PageTab[];

export const OPERATE_TABS = [
  { id: "health", label: "Health" },
  { id: "sessions", label: "Sessions" },
  { id: "users", label: "Users" },
  { id: "keys", label: "API keys" },
  { id: "limits", label: "Limits" },
  { id: "tenants", label: "Tenants", isForOperators: true },
  { id: "backups", label: "Backups" },
  { id: "audit", label: "Audit trail" },
  { id: "cluster", label: "Cluster", isForOperators: true },
  { id: "settings", label: "Settings", isForOperators: true },
  { id: "diagnostics", label: "Diagnostics", isForOperators: true },
] as const satisfies readonly PageTab[];

export function tabsFor<T extends string>(tabs: readonly PageTab<T>[], user: User): readonly PageTab<T>[] {
  return tabs.filter(({ isForOperators }) => isForOperators !== true || isOperator(user));
}

/** The tab that an address names, or the first. Undefined: it is not for that user. */
export function tabNamed<T extends string>(tabs: readonly PageTab<T>[], user: User, id: string | undefined) {
  const allowed = tabsFor(tabs, user);
  const named = tabs.find((tab) => tab.id === id);
  return named === undefined ? allowed[0]!.id : allowed.find((tab) => tab === named)?.id;
}

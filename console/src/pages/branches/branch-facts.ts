/** What the server says about branches and the past, and asks for it. Always about the tenant itself. */
import { type Loaded, useLoad } from "../../lib/load.js";
import { tenantClient } from "../../lib/session.js";

export interface Moment {
  readonly sequence: number;
  readonly at: string;
}

export interface BranchRow {
  readonly name: string;
  /** The branch that it was forked from; null: the tenant. */
  readonly from: string | null;
  /** It began with nothing, as `CREATE DATABASE` makes one. */
  readonly empty: boolean;
  readonly start: Moment;
  /** The last merge of everything. */
  readonly merged: Moment | null;
  readonly created_at: string;
  readonly created_by: string;
  readonly expires_at: string | null;
  /** Of its own. */
  readonly held_bytes: number;
  readonly quota_bytes: number | null;
  /** Who may enter it, beside administrators; null: all. */
  readonly users: readonly string[] | null;
  /** Ids of API keys that may enter it; null: all. */
  readonly keys: readonly string[] | null;
  /** Whose roles and policies say what is seen in it. */
  readonly policies: "tenant" | "branch";
}

export type Change = "added" | "removed" | "changed";
export const CHANGES: readonly Change[] = ["added", "changed", "removed"];

export type Counts = Readonly<Record<Change, number>>;
export type ShownRow = Readonly<Record<string, unknown>> | null;

export interface ChangedRow {
  readonly change: Change;
  readonly before: ShownRow;
  readonly after: ShownRow;
}

export interface Diff {
  /**
   * `in_origin`: so many of them the origin has as the branch has them, as after a merge of some tables. Only where a
   * branch is compared with what it began with.
   */
  readonly tables: readonly ({ readonly table: string; readonly in_origin?: number } & Counts)[];
  readonly rows: readonly ({ readonly table: string; readonly in_origin?: boolean } & ChangedRow)[];
  readonly definitions: readonly string[];
}

export interface Merged extends Counts {
  readonly merged: boolean;
  readonly conflicts: readonly {
    readonly table: string;
    readonly base: ShownRow;
    readonly ours: ShownRow;
    readonly theirs: ShownRow;
  }[];
  readonly conflicts_total: number;
}

export interface History {
  readonly kept: boolean;
  readonly window_seconds: number | null;
  readonly oldest: Moment | null;
  readonly newest: Moment;
}

export interface Undone extends Counts {
  readonly undone: boolean;
  readonly as_of: Moment;
  readonly rows: readonly ChangedRow[];
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export function useTenantGet<T>(path: string, query: Query = {}): Loaded<T> {
  return useLoad((signal) => tenantClient().request<T>("GET", path, { query, signal }), [path, query]);
}

export function pathOfBranch(name: string): string {
  return `/v1/branches/${encodeURIComponent(name)}`;
}

/** What is compared, and how the page calls its two sides. */
export interface Comparison {
  readonly path: string;
  readonly query: Query;
  readonly sides: readonly [before: string, after: string];
}

/** In the console's address: the tenant itself, in place of a branch. */
export const THE_TENANT = "@tenant";

/** `against`: null: what the branch began with. */
export function comparisonOf(name: string, against: string | null): Comparison {
  const path = `${pathOfBranch(name)}/diff`;
  if (against === null) return { path, query: {}, sides: ["Before", "In the branch"] };
  const isTenant = against === THE_TENANT;
  return { path, query: { against: isTenant ? "" : against }, sides: [isTenant ? "The tenant" : against, name] };
}

/** Words between commas, as the API takes them; null: there are none. */
export function listOf(text: string): readonly string[] | null {
  const words = text.split(",").map((word) => word.trim());
  const some = words.filter((word) => word !== "");
  return some.length === 0 ? null : some;
}

/** Digits are the number of a commit; anything else is a time. */
export function momentOf(text: string): string | number {
  return /^\d+$/.test(text.trim()) ? Number(text) : text.trim();
}

/** A query whose rows are kept up to date. */
import { ConnectionError, errorOf } from "./errors.js";
import { eventsOf } from "./lines.js";
import type { CallOptions } from "./options.js";
import type { Column } from "./result.js";
import type { Parameters } from "./statements.js";
import type { Transport } from "./transport.js";

type List = readonly unknown[];

/** All rows, as they are after a change. */
export interface LiveRows {
  readonly columns: readonly Column[];
  readonly rows: readonly List[];
  /** Rows of `rows` that the change has brought; none in the first answer. */
  readonly changed: readonly List[];
}

interface Message {
  readonly columns?: readonly Column[];
  readonly rows?: readonly List[];
  readonly done?: boolean;
  readonly added?: readonly List[];
  readonly removed?: readonly List[];
  readonly changed?: readonly { readonly old: List; readonly new: List }[];
  /** Of an answer in an order: where `removed` and the old rows of `changed` were, and where the new rows are. */
  readonly places?: { readonly before: readonly number[]; readonly after: readonly number[] };
  readonly code?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Ends with ConnectionError when the server ends it; then ask again. */
export async function* liveRows(
  transport: Transport,
  sql: string,
  parameters: Parameters,
  { signal, language }: CallOptions & { readonly language?: "sql" | "cypher" },
): AsyncGenerator<LiveRows, void> {
  const isEmpty = Object.keys(parameters).length === 0;
  const query = { sql, parameters: isEmpty ? undefined : JSON.stringify(parameters), language };
  const response = await transport.open("GET", "/v1/subscribe", { query, signal, accept: "text/event-stream" });
  let columns: readonly Column[] = [];
  const rows = new KeptRows();
  for await (const { type, data } of eventsOf(response)) {
    const message = JSON.parse(data) as Message;
    if (type === "error") {
      const { code = "unknown", details } = message;
      throw errorOf(message.message ?? "", { code, details, status: code === "query_error" ? 400 : 503 });
    }
    if (type === "subscribed") columns = message.columns ?? [];
    else if (type === "result") {
      for (const row of message.rows ?? []) rows.add(row);
      if (message.done === true) yield { columns, rows: rows.list(), changed: [] };
    } else if (type === "changes") yield { columns, changed: rows.change(message), rows: rows.list() };
  }
  throw new ConnectionError("The server ended the subscription.");
}

/** Rows in the order of the answer. */
class KeptRows {
  private rows: List[] = [];
  /** The same by their text; equal rows count each. Of an answer without an order, from the first change on. */
  private byText: Map<string, List[]> | null = null;

  add(row: List): void {
    this.rows.push(row);
  }

  change({ added = [], removed = [], changed = [], places }: Message): readonly List[] {
    const brought = [...changed.map((pair) => pair.new), ...added];
    if (places !== undefined) {
      this.place(brought, places);
      return brought;
    }
    this.byText ??= byText(this.rows);
    const gone = new Set(removed.map((row) => this.forget(row)));
    const replaced = new Map(changed.map((pair) => [this.forget(pair.old), pair.new]));
    for (const row of brought) note(this.byText, row);
    const kept = this.rows.filter((row) => !gone.has(row));
    this.rows = [...kept.map((row) => replaced.get(row) ?? row), ...added];
    return brought;
  }

  list(): readonly List[] {
    return this.rows;
  }

  private place(brought: readonly List[], { before, after }: NonNullable<Message["places"]>): void {
    const gone = new Set(before);
    const placed = new Map(after.map((place, i) => [place, brought[i]!]));
    const kept = this.rows.filter((_, place) => !gone.has(place));
    let next = 0;
    const length = kept.length + brought.length;
    this.rows = Array.from({ length }, (_, place) => placed.get(place) ?? kept[next++]!);
  }

  /** Gives the row that was kept. */
  private forget(row: List): List | undefined {
    const text = JSON.stringify(row);
    const equal = this.byText!.get(text);
    const found = equal?.pop();
    if (equal?.length === 0) this.byText!.delete(text);
    return found;
  }
}

function byText(rows: readonly List[]): Map<string, List[]> {
  const texts = new Map<string, List[]>();
  for (const row of rows) note(texts, row);
  return texts;
}

function note(texts: Map<string, List[]>, row: List): void {
  const text = JSON.stringify(row);
  const equal = texts.get(text);
  if (equal === undefined) texts.set(text, [row]);
  else equal.push(row);
}

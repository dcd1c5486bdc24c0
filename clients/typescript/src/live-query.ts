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

/** Rows in the order in which they came. Equal rows count each. */
class KeptRows {
  private readonly byText = new Map<string, List[]>();
  private readonly order = new Set<List>();

  add(row: List): void {
    const text = JSON.stringify(row);
    const equal = this.byText.get(text);
    if (equal === undefined) this.byText.set(text, [row]);
    else equal.push(row);
    this.order.add(row);
  }

  change({ added = [], removed = [], changed = [] }: Message): readonly List[] {
    for (const row of removed) this.remove(row);
    for (const pair of changed) this.remove(pair.old);
    const brought = [...changed.map((pair) => pair.new), ...added];
    for (const row of brought) this.add(row);
    return brought;
  }

  list(): readonly List[] {
    return [...this.order];
  }

  private remove(row: List): void {
    const equal = this.byText.get(JSON.stringify(row));
    const found = equal?.pop();
    if (found === undefined) return;
    this.order.delete(found);
    if (equal!.length === 0) this.byText.delete(JSON.stringify(row));
  }
}

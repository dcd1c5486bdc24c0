/** What the reader of leak-hunt.test.ts asks. */

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  /** Where the answers tell more than what is the same in both tenants, such as ids: only statuses are compared. */
  readonly byStatus?: true;
}

export type Cases = Readonly<Record<string, readonly Ask[]>>;

export const get = (path: string): Ask => ({ method: "GET", path });
export const post = (path: string, body: unknown): Ask => ({ path, body });
export const sql = (text: string): Ask => post("/v1/query/execute", { sql: text });
export const rpc = (method: string, params: object): Ask => post("/v1/mcp", { jsonrpc: "2.0", id: 1, method, params });
export const tool = (name: string, args: object): Ask => rpc("tools/call", { name, arguments: args });

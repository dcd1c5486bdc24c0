/** What tests of branches and the past ask a server for. */
import type { TestServer } from "./server.js";

export function branchCalls(server: TestServer) {
  /** Rows of a statement, in a branch or in the tenant itself. */
  async function rows(token: string, sql: string, branch?: string, params: unknown[] = []): Promise<unknown[][]> {
    const { status, body } = await server.call("POST", "/v1/query/execute", { sql, params }, as(token, branch));
    if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
    return body.data.rows;
  }

  function as(token: string, branch?: string) {
    return { token, ...(branch !== undefined && { headers: { "X-Tessera-Branch": branch } }) };
  }

  async function fork(token: string, body: object): Promise<{ readonly start: { readonly sequence: number } }> {
    const { status, body: answer } = await server.call("POST", "/v1/branches", body, { token });
    if (status !== 201) throw new Error(JSON.stringify(answer));
    return answer.data;
  }

  async function sequence(token: string): Promise<number> {
    return (await server.call("GET", "/v1/history", undefined, { token })).body.data.newest.sequence;
  }

  return { as, fork, rows, sequence };
}

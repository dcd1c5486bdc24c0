/** A server with a tenant that is forked, and what the bench of branches asks it. */
import { setTimeout as sleep } from "node:timers/promises";
import { cpuSecondsOf } from "../processes.js";
import { adminToken } from "../servers.js";

/** Where a request works: a tenant, or a branch of it. */
export interface Place {
  readonly name: string;
  readonly token: string;
  readonly branch: string | null;
}

export interface Cost {
  readonly wallMs: number;
  /** Of the whole server until the answer. */
  readonly cpuMs: number;
}

/** Without CPU time for so long, in which the clock of /proc ticks many times, the server is idle. */
const IDLE_MS = 200;
const IDLE_WITHIN_MS = 10_000;

export class BranchServer {
  private constructor(
    readonly url: string,
    readonly pid: number,
    readonly folder: string,
    readonly origin: Place & { readonly url: string },
  ) {}

  static async of(url: string, pid: number, folder: string): Promise<BranchServer> {
    return new BranchServer(url, pid, folder, { name: "origin", token: await adminToken(url), branch: null, url });
  }

  place(branch: string): Place {
    return { name: "branch", token: this.origin.token, branch };
  }

  async fork(name: string): Promise<Place> {
    await this.request(this.origin, "POST", "/v1/branches", { name });
    return this.place(name);
  }

  sql(place: Place, sql: string, parameters: readonly unknown[] = []): Promise<unknown> {
    return this.request(place, "POST", "/v1/query/execute", { sql, parameters });
  }

  /** Gives the answer's data; throws what is not 2xx. */
  async request({ token, branch }: Place, method: string, path: string, body?: object): Promise<unknown> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    if (branch !== null) headers["x-tessera-branch"] = branch;
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === "" ? null : (JSON.parse(text) as { data: unknown }).data;
  }

  async timed(work: () => Promise<unknown>): Promise<Cost> {
    const [cpu, start] = [cpuSecondsOf([this.pid]), performance.now()];
    await work();
    return { wallMs: performance.now() - start, cpuMs: 1000 * (cpuSecondsOf([this.pid]) - cpu) };
  }

  /** Waits until the server has nothing to do. */
  async idle(): Promise<void> {
    const end = performance.now() + IDLE_WITHIN_MS;
    let last = cpuSecondsOf([this.pid]);
    while (performance.now() < end) {
      await sleep(IDLE_MS);
      const now = cpuSecondsOf([this.pid]);
      // One tick: timers that come again and again.
      if (now - last <= 0.0101) return;
      last = now;
    }
    throw new Error(`the server was not idle within ${IDLE_WITHIN_MS} ms`);
  }
}

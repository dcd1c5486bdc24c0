/** Runs the programs of clients/ against one server, each as the only user of a tenant of its own. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { TestServer } from "../e2e/server.js";
import { freePort } from "../free-port.js";
import type { Client } from "./clients.js";
import { type Oracle, startPostgres } from "./postgres.js";
import { installFromNpm, type Outcome, runProgram } from "./run-program.js";

const SOURCES = new URL("../../../test/conformance/clients/", import.meta.url).pathname;
/** Beside the compiled programs, so that `make clean` removes it. */
const FOLDER = new URL("../../conformance-clients/", import.meta.url).pathname;
const PASSWORD = "correct-horse-battery";
const INSTALL_MS = 600_000;

export class ClientRuns {
  private constructor(
    private readonly server: TestServer,
    private readonly port: number,
    private readonly oracle: Oracle | null,
  ) {}

  static async start(clients: readonly Client[]): Promise<ClientRuns> {
    cpSync(SOURCES, FOLDER, { recursive: true });
    if (clients.some(usesNpm)) installFromNpm(FOLDER);
    const port = await freePort();
    const server = await TestServer.start({ TESSERA_POSTGRES_PORT: String(port) });
    const oracle = clients.some((client) => client.oracle === true) ? await startPostgres() : null;
    return new ClientRuns(server, port, oracle);
  }

  async stop(): Promise<void> {
    await this.oracle?.stop();
    await this.server.stop();
  }

  async run(client: Client): Promise<readonly Outcome[]> {
    const lacking = lackingOf(client);
    if (lacking !== null) return [{ what: "everything", result: "skipped", message: lacking }];
    if (client.oracle === true && this.oracle === null) {
      const message = "needs a PostgreSQL server: apt-get install postgresql";
      return [{ what: "everything", result: "skipped", message }];
    }
    // The program before this one held the thread: connections that the server has closed meanwhile are noticed now.
    await setTimeout(50);
    const tenant = client.name.replaceAll("_", "-");
    await this.server.expect(201, "POST", "/admin/tenants", { id: tenant });
    const user = { username: `${tenant}-user`, password: PASSWORD, roles: ["admin"] };
    await this.server.expect(201, "POST", `/admin/tenants/${tenant}/users`, user);
    const { PATH = "", HOME = FOLDER } = process.env;
    const environment = {
      PATH,
      HOME,
      LC_ALL: "C.UTF-8",
      PGHOST: "127.0.0.1",
      PGPORT: String(this.port),
      PGUSER: user.username,
      PGPASSWORD: PASSWORD,
      PGDATABASE: tenant,
      DATABASE_URL: `postgres://${user.username}:${PASSWORD}@127.0.0.1:${this.port}/${tenant}`,
      FREE_PORT: String(await freePort()),
      ...(client.oracle === true && { ORACLE_HOST: this.oracle!.directory }),
    };
    return runProgram(FOLDER, client, environment);
  }
}

function usesNpm({ command }: Client): boolean {
  return command[0] === process.execPath;
}

/** Installs what the client needs where that is possible; gives what is missing after that, or null. */
function lackingOf({ needs = [], debian = [] }: Client): string | null {
  const missing = () => needs.filter((need) => !isThere(need));
  if (missing().length === 0) return null;
  const remedy = `apt-get install ${debian.join(" ")}`;
  if (process.getuid?.() !== 0 || !isThere("apt-get")) return `needs ${missing().join(", ")}: ${remedy}`;
  const options = {
    encoding: "utf8",
    timeout: INSTALL_MS,
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  } as const;
  spawnSync("apt-get", ["update", "-q"], options);
  const { stderr } = spawnSync("apt-get", ["install", "-qy", "--no-install-recommends", ...debian], options);
  if (missing().length === 0) return null;
  return `${remedy} did not bring ${missing().join(", ")}: ${(stderr ?? "").trim().split("\n").at(-1)}`;
}

/** A path, or a program of PATH. */
function isThere(need: string): boolean {
  if (need.startsWith("/")) return existsSync(need);
  return (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, need)));
}

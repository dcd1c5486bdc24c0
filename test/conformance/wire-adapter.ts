/**
 * Lets a sqllogictest runner drive a real server by its port for PostgreSQL's protocol, with the driver `pg` and
 * results as text: `open` gives a session of a new tenant, which is an empty database. A text goes as it is, so that
 * the server cuts it.
 */
import pg from "pg";
import { pgOidOf } from "../../src/query/expr/types.js";
import { typeOf } from "../../src/values/values.js";
import { passwordOf, TestServer } from "../e2e/server.js";
import { postgresPort, WITH_POSTGRES } from "../e2e/wire-client.js";
import type { SuiteDatabase } from "./sql-suites.js";

const STATEMENT_MS_MAX = 60_000;
const BOOL = pgOidOf(typeOf("bool"));
const AS_TEXT = { getTypeParser: () => (text: string) => text };

export class WireDoor {
  private opened = 0;

  private constructor(private readonly server: TestServer) {}

  static async start(): Promise<WireDoor> {
    return new WireDoor(await TestServer.start({ ...WITH_POSTGRES, TESSERA_ACTORS: "1" }));
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** A session of a new tenant's administrator. */
  async connect(): Promise<pg.Client> {
    const { server } = this;
    const tenant = `suite-${++this.opened}`;
    await server.tenant(tenant, ["admin"]);
    const client = new pg.Client({
      host: "127.0.0.1",
      port: postgresPort(server),
      user: `${tenant}-user`,
      password: passwordOf(tenant),
      database: tenant,
      types: AS_TEXT,
    });
    await client.connect();
    return client;
  }

  async open(): Promise<SuiteDatabase> {
    const client = await this.connect();
    let lost: Error | null = null;
    client.on("error", (error) => {
      lost = error;
    });
    await client.query(`SET statement_timeout = ${STATEMENT_MS_MAX}`);
    return {
      async exec(sql, params = []) {
        const values = params.length > 0 ? { values: [...params] } : {};
        const answers = await client.query({ text: sql, rowMode: "array", ...values });
        const { fields, rows } = Array.isArray(answers) ? (answers as pg.QueryArrayResult[]).at(-1)! : answers;
        const oids = fields.map(({ dataTypeID }) => dataTypeID);
        return {
          columns: fields.map(({ name }) => name),
          oids,
          rows: (rows as (string | null)[][]).map((row) => row.map((text, c) => withWord(text, oids[c]!))),
        };
      },
      async close() {
        if (lost !== null) throw new Error(`the connection was lost: ${(lost as Error).message}`);
        await client.end();
      },
    };
  }
}

/** The suites write booleans as words. */
function withWord(text: string | null, oid: number): string | null {
  if (oid !== BOOL || text === null) return text;
  return text === "t" ? "true" : "false";
}

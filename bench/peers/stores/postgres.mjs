/**
 * PostgreSQL over its unix socket (PGHOST): a pool of 16 connections, every statement prepared by name, a batch's
 * statements sent without waiting for each other. fsync and synchronous_commit are on; concurrent commits share fsyncs.
 */
import pg from "pg";
import { SCHEMA, STATEMENTS } from "./postgres-statements.mjs";

const CONNECTIONS = 16;

export async function open() {
  const pool = new pg.Pool({ max: CONNECTIONS, user: "bench", database: "postgres", pipeline: true });
  await pool.query(SCHEMA);
  const prepared = (name, values) => ({ name, text: STATEMENTS[name], values });
  const first = async (query) => (await pool.query(query)).rows[0] ?? null;
  const affected = async (query) => ({ rows_affected: (await pool.query(query)).rowCount });
  return {
    durability: "fsync=on, synchronous_commit=on: on disk before the answer, commits grouped",
    versions: async (versionOf) => ({
      pg: versionOf("pg"),
      PostgreSQL: (await pool.query("SHOW server_version")).rows[0].server_version,
    }),
    prepare: async ({ accounts, tenants, rowsPerTenant }) => {
      await pool.query(STATEMENTS.fillAccounts, [accounts]);
      if (tenants > 0) await pool.query(STATEMENTS.fillTenants, [tenants, rowsPerTenant]);
      await pool.query("VACUUM ANALYZE");
    },
    read: (id) => first(prepared("read", [id])),
    readOf: (tenant, id) => first(prepared("readOf", [tenant, id])),
    insert: (id, name, balance) => affected(prepared("insert", [id, name, balance])),
    insertAll: async (rows) => {
      const client = await pool.connect();
      try {
        const sent = [client.query("BEGIN")];
        for (const { id, name, balance } of rows) sent.push(client.query(prepared("insert", [id, name, balance])));
        sent.push(client.query("COMMIT"));
        await Promise.all(sent);
        client.release();
      } catch (error) {
        client.release(error);
        throw error;
      }
      return { rows_affected: rows.length };
    },
    addOf: (tenant, id) => affected(prepared("addOf", [tenant, id])),
    range: async (from, to) => (await pool.query({ ...prepared("range", [from, to]), rowMode: "array" })).rows,
  };
}

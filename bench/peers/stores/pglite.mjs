/**
 * PGlite on files. It runs one statement at a time, and it cannot make a commit durable: it starts PostgreSQL with -F
 * (fsync off), and the file system below it has no fsync. It has no prepared statements that outlive a query.
 */
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { SCHEMA, STATEMENTS } from "./postgres-statements.mjs";

export async function open(directory) {
  const database = await PGlite.create(join(directory, "pglite"));
  await database.exec(SCHEMA);
  const first = async (text, values) => (await database.query(text, values)).rows[0] ?? null;
  const affected = async (text, values) => ({ rows_affected: (await database.query(text, values)).affectedRows });
  return {
    durability: "none: PGlite runs with fsync off and has no way to turn it on",
    versions: async (versionOf) => ({
      PGlite: versionOf("@electric-sql/pglite"),
      "its PostgreSQL": (await database.query("SHOW server_version")).rows[0].server_version,
    }),
    prepare: async ({ accounts, tenants, rowsPerTenant }) => {
      await database.query(STATEMENTS.fillAccounts, [accounts]);
      if (tenants > 0) await database.query(STATEMENTS.fillTenants, [tenants, rowsPerTenant]);
      await database.exec("ANALYZE");
    },
    read: (id) => first(STATEMENTS.read, [id]),
    readOf: (tenant, id) => first(STATEMENTS.readOf, [tenant, id]),
    insert: (id, name, balance) => affected(STATEMENTS.insert, [id, name, balance]),
    insertAll: async (rows) => {
      await database.transaction(async (transaction) => {
        for (const { id, name, balance } of rows) await transaction.query(STATEMENTS.insert, [id, name, balance]);
      });
      return { rows_affected: rows.length };
    },
    addOf: (tenant, id) => affected(STATEMENTS.addOf, [tenant, id]),
    range: async (from, to) => (await database.query(STATEMENTS.range, [from, to], { rowMode: "array" })).rows,
  };
}

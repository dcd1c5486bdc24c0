/**
 * better-sqlite3: WAL, synchronous=FULL (each commit is fsynced before the answer), statements prepared once. Every
 * call is synchronous, which is this library's point. The other stores answer the same functions:
 *
 *   prepare({accounts, tenants, rowsPerTenant})   tables and rows, before the measurements
 *   read(id), readOf(tenant, id)                  one row or null
 *   insert(id, name, balance), insertAll(rows)    {rows_affected}; insertAll is one transaction of a statement per row
 *   addOf(tenant, id)                             adds 1 to the balance
 *   range(from, to)                               rows as arrays, ascending
 */
import { join } from "node:path";
import Database from "better-sqlite3";
import { addImportRoutes } from "./sqlite-import.mjs";

export function open(directory) {
  const database = new Database(join(directory, "peer.sqlite"));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(`
    CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, balance INTEGER NOT NULL);
    CREATE TABLE entries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, balance INTEGER NOT NULL);
    CREATE TABLE tenant_accounts (tenant INTEGER, id INTEGER, name TEXT NOT NULL, balance INTEGER NOT NULL,
      PRIMARY KEY (tenant, id)) WITHOUT ROWID`);
  const read = database.prepare("SELECT id, name, balance FROM accounts WHERE id = ?");
  const insert = database.prepare("INSERT INTO entries (id, name, balance) VALUES (?, ?, ?)");
  const range = database
    .prepare("SELECT id, name, balance FROM accounts WHERE id BETWEEN ? AND ? ORDER BY id")
    .raw(true);
  const readOf = database.prepare("SELECT id, name, balance FROM tenant_accounts WHERE tenant = ? AND id = ?");
  const addOf = database.prepare("UPDATE tenant_accounts SET balance = balance + 1 WHERE tenant = ? AND id = ?");
  const insertAll = database.transaction((rows) => {
    for (const { id, name, balance } of rows) insert.run(id, name, balance);
  });
  return {
    durability: "WAL with synchronous=FULL: an fsync per commit",
    versions: (versionOf) => ({
      "better-sqlite3": versionOf("better-sqlite3"),
      SQLite: database.prepare("SELECT sqlite_version()").pluck().get(),
    }),
    prepare: database.transaction(({ accounts, tenants, rowsPerTenant }) => {
      const account = database.prepare("INSERT INTO accounts VALUES (?, ?, ?)");
      for (let id = 1; id <= accounts; id++) account.run(id, `name of ${id}`, id % 1000);
      const tenantAccount = database.prepare("INSERT INTO tenant_accounts VALUES (?, ?, ?, ?)");
      for (let tenant = 0; tenant < tenants; tenant++) {
        for (let id = 1; id <= rowsPerTenant; id++) tenantAccount.run(tenant, id, `name of ${id}`, id % 1000);
      }
    }),
    read: (id) => read.get(id) ?? null,
    readOf: (tenant, id) => readOf.get(tenant, id) ?? null,
    insert: (id, name, balance) => ({ rows_affected: insert.run(id, name, balance).changes }),
    insertAll: (rows) => {
      insertAll(rows);
      return { rows_affected: rows.length };
    },
    addOf: (tenant, id) => ({ rows_affected: addOf.run(tenant, id).changes }),
    // Not iterate(): while rows are being fetched, the connection refuses all other work.
    range: (from, to) => range.all(from, to),
    addRoutes: (app, envelope) => addImportRoutes(app, envelope, database),
  };
}

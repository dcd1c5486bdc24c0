/** The statements of PostgreSQL and of PGlite, which is the same system. */

export const SCHEMA = `
  CREATE TABLE accounts (id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL);
  CREATE TABLE entries (id integer PRIMARY KEY, name text NOT NULL, balance integer NOT NULL);
  CREATE TABLE tenant_accounts (tenant integer, id integer, name text NOT NULL, balance integer NOT NULL,
    PRIMARY KEY (tenant, id))`;

export const STATEMENTS = {
  read: "SELECT id, name, balance FROM accounts WHERE id = $1",
  readOf: "SELECT id, name, balance FROM tenant_accounts WHERE tenant = $1 AND id = $2",
  insert: "INSERT INTO entries (id, name, balance) VALUES ($1, $2, $3)",
  addOf: "UPDATE tenant_accounts SET balance = balance + 1 WHERE tenant = $1 AND id = $2",
  range: "SELECT id, name, balance FROM accounts WHERE id BETWEEN $1 AND $2 ORDER BY id",
  fillAccounts: "INSERT INTO accounts SELECT i, 'name of ' || i, i % 1000 FROM generate_series(1, $1::integer) i",
  fillTenants: `INSERT INTO tenant_accounts SELECT t, i, 'name of ' || i, i % 1000
    FROM generate_series(0, $1::integer - 1) t, generate_series(1, $2::integer) i`,
};

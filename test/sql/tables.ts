/** Definitions that the tests bind against, made by CREATE TABLE itself. */
import { Catalog } from "../../src/catalog/catalog.js";
import type { CatalogView } from "../../src/catalog/catalog-view.js";
import { applyDdl } from "../../src/catalog/ddl.js";
import { bindStatement } from "../../src/sql/bind/bind-statement.js";
import type { BoundStatement } from "../../src/sql/bind/bound-statement.js";
import { parseSql } from "../../src/sql/parse/parse.js";
import type { Transaction } from "../../src/storage/store.js";
import type { SqlType } from "../../src/values/values.js";

export const SCHEMA = `
  create table users (id int primary key, name varchar(20) not null, email text unique, age smallint, score numeric(6,2) default 0);
  create table orders (id bigserial primary key, user_id int not null, total numeric(10,2) check (total >= 0), at timestamptz default now(), tags text[]);
  create table notes (body text, doc jsonb, vec vector(3));
  create index orders_user on orders (user_id, at desc);
  create table pairs (a int, b int, c text default 'x', primary key (a, b), unique (c, b));
  create table ids (id int generated always as identity, label text);
  create table "Mixed Case" ("Id" int primary key, "order" text);
`;

export function bindAll(
  sql: string,
  catalog: CatalogView,
  parameterTypes: readonly (SqlType | null)[] = [],
): BoundStatement[] {
  return parseSql(sql).map((statement) =>
    bindStatement(statement, { catalog, parameterTypes, searchPath: ["public"] }),
  );
}

/** Runs definition statements. */
export function define(catalog: Catalog, tx: Transaction, sql: string, nowMicros = 1_000_000): void {
  for (const statement of parseSql(sql)) {
    const bound = bindStatement(statement, { catalog: catalog.view(tx), parameterTypes: [], searchPath: ["public"] });
    if (bound.kind === "ddl") applyDdl(catalog, tx, bound.command, nowMicros);
  }
}

export function catalogOf(tx: Transaction, sql = SCHEMA): CatalogView {
  const catalog = new Catalog(1);
  define(catalog, tx, sql);
  return catalog.view(tx);
}

/** Graphs as two tables that SQL may read and only Cypher changes. */
import t from "tap";
import { Catalog } from "../../src/catalog/catalog.js";
import { applyDdl } from "../../src/catalog/ddl.js";
import type { DdlCommand } from "../../src/catalog/ddl-command.js";
import { graphOf, graphsOf } from "../../src/catalog/graph.js";
import type { DbError } from "../../src/protocol/errors.js";
import { bindStatement } from "../../src/sql/bind/bind-statement.js";
import { loadParser, parseSql } from "../../src/sql/parse/parse.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShard } from "../storage/shards.js";

await loadParser();

function apply(shard: Shard, catalog: Catalog, command: DdlCommand) {
  const tx = shard.begin();
  try {
    const done = applyDdl(catalog, tx, command, 5);
    catalog.settle(tx, tx.commit());
    return done;
  } catch (error) {
    tx.rollback();
    catalog.settle(tx, null);
    throw error;
  }
}

t.test("a graph is made, found again and dropped", async (t) => {
  const shard = await openShard(t);
  apply(shard, new Catalog(1), { kind: "create graph", graph: "social", ifNotExists: false });
  const catalog = new Catalog(1);
  const again = () => apply(shard, catalog, { kind: "create graph", graph: "social", ifNotExists: false });
  t.throws(again, { message: 'graph "social" already exists' });
  const tx = shard.begin({ readOnly: true });
  const view = catalog.view(tx);
  const graph = graphOf(view, "social")!;
  t.equal(graphOf(view, "social"), graph, "the same object while the definitions are the same");
  t.same(graphsOf(view), [graph]);
  t.equal(graphOf(view, "default"), null);
  t.same(
    [graph.nodes, graph.edges].map(({ columns }) => columns.map(({ id, name, type }) => `${id} ${name} ${type.name}`)),
    [
      ["1 id int8", "2 labels text", "3 properties variant"],
      ["1 id int8", "2 type text", "3 src int8", "4 dst int8", "5 properties variant"],
    ],
  );
  t.equal(view.sequencesOf(graph.nodes).length, 1);
  tx.rollback();
  const dropped = apply(shard, catalog, { kind: "drop graph", graph: "social", ifExists: false });
  t.equal(dropped.cleared.length, 2);
  const after = shard.begin({ readOnly: true });
  t.equal(graphOf(catalog.view(after), "social"), null);
  t.notOk(catalog.view(after).hasSchema("graph:social"));
  after.rollback();
});

t.test("indexes and constraints are found by name and by what they are of", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  apply(shard, catalog, { kind: "create graph", graph: "g", ifNotExists: false });
  const subject = { graph: "g", name: null, of: "nodes", label: "Person", properties: ["name"] } as const;
  const index = { ...subject, kind: "create graph index", method: "range", ifNotExists: false } as const;
  t.equal(apply(shard, catalog, index).backfills[0]!.index.name, "Person_name_idx");
  t.throws(() => apply(shard, catalog, index), { message: /equivalent index already exists/ });
  t.match(apply(shard, catalog, { ...index, ifNotExists: true }).notices[0], "skipping");
  apply(shard, catalog, {
    ...subject,
    kind: "create graph constraint",
    name: "must",
    requires: "not-null",
    ifNotExists: false,
  });
  t.throws(() => apply(shard, catalog, { ...index, name: "must", label: "X" }), {
    message: /^There already exists an index or a constraint called "must"$/,
  });
  const drop = { kind: "drop graph index", graph: "g", label: null, properties: [], ifExists: false } as const;
  apply(shard, catalog, { ...drop, what: "constraint", name: "must" });
  apply(shard, catalog, { ...drop, what: "index", name: null, label: "Person", properties: ["name"] });
  t.throws(() => apply(shard, catalog, { ...drop, what: "index", name: "Person_name_idx" }), {
    message: 'index "Person_name_idx" does not exist',
  });
});

t.test("SQL changes neither the rows nor the definition of a graph's tables", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  apply(shard, catalog, { kind: "create graph", graph: "g", ifNotExists: false });
  for (const sql of [
    `DELETE FROM "graph:g".nodes`,
    `UPDATE "graph:g".edges SET src = 1`,
    `INSERT INTO "graph:g".edges (id) VALUES (1)`,
    `MERGE INTO "graph:g".nodes n USING (SELECT 1 AS id) s ON n.id = s.id WHEN MATCHED THEN DELETE`,
    `DROP TABLE "graph:g".nodes`,
    `TRUNCATE "graph:g".nodes`,
    `ALTER TABLE "graph:g".nodes ADD COLUMN x int`,
    `ALTER TABLE "graph:g".nodes RENAME TO other`,
    `CREATE INDEX ON "graph:g".nodes (labels)`,
    `DROP INDEX "graph:g".nodes_labels`,
    `DROP SCHEMA "graph:g" CASCADE`,
    `CREATE SCHEMA "graph:h"`,
    `CREATE TABLE "graph:g".mine (id int)`,
    `CREATE TABLE mine () INHERITS ("graph:g".nodes)`,
    `ALTER SEQUENCE "graph:g".nodes_id RESTART`,
    `DROP SEQUENCE "graph:g".nodes_id`,
  ]) {
    const tx = shard.begin();
    const run = () => {
      const env = { catalog: catalog.view(tx), parameterTypes: [], searchPath: ["public"] };
      const bound = bindStatement({ node: parseSql(sql)[0]!.node }, env);
      if (bound.kind === "ddl") applyDdl(catalog, tx, bound.command, 5);
      if (bound.kind === "ddl steps") {
        for (const step of bound.steps) applyDdl(catalog, tx, step(env)!.command, 5);
      }
    };
    try {
      run();
      t.fail(sql);
    } catch (error) {
      t.equal((error as DbError).details?.sqlstate, "42809", `${sql}: ${(error as Error).message}`);
      t.match((error as Error).message, "only Cypher");
    } finally {
      tx.rollback();
      catalog.settle(tx, null);
    }
  }
  const tx = shard.begin({ readOnly: true });
  const env = { catalog: catalog.view(tx), parameterTypes: [], searchPath: ["public"] };
  const bound = bindStatement({ node: parseSql(`SELECT id, labels FROM "graph:g".nodes`)[0]!.node }, env);
  t.equal(bound.kind, "query", "it reads them");
  tx.rollback();
});

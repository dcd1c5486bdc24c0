/** Plans and columns that statements of Cypher are bound to, before any rule: test/golden/cypher/bind.txt. */
import t from "tap";
import { Catalog } from "../../src/catalog/catalog.js";
import { applyDdl } from "../../src/catalog/ddl.js";
import { graphOf } from "../../src/catalog/graph.js";
import { bindCypher } from "../../src/cypher/bind/bind-cypher.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { DbError } from "../../src/protocol/errors.js";
import { explainText } from "../../src/query/plan/explain.js";
import { runGolden } from "../sql/golden.js";
import { openShard } from "../storage/shards.js";

t.test("plans", async (t) => {
  const shard = await openShard(t);
  const catalog = new Catalog(1);
  const tx = shard.begin();
  applyDdl(catalog, tx, { kind: "create graph", graph: "g", ifNotExists: false }, 5);
  catalog.settle(tx, tx.commit());
  const graph = graphOf(catalog.view(shard.begin({ readOnly: true })), "g")!;
  runGolden(t, "../cypher/bind.txt", (text) => {
    try {
      const bound = bindCypher(parseCypher(text), text, { graph });
      if (bound.kind !== "query") return bound.kind;
      const { plan, columns, parameterNames, readOnly, returnsRows } = bound;
      const facts = [readOnly ? "reads" : "writes", ...(returnsRows ? [] : ["no rows"])].join(", ");
      const names = parameterNames.map((name, i) => ` $${i + 1} = ${name}`).join("");
      return [`${facts}: ${columns.map(({ name }) => name).join(" | ")}${names}`, ...explainText(plan)].join("\n");
    } catch (error) {
      if (error instanceof DbError) return `${error.code} ${error.details?.detail}: ${error.message}`;
      throw error;
    }
  });
});

/** Plans of statements of Cypher after all rules: test/golden/cypher/plans.txt. People have an index on their id. */
import t from "tap";
import { explainText } from "../../src/query/plan/explain.js";
import { GraphDatabase } from "../query/graphs.js";
import { runGolden } from "../sql/golden.js";

t.test("plans", async (t) => {
  const db = await GraphDatabase.open(t);
  db.define({
    kind: "create graph index",
    graph: "default",
    name: "person_id",
    method: "range",
    ifNotExists: false,
    of: "nodes",
    label: "Person",
    properties: ["id"],
  });
  runGolden(t, "../cypher/plans.txt", (text) => db.read((tx) => explainText(db.planned(tx, text).plan).join("\n")));
});

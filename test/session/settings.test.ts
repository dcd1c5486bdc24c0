/** Settings that clients ask for and set, and what is said of those that there are not. */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";
import { script } from "./sql-script.js";

t.test("facts, and settings that mean nothing here", (t) =>
  checkStatements(t, [
    ["show lc_collate", ["C"]],
    ["show in_hot_standby", ["off"]],
    ["set fsync = off", '55P02 parameter "fsync" cannot be changed'],
    ["set deadlock_timeout = '2s'"],
    ["show deadlock_timeout", ["2s"]],
    ["set xmloption = document", '22023 invalid value for parameter "xmloption": "document"'],
  ]),
);

t.test("a near name is told for one that there is not", async (t) => {
  const db = await script(t);
  await t.rejects(db.run("set enable_seqscam = off"), { code: "42704", hint: "Did you mean enable_seqscan?" });
  await t.rejects(db.run("set xyzzy = off"), { code: "42704", hint: "SHOW ALL lists the settings." });
});

/** Statements like one that had to be stopped are refused, whether they are run or planned for a cursor. */
import t from "tap";
import { StoppedStatements } from "../../src/actor/stopped-statements.js";
import { shapeOf } from "../../src/protocol/statement-shape.js";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { open } from "../conformance/sql-adapter.js";

const db = await open();
t.teardown(() => db.close());

const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

t.test("a stopped statement is neither run nor planned", async (t) => {
  const session = new Session(db.tenant, {
    isolation: "serializable",
    readOnly: false,
    user: "tester",
    tenantName: "tester",
    control: "statements",
  });
  const stopped = new StoppedStatements();
  Object.defineProperty(db.tenant.partition, "stopped", { value: stopped });
  const run = (x: number) =>
    ({
      sql: `UNWIND [${x}] AS x RETURN x`,
      language: "cypher",
      params: {},
      maxRows: 10,
      collector: plainRows,
      request,
    }) as const;
  // The first statement makes the default graph.
  await session.execute(run(1), (tx) => db.tenant.commit(tx));
  session.begin({ readOnly: true });
  t.equal(session.protocol.planText(run(1)).bound.kind, "query");
  const shape = shapeOf(run(1).sql, "cypher");
  const untilMs = Date.now() + 600_000;
  stopped.set([{ tenant: db.tenant.number, untilMs, what: { shape, language: "cypher" } }]);
  t.throws(() => session.protocol.planText(run(2)), { code: "statement_stopped" });
  t.throws(() => session.execute(run(3), () => undefined), { code: "statement_stopped" });
  t.equal(session.protocol.planText({ ...run(1), sql: "RETURN 1 AS x" }).bound.kind, "query", "another statement");
  const sql = { shape: shapeOf("SELECT repeat('a', 1)", "sql"), language: "sql" } as const;
  stopped.set([{ tenant: db.tenant.number, untilMs, what: sql }]);
  t.throws(() => session.protocol.planAhead({ sql: "SELECT repeat('b', 2)" }, []), { code: "statement_stopped" });
  t.equal(session.protocol.planAhead({ sql: "SELECT 1" }, []).bound.kind, "query");
  session.rollback();
});

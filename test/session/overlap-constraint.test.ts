/** EXCLUDE (room WITH =, during WITH &&) against a model, and between transactions that run side by side. */
import fc from "fast-check";
import t from "tap";
import { Session } from "../../src/session/session.js";
import { open } from "../conformance/sql-adapter.js";
import { sized } from "../lengths.js";

const TABLE =
  "create table booking (id int primary key, room int, during int4range, exclude using gist (room with =, during with &&))";

interface Booking {
  readonly room: number;
  readonly from: number;
  readonly to: number;
}

const booking = fc
  .tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 6 }))
  .map(([room, from, length]): Booking => ({ room, from, to: from + length }));
const change = fc.oneof(
  { weight: 3, arbitrary: fc.array(booking, { minLength: 1, maxLength: 3 }).map((insert) => ({ insert })) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.integer({ min: -3, max: 3 }), fc.nat(3)).map(([shift, every]) => ({ shift, every })),
  },
  fc.nat(3).map((remove) => ({ remove })),
);
type Change = { insert: Booking[] } | { shift: number; every: number } | { remove: number };

const overlap = (a: Booking, b: Booking): boolean =>
  a.room === b.room && Math.max(a.from, b.from) < Math.min(a.to, b.to);

function hasOverlap(rows: readonly Booking[]): boolean {
  return rows.some((a, i) => rows.slice(i + 1).some((b) => overlap(a, b)));
}

const literal = (id: number, { room, from, to }: Booking) => `(${id}, ${room}, int4range(${from}, ${to}))`;

t.test("statements fail just when rows would overlap", async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes: readonly Change[]) => {
      const database = await open();
      await database.exec(TABLE);
      let rows = new Map<number, Booking>();
      let nextId = 1;
      for (const each of changes) {
        const after = new Map(rows);
        let sql: string;
        if ("insert" in each) {
          const values = each.insert.map((row) => {
            after.set(nextId, row);
            return literal(nextId++, row);
          });
          sql = `insert into booking values ${values.join()}`;
        } else if ("shift" in each) {
          for (const [id, { room, from, to }] of rows) {
            const isMoved = id % 4 <= each.every && from < to;
            if (isMoved) after.set(id, { room, from: from + each.shift, to: to + each.shift });
          }
          sql = `update booking set during = int4range(lower(during) + (${each.shift}), upper(during) + (${each.shift})) where id % 4 <= ${each.every} and not isempty(during)`;
        } else {
          for (const id of rows.keys()) if (id % 4 === each.remove) after.delete(id);
          sql = `delete from booking where id % 4 = ${each.remove}`;
        }
        const outcome = await database.exec(sql).then(
          () => "done",
          (error: { code: string }) => error.code,
        );
        const expected = hasOverlap([...after.values()]) ? "23P01" : "done";
        if (outcome !== expected) throw new Error(`${sql}: ${outcome} instead of ${expected}`);
        if (expected === "done") rows = after;
      }
      const { rows: stored } = await database.exec("select id from booking order by id");
      await database.close();
      return stored.length === rows.size;
    }),
    { numRuns: sized(30, 100) },
  );
  t.pass();
});

type Database = Awaited<ReturnType<typeof open>>;

/** Another session of the database's tenant; answers with the SQLSTATE or code of a statement's error. */
function otherSession({ tenant }: Database, isolation: "read committed" | "serializable") {
  const session = new Session(tenant, {
    isolation,
    readOnly: false,
    user: "other",
    tenantName: "tester",
    control: "statements",
  });
  return async (sql: string): Promise<string> => {
    const collector = () => ({ append: () => 0 });
    const request = { checkpoint: () => {}, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
    try {
      await session.execute({ sql, params: [], maxRows: 10, collector: collector as never, request }, (tx) =>
        tenant.commit(tx),
      );
      return "done";
    } catch (error) {
      const { code, details } = error as { code: string; details?: { sqlstate?: string } };
      return details?.sqlstate ?? code;
    }
  };
}

for (const isolation of ["read committed", "serializable"] as const) {
  t.test(`two transactions (${isolation}) never commit rows that overlap`, async (t) => {
    let both = 0;
    let refused = 0;
    const property = fc.asyncProperty(
      fc.array(booking, { maxLength: 4 }),
      booking,
      booking,
      fc.boolean(),
      async (before, left, right, isTurned) => {
        const database = await open();
        await database.exec(TABLE);
        const kept: Booking[] = [];
        for (const row of before) if (!hasOverlap([...kept, row])) kept.push(row);
        for (const [i, row] of kept.entries()) await database.exec(`insert into booking values ${literal(i, row)}`);
        const sessions = [otherSession(database, isolation), otherSession(database, isolation)];
        const outcomes: string[] = ["", ""];
        for (const [i, run] of sessions.entries()) {
          await run("begin");
          outcomes[i] = await run(`insert into booking values ${literal(100 + i, i === 0 ? left : right)}`);
        }
        for (const i of isTurned ? [1, 0] : [0, 1]) {
          const ended = await sessions[i]!(outcomes[i] === "done" ? "commit" : "rollback");
          if (outcomes[i] === "done") outcomes[i] = ended;
        }
        const { rows } = await database.exec(
          "select room, lower(during), upper(during) from booking where not isempty(during)",
        );
        await database.close();
        const stored = rows.map(([room, from, to]) => ({ room: Number(room), from: Number(from), to: Number(to) }));
        const isFree = (row: Booking) => !hasOverlap([...kept, row]);
        if (isFree(left) && isFree(right)) {
          if (overlap(left, right)) refused++;
          else if (outcomes.every((outcome) => outcome === "done")) both++;
        }
        return !hasOverlap(stored);
      },
    );
    const first: Booking = { room: 1, from: 1, to: 5 };
    const examples: [Booking[], Booking, Booking, boolean][] = [
      [[], first, { ...first, from: 4, to: 8 }, true],
      [[], first, { ...first, from: 5, to: 8 }, false],
    ];
    await fc.assert(property, { numRuns: sized(60, 200), examples });
    t.ok(both > 0, `${both} times both were committed`);
    t.ok(refused > 0, `${refused} times they overlapped each other`);
  });
}

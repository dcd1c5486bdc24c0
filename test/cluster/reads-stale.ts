/** What a node answers from its copy of a table `item` (id, note) that another node owns. */
import type { Test } from "tap";
import type { Answer, ClusterProcesses, NodeProcess } from "../torture/cluster/cluster-processes.js";

const LARGE = 10_000;

export async function readsStale(t: Test, cluster: ClusterProcesses, owner: NodeProcess, other: NodeProcess) {
  const read = (node: NodeProcess, sql: string, staleMs: number): Promise<Answer> =>
    cluster.execute(node, sql, [], 15_000, { staleMs });
  const write = async (sql: string): Promise<void> => {
    const { status, code } = await cluster.execute(owner, sql, []);
    if (status !== 200) throw new Error(`${sql}: ${status} ${code}`);
  };
  const isOfCopy = ({ staleMs }: Answer): boolean => Number(staleMs) > 0;

  const first = await read(other, "SELECT count(*) FROM item", 0);
  t.ok(isOfCopy(first), "it is the copy's");
  const before = first.data.rows[0]![0] as number;
  t.equal((await read(owner, "SELECT 1", 0)).staleMs, "0", "an owner's is of now");
  t.equal((await cluster.execute(other, "SELECT 1", [])).staleMs, null, "nobody asked");

  for (let i = 1; i <= 5; i++) {
    await write(`INSERT INTO item VALUES (${-i}, 'added')`);
    const { data, staleMs } = await read(other, "SELECT count(*) FROM item", 0);
    t.same([data.rows, Number(staleMs) > 0], [[[before + i]], true], "what was acknowledged before is in it");
  }
  await write("INSERT INTO item VALUES (-6, 'added')");
  const old = await read(other, "SELECT count(*) FROM item", 600_000);
  t.same([old.data.rows, isOfCopy(old)], [[[before + 5]], true], "nothing is read where that is new enough");

  await write("ALTER TABLE item ADD COLUMN size integer DEFAULT 7");
  t.match(await read(other, "SELECT size FROM item WHERE id = -1", 0), { status: 200, data: { rows: [[7]] } });
  await write(`INSERT INTO item SELECT -g, 'large ' || g FROM generate_series(1000, ${LARGE + 999}) AS g`);
  const large = await read(other, "SELECT count(*) FROM item", 0);
  // A busy machine may take too long to open the copy anew; its owner answers then.
  t.same(large.data.rows, [[before + 6 + LARGE]], "a large commit");
  await write(`DELETE FROM item WHERE id < -999`);

  for (const node of [owner, other]) {
    const refused = await read(node, "INSERT INTO item VALUES (-7, 'never')", 0);
    t.same([refused.status, refused.code], [400, "read_only_transaction"], `${node.name} writes nothing`);
  }
  await write("CREATE TABLE watched (id integer PRIMARY KEY)");
  await write("ALTER TABLE watched SET (audit = 'read')");
  const audited = await read(other, "SELECT count(*) FROM watched", 0);
  t.same([audited.status, audited.staleMs], [200, "0"], "its owner answers where the read is recorded");
  const wrong = await read(other, "SELECT 1", 1e9);
  t.same([wrong.status, wrong.code], [400, "invalid_request"]);
}

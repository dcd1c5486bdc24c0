import t from "tap";
import { EtcdClient } from "../../src/cluster/etcd-client.js";
import { judgeEtcd } from "../../src/cluster/etcd-health.js";

const members = (...versions: (string | null)[]) =>
  judgeEtcd(versions.map((version, index) => ({ endpoint: `m${index}:2379`, version })));

t.test("releases of etcd that lose writes are refused, old ones and members that are silent are told", async (t) => {
  t.same(members("3.4.23", "3.5.3", "3.6.0"), { refused: [], warnings: [] });
  t.match(members("3.5.0", "3.4.30", "3.5.2").refused, [/m0:2379 is 3\.5\.0/, /m2:2379 is 3\.5\.2/]);
  t.match(members("3.4.22", "3.3.25", null).warnings, [
    /is 3\.4\.22; use/,
    /is 3\.3\.25; use/,
    /m2:2379 does not answer/,
  ]);
  t.same(members("3.6.0-rc.1", "3.4.23", "3.10.1"), { refused: [], warnings: [] });
  t.match(members("3.4.27").warnings, [/1 of etcd's members/]);
});

t.test("a call that comes after the end fails like one that reaches nobody", async (t) => {
  const client = new EtcdClient({ endpoints: ["127.0.0.1:1"] });
  client.close();
  await t.rejects(client.status(), { code: "log_unavailable" });
});

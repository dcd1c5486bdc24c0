/** A member of etcd for one test, with a map and a log service of a cluster that nobody has made yet. */
import type { Test } from "tap";
import { ClusterMap, readClusterUrl } from "../../src/cluster/cluster-map.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { loadConfig } from "../../src/config/load-config.js";
import { EtcdMember } from "./etcd.js";

export async function newInstallation(t: Test) {
  const member = await EtcdMember.start();
  const url = `etcd://${member.endpoint}/test`;
  const { endpoints, name } = readClusterUrl(url);
  const map = new ClusterMap(endpoints, name);
  const service = new EtcdLogService({ endpoints, installation: name });
  t.teardown(async () => {
    map.close();
    await service.close();
    await member.end();
  });
  return { map, service, url, config: loadConfig({ env: {}, overrides: { "cluster.url": url } }) };
}

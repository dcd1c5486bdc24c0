/** What `tessera cluster remove` and `hand-over` do, on etcd. */
import t from "tap";
import { checkCopies, handOver, removeNode } from "../../src/cluster-commands.js";
import { loadConfig } from "../../src/config/load-config.js";
import { NO_ETCD } from "./etcd.js";
import { newInstallation } from "./etcd-installation.js";

t.test("a node is removed when it is down and others have what it has", { skip: NO_ETCD }, async (t) => {
  const { map, service, config } = await newInstallation(t);
  await map.init({ installation: "i", format: 1, partitions: 2, sealed: "" }, "a", new Map([[0, 5]]));
  const state = { incarnation: "x", counter: 1, isFenced: false };
  const ofA = await service.renew("a", 0, state);
  await service.renew("b", 0, state);
  await service.claim({ partition: 0, node: "a", tenure: "t", epoch: 0 });
  await map.drain("a", true);
  await service.report("b", new Map([[0, 4]]));

  await t.rejects(removeNode(config, "nobody", 10), /there is no node nobody: a, b/);
  await t.rejects(removeNode(config, "a", 10), /no other node has all that a has of the partitions 0/);
  await service.report("b", new Map([[0, 5]]));
  const outcome = removeNode(config, "a", 300).catch(String);
  let told: string | null = null;
  void outcome.then((text) => {
    told = text;
  });
  // It lives, and goes on to say so.
  for (let [revision, counter] = [ofA!, 2]; told === null; counter++) {
    revision = (await service.renew("a", revision, { ...state, counter }))!;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.match(await outcome, /a is up: stop it first/);
  t.same([...(await map.view()).members.keys()], ["a", "b"], "nothing was changed");

  t.match(await removeNode(config, "a", 10), /a is removed/);
  const { members, durable, draining } = await map.view();
  t.same([...members.keys()], ["b"]);
  t.same([...durable.get(0)!], [["b", 5]], "nothing waits for its copies");
  t.equal(draining.size, 0);
  const epoch = (await service.owner(0))!.epoch;
  const claim = { partition: 0, node: "b", tenure: "u", epoch, unseen: { node: "a", revision: 0 } };
  t.ok((await service.claim(claim))! > epoch, "what it owned can be taken");

  await handOver(config, "1", "b", false);
  t.same([...(await map.view()).wants], [[1, "b"]]);
  await handOver(config, "1", null, true);
  t.same([...(await map.view()).wants], [], "the wish is taken back");
  t.throws(() => handOver(config, "1", null, false), /name the node/);
});

t.test("a cluster is checked by what etcd says", { skip: NO_ETCD }, async (t) => {
  const { map, service, url, config } = await newInstallation(t);
  await t.rejects(checkCopies(config, 10), /there is no cluster etcd:/);
  await map.init({ installation: "i", format: 1, partitions: 1, sealed: "" }, "a", new Map([[0, 5]]));
  const state = { incarnation: "x", counter: 1, isFenced: false };
  let revision = (await service.renew("a", 0, state))!;
  await service.claim({ partition: 0, node: "a", tenure: "t", epoch: 0 });
  const silent = await checkCopies(config, 50);
  t.equal(silent.isSound, false);
  t.match(
    silent.text,
    /a is down: it does not renew its lease\npartition 0: its owner a is down\n2 problems; 1 partitions/,
  );
  const sound = checkCopies(config, 1000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  revision = (await service.renew("a", revision, { ...state, counter: 2 }))!;
  t.match(await sound, { isSound: true, text: /no problems; 1 partitions, 0 commits in etcd$/ });
  const elsewhere = loadConfig({
    env: {},
    overrides: { "cluster.url": url, "cluster.node": "a", "data.dir": t.testdir() },
  });
  await t.rejects(checkCopies(elsewhere, 10), /is no data directory of this cluster/);
});

/** The thread of the library of models as the main thread has it. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { findBundle } from "../src/ai/bundle.js";
import { EtcdModels } from "../src/cluster/shared-models.js";
import { libraryThread } from "../src/library-thread.js";
import { temporaryFolder } from "./ai/library/library-fixture.js";
import { publish, tinyBundle } from "./ai/tiny-bundle.js";
import { EtcdMember, NO_ETCD } from "./cluster/etcd.js";

t.test("in a cluster it runs without being asked, and again after a crash", { skip: NO_ETCD }, async (t) => {
  const member = await EtcdMember.start();
  const folder = temporaryFolder(t);
  publish(folder, tinyBundle("tiny"), "tiny");
  const cluster = { endpoints: [member.endpoint], name: "test", node: "n1", peerKey: Buffer.alloc(32) };
  const models = new EtcdModels({ ...cluster, node: "n2" });
  const limits = { bytesMax: 10_000_000, freeBytesMin: 0, retries: 0, idleSeconds: 1, timeoutSeconds: 30 };
  const pull = { sources: [folder], ...limits };
  const config = { modelRoot: join(folder, "root"), embeddingModel: "none", pull };
  const errors: Error[] = [];
  const thread = libraryThread({ config, bundled: join(folder, "bundled"), cluster }, (error) => errors.push(error));
  t.teardown(async () => {
    await thread.close();
    models.close();
    await member.end();
  });
  const until = async (isSo: () => Promise<boolean>): Promise<void> => {
    for (let tries = 0; !(await isSo()); tries++) {
      if (tries === 300) throw new Error(`it never was so; errors: ${errors}`);
      await sleep(100);
    }
  };
  const has = async (): Promise<boolean> => (await models.view()).nodes.get("n1")?.has.tiny !== undefined;
  t.equal(thread.started, false);
  thread.keep();
  await until(async () => (await models.view()).nodes.has("n1"));
  t.equal(await has(), false);
  thread.post(null as never);
  await until(async () => errors.length === 1);
  const { digest } = findBundle(join(folder, "tiny", "latest"))!;
  await models.set("tiny", { state: "wanted", model: "tiny:latest", digest, sinceMs: 1 });
  await until(has);
  t.equal(thread.started, true);
  await thread.close();
  t.equal(thread.started, false, "its end is no crash");
});

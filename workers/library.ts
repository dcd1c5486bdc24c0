/**
 * Entry of the thread of the library of models (src/ai/library): one for the process, started by the main thread when
 * an actor first asks for something, and in a cluster with the node. Its first message is the settings; it ends when it
 * has closed.
 */
import { parentPort } from "node:worker_threads";
import { LibraryService } from "../src/ai/library/library-service.js";
import { type LibraryConfig, librarySettings } from "../src/ai/library/library-settings.js";
import type { EtcdModelsSettings } from "../src/protocol/messages.js";
import type { FromLibraryThread, ToLibraryThread } from "../src/protocol/model-library.js";

export interface LibraryThreadSettings {
  readonly config: LibraryConfig;
  readonly bundled: string;
  /** Absent: there is one machine. */
  readonly cluster?: EtcdModelsSettings;
}

const port = parentPort!;

async function start({ config, bundled, cluster }: LibraryThreadSettings): Promise<LibraryService> {
  const shared =
    cluster === undefined ? null : new (await import("../src/cluster/shared-models.js")).EtcdModels(cluster);
  const say = (message: FromLibraryThread): void => port.postMessage(message);
  return new LibraryService(librarySettings(config, bundled, shared), say);
}

port.once("message", (settings: LibraryThreadSettings) => {
  const started = start(settings);
  port.on("message", async (message: ToLibraryThread) => {
    const service = await started;
    if (message.kind !== "close") {
      service.hear(message);
      return;
    }
    await service.close();
    port.close();
  });
});

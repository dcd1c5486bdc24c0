/**
 * Entry of the thread of the library of models (src/ai/library): one for the process, started by the main thread when
 * an actor first asks for something. Its first message is the settings; it ends when it has closed.
 */
import { parentPort } from "node:worker_threads";
import { LibraryService } from "../src/ai/library/library-service.js";
import { type LibraryConfig, librarySettings } from "../src/ai/library/library-settings.js";
import type { FromLibraryThread, ToLibraryThread } from "../src/protocol/model-library.js";

export interface LibraryThreadSettings {
  readonly config: LibraryConfig;
  readonly bundled: string;
}

const port = parentPort!;

port.once("message", ({ config, bundled }: LibraryThreadSettings) => {
  const service = new LibraryService(librarySettings(config, bundled), (message: FromLibraryThread) =>
    port.postMessage(message),
  );
  port.on("message", (message: ToLibraryThread) => {
    if (message.kind === "close") void service.close().then(() => port.close());
    else service.hear(message);
  });
});

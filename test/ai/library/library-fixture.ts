/** A library over a temporary root, with what it tells its surroundings. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { librarySettings } from "../../../src/ai/library/library-settings.js";
import { type LibrarySettings, ModelLibrary } from "../../../src/ai/library/model-library.js";
import type { PullFacts } from "../../../src/protocol/model-library.js";

export interface TestLibrary {
  readonly root: string;
  readonly library: ModelLibrary;
  /** How often actors were told that something has changed. */
  readonly changes: () => number;
  readonly asked: readonly string[];
  /** Another library over the same root, as after a restart. */
  again(sources: readonly string[], settings?: Partial<LibrarySettings>): ModelLibrary;
  /** Pulls and waits for the end, which is no failure. */
  pulled(model: string): Promise<PullFacts>;
  /** Pulls and waits for the end, which is a failure. */
  refused(model: string): Promise<{ readonly code: string; readonly message: string }>;
}

export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), "tessera-library-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function testLibrary(
  t: Test,
  sources: readonly string[],
  settings: Partial<LibrarySettings> = {},
  letGo: (directory: string) => Promise<boolean> = async () => true,
): TestLibrary {
  const root = join(temporaryFolder(t), "root");
  const bundled = join(root, "..", "bundled");
  const pull = { sources, bytesMax: 10_000_000, freeBytesMin: 0, retries: 3, idleSeconds: 1, timeoutSeconds: 30 };
  let changes = 0;
  const asked: string[] = [];
  const make = (from: readonly string[], changed: Partial<LibrarySettings>) =>
    new ModelLibrary(
      {
        ...librarySettings(
          { modelRoot: root, embeddingModel: "default-model", pull: { ...pull, sources: from } },
          bundled,
        ),
        backoffMs: 1,
        ...changed,
      },
      {
        letGo: (directory) => {
          asked.push(directory);
          return letGo(directory);
        },
        changed: () => {
          changes++;
        },
        log: () => undefined,
      },
    );
  const library = make(sources, settings);
  const end = (model: string) => library.follow(library.pull(model).id, () => undefined).ended;
  return {
    root,
    library,
    changes: () => changes,
    asked,
    again: (from, changed = {}) => make(from, changed),
    async pulled(model) {
      const facts = await end(model);
      if (facts.status !== "completed") throw new Error(JSON.stringify(facts));
      return facts;
    },
    async refused(model) {
      const facts = await end(model);
      if (facts.error === null) throw new Error(JSON.stringify(facts));
      return facts.error;
    },
  };
}

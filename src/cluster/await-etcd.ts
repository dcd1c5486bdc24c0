/** A node that starts waits for etcd, which may be starting, too, or be out of reach for a moment. */
import { setTimeout as sleep } from "node:timers/promises";
import { DbError } from "../protocol/errors.js";

const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 500;

/** What etcd answers. Asks again while it does not answer; throws why not when that has taken too long. */
export async function onceEtcdAnswers<T>(
  ask: () => Promise<T>,
  warn: (message: string) => void,
  waitMs = WAIT_MS_MAX,
): Promise<T> {
  const endMs = performance.now() + waitMs;
  for (let tries = 0; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      const isSilent = error instanceof DbError && error.code === "log_unavailable";
      if (!isSilent || performance.now() >= endMs) throw error;
      if (tries === 0) warn(`${error.message} The start waits for it, up to ${waitMs / 1000} s.`);
    }
    await sleep(PAUSE_MS);
  }
}

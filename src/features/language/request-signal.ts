/** An AbortSignal for work that leaves the actor: it fires when the client has gone or the deadline has passed. */
import type { Request } from "../../actor/request.js";

/** How often the request is looked at. */
const LOOK_MS = 50;

/** Runs `work` with a signal of the request; throws what the request ends in as soon as it does. */
export async function withRequestSignal<T>(
  request: Pick<Request, "checkpoint">,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timer = setInterval(() => {
    try {
      request.checkpoint();
    } catch (error) {
      controller.abort(error);
    }
  }, LOOK_MS);
  try {
    const done = await work(controller.signal);
    request.checkpoint();
    return done;
  } finally {
    clearInterval(timer);
  }
}

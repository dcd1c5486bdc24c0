/**
 * Webhooks: if a training named an address, its end is posted there, signed, and again later if that fails. It is a
 * background job, so what was not delivered before a restart is delivered after it.
 *
 * The header X-Tessera-Signature is `t=<seconds>,v1=<hex>`: HMAC-SHA256, with the tenant's secret, of
 * `<seconds>.<body>`. A receiver recomputes it and rejects old ones.
 */
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Request } from "../../actor/request.js";
import { fetchBounded } from "../../net/fetch-bounded.js";
import { isPrivateUrl } from "../../net/public-address.js";
import type { Config } from "../../protocol/config.js";
import { DbError } from "../../protocol/errors.js";
import {
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_ATTEMPTS_MAX,
  WEBHOOK_TIMEOUT_MS,
  WEBHOOKS_RUNNING_MAX,
  WEBHOOKS_WAITING_MAX,
} from "../../protocol/limits.js";
import type { Job, JobKind } from "../jobs/job-kind.js";
import { ownRowsOf } from "../statements/run-alone.js";
import { ownTogether } from "../statements/run-together.js";
import { forgetJob, hasJobs, jobView, readJob } from "./job-store.js";
import { JOBS } from "./tables.js";

/** Of jobs that deliver (features/features.ts); their ids are those of the trainings. */
export const WEBHOOK = "webhook";

/** Before the second attempt; each further one waits four times as long. */
const FIRST_WAIT_MS = 1000;
const WAIT_GROWTH = 4;

/** In the training's row. */
interface Callback {
  readonly url: string;
  readonly attempts?: number;
  /** Milliseconds since the epoch. */
  readonly nextAtMs?: number;
  readonly deliveredAt?: string;
  readonly error?: string;
}

interface Due {
  readonly callback: Callback;
  readonly body: string;
  readonly secret: string;
}

export const webhookJobs: JobKind = {
  name: WEBHOOK,
  bounds: () => ({ runningMax: WEBHOOKS_RUNNING_MAX, waitingMax: WEBHOOKS_WAITING_MAX }),
  run: deliver,
};

/** Throws invalid_request for an address that could never be asked. */
export function checkCallback(address: string, { automl }: Config, field = "callback_url"): void {
  const { schemes, privateAllowed } = automl.webhook;
  const refuse = (why: string) => new DbError("invalid_request", `${field}: ${why}`, { field });
  if (!URL.canParse(address)) throw refuse("must be an address such as https://example.com/hook");
  const url = new URL(address);
  const scheme = url.protocol.slice(0, -1);
  if (!(schemes as readonly string[]).includes(scheme)) {
    throw refuse(`${scheme}: is not allowed here; allowed: ${schemes.join(", ")} (automl.webhook.schemes)`);
  }
  if (url.username !== "" || url.password !== "") throw refuse("an address with a user is not allowed");
  if (!privateAllowed && isPrivateUrl(url)) {
    throw refuse("the address is private or loopback, which is not allowed here (automl.webhook.private_allowed)");
  }
}

/** What signs the tenant's webhooks. A later tenant of the same id has another number, so another secret. */
export function webhookSecret({ partition, account }: Request): string {
  const { config, secret } = partition;
  if (config.automl.webhook.secret !== "") return config.automl.webhook.secret;
  if (secret === null) throw new Error("the installation has no secret");
  return createHmac("sha256", secret).update(`webhook\0${account}`).digest("hex");
}

export function signatureOf(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}

async function deliver(job: Job): Promise<void> {
  while (!job.signal.aborted) {
    const due = await job.work((request) => readDue(request, job));
    if (due === null) return;
    const waitMs = (due.callback.nextAtMs ?? 0) - Date.now();
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: job.signal }).catch(() => undefined);
    if (job.signal.aborted) return;
    const after = await attempt(job, due);
    if (job.signal.aborted) return;
    await job.work((request) => keep(request, job, after));
  }
}

/** Null: there is nothing to deliver any more, and the job has been ended. */
async function readDue(request: Request, job: Job): Promise<Due | null> {
  const { id } = job.record;
  const training = hasJobs(request) ? await readJob(request, id) : null;
  const [row] =
    training === null
      ? []
      : await ownRowsOf(request, { sql: `SELECT callback FROM ${JOBS} WHERE id = $1::text`, params: [id] });
  const callback = (row?.[0] ?? null) as Callback | null;
  const isDone = callback?.deliveredAt !== undefined || (callback?.attempts ?? 0) >= WEBHOOK_ATTEMPTS_MAX;
  if (training !== null && callback !== null && !isDone) {
    const body = JSON.stringify({ event: `automl.${training.status}`, data: jobView(training) });
    return { callback, body, secret: webhookSecret(request) };
  }
  await forgetJob(request, job.record);
  return null;
}

async function attempt(job: Job, { callback, body, secret }: Due): Promise<Callback> {
  const { partition, record, signal } = job;
  const { schemes, hostsAllowed, privateAllowed } = partition.config.automl.webhook;
  const attempts = (callback.attempts ?? 0) + 1;
  const seconds = Math.floor(Date.now() / 1000);
  try {
    await fetchBounded(callback.url, {
      ...{ schemes, hostsAllowed, privateAllowed, body, signal, field: "callback_url", method: "POST" },
      bytesMax: WEBHOOK_ANSWER_BYTES_MAX,
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      headers: {
        "content-type": "application/json",
        "x-tessera-delivery": record.id,
        "x-tessera-signature": signatureOf(secret, seconds, body),
      },
    });
    return { url: callback.url, attempts, deliveredAt: new Date().toISOString() };
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const waitMs = FIRST_WAIT_MS * WAIT_GROWTH ** (attempts - 1);
    return { url: callback.url, attempts, nextAtMs: Date.now() + waitMs, error: error.message };
  }
}

async function keep(request: Request, job: Job, callback: Callback): Promise<void> {
  const { id } = job.record;
  await ownTogether(
    request,
    request,
    (run) => run(`UPDATE ${JOBS} SET callback = $2::jsonb WHERE id = $1::text`, [id, JSON.stringify(callback)]),
    (tx) => request.commitPart(tx),
  );
}

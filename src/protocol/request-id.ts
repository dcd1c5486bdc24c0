/**
 * Ids of requests that a gateway makes: the run of the gateway, which is another one after each start, and a count.
 * Actors tell gateways apart by them.
 */
import { randomBytes } from "node:crypto";

const BETWEEN = "-";

export const newRun = (): string => randomBytes(8).toString("hex");

export const requestId = (run: string, count: number): string => run + BETWEEN + count.toString(36);

/** Which gateway, since it started, has made the id. */
export const runIn = (id: string): string => id.slice(0, id.indexOf(BETWEEN));

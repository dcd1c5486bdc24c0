/**
 * Refuses for a while statements that look like one that did not give way until its thread was ended. One per actor;
 * the gateway's watchdog decides what is in it. Asked before a statement is looked at in any other way.
 */

import { hashRequest } from "../bodies/validate.js";
import { keptText } from "../protocol/actor-marks.js";
import { DbError } from "../protocol/errors.js";
import { type RequestFrame, readRequests } from "../protocol/frames.js";
import { shapeOf } from "../protocol/statement-shape.js";
import type { StoppedStatement } from "../protocol/stopped-statement.js";

interface OfTenant {
  readonly shapes: { readonly shape: string; readonly language: "sql" | "cypher"; readonly untilMs: number }[];
  /** By the request's hash. */
  readonly requests: Map<string, number>;
}

export class StoppedStatements {
  /** Those that were refused. */
  refused = 0;
  private readonly tenants = new Map<number, OfTenant>();

  /** These and no others are refused from now on. */
  set(stopped: readonly StoppedStatement[]): void {
    this.tenants.clear();
    for (const { tenant, untilMs, what } of stopped) {
      let entry = this.tenants.get(tenant);
      if (entry === undefined) {
        entry = { shapes: [], requests: new Map() };
        this.tenants.set(tenant, entry);
      }
      if ("shape" in what) entry.shapes.push({ ...what, untilMs });
      else {
        const { requests } = entry;
        readRequests(new Uint8Array(what.frame).buffer, (frame) => requests.set(hashRequest(frame), untilMs));
      }
    }
  }

  get isEmpty(): boolean {
    return this.tenants.size === 0;
  }

  /** Throws statement_stopped. */
  refuseStatement(tenant: number, text: string): void {
    const entry = this.tenants.get(tenant);
    if (entry === undefined) return;
    for (const { shape, language, untilMs } of entry.shapes) {
      if (shapeOf(keptText(text), language) === shape) this.refuse(untilMs);
    }
  }

  /**
   * Throws statement_stopped for a request that is the same as one that was stopped before it had begun a statement.
   */
  refuseRequest(tenant: number, frame: RequestFrame): void {
    const untilMs = this.tenants.get(tenant)?.requests;
    if (untilMs === undefined || untilMs.size === 0) return;
    const until = untilMs.get(hashRequest(frame));
    if (until !== undefined) this.refuse(until);
  }

  /** When work of the actor's own that bears that name may go on; 0: now. */
  waits(tenant: number, name: string): number {
    const entry = this.tenants.get(tenant);
    const found = entry?.shapes.find(({ shape }) => shape === shapeOf(name, "sql"));
    return found === undefined ? 0 : Math.max(0, found.untilMs - Date.now());
  }

  private refuse(untilMs: number): void {
    const seconds = Math.ceil((untilMs - Date.now()) / 1000);
    if (seconds <= 0) return;
    this.refused++;
    throw new DbError(
      "statement_stopped",
      `A statement like this one blocked other requests and was stopped. Such statements are rejected for another ${seconds} s. Change it to do less at a time.`,
      { retry_after_seconds: seconds },
    );
  }
}

/** Refuses requests of API keys on a lead (protocol/lead.ts) that are none of theirs, whatever they say. */
import { DbError } from "../protocol/errors.js";
import { administers } from "../protocol/identity.js";
import { hasReadBudget, type Lead, leadOf, narrowed } from "../protocol/lead.js";
import type { Request } from "./request.js";

/** Throws forbidden for an endpoint that the lead of the caller's key leaves out. */
export function requireWithinLead({ head, endpoint }: Pick<Request, "head" | "endpoint">): void {
  if (head.lead === undefined) return;
  if (endpoint.home !== "tenant" && endpoint.name !== "users.me") {
    throw new DbError(
      "forbidden",
      "The API key is on a lead: it has no permission to see or change accounts and keys.",
      {
        hint: "Sign in, or use a key without a lead.",
      },
    );
  }
  // By those a session of PostgreSQL's protocol is served, and hears of its end: LISTEN asks for itself.
  if (endpoint.live === true && endpoint.method !== "WIRE") requireSubscribing({ head });
  const { tools } = leadOf(head.lead);
  if (tools !== undefined && !isOfTools(endpoint.name)) {
    throw new DbError("forbidden", `The API key may only call tools; ${endpoint.name} is not one.`, {
      hint: `POST /v1/mcp calls tools. It may call: ${tools.join(", ")}.`,
    });
  }
}

/** Throws forbidden for a key whose budget would not count what comes. */
export function requireSubscribing({ head }: Pick<Request, "head">): void {
  if (head.lead === undefined || !hasReadBudget(leadOf(head.lead))) return;
  throw new DbError("forbidden", "The API key has a budget, which subscriptions do not count: it cannot subscribe.", {
    hint: "Use a key without rows_per_day and bytes_per_day.",
  });
}

/** Throws forbidden for a tool that the lead leaves out. */
export function requireTool({ head }: Pick<Request, "head">, name: string): void {
  if (mayCall({ head }, name)) return;
  const tools = leadOf(head.lead!).tools!;
  throw new DbError("forbidden", `The API key may not call the tool ${name}.`, {
    hint: `It may call: ${tools.join(", ")}. Another needs a key with it in lead.tools.`,
  });
}

export function mayCall({ head }: Pick<Request, "head">, tool: string): boolean {
  return head.lead === undefined || leadOf(head.lead).tools?.includes(tool) !== false;
}

/** Whether its key may do nothing but call tools. */
export function callsToolsOnly({ head }: Pick<Request, "head">): boolean {
  return head.lead !== undefined && leadOf(head.lead).tools !== undefined;
}

/** The head of a request on a lead of its own: its caller's rights, less what the lead leaves out. */
export function ledHead(head: Request["head"], lead: Pick<Lead, "tables" | "statements">): Request["head"] {
  const before: Lead = head.lead === undefined ? { administrator: administers(head) } : leadOf(head.lead);
  return {
    ...head,
    roles: ["user"],
    lead: JSON.stringify({ ...narrowed(before, lead), ofAgent: true } satisfies Lead),
  };
}

function isOfTools(endpoint: string): boolean {
  return endpoint.startsWith("mcp.") || endpoint === "users.me";
}

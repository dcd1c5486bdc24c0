/**
 * What a backup holds of a tenant's branches, as steps that make them again: forks in the order of the moments at which
 * the branches begin, and between them what the tenant and the branches are then. Blocks of their own: u32 length ·
 * JSON of the step · u32 length · entries, one step after the other. Little endian.
 */
import Type from "typebox";
import { Check } from "typebox/value";
import { BRANCH_NAME } from "../protocol/endpoints/branches.js";
import type { BranchAccess } from "../storage/branch-list.js";
import type { MergeRecord } from "../storage/merge-points.js";
import type { Operation } from "../storage/operation.js";
import { decodeEntries, encodeEntries } from "./entries-buffer.js";

/** The number of the tenant itself among those of its branches. */
export const TENANT_ITSELF = 0;

export interface BackedUpBranch {
  readonly name: string;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly expiresAtMs: number | null;
  readonly quotaBytes: number | null;
  readonly access?: BranchAccess;
}

/** Branches have the numbers that they had where the backup was made. */
export interface BranchStep {
  /** `write` goes into `branch`, which may be the tenant itself. */
  readonly what: "fork" | "change" | "merge" | "end" | "write";
  readonly branch: number;
  /** Of a fork: what it is forked from. */
  readonly origin?: number;
  /** Of a fork or a change. */
  readonly record?: BackedUpBranch;
  /** Of a merge: what of the branch its origin has from there on. */
  readonly merged?: MergeRecord;
  /** Of the commit, microseconds since the epoch; null: the backup's. */
  readonly micros: number | null;
}

const LENGTH_BYTES = 4;

const Moment = Type.Union([Type.Number(), Type.Null()]);
const Origin = Type.Integer({ minimum: TENANT_ITSELF });
const OfBranch = { branch: Type.Integer({ minimum: TENANT_ITSELF + 1 }), micros: Moment };
const Recorded = Type.Object({
  name: Type.String({ pattern: BRANCH_NAME.source }),
  ...{ createdAt: Type.String(), createdBy: Type.String(), expiresAtMs: Moment, quotaBytes: Moment },
  access: Type.Optional(
    Type.Object({
      users: Type.Optional(Type.Array(Type.String())),
      keys: Type.Optional(Type.Array(Type.String())),
      ownPolicies: Type.Optional(Type.Literal(true)),
    }),
  ),
});
const Merged = Type.Object({
  tables: Type.Union([Type.Array(Type.Integer({ minimum: 0 })), Type.Null()]),
  definitions: Type.Boolean(),
});
/** Archives come from anywhere: what a step has is looked at before it is used. */
const Step = Type.Union([
  Type.Object({ what: Type.Literal("write"), branch: Origin, micros: Moment }),
  Type.Object({ what: Type.Literal("end"), ...OfBranch }),
  Type.Object({ what: Type.Literal("change"), ...OfBranch, record: Recorded }),
  Type.Object({ what: Type.Literal("merge"), ...OfBranch, merged: Merged }),
  Type.Object({ what: Type.Literal("fork"), ...OfBranch, origin: Origin, record: Recorded }),
]);

export function encodeStep(step: BranchStep, operations: readonly Operation[]): Uint8Array {
  const head = Buffer.from(JSON.stringify(step));
  const entries = Buffer.from(encodeEntries(operations));
  const bytes = Buffer.alloc(2 * LENGTH_BYTES + head.length + entries.length);
  bytes.writeUInt32LE(head.length, 0);
  bytes.set(head, LENGTH_BYTES);
  bytes.writeUInt32LE(entries.length, LENGTH_BYTES + head.length);
  bytes.set(entries, 2 * LENGTH_BYTES + head.length);
  return bytes;
}

/** Throws RangeError for what is none. */
export function* decodeSteps(body: Buffer): Generator<{ step: BranchStep; operations: readonly Operation[] }> {
  for (let at = 0; at < body.length; ) {
    const headEnd = at + LENGTH_BYTES + body.readUInt32LE(at);
    const end = headEnd + LENGTH_BYTES + body.readUInt32LE(headEnd);
    if (end > body.length) throw new RangeError("a step of a branch has no end");
    const step: unknown = JSON.parse(body.subarray(at + LENGTH_BYTES, headEnd).toString());
    if (!Check(Step, step)) throw new RangeError("a step of a branch that is none");
    const entries = new Uint8Array(body.subarray(headEnd + LENGTH_BYTES, end));
    yield { step, operations: decodeEntries(entries.buffer) };
    at = end;
  }
}

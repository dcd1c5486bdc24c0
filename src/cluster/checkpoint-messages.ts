/**
 * What two nodes say on the peer link when one of them is given a partition's files. The one that wants them asks for
 * each piece, so it sets the pace, and goes on where it was when the connection breaks. Partition and kind stand in the
 * message's head (peer-link.ts).
 */

export interface CheckpointFile {
  readonly name: string;
  readonly bytes: number;
}

/** `resume`: the id of a checkpoint that was begun over a connection that is gone. */
export type CheckpointRequest =
  | { readonly kind: "checkpoint-open"; readonly resume?: number }
  | {
      readonly kind: "checkpoint-read";
      readonly id: number;
      readonly file: string;
      readonly at: number;
      readonly bytes: number;
    }
  | { readonly kind: "checkpoint-close"; readonly id: number };

export type CheckpointAnswer =
  | { readonly kind: "checkpoint"; readonly id: number; readonly files: readonly CheckpointFile[] }
  | {
      readonly kind: "checkpoint-bytes";
      readonly file: string;
      readonly at: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "checkpoint-refused"; readonly why: string };

const REQUESTS: ReadonlySet<string> = new Set(["checkpoint-open", "checkpoint-read", "checkpoint-close"]);

export function isCheckpointRequest(message: { readonly kind: string }): message is CheckpointRequest {
  return REQUESTS.has(message.kind);
}

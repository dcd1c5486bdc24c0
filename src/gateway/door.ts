/**
 * A server of another protocol beside HTTP, which uses the same services. The process's entry point gives the gateway
 * its doors.
 */
import type { Identity } from "../protocol/identity.js";
import type { Services } from "./services.js";

export interface Door {
  /** Null: it is switched off. Rejects where its address cannot be had. */
  open(services: Services): Promise<OpenDoor | null>;
}

export interface OpenDoor {
  readonly name: string;
  readonly port: number;
  /** The path of a Unix socket beside the port; absent: there is none. */
  readonly socketPath?: string;
  /** Reads the certificate's files again, for connections that come. Throws where they are wrong. */
  renewCertificate(): void;
  /** Ends connections of callers that are out of date. */
  forget(gone: (identity: Identity) => boolean): void;
  /** Takes no more connections; those there are end with what they do. */
  beginClosing(): void;
  /** Ends what is left. */
  close(): void;
}

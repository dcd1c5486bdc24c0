/**
 * Messages between actors and the library of models (src/ai/library), which has a thread of its own. The main thread
 * carries them, because it knows both sides.
 */
import { DbError, type ErrorCode, type ErrorDetails } from "./errors.js";
import type { SharedView } from "./shared-models.js";

export type PullStatus = "pending" | "running" | "completed" | "failed" | "cancelled";
export type PullPhase = "waiting" | "resolving" | "downloading" | "installing" | "done";

/** An error of the table as a message. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails | null;
}

export function toldError({ code, message, details }: DbError): ToldError {
  return { code, message, details: details ?? null };
}

export function errorOf({ code, message, details }: ToldError): DbError {
  return new DbError(code, message, details ?? undefined);
}

/** A pull, as it stands. */
export interface PullFacts {
  readonly id: string;
  /** As it was asked for, with its tag. */
  readonly model: string;
  /** Of the bundle; null: not known yet. */
  readonly name: string | null;
  readonly status: PullStatus;
  readonly phase: PullPhase;
  /** That has it. */
  readonly source: string | null;
  readonly bytesDone: number;
  /** Null: not known yet. */
  readonly bytesTotal: number | null;
  /** Sources that did not answer as they should, and why. */
  readonly passedOver: readonly { readonly source: string; readonly message: string }[];
  readonly error: ToldError | null;
  /** The model serves once the server has been started again. */
  readonly restartRequired: boolean;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  readonly endedMs: number | null;
}

/** A model that a source of the form hub can give. */
export interface AvailableModel {
  readonly name: string;
  readonly alias: string | null;
  readonly kind: string;
  readonly licence: string;
  readonly tags: readonly string[];
}

export interface LibraryFacts {
  /** As configured. */
  readonly sources: readonly string[];
  /** Of the disk that has the model root. */
  readonly freeBytes: number;
  readonly available: readonly AvailableModel[];
  /** In a cluster. */
  readonly shared?: SharedView;
}

/** `wait`: answer when the pull has ended, and tell of its progress until then. */
export type LibraryRequest =
  | { readonly do: "pull"; readonly model: string; readonly wait: boolean }
  | { readonly do: "pulls" }
  | { readonly do: "find-pull"; readonly pull: string }
  | { readonly do: "cancel"; readonly pull: string }
  | { readonly do: "delete"; readonly model: string }
  | { readonly do: "facts" };

export interface LibraryAnswers {
  readonly pull: PullFacts;
  readonly pulls: readonly PullFacts[];
  readonly "find-pull": PullFacts;
  readonly cancel: PullFacts;
  /** The name of what was deleted. */
  readonly delete: string;
  readonly facts: LibraryFacts;
}

/** `call` is chosen by the actor and never used again, not even by the actor that comes after a crash. */
export type ToLibrary =
  | { readonly kind: "call"; readonly call: string; readonly request: LibraryRequest }
  /** Nobody waits for the answer any more. */
  | { readonly kind: "forget"; readonly call: string }
  /** The actor uses the bundle no longer. */
  | { readonly kind: "let-go"; readonly ask: number };

export type FromLibrary =
  | { readonly kind: "progress"; readonly call: string; readonly pull: PullFacts }
  | { readonly kind: "answer"; readonly call: string; readonly value: LibraryAnswers[keyof LibraryAnswers] }
  | { readonly kind: "refused"; readonly call: string; readonly error: ToldError }
  /** The bundle in that folder will be deleted: finish its runs, begin no new ones, then report. */
  | { readonly kind: "let-go"; readonly ask: number; readonly directory: string }
  /** What is installed has changed, or stays after all. */
  | { readonly kind: "changed" }
  /** The library's thread has ended; calls are lost. */
  | { readonly kind: "lost" };

/** What the main thread tells the library's thread. */
export type ToLibraryThread =
  | { readonly kind: "from-actor"; readonly actor: number; readonly message: ToLibrary }
  | { readonly kind: "actor-ended"; readonly actor: number }
  /** These actors were sent what was for all. */
  | { readonly kind: "sent"; readonly ask: number; readonly actors: readonly number[] }
  | { readonly kind: "close" };

/** What it hears from there. */
export type FromLibraryThread =
  | { readonly kind: "to-actor"; readonly actor: number; readonly message: FromLibrary }
  | { readonly kind: "to-all"; readonly message: FromLibrary }
  | { readonly kind: "log"; readonly level: "info" | "warn"; readonly message: string; readonly fields: object };

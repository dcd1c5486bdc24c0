/** Messages between an actor (inference-lane.ts) and its inference thread (workers/inference.ts). */

export interface InferenceSettings {
  /** Threads that one run may use. */
  readonly runThreads: number;
  /** Milliseconds after which the session of a model that nobody asked for is released. */
  readonly idleMs: number;
  /** Sessions, and bytes that they hold together. */
  readonly sessionsMax: number;
  readonly bytesMax: number;
}

/** A claim (hypothesis) beside a text that may say so (premise). */
export interface TextPair {
  readonly premise: string;
  readonly hypothesis: string;
}

/** An image as the model's manifest wants it, three bytes (red, green, blue) a pixel. */
export interface ImageItem {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** What gets numbers: a text or an image its vector, a pair the probabilities of the labels. */
export type BatchItem = string | TextPair | ImageItem;

/** A sound at 16 kHz. */
export interface SoundItem {
  /** One after the other; in memory that threads share, since there may be much of it. */
  readonly parts: readonly Int16Array[];
  /** Of all parts together. */
  readonly samples: number;
  /** In which it is spoken, as the model's manifest names languages; null: the model finds out, or knows one alone. */
  readonly language: string | null;
}

/** Words, and when they are said: seconds from the sound's beginning. */
export interface SpokenSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface GenerationMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
}

/** What a text is generated from, and how. */
export interface GenerationRequest {
  /** Made into a prompt by the bundle's own template. */
  readonly messages: readonly GenerationMessage[];
  /** What the text is about, for a model that sees. */
  readonly image?: ImageItem;
  /**
   * What the text is to say in writing, for a model that hears; what else is said here of how is of no account then.
   */
  readonly sound?: SoundItem;
  readonly tokensMax: number;
  /** 0: always the most likely token. */
  readonly temperature: number;
  readonly topP: number;
  /** Among so many most likely tokens; absent or 0: among all. */
  readonly topK?: number;
  /** Of equal seeds and requests the texts are equal; null: chosen by chance. */
  readonly seed: number | null;
  /** The text ends before the first of these. */
  readonly stop: readonly string[];
}

export interface GenerationEnd {
  readonly reason: "stop" | "length" | "cancelled";
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of a sound. */
  readonly segments?: readonly SpokenSegment[];
  readonly language?: string | null;
}

/** `id` names a run; the thread's answers to it have the same. */
export type ToInference =
  /** The first message. */
  | { readonly kind: "settings"; readonly settings: InferenceSettings }
  /** Numbers for items, by the bundle in that folder. */
  | { readonly kind: "batch"; readonly id: number; readonly directory: string; readonly items: readonly BatchItem[] }
  | { readonly kind: "generate"; readonly id: number; readonly directory: string; readonly request: GenerationRequest }
  /** End that generation soon. */
  | { readonly kind: "cancel"; readonly id: number }
  /**
   * Release what was loaded from that folder once nothing runs with it, then say so; what comes later loads it again.
   */
  | { readonly kind: "release"; readonly id: number; readonly directory: string }
  /** Finish what runs, release all sessions and let the thread end. */
  | { readonly kind: "close" };

/** How a run went wrong: the bundle is and stays unusable, nothing was free for it, or this run failed. */
export type InferenceFailure = "unusable" | "busy" | "failed";

export type FromInference =
  /** As many numbers for each item, one item's after the other's, by the bundle of that digest. */
  | {
      readonly kind: "numbers";
      readonly id: number;
      readonly numbers: Float32Array;
      readonly tokens: number;
      readonly digest: string;
    }
  | { readonly kind: "piece"; readonly id: number; readonly text: string }
  | { readonly kind: "end"; readonly id: number; readonly end: GenerationEnd }
  | { readonly kind: "failed"; readonly id: number; readonly message: string; readonly failure: InferenceFailure }
  | { readonly kind: "released"; readonly id: number }
  /** What the thread holds now. */
  | { readonly kind: "sessions"; readonly sessions: number; readonly bytes: number };

/** What an actor needs of the thread. */
export interface InferenceThread {
  post(message: ToInference): void;
  /** Set by the lane. */
  onMessage: (message: FromInference) => void;
  /** The thread has ended; set by the lane. */
  onEnd: () => void;
}

export type StartInference = () => InferenceThread;

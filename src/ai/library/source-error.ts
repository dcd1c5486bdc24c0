/**
 * An error at a source of models. Thrown by sources and downloads; the library turns it into the client's error.
 */
export class SourceError extends Error {
  override readonly name = "SourceError";

  constructor(
    message: string,
    /** True when the same request may succeed a little later. */
    readonly mayPass: boolean,
    /** How long the source asks to be left alone. */
    readonly retryAfterMs = 0,
  ) {
    super(message);
  }
}

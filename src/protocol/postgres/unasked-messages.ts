/**
 * Messages that answer no request, as of NOTIFY: between the messages of an answer nothing else may come, so they wait
 * for its end. One per connection, on the thread that writes its socket.
 */

/** With more unsent bytes the client counts as one that does not read. */
export const UNSENT_BYTES = 256 * 1024;

export class UnaskedMessages {
  private waiting: Uint8Array[] = [];

  constructor(
    private readonly isAnswering: () => boolean,
    private readonly write: (bytes: Uint8Array) => void,
  ) {}

  add(messages: readonly Uint8Array[]): void {
    for (const bytes of messages) this.waiting.push(bytes);
    if (!this.isAnswering()) this.send();
  }

  /** An answer has ended. */
  send(): void {
    if (this.waiting.length > 0) for (const bytes of this.waiting.splice(0)) this.write(bytes);
  }
}

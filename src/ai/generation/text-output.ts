/**
 * Tokens as a growing text: a character is sent once all of its bytes are there; a stop text and what follows it never
 * are. One per generation, which owns it.
 */

/** Of a Tokenizer. */
export type Decode = (ids: readonly number[]) => string;

/** A character whose bytes are not all there yet. */
const INCOMPLETE = "�";

export class TextOutput {
  private readonly ids: number[] = [];
  /** What is decoded together with the new tokens, since a token's text may depend on the one before. */
  private from = 0;
  private read = 0;
  /** May be the beginning of a stop text. */
  private held = "";
  private stopped = false;
  private readonly stop: readonly string[];

  constructor(
    private readonly decode: Decode,
    stop: readonly string[],
  ) {
    this.stop = stop.filter((text) => text !== "");
  }

  /** A stop text has come. */
  get isStopped(): boolean {
    return this.stopped;
  }

  /** What can be said now; "": nothing. */
  add(id: number): string {
    if (this.stopped) return "";
    this.ids.push(id);
    const before = this.decode(this.ids.slice(this.from, this.read));
    const after = this.decode(this.ids.slice(this.from));
    if (after.length <= before.length || after.endsWith(INCOMPLETE)) return "";
    this.from = this.read;
    this.read = this.ids.length;
    return this.say(after.slice(before.length));
  }

  /** What was held back; half a character is lost. */
  end(): string {
    if (this.stopped) return "";
    const before = this.decode(this.ids.slice(this.from, this.read));
    const after = this.decode(this.ids.slice(this.from));
    const rest = after.slice(before.length).replace(/�+$/, "");
    const said = this.say(rest);
    if (this.stopped) return said;
    const { held } = this;
    this.held = "";
    return said + held;
  }

  private say(text: string): string {
    if (this.stop.length === 0) return text;
    const whole = this.held + text;
    const places = this.stop.map((stop) => whole.indexOf(stop)).filter((place) => place >= 0);
    if (places.length > 0) {
      this.stopped = true;
      return whole.slice(0, Math.min(...places));
    }
    const kept = Math.max(...this.stop.map((stop) => beginningAtEnd(whole, stop)));
    this.held = whole.slice(whole.length - kept);
    return whole.slice(0, whole.length - kept);
  }
}

/** How many characters at the end of the text are the beginning of `stop`. */
function beginningAtEnd(text: string, stop: string): number {
  for (let length = Math.min(text.length, stop.length - 1); length > 0; length--) {
    if (text.endsWith(stop.slice(0, length))) return length;
  }
  return 0;
}

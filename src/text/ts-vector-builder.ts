/** From texts to a tsvector by a text search configuration. Called by to_tsvector and its relatives. */
import { makeTsVector, positionEntry, tsVectorText } from "../values/ts-vector.js";
import { eachLexeme } from "./text-config.js";

/** Collects the words of one text, or of several with a gap between each two. */
export class TsVectorBuilder {
  private readonly positions = new Map<string, number[]>();
  private place = 0;

  constructor(
    private readonly config: string,
    private readonly checkpoint: () => void,
  ) {}

  /** `gap`: places that stay free behind a text with words. */
  add(text: string, gap = 1): void {
    let hasWords = false;
    const places = eachLexeme(this.config, text, this.checkpoint, (lexeme, place) => {
      hasWords = true;
      const entry = positionEntry(this.place + place, 0);
      const known = this.positions.get(lexeme);
      if (known === undefined) this.positions.set(lexeme, [entry]);
      else known.push(entry);
    });
    this.place += hasWords ? places + gap : places;
  }

  /** The tsvector's text. Throws 54000. */
  finish(): string {
    return tsVectorText(makeTsVector([...this.positions].map(([word, positions]) => ({ word, positions }))));
  }
}

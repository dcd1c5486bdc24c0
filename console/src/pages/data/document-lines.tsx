/** The members of a document, one under the other. */
import type { ComponentChildren } from "preact";

const SHOWN_CHARACTERS = 240;

interface DocumentLinesProps {
  readonly doc: Readonly<Record<string, unknown>>;
  /** How a member's text is shown, if not as it is. */
  readonly shownAs?: (name: string, text: string) => ComponentChildren;
}

export function DocumentLines({ doc, shownAs = (_, text) => shortened(text) }: DocumentLinesProps) {
  return (
    <>
      {Object.entries(doc).map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        return (
          <span key={name} class="document-line">
            <span class="document-name">{name}</span>
            <span>{shownAs(name, text)}</span>
          </span>
        );
      })}
    </>
  );
}

export function shortened(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text;
}

/** The members of a document, one under the other. */

const SHOWN_CHARACTERS = 240;

export function DocumentLines({ doc }: { readonly doc: Readonly<Record<string, unknown>> }) {
  return (
    <>
      {Object.entries(doc).map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        return (
          <span key={name} class="document-line">
            <span class="document-name">{name}</span>
            <span>{text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text}</span>
          </span>
        );
      })}
    </>
  );
}

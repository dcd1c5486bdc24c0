/** What a search has found: scores, passages, content and the names in it. */
import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { roundedText } from "../../lib/format.js";
import { Button } from "../../ui/button.js";
import { CodeBlock } from "../../ui/code-block.js";
import { Dialog } from "../../ui/dialog.js";
import { DocumentLines, shortened } from "../data/document-lines.js";
import { Entities } from "./entities.js";
import type { Hit } from "./searches.js";

const PASSAGES_SHOWN = 3;

export function Hits({ hits }: { readonly hits: readonly Hit[] }) {
  const [open, setOpen] = useState<Hit | null>(null);
  const most = {
    both: Math.max(...hits.map((hit) => hit.both ?? 0), 1e-9),
    words: Math.max(...hits.map((hit) => hit.words ?? 0), 1e-9),
    meaning: Math.max(...hits.map((hit) => hit.meaning ?? 0), 1e-9),
  };
  if (hits.length === 0) return <p class="none">Nothing was found.</p>;
  return (
    <ol class="hits">
      {hits.map((hit, index) => (
        <li key={hit.id} class="hit">
          <div class="hit-scores">
            <span class="hit-place number">{index + 1}</span>
            <Score name="Both" value={hit.both} most={most.both} kind="s1" />
            <Score name="Words" value={hit.words} most={most.words} kind="s2" />
            <Score name="Meaning" value={hit.meaning} most={most.meaning} kind="s3" />
          </div>
          <div class="hit-content">
            <Passages hit={hit} />
            <DocumentLines
              doc={hit.content}
              shownAs={(name, text) => {
                const whole = hit.passages[name]?.find((passage) => withoutMarks(passage) === text);
                return whole === undefined ? shortened(text) : <Marked text={whole} />;
              }}
            />
            <Entities hit={hit} />
          </div>
          <Button kind="quiet" icon="braces" label="The whole document" onClick={() => setOpen(hit)} />
        </li>
      ))}
      {open !== null && (
        <Dialog title={open.id} onClose={() => setOpen(null)} isWide>
          <CodeBlock>{JSON.stringify(open.content, null, 2)}</CodeBlock>
        </Dialog>
      )}
    </ol>
  );
}

interface ScoreProps {
  readonly name: string;
  readonly value: number | null;
  readonly most: number;
  readonly kind: string;
}

function Score({ name, value, most, kind }: ScoreProps) {
  const share = value === null ? 0 : Math.max(0, Math.min(1, value / most));
  return (
    <div class="score">
      <span class="muted">{name}</span>
      <span class="number">{value === null ? "–" : roundedText(value)}</span>
      {value !== null && <span class={`score-bar ${kind}`} style={{ width: `${share * 100}%` }} />}
    </div>
  );
}

/** Those that are less than a member of the document, which is shown with its marks itself. */
function Passages({ hit: { passages, content } }: { readonly hit: Hit }) {
  const found = Object.entries(passages).flatMap(([field, texts]) =>
    texts.filter((text) => withoutMarks(text) !== content[field]).map((text) => [field, text] as const),
  );
  return (
    <>
      {found.slice(0, PASSAGES_SHOWN).map(([field, text]) => (
        <p key={field + text} class="passage">
          <Marked text={text} />
        </p>
      ))}
    </>
  );
}

const MARKED = /<em>([\s\S]*?)<\/em>/;

function withoutMarks(text: string): string {
  return text.split(MARKED).join("");
}

/** The server marks found words by <em>; everything else is text, whatever it looks like. */
export function Marked({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split(MARKED)
        .map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : <Fragment key={i}>{part}</Fragment>))}
    </>
  );
}

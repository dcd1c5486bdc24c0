/** Words of an English text with their kinds, as the package `compromise` tags them. Used by chunks.ts. */
import nlp from "compromise/two";

export interface TaggedTerm {
  readonly text: string;
  /** UTF-16 offsets in the whole text. */
  readonly start: number;
  readonly end: number;
  /** Marks right before it: "(". */
  readonly before: string;
  /** What stands after it, up to the next term: spaces and marks. */
  readonly after: string;
  /** Kinds: Noun, ProperNoun, Person, Verb, … */
  readonly tags: ReadonlySet<string>;
  /** The word's base form, in lower case: "acquire" of "acquired". */
  readonly root: string;
  /** Whether the tagger knew the word, and did not guess from its form. */
  readonly known: boolean;
}

export type TaggedSentence = readonly TaggedTerm[];

interface Term {
  text: string;
  implicit?: string;
  pre: string;
  post: string;
  normal: string;
  root?: string;
  tags: string[];
  confidence?: number;
  offset: { start: number; length: number };
}

/** The tagger's working memory grows with the text that it gets at once. */
const PIECE_CHARACTERS = 10_000;

/** The package's types do not know of `root`. */
const TERM_PARTS: object = { offset: true, terms: { offset: true, root: true } };

/** Sentence by sentence. */
export function* taggedSentences(text: string): Generator<TaggedSentence> {
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    const view = nlp(text.slice(start, end));
    view.compute("root");
    const sentences = view.json(TERM_PARTS) as { terms: Term[] }[];
    for (const { terms } of sentences) yield terms.map((term) => taggedTerm(term, start));
    start = end;
  }
}

/** After a line or a sentence where there is one, else after a word. */
function pieceEnd(text: string, start: number): number {
  const limit = start + PIECE_CHARACTERS;
  if (limit >= text.length) return text.length;
  for (const mark of ["\n", ". ", " "]) {
    const at = text.lastIndexOf(mark, limit - mark.length);
    if (at > start) return at + mark.length;
  }
  return limit;
}

function taggedTerm(term: Term, base: number): TaggedTerm {
  const start = base + term.offset.start;
  return {
    text: term.text === "" ? (term.implicit ?? "") : term.text,
    start,
    end: start + term.text.length,
    before: term.pre,
    after: term.post,
    tags: new Set(term.tags),
    root: term.root ?? term.normal,
    known: term.confidence === undefined || term.confidence > 0.3,
  };
}

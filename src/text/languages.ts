/**
 * The languages that text can be analysed in, by the names that PostgreSQL gives its configurations: a Snowball stemmer
 * (package snowball-stemmers) and a list of words that say nothing (package stopword). "simple" has neither.
 */
import { sqlError } from "../protocol/errors.js";
import { newStemmer, type StopWordList, stopWordsOf } from "../values/stemmer.js";

interface Language {
  readonly stemmer: string | null;
  /** A list of the package, or words. */
  readonly stopWords: StopWordList | readonly string[];
  /** For words of ASCII letters, as PostgreSQL takes another stemmer for them; absent: the same. */
  readonly asciiStemmer?: string;
}

/** Snowball's list for English, which is PostgreSQL's; the package's differs. */
const ENGLISH =
  "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them their theirs themselves what which who whom this that these those am is are was were be been being have has had having do does did doing a an the and but if or because as until while of at by for with about against between into through during before after above below to from up down in out on off over under again further then once here there when where why how all any both each few more most other some such no nor not only own same so than too very s t can will just don should now";

/** Its names are those of values/text-search-configs.ts. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  simple: { stemmer: null, stopWords: [] },
  arabic: { stemmer: "arabic", stopWords: "ara" },
  armenian: { stemmer: "armenian", stopWords: [] },
  basque: { stemmer: "basque", stopWords: "eus" },
  catalan: { stemmer: "catalan", stopWords: "cat" },
  danish: { stemmer: "danish", stopWords: "dan" },
  dutch: { stemmer: "dutch", stopWords: "nld" },
  english: { stemmer: "english", stopWords: ENGLISH.split(" ") },
  finnish: { stemmer: "finnish", stopWords: "fin" },
  french: { stemmer: "french", stopWords: "fra" },
  german: { stemmer: "german", stopWords: "deu" },
  hungarian: { stemmer: "hungarian", stopWords: "hun" },
  irish: { stemmer: "irish", stopWords: [] },
  italian: { stemmer: "italian", stopWords: "ita" },
  norwegian: { stemmer: "norwegian", stopWords: "nob" },
  portuguese: { stemmer: "portuguese", stopWords: "por" },
  romanian: { stemmer: "romanian", stopWords: "ron" },
  russian: { stemmer: "russian", stopWords: "rus", asciiStemmer: "english" },
  spanish: { stemmer: "spanish", stopWords: "spa" },
  swedish: { stemmer: "swedish", stopWords: "swe" },
  tamil: { stemmer: "tamil", stopWords: [] },
  turkish: { stemmer: "turkish", stopWords: "tur" },
};

export const LANGUAGE_NAMES: readonly string[] = Object.keys(LANGUAGES);

/** The language whose stemmer takes words of ASCII letters. */
export function asciiLanguage(name: string): string {
  return LANGUAGES[name]?.asciiStemmer ?? name;
}

/** A stemmer's answers are remembered up to this many words; then the memory is cleared. */
const STEMS_MAX = 100_000;

/** From a word in lower case to what is indexed of it: its stem, or "" for a stop word. */
export type Stem = (word: string) => string;

const stems = new Map<string, Stem>();

/** Throws 42704 for an unknown language. */
export function stemOf(language: string): Stem {
  let stem = stems.get(language);
  if (stem === undefined) {
    stem = makeStem(language);
    stems.set(language, stem);
  }
  return stem;
}

function makeStem(name: string): Stem {
  const language = Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
  if (language === undefined) {
    throw sqlError("42704", `text search configuration "${name}" does not exist`, {
      hint: `There are: ${LANGUAGE_NAMES.join(", ")}.`,
    });
  }
  if (language.stemmer === null) return (word) => word;
  const stemmer = newStemmer(language.stemmer);
  const ascii = language.asciiStemmer === undefined ? null : stemOf(language.asciiStemmer);
  const { stopWords: words } = language;
  const stopWords = new Set(typeof words === "string" ? stopWordsOf(words) : words);
  const known = new Map<string, string>();
  return (word) => {
    if (ascii !== null && /^[a-z]+$/.test(word)) return ascii(word);
    let stem = known.get(word);
    if (stem === undefined) {
      if (known.size >= STEMS_MAX) known.clear();
      stem = stopWords.has(word) ? "" : stemmer.stem(word);
      known.set(word, stem);
    }
    return stem;
  };
}

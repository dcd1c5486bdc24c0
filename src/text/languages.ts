/**
 * The languages that text can be analysed in, by the names that PostgreSQL gives its configurations: a Snowball stemmer
 * (package snowball-stemmers) and a list of words that say nothing (package stopword). "simple" has neither.
 */
import { newStemmer } from "snowball-stemmers";
import * as stopword from "stopword";
import { sqlError } from "../protocol/errors.js";

interface Language {
  readonly stemmer: string | null;
  /** Names of the package's lists are ISO 639-3 codes. */
  readonly stopWords: readonly string[];
  /** For words of ASCII letters, as PostgreSQL takes another stemmer for them; absent: the same. */
  readonly asciiStemmer?: string;
}

/** Snowball's list for English, which is PostgreSQL's; the package's differs. */
const ENGLISH =
  "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them their theirs themselves what which who whom this that these those am is are was were be been being have has had having do does did doing a an the and but if or because as until while of at by for with about against between into through during before after above below to from up down in out on off over under again further then once here there when where why how all any both each few more most other some such no nor not only own same so than too very s t can will just don should now";

/** Its names are those of values/text-search-configs.ts. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  simple: { stemmer: null, stopWords: [] },
  arabic: { stemmer: "arabic", stopWords: stopword.ara },
  armenian: { stemmer: "armenian", stopWords: [] },
  basque: { stemmer: "basque", stopWords: stopword.eus },
  catalan: { stemmer: "catalan", stopWords: stopword.cat },
  danish: { stemmer: "danish", stopWords: stopword.dan },
  dutch: { stemmer: "dutch", stopWords: stopword.nld },
  english: { stemmer: "english", stopWords: ENGLISH.split(" ") },
  finnish: { stemmer: "finnish", stopWords: stopword.fin },
  french: { stemmer: "french", stopWords: stopword.fra },
  german: { stemmer: "german", stopWords: stopword.deu },
  hungarian: { stemmer: "hungarian", stopWords: stopword.hun },
  irish: { stemmer: "irish", stopWords: [] },
  italian: { stemmer: "italian", stopWords: stopword.ita },
  norwegian: { stemmer: "norwegian", stopWords: stopword.nob },
  portuguese: { stemmer: "portuguese", stopWords: stopword.por },
  romanian: { stemmer: "romanian", stopWords: stopword.ron },
  russian: { stemmer: "russian", stopWords: stopword.rus, asciiStemmer: "english" },
  spanish: { stemmer: "spanish", stopWords: stopword.spa },
  swedish: { stemmer: "swedish", stopWords: stopword.swe },
  tamil: { stemmer: "tamil", stopWords: [] },
  turkish: { stemmer: "turkish", stopWords: stopword.tur },
};

export const LANGUAGE_NAMES: readonly string[] = Object.keys(LANGUAGES);

/** The language whose stemmer takes words of ASCII letters. */
export function asciiLanguage(name: string): string {
  return LANGUAGES[name]?.asciiStemmer ?? name;
}

/** Answers of a stemmer are remembered for so many words; then it begins anew. */
const STEMS_MAX = 100_000;

/** From a word in lower case to what is indexed of it: its stem, or "" for a stop word. */
export type Stem = (word: string) => string;

const stems = new Map<string, Stem>();

/** Throws 42704 for a language that there is not. */
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
  const stopWords = new Set(language.stopWords);
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

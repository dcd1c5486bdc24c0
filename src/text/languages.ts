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
}

/** What PostgreSQL's list for English has and the package's has not. */
const MORE_ENGLISH =
  "again am because below between both did does doing down during each few further had having her here hers herself him himself his how i if into itself just more most my myself nor now off once only other our ours ourselves out own same she should so some such than their theirs them themselves then there these they those through too under until up very were what when where which while whom why will you your yours yourself yourselves don t s";

const LANGUAGES: Readonly<Record<string, Language>> = {
  simple: { stemmer: null, stopWords: [] },
  arabic: { stemmer: "arabic", stopWords: stopword.ara },
  basque: { stemmer: "basque", stopWords: stopword.eus },
  catalan: { stemmer: "catalan", stopWords: stopword.cat },
  danish: { stemmer: "danish", stopWords: stopword.dan },
  dutch: { stemmer: "dutch", stopWords: stopword.nld },
  english: { stemmer: "english", stopWords: [...stopword.eng, ...MORE_ENGLISH.split(" ")] },
  finnish: { stemmer: "finnish", stopWords: stopword.fin },
  french: { stemmer: "french", stopWords: stopword.fra },
  german: { stemmer: "german", stopWords: stopword.deu },
  hungarian: { stemmer: "hungarian", stopWords: stopword.hun },
  italian: { stemmer: "italian", stopWords: stopword.ita },
  norwegian: { stemmer: "norwegian", stopWords: stopword.nob },
  portuguese: { stemmer: "portuguese", stopWords: stopword.por },
  romanian: { stemmer: "romanian", stopWords: stopword.ron },
  russian: { stemmer: "russian", stopWords: stopword.rus },
  spanish: { stemmer: "spanish", stopWords: stopword.spa },
  swedish: { stemmer: "swedish", stopWords: stopword.swe },
  turkish: { stemmer: "turkish", stopWords: stopword.tur },
};

export const LANGUAGE_NAMES: readonly string[] = Object.keys(LANGUAGES);

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
  const stopWords = new Set(language.stopWords);
  const known = new Map<string, string>();
  return (word) => {
    let stem = known.get(word);
    if (stem === undefined) {
      if (known.size >= STEMS_MAX) known.clear();
      stem = stopWords.has(word) ? "" : stemmer.stem(word);
      known.set(word, stem);
    }
    return stem;
  };
}

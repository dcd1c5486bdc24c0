/** The words of a question or sentence that say what it is about, as stems. Used by the helpers beside it. */
import { newStemmer } from "snowball-stemmers";

const stemmer = newStemmer("english");
const STOP = new Set(
  "a an the is are was were be been do does did of in on at to for from with by and or it its this that these those there what which who whom whose when where why how many much long far old has have had can could will would should".split(
    " ",
  ),
);

export function stemsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => !STOP.has(word)).map((word) => stemmer.stem(word)));
}

/**
 * Whether a word of a name is short for a word of a question: `rgn` for region, `alc` for alcohol. The usual ones are
 * listed in the vocabulary; this tells those that nobody listed. Called by `name-mentions.ts`; stateless.
 */

const CONSONANTS = /^[b-df-hj-np-tv-z]{3,6}$/;
/** `agt` for agent. */
const VOWEL_FIRST = /^[aeiou][b-df-hj-np-tv-z]{2,5}$/;
const BEGINNING = /^[a-z]{2,4}[b-df-hj-np-tv-z]$/;
/** `stu` for student; longer ones that end so are mostly words. */
const VOWEL_ENDING = /^[b-df-hj-np-tv-z]{2}[aiou]$|^[b-df-hj-np-tv-z][aiou]{2}$/;
/** So many letters more than its beginning a word has at least. */
const CUT_MIN = 3;
const BY_CONSONANTS = 0.9;
const BY_BEGINNING = 0.85;
/** They are words themselves, with which others begin. */
const WORDS: ReadonlySet<string> = new Set(
  (
    "act add age aid air all and ant any arm art ask axe bad ban bar bat bed bell bill block board boat book box bus can cap car card cart chair chart clip club cook corn " +
    "court cross crown door ear egg elf elm end err its ice ill inn ink old orb org draw drop drum farm fast film fin firm fish flat flow foot form gas girl gold good grand hand hard " +
    "head hear help her hill him hot hour house just kin kit lad land law lead led let light link log long lot man mark mass " +
    "mat men met mill mort nap near net new not off out own pan par part pass past pen per pet pin plan plant plat port post " +
    "pot press pub rain ran rat read real red rest ring road roll room run sand sat seat sell sent set ship shop short sin " +
    "sit song star start stat step stock stop sun sum tax team term test text than that tick tour town track train trip war " +
    "ward warn wash wat web week west wild will win wind with word work yard pro spa tea two via who zoo"
  ).split(" "),
);

/** How well it fits, 0 to 1; `word` in lower case. */
export function abbreviationScore(short: string, word: string): number {
  if (short.length < 3 || word[0] !== short[0] || word.length <= short.length) return 0;
  for (const form of singularsOf(word)) {
    const mayBeSkeleton = CONSONANTS.test(short) || (VOWEL_FIRST.test(short) && !WORDS.has(short));
    if (mayBeSkeleton && isSkeleton(short, form)) return BY_CONSONANTS;
    const isCut = form.startsWith(short) && form.length >= short.length + CUT_MIN;
    const isBeginning = BEGINNING.test(short) || VOWEL_ENDING.test(short);
    if (isCut && isBeginning && !WORDS.has(short)) return BY_BEGINNING;
  }
  return 0;
}

function singularsOf(word: string): readonly string[] {
  const forms = [word];
  if (/[^s]s$/.test(word)) forms.push(word.slice(0, -1));
  if (/ies$/.test(word)) forms.push(`${word.slice(0, -3)}y`);
  return forms;
}

/** Its letters stand in the word in their order, and its last is the word's last consonant: `prc` of price. */
function isSkeleton(short: string, word: string): boolean {
  const last = /[b-df-hj-np-tv-z](?=[aeiouy]*$)/.exec(word)?.[0];
  if (last !== short.at(-1)) return false;
  let at = 0;
  for (const letter of word) if (letter === short[at]) at++;
  return at === short.length;
}

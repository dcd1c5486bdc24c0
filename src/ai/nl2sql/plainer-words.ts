/** Questions in other words that say the same and that the rules know. Called by `match-question.ts`; stateless. */

const PLAINER: readonly (readonly [said: RegExp, plain: string])[] = [
  // "The last visit of every pet" is one of each.
  [
    /\b((?:last|first|latest|earliest|newest|oldest|most recent|\w{3,}est)\s.*?\b(?:of|for|in|by|from))\s+every\b/i,
    "$1 each",
  ],
  // "Shops that ordered nothing".
  [
    /\b(who|that|which)\s+(?:have\s+|has\s+|had\s+)?(\w+ed|bought|sold|paid|made)\s+nothing\b/i,
    "$1 have never $2 anything",
  ],
  [/\b((?:never|not)\s+\w+)\s+(anything|anyone)\s+(?:yet|so far|at all)\b/i, "$1 $2"],
];

export function plainerWords(text: string): string {
  return PLAINER.reduce((words, [said, plain]) => words.replace(said, plain), text);
}

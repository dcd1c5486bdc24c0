/** Questions in other words that say the same and that the rules know. Called by `match-question.ts`; stateless. */

type Plain = string | ((...said: string[]) => string);

const PLAINER: readonly (readonly [said: RegExp, plain: Plain])[] = [
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
  // "How long does a delivery take on average", "how many days do repairs last on average".
  [
    /^how\s+(?:long|many\s+(days|hours|minutes|weeks))\s+(?:does|do|did|is|are|was|were)\s+(?:an?\s+|the\s+|our\s+)?(.+?)(?:\s+(?:take|takes|last|stay|run))?\s+on\s+average(?=[\s?.!]*$)/i,
    (_, unit, things) => `average duration of ${things}${unit === undefined ? "" : ` in ${unit}`}`,
  ],
  [
    /^how\s+(?:long|many\s+(days|hours|minutes|weeks))\s+on\s+average\s+(?:does|do|did|is|are)\s+(?:an?\s+|the\s+|our\s+)?(.+?)(?:\s+(?:take|takes|last|stay|run))?(?=[\s?.!]*$)/i,
    (_, unit, things) => `average duration of ${things}${unit === undefined ? "" : ` in ${unit}`}`,
  ],
  // "Which room is used most often".
  [
    /^(?:which|what)\s+(\w+)\s+(?:is|are|was|were|has\s+been|have\s+been|gets?|got)\s+(\w+(?:ed|en|ought|old|ung))\s+(?:the\s+)?(most|least)(?:\s+(?:often|frequently))?(?=[\s?.!]*$)/i,
    "$3 often $2 $1",
  ],
  // "Number of visits per pet, including pets with none": they are counted as 0.
  [
    /^(?:the\s+)?(?:number|count)\s+of\s+(.+?)\s+(?:per|by|(?:of|for|in|at)\s+(?:each|every))\s+([\w\s]+?)\s*,?\s+(?:including|also|even)\s+.*?\b(?:none|zero|0|without(?:\s+any)?|no\s+\w+)(?=[\s?.!]*$)/i,
    "how many $1 does each $2 have",
  ],
  [/\b((?:never|not)\s+\w+)\s+(anything|anyone)\s+(?:yet|so far|at all)\b/i, "$1 $2"],
];

export function plainerWords(text: string): string {
  return PLAINER.reduce((words, [said, plain]) => words.replace(said, plain as string), text);
}

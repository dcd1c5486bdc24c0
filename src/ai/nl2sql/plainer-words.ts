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
  // "First and last names".
  [/\b(first|given)\s+(and|or|,)\s+(last|family)\s+(names?)\b/gi, "$1 $4 $2 $3 $4"],
  [/\b(last|family)\s+(and|or|,)\s+(first|given)\s+(names?)\b/gi, "$1 $4 $2 $3 $4"],
  // "In descending order of height", "from the highest to the lowest".
  [
    /,?\s+in\s+(ascending|descending|increasing|decreasing)\s+order\s+(?:of|by)\s+(?:the\s+|their\s+)?([\w\s]+?)(?=[\s?.!]*$)/i,
    (_, way, name) => ` ordered by ${name} ${/^[ai]/i.test(way!) && !/^de/i.test(way!) ? "ascending" : "descending"}`,
  ],
  [
    /(?<!by\s+\w+),?\s+from\s+(?:the\s+)?(highest|largest|lowest|smallest)\s+to\s+(?:the\s+)?(?:lowest|smallest|highest|largest)(?=[\s?.!]*$)/i,
    ", $1 first",
  ],
  // "The smallest and the largest height".
  [
    /\b(?:smallest|lowest)\s+and\s+(?:the\s+)?(?:largest|highest|greatest|biggest)\s+(\w+)\s+(?=of|for|among|in|per)/gi,
    "minimum and maximum $1 ",
  ],
  [/\s+(?:yet|so\s+far)(?=[\s?.!]*$)/i, ""],
  [/\bsquare\s+(?:metres?|meters?)\b/gi, "sqm"],
  [/\bsquare\s+(?:kilometres?|kilometers?|km)\b/gi, "km2"],
  // "And order the results by age".
  [/,?\s+and\s+(?:order|sort|list|rank)\s+(?:the\s+results?|the\s+list|them|these)\s+by\s+/i, " ordered by "],
  // "The museum visited most often".
  [/\bthe\s+(\w+)\s+(\w+ed)\s+(?:the\s+)?most\s+(?:often|frequently)\b/i, "the most often $2 $1"],
  [/\b(maximum|minimum|average|total)\s+and\s+the\s+(?=(?:maximum|minimum|average|total)\b)/gi, "$1 and "],
  // "In the 17th century".
  [
    /\b(?:in|during)\s+the\s+(1[5-9]|2[01])(?:st|th)\s+century\b/gi,
    (_, century) => `between ${Number(century) - 1}01 and ${century}00`,
  ],
  [/\bwent\s+to\b/gi, "visited"],
  [/\bper\s+number\s+of\s+/gi, "per "],
  // "In 1974, how many cars were made".
  [/^in\s+(\d{4}),\s+(.+?)[\s?.!]*$/i, "$2 in $1"],
  // "Spoken in the largest number of countries".
  [/\bthe\s+(?:largest|highest|greatest|biggest)\s+number\s+of\b/gi, "the most"],
  [/\bthe\s+(?:smallest|lowest|least)\s+number\s+of\b/gi, "the fewest"],
  [
    /\b(?:is|are|was|were)\s+(?:used|spoken|played|shared|offered|visited)\s+(?:by|in|at)\s+the\s+(most|fewest)\b/gi,
    "has the $1",
  ],
  [/\b(?:used|spoken|played|shared|offered|visited)\s+(?:by|in|at)\s+the\s+(most|fewest)\b/gi, "with the $1"],
  // "In year 2014 or after", "in 2014 or 2015".
  [/\bin\s+(?:the\s+)?(?:year\s+)?(\d{4})\s+or\s+(?:after|later)\b/gi, "since $1"],
  [/\bin\s+(?:the\s+)?(?:years?\s+)?(\d{4})\s+or\s+(?:in\s+)?(\d{4})\b/gi, "in $1 or in $2"],
  // "In the 1990s", also of numbers of years.
  [/\b(?:in|during)\s+the\s+((?:1[89]|20)\d)0s\b/gi, (_, decade) => `between ${decade}0 and ${decade}9`],
  // "Which has the substring 'East'".
  [
    /\b(?:(?:that|which)\s+)?(?:has|have|having|with)\s+(?:the\s+|a\s+)?(?:substring|word|letters?|phrase)\s+(?=['"‘“])/gi,
    "contains ",
  ],
  // "Among the pets with chips, how many are dogs".
  [
    /^(?:among|of|out\s+of)\s+(?:all\s+)?(?:of\s+)?the\s+(.+?),\s*how\s+many\s+(?:of\s+them\s+)?(are|were|is|have|has|had|do|did|can)\s+/i,
    "how many $1 $2 ",
  ],
  // "In which years were there more than 4 races".
  [/^in\s+(which|what)\s+(\w+)\s+(?:were|are|was|is)\s+there\s+/i, "$1 $2 had "],
  [/\b(no|without)\s+(\w+(?:\s+\w+)?)\s+(?:recorded|given|specified|on\s+(?:record|file))\b/gi, "$1 $2"],
  [/\b((?:never|not)\s+\w+)\s+(anything|anyone)\s+(?:yet|so far|at all)\b/i, "$1 $2"],
];

export function plainerWords(text: string): string {
  return PLAINER.reduce((words, [said, plain]) => words.replace(said, plain as string), withoutRepeat(text));
}

const REPEAT = /^(.+?)[.?!]\s+(?:please\s+)?(?:show|list|give|return|report)\s+(?:me\s+)?([\w\s,]+?)[.?!\s]*$/is;
const LITTLE = new Set("the and a an of its their each count number name".split(" "));

/** "Find the maximum weight for each type of pet. List the maximum weight and the type": the second says no more. */
function withoutRepeat(text: string): string {
  const [, first, second] = REPEAT.exec(text) ?? [];
  if (first === undefined) return text;
  const said = new Set(wordsIn(first));
  return wordsIn(second!).every((word) => said.has(word) || LITTLE.has(word)) ? first : text;
}

const wordsIn = (text: string) => (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map((word) => word.replace(/s$/, ""));

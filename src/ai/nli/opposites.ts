/** Words with opposite meanings, and words that deny; compare-texts.ts uses them. For English. Holds no state. */

/** Each pair of a line, in both directions. */
const PAIRS = `
above below|accept reject|accepted rejected|active inactive|add remove|added removed|adult child|after before|alive dead|all none
all no|allow forbid|allowed forbidden|allows forbids|always never|ancient modern|arrive depart|arrived departed|arrives departs
asleep awake|available unavailable|bad good|beautiful ugly|begin end|begins ends|began ended|best worst|better worse|big small
black white|bottom top|bought sold|boy girl|broken intact|build destroy|built destroyed|buy sell|buys sells|cheap expensive
clean dirty|clean polluted|cleared blocked|closed open|closes opens|cold hot|cold warm|correct wrong|cry laugh|dark bright
dark light|day night|decrease increase|decreased increased|decreases increases|deep shallow|defeat victory|deny confirm
denied confirmed|dry wet|early late|east west|easy difficult|easy hard|empty full|enable disable|enabled disabled|enter leave
enemy friend|even odd|everybody nobody|everyone nobody|everything nothing|exclude include|excludes includes|fail pass
failed passed|fall rise|falling rising|falls rises|fell rose|false true|fast slow|faster slower|female male|few many|first last
fewer more|found lost|frozen thawed|gain lose|gained lost|grew shrank|guilty innocent|happy sad|harmful harmless|healthy ill
healthy sick|heavy light|heavier lighter|high low|higher lower|highest lowest|husband wife|inside outside|indoors outdoors
junior senior|just unjust|large small|larger smaller|largest smallest|left right|legal illegal|less more|long short|longer shorter
longest shortest|lose win|loses wins|lost won|loud quiet|man woman|maximum minimum|men women|most least|mandatory optional
must mustn't|narrow wide|natural artificial|near far|new old|newer older|noisy quiet|north south|off on|older younger|old young
over under|parallel perpendicular|past future|permit prohibit|permitted prohibited|permits prohibits|poor rich|positive negative
present absent|private public|raise lower|raised lowered|raises lowers|rough smooth|safe dangerous|same different|simple complex
sit stand|sitting standing|start stop|started stopped|starts stops|strong weak|stronger weaker|succeed fail|succeeded failed
sunny rainy|sweet sour|tall short|taller shorter|temporary permanent|thick thin|tight loose|today yesterday|today tomorrow
tomorrow yesterday|up down|upstairs downstairs|useful useless|vertical horizontal|visible invisible|war peace|winter summer
with without
`;

const OPPOSITES = new Map<string, Set<string>>();
for (const pair of PAIRS.split(/[|\n]/)) {
  const [one, other] = pair.split(" ");
  if (one === undefined || other === undefined) continue;
  for (const [a, b] of [
    [one, other],
    [other, one],
  ] as const) {
    const known = OPPOSITES.get(a);
    if (known === undefined) OPPOSITES.set(a, new Set([b]));
    else known.add(b);
  }
}

/** What makes a word its opposite; what it leaves must be a word of some length, else "in" would deny "to". */
const DENYING_PREFIX = /^(?:un|in|im|il|ir|dis|non)(?=\p{L}{4})/u;

/** Of words in lower case. */
export function isOpposite(one: string, other: string): boolean {
  return (
    OPPOSITES.get(one)?.has(other) === true ||
    (one !== other && (one.replace(DENYING_PREFIX, "") === other || other.replace(DENYING_PREFIX, "") === one))
  );
}

export const DENYING_WORDS: ReadonlySet<string> = new Set(["not", "never", "no", "cannot", "nor", "neither"]);

/** Before a verb, to deny it. */
export const AUXILIARIES: ReadonlySet<string> = new Set(["do", "does", "did"]);

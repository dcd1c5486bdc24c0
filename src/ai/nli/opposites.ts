/**
 * Words with opposite meanings, and words that deny; the comparisons of claims use them. For English. Holds no state.
 */
import { englishStem } from "../../values/stemmer.js";

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

let oppositeStems: ReadonlySet<string> | undefined;

/** Made when it is first asked for: every start would pay for it. */
function stemsOfOpposites(): ReadonlySet<string> {
  oppositeStems ??= new Set(
    [...OPPOSITES].flatMap(([one, others]) => [...others].map((other) => `${englishStem(one)} ${englishStem(other)}`)),
  );
  return oppositeStems;
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

/**
 * States, and the events that bring them about: words of one side say nearly the same, words of the two sides exclude
 * each other. A line may have one side.
 */
const SIDES = `
alive living lives survive survived|dead die dies died death deceased killed murdered assassinated executed drowned
exist exists existed existing standing intact|destroyed demolished extinct vanished ruined abolished burned
open opens opened|close closes closed shut
married wed|single unmarried divorced widowed
working works functioning functional operational|broken defective faulty
allowed permitted legal allow allows permit permits|forbidden prohibited banned illegal forbid forbids prohibit prohibits
accept accepts accepted approve approves approved agree agreed agrees adopted passed ratified|reject rejects rejected refuse refuses refused decline declined denied vetoed
safe harmless|dangerous unsafe harmful poisonous toxic hazardous
rise rises rose risen increase increases increased grew grow grows climbed gained|fall falls fell fallen decrease decreases decreased dropped declined shrank shrunk sank lowered
profit gain gained earned|loss lost
valid current|expired invalid lapsed void
mandatory compulsory obligatory required|optional voluntary
warm hot|cold cool icy freezing
often frequently usually regularly|rarely seldom hardly
easy simple|difficult hard complicated
full crowded|empty deserted
true correct accurate right|false untrue incorrect wrong
succeed succeeded success passed|fail failed fails failure
guilty convicted|innocent acquitted
confirm confirms confirmed|deny denies denied
present attended|absent missing
cheap inexpensive|expensive costly dear
began begin begins started start starts opened founded|ended ends end finished stopped closed dissolved
finish finished complete completed done|unfinished incomplete
wet damp soaked|dry
win won|lose lost
founded established created|dissolved abolished
hired employed appointed|fired dismissed sacked
free|occupied taken
passable usable|impassable unusable
appear appeared|disappear disappeared vanished
remember remembers remembered|forget forgets forgot
north northern|south southern
east eastern|west western
big large huge great|small tiny little
early|late delayed
public|private secret
attend attended joined|skipped missed
height tall high
length long
width wide
depth deep
weight weighs weighed heavy
price cost costs costing
`;
const sides = new Map<string, Set<string>>();
for (const [number, line] of SIDES.trim().split("\n").entries()) {
  for (const [side, words] of line.split("|").entries()) {
    for (const word of words.split(" ")) sides.set(word, (sides.get(word) ?? new Set()).add(`${number}${"ab"[side]}`));
  }
}

/** A thing has one of them, at a place. */
const COLOURS = new Set("red green blue yellow orange purple violet pink brown black white grey gray".split(" "));

export const isColour = (word: string): boolean => COLOURS.has(word);

interface Form {
  readonly word: string;
  readonly stem: string;
}

/** Whether both say nearly the same of a state. */
export function isSameSide(one: Form, other: Form): boolean {
  const others = sides.get(other.word);
  return others !== undefined && [...(sides.get(one.word) ?? [])].some((side) => others.has(side));
}

/** Whether they are opposites, in whatever form. */
export function isOppositeSide(one: Form, other: Form): boolean {
  if (isOpposite(one.word, other.word) || stemsOfOpposites().has(`${one.stem} ${other.stem}`)) return true;
  if (one.word !== other.word && COLOURS.has(one.word) && COLOURS.has(other.word)) return true;
  const others = sides.get(other.word);
  const turned = (side: string) => `${side.slice(0, -1)}${side.endsWith("a") ? "b" : "a"}`;
  return others !== undefined && [...(sides.get(one.word) ?? [])].some((side) => others.has(turned(side)));
}

export const DENYING_WORDS: ReadonlySet<string> = new Set(
  "not never no cannot nor neither none nobody nothing without hardly".split(" "),
);
/** Before "to" and before "that", these deny what follows. */
export const DENIED_BEFORE_TO =
  /^(?:fail(?:s|ed)?|refuse[sd]?|decline[sd]?|forg[eo]ts?|unable|impossible|neglect(?:s|ed)?)$/;
export const DENIED_BEFORE_THAT = /^(?:false|untrue|den(?:y|ies|ied)|wrong|impossible)$/;

/** Before a verb, to deny it. */
export const AUXILIARIES: ReadonlySet<string> = new Set(["do", "does", "did"]);

/**
 * A clause of the first person as a fact of the third: "I moved to Rome" becomes "The user lives in Rome." Empty where
 * no pattern knows the clause, or where it says nothing that lasts. For English. Pure; called by extract-facts.ts.
 */
import { kindsOf } from "./value-kinds.js";

type Groups = Readonly<Record<string, string>>;

interface Pattern {
  readonly test: RegExp;
  readonly facts: (found: Groups) => readonly string[];
}

const p = (test: string, facts: (found: Groups) => string | readonly string[] | null): Pattern => ({
  test: new RegExp(`^(?:${test})$`, "u"),
  facts: (found) => {
    const made = facts(found);
    return made === null ? [] : typeof made === "string" ? [made] : made;
  },
});

const NAME = "\\p{Lu}[\\p{L}'’-]+(?: \\p{Lu}[\\p{L}'’-]+)?";
const ADVERB = "(?<adv>(?:also|always|usually|often|really|mostly|sometimes|only|mainly|both) )?";
const VERBS =
  "live|work|study|like|love|hate|dislike|enjoy|prefer|adore|speak|play|own|drive|use|eat|drink|smoke|collect|teach|run|go|take|weigh|wake up|" +
  "get up|wear|cook|grow|volunteer|practise|practice|read|ride|keep|sing|paint|swim|support|bake|need|commute|sleep|train|dance|vote|avoid|follow|watch|want|sail|write";
/** What lasts, of what one can be. */
const STATES =
  "vegetarian|vegan|pescatarian|single|married|divorced|engaged|widowed|retired|pregnant|self-employed|unemployed|left-handed|right-handed|" +
  "diabetic|colou?r-?blind|deaf|blind|lactose intolerant|gluten intolerant|coeliac|celiac|dyslexic|disabled|jewish|muslim|catholic|christian|hindu|buddhist|" +
  "German|French|Spanish|Italian|Polish|Portuguese|Dutch|Swedish|Norwegian|Danish|Finnish|English|Scottish|Welsh|Irish|British|American|Canadian|Australian|Indian|Chinese|Japanese|Turkish|Greek|Russian|Ukrainian|Austrian|Swiss|Belgian|Brazilian|Mexican";
const STATE_PHRASES =
  "allergic to|afraid of|scared of|married to|engaged to|dating|learning|studying|training for|working at|working for|working as|based in|from|fluent in|fond of|interested in|responsible for|in charge of|intolerant to|a member of|a fan of|reading";
/** People and things of one's own that facts are about. */
const OWN =
  "name|wife|husband|partner|girlfriend|boyfriend|mother|father|mom|mum|dad|sister|brother|son|daughter|kids?|children|dog|cat|parrot|rabbit|horse|pet|boss|manager|landlord|doctor|dentist|" +
  "neighbou?r|colleague|friend|job|hobby|goal|profession|favou?rite [\\p{L} ]+?|e-?mail(?: address)?|phone(?: number)?|address|time ?zone|budget|deadline|birthday|weight|height|age|salary|" +
  "nationality|native language|mother tongue|username|shoe size|blood type|car|bike|team|company|school|university|surname|last name|nickname|diet|rent";
/** No facts: they lean on something said before, or pass. */
const VAGUE_OBJECT =
  /^(?:it|this|that|these|those|them|him|her|you|your|to|so|not|some|something|someone|one|help|more|been|had|no idea|no time|no|and|well|forward|ahead|on|back|(?:an?|the) (?:new )?(?:question|idea|problem|issue|look|headache|cold|feeling|phone number|e-?mail|address|job|good month|lot of (?:work|things)|permit|sore throat|bad day|good day|tough talk))(?: |$)/i;
const NUMBER = "\\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve";
const WHEN =
  /\b(?:tomorrow|tonight|next (?:week|month|year|spring|summer|autumn|winter)|this (?:spring|summer|autumn|winter))\b/i;

const user = (rest: string) => `The user ${rest}.`;
const has = (what: string) => (VAGUE_OBJECT.test(what) ? null : user(`has ${what}`));

const PATTERNS: readonly Pattern[] = [
  p(
    `(?:my name is|you can call me|(?:please )?call me|everyone calls me|I am called|I go by) (?<n>${NAME})(?: now)?`,
    ({ n }) => `The user's name is ${n}.`,
  ),
  p(`(?:I am|it is|this is) (?<n>${NAME})(?: from (?<f>\\p{Lu}.*))?`, ({ n, f }) =>
    new RegExp(`^(?:${STATES})$`, "u").test(n!)
      ? user(`is ${n}`)
      : [`The user's name is ${n}.`, ...(f === undefined ? [] : [user(`is from ${f}`)])],
  ),
  p(
    `I (?:am|turned|just turned|have turned) (?<o>\\d{1,3})(?: years old)?(?: (?:yesterday|today|last week|last month|this week))?`,
    ({ o }) => user(`is ${o} years old`),
  ),
  p(
    "(?:I|we) (?:have )?(?:just |recently |finally )?(?:moved|relocated) (?:house |back |out |away )?(?:from .+? )?to (?<o>\\p{Lu}.*)",
    ({ o }) => user(`lives in ${place(o!)}`),
  ),
  p(
    "(?:my|our) (?<w>[\\p{L}-]+(?: [\\p{L}-]+)?)'s name is (?<o>\\p{Lu}.*)",
    ({ w, o }) => `The user's ${w} is called ${o}.`,
  ),
  p("(?:I|we) am living in (?<o>.+)", ({ o }) => user(`lives in ${place(o!)}`)),
  p(
    "(?:I|we) (?:have )?(?:just |finally )?(?:quit|left|resigned from) (?:(?:my|the) job (?:at|with) )?(?<o>(?:the )?\\p{Lu}.*)",
    ({ o }) => user(`no longer works at ${withoutTime(o!)}`),
  ),
  p("I (?:have )?(?:just )?(?:quit|left|lost) my job", () => user("is unemployed")),
  p(
    "I (?:have )?(?:just |recently )?(?:joined|started (?:working )?(?:at|for)|started (?:an? |my )?(?:new )?(?:job|work) (?:at|with)|got (?:an? )?(?:new )?job (?:at|with)) (?<o>.+)",
    ({ o }) =>
      /\p{Lu}|^an? /u.test(o!) && !/club|gym|team|course/i.test(o!) ? user(`works at ${withoutTime(o!)}`) : null,
  ),
  p(
    "I (?:have )?(?:just |recently )?started (?<w>learning|playing|studying|training|taking|going|practising) (?<o>.+)",
    ({ w, o }) => user(`${thirdPerson(w === "learning" ? "learn" : baseOf(w!))} ${o}`),
  ),
  p("I (?:am|have been) no longer (?<o>.+)", ({ o }) => user(`is no longer ${o}`)),
  p(
    "I am (?:not|no longer) (?<w>working|living|playing|studying|learning|dating) (?<o>.+?)(?: any ?more)?",
    ({ w, o }) =>
      user(w === "learning" || w === "dating" ? `is not ${w} ${o}` : `no longer ${thirdPerson(baseOf(w!))} ${o}`),
  ),
  p(`I am not (?<o>(?:an? )?.+?) any ?(?:more|longer)`, ({ o }) => user(`is no longer ${o}`)),
  p(`I am (?<not>not )?(?<adv>also )?(?<o>(?:${STATE_PHRASES}) .+)`, ({ not = "", adv = "", o }) =>
    VAGUE_OBJECT.test(o!.replace(/^.+? (?:to|of|for|at|in|as) /, "")) ? null : user(`is ${not}${adv}${o}`),
  ),
  p(`I am (?<not>not )?(?<o>(?:${STATES})(?: again)?)`, ({ not = "", o }) => user(`is ${not}${o}`)),
  p(
    "I am (?<not>not )?(?<o>(?:an? |the (?:owner|head|founder|manager|mother|father|captain|treasurer|director) )(?!bit|little|lot|few).+)",
    ({ not = "", o }) => user(`is ${not}${o}`),
  ),
  p("I am (?:going to|about to|planning to) (?<o>.+)", ({ o }) => (isDated(o!) ? user(`is going to ${o}`) : null)),
  p("I am (?<w>flying|travell?ing|moving|driving|going|meeting|visiting|starting|leaving) (?<o>.+)", ({ w, o }) =>
    isDated(o!) ? user(`is ${w} ${o}`) : null,
  ),
  p("I will (?<o>.+)", ({ o }) => (isDated(o!) ? user(`will ${o}`) : null)),
  p(
    "(?:I|we) (?:have )?(?:just |recently |finally )?(?:adopted|bought|got) (?<o>(?:an? |two |three )(?!lot|bit).+)",
    ({ o }) => (/^an? (?:second|third|new job)/.test(o!) ? null : has(withoutTime(o!))),
  ),
  p("(?:I|we) (?:have )?(?:just |recently |finally )?(?:sold|gave away|lost) (?:my|our) (?<o>.+)", ({ o }) =>
    user(`sold the ${withoutTime(o!)}`),
  ),
  p("(?:I|we) (?:have )?(?:just )?(?:got |gotten )?(?:engaged to|married to|married) (?<o>\\p{Lu}.*)", ({ o }) =>
    user(`is married to ${withoutTime(o!)}`),
  ),
  p(
    `(?:(?:my wife|my husband|${NAME}) and I|we|I) (?:have |are |am )?(?:just )?(?:got |gotten )?(?<o>divorced|married|engaged|separated)`,
    ({ o }) => user(`is ${o}`),
  ),
  p("I (?:have )?(?:just )?(?:broke|broken|split) up with (?<o>.+)", ({ o }) => user(`broke up with ${o}`)),
  p("I (?:have )?(?:just |finally )?(?:stopped|quit|gave up|given up) (?<o>.+)", ({ o }) =>
    user(/^\p{L}+ing\b/u.test(o!) ? `stopped ${o}` : `gave up ${o}`),
  ),
  p("I (?:was born|grew up) (?<o>(?:in|on) .+)", (found) => user(`grew up ${found.o}`)),
  p("I used to (?<o>.+)", ({ o }) => user(`used to ${o}`)),
  p("(?:I|we) (?:also )?have (?<o>an? .+?),? (?:and )?(?:she|he|it) is (?:called|named) (?<n>\\p{Lu}.*)", ({ o, n }) =>
    has(`${o} called ${n}`),
  ),
  p(`(?:I|we) (?<adv>also |now )?have (?<o>(?:an?|${NUMBER}) .+)`, ({ adv = "", o }) =>
    VAGUE_OBJECT.test(o!) ? null : user(`${adv.replace("now ", "")}has ${o}`),
  ),
  p("I (?:can not|cannot) stand (?<o>.+)", ({ o }) => (VAGUE_OBJECT.test(o!) ? null : user(`dislikes ${o}`))),
  p("I (?:can not|cannot) (?<o>(?:eat|drink|swim|drive|read|see|hear|walk|digest) ?.*)", ({ o }) =>
    VAGUE_OBJECT.test(o!.replace(/^\S+ /, "")) ? null : user(`can not ${o}`),
  ),
  p(
    "I (?:want|prefer|would like) (?:to get )?(?:my |the |your |all )?(?<w>answers|replies|reports|messages|summaries|code|units|dates|prices|texts)(?: to be)? (?<o>.+)",
    ({ w, o }) => user(`wants ${w} ${o}`),
  ),
  p(
    `I (?<not>do not|did not|no longer|never|do no longer) ${ADVERB}(?<w>${VERBS}|have)(?: (?<o>.+?))?(?: any ?(?:more|longer))?`,
    negated,
  ),
  p(`I ${ADVERB}(?<w>${VERBS})(?: (?<o>.+))?`, present),
  p(`(?:my|our) (?:new |current )?(?<w>${OWN}) (?<o>(?:is|are) .+)`, ({ w, o }) =>
    /^(?:is|are) (?:it|this|that|so|very|not well|here|there|born|fine|ok|okay|great)\b/.test(o!)
      ? null
      : `The user's ${w} ${o}.`,
  ),
  p(
    `(?:my|our) (?:new |current )?(?<w>${OWN}) (?<o>(?:lives|works|studies|plays|likes|loves|hates|speaks|has|teaches) .+)`,
    ({ w, o }) => `The user's ${w} ${o}.`,
  ),
  p(
    "(?:my|our) (?:new |current )?(?<w>(?:[\\p{L}-]+ ){0,5}?[\\p{L}-]+) (?<o>(?:is|are|was moved|has been moved|were moved|opens|closes|starts|begins|ends|costs|leaves|expires|takes place|meets) .+)",
    ({ w, o }) =>
      kindsOf(o!) === "" &&
      !/\d|\b(?:at|until) (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/.test(o!) &&
      !/ \p{Lu}/u.test(o!)
        ? null
        : `The user's ${w} ${o}.`,
  ),
  p(
    "(?:please )?(?:from now on,? )?(?:please )?(?:always )?(?:answer|reply|respond|write|speak|talk)(?: to me)?(?: only)? in (?<o>\\p{Lu}[\\p{L}]+|bullet points|short sentences)(?: from now on| please)?",
    ({ o }) => user(`wants answers in ${o}`),
  ),
  p(
    "(?:please )?(?:from now on,? )?(?:please )?(?:always )?(?:keep|make) (?:your |the |all )?(?<w>answers|replies|messages) (?<o>.+?)(?: from now on| please)?",
    ({ w, o }) => user(`wants ${w} to be ${o}`),
  ),
  p(
    "(?:please )?(?:from now on,? )?(?:please )?(?:always )?use (?<o>[\\p{L} -]+? (?:units|format|spelling|time|dates))(?: from now on| please)?",
    ({ o }) => user(`wants ${o}`),
  ),
  p("(?:please )?from now on,? (?:please )?(?<o>.+)", ({ o }) => `From now on the user wants this: ${o}.`),
];

/** Sentences of the third person. */
export function factsOfClause(clause: string): readonly string[] {
  for (const { test, facts } of PATTERNS) {
    const found = test.exec(clause)?.groups;
    if (found === undefined) continue;
    const made = facts(found);
    if (made.length > 0) return made.map(inThirdPerson);
  }
  return [];
}

function negated({ not, adv = "", w, o }: Groups): string | null {
  if (o !== undefined && VAGUE_OBJECT.test(o)) return null;
  if (o === undefined && !["smoke", "drink", "drive", "swim", "cook"].includes(w!)) return null;
  const rest = o === undefined ? "" : ` ${o}`;
  if (not === "never") return user(`never ${adv}${thirdPerson(w!)}${rest}`);
  return not === "no longer" || not === "do no longer"
    ? user(`no longer ${adv}${thirdPerson(w!)}${rest}`)
    : user(`does not ${adv}${w}${rest}`);
}

function present({ adv = "", w, o }: Groups): string | null {
  if (o === undefined) return ["smoke"].includes(w!) ? user(thirdPerson(w!)) : null;
  if (VAGUE_OBJECT.test(o)) return null;
  if (w === "go" && !/^(?:\p{L}+ing|to (?:the gym|church|school|university))\b/u.test(o)) return null;
  if (
    ["run", "need", "want", "write", "keep", "take", "read", "use"].includes(w!) &&
    /^(?:an? (?:list|letter|hand|recipe)|your|out|into)\b/.test(o)
  )
    return null;
  if (w === "need" || w === "want")
    return /^(?:an? |to |help|advice)/.test(o) ? null : user(`${adv}${thirdPerson(w)} ${o}`);
  return user(`${adv}${thirdPerson(w!)} ${w === "live" ? place(o) : o}`);
}

function thirdPerson(verb: string): string {
  const [first, ...rest] = verb.split(" ");
  const ending = /(?:s|x|z|ch|sh|o)$/.test(first!) ? "es" : "s";
  const form = first === "have" ? "has" : /[^aeiou]y$/.test(first!) ? `${first!.slice(0, -1)}ies` : `${first}${ending}`;
  return [form, ...rest].join(" ");
}

const BASES: Readonly<Record<string, string>> = {
  working: "work",
  living: "live",
  playing: "play",
  studying: "study",
  training: "train",
  taking: "take",
  going: "go",
  practising: "practise",
};
const baseOf = (participle: string) => BASES[participle] ?? participle;

const isDated = (words: string) =>
  kindsOf(words) !== "" || WHEN.test(words) || /\b(?:in|on|next) (?:20\d\d)\b/.test(words);

/** When it happened is when the fact begins, and no part of it. */
const withoutTime = (words: string) =>
  words.replace(
    /,? (?:(?:last|this) (?:week|month|year|weekend|summer|winter|spring|autumn)|yesterday|today|recently|a (?:week|month|year) ago|earlier this (?:week|month|year))\b.*$/i,
    "",
  );
const place = (words: string) => withoutTime(words).replace(/ for (?:my|our|the|a) .*$/, "");

function inThirdPerson(fact: string): string {
  return fact
    .replaceAll(/\b(?:my|our)\b/g, "their")
    .replaceAll(/\b(?:myself|ourselves)\b/g, "themselves")
    .replaceAll(/\b(?:me|us)\b/g, "them")
    .replace(/\s+\./, ".");
}

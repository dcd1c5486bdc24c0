/**
 * What a short sentence of the third person says, as far as patterns tell: "Ann lives in Rome" is a relation `home` of
 * ann with the object rome. A relation that is `single` has one object at a time, so another object takes its place; of
 * the others ("likes tea", "likes coffee") there may be many. For English. Pure; called by compare-facts.ts.
 */
import { stemOf, wordsOf } from "../../../ai/nli/claim-words.js";
import { kindsOf } from "./value-kinds.js";

export interface Slot {
  readonly subject: string;
  readonly relation: string;
  /** Stems of its words in order; ANYTHING: whatever it was. */
  readonly object: string;
  readonly isSingle: boolean;
  /** The sentence says that it is not so, or no longer. */
  readonly isDenied: boolean;
  /** What sort of value the object is: only values of the same sort take each other's place. */
  readonly kind: string;
}

const SENTENCE_CHARACTERS_MAX = 400;
export const ANYTHING = "*";

/** Words that say nothing of what holds. */
const FILLERS =
  /\b(?:now|nowadays|currently|recently|actually|just|already|still|finally|today|really|officially)\b\s*/gi;
const PLACE_END = /(?:,| with | near | since | because | together | by the | next to | for )/;

interface Pattern {
  readonly test: RegExp;
  readonly slots: (found: Readonly<Record<string, string>>) => readonly Partial<Slot>[];
}

const NOT = "(?<not>(?:does not|do not|did not|no longer|never|is not|are not|am not) )?";
const isNo = ({ not }: Readonly<Record<string, string>>) => not !== undefined;
/** One relation with the group `o`. */
const one =
  (relation: string, isSingle: boolean, isDenied = false) =>
  (found: Readonly<Record<string, string>>) => [
    { relation, object: found.o ?? "", isSingle, isDenied: isDenied || isNo(found) },
  ];
const place = (found: Readonly<Record<string, string>>) => [
  {
    relation: "home",
    object: found.o!.split(PLACE_END)[0]!,
    isSingle: true,
    isDenied: isNo(found),
    kind: placeKind(found.o!),
  },
];
const p = (test: string, slots: Pattern["slots"]): Pattern => ({ test: new RegExp(`^${test}$`, "iu"), slots });

const ATTRIBUTES =
  "favou?rite [a-z ]+?|e-?mail(?: address)?|phone(?: number)?|mobile(?: number)?|address|time ?zone|budget|deadline|password|pin|salary|rent|" +
  "weight|height|native language|mother tongue|nationality|username|user name|shoe size|blood type|working hours|" +
  "account number|birthday|date of birth|surname|last name|nickname|licence plate|job title";
const PEOPLE = "wife|husband|partner|girlfriend|boyfriend|boss|manager|landlord|doctor|dentist|team lead|supervisor";
const MANY =
  "speak|play|know|read|eat|drink|collect|visit|use|learn|teach|follow|watch|cook|grow|ride|smoke|study|swim|run|paint|sing|bake|write|practise|own|have|drive|need|take";

const PATTERNS: readonly Pattern[] = [
  p(
    `(?<s>.+?) ${NOT}(?:lives?|resides?|is living|are living|is based|is staying) (?:alone |with [^,]+? )?(?:in|at|on|near) (?<o>.+)`,
    place,
  ),
  p("(?<s>.+?) (?:has |have )?(?:moved|relocated) (?:house )?(?:from .+? )?to (?<o>.+)", place),
  p("(?<s>.+?)'s (?:home|house|flat|apartment) is (?:in|at) (?<o>.+)", place),
  p("(?<s>.+?) (?:has |have )?moved (?:away from|out of) (?<o>.+)", (found) => [
    { relation: "home", object: found.o!, isSingle: true, isDenied: true, kind: placeKind(found.o!) },
  ]),
  p(`(?<s>.+?) ${NOT}works? as (?:an? |the )?(?<o>.+?)(?: (?:at|for) (?<e>.+))?`, (found) => [
    { relation: "job", object: found.o!, isSingle: true, isDenied: isNo(found) },
    ...(found.e === undefined
      ? []
      : [{ relation: "employer", object: found.e, isSingle: true, isDenied: isNo(found) }]),
  ]),
  p("(?<s>.+?)'s (?:job|occupation|profession) is (?:an? )?(?<o>.+)", one("job", true)),
  p(
    `(?<s>.+?) ${NOT}(?:works?|is working|is employed|started working|has started) (?:at|for|by) (?<o>.+)`,
    one("employer", true),
  ),
  p("(?<s>.+?) (?:started|has|has started|got) (?:an? )?(?:new )?job (?:at|with) (?<o>.+)", one("employer", true)),
  p(
    "(?<s>.+?) (?:left|quit|has left|has quit|resigned from) (?:(?:the|a|his|her|their) job (?:at|with) )?(?<o>.+)",
    one("employer", true, true),
  ),
  p("(?<s>.+?) (?:is retired|retired|has retired|is unemployed|lost (?:the|his|her|their) job)", () =>
    ["employer", "job"].map((relation) => ({ relation, object: ANYTHING, isSingle: true, isDenied: true })),
  ),
  p("(?<s>.+?)'s name is (?<o>.+)", one("name", true)),
  p("the name of (?<s>.+?) is (?<o>.+)", one("name", true)),
  p(`(?<s>.+?) ${NOT}(?:is called|are called|is named|goes by) (?<o>.+)`, one("name", true)),
  p("(?<s>.+?) (?:is|turned|has turned) (?<o>\\S+(?: \\S+)?)(?: years? old)", one("age", true)),
  p("(?<s>.+?)'s age is (?<o>.+)", one("age", true)),
  p("(?<s>.+?) was born on (?<o>.+)", one("birthday", true)),
  p(`(?<s>.+?)'s (?<a>${ATTRIBUTES}) (?:is|are) (?:now )?(?:on |at |in )?(?<o>.+)`, (found) => [
    { relation: found.a!.toLowerCase().replace("favourite", "favorite"), object: found.o!, isSingle: true },
  ]),
  p(`(?<s>.+?)'s (?<a>${PEOPLE}) is (?:called |named )?(?<o>\\p{Lu}.*)`, (found) => [
    { relation: found.a!.toLowerCase(), object: found.o!, isSingle: isName(found.o!) },
  ]),
  p(
    `(?<s>the (?:[\\p{L}-]+ )*?(?:budget|deadline|password|pin|address|price|code|rent|capacity|target|port|version)(?: (?:of|for) .+?)?) is (?:now )?(?:on |at |in )?(?<o>.+)`,
    one("is", true),
  ),
  p("(?<s>.+?) (?:is|got) (?<w>married|engaged) to (?<o>.+)", (found) => [
    { relation: "partner", object: found.o!, isSingle: true },
    { relation: "status", object: found.w!, isSingle: true },
  ]),
  p("(?<s>.+?) is (?:dating|in a relationship with) (?<o>.+)", one("partner", true)),
  p("(?<s>.+?) (?:broke up with|separated from|is divorced from|divorced) (?<o>.+)", one("partner", true, true)),
  p("(?<s>.+?) (?:is|got|has got) (?<o>single|divorced|widowed)(?: again)?", ({ o }) => [
    { relation: "status", object: o!, isSingle: true },
    { relation: "partner", object: ANYTHING, isSingle: true, isDenied: true },
  ]),
  p("(?<s>.+?) (?:is|got) (?<o>married|engaged)", one("status", true)),
  p("(?<s>.+?) is (?:an? )?(?<o>vegetarian|vegan|pescatarian)", one("diet", true)),
  p(
    "(?<s>.+?) is (?:no longer|not) (?:an? )?(?<o>vegetarian|vegan|pescatarian)(?: any ?more)?",
    one("diet", true, true),
  ),
  p("(?<s>.+?) eats meat(?: again)?", () => [{ relation: "diet", object: "meat", isSingle: true }]),
  p(
    `(?<s>.+?) (?:has|have) (?<o>no|\\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?<w>[^,]+?)(?:,.*| (?:called|named) .*)?`,
    ({ o, w }) => [
      o!.toLowerCase() === "no"
        ? { relation: "have", object: w!, isDenied: true }
        : { relation: `number of ${objectOf(w!)}`, object: o!, isSingle: true },
    ],
  ),
  p(`(?<s>.+?) ${NOT}(?:likes?|loves?|enjoys?|adores?|is fond of) (?<o>.+)`, one("like", false)),
  p("(?<s>.+?) (?:dislikes?|hates?|detests?|can not stand|cannot stand) (?<o>.+)", one("like", false, true)),
  p("(?<s>.+?) is (?<not>not |no longer )?allergic to (?<o>.+)", one("allergy", false)),
  p("(?<s>.+?) (?:prefers?|wants?) (?<o>.+?) (?:over|to|rather than|instead of) (?<w>.+)", ({ o, w }) => [
    { relation: `prefers ${[objectOf(o!), objectOf(w!)].sort().join("/")}`, object: o!, isSingle: true },
  ]),
  p(
    "(?<s>.+?) (?:prefers?|wants?) (?<w>answers|replies|messages|reports|responses|summaries|texts|code|units|dates|prices) (?:to be )?(?<q>in )?(?<o>.+)",
    ({ o, w, q }) => [
      { relation: `wants ${w} ${q ?? ""}`, object: o!, isSingle: true, kind: q === undefined ? "" : languageKind(o!) },
    ],
  ),
  p("(?<s>.+?) (?:gave up|has given up) (?!\\p{L}+ing\\b)(?<o>.+)", ({ o }) =>
    ["drink", "eat", "smoke"].map((relation) => ({ relation, object: o!, isDenied: true })),
  ),
  p("(?<s>.+?) (?:sold|gave away|has sold|lost) (?:the|his|her|their|an?) (?<o>.+)", one("have", false, true)),
  p(
    `(?<s>.+?) (?:stopped|quit|gave up|has stopped|has given up|no longer goes) (?<w>\\p{L}+ing)(?: (?<o>.+))?`,
    ({ w, o = "" }) => [{ relation: stemOf(w!.toLowerCase()), object: o, isDenied: true }],
  ),
  p(
    `(?<s>.+?) ${NOT}(?<w>is (?:learning|studying|reading|training for)|(?:${MANY})(?:s|es)?|has(?! been)|studies)(?!\\p{L}) ?(?<o>.*)`,
    (found) => [{ relation: manyRelation(found.w!.toLowerCase()), object: found.o ?? "", isDenied: isNo(found) }],
  ),
  p(
    "(?<s>the .+?) (?:leaves|departs|runs|uses|is) (?:from |on |at )?(?<w>platform|gate|version|track|channel) (?<o>\\S+)",
    ({ o, w }) => [{ relation: w!.toLowerCase(), object: o!, isSingle: true }],
  ),
  p("(?<s>.+?) is (?<not>not |no longer )?(?:an? |afraid )(?<o>.+)", one("be", false)),
  p(
    "(?<s>the .+?|.+?'s .+?) (?<w>is|are|opens|closes|starts|begins|ends|leaves|arrives|expires|costs|weighs|is due|takes place|was moved|has been moved|is scheduled|runs) (?:to |for |on |at |until |from |in |before |every )?(?<o>.+)",
    ({ w, o }) => {
      const kind = kindsOf(o!);
      const relation = /moved|scheduled|takes place|is due/.test(w!) ? "is" : w!.toLowerCase();
      return kind === "" ? [] : [{ relation: `when ${relation}`, object: o!, isSingle: true, kind }];
    },
  ),
];

/** Empty: no pattern knows the sentence. */
export function slotsOf(sentence: string): readonly Slot[] {
  if (sentence.length > SENTENCE_CHARACTERS_MAX) return [];
  const plain = plainSentence(sentence);
  const isMore = /\b(?:also|too|as well|another|sometimes|part-time|second home)\b/i.test(plain);
  const text = plain.replace(/\b(?:also|too|as well)\b\s*/gi, "").trim();
  for (const { test, slots } of PATTERNS) {
    const found = test.exec(text)?.groups;
    if (found === undefined) continue;
    const subject = subjectOf(found.s!);
    if (/^(?:|the|an?|if|when|would|could|should|does|did)$/.test(subject)) continue;
    return slots(found).map(({ relation = "", object = "", isSingle = false, isDenied = false, kind = "" }) => ({
      subject,
      relation,
      object: object === ANYTHING ? ANYTHING : objectOf(object),
      isSingle: isSingle && !isMore,
      isDenied,
      kind,
    }));
  }
  return [];
}

/** Without marks, fillers and contractions. */
export function plainSentence(sentence: string): string {
  return sentence
    .normalize("NFKC")
    .replaceAll("’", "'")
    .replaceAll(/\bcan't\b/gi, "can not")
    .replaceAll(/n't\b/gi, " not")
    .replaceAll(/\bI'm\b/g, "I am")
    .replaceAll(FILLERS, "")
    .replaceAll(/ (?:any ?more|any longer|at the moment|these days)\b/gi, "")
    .replaceAll(/\s+/g, " ")
    .replace(/[.!\s]+$/, "")
    .trim();
}

/** Null: the sentence begins with no noun phrase that could be told. */
export function subjectOf(words: string): string {
  const plain = words
    .toLowerCase()
    .replace(/^(?:the|a|an|my|his|her|their|our) /, "")
    .replaceAll(/'s\b/g, "")
    .trim();
  return /^(?:i|me|my|user)$/.test(plain) ? "user" : plain;
}

/** Stems in order, without articles and the like. */
function objectOf(words: string): string {
  const all = wordsOf(words);
  const content = all.filter(({ isContent, isNumber }) => isContent || isNumber);
  return (content.length > 0 ? content : all).map(({ stem }) => stem).join(" ");
}

function manyRelation(verb: string): string {
  const plain = verb.replace(/^is /, "").replace(/ for$/, "");
  if (["has", "have", "owns", "own", "drives", "drive"].includes(plain)) return "have";
  return stemOf(plain);
}

const COUNTRIES: ReadonlySet<string> = new Set(
  "germany france spain italy portugal poland austria switzerland belgium netherlands denmark norway sweden finland ireland england scotland wales britain uk greece turkey russia ukraine usa america canada mexico brazil argentina chile peru china japan india australia egypt morocco kenya nigeria europe asia africa texas california bavaria catalonia".split(
    " ",
  ),
);

/** A dwelling, a country and a town do not take each other's place. */
function placeKind(words: string): string {
  const first = words.split(PLACE_END)[0]!.trim();
  if (/^(?:an?|the|his|her|their) /i.test(first) && !/\p{Lu}/u.test(first.slice(1))) return "dwelling";
  if (/\d/.test(first)) return "address";
  return COUNTRIES.has(first.toLowerCase().replace(/^the /, "")) ? "country" : "place";
}

const languageKind = (words: string) => (/^\p{Lu}/u.test(words) ? "language" : "form");
const isName = (words: string) => /^\p{Lu}[\p{L}'-]+(?: \p{Lu}[\p{L}'-]+)*$/u.test(words);

/** Words of English that questions about data are made of. Data only; read by the files beside it. */

/** Words of German that names of tables and columns are made of, and what they mean. */
const GERMAN: readonly (readonly [name: string, ...meanings: string[]])[] = [
  ["kunde", "customer", "client"],
  ["lieferant", "supplier", "vendor"],
  ["mitarbeiter", "employee", "staff", "worker"],
  ["artikel", "article", "product", "item"],
  ["produkt", "product"],
  ["rechnung", "invoice", "bill"],
  ["bestellung", "order"],
  ["auftrag", "order"],
  ["lieferung", "delivery", "shipment"],
  ["vertrag", "contract"],
  ["konto", "account"],
  ["buchung", "booking"],
  ["zahlung", "payment"],
  ["filiale", "branch", "store"],
  ["abteilung", "department"],
  ["lager", "warehouse"],
  ["bestand", "stock", "inventory"],
  ["menge", "quantity"],
  ["betrag", "amount"],
  ["preis", "price"],
  ["umsatz", "revenue", "turnover"],
  ["gehalt", "salary"],
  ["ort", "city", "town", "place"],
  ["stadt", "city", "town"],
  ["land", "country"],
  ["strasse", "street"],
  ["datum", "date"],
  ["bezahlt", "paid"],
  ["bezeichnung", "name", "description"],
  ["gewicht", "weight"],
  ["fahrzeug", "vehicle", "car"],
];

/** Synonyms in names of tables and columns. A name's word is matched by any word of its groups. */
export const SYNONYMS: readonly (readonly string[])[] = [
  [
    "price",
    "cost",
    "priced",
    "costs",
    "expensive",
    "cheap",
    "amount",
    "fee",
    "charge",
    "value",
    "worth",
    "premium",
    "fare",
  ],
  ["salary", "pay", "paid", "wage", "earn", "earns", "earning", "income", "compensation", "make", "makes"],
  ["name", "title", "called", "label", "named"],
  ["customer", "client", "buyer", "shopper"],
  ["employee", "staff", "worker", "personnel"],
  ["headcount", "employees", "workforce"],
  ["teacher", "professor", "instructor", "lecturer"],
  ["student", "pupil"],
  ["course", "class", "lecture", "subject"],
  ["order", "purchase", "bought", "buy", "placed"],
  ["product", "item", "article", "goods"],
  ["sale", "sold", "sell"],
  ["doctor", "physician"],
  ["appointment", "visit", "see", "saw", "seen", "meet", "consultation"],
  ["prescription", "prescribed", "take", "takes", "taking"],
  ["medication", "medicine", "drug"],
  ["enrollment", "enrolled", "enrolment", "attend", "take", "takes", "study", "registration"],
  ["city", "town"],
  ["country", "nation"],
  ["birth", "born", "dob", "birthday", "birthdate"],
  ["phone", "telephone", "mobile"],
  ["email", "mail", "e-mail"],
  ["grade", "mark", "score", "points"],
  ["gpa", "average"],
  ["stock", "inventory", "available"],
  ["quantity", "units", "pieces", "copies", "qty"],
  ["duration", "length", "long", "lasting", "last", "runtime"],
  ["manufacturer", "maker", "made", "producer", "produced", "brand"],
  ["revenue", "turnover", "sales"],
  ["gender", "sex"],
  ["department", "division", "dept"],
  ["address", "street", "location"],
  ["signup", "registered", "joined", "joining"],
  ["hired", "hire", "employed", "started"],
  ["salesperson", "seller", "representative", "rep"],
  ["category", "kind", "type", "genre", "sort"],
  ["status", "state"],
  ["description", "text", "details"],
  ["rating", "rated", "stars", "score"],
  ["budget", "funding", "funds"],
  ["weight", "weigh", "weighs", "heavy", "weighing", "kg"],
  ["height", "tall"],
  ["size", "area", "large"],
  ["population", "inhabitants", "people", "populous"],
  ["author", "writer", "wrote", "written"],
  ["book", "volume"],
  ["movie", "film"],
  ["song", "track"],
  ["artist", "singer", "musician", "band"],
  ["invoice", "bill"],
  ["payment", "paid", "transaction"],
  ["supplier", "vendor"],
  ["loan", "borrowed", "lent", "borrow"],
  ["booking", "reservation", "booked", "reserved"],
  ["flight", "fly", "flies", "flown"],
  ["company", "firm", "business", "employer"],
  ["team", "club"],
  ["player", "athlete"],
  ["game", "match"],
  ["car", "vehicle"],
  ["vessel", "ship", "boat"],
  ["aircraft", "plane", "airplane"],
  ["ticket", "issue"],
  ["experience", "seniority"],
  ["specialty", "specialization", "field"],
  ["insurer", "insurance"],
  ["release", "released", "published", "publication", "came"],
  ["created", "made", "added", "opened"],
  ...GERMAN,
];

/** Countries by what is called after them. */
export const DEMONYMS: Readonly<Record<string, readonly string[]>> = {
  american: ["united states", "united states of america", "usa", "us"],
  argentinian: ["argentina", "ar"],
  australian: ["australia", "au"],
  austrian: ["austria", "at"],
  belgian: ["belgium", "be"],
  brazilian: ["brazil", "br"],
  british: ["united kingdom", "great britain", "uk", "gb"],
  canadian: ["canada", "ca"],
  chilean: ["chile", "cl"],
  chinese: ["china", "cn"],
  croatian: ["croatia", "hr"],
  czech: ["czech republic", "czechia", "cz"],
  danish: ["denmark", "dk"],
  dutch: ["netherlands", "the netherlands", "nl"],
  egyptian: ["egypt", "eg"],
  english: ["england"],
  estonian: ["estonia", "ee"],
  finnish: ["finland", "fi"],
  french: ["france", "fr"],
  german: ["germany", "de"],
  greek: ["greece", "gr"],
  hungarian: ["hungary", "hu"],
  icelandic: ["iceland", "is"],
  indian: ["india", "in"],
  indonesian: ["indonesia", "id"],
  irish: ["ireland", "ie"],
  israeli: ["israel", "il"],
  italian: ["italy", "it"],
  japanese: ["japan", "jp"],
  kenyan: ["kenya", "ke"],
  korean: ["south korea", "korea", "kr"],
  latvian: ["latvia", "lv"],
  lithuanian: ["lithuania", "lt"],
  mexican: ["mexico", "mx"],
  moroccan: ["morocco", "ma"],
  nigerian: ["nigeria", "ng"],
  norwegian: ["norway", "no"],
  polish: ["poland", "pl"],
  portuguese: ["portugal", "pt"],
  romanian: ["romania", "ro"],
  russian: ["russia", "ru"],
  scottish: ["scotland"],
  slovak: ["slovakia", "sk"],
  slovenian: ["slovenia", "si"],
  spanish: ["spain", "es"],
  swedish: ["sweden", "se"],
  swiss: ["switzerland", "ch"],
  thai: ["thailand", "th"],
  turkish: ["turkey", "tr"],
  ukrainian: ["ukraine", "ua"],
  vietnamese: ["vietnam", "vn"],
  welsh: ["wales"],
};

/** What names are written short for. */
export const ABBREVIATIONS: Readonly<Record<string, string>> = {
  acct: "account",
  addr: "address",
  amt: "amount",
  cat: "category",
  cd: "code",
  cnt: "count",
  ctry: "country",
  cust: "customer",
  dept: "department",
  bez: "bezeichnung",
  desc: "description",
  descr: "description",
  dob: "birthday",
  dt: "date",
  emp: "employee",
  kd: "kunde",
  ht: "height",
  inv: "invoice",
  lief: "lieferant",
  loc: "location",
  mgr: "manager",
  mth: "month",
  nm: "name",
  ord: "order",
  org: "organization",
  pct: "percent",
  prod: "product",
  pts: "points",
  qty: "quantity",
  sal: "salary",
  tel: "phone",
  typ: "type",
  trx: "transaction",
  txn: "transaction",
  usr: "user",
  wt: "weight",
  yr: "year",
};

/** Which way an adjective sorts, and words of the columns that it measures; none: the column is named beside it. */
export interface Measure {
  readonly descending: boolean;
  readonly words: readonly string[];
  /** Of time: "date" any date, "birth" one of birth first. */
  readonly time?: "date" | "birth";
}

const desc = (...words: string[]): Measure => ({ descending: true, words });
const asc = (...words: string[]): Measure => ({ descending: false, words });

/** By the plain form; comparatives and superlatives are told by their endings. */
export const ADJECTIVES: Readonly<Record<string, Measure>> = {
  expensive: desc("price", "cost", "fee"),
  costly: desc("price", "cost", "fee"),
  pricey: desc("price", "cost", "fee"),
  cheap: asc("price", "cost", "fee"),
  inexpensive: asc("price", "cost", "fee"),
  affordable: asc("price", "cost", "fee"),
  long: desc("duration", "length", "minutes", "seconds", "runtime", "distance", "pages"),
  short: asc("duration", "length", "minutes", "seconds", "runtime", "distance", "height", "pages"),
  heavy: desc("weight", "mass", "kg", "tonnes", "tons", "lbs"),
  light: asc("weight", "mass", "kg", "tonnes", "tons", "lbs"),
  tall: desc("height"),
  fast: desc("speed"),
  slow: asc("speed"),
  rich: desc("wealth", "income", "salary", "balance"),
  poor: asc("wealth", "income", "salary", "balance"),
  experienced: desc("experience"),
  senior: desc("experience"),
  populous: desc("population"),
  big: desc(),
  large: desc(),
  high: desc(),
  great: desc(),
  small: asc(),
  low: asc(),
  little: asc(),
  good: desc("rating", "score", "grade", "gpa"),
  bad: asc("rating", "score", "grade", "gpa"),
  old: { descending: false, words: ["age"], time: "birth" },
  young: { descending: true, words: ["age"], time: "birth" },
  new: { descending: true, words: [], time: "date" },
  recent: { descending: true, words: [], time: "date" },
  late: { descending: true, words: [], time: "date" },
  early: { descending: false, words: [], time: "date" },
};

/** Forms that do not follow the rule. */
export const IRREGULAR: Readonly<Record<string, string>> = {
  best: "good",
  better: "good",
  worst: "bad",
  worse: "bad",
  latest: "late",
  newest: "new",
  last: "late",
  first: "early",
  earliest: "early",
  recently: "recent",
  eldest: "old",
  least: "little",
};

export const AGGREGATES: Readonly<Record<string, "avg" | "sum" | "min" | "max" | "median">> = {
  median: "median",
  average: "avg",
  avg: "avg",
  mean: "avg",
  total: "sum",
  sum: "sum",
  combined: "sum",
  overall: "sum",
  maximum: "max",
  max: "max",
  minimum: "min",
  min: "min",
};

/** Numbers that everybody adds up. */
export const SUMS: readonly string[] = ["revenue", "turnover", "sales"];

/** Things that are amounts of money: their total is no number of them. */
export const AMOUNTS: readonly string[] =
  "fine payment donation expense sponsor sponsorship fee refund deposit withdrawal tax cost contribution grant".split(
    " ",
  );

/** Numbers that nobody adds up: of a group they are averaged, or the greatest is meant. */
export const RATES: readonly string[] = (
  "price rate rating score age grade level height weight size speed temperature percent percentage share ratio salary wage " +
  "average gpa duration length year capacity"
).split(" ");

export const NUMBER_WORDS: Readonly<Record<string, number>> = {
  zero: 0,
  one: 1,
  once: 1,
  twice: 2,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  eleven: 11,
  twelve: 12,
  fifteen: 15,
  twenty: 20,
  fifty: 50,
  hundred: 100,
};

/** Units that follow a number and may be words of a column's name. */
export const UNITS: ReadonlySet<string> = new Set(
  (
    "minute minutes min mins hour hours second seconds year years month months day days week weeks kg kilogram kilograms " +
    "kilo kilos g gram grams mg milligram milligrams cm m meter meters metre metres km mile miles dollar dollars usd euro " +
    "euros eur pound pounds percent point points unit units piece pieces old"
  ).split(" "),
);

/** What a unit is called, by its spellings. */
export const UNIT_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["second", "seconds", "secs", "sec", "s"],
    ["minute", "minutes", "mins", "min"],
    ["hour", "hours", "hrs", "hr", "h"],
    ["day", "days"],
    ["week", "weeks"],
    ["month", "months"],
    ["year", "years"],
    ["kilogram", "kilograms", "kilo", "kilos", "kg"],
    ["gram", "grams", "g"],
    ["milligram", "milligrams", "mg"],
    ["metre", "metres", "meter", "meters", "m"],
    ["centimetre", "centimetres", "centimeter", "centimeters", "cm"],
    ["kilometre", "kilometres", "kilometer", "kilometers", "km"],
    ["mile", "miles", "mi"],
    ["dollar", "dollars", "usd"],
    ["euro", "euros", "eur"],
    ["pound", "pounds", "lb", "lbs"],
    ["percent", "pct"],
  ].flatMap(([name, ...spellings]) => [name!, ...spellings].map((spelling) => [spelling, name!])),
);

/** Words that carry no meaning in a question. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the of in on at to for from with by and or is are was were be been being do does did has have had having get gets " +
    "got will would can could should that which who whom whose what where when how why this these those there their them they " +
    "it its i me my we us our you your he she his her show list give find tell display return fetch select select please " +
    "all any some each every per many much number count only also as into than then so if s not no never without live lives " +
    "living lived work works working located based come comes belong belongs belonging named called here currently total " +
    "records record rows row entries entry data database table information info details ones one thing things anything " +
    "something ever yet already right now just more most less least about whole entire between different distinct unique see " +
    "want need know look up out worth made make go offered offer offers contain contains containing include includes " +
    "place places exist exists kind kinds various whichever every everyone who's what's s placed happened happen occurred " +
    "whats hows wheres whos take takes taken held took but company system people person teaches using via through"
  ).split(" "),
);

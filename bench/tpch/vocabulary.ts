/** The words that names, types and comments of the benchmark's tables are made of (TPC-H specification, §4.2.2.13). */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

export const COLORS = words(`
  almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon
  chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro
  ghost goldenrod green grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon
  medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder
  puff purple red rose rosy royal saddle salmon sandy seashell sienna sky slate smoke snow spring steel tan thistle
  tomato turquoise violet wheat white yellow`);

export const TYPE_SIZES = words("STANDARD SMALL MEDIUM LARGE ECONOMY PROMO");
export const TYPE_FINISHES = words("ANODIZED BURNISHED PLATED POLISHED BRUSHED");
export const TYPE_METALS = words("TIN NICKEL BRASS STEEL COPPER");
export const CONTAINER_SIZES = words("SM LG MED JUMBO WRAP");
export const CONTAINER_KINDS = words("CASE BOX BAG JAR PKG PACK CAN DRUM");
export const SEGMENTS = words("AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD");
export const PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
export const INSTRUCTIONS = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
export const SHIP_MODES = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];

export const REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];

/** Name and number of the region; the position is the key. */
export const NATIONS: readonly (readonly [name: string, region: number])[] = [
  ["ALGERIA", 0],
  ["ARGENTINA", 1],
  ["BRAZIL", 1],
  ["CANADA", 1],
  ["EGYPT", 4],
  ["ETHIOPIA", 0],
  ["FRANCE", 3],
  ["GERMANY", 3],
  ["INDIA", 2],
  ["INDONESIA", 2],
  ["IRAN", 4],
  ["IRAQ", 4],
  ["JAPAN", 2],
  ["JORDAN", 4],
  ["KENYA", 0],
  ["MOROCCO", 0],
  ["MOZAMBIQUE", 0],
  ["PERU", 1],
  ["CHINA", 2],
  ["ROMANIA", 3],
  ["SAUDI ARABIA", 4],
  ["VIETNAM", 2],
  ["RUSSIA", 3],
  ["UNITED KINGDOM", 3],
  ["UNITED STATES", 1],
];

const NOUNS = words(`
  foxes ideas theodolites instructions dependencies excuses platelets asymptotes courts dolphins multipliers sauternes
  warthogs frets dinos attainments somas braids hockey frays warhorses dugouts notornis epitaphs pearls tithes waters
  orbits gifts sheaves depths sentiments decoys realms pains grouches escapades packages requests accounts deposits`);
const VERBS = words(`
  sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate solve thrash promise
  engage hinder print doze run dazzle snooze doubt unwind kindle play hang believe`);
const ADJECTIVES = words(`
  furious sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy permanent
  enticing idle busy regular final ironic even bold silent special pending unusual express`);
const ADVERBS = words(`
  sometimes always never furiously slyly carefully blithely quickly fluffily slowly quietly ruthlessly thinly closely
  doggedly daringly bravely stealthily permanently enticingly idly busily regularly finally ironically evenly boldly`);
const PREPOSITIONS = words("about above across after against along among around at before beneath beside between by");

/** A sentence's parts in order; what stands in it is drawn from these lists. */
export const SENTENCE = [ADJECTIVES, NOUNS, ADVERBS, VERBS, PREPOSITIONS, ADJECTIVES, NOUNS] as const;

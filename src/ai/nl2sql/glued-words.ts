/**
 * Words of names that nothing divides: PostgreSQL folds `UnitPrice` to `unitprice`. A name is divided only into words
 * that names are made of; all others stay whole. Used by bare-names.ts; no state but what is kept of names.
 */
import { SYNONYMS, UNITS } from "./vocabulary.js";

/** What the names of tables and columns are made of, beside the synonyms. */
const WORDS =
  "account action activity actual address admin age agent album amount annual answer applicant application approved area " +
  "arrival artist asset assigned author available average award balance bank base begin bill billing birth block board body " +
  "booking branch brand budget building business buyer call campaign cancel cancelled capacity card carrier cart case cast " +
  "category center channel charge chat child city class client close closed code comment company contact content contract " +
  "cost count country course coupon created credit currency current customer daily data date day deal debit default delivery " +
  "department departure deposit depot description detail details device dining direct discount dish distance district doctor " +
  "document driver due duration email employee end ended engine entry episode event exam expense expiry fee field file final " +
  "first flight floor food fuel full game gate genre gift goal grade grand gross group guest height hire hired holder holiday " +
  "home hotel hour hourly house hours image income index inspection interest inventory invoice issue item job join joined key " +
  "kind language last lead league lease leave length lesson level license limit line list loan location log login machine main " +
  "manager margin mark market match max meal measure meeting member menu message meter method middle mileage min minutes mobile " +
  "model modified month monthly movie name net night note number offer office opened opening order origin owner paid parent part " +
  "party passenger password patient pay payment percent period permit person pet phone photo place plan plate play player points " +
  "policy position post postal price priority product profit project property province purchase quantity quarter quote race rank " +
  "rate rating reading reason receipt record ref region rental report request reservation result return returned review role " +
  "room route salary sale sales sample school score season seat seats section seller sensor series service session shift ship " +
  "shipment shipped shipping shop size skill sold source speed staff stage standard start started state station status stock " +
  "stop store street student subject supplier surname system table target task tax team tenant term test text ticket time tip " +
  "title total track trade train training transaction transfer trip type unit update updated user valid value vehicle vendor " +
  "version visit volume wage waiter ward warehouse week weekly weight width winner work worker year yearly zip zone " +
  "airline airport arena army author battle bed bonus capital car captain championship chief coach code conductor continent " +
  "dest destination director dorm education engine expectancy experience form government hair head horse leader life lyrics " +
  "major mayor medal member museum nationality official ownership population power prize publisher race rank rating " +
  "religion series severity singer song source spec specs speed stadium surface title tonnage treatment tribe vote voter";
/** They end a name: `openedat`, `tableno`. */
const ENDINGS = ["id", "no", "nr", "at", "on", "by"];
/** Words that are one though they could be two. */
const WHOLE =
  "username password discount account update candidate chairman salesman checkin checkout database website playlist workshop " +
  "workplace homework deadline headline weekend overtime download upload feedback workflow passport layout timeline timetable " +
  "nickname surname forename filename rename consolidate mandate validate classroom bathroom bedroom hometown birthplace " +
  "bookstore homepage workload network notebook roommate teammate";
const LENGTH_MIN = 6;
const PART_MIN = 3;

const parts = new Set([...WORDS.split(" "), ...SYNONYMS.flat().filter((word) => word.length > PART_MIN), ...UNITS]);
const whole = new Set([...WHOLE.split(" "), ...SYNONYMS.flat()]);
const divided = new Map<string, readonly string[]>();
/** Names of columns are few; whoever makes up many does not fill the memory. */
const KEPT_MAX = 10_000;

/** The words of a part of a name in small letters; itself where it is one word. */
export function dividedWord(word: string): readonly string[] {
  if (word.length < LENGTH_MIN || !/^[a-z]+$/.test(word) || parts.has(word) || whole.has(word)) return [word];
  let found = divided.get(word);
  if (found === undefined) {
    found = inParts(word) ?? byEnding(word) ?? [word];
    if (divided.size >= KEPT_MAX) divided.clear();
    divided.set(word, found);
  }
  return found;
}

/** `isofficial`; `deliveredon`, `haemoglobinlevel`: what stands before such an ending is a word whatever it is. */
const FLAG = /^(is|has)([a-z]{4,}(?:al|ive|able|ing|ary|ed))$/;
const ENDING = /^(?:([a-z]{3,}ed)(on|at|by)|([a-z]{4,})(date|name|number|price|amount|status|level))$/;

function byEnding(word: string): readonly string[] | null {
  const [, flag, state] = FLAG.exec(word) ?? [];
  if (flag !== undefined) return [flag, state!];
  const [, done, when, thing, what] = ENDING.exec(word) ?? [];
  if (done !== undefined) return [done, when!];
  return thing === undefined ? null : [thing, what!];
}

/** The longest known word first; null: it is not made of such words. */
function inParts(word: string): readonly string[] | null {
  for (let length = word.length - 2; length >= PART_MIN; length--) {
    const [first, rest] = [word.slice(0, length), word.slice(length)];
    if (!isPart(first)) continue;
    if (isPart(rest) || ENDINGS.includes(rest)) return [first, rest];
    const others = rest.length >= PART_MIN + 2 ? inParts(rest) : null;
    if (others !== null) return [first, ...others];
  }
  return null;
}

/** Also in the plural. */
const isPart = (word: string) =>
  word.length >= PART_MIN && (parts.has(word) || (word.endsWith("s") && parts.has(word.slice(0, -1))));

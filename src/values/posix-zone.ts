/**
 * Time zones that are written out with the rules of their summer time, as POSIX has them (chapter B.5):
 * `CET-1CEST,M3.5.0,M10.5.0/3`. Offsets are written west of Greenwich. Pure; used by time-zone.ts.
 */

/** Seconds after the first of January, 0:00, of a year at which a clock that then is in force changes. */
type Change = (year: number) => number;

const NAME = "(?:<[^<>]*>|[^\\d,+<-]+)";
const OFFSET = "[+-]?\\d{1,3}(?::\\d{1,2}(?::\\d{1,2})?)?";
const RULED = new RegExp(`^${NAME}(${OFFSET})${NAME}(${OFFSET})?(?:,([^,]+),([^,]+))?$`);
/** Those of the United States, where none are given. */
const PLAIN_RULES = ["M3.2.0", "M11.1.0"] as const;
const HOURS_MAX = 167;
const DAY = 86_400;

/** Gives seconds east of UTC at an instant in seconds; null: the name is none of a zone with rules. */
export function ruledOffset(name: string): ((seconds: number) => number) | null {
  const match = RULED.exec(name);
  if (match === null) return null;
  const west = secondsOf(match[1]!);
  if (west === null) return null;
  const summerWest = match[2] === undefined ? west - 3600 : secondsOf(match[2]);
  const begin = changeOf(match[3] ?? PLAIN_RULES[0]);
  const end = changeOf(match[4] ?? PLAIN_RULES[1]);
  if (summerWest === null || begin === null || end === null) return null;
  return (seconds) => {
    const year = new Date((seconds - west) * 1000).getUTCFullYear();
    const from = startOf(year) + begin(year) + west;
    const to = startOf(year) + end(year) + summerWest;
    const isSummer = from < to ? seconds >= from && seconds < to : seconds >= from || seconds < to;
    return isSummer ? -summerWest : -west;
  };
}

function secondsOf(text: string): number | null {
  const [hours, minutes = 0, seconds = 0] = text.replace(/^[+-]/, "").split(":").map(Number) as [
    number,
    number?,
    number?,
  ];
  if (hours > HOURS_MAX || minutes > 59 || seconds > 59) return null;
  const size = hours * 3600 + minutes * 60 + seconds;
  return text.startsWith("-") ? -size : size;
}

function startOf(year: number): number {
  const date = new Date(0);
  date.setUTCFullYear(year, 0, 1);
  return date.getTime() / 1000;
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** `Jn`: day 1 to 365 without a 29th of February; `n`: day 0 to 365; `Mm.w.d`: weekday d of week w (5: the last). */
function changeOf(rule: string): Change | null {
  const match = /^(?:J(\d{1,3})|(\d{1,3})|M(\d{1,2})\.([1-5])\.([0-6]))(?:\/(.+))?$/.exec(rule);
  if (match === null) return null;
  const [, julian, day, month, week, weekday, timeText] = match;
  if (timeText !== undefined && !new RegExp(`^${OFFSET}$`).test(timeText)) return null;
  const time = timeText === undefined ? 7200 : secondsOf(timeText);
  if (time === null) return null;
  if (julian !== undefined) {
    const number = Number(julian);
    if (number < 1 || number > 365) return null;
    return (year) => (number - 1 + (isLeap(year) && number >= 60 ? 1 : 0)) * DAY + time;
  }
  if (day !== undefined) return Number(day) > 365 ? null : () => Number(day) * DAY + time;
  if (Number(month) < 1 || Number(month) > 12) return null;
  return (year) => dayOfYear(year, Number(month), Number(week), Number(weekday)) * DAY + time;
}

function dayOfYear(year: number, month: number, week: number, weekday: number): number {
  const first = new Date(0);
  first.setUTCFullYear(year, month - 1, 1);
  const next = new Date(0);
  next.setUTCFullYear(year, month, 1);
  const days = (next.getTime() - first.getTime()) / 1000 / DAY;
  let day = (weekday - first.getUTCDay() + 7) % 7;
  day += (week - 1) * 7;
  while (day >= days) day -= 7;
  return (first.getTime() / 1000 - startOf(year)) / DAY + day;
}

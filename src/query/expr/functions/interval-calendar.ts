/**
 * Calendar fields of an interval as to_char prints them: PostgreSQL takes years, months and days for a date, which may
 * have a month 0 and negative days, and computes with C's integers (datetime.c date2j, timestamp.c date2isoyear).
 */

/** The Julian day of such a date. */
export function julianDay(year: number, month: number, day: number): number {
  const m = month > 2 ? month + 1 : month + 13;
  const y = month > 2 ? year + 4800 : year + 4799;
  const century = Math.trunc(y / 100);
  const leaps = Math.trunc(y / 4) - century + Math.trunc(century / 4);
  return y * 365 - 32_167 + leaps + Math.trunc((7834 * m) / 256) + day;
}

/** 0 is Monday. */
const weekday = (julian: number) => ((julian % 7) + 7) % 7;

/** The Monday of the week that has January 4. */
function firstMonday(year: number): number {
  const fourth = julianDay(year, 1, 4);
  return fourth - weekday(fourth);
}

/** The year, the week and the day of the year by ISO 8601. */
export function isoFields(year: number, month: number, day: number) {
  const julian = julianDay(year, month, day);
  let counted = julian < firstMonday(year) ? year - 1 : year;
  let start = firstMonday(counted);
  if (julian >= firstMonday(counted + 1) && Math.trunc((julian - start) / 7) + 1 >= 52) {
    counted++;
    start = firstMonday(counted);
  }
  return { year: counted, week: Math.trunc((julian - start) / 7) + 1, dayOfYear: julian - start + 1, julian };
}

/** Names that PostgreSQL tells with capitals; they are found whatever the case. Programs look for these. */
const SPELLED = new Map(["DateStyle", "IntervalStyle", "TimeZone"].map((name) => [name.toLowerCase(), name]));

export const toldSettingName = (name: string): string => SPELLED.get(name.toLowerCase()) ?? name;

/** SET TIME ZONE and AT TIME ZONE with offsets, whose signs are those of POSIX. Answers are PostgreSQL's. */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";

const MOMENT = "'2000-01-01 00:00:00+00'::timestamptz";
const NEW_YEAR = `select (${MOMENT})::text`;

t.test("time zones by offset", (t) =>
  checkStatements(t, [
    [`select ${MOMENT} at time zone '+02:00'`, ["1999-12-31 22:00:00"]],
    [`select ${MOMENT} at time zone 'FOO2'`, ["1999-12-31 22:00:00"]],
    ["set timezone = '+02:00'"],
    [NEW_YEAR, ["1999-12-31 22:00:00-02"]],
    ["set timezone = -7"],
    ["show timezone", ["<-07>+07"]],
    [NEW_YEAR, ["1999-12-31 17:00:00-07"]],
    ["set time zone interval '+05:30' hour to minute"],
    ["show timezone", ["<+05:30>-05:30"]],
    [NEW_YEAR, ["2000-01-01 05:30:00+05:30"]],
    ["set timezone = 'UTC+3'"],
    [NEW_YEAR, ["1999-12-31 21:00:00-03"]],
    ["set timezone = 'europe/berlin'"],
    ["show timezone", ["Europe/Berlin"]],
    ["set timezone = 'nowhere'", '22023 invalid value for parameter "TimeZone": "nowhere"'],
    ["set timezone = 400", '22023 invalid value for parameter "TimeZone": "400"'],
  ]),
);

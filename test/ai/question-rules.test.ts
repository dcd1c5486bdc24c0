/** What rules make of questions, over schemas that are written here; no server. */
import t from "tap";
import { matchQuestion } from "../../src/ai/nl2sql/match-question.js";
import { linksByName, type NamedTable } from "../../src/ai/nl2sql/name-links.js";
import { schemaOf } from "./question-schemas.js";

const SHOP = schemaOf({
  clients: "id, name text, town text, email text",
  invoices: "id, client_id>clients, issued date, due date, paid_on date, amount number, is_urgent boolean",
  parts: "id, invoice_id>invoices, sort text, pieces number",
});
const VALUES: Readonly<Record<string, readonly string[]>> = { town: ["Oslo", "Bergen"], sort: ["bolt", "nut"] };
/** Values that are words of the question, as the query for them would find them. */
const lookUp = async (sql: string, [runs]: readonly unknown[]) => {
  if (!sql.includes("DISTINCT")) return [];
  const column = /SELECT (\w+)::text/.exec(sql)![1]!;
  const found = (VALUES[column] ?? []).filter((value) => (runs as string[]).includes(value.toLowerCase()));
  return found.map((value) => [value]);
};
const sqlOf = async (question: string) => (await matchQuestion(question, SHOP, lookUp)).sql;

t.test("SQL of questions", async (t) => {
  for (const [question, sql] of [
    [
      "total amount year over year",
      /AS change.*AS growth.*CASE WHEN lag\(year\).* = year - 1.*sum\(invoices\.amount\)/,
    ],
    ["amount per month", /SELECT date_trunc\('month', invoices\.issued\) AS month, sum\(invoices\.amount\)/],
    ["unpaid invoices", /WHERE invoices\.paid_on IS NULL$/],
    ["clients with unpaid invoices", /WHERE EXISTS .* invoices\.paid_on IS NULL\)$/],
    ["clients without urgent invoices", /WHERE NOT EXISTS .* AND invoices\.is_urgent\)$/],
    ["clients with no invoices in 2024", /NOT EXISTS .* invoices\.issued >= DATE '2024-01-01' AND .*\)$/],
    ["invoices paid after they were due", /WHERE invoices\.paid_on > invoices\.due$/],
    ["invoices issued in the first half of 2025", />= DATE '2025-01-01' AND invoices\.issued < DATE '2025-07-01'/],
    ["invoices issued between March and June 2025", />= DATE '2025-03-01' AND invoices\.issued < DATE '2025-07-01'/],
    [
      "invoices issued more than 3 months ago",
      /WHERE invoices\.issued < \(current_date - interval '3 months'\)::date$/,
    ],
    ["invoices issued on March 5, 2025", />= DATE '2025-03-05' AND invoices\.issued < DATE '2025-03-06'/],
    ["invoices issued in March of last year", /- interval '1 year' \+ interval '2 months'/],
    ["which month had the most invoices", /GROUP BY date_trunc\('month', .* ORDER BY count\(\*\) DESC LIMIT 1$/],
    ["how many clients have more than 2 invoices", /^SELECT count\(\*\) AS count FROM \(.*HAVING count/],
    [
      "what percentage of invoices is urgent",
      /avg\(CASE WHEN invoices\.is_urgent THEN 100\.0 ELSE 0\.0 END\) AS percentage/,
    ],
    ["what share of invoices is urgent", /avg\(CASE WHEN invoices\.is_urgent THEN 1\.0 ELSE 0\.0 END\)/],
    ["top 2 towns by number of clients", /GROUP BY clients\.town ORDER BY count\(\*\) DESC LIMIT 2$/],
    ["client with the most urgent invoices", /WHERE invoices\.is_urgent GROUP BY .* DESC LIMIT 1$/],
    ["email of the client with the most invoices", /SELECT .*clients\.email, count\(/],
    ["average amount per invoice", /^SELECT avg\(invoices\.amount\) AS avg_amount FROM invoices$/],
    ["invoices with an amount of 20", /WHERE invoices\.amount = 20$/],
  ] as const) {
    const made = await sqlOf(question).catch((error: Error) => error.message);
    t.match(made, sql, `${question}: ${made}`);
  }
});

const DOCK = schemaOf({
  tbl_site: "site_pk, site_label text, region text, floor number",
  tbl_meter: "meter_pk, site_fk>tbl_site, serial text, gross_kg number, monthly_fee number, fitted_on date",
  tbl_run: "run_pk, meter_fk>tbl_meter, minutes number, begun timestamp",
  ClientParty: "client_id, party_name text, meter_fk>tbl_meter",
  LegalMatter: "matter_no, client_id>ClientParty, opened date",
  tbl_loose: "loose_pk, outflow number",
});

t.test("words that say something of rows, units, roles", async (t) => {
  const ask = async (question: string) => (await matchQuestion(question, DOCK, async () => [])).sql;
  for (const [question, sql] of [
    ["free meters", /WHERE tbl_meter\.monthly_fee = 0$/],
    ["sites on the third floor", /WHERE tbl_site\.floor = 3$/],
    ["upcoming matters", /WHERE LegalMatter\.opened > current_date$/],
    ["runs longer than two hours", /WHERE tbl_run\.minutes > 120$/],
    ["runs longer than 90 seconds", /WHERE tbl_run\.minutes > 1\.5$/],
    ["heaviest meter", /ORDER BY tbl_meter\.gross_kg DESC/],
    ["sites that were never fitted", /NOT EXISTS .*tbl_meter\.fitted_on IS NOT NULL/],
    ["which client has the most matters", /FROM ClientParty JOIN LegalMatter/],
    ["percentage of meters per site", /count\(\*\) \* 100\.0 \/ sum/],
  ] as const) {
    const made = await ask(question).catch((error: Error) => error.message);
    t.match(made, sql, `${question}: ${made}`);
  }
  // No way leads from one to the other, so the answer would be to another question.
  for (const question of ["total outflow per region", "total outflow by serial", "loose sorted by region"]) {
    const made = await ask(question).catch((error: Error) => error.message);
    t.match(made, /^The question/, `${question}: ${made}`);
  }
});

const CELLAR = schemaOf({
  rgn: "rgn_cd text, rgn_nm text, ctry text",
  vyd: "vyd_id, vyd_nm text, rgn_cd>rgn, area_ha number",
  sale: "sale_id, vyd_id>vyd, qty number, unit_prc number, sold_dt text, closed_dt text, chnl text, visitor_count number",
});
const IN_CELLAR: Readonly<Record<string, readonly string[]>> = {
  ctry: ["Spain"],
  chnl: ["reject", "web"],
  sold_dt: ["2025-03-04", "2024-01-31"],
  closed_dt: ["2025-03-05"],
};

t.test("short names, dates as text, revenue, values in other forms", async (t) => {
  const ask = async (question: string) => {
    const { sql } = await matchQuestion(question, CELLAR, async (text, [runs]) => {
      if (/WHERE v !~| EXCEPT /.test(text)) return [];
      const column = /DISTINCT v FROM \(SELECT (\w+)::text/.exec(text)?.[1];
      if (column !== undefined)
        return (IN_CELLAR[column] ?? [])
          .filter((value) => (runs as string[]).includes(value.toLowerCase()))
          .map((value) => [value]);
      return [[...text.matchAll(/(\w+)::text/g)].map(([, name]) => IN_CELLAR[name!]?.[0] ?? null)];
    });
    return sql;
  };
  for (const [question, sql] of [
    ["how many vineyards are there", /^SELECT count\(\*\) AS count FROM vyd$/],
    ["number of vineyards per region", /GROUP BY rgn\.rgn_cd, rgn\.rgn_nm/],
    ["sales in 2024", /WHERE sale\.sold_dt::date >= DATE '2024-01-01' AND sale\.sold_dt::date < DATE '2025-01-01'$/],
    ["sales per month", /GROUP BY date_trunc\('month', sale\.sold_dt::date\)/],
    ["open sales", /WHERE sale\.closed_dt::date IS NULL$/],
    ["revenue per channel", /^SELECT sale\.chnl, sum\(sale\.qty \* sale\.unit_prc\)/],
    ["number of visitors per channel", /sum\(sale\.visitor_count\)/],
    ["rejected sales", /WHERE sale\.chnl = 'reject'$/],
    ["Spanish vineyards", /WHERE rgn\.ctry = 'Spain'$/],
    ["the largest vineyard", /ORDER BY vyd\.area_ha DESC LIMIT 1$/],
    ["regions that own a vineyard", /WHERE EXISTS \(SELECT 1 FROM vyd WHERE vyd\.rgn_cd = rgn\.rgn_cd\)$/],
  ] as const) {
    const made = await ask(question).catch((error: Error) => error.message);
    t.match(made, sql, `${question}: ${made}`);
  }
});

t.test("what a question leaves open, or its SQL leaves out, is refused", async (t) => {
  for (const [question, why] of [
    ["amount per client", /several meanings: sum of amount, or avg of amount, or max of amount/],
    ["share of urgent invoices per client", /"share"/],
    ["invoices with bolt and nut", /"and"/],
    ["which clients paid all their invoices", /"all"/],
    ["clients with invoices in every town", /"every"/],
    ["towns without invoices", /"without"|"invoices"/],
    ["invoices by town then amount", /"then"|"amount"/],
    ["invoices longer than 30 days", /"longer"/],
    ["invoices issued two months ago", /"two"/],
    ["invoices issued in the last month of 2024", /"last"/],
    ["how much did Oslo order", /"much"|"order"/],
    ["number of urgent and not urgent invoices", /"urgent"/],
    ["invoices per month, year over year", /"year"/],
  ] as const) {
    const made = await sqlOf(question).catch((error: Error) => error.message);
    t.match(made, /^The question/, `${question}: ${made}`);
    t.match(made, why, question);
  }
});

/** Names that PostgreSQL folded, flags, times, rows that refer to others of their table. */
const INN = schemaOf({
  waiter: "waiterid, waitername text, hourlywage number, startdate date, is_certified boolean, manager_id>waiter",
  dish: "dishid, dishname text, unitprice number, calories number",
  bill: "billid, waiterid>waiter, openedat timestamp, closedat timestamp",
  billitem: "itemid, billid>bill, dishid>dish, quantity number, unitprice number",
  homepage: "pageid, heading text, founded number",
});

t.test("SQL of questions over folded names", async (t) => {
  const certified = { name: "passed", kind: "boolean", typeName: "boolean", nullable: true, isKey: false } as const;
  const waiter = INN.tables[0]!;
  const schema = {
    tables: [{ ...waiter, columns: [...waiter.columns, certified] }, ...INN.tables.slice(1)],
    links: INN.links.map((link) => link),
  };
  const of = async (question: string) => {
    const facts = /failed/.test(question) ? { ...schema, links: [], selfLinks: [] } : INN;
    return (await matchQuestion(question, facts, async () => [])).sql;
  };
  for (const [question, sql] of [
    ["waiters with an hourly wage below 15", /waiter\.hourlywage < 15$/],
    ["total revenue by dish", /sum\(billitem\.quantity \* billitem\.unitprice\).*GROUP BY dish\.dishid/],
    ["revenue per waiter and month", /date_trunc\('month', bill\.openedat\)/],
    ["dishes that were never ordered", /NOT EXISTS \(SELECT 1 FROM billitem WHERE billitem\.dishid = dish\.dishid\)$/],
    [
      "which waiter has not served anyone?",
      /NOT EXISTS \(SELECT 1 FROM bill WHERE bill\.waiterid = waiter\.waiterid\)$/,
    ],
    ["waiters without a manager", /waiter\.manager_id IS NULL$/],
    ["dishes between 10 and 20 euros", /dish\.unitprice BETWEEN 10 AND 20$/],
    ["dishes with more than 2 thousand calories", /dish\.calories > 2000$/],
    ["bills by hour of the day", /extract\(hour FROM bill\.openedat\) AS hour_of_day/],
    ["waiters who failed", /NOT waiter\.passed$/],
    ["top 3 most billed waiters", /count\(bill\.billid\).* LIMIT 3$/],
    ["homepages founded before 1910, oldest first", /founded < 1910 ORDER BY homepage\.founded$/],
  ] as const) {
    t.match(await of(question).catch((error: Error) => error.message), sql, question);
  }
  for (const question of ["dishes that contain nuts", "bills that were never paid", "dishes that were never updated"]) {
    t.match(await of(question).catch((error: Error) => error.message), /^The question/, question);
  }
});

t.test("amounts and what is overdue", async (t) => {
  const library = schemaOf({
    reader: "id, name text, membership text",
    bill: "id, reader_id>reader, opened date",
    fine: "id, reader_id>reader, amount number, due_on date, paid_on date",
  });
  for (const [question, sql] of [
    ["total fines per reader", /sum\(fine\.amount\).*GROUP BY reader\.id/],
    ["overdue fines", /fine\.due_on < current_date AND fine\.paid_on IS NULL$/],
    ["bills that were never paid", /^The question/],
  ] as const) {
    const said = await matchQuestion(question, library, async () => []).catch((error: Error) => ({
      sql: error.message,
    }));
    t.match(said.sql, sql, question);
  }
});

t.test("links by names of columns", async (t) => {
  const table = (name: string, primaryKey: string[], ...columns: string[]): NamedTable => ({
    name,
    primaryKey,
    columns: columns.map((column) => ({
      name: column,
      typeName: column === "note_id" ? "text" : "integer",
      isLinked: false,
    })),
  });
  const tables = [
    table("tbl_agent", ["agent_id"], "agent_id"),
    table("tbl_home", ["home_id"], "home_id", "agent_id", "note_id", "ownerId"),
    table("owners", ["id"], "id", "home"),
    table("tbl_yard", ["yard_pk"], "yard_pk", "owners_fk"),
    table("visit", ["id"], "id", "first_home_id", "id_visitor"),
    table("notes", ["note_id", "line"], "note_id", "line"),
    table("left", ["code"], "code", "unit_code"),
    table("right", ["unit_code"], "unit_code", "line"),
    table("twin", ["unit_code"], "unit_code"),
    table("shed_kinds", ["code"], "code"),
    table("tbl_shed", ["nr"], "nr", "kind_code"),
    table("members", ["id"], "id"),
    table("lists", ["id"], "id", "author_id", "colour_id"),
  ];
  const links = linksByName(tables).map(
    ({ from, column, to, references }) => `${from.name}.${column} ${to.name}.${references}`,
  );
  t.same(links, [
    "tbl_home.agent_id tbl_agent.agent_id",
    "tbl_home.ownerId owners.id",
    "tbl_yard.owners_fk owners.id",
    "visit.first_home_id tbl_home.home_id",
    "tbl_shed.kind_code shed_kinds.code",
    // The only table of persons.
    "lists.author_id members.id",
  ]);
});

const WORKS = schemaOf({
  halls: "hall_id, title text, district text, docks number, opened date",
  staff: "staff_id, full_name text, mentor_id>staff, hall_id>halls, wage number, hired date",
  trips:
    "trip_id, staff_id>staff, start_hall_id>halls, end_hall_id>halls, started_at timestamp, ended_at timestamp, km number, fuel text",
  jobs: "job_id, staff_id>staff, started_on date, finished_on date, labour_hours number, labour_cost number, parts_cost number, shipped_on date, state text",
});
const IN_WORKS: Readonly<Record<string, readonly string[]>> = {
  title: ["North Hall", "South Hall"],
  full_name: ["Ada Stein"],
  district: ["Docks"],
  state: ["shipped"],
  fuel: ["petrol", "diesel"],
};

t.test("rows that are compared with others, durations, what there is most of", async (t) => {
  const ask = async (question: string) => {
    const { sql } = await matchQuestion(question, WORKS, async (text, [runs]) => {
      const column = /DISTINCT v FROM \(SELECT (\w+)::text/.exec(text)?.[1];
      const values = IN_WORKS[column ?? ""] ?? [];
      return values.filter((value) => (runs as string[]).includes(value.toLowerCase())).map((value) => [value]);
    });
    return sql;
  };
  for (const [question, sql] of [
    [
      "staff hired after Ada Stein",
      /WHERE staff\.hired > \(SELECT max\(staff\.hired\) FROM staff WHERE .* = 'Ada Stein'\)$/,
    ],
    ["halls with more docks than North Hall", /WHERE halls\.docks > \(SELECT max\(halls\.docks\) .*'North Hall'\)$/],
    [
      "staff who earn more than their mentor",
      /wage > \(SELECT other\.wage FROM staff AS other WHERE other\.staff_id = staff\.mentor_id\)$/,
    ],
    [
      "staff mentored by Ada Stein",
      /WHERE staff\.mentor_id IN \(SELECT staff\.staff_id FROM staff WHERE .*'Ada Stein'\)$/,
    ],
    [
      "trips from North Hall to South Hall",
      /start_hall_id IN \(.*'North Hall'\) AND trips\.end_hall_id IN \(.*'South Hall'\)$/,
    ],
    ["halls with more than 20 docks", /WHERE halls\.docks > 20$/],
    ["how many docks are there per district", /sum\(halls\.docks\) AS sum_docks FROM halls GROUP BY halls\.district/],
    ["jobs that have not been shipped yet", /WHERE jobs\.shipped_on IS NULL$/],
    ["jobs where the parts cost more than the labour", /WHERE jobs\.parts_cost > jobs\.labour_cost$/],
    [
      "average duration of a job in days",
      /^SELECT avg\(\(jobs\.finished_on - jobs\.started_on\)\) AS avg_duration_days/,
    ],
    [
      "average trip duration in minutes",
      /^SELECT avg\(extract\(epoch FROM \(trips\.ended_at - trips\.started_at\)\) \/ 60\)/,
    ],
    ["number of trips per weekday", /extract\(isodow FROM trips\.started_at\) AS weekday.*FMDay/],
    ["fewest trips by hour of the day", /ORDER BY count\(\*\) LIMIT 1$/],
    ["trips with neither petrol nor diesel", /trips\.fuel NOT IN \('petrol', 'diesel'\)/],
    ["most common fuel of trips", /GROUP BY trips\.fuel ORDER BY count\(\*\) DESC LIMIT 1$/],
    ["most popular staff by trips", /JOIN trips .* ORDER BY count\(trips\.trip_id\) DESC LIMIT 1$/],
    ["how many jobs does each staff have", /FROM staff LEFT JOIN jobs/],
    ["staff with a higher wage than the average", /staff\.wage > \(SELECT avg\(staff\.wage\) FROM staff\)$/],
    ["jobs longer than a week", /WHERE \(jobs\.finished_on - jobs\.started_on\).* > 1$/],
    ["number of trips per fuel, most first", /ORDER BY count\(\*\) DESC$/],
    ["top 2 staff by km in March 2025", /several meanings: sum of km/],
    // Of trips or of jobs: nobody said.
    ["most popular staff", /number of rows of trips, or number of rows of jobs/],
  ] as const) {
    const made = await ask(question).catch((error: Error) => error.message);
    t.match(made, sql, `${question}: ${made}`);
  }
});

const KIOSK = schemaOf({
  buyer: "id, name text",
  ware: "id, title text, unit_price number, unit_cost number, stars number",
  booking: "id, buyer_id>buyer, opened_at timestamp, closed_at timestamp, booking_total number",
  booking_line: "id, booking_id>booking, ware_id>ware, units number",
});
const LISTED: Readonly<Record<string, readonly string[]>> = { title: ["tea", "coffee"] };
const lookUpListed = async (sql: string, [runs]: readonly unknown[]) => {
  if (!sql.includes("DISTINCT")) return [];
  const found = LISTED[/SELECT (\w+)::text/.exec(sql)![1]!] ?? [];
  return found.filter((value) => (runs as string[]).includes(value)).map((value) => [value]);
};

t.test("questions that are made of simpler ones", async (t) => {
  for (const [question, sql] of [
    ["buyers who booked both tea and coffee", /WHERE EXISTS .*'tea'\) AND \(EXISTS .*'coffee'\)\)$/],
    ["buyers who booked tea but never coffee", /WHERE EXISTS .*'tea'\) AND NOT \(EXISTS .*'coffee'\)\)$/],
    ["cumulative bookings per month", /sum\(value\) OVER \(ORDER BY period\) AS running_total .*count\(\*\)/],
    ["who spent the most", /^SELECT buyer.* ORDER BY sum\(booking\.booking_total\) DESC LIMIT 1$/],
    ["how much did each buyer spend", /^SELECT buyer.*sum\(booking\.booking_total\).* GROUP BY buyer/],
    ["margin of each ware", /\(ware\.unit_price - ware\.unit_cost\)/],
    ["number of bookings per buyer", /count\(\*\)/],
  ] as const) {
    const { sql: written, confidence } = await matchQuestion(question, KIOSK, lookUpListed);
    t.match(written, sql, question);
    t.ok(confidence <= 0.95, question);
  }
  for (const question of [
    "what will we book next week",
    "which buyer paid us the highest",
    "wares that were never priced",
  ])
    await t.rejects(matchQuestion(question, KIOSK, lookUpListed), { code: "question_not_understood" }, question);
});

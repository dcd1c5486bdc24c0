/** What rows are called by keys, units of money and times, and comparisons with parts of other columns; no server. */
import t from "tap";
import { matchQuestion } from "../../src/ai/nl2sql/match-question.js";
import type { SchemaFacts } from "../../src/ai/nl2sql/schema-facts.js";
import { schemaOf } from "./question-schemas.js";

const VALUES: Readonly<Record<string, readonly string[]>> = {
  username: ["kim"],
  full_name: ["Ada"],
  state: ["open", "sold"],
  title: ["Radios"],
  ship_country: ["Peru"],
};
const lookUp = async (sql: string, [runs]: readonly unknown[]) => {
  if (!sql.includes("DISTINCT")) return [];
  const found = VALUES[/SELECT (\w+)::text/.exec(sql)![1]!] ?? [];
  return found.filter((value) => (runs as string[]).includes(value.toLowerCase())).map((value) => [value]);
};

const made = async (question: string, schema: SchemaFacts) =>
  (await matchQuestion(question, schema, lookUp).catch((error: Error) => ({ sql: error.message }))).sql;

/** Each question with its SQL, or with why it is refused. */
function asks(name: string, schema: SchemaFacts, answers: readonly (readonly [question: string, sql: RegExp])[]): void {
  t.test(name, async (t) => {
    for (const [question, sql] of answers) {
      const text = await made(question, schema);
      t.match(text, sql, `${question}: ${text}`);
    }
  });
}

const MARKET = schemaOf({
  member: "member_id, username text, joined_on date",
  listing: "listing_id, seller_id>member, name text, state text, opened_at timestamp, closes_at timestamp",
  bid: "bid_id, listing_id>listing, bidder_id>member, amount_cents number, placed_at timestamp",
  payment: "payment_id, listing_id>listing, amount_cents number, method text, due_on date, paid_at timestamp",
  review: "review_id, author_id>member, subject_id>member, stars number, written_at timestamp",
});

asks("names by keys", MARKET, [
  ["sellers with at least 2 listings", /FROM member JOIN listing ON listing\.seller_id = .* >= 2 /],
  ["sellers who joined in 2023", /FROM member WHERE .*joined_on.* EXISTS .*listing\.seller_id = member\.member_id\)$/],
  ["number of reviews per author", /member\.username, count\(\*\).* ON review\.author_id = member\.member_id /],
  ["average stars per subject", /avg\(review\.stars\).* ON review\.subject_id = member\.member_id /],
  ["reviews written by kim", /^SELECT review\.\* .* ON review\.author_id = .* = 'kim'$/],
  ["reviews about kim", /^SELECT review\.\* .* ON review\.subject_id = .* = 'kim'$/],
  ["which member placed the most bids", /count\(bid\.bid_id\) DESC LIMIT 1$/],
]);

asks("money, states and numbers", MARKET, [
  ["total payments in euros", /^SELECT sum\(payment\.amount_cents \/ 100\.0\)/],
  ["payments above 20 euros", /WHERE payment\.amount_cents \/ 100\.0 > 20$/],
  ["payments above 20", /WHERE payment\.amount_cents > 20$/],
  ["average payment per method", /avg\(payment\.amount_cents\)/],
  ["total amount paid per method", /WHERE payment\.paid_at IS NOT NULL GROUP BY payment\.method/],
  ["outstanding payments", /WHERE payment\.paid_at IS NULL$/],
  ["payments made after the due date", /WHERE payment\.paid_at > payment\.due_on$/],
  ["two star reviews", /^SELECT review\.\* FROM review WHERE review\.stars = 2$/],
  ["listings open for longer than 7 days", /^The question cannot/],
  ["bids per month", /date_trunc\('month', bid\.placed_at\)/],
]);

const RIDES = schemaOf({
  driver: "driver_id, full_name text, hired_on date, mentor_id>driver",
  rider: "rider_id, nickname text",
  vehicle: "vehicle_id, plate_no text, model_year number",
  ride: "ride_id, driver_id>driver, rider_id>rider, vehicle_id>vehicle, requested_at timestamp, picked_up_at timestamp, dropped_off_at timestamp, distance_km number, fare_cents number, tip_cents number",
  category: "category_id, title text, parent_id>category",
});

asks("rows of their own table, ways and parts", RIDES, [
  ["how many drivers does each mentor have", /^SELECT mentor\.driver_id, mentor\.full_name, count\(\*\) .* AS mentor /],
  ["which mentor has the most drivers", /GROUP BY mentor\..* ORDER BY count\(\*\) DESC LIMIT 1$/],
  ["mentors with more than two drivers", /HAVING count\(\*\) > 2 /],
  [
    "who is the mentor of Ada",
    /driver_id IN \(SELECT driver\.mentor_id FROM driver WHERE driver\.full_name = 'Ada'\)$/,
  ],
  ["subcategories of Radios", /category\.parent_id IN \(SELECT category\.category_id .* = 'Radios'\)$/],
  ["top level categories", /WHERE category\.parent_id IS NULL$/],
  ["rides per month", /date_trunc\('month', ride\.requested_at\)/],
  ["total distance driven in March 2025", /^SELECT sum\(ride\.distance_km\)/],
  ["average duration of a ride", /avg\(\(ride\.dropped_off_at - ride\.picked_up_at\)\)/],
  ["rides where the tip was more than 10 percent of the fare", /ride\.tip_cents > 0\.1 \* ride\.fare_cents$/],
  ["rides with a tip above twice the fare", /ride\.tip_cents > 2 \* ride\.fare_cents$/],
  ["vehicles built before 2019", /WHERE vehicle\.model_year < 2019$/],
]);

const SHOP = schemaOf({
  artist: "artist_id, name text",
  track: "track_id, artist_id>artist, name text, milliseconds number, unit_price_cents number",
  line: "line_id, track_id>track, quantity number, sold_on date",
  dept: "dept_id, label text, head_id>emp",
  emp: "emp_id, full_name text, dept_id>dept, salary number",
  film: "film_id, title text, release_year number",
  guild: "guild_id, title text, leader_id>emp",
  guild_member: "member_id, guild_id>guild, emp_id>emp",
});

asks("units, best sellers, roles beside members", SHOP, [
  ["tracks longer than 5 minutes", /WHERE track\.milliseconds > 300000$/],
  ["top 5 best selling tracks", /ORDER BY sum\(line\.quantity\) DESC LIMIT 5$/],
  ["track with the highest unit price", /ORDER BY track\.unit_price_cents DESC LIMIT 1$/],
  ["average salary per dept", /JOIN dept ON emp\.dept_id = dept\.dept_id /],
  ["films per year", /GROUP BY film\.release_year/],
  ["employees who are not in any guild", /NOT EXISTS \(SELECT 1 FROM guild_member /],
  ["tracks that need to be renamed", /^The question cannot/],
]);

const LIBRARY = schemaOf({
  shop: "shop_id, city text",
  customer: "customer_id, shop_id>shop, email text",
  film: "film_id, title text",
  copy: "copy_id, film_id>film, shop_id>shop",
  rental: "rental_id, customer_id>customer, copy_id>copy, rented_at timestamp, returned_at timestamp",
});

const SALES = schemaOf({
  employee: "employee_id, full_name text, hired_on date",
  order_head: "order_id, employee_id>employee, ordered_on date, shipped_on date, ship_country text, freight number",
  order_line: "line_id, order_id>order_head, quantity number, unit_price number",
});

asks("times of what is grouped by, and where things are shipped", SALES, [
  ["revenue per employee in 1998", /WHERE order_head\.ordered_on >= DATE '1998-01-01'/],
  ["order heads shipped to Peru", /^SELECT order_head\.\* FROM order_head WHERE order_head\.ship_country = 'Peru'$/],
  ["order heads not shipped", /WHERE order_head\.shipped_on IS NULL$/],
]);

asks("what a parent has is not the row's own", LIBRARY, [
  ["customers who have not returned a film", /^The question cannot/],
  ["customers without a copy", /^(?!.*copy\.shop_id)/],
  ["films never rented", /NOT EXISTS .*rental/],
]);

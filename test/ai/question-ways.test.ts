/** By which keys a question goes from rows to others, and whose column a clause means; no server. */
import t from "tap";
import { matchQuestion } from "../../src/ai/nl2sql/match-question.js";
import { schemaOf } from "./question-schemas.js";

const VALUES: Readonly<Record<string, readonly string[]>> = {
  gender: ["F", "M"],
  code: ["APG", "ASY"],
  source_code: ["APG", "ASY"],
  dest_code: ["APG", "ASY"],
  city: ["Ashley", "Kent"],
  label: ["Ashley", "Tarn"],
  tongue: ["Dutch"],
  dog_name: ["Rex"],
  maker_name: ["Volvo"],
};
const lookUp = async (sql: string, [runs]: readonly unknown[]) => {
  if (runs === undefined || !sql.includes("DISTINCT")) return [];
  const found = VALUES[/SELECT (\w+)::text/.exec(sql)![1]!] ?? [];
  return found.filter((value) => (runs as string[]).includes(value.toLowerCase())).map((value) => [value]);
};

const BANK = schemaOf({
  district: "district_id, town text",
  client: "client_id, district_id>district, gender text, age number",
  account: "account_id, district_id>district, opened_on date",
  holding: "holding_id, client_id>client, account_id>account",
  loan: "loan_id, account_id>account, amount number, granted_on date, duration_days number, age number",
});
const FLIGHTS = schemaOf({
  airport: "code text, label text, city text",
  flight: "flight_id, source_code>airport text, dest_code>airport text, seats number",
  nation: "nation_id, nation_name text",
  speaking: "speaking_id, nation_id>nation, tongue text, isofficial boolean",
  driver: "driver_id, surname text",
  race: "race_id, race_name text, yr number",
  result: "result_id, race_id>race, driver_id>driver, points number",
});

const KENNEL = schemaOf({
  owner: "owner_id, first_name text, last_name text",
  dog: "dog_id, owner_id>owner, dog_name text",
  nurse: "nurse_id, first_name text, last_name text",
  vaccination: "vaccination_id, dog_id>dog, nurse_id>nurse, given_on date",
});

const CARDS = schemaOf({
  person: "person_id, label text, height number",
  card_player: "player_id, person_id>person, earnings number",
  prop: "prop_id, size_sqm number, agt_nm text, sold_dt date, list_dt date, sold_amt number, ask_amt number",
});

const PUPILS = schemaOf({
  address: "address_id, city text, tag text",
  pupil: "pupil_id, label text, current_address_id>address, permanent_address_id>address",
  battle: "battle_id, title text",
  vessel: "vessel_id, lost_in_battle>battle, vessel_name text",
  death: "death_id, vessel_id>vessel, injured number",
});

const CARS = schemaOf({
  maker: "maker_id, maker_name text, num_of_staff number, founded number",
  car_specs: "car_id, maker_id>maker, cyl number, weight number",
});

const ANSWERS: readonly (readonly [schema: typeof BANK, question: string, sql: RegExp])[] = [
  // Clients and accounts share a district; a client's accounts are those that it holds.
  [BANK, "average loan amount of female clients", /JOIN holding ON holding\.client_id .*JOIN account ON holding/],
  [BANK, "loans of clients who are older than 60", /EXISTS .*client\.age > 60/],
  [BANK, "loans longer than 2 weeks", /loan\.duration_days > 14$/],
  [BANK, "the ids and amounts of loans", /^SELECT loan\.loan_id, loan\.amount FROM loan$/],
  [FLIGHTS, "how many flights arrive at APG", /flight\.dest_code = 'APG'$/],
  [FLIGHTS, "how many flights depart from APG", /flight\.source_code = 'APG'$/],
  [FLIGHTS, "airports in the city of Ashley", /WHERE airport\.city = 'Ashley'$/],
  [FLIGHTS, "how many nations speak Dutch", /^SELECT count\(\*\).* EXISTS .*speaking\.tongue = 'Dutch'\)$/],
  [FLIGHTS, "which driver has the largest number of results", /ORDER BY count\(result\.result_id\) DESC LIMIT 1$/],
  [FLIGHTS, "races in 2014 or later", /race\.yr >= 2014$/],
  // Of one race, or of all together.
  [FLIGHTS, "drivers with more than 10 points", /^The question cannot/],
  // Of each of them, or of all.
  [BANK, "average age of male and female clients", /^The question cannot/],
  [BANK, "average age of clients per gender", /GROUP BY client\.gender/],
  [BANK, "number of loans per account, in descending order", /ORDER BY count\(\*\) DESC$/],
  // There are vaccinations, and who owns a dog gave none.
  [KENNEL, "who vaccinated Rex", /^The question cannot/],
  [KENNEL, "who owns Rex", /FROM owner .*dog\.dog_name = 'Rex'/],
  // Players have no names of their own.
  [CARDS, "names of card players with the highest earnings", /^SELECT person\.label FROM card_player JOIN person/],
  [CARDS, "names of the card players in descending order of earnings", /ORDER BY card_player\.earnings DESC$/],
  [CARDS, "earnings of card players, from the highest to the lowest", /ORDER BY card_player\.earnings DESC$/],
  [CARDS, "the smallest and the largest height of persons", /^SELECT min\(person\.height\).* max\(person\.height\)/],
  [CARDS, "properties larger than 200 square metres", /^SELECT prop\.\* FROM prop WHERE prop\.size_sqm > 200$/],
  [CARDS, "number of properties per agent", /GROUP BY prop\.agt_nm/],
  // For more money, not later.
  [CARDS, "properties sold for more than listed", /^The question cannot/],
  // What a key is called by: of two keys, and of one that a verb begins.
  [PUPILS, "how many pupils permanently live in Kent", /pupil\.permanent_address_id = .*city = 'Kent'$/],
  [PUPILS, "pupils and their current city", /^SELECT pupil\.label, address\.city FROM .*pupil\.current_address_id = /],
  [PUPILS, "which battle lost the most vessels", /vessel\.lost_in_battle = .* DESC LIMIT 1$/],
  [
    PUPILS,
    "the vessel id with the highest total of injured",
    /^(?:The question cannot|SELECT (?:vessel|death)\.vessel_id)/,
  ],
  [PUPILS, "tag of the address whose city has the substring 'en'", /address\.city ILIKE '%en%'$/],
  [CARS, "average weight of cars with 4 cylinders", /WHERE car_specs\.cyl = 4$/],
  [CARS, "how many car makers are there", /^SELECT count\(\*\) AS count FROM maker$/],
  [
    CARS,
    "cars heavier than 1900, and order the results by weight",
    /^SELECT car_specs\.\* .*ORDER BY car_specs\.weight$/,
  ],
  [CARS, "makers founded in the 19th century", /maker\.founded BETWEEN 1801 AND 1900$/],
  [
    FLIGHTS,
    "surname of drivers with more than 3 races",
    /^SELECT driver\.driver_id, .*count\(DISTINCT race\.race_id\) > 3/,
  ],
  [
    CARS,
    "name and staff number of makers with more than 3 cars",
    /GROUP BY maker\.maker_id, .*maker\.num_of_staff HAVING/,
  ],
  [CARS, "staff number of Volvo", /^SELECT maker\.num_of_staff FROM maker/],
  [CARS, "top 3 most built cars", /^The question cannot/],
  // They took part.
  [FLIGHTS, "drivers who did not finish a race", /^The question cannot/],
  [FLIGHTS, "drivers without races", /NOT EXISTS .*race/],
];

t.test("ways, owners of clauses, what is not said", async (t) => {
  for (const [schema, question, sql] of ANSWERS) {
    const made = await matchQuestion(question, schema, lookUp).catch((error: Error) => ({ sql: error.message }));
    t.match(made.sql, sql, `${question}: ${made.sql}`);
  }
});

/**
 * A folder of 200 documents for questions: 35 written by hand (test/quality/folder/written.json), the others from
 * lists, in several wordings, many of which differ in a field or two. Equal at each run.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../servers.js";

const of = <T>(list: readonly T[], i: number): T => list[i % list.length]!;
const MONTHS = "January February March April May June July August September October November December".split(" ");
const dayOf = (i: number) => `${1 + ((i * 11) % 28)} ${of(MONTHS, i * 5)} ${2016 + ((i * 3) % 9)}`;

const TOWNS = (
  "Aldern Brekke Corvale Dunmore Eskford Farnau Grevin Holmstad Ilverton Jarnow Kestrel Lomsea Marwick Nordby Ostrava " +
  "Pellworth Quarne Rostow Selby Tarvin Ulmen Varde Wexham Yarrow Zelten Ambleton Birkholm Clausen Drayford Elmsund"
).split(" ");
const FIRST = "Ada Bruno Carla Dario Edith Felix Gina Henrik Ines Jonas Karin Luca Marta Nils Olga".split(" ");
const LAST = (
  "Abel Brandt Castro Dahl Egger Ferro Gruber Hansen Ivanov Jansen Keller Lopez Meier Nowak Orban Petrov Quist Rossi " +
  "Santos Turner Urban Vogel Weber Xu Yilmaz Zeman Arnold Bauer Conti Duran"
).split(" ");
const nameOf = (i: number) => `${of(FIRST, i * 4 + 1)} ${of(LAST, i * 7 + 3)}`;

function branch(i: number): string {
  const town = TOWNS[i]!;
  const opened = 1978 + ((i * 13) % 44);
  const [opens, closes] = [7 + (i % 3), 17 + ((i * 2) % 5)];
  const manager = nameOf(i);
  const places = 12 + ((i * 17) % 70);
  if (i % 3 === 0)
    return `# Branch ${town}\n\nThe branch in ${town} opened in ${opened}. It is managed by ${manager}. Its doors are open from ${opens}:00 to ${closes}:30 on weekdays.\n\nBehind the house there are ${places} parking places.`;
  if (i % 3 === 1)
    return `${town}\n\nManager: ${manager}\nOpened: ${opened}\nHours: ${opens}:00 to ${closes}:30, Saturdays until 13:00\nParking places: ${places}`;
  return `# ${town}\n\nSince ${opened} we have had a shop in ${town}. ${manager} runs it with ${3 + (i % 9)} colleagues. Customers can come between ${opens}:00 and ${closes}:30. The car park has room for ${places} cars.`;
}

function product(i: number): string {
  const kind = of(["pump", "heater", "lamp", "fan"], Math.floor(i / 10));
  const model = `${kind[0]!.toUpperCase()}X-${100 + (i % 10) * 10}`;
  const [watts, weight, price] = [40 + ((i * 37) % 900), (2 + ((i * 7) % 40)) / 2, 49 + ((i * 53) % 800)];
  const warranty = of([24, 36, 60], i);
  if (i % 2 === 0)
    return `# ${model}\n\nThe ${kind} ${model} draws ${watts} watts and weighs ${weight} kilograms. It costs ${price} euros. The warranty lasts ${warranty} months. It has been on sale since ${of(MONTHS, i * 7)} ${2015 + (i % 10)}.`;
  return `${model} data sheet\n\nType: ${kind}. Power: ${watts} watts. Weight: ${weight} kilograms. List price: ${price} euros. Warranty: ${warranty} months.\n\nThe ${model} must not be used outdoors.`;
}

function minutes(i: number): string {
  const topic = of(
    ["roof of hall two", "new web shop", "apprentice flats", "summer party", "delivery vans", "noise at night"],
    i,
  );
  const amount = (3 + ((i * 19) % 90)) * 500;
  const body = of(["board", "works council", "building committee"], i * 2 + Math.floor(i / 6));
  return `# Meeting of the ${body}, ${dayOf(i)}\n\nChair: ${nameOf(i + 40)}. Present: ${5 + (i % 8)} members.\n\nThe ${body} discussed the ${topic}. It approved ${amount.toLocaleString("en")} euros for the ${topic}. ${of(["The vote was unanimous.", "Two members voted against it.", "One member abstained."], i)}\n\nThe next meeting is on ${dayOf(i + 7)}.`;
}

function person(i: number): string {
  const name = `${of(FIRST, i)} ${of(LAST, i * 11 + 5)}`;
  const role = of(
    ["welder", "accountant", "buyer", "software engineer", "driver", "chemist"],
    i * 5 + Math.floor(i / 6),
  );
  const languages = of(["Spanish and Polish", "French", "Turkish and Dutch", "Portuguese", "Czech"], i * 3);
  return i % 2 === 0
    ? `${name} joined us on ${dayOf(i + 3)} as a ${role}. Besides English ${name.split(" ")[0]} speaks ${languages}. The desk is in room ${1 + (i % 4)}.${10 + i}.`
    : `# ${name}\n\nRole: ${role}\n\nWith us since ${dayOf(i + 3)}. Languages: ${languages}. Room ${1 + (i % 4)}.${10 + i}, extension ${4500 + i * 3}.`;
}

function incident(i: number): string {
  const cause = of(
    ["a worn seal", "a tripped fuse", "an expired certificate", "a forklift that hit a shelf", "a frozen pipe"],
    i * 3,
  );
  const place = of(["hall one", "the paint shop", "the server room", "the loading dock"], i);
  return `Incident INC-${2040 + i}\n\nOn ${dayOf(i + 11)} work in ${place} stood still for ${15 + ((i * 25) % 300)} minutes. The cause was ${cause}. Nobody was hurt. Reported by ${nameOf(i + 80)}.`;
}

function contract(i: number): string {
  const supplier = of(["Alpen Steel", "Baltic Foam", "Ceres Packaging", "Delta Cable", "Eos Lighting"], i);
  const goods = of(["sheet steel", "foam", "cardboard boxes", "copper cable", "light fittings"], i);
  const year = 2022 + Math.floor(i / 5);
  return `# Contract with ${supplier}, ${year}\n\nSigned on ${1 + ((i * 9) % 27)} ${of(MONTHS, i * 2)} ${year}. ${supplier} delivers ${goods} for ${(40 + ((i * 31) % 200)) * 1000} euros a year. Payment is due within ${of([14, 30, 45], i + Math.floor(i / 5))} days. Notice: ${of([3, 6], i)} months to the end of a year.`;
}

/** By path; those of the file are written by hand. */
export function folderDocuments(written: string): Readonly<Record<string, string>> {
  const documents: Record<string, string> = JSON.parse(
    readFileSync(join(ROOT, "test/quality/folder", written), "utf8"),
  );
  const add = (count: number, path: (i: number) => string, text: (i: number) => string) => {
    for (let i = 0; i < count; i++) documents[path(i)] = text(i);
  };
  add(30, (i) => `branches/${TOWNS[i]!.toLowerCase()}.md`, branch);
  add(40, (i) => `products/sheet-${String(i).padStart(2, "0")}.md`, product);
  add(30, (i) => `minutes/meeting-${String(i).padStart(2, "0")}.md`, minutes);
  add(30, (i) => `people/${String(i).padStart(2, "0")}.md`, person);
  add(20, (i) => `incidents/inc-${2040 + i}.txt`, incident);
  add(15, (i) => `contracts/contract-${String(i).padStart(2, "0")}.md`, contract);
  return documents;
}

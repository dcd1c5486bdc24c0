/** Graphs of texts, found by rules: names with their kinds and places, and what the text says of them. */
import fc from "fast-check";
import t from "tap";
import { type ExtractedGraph, extractGraph } from "../../src/graph/extract/extract-graph.js";
import type { DbError } from "../../src/protocol/errors.js";
import { EXTRACT_CHARACTERS_MAX } from "../../src/protocol/limits.js";

/** "Ada -[WORK_WITH]-> Charles", in order. */
const edges = (graph: ExtractedGraph) => graph.edges.map(({ from, type, to }) => `${from} -[${type}]-> ${to}`);

/** "Ada:Person". */
const nodes = (graph: ExtractedGraph) => graph.nodes.map(({ name, type }) => `${name}:${type}`);

t.test("relations", async (t) => {
  const cases: [string, string[]][] = [
    [
      "Ada Lovelace worked with Charles Babbage in London.",
      ["Ada Lovelace -[WORK_WITH]-> Charles Babbage", "Ada Lovelace -[WORK_IN]-> London"],
    ],
    ["Microsoft acquired GitHub in 2018.", ["Microsoft -[ACQUIRE]-> GitHub", "Microsoft -[ACQUIRE_IN]-> 2018"]],
    ["Initech was founded by Bob and Alice.", ["Bob -[FOUND]-> Initech", "Alice -[FOUND]-> Initech"]],
    ["Acme Corp. is based in New York City.", ["Acme Corp. -[BASED_IN]-> New York City"]],
    [
      "Satya Nadella, who leads Microsoft, lives in Seattle.",
      ["Satya Nadella -[LEAD]-> Microsoft", "Satya Nadella -[LIVE_IN]-> Seattle"],
    ],
    [
      "Marie Curie was born in Warsaw and won the Nobel Prize.",
      ["Marie Curie -[BORN_IN]-> Warsaw", "Marie Curie -[WIN]-> Nobel Prize"],
    ],
    ["Bob left Initech and Alice stayed in Rome.", ["Bob -[LEAVE]-> Initech", "Alice -[STAY_IN]-> Rome"]],
    [
      "Bob and Alice visited Rome, Paris and London.",
      [
        "Bob -[VISIT]-> Rome",
        "Bob -[VISIT]-> Paris",
        "Bob -[VISIT]-> London",
        "Alice -[VISIT]-> Rome",
        "Alice -[VISIT]-> Paris",
        "Alice -[VISIT]-> London",
      ],
    ],
    ["Tim Cook is the CEO of Apple.", ["Tim Cook -[CEO_OF]-> Apple"]],
    [
      "John Smith, the director of the Louvre, met Angela Merkel.",
      ["John Smith -[DIRECTOR_OF]-> Louvre", "John Smith -[MEET]-> Angela Merkel"],
    ],
    [
      "Google's CEO Sundar Pichai announced Gemini.",
      ["Sundar Pichai -[CEO_OF]-> Google", "Sundar Pichai -[ANNOUNCE]-> Gemini"],
    ],
    ["Ada Lovelace is a mathematician.", ["Ada Lovelace -[IS_A]-> mathematician"]],
    ["Physicist Marie Curie taught.", ["Marie Curie -[IS_A]-> physicist"]],
    ["Alan Turing was an English mathematician.", ["Alan Turing -[IS_A]-> English mathematician"]],
    ["Tesla, Inc. is based in Austin, Texas.", ["Tesla, Inc. -[BASED_IN]-> Austin", "Austin -[IN]-> Texas"]],
    ["After the war, Turing led Hut 8.", ["Turing -[LEAD]-> Hut 8"]],
    ["Apple announced that it would acquire GitHub.", ["Apple -[ACQUIRE]-> GitHub"]],
    ["In 2004, Elon Musk joined; in 2008, he left Tesla.", ["Elon Musk -[LEAVE]-> Tesla"]],
    // What is denied is no relation.
    ["Barack Obama did not visit Kyiv.", []],
    // Pronouns stand for the last subject of their kind; what they stand for alone is unknown.
    [
      "Ada Lovelace met Charles Babbage. She wrote to London.",
      ["Ada Lovelace -[MEET]-> Charles Babbage", "Ada Lovelace -[WRITE_TO]-> London"],
    ],
    [
      "Bob and Carol moved to Oslo. They love Norway.",
      ["Bob -[MOVE_TO]-> Oslo", "Carol -[MOVE_TO]-> Oslo", "Bob -[LOVE]-> Norway", "Carol -[LOVE]-> Norway"],
    ],
    ["She left.", []],
  ];
  for (const [text, wanted] of cases) t.same(edges(extractGraph(text)).sort(), [...wanted].sort(), text);
});

t.test("nodes", async (t) => {
  const text =
    "Dr. Jane Goodall met Tim in Tanzania. Goodall studied at the University of Cambridge in 1965. Initech liked it.";
  const graph = extractGraph(text);
  t.same(nodes(graph), [
    "Dr. Jane Goodall:Person",
    "Tim:Person",
    "Tanzania:Place",
    "University of Cambridge:Organization",
    "1965:Date",
    "Initech:Entity",
  ]);
  const [goodall, tim] = graph.nodes;
  t.same(
    goodall?.spans.map(({ start, end }) => text.slice(start, end)),
    ["Dr. Jane Goodall", "Goodall"],
  );
  t.ok((goodall?.confidence as number) > (tim?.confidence as number), "a name that comes again is surer");
  t.same(nodes(extractGraph("Ada met Bob (Tom Smith) and “Alice”.")), [
    "Ada:Person",
    "Bob:Person",
    "Tom Smith:Person",
    "Alice:Person",
  ]);
  t.same(extractGraph(""), { nodes: [], edges: [] });
  t.same(extractGraph("12 + 30 = 42; 我爱北京。 🎉").edges, []);
});

t.test("surest first: names over concepts, what is said over what is meant", async (t) => {
  const { edges } = extractGraph(
    "Ada Lovelace met Charles Babbage. She wrote algorithms. Ada Lovelace met Charles Babbage.",
  );
  const confidence = (type: string) => edges.find((edge) => edge.type === type)?.confidence as number;
  t.ok(confidence("MEET") > 0.85, "said twice");
  t.ok(confidence("MEET") > confidence("WRITE"));
  t.equal(edges.length, 2);
});

t.test("a kind that the text tells", async (t) => {
  for (const text of [
    "Zaphod Beeble, who leads Magrathea, sings.",
    "Magrathea's CEO Zaphod Beeble sings.",
    "Zaphod Beeble sings. He likes Magrathea.",
  ]) {
    t.ok(nodes(extractGraph(text)).includes("Zaphod Beeble:Person"), text);
  }
});

t.test("spans are offsets in UTF-16, also behind other characters and in later pieces", async (t) => {
  const line = "🎉 Marie Curie moved to Paris — naïve, isn’t it? — in 1891.\n";
  const text = line.repeat(200);
  const { nodes, edges } = extractGraph(text);
  const curie = nodes.find(({ name }) => name === "Marie Curie");
  t.equal(curie?.spans.length, 200);
  for (const [i, { start, end }] of (curie?.spans ?? []).entries()) {
    if (start !== i * line.length + 3 || text.slice(start, end) !== "Marie Curie") t.fail(`mention ${i}`);
  }
  const move = edges.find(({ type }) => type === "MOVE_TO");
  t.equal(text.slice(move?.span.start, move?.span.end), "Marie Curie moved to Paris");
});

t.test("what holds for every text", async () => {
  const words = fc.constantFrom(
    ..."Ada Bob met who the CEO of and , . ; 's was founded by in Paris 1999 She they not is a IBM Corp. (old) “ 🎉 \n to run which it".split(
      " ",
    ),
  );
  const texts = fc.oneof(
    fc.array(words, { maxLength: 40 }).map((x) => x.join(" ")),
    fc.string({ unit: "grapheme", maxLength: 60 }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const { nodes, edges } = extractGraph(text);
      const names = new Set(nodes.map(({ name }) => name));
      const inText = ({ start, end }: { start: number; end: number }) =>
        0 <= start && start < end && end <= text.length;
      const sure = ({ confidence }: { confidence: number }) => confidence > 0 && confidence < 1;
      const lower = new Set(nodes.map(({ name }) => name.toLowerCase()));
      return (
        lower.size === nodes.length &&
        nodes.every((node) => node.name !== "" && node.spans.every(inText) && sure(node)) &&
        edges.every((edge) => names.has(edge.from) && names.has(edge.to) && inText(edge.span) && sure(edge)) &&
        edges.every(({ type }) => /^[\p{L}\p{N}]+(_[\p{L}\p{N}]+)*$/u.test(type))
      );
    }),
    { numRuns: 500 },
  );
});

t.test("a text that is too long is refused, one of the longest taken", async (t) => {
  const sentence = "Ada Lovelace worked with Charles Babbage in London. ";
  const longest = sentence.repeat(EXTRACT_CHARACTERS_MAX / sentence.length).slice(0, EXTRACT_CHARACTERS_MAX);
  t.equal(extractGraph(longest).edges.length, 2);
  try {
    extractGraph("x".repeat(EXTRACT_CHARACTERS_MAX + 1));
    t.fail("taken");
  } catch (error) {
    t.equal((error as DbError).code, "invalid_request");
  }
});

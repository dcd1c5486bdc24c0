/** Files of Neo4j's bulk format by /v1/graph/import. */
import t from "tap";
import { TestServer } from "./server.js";

const server = await TestServer.shared();
t.teardown(() => server.stop());

const PATH = "/v1/graph/import";

/** Parts by name, with their texts. */
const form = (parts: readonly (readonly [name: string, text: string])[]) =>
  `${parts
    .map(([name, text], i) => {
      const disposition = `Content-Disposition: form-data; name="${name}"; filename="file${i + 1}.csv"`;
      return `--frontier\r\n${disposition}\r\nContent-Type: text/csv\r\n\r\n${text}\r\n`;
    })
    .join("")}--frontier--\r\n`;

const send = (query: string, ...parts: readonly (readonly [string, string])[]) =>
  server.call("POST", `${PATH}${query}`, form(parts), {
    headers: { "content-type": "multipart/form-data; boundary=frontier" },
  });
const cypher = async (text: string, graph?: string) =>
  (await server.call("POST", "/v1/graph/match", { cypher: text, ...(graph && { graph }) })).body.data.rows;

t.test("nodes, relationships and every type", async (t) => {
  const people = [
    "personId:ID(Person),name,born:int,score:double,ok:boolean,tags:string[],day:date,at:datetime,for:duration,where:point,:LABEL,no:IGNORE",
    'p1,"Ann ""A"" Lee",1990,2,true,red;blue,2026-01-02,2026-01-02T03:04:05Z,P1D,"{latitude: 55.5, longitude: 12}",Writer;Singer,x',
    'p2,"",,.5,FALSE,"",,,,,,',
    "p3,Cy,-9007199254740993,,,,,,,,Writer,",
  ].join("\n");
  const films = "filmId:ID(Film){id-type:int},title\n1,Rain\n2,Sun\n";
  const roles = ":START_ID(Person),:END_ID(Film),:TYPE,role\np1,1,ACTED_IN,lead\np3,2,MADE,\n";
  const knows = ":END_ID(Person),since:short,:START_ID(Person)\np2,2019,p1\n";
  const made = await send(
    "",
    ["nodes:Person", people],
    ["nodes:Film:Work", films],
    ["relationships", roles],
    ["relationships:KNOWS", knows],
  );
  t.match(made, {
    status: 200,
    body: { data: { nodes: 5, relationships: 3, properties: 24, nodes_skipped: 0, relationships_skipped: 0 } },
  });
  const [[ann]] = await cypher("MATCH (p:Person {personId: 'p1'}) RETURN p");
  t.match(ann, {
    labels: ["Person", "Singer", "Writer"],
    properties: { name: 'Ann "A" Lee', born: 1990, score: 2, ok: true, tags: ["red", "blue"], day: "2026-01-02" },
  });
  t.same(
    await cypher(
      "MATCH (p:Writer {personId: 'p1'}) RETURN p.score IS :: FLOAT, p.at = datetime('2026-01-02T03:04:05Z'), p.for = duration('P1D'), p.where.latitude",
    ),
    [[true, true, true, 55.5]],
  );
  t.same(await cypher("MATCH (p:Person {personId: 'p2'}) RETURN properties(p)"), [
    [{ personId: "p2", name: "", score: 0.5, ok: false, tags: [] }],
  ]);
  t.same(await cypher("MATCH (p {personId: 'p3'}) RETURN toString(p.born)"), [["-9007199254740993"]]);
  t.same(
    await cypher(
      "MATCH (a:Person)-[r]->(b) RETURN a.personId, type(r), properties(r), coalesce(b.title, b.personId) ORDER BY id(r)",
    ),
    [
      ["p1", "ACTED_IN", { role: "lead" }, "Rain"],
      ["p3", "MADE", {}, "Sun"],
      ["p1", "KNOWS", { since: 2019 }, "p2"],
    ],
  );
  t.same(await cypher("MATCH (f:Film:Work {filmId: 2})<-[:MADE]-(p) RETURN p.name"), [["Cy"]]);
});

t.test("what is wrong is named, and nothing is stored", async (t) => {
  const before = await cypher("MATCH (n) RETURN count(n)");
  const cases: readonly (readonly [string, readonly (readonly [string, string])[], object])[] = [
    ["an id twice", [["nodes", "id:ID\na\nb\na\n"]], { line: 4, column: "id:ID", file: "file1.csv" }],
    [
      "no such node",
      [
        ["nodes", ":ID\na\n"],
        ["relationships:R", ":START_ID,:END_ID\na,b\n"],
      ],
      { line: 2, column: ":END_ID", file: "file2.csv" },
    ],
    [
      "another space",
      [
        ["nodes", ":ID(X)\na\n"],
        ["relationships:R", ":START_ID(X),:END_ID\na,a\n"],
      ],
      { column: ":END_ID" },
    ],
    ["no integer", [["nodes", ":ID,n:int\na,x\n"]], { line: 2, column: "n:int", value: "x" }],
    ["out of range", [["nodes", ":ID,n:byte\na,200\n"]], { line: 2, column: "n:byte" }],
    ["no type of value", [["nodes", ":ID,n:whole\na,x\n"]], { column: "n:whole" }],
    ["no type", [["relationships", ":START_ID,:END_ID\na,b\n"]], { file: "file1.csv" }],
    ["fields", [["nodes", ":ID,n\na\n"]], { line: 2 }],
    [
      "nodes late",
      [
        ["nodes", ":ID\na\n"],
        ["relationships:R", ":START_ID,:END_ID\n"],
        ["nodes", ":ID\nb\n"],
      ],
      { field: "nodes" },
    ],
    ["no file", [], { field: "nodes" }],
    ["a strange part", [["edges", ":ID\na\n"]], { field: "edges" }],
    ["no header", [["nodes", ""]], { file: "file1.csv" }],
    ["a mark in a label", [["nodes", ":ID,:LABEL\na,x\u001fy\n"]], { line: 2, file: "file1.csv" }],
    [
      "a mark in a type",
      [
        ["nodes", ":ID\na\n"],
        ["relationships", ":START_ID,:END_ID,:TYPE\na,a,\u0000R\n"],
      ],
      { line: 2, file: "file2.csv" },
    ],
  ];
  for (const [what, parts, details] of cases) {
    const { status, body } = await send("", ...parts);
    t.match({ status, details: body.error?.details }, { status: /^(400|409)$/, details }, what);
  }
  t.match(await server.call("POST", PATH, ":ID\na\n", { headers: { "content-type": "text/csv" } }), { status: 415 });
  const cut = form([["nodes", ":ID\na\n"]]).slice(0, -8);
  const headers = { "content-type": "multipart/form-data; boundary=frontier" };
  t.match(await server.call("POST", PATH, cut, { headers }), {
    status: 400,
    body: { error: { code: "invalid_request" } },
  });
  const first = "--frontier\r\nContent-Disposition: form-data; name=nodes; filename=a.csv\r\n\r\n:ID\na\r\n";
  const odd = [
    ["Content-Type: text/csv", /1 of the form's parts have no valid Content-Disposition/],
    ["Content-Disposition: attachment; name=nodes; filename=b.csv", /1 of the form's parts have no valid/],
    ["Content-Disposition: form-data; filename=b.csv", /part 2 of the form has no name/],
    ["Content-Disposition: form-data; name=nodes", /"nodes" is no file/],
    ["Content-Disposition: form-data", /has no name/],
  ] as const;
  for (const [header, message] of odd) {
    const body = `${first}--frontier\r\n${header}\r\n\r\n:ID\nb\r\n--frontier--\r\n`;
    const refused = await server.call("POST", PATH, body, { headers });
    t.match(refused, { status: 400, body: { error: { code: "invalid_request", message } } }, header);
  }
  t.match(await send("?graph=nowhere", ["nodes", ":ID\na\n"]), { status: 404 });
  t.match(await send("?delimiter=;", ["nodes", ":ID\na\n"]), { status: 400 });
  t.same(await cypher("MATCH (n) RETURN count(n)"), before);
});

t.test("a byte order mark before a header in quotes is none of its text", async (t) => {
  const { status, body } = await send("", ["nodes:Marked", '\ufeff"code:ID","name"\n"m1","one"\n']);
  t.equal(status, 200, JSON.stringify(body));
  const found = await server.expect(200, "POST", "/v1/query/execute", {
    sql: "MATCH (m:Marked) RETURN m.code, m.name",
  });
  t.same(found.body.data.rows, [["m1", "one"]]);
});

t.test("bad rows are left out on demand", async (t) => {
  const made = await send(
    "?duplicate_nodes=skip&unconnected_relationships=skip&delimiter=TAB&array_delimiter=%7C",
    ["nodes", "code:ID\t:LABEL\n1\tSkipped|Other\n1\tSkipped\n2\tSkipped\n"],
    ["relationships:S", ":START_ID\t:END_ID\n1\t2\n1\t3\n"],
  );
  t.match(made.body.data, { nodes: 2, nodes_skipped: 1, relationships: 1, relationships_skipped: 1 });
  t.same(await cypher("MATCH (a:Other)-[:S]->(b:Skipped) RETURN a.code, b.code"), [["1", "2"]]);
});

t.test("constraints hold, and indexes find", async (t) => {
  await cypher("CREATE CONSTRAINT one_code FOR (n:Code) REQUIRE n.code IS UNIQUE");
  await cypher("CREATE (:Code {code: 'x5'})");
  const rows = Array.from({ length: 3000 }, (_, i) => `x${i},${i}`).join("\n");
  const refused = await send("", ["nodes:Code", `code:ID,n:int\n${rows}\n`]);
  t.match(refused, { status: 409, body: { error: { details: { row: 6 } } } });
  await cypher("MATCH (n:Code) DELETE n");
  t.match(await send("", ["nodes:Code", `code:ID,n:int\n${rows}\n`]), { body: { data: { nodes: 3000 } } });
  t.same(await cypher("MATCH (n:Code {code: 'x2999'}) RETURN n.n"), [[2999]]);
  t.match(await server.call("POST", "/v1/graph/match", { cypher: "CREATE (:Code {code: 'x7'})" }), { status: 409 });
});

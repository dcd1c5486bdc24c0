/** What a client hears about a body that is wrong: the place, the field, the remedy. */
import t from "tap";
import { Compile } from "typebox/compile";
import { compileValidator, type Input, isRightInTurns } from "../../src/bodies/validate.js";
import type { EndpointName } from "../../src/protocol/endpoints.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import type { DbError } from "../../src/protocol/errors.js";
import { encodeCaller, encodeHead, type RequestFrame, RequestWriter, readRequests } from "../../src/protocol/frames.js";

function frameOf(body: string | null, query = "", params: string[] = []): RequestFrame {
  const writer = new RequestWriter();
  const head = encodeHead(encodeCaller("", "", "", "", []), "", "", query, params);
  writer.request(1, 0, 0, 0, 0, 0, "r", head, body === null ? null : Buffer.from(body));
  const frames: RequestFrame[] = [];
  readRequests(writer.take(), (frame) => frames.push(frame));
  return frames[0]!;
}

function problem(
  name: EndpointName,
  body: string | null,
  query = "",
  params: string[] = [],
): Pick<DbError, "code" | "message" | "details"> {
  const validate = compileValidator(ENDPOINTS.find((endpoint) => endpoint.name === name)!);
  try {
    validate(frameOf(body, query, params));
  } catch (error) {
    const { code, message, details } = error as DbError;
    return { code, message, details };
  }
  throw new Error("the request was accepted");
}

t.test("malformed JSON", async (t) => {
  t.match(problem("query.execute", '{"sql":'), {
    code: "invalid_json",
    message: /position 7 \(line 1, column 8\)/,
    details: { position: 7 },
  });
  t.match(problem("query.execute", '{\n "sql": "a",\n}'), { code: "invalid_json", message: /line 3, column 1/ });
  t.match(problem("query.execute", "{'sql':1}"), { code: "invalid_json", details: { position: 1 } });
});

t.test("wrong fields", async (t) => {
  t.match(problem("query.execute", "{}"), {
    code: "invalid_request",
    message: 'Missing field "sql".',
    details: { field: "sql" },
  });
  t.match(problem("query.execute", '{"sql":"SELECT 1","parametres":[]}'), {
    message: /Unknown field "parametres"\. Known: sql, parameters, params/,
    details: { field: "parametres" },
  });
  t.match(problem("query.batch", '{"statements":["SELECT 1",{"sql":"SELECT 1","foo":1}]}'), {
    message: /^Unknown field "statements\[1\]\.foo"\. Known: sql, parameters, params\b(?!.*statements,)/,
    details: { field: "statements[1].foo" },
  });
  t.match(problem("query.execute", '{"sql":7}'), {
    message: 'The field "sql" must be a string, not a number.',
    details: { field: "sql" },
  });
  t.match(problem("query.execute", '{"sql":"x","max_rows":0}'), { message: /"max_rows" must be .*1.*, not 0/ });
  t.match(problem("query.execute", "[]"), { message: /The body must be an object \(fields: sql, .*\), not an array/ });
  t.match(problem("query.execute", '{"sqll":"x"}'), { details: { field: "sqll", hint: 'Did you mean "sql"?' } });
  t.match(problem("vectors.collections.create", '{"name":"x"}'), {
    message: 'Missing field "dimensions".',
    details: { hint: /^Send "dimensions": a whole number from 1 to \d+\.$/ },
  });
  t.match(problem("query.execute", null), { message: /body is missing/ });
  t.match(problem("admin.tenants.create", '{"id":"Upper Case"}'), { details: { field: "id" } });
  t.match(problem("apikeys.create", '{"name":"k","permission":"Root"}'), {
    message: 'The field "permission" must be one of ReadOnly, FullAccess.',
    details: { field: "permission" },
  });
});

t.test("what is optional may be left out", async (t) => {
  const validate = compileValidator(ENDPOINTS.find(({ name }) => name === "transactions.begin")!);
  t.same(validate(frameOf(null)).body, {});
  t.same(validate(frameOf("{}")).body, {});
});

t.test("null stands for absent where a field is optional and may not be null", async (t) => {
  const bodyOf = (name: EndpointName, body: string, params: string[] = []) =>
    compileValidator(ENDPOINTS.find((endpoint) => endpoint.name === name)!)(frameOf(body, "", params)).body;
  t.same(bodyOf("query.execute", '{"sql":"SELECT 1","parameters":null,"timeout_secs":null,"max_rows":5}'), {
    sql: "SELECT 1",
    max_rows: 5,
  });
  t.same(bodyOf("vectors.search", '{"query":"x","filter":null,"limit":null}', ["c"]), { query: "x", filter: null });
  t.equal(bodyOf("vectors.search", '{"vector":[1,2],"limit":null}', ["c"]).vector.length, 2);
  t.same(bodyOf("query.execute", '{"sql":"SELECT $1","parameters":[null]}').parameters, [null], "values stay");
  t.match(problem("query.execute", '{"sql":null,"parameters":null}'), {
    message: 'The field "sql" must be a string, not null.',
    details: { field: "sql" },
  });
  t.match(problem("query.execute", '{"sql":"x","parametres":null}'), { details: { field: "parametres" } });
  t.match(problem("query.execute", '{"sql":"x","max_rows":0,"parameters":null}'), { details: { field: "max_rows" } });
  t.match(problem("query.execute", '{"sql":"x","__proto__":null}'), { message: /Unknown field/ });
});

t.test("query parameters and path variables", async (t) => {
  t.match(problem("schema.tables", null, "limit=many"), { details: { field: "limit" } });
  t.match(problem("schema.tables", null, "paige=1"), { message: /Unknown query parameter "paige"/ });
  const validate = compileValidator(ENDPOINTS.find(({ name }) => name === "transactions.savepoint.rollback")!);
  t.same(validate(frameOf(null, "", ["tx_1", "a b"])).params, { id: "tx_1", name: "a b" });
});

t.test("long lists: what is wrong is found without looking for all that is", async (t) => {
  const labels = Array.from({ length: 500_000 }, () => "a");
  t.match(problem("graph.nodes.create", JSON.stringify({ labels })), {
    message: 'The field "labels" must hold at most 100 items.',
    details: { field: "labels" },
  });
  const documents: unknown[] = Array.from({ length: 90_000 }, () => ({}));
  documents[89_000] = 7;
  t.match(problem("documents.bulk", JSON.stringify({ documents }), "", ["article"]), {
    details: { field: "documents[89000]" },
  });
  const texts = Array.from({ length: 200 }, (_, i) => (i === 170 ? 7 : "a"));
  t.match(problem("language.sentiment", JSON.stringify({ texts })), { details: { field: "texts[170]" } });
  // One row may stand alone, so a list is one of two forms.
  const rows = Array.from({ length: 9_000 }, (_, i) => (i === 8_000 ? 7 : { a: i }));
  t.match(problem("automl.predict", JSON.stringify({ rows }), "", ["m"]), {
    message: 'The field "rows[8000]" must be an object, not a number.',
    details: { field: "rows[8000]" },
  });
});

t.test("long lists are checked in turns", async (t) => {
  let turns = 0;
  const always = { shouldYield: () => true, yieldTurn: async () => void turns++ };
  const validate = (name: EndpointName, body: object) => {
    const endpoint = ENDPOINTS.find((one) => one.name === name)!;
    return compileValidator(endpoint)(
      frameOf(JSON.stringify(body), "", name === "vectors.deleteMany" ? ["x"] : []),
      always,
    ) as Promise<Input>;
  };
  const ids = Array.from({ length: 100_000 }, (_, i) => `an id of some length ${i}`);
  const read = await validate("vectors.deleteMany", { ids });
  t.same(read.body, { ids });
  const check = Compile(ENDPOINTS.find(({ name }) => name === "vectors.deleteMany")!.body!);
  turns = 0;
  t.equal(await isRightInTurns(check, { ids }, always), true);
  t.ok(turns > 20, `${turns} turns`);
  t.equal(await isRightInTurns(check, { ids: [...ids, 7] }, always), false);
  t.equal(await isRightInTurns(check, { ids, other: 1 }, always), false);
  const wrong = validate("vectors.deleteMany", { ids: [...ids, 7] });
  await t.rejects(wrong, { message: `The field "ids[${ids.length}]" must be a string, not a number.` });
  const parameters = ids.map((_, i) => i);
  t.same((await validate("query.execute", { sql: "SELECT 1", parameters })).body.parameters.length, ids.length);
});

t.test("query parameters of an endpoint that has none", async (t) => {
  t.match(problem("query.execute", '{"sql":"SELECT 1"}', "max_rows=5"), {
    code: "invalid_request",
    message: /"max_rows" is a field of the body/,
    details: { field: "max_rows", hint: 'Send "max_rows" in the body.' },
  });
  const validate = compileValidator(ENDPOINTS.find(({ name }) => name === "query.execute")!);
  t.match(validate(frameOf('{"sql":"SELECT 1"}', "pretty=1")), {
    body: { sql: "SELECT 1" },
    warnings: ['The query parameter "pretty" is not used: this endpoint has none.'],
  });
  t.equal(validate(frameOf('{"sql":"SELECT 1"}')).warnings, undefined);
});

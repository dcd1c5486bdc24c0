/** The SQLite peer's bulk import (bench/import.ts): the body is read as a stream, a line a row, in one transaction. */

function integer(text) {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || text === "") throw new Error(`not an integer: ${text}`);
  return value;
}

function number(text) {
  const value = Number(text);
  if (Number.isNaN(value) || text === "") throw new Error(`not a number: ${text}`);
  return value;
}

function csvFields(line) {
  if (!line.includes('"')) return line.split(",");
  const fields = [];
  for (const match of line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    fields.push(match[1] === undefined ? match[2] : match[1].replaceAll('""', '"'));
  }
  return fields;
}

const parseLine = {
  csv(line) {
    const [id, name, x, at, ok, ...more] = csvFields(line);
    if (ok === undefined || more.length > 0) throw new Error(`five fields are needed: ${line}`);
    return [integer(id), name, number(x), at, ok === "t" ? 1 : 0];
  },
  ndjson(line) {
    const { id, name, x, at, ok } = JSON.parse(line);
    return [id, name, x, at, ok ? 1 : 0];
  },
};

/** Adds POST /import/csv and POST /import/ndjson. */
export function addImportRoutes(app, envelope, database) {
  database.exec(
    "CREATE TABLE IF NOT EXISTS bulk (id INTEGER PRIMARY KEY, name TEXT, x REAL, at TEXT, ok INTEGER) STRICT",
  );
  const insert = database.prepare("INSERT INTO bulk (id, name, x, at, ok) VALUES (?, ?, ?, ?, ?)");
  const clear = database.prepare("DELETE FROM bulk");
  app.addContentTypeParser(["text/csv", "application/x-ndjson"], (_request, payload, done) => done(null, payload));
  app.post("/import/:format", { bodyLimit: 2 ** 32 }, async (request, reply) => {
    const parse = parseLine[request.params.format];
    let isHeader = request.params.format === "csv";
    let rest = "";
    let rows = 0;
    clear.run();
    database.exec("BEGIN");
    try {
      request.body.setEncoding("utf8");
      for await (const piece of request.body) {
        const lines = (rest + piece).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          if (isHeader) {
            isHeader = false;
            continue;
          }
          insert.run(...parse(line));
          rows++;
        }
      }
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      return reply.code(400).send({ error: { message: error.message } });
    }
    return reply.send(envelope(request, { rows }));
  });
}

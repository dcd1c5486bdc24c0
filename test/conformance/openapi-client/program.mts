/** A program over openapi-fetch, with types from the server's OpenAPI document. It must compile under `tsc --strict`, and run. */
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const { TESSERA_URL: baseUrl = "", TESSERA_KEY: key = "" } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

async function step(what: string, action: () => Promise<unknown>, expected: unknown): Promise<void> {
  const [found, wanted] = [JSON.stringify(await action()), JSON.stringify(expected)];
  console.log(found === wanted ? `ok - ${what}` : `not ok - ${what} # ${found} where ${wanted} was expected`);
}

const rowsOf = async (): Promise<readonly unknown[][] | undefined> => {
  const answer = await client.POST("/v1/query/execute", { body: { sql: "SELECT 1 AS one, true AS yes" } });
  return answer.data?.data.rows;
};
await step("rows of a statement", rowsOf, [[1, true]]);

const columnsOf = async (): Promise<readonly string[] | undefined> => {
  const { data } = await client.POST("/v1/query/execute", { body: { sql: "SELECT 1 AS one" } });
  return data?.data.columns.map(({ name }) => name);
};
await step("columns of a statement", columnsOf, ["one"]);

const codeOf = async (): Promise<string | undefined> => {
  const { error } = await client.POST("/v1/query/execute", { body: { sql: "SELEC 1" } });
  return error?.error.code;
};
await step("an error's code", codeOf, "syntax_error");

const modelsOf = async (): Promise<boolean | undefined> => {
  const { data } = await client.GET("/v1/models");
  return data?.data.some(({ kind }) => kind === "embedding");
};
await step("models of OpenAI's interface", modelsOf, true);

const messageOf = async (): Promise<string | undefined> => {
  const { error } = await client.GET("/v1/models/{id}", { params: { path: { id: "nobody" } } });
  return error?.error.type;
};
await step("an error of OpenAI's interface", messageOf, "invalid_request_error");

/** Predictions may be texts, numbers and booleans. */
type Predictions =
  paths["/v1/automl/models/{id}/predict"]["post"]["responses"]["200"]["content"]["application/json"]["data"]["predictions"];
const predictions: Predictions = ["a", 1, true];
await step("predictions of a boolean target", () => Promise.resolve(predictions), ["a", 1, true]);

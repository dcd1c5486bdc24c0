/** Pages of the manual that belong to no single statement or function. */
import type { ManualPage } from "./page.js";

const topic = (title: string, syntax: string, description: string, example: string): ManualPage => ({
  title,
  kind: "topic",
  syntax,
  description,
  example,
});

export const TOPIC_PAGES: readonly ManualPage[] = [
  topic(
    "parameters",
    "$1, $2, … | ?",
    "Values of a request's parameters. Their types follow from where they stand; a cast says it where nothing else does. Integers beyond 2^53 travel as JSON strings in both directions.",
    "SELECT 2 + 3",
  ),
  topic(
    "joins",
    "a JOIN b ON condition | a LEFT JOIN b USING (column) | a CROSS JOIN b | a NATURAL JOIN b | a, LATERAL (query) b",
    "A LATERAL item may use columns of the items before it. JOIN order is chosen by statistics, not by the text.",
    "SELECT a.name, b.title FROM author a, LATERAL (SELECT title FROM book WHERE author_id = a.id LIMIT 1) b",
  ),
  topic(
    "window frames",
    "{ROWS | RANGE | GROUPS} BETWEEN {UNBOUNDED PRECEDING | n PRECEDING | CURRENT ROW} AND {CURRENT ROW | n FOLLOWING | UNBOUNDED FOLLOWING} [EXCLUDE {CURRENT ROW | GROUP | TIES | NO OTHERS}]",
    "Which rows of the partition a window function or aggregate sees. Without ORDER BY all of them, with it those up to the row's last peer.",
    "SELECT id, sum(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM book",
  ),
  topic(
    "subqueries",
    "(query) | EXISTS (query) | expr [NOT] IN (query) | expr operator {ANY | ALL} (query | array) | ARRAY(query)",
    "Queries within expressions. They may use columns of the query around them.",
    "SELECT name FROM author a WHERE EXISTS (SELECT FROM book b WHERE b.author_id = a.id)",
  ),
  topic(
    "jsonb access",
    "value -> key | value ->> key | value #> path | value @> value | value ? key | value[key] | jsonb_path_query(value, path)",
    "-> gives jsonb, ->> text. Keys are texts for objects and integers for arrays; paths are text arrays or JSON paths.",
    "SELECT details ->> 'pages' FROM book WHERE details @> '{\"pages\": 387}'",
  ),
  topic(
    "text search",
    "to_tsvector([config,] document) @@ {to_tsquery | plainto_tsquery | phraseto_tsquery | websearch_to_tsquery}([config,] query) | ts_rank(vector, query) | ts_headline([config,] document, query [, options])",
    "A tsvector is a document's words with their positions and weights, a tsquery words joined by & | ! <-> <N>. A configuration (type regconfig) is a language; calls that name none take that of the setting default_text_search_config, english at first. Words, stems and English's stop words are PostgreSQL's, other languages have stop words of their own. There is one parser and no CREATE TEXT SEARCH; dictionaries are named as text. Beyond 4,096 words and operators a tsquery is refused (54000). Two tsqueries are equal when they print alike; a tsvector or tsquery is no key of a btree index.",
    "SELECT id, ts_rank(to_tsvector(title), q) FROM book, websearch_to_tsquery('words or stories') q WHERE to_tsvector(title) @@ q",
  ),
  topic(
    "limits and truncation",
    "max_rows, timeout_secs in the request | LIMIT, OFFSET, FETCH in the statement",
    "An answer holds 1,000 rows unless max_rows asks for more; truncated: true says that there were more. A statement ends with SQLSTATE 57014 at its deadline, and with 53200 when it needs more memory than a query may have and cannot spill.",
    "SELECT id FROM book ORDER BY id LIMIT 100 OFFSET 0",
  ),
  topic(
    "errors",
    "error.code, error.message, error.details.sqlstate, error.details.position, error.details.hint",
    "SQL errors carry PostgreSQL's SQLSTATE and, where it is known, the position (1-based, in characters) of the token at fault.",
    "SELECT 1",
  ),
  topic(
    "other dialects",
    "`name` | [name] | AUTO_INCREMENT | INTEGER PRIMARY KEY | ON UPDATE CURRENT_TIMESTAMP | FULLTEXT [INDEX] [name] (columns) | KEY name (columns) | LIMIT start, count | INSERT [OR] IGNORE | INSERT OR REPLACE | REPLACE INTO | ON DUPLICATE KEY UPDATE | GROUP_CONCAT(…) | DATE('now', '-90 days') | DATETIME | DOUBLE | LONGBLOB | GEN_UUID() | flag = 1 | json ->> '$.a[0].b' | JSON_EXTRACT(json, path, …) | JSON_CONTAINS(json, candidate [, path]) | json_object(name, value, …) | READ_COMMITTED",
    'Spellings of MySQL and SQLite that are understood beside PostgreSQL\'s. A boolean takes the constants 0 and 1. In -> and ->> a text that begins with $. or $[ is a path, unless the object has a member of that very name; steps are .key, ."any key", [0], [last], .* and [*] (which find an array). JSON_EXTRACT gives JSON, and is compared with texts, numbers and booleans as such.',
    "SELECT `title` FROM book LIMIT 0, 5",
  ),
  topic(
    "system catalogs",
    "information_schema.tables, .columns, .table_constraints, … | pg_catalog.pg_class, pg_attribute, pg_index, pg_constraint, pg_type, …",
    "Definitions as tables that can be queried.",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'book' ORDER BY ordinal_position",
  ),
  topic(
    "memory functions",
    "MEMORY_STORE(namespace, content [, metadata]) | MEMORY_UPSERT(namespace, id, content [, metadata]) | MEMORY_RECALL(namespace, query [, k [, options]]) | MEMORY_FORGET(namespace, id)",
    "Memories of a namespace are rows of the table _memory_<namespace>, which the first one makes; all of it in the statement's transaction. MEMORY_RECALL stands in FROM: id, content, similarity, metadata, created_at of the k memories (10, at most 100) that are most like the query, newer ones first among those about as alike. Options are a JSON object: recency (0 to 1), half_life_days, min_similarity.",
    "SELECT content, similarity FROM MEMORY_RECALL('support', 'which language does the user speak', 5) WHERE similarity > 0.2",
  ),
  topic(
    "automl",
    "CREATE EXPERIMENT [ASYNC] name AS query WITH (target_column = 'y' [, task_type, optimization_metric, max_trials, algorithms = [xgboost, random_forest, neural_network, linear], features, time_column, seed, folds, horizon, clusters, time_budget_secs]) | SHOW EXPERIMENTS | DEPLOY MODEL model FROM EXPERIMENT name | DROP EXPERIMENT [IF EXISTS] name | [CREATE VIEW name AS | INSERT INTO table] PREDICT column USING model AS query | AUTOML.PREDICT('model', column, name => value, …) | AUTOML.PREDICT_PROBA(…) | AUTOML.PREDICT_SCORE(…) | AUTOML.EXPLAIN(…)",
    "Models that learn from rows. An experiment trains one, as a transaction of its own; its answer is one JSON cell, automl_result. Columns are features by their names; the values of AUTOML.PREDICT are JSON: a label or a number.",
    "",
  ),
  topic(
    "agents",
    "CREATE [OR REPLACE] AGENT [IF NOT EXISTS] name [WITH (instructions = '…', model = '…', tools = [query, …], description, allow_writes, max_steps, timeout_secs, temperature, max_tokens)] | EXECUTE AGENT name 'task' | SHOW AGENTS | DESCRIBE AGENT name | DROP AGENT [IF EXISTS] name | AGENT_RUN(persona, task [, options])",
    "A named agent is who it is and what it works with: the persona and the options of AGENT_RUN under a name. They are rows of the tenant's, made and dropped in the statement's transaction. EXECUTE AGENT takes the task as a text or a parameter, and needs a provider that can call tools.",
    "",
  ),
  topic(
    "models",
    "SHOW MODELS | DESCRIBE MODEL name | DROP MODEL [IF EXISTS] name | SELECT PULL_MODEL('name:tag') | SELECT * FROM LIST_MODELS() | SELECT DELETE_MODEL('name:tag')",
    "A name is that of a model that the tenant trained, else of an installed one, which only administrators of the installation pull and drop. PULL_MODEL also takes a hub's repository, org/name:tag, that a known model is made of. DESCRIBE MODEL gives a row for each fact: its name and its value as JSON.",
    "",
  ),
  topic(
    "backups",
    "BACKUP [DATABASE] [TO 'name'] [WITH (incremental = true, passphrase = '…')] | BACKUP INCREMENTAL | SHOW BACKUPS | RESTORE FROM 'id or name' WITH (replace = true [, until = '…', passphrase = '…'])",
    "For admins of the tenant. A backup is of what is committed when it begins; the server keeps it in its own folder. RESTORE (super administrators) begins to put a backup in the place of all that the tenant has, in no transaction of its caller's: meanwhile the tenant answers 503, and GET /admin/tenants/{tenant}/restore tells how it goes. Another tenant's backup is restored by POST to that path.",
    "",
  ),
  topic(
    "language functions",
    "SENTIMENT(text) | SENTIMENT_SCORES(text) | SUMMARIZE(text [, characters]) | CLASSIFY(text [, categories]) | EXTRACT_ENTITIES(text)",
    "By the libraries and models of the installation, for English. SENTIMENT gives positive, negative or neutral; EXTRACT_ENTITIES a jsonb array of objects with text, type, start, end (UTF-16 code units) and confidence; CLASSIFY the likeliest of the categories (an array, or common topics).",
    "SELECT SENTIMENT('I love it'), CLASSIFY('The match ended in a draw', ARRAY['sports', 'politics'])",
  ),
];

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
    "Values of a request's parameters. Their types follow from their place; otherwise use a cast. Integers beyond 2^53 travel as JSON strings in both directions.",
    "SELECT 2 + 3",
  ),
  topic(
    "joins",
    "a JOIN b ON condition | a LEFT JOIN b USING (column) | a CROSS JOIN b | a NATURAL JOIN b | a, LATERAL (query) b",
    "A LATERAL item may use columns of the items before it. Statistics, not the text, decide the join order.",
    "SELECT a.name, b.title FROM author a, LATERAL (SELECT title FROM book WHERE author_id = a.id LIMIT 1) b",
  ),
  topic(
    "window frames",
    "{ROWS | RANGE | GROUPS} BETWEEN {UNBOUNDED PRECEDING | n PRECEDING | CURRENT ROW} AND {CURRENT ROW | n FOLLOWING | UNBOUNDED FOLLOWING} [EXCLUDE {CURRENT ROW | GROUP | TIES | NO OTHERS}]",
    "The rows of the partition that a window function or aggregate sees. The default is all rows without ORDER BY, and with it the rows up to the current row's last peer.",
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
    "A tsvector has a document's words with their positions and weights. A tsquery has words joined by & | ! <-> <N>. A configuration (type regconfig) is a language; the default is the setting default_text_search_config, initially english. Words, stems and English's stop words are PostgreSQL's, other languages have stop words of their own. There is one parser and no CREATE TEXT SEARCH; dictionaries are named as text. Beyond 4,096 words and operators a tsquery is refused (54000). Two tsqueries are equal when they print alike; a tsvector or tsquery is no key of a btree index.",
    "SELECT id, ts_rank(to_tsvector(title), q) FROM book, websearch_to_tsquery('words or stories') q WHERE to_tsvector(title) @@ q",
  ),
  topic(
    "limits and truncation",
    "max_rows, timeout_secs in the request | LIMIT, OFFSET, FETCH in the statement",
    "An answer has at most 1,000 rows unless max_rows asks for more; truncated: true means that there were more. A statement ends with SQLSTATE 57014 at its deadline, and with 53200 if it needs too much memory and cannot spill to disk.",
    "SELECT id FROM book ORDER BY id LIMIT 100 OFFSET 0",
  ),
  topic(
    "errors",
    "error.code, error.message, error.details.sqlstate, error.details.position, error.details.hint",
    "SQL errors carry PostgreSQL's SQLSTATE and, if known, the position (1-based, in characters) of the wrong token.",
    "SELECT 1",
  ),
  topic(
    "other dialects",
    "`name` | [name] | AUTO_INCREMENT | INTEGER PRIMARY KEY | ON UPDATE CURRENT_TIMESTAMP | FULLTEXT [INDEX] [name] (columns) | KEY name (columns) | LIMIT start, count | INSERT [OR] IGNORE | INSERT OR REPLACE | REPLACE INTO | ON DUPLICATE KEY UPDATE | GROUP_CONCAT(…) | DATE('now', '-90 days') | DATETIME | DOUBLE | LONGBLOB | GEN_UUID() | flag = 1 | json ->> '$.a[0].b' | JSON_EXTRACT(json, path, …) | JSON_CONTAINS(json, candidate [, path]) | json_object(name, value, …) | READ_COMMITTED",
    'Spellings of MySQL and SQLite that are accepted besides PostgreSQL\'s. A boolean takes the constants 0 and 1. In -> and ->> a text that begins with $. or $[ is a path, unless the object has a member of that very name; steps are .key, ."any key", [0], [last], .* and [*] (which find an array). JSON_EXTRACT gives JSON, and is compared with texts, numbers and booleans as such.',
    "SELECT `title` FROM book LIMIT 0, 5",
  ),
  topic(
    "system catalogs",
    "information_schema.tables, .columns, .table_constraints, … | pg_catalog.pg_class, pg_attribute, pg_index, pg_constraint, pg_type, …",
    "Definitions of tables, columns and other objects, with the columns and OIDs of PostgreSQL 15. Types regclass, regtype, regproc, regprocedure, regnamespace, regrole and others are OIDs that are written as names.",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'book' ORDER BY ordinal_position",
  ),
  topic(
    "memory functions",
    "MEMORY_STORE(namespace, content [, metadata [, options]]) | MEMORY_UPSERT(namespace, id, content [, metadata [, options]]) | MEMORY_RECALL(namespace, query [, k [, options]]) | MEMORY_HISTORY(namespace, id) | MEMORY_FORGET(namespace, id)",
    "Memories of a namespace are rows of the table _memory_<namespace>. The first memory creates it, in the statement's transaction. MEMORY_RECALL is used in FROM: it returns id, content, similarity, metadata, created_at, valid_from, valid_until and superseded_by of the k memories (default 10, at most 100) that hold and are most similar to the query. Of memories about equally similar, newer ones come first. Options are a JSON object: recency (0 to 1), words (0 to 1), half_life_days, min_similarity, as_of (a time), include_superseded. MEMORY_UPSERT supersedes the memory of that id, which goes on under another id with valid_until. Options of MEMORY_STORE are valid_from and supersede (supersede what it contradicts, store nothing twice), of MEMORY_UPSERT valid_from; with options, which may be NULL, they return JSON with the ids. MEMORY_HISTORY is used in FROM: all versions, the oldest first. MEMORY_FORGET removes all versions.",
    "SELECT content, similarity FROM MEMORY_RECALL('support', 'which language does the user speak', 5) WHERE similarity > 0.2",
  ),
  topic(
    "automl",
    "CREATE EXPERIMENT [ASYNC] name AS query WITH (target_column = 'y' [, task_type, optimization_metric, max_trials, algorithms = [xgboost, random_forest, neural_network, linear], features, time_column, seed, folds, horizon, clusters, time_budget_secs]) | SHOW EXPERIMENTS | DEPLOY MODEL model FROM EXPERIMENT name | DROP EXPERIMENT [IF EXISTS] name | [CREATE VIEW name AS | INSERT INTO table] PREDICT column USING model AS query | AUTOML.PREDICT('model', column, name => value, …) | AUTOML.PREDICT_PROBA(…) | AUTOML.PREDICT_SCORE(…) | AUTOML.EXPLAIN(…)",
    "Models that learn from rows. CREATE EXPERIMENT trains one in its own transaction; its answer is one JSON cell, automl_result. Features are matched by column name. AUTOML.PREDICT returns JSON: a label or a number.",
    "",
  ),
  topic(
    "evaluation",
    "EVALUATE RETRIEVAL ON collection FROM pairs [WITH (k = 10, modes = ['text', 'vector', 'hybrid'], min_score, name, keep)] | EVALUATE ANSWERS FROM answers [WITH (model, threshold, name, keep)] | EVALUATE ANSWERS ON collection FROM questions [WITH (…)] | EVALUATE MODEL model ON table [WITH (reference = 'table', name, keep)] | SHOW EVALUATIONS",
    "Measures searches, answers and trained models. The rows are subject, metric, value, low and high (an interval of 95 %) and note. Pairs have the columns query, document_id and perhaps grade; answers have answer, passages and perhaps question; questions have question. An evaluation reads committed data and is kept in the statement's transaction, unless keep is false.",
    "",
  ),
  topic(
    "agents",
    "CREATE [OR REPLACE] AGENT [IF NOT EXISTS] name [WITH (instructions = '…', model = '…', tools = [query, …], description, allow_writes, max_steps, timeout_secs, temperature, max_tokens)] | EXECUTE AGENT name 'task' | SHOW AGENTS | DESCRIBE AGENT name | DROP AGENT [IF EXISTS] name | AGENT_RUN(persona, task [, options])",
    "A named agent stores the persona and the options of AGENT_RUN under a name. Agents are rows of the tenant, created and dropped in the statement's transaction. EXECUTE AGENT takes the task as a text or a parameter, and needs a provider that can call tools.",
    "",
  ),
  topic(
    "models",
    "SHOW MODELS | DESCRIBE MODEL name | DROP MODEL [IF EXISTS] name | SELECT PULL_MODEL('name:tag') | SELECT * FROM LIST_MODELS() | SELECT DELETE_MODEL('name:tag')",
    "A name is first looked up among the models that the tenant trained, then among installed models. Only administrators of the installation can pull and drop installed models. PULL_MODEL also takes the hub repository of a known model, org/name:tag. DESCRIBE MODEL returns a row for each fact: its name and its value as JSON.",
    "",
  ),
  topic(
    "backups",
    "BACKUP [DATABASE] [TO 'name'] [WITH (incremental = true, passphrase = '…')] | BACKUP INCREMENTAL | SHOW BACKUPS | RESTORE FROM 'id or name' WITH (replace = true [, until = '…', passphrase = '…'])",
    "For admins of the tenant. A backup contains everything committed when it begins. The server keeps it in its own folder. RESTORE (super administrators) replaces all content of the tenant with a backup, outside the caller's transaction. Meanwhile the tenant answers 503, and GET /admin/tenants/{tenant}/restore reports progress. POST to that path restores another tenant's backup.",
    "",
  ),
  topic(
    "restore",
    "[EXPLAIN] RESTORE TABLE name [, …] [WHERE condition] AS OF {time | SEQUENCE n} | [EXPLAIN] RESTORE GRAPH [name] AS OF …",
    "For admins of the tenant, whose past must be kept (PUT /v1/history). Makes the rows of tables what they were at that moment, as part of the transaction, in which it must come before other writes. Constraints are checked, and triggers do not fire. EXPLAIN shows up to 1,000 of the rows and writes nothing.",
    "",
  ),
  topic(
    "language functions",
    "SENTIMENT(text) | SENTIMENT_SCORES(text) | SUMMARIZE(text [, characters]) | CLASSIFY(text [, categories]) | EXTRACT_ENTITIES(text)",
    "Analyses English texts with the libraries and models of the installation. SENTIMENT returns positive, negative or neutral. EXTRACT_ENTITIES returns a jsonb array of objects with text, type, start, end (UTF-16 code units) and confidence. CLASSIFY returns the most likely category (of an array, or of common topics).",
    "SELECT SENTIMENT('I love it'), CLASSIFY('The match ended in a draw', ARRAY['sports', 'politics'])",
  ),
];

/** Every fixed bound with its unit, in one place. Bounds that an operator may change are in config/ instead. */

/** Rows of one batch between operators. */
export const BATCH_ROWS = 1024;
/** Rows for which values that have to be waited for are computed together. */
export const DEFERRED_ROWS_MAX = 64;
/** UTF-8 bytes of one SQL text. */
export const SQL_BYTES_MAX = 100 * 1024;
/** Nesting of one statement's syntax tree. */
export const SQL_DEPTH_MAX = 500;
/** Tables that one query joins, nodes and relationships of patterns that it reads included. */
export const JOINS_MAX = 512;
/** Of a query's plan before it is improved: steps above each other, and columns of all steps together. */
export const PLAN_DEPTH_MAX = 1000;
export const PLAN_COLUMNS_MAX = 250_000;
/** UTF-16 characters of one Cypher text. */
export const CYPHER_CHARACTERS_MAX = 1024 * 1024;
/** Words, signs and literals of a Cypher statement: reading them is one piece of work. Long lists belong in parameters. */
export const CYPHER_TOKENS_MAX = 60_000;
/** Items of one list that Cypher makes. */
export const LIST_ITEMS_MAX = 10_000_000;
/** Parts of one value made of others (lists, maps, JSON), each counted as often as the value holds it. */
export const VALUE_PARTS_MAX = 16 * 1024 * 1024;
/** Keys of one JSON object that aggregates put together: V8 lists the keys of a larger one in tenths of a second, at once. */
export const JSON_KEYS_MAX = 128 * 1024;
/** Nesting of one Cypher statement's syntax tree. */
export const CYPHER_DEPTH_MAX = 500;
/** Columns of one SELECT list, as in PostgreSQL. */
export const SELECT_COLUMNS_MAX = 1664;
/** SELECTs in one statement once its WITH tables stand where they are used. */
export const SQL_QUERIES_MAX = 2000;
/** Levels of lists and objects inside each other in the body of a request; what they may be in a value is less. */
export const JSON_DEPTH_MAX = 1024;
/** Members of one object in a body: going through more of them keeps an actor for longer than its other requests may wait. */
export const OBJECT_MEMBERS_MAX = 32 * 1024;
/** Bytes of a body from which on it is read in turns. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** Statements in one batch request. */
export const BATCH_STATEMENTS_MAX = 1000;
/** Messages in one batch of MCP. */
export const MCP_BATCH_MAX = 100;
/** Positional parameters of one statement (PostgreSQL's bound). */
export const PARAMETERS_MAX = 65_535;
/** Columns of one table. */
export const TABLE_COLUMNS_MAX = 1600;
/** Characters that the fields of a record type take when they are written out. */
export const RECORD_TYPE_CHARACTERS_MAX = 1024 * 1024;
/** Bytes of an identifier; longer ones are cut, as PostgreSQL does. */
export const IDENTIFIER_BYTES_MAX = 63;
/** Numbers of one vector. */
export const VECTOR_DIMENSIONS_MAX = 16_000;
/** Results of one search by likeness, skipped ones included. */
export const SEARCH_LIMIT_MAX = 10_000;
/** Results of a search that names no limit. */
export const SEARCH_LIMIT_DEFAULT = 10;
/** Encoded bytes of one storage key. */
export const KEY_BYTES_MAX = 8 * 1024;
/** Encoded bytes of one record. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024;
/** Characters of a text that a statement makes, and that it may read as JSON. */
export const TEXT_CHARACTERS_MAX = 64 * 1024 * 1024;
/** Characters of a picture of to_char(), to_number(), to_date() and to_timestamp(). */
export const PICTURE_CHARACTERS_MAX = 64 * 1024;
/** Elements of one array. V8 ends the whole process when a list grows past some 100 million. */
export const ARRAY_ELEMENTS_MAX = 16 * 1024 * 1024;
/** Buffered bytes (keys and values) of one transaction. */
export const TRANSACTION_BYTES_MAX = 256 * 1024 * 1024;
/** Bytes that a transaction may change when a load of many rows is a part of it. */
export const LOAD_BYTES_MAX = 512 * 1024 * 1024;
/** Calls of functions inside each other, beyond which a statement ends in 54001. */
export const ROUTINE_DEPTH_MAX = 400;
/** Milliseconds that one function call or correlated subquery may take inside an expression, where it cannot give way. */
export const UNINTERRUPTED_MS_MAX = 2_000;
/** Prepared statements kept per tenant. */
export const PREPARED_STATEMENTS_MAX = 1000;
/** Cursors of a session. */
export const CURSORS_MAX = 100;
/** Plans kept per actor. */
export const PLAN_CACHE_ENTRIES_MAX = 2000;
/** Characters of a new password, at least. */
export const PASSWORD_CHARACTERS_MIN = 8;
/** UTF-8 bytes of a password. */
export const PASSWORD_BYTES_MAX = 1024;
/** API keys that one user may have. */
export const API_KEYS_PER_USER_MAX = 100;
/** Items of one page of a list when the request does not say, and at most. */
export const LIST_PAGE_DEFAULT = 100;
export const LIST_PAGE_MAX = 1000;
/** Characters of a username and of an email address. */
export const USERNAME_CHARACTERS_MAX = 128;
export const EMAIL_CHARACTERS_MAX = 320;
/** Characters of an API key's name. */
export const API_KEY_NAME_CHARACTERS_MAX = 256;
/** Days that an API key may be made for. */
export const API_KEY_DAYS_MAX = 36_500;
/** Characters of a tenant's display name. */
export const TENANT_NAME_CHARACTERS_MAX = 256;
/** Bytes of one result that is answered as a single document. */
export const RESULT_BYTES_MAX = 256 * 1024 * 1024;
/** Answers kept in memory by Idempotency-Key, per actor. */
export const VOLATILE_ANSWERS_MAX = 10_000;
/** Tenants of one partition whose catalog and plans are kept in memory. */
export const TENANTS_IN_MEMORY_MAX = 10_000;
/** Bytes of one row of an imported file: of a line of NDJSON, of a record of CSV. */
export const IMPORT_ROW_BYTES_MAX = 16 * 1024 * 1024;
/** How many times larger than its gzip an imported file may be, and bytes that no ratio counts for. */
export const IMPORT_INFLATION_MAX = 200;
export const IMPORT_INFLATED_FREE_BYTES = 16 * 1024 * 1024;
/** Estimated memory of one import that goes through INSERT statements. */
export const IMPORT_STATEMENT_BYTES_MAX = 512 * 1024 * 1024;
/** Texts of one request for embeddings, and characters of one of them. */
export const EMBEDDING_TEXTS_MAX = 2048;
export const EMBEDDING_CHARACTERS_MAX = 1024 * 1024;
/** Characters of a chat's message and of its system prompt; of its title; collections that it names. */
export const CHAT_CHARACTERS_MAX = 262_144;
export const CHAT_TITLE_CHARACTERS_MAX = 200;
export const CHAT_COLLECTIONS_MAX = 16;
/** Characters of a text from which a graph is extracted; the rules take about a second for this many. */
export const EXTRACT_CHARACTERS_MAX = 100_000;
/** Characters of a question in plain language. */
export const QUESTION_CHARACTERS_MAX = 4000;
/** Evidence texts of one verification, rows that NLI_ANCHORS collects, and pairs of one call. */
export const NLI_ANCHORS_MAX = 32;
export const NLI_PAIRS_MAX = 32;
/** UTF-8 bytes of a statement, an anchor, a premise or a hypothesis. */
export const NLI_TEXT_BYTES_MAX = 16_384;
/** Tokens that a model of claims reads of a pair. */
export const NLI_WINDOW_TOKENS = 512;
/** Characters of the name of a model of claims. */
export const NLI_ALIAS_CHARACTERS_MAX = 128;
/** The score at which an anchor contradicts or entails, unless the request says. */
export const NLI_THRESHOLD_DEFAULT = 0.6;
/** Characters of a text that the language helpers read, and categories of one classification. */
export const LANGUAGE_CHARACTERS_MAX = 200_000;
/** Texts of one request for what is said of texts. */
export const LANGUAGE_TEXTS_MAX = 256;
export const CATEGORIES_MAX = 100;
/** Entries of the audit trail that one page looks at. */
export const AUDIT_EXAMINED_MAX = 2000;
/** Characters of one memory, of its id, and of the JSON text of its metadata. */
/** Of a backup that is encrypted. */
export const BACKUP_PASSPHRASE_CHARACTERS_MIN = 12;
/** Of a backup of the whole installation, tenants that are backed up at the same time. */
export const WHOLE_BACKUP_TENANTS_AT_ONCE = 2;
/** Backups of schedules that run at the same time, and schedules of a tenant or of the installation. */
export const SCHEDULED_BACKUPS_AT_ONCE = 2;
export const BACKUP_SCHEDULES_MAX = 20;
/** Attempts at one scheduled backup, and minutes before the second, third, … */
export const SCHEDULED_BACKUP_ATTEMPTS = 4;
export const SCHEDULED_BACKUP_PAUSES_MINUTES = [1, 5, 15] as const;
/** Bounds of an archive of backups: how many it may hold, and bytes of their description. */
export const ARCHIVE_PARTS_MAX = 1000;
export const ARCHIVE_HEAD_BYTES_MAX = 1024 * 1024;
export const MEMORY_CHARACTERS_MAX = 100_000;
export const MEMORY_ID_CHARACTERS_MAX = 200;
export const MEMORY_METADATA_CHARACTERS_MAX = 100_000;
/** Memories that one call recalls when it does not say, and at most. */
export const MEMORY_RECALL_DEFAULT = 10;
export const MEMORY_RECALL_MAX = 100;
/** Redirects that are followed where an address that somebody named is fetched. */
export const FETCH_REDIRECTS_MAX = 5;
/** Rows, columns and configurations of one training, the milliseconds that its search may ask for, and classes of a target. */
export const AUTOML_ROWS_MAX = 2_000_000;
export const AUTOML_COLUMNS_MAX = 2000;
/** Rows whose target is known that a training needs. */
export const AUTOML_KNOWN_ROWS_MIN = 4;
export const AUTOML_TRIALS_MAX = 200;
export const AUTOML_BUDGET_MS_MAX = 24 * 60 * 60 * 1000;
export const AUTOML_CLASSES_MAX = 100;
/** Estimated bytes that one training may take, beside its job's columns (src/automl/memory-estimate.ts). */
export const AUTOML_MEMORY_BYTES_MAX = 2 * 1024 * 1024 * 1024;
/** Steps that a model of a series forecasts in one call. */
export const AUTOML_FORECAST_STEPS_MAX = 1000;
/** UTF-16 code units of the text that is taken from one file, pages of it, and chunks that it is cut into. */
export const FILE_CHARACTERS_MAX = 16 * 1024 * 1024;
export const FILE_PAGES_MAX = 5000;
export const FILE_CHUNKS_MAX = 20_000;
/** Characters of a file's title, of a path of headings, and of one text of its metadata. */
export const FILE_TITLE_CHARACTERS_MAX = 500;
export const FILE_METADATA_CHARACTERS_MAX = 2000;
/** Of an archive (DOCX, PPTX, XLSX, EPUB): entries, bytes when inflated, and how many times larger than packed. */
export const ARCHIVE_ENTRIES_MAX = 10_000;
export const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;
export const ARCHIVE_RATIO_MAX = 200;
/** Bytes of the buffers that reading one page of a PDF file may take, one after the other. */
export const PDF_PAGE_BYTES_MAX = 256 * 1024 * 1024;
/** Levels of objects and arrays inside each other in a file of JSON, and of elements in one of XML or HTML. */
export const FILE_NESTING_MAX = 200;
export const MARKUP_NESTING_MAX = 2000;
/** Quotes and lists inside each other in a file of Markdown: each level is read once for all levels around it. */
export const MARKDOWN_NESTING_MAX = 100;
/** Pixels of an image that is decoded, and of each side of a thumbnail. */
export const IMAGE_PIXELS_MAX = 64 * 1024 * 1024;
export const THUMBNAIL_PIXELS = 256;
/** Seconds of a sound of a request, and of a file's sound that are transcribed; milliseconds that this may take. */
export const AUDIO_SECONDS_MAX = 600;
export const TRANSCRIPT_SECONDS_MAX = 2 * 60 * 60;
export const TRANSCRIPTION_MS_MAX = 2 * 60 * 60 * 1000;
/** Bytes of the columns of one training as they are read, and configurations that are tried when nobody says. */
export const AUTOML_BYTES_MAX = 512 * 1024 * 1024;
export const AUTOML_TRIALS_DEFAULT = 20;
/** Data sets of one tenant; rows and bytes (of JSON) of one that is uploaded. */
export const AUTOML_DATASETS_MAX = 200;
export const AUTOML_DATASET_ROWS_MAX = 100_000;
export const AUTOML_DATASET_BYTES_MAX = 32 * 1024 * 1024;
/** Rows of one request to predict, and of one to evaluate. */
export const AUTOML_PREDICT_ROWS_MAX = 10_000;
export const AUTOML_EVALUATE_ROWS_MAX = 100_000;
/** Bytes of one stored model, and of models that an actor keeps in memory. */
export const AUTOML_MODEL_BYTES_MAX = 48 * 1024 * 1024;
export const AUTOML_CACHE_BYTES_MAX = 256 * 1024 * 1024;
/** Trainings of one tenant that are remembered; older ones that have ended are forgotten. */
export const AUTOML_JOBS_KEPT_MAX = 1000;
/** Attempts to deliver one webhook, milliseconds for one, and bytes of its answer. */
export const WEBHOOK_ATTEMPTS_MAX = 8;
export const WEBHOOK_TIMEOUT_MS = 10_000;
export const WEBHOOK_ANSWER_BYTES_MAX = 64 * 1024;
/** Webhooks of one tenant that are on their way at a time, and that may wait. */
export const WEBHOOKS_RUNNING_MAX = 4;
export const WEBHOOKS_WAITING_MAX = 10_000;
/** Files that one step of a folder scan looks at, and files that a plan of the reading looks at. */
export const SCAN_PAGE_FILES = 500;
export const PLAN_FILES_MAX = 20_000;
/** UTF-16 code units of a chunk of a file: bounds, and the default. */
export const CHUNK_CHARACTERS_MIN = 100;
export const CHUNK_CHARACTERS_MAX = 20_000;
export const CHUNK_CHARACTERS_DEFAULT = 1000;
export const CHUNK_OVERLAP_DEFAULT = 100;
/** Milliseconds without a further change before a change of a folder is looked at: bounds, and the default. */
export const FOLDER_DEBOUNCE_MS_MAX = 60_000;
export const FOLDER_DEBOUNCE_MS_DEFAULT = 150;
/** Patterns of paths that a filesystem collection has, and characters of one. */
export const GLOBS_MAX = 50;
export const GLOB_CHARACTERS_MAX = 200;
/** Bytes of an image, a sound or a video that a request has or names. */
export const MEDIA_BYTES_MAX = 32 * 1024 * 1024;
/** Pixels of the longer side of an image that a provider is shown. */
export const SHOWN_IMAGE_SIDE_MAX = 2048;
/** Milliseconds that reading the words in one image may take, and looking into one sound or video. */
export const OCR_MS_MAX = 30_000;
export const FFMPEG_MS_MAX = 60_000;
/** Key frames of a video that stand for it. */
export const VIDEO_FRAMES_MAX = 16;
/** Characters of an image's caption. */
export const CAPTION_CHARACTERS_MAX = 20_000;
/** Results of one search across kinds of media, whose documents have thumbnails, and collections that it looks into. */
export const MEDIA_RESULTS_MAX = 1000;
export const MEDIA_COLLECTIONS_MAX = 32;
/** Bytes of a recipe's text, and the depth of its nesting. */
export const RECIPE_BYTES_MAX = 4 * 1024 * 1024;
export const RECIPE_DEPTH_MAX = 32;
/** Of one recipe: parameters, statements of its schema, steps of its workflow, tests, and rows of all seeds together. */
export const RECIPE_PARAMETERS_MAX = 100;
export const RECIPE_STATEMENTS_MAX = 500;
export const RECIPE_STEPS_MAX = 200;
export const RECIPE_TESTS_MAX = 50;
export const RECIPE_SEED_ROWS_MAX = 20_000;
/** Rows that a step keeps for the steps after it. */
export const RECIPE_KEPT_ROWS_MAX = 10_000;
/** Recipes of a tenant, each version counted. */
export const RECIPES_MAX = 1000;
/** Traces of agents that a tenant keeps. */
export const AGENT_RUNS_KEPT = 1000;
/** Executions that are remembered of one recipe. */
export const RECIPE_EXECUTIONS_KEPT = 1000;
/** Seconds that a recipe's address may take to answer. */
export const RECIPE_FETCH_SECONDS_MAX = 30;

/** Bounds on the spans of one request in an actor, and on spans that wait for the collector; more are dropped. */
export const TRACE_SPANS_MAX = 128;
export const TRACE_QUEUE_SPANS_MAX = 8_192;
/** Steps that V8's engine may need for one match of a client's regular expression, as its structure tells (a few ms). */
export const REGEX_STEPS_MAX = 4_000_000;
/** Characters times instructions of one match by RE2 that has to tell places and groups (some 100 ms at the worst). */
export const REGEX_LINEAR_STEPS_MAX = 25_000_000;
/** Instructions that bounded quantifiers may unfold to for RE2. */
export const REGEX_UNFOLDED_MAX = 5_000;
/** Milliseconds that one match may take that only V8's engine can find: back references, lookarounds. */
export const REGEX_GUARDED_MS_MAX = 250;

/** Of a diagnostic bundle: lines of the log per thread, characters of each, and seconds of a CPU profile. */
export const DIAGNOSTIC_LINES_MAX = 500;
export const DIAGNOSTIC_LINE_CHARACTERS_MAX = 4_000;
export const DIAGNOSTIC_PROFILE_SECONDS_MAX = 60;

/** Every fixed bound with its unit, in one place. Bounds that an operator may change are in config/ instead. */

/** Rows that operators of a query pass on at a time. */
export const BATCH_ROWS = 1024;
/** Rows whose slow values, such as a model's answers, are computed together. */
export const DEFERRED_ROWS_MAX = 64;
/**
 * UTF-8 bytes of one SQL text, apart from long strings and lists of constants. The rows of an INSERT do not count
 * either.
 */
export const SQL_BYTES_MAX = 100 * 1024;
/** Constants in the lists of such a text: `IN (…)`, `VALUES (…), (…)`. */
export const LISTED_CONSTANTS_MAX = 64 * 1024;
/** UTF-16 characters of an SQL text from which the rows of an INSERT are read in turns, apart from the grammar. */
export const LONG_SQL_CHARACTERS = 16 * 1024;
/** Nesting of one statement's syntax tree. */
export const SQL_DEPTH_MAX = 500;
/** Tables that one query joins. Nodes and relationships of patterns count, too. */
export const JOINS_MAX = 512;
/** Depth of a query's plan before it is optimized, and columns of all its steps together. */
export const PLAN_DEPTH_MAX = 1000;
export const PLAN_COLUMNS_MAX = 250_000;
/** UTF-16 characters of one Cypher text. */
export const CYPHER_CHARACTERS_MAX = 1024 * 1024;
/**
 * Words, signs and literals of a Cypher statement: reading them is one piece of work. Long lists belong in parameters.
 */
export const CYPHER_TOKENS_MAX = 60_000;
/**
 * Items of one list that Cypher makes. The system needs tens of milliseconds, without a pause, to give the memory of a
 * longer one.
 */
export const LIST_ITEMS_MAX = 5_000_000;
/** Parts of one list, map or JSON value. A part that occurs several times counts each time. */
export const VALUE_PARTS_MAX = 16 * 1024 * 1024;
/**
 * Keys of one JSON object that an aggregate makes: V8 needs tenths of a second, without a pause, to list the keys of a
 * larger one.
 */
export const JSON_KEYS_MAX = 128 * 1024;
/** Nesting of one Cypher statement's syntax tree. */
export const CYPHER_DEPTH_MAX = 500;
/** Columns of one SELECT list, as in PostgreSQL. */
export const SELECT_COLUMNS_MAX = 1664;
/** SELECTs in one statement after its WITH tables were put in where they are used. */
export const SQL_QUERIES_MAX = 2000;
/** Nesting of lists and objects in the body of a request. Values may have less. */
export const JSON_DEPTH_MAX = 1024;
/** Members of one object in a body: more of them would keep an actor's other requests waiting for too long. */
export const OBJECT_MEMBERS_MAX = 32 * 1024;
/** Bytes from which a body is read in turns with other work. */
export const LARGE_BODY_BYTES = 64 * 1024;
/** Statements in one batch request. */
export const BATCH_STATEMENTS_MAX = 1000;
/** Messages in one batch of MCP. */
export const MCP_BATCH_MAX = 100;
/** Positional parameters of one statement (PostgreSQL's bound). */
export const PARAMETERS_MAX = 65_535;
/** Columns of one table. */
export const TABLE_COLUMNS_MAX = 1600;
/** Characters of a record type's fields, written out. */
export const RECORD_TYPE_CHARACTERS_MAX = 1024 * 1024;
/** Bytes of an identifier. A longer one is cut, as in PostgreSQL. */
export const IDENTIFIER_BYTES_MAX = 63;
/** Numbers of one vector. */
export const VECTOR_DIMENSIONS_MAX = 16_000;
/** Of bit strings that an index can have. */
export const INDEXED_BITS_MAX = 64_000;
/** Of a sparse vector, and those of its numbers that are not zero. */
export const SPARSE_DIMENSIONS_MAX = 1_000_000_000;
export const SPARSE_MEMBERS_MAX = 16_000;
/** Results of one search by similarity, with those that `offset` skips. */
export const SEARCH_LIMIT_MAX = 10_000;
/** Results of a search without a limit. */
export const SEARCH_LIMIT_DEFAULT = 10;
/** Encoded bytes of one storage key. */
export const KEY_BYTES_MAX = 8 * 1024;
/** Encoded bytes of one record. */
export const RECORD_BYTES_MAX = 64 * 1024 * 1024;
/** Characters of a text that a statement makes or reads as JSON. */
export const TEXT_CHARACTERS_MAX = 64 * 1024 * 1024;
/** Characters of a format of to_char(), to_number(), to_date() and to_timestamp(). */
export const PICTURE_CHARACTERS_MAX = 64 * 1024;
/** Elements of one array, or of a JSON array that an aggregate makes; as `LIST_ITEMS_MAX`. */
export const ARRAY_ELEMENTS_MAX = 5_000_000;
/** Buffered bytes (keys and values) of one transaction. */
export const TRANSACTION_BYTES_MAX = 256 * 1024 * 1024;
/**
 * Bytes of many rows that a transaction changes and holds in memory. New rows of INSERT and of imports are put into
 * files before (storage.spill_bytes_max), but not those of tables that somebody follows.
 */
export const LOAD_BYTES_MAX = 512 * 1024 * 1024;
/** Depth of function calls. Beyond it a statement fails with 54001. */
export const ROUTINE_DEPTH_MAX = 400;
/** Milliseconds of one function call or correlated subquery inside an expression, where it cannot give way. */
export const UNINTERRUPTED_MS_MAX = 2_000;
/** Prepared statements kept per tenant. */
export const PREPARED_STATEMENTS_MAX = 1000;
/** Cursors of a session. */
export const CURSORS_MAX = 100;
/** Plans kept per actor. */
export const PLAN_CACHE_ENTRIES_MAX = 2000;
/** Characters of all their texts. */
export const PLAN_CACHE_CHARACTERS_MAX = 4 * 1024 * 1024;
/** Characters of a new password, at least. */
export const PASSWORD_CHARACTERS_MIN = 8;
/** UTF-8 bytes of a password. */
export const PASSWORD_BYTES_MAX = 1024;
/** API keys that one user may have. */
export const API_KEYS_PER_USER_MAX = 100;
/** Items of one page of a list: by default, and at most. */
export const LIST_PAGE_DEFAULT = 100;
export const LIST_PAGE_MAX = 1000;
/** Characters of a username and of an email address. */
export const USERNAME_CHARACTERS_MAX = 128;
export const EMAIL_CHARACTERS_MAX = 320;
/** Characters of an API key's name. */
export const API_KEY_NAME_CHARACTERS_MAX = 256;
/** Days for which an API key may be valid. */
export const API_KEY_DAYS_MAX = 36_500;
/** Characters of a tenant's display name. */
export const TENANT_NAME_CHARACTERS_MAX = 256;
/** Bytes of one result that is not streamed. */
export const RESULT_BYTES_MAX = 256 * 1024 * 1024;
/** Answers kept in memory by Idempotency-Key, per actor. */
export const VOLATILE_ANSWERS_MAX = 10_000;
/** Tenants of one partition whose catalog and plans are kept in memory. */
export const TENANTS_IN_MEMORY_MAX = 10_000;
/** Bytes of one row of an imported file: a line of NDJSON, a record of CSV. */
export const IMPORT_ROW_BYTES_MAX = 16 * 1024 * 1024;
/** How many times larger than its gzip an imported file may be, and bytes below which the ratio does not matter. */
export const IMPORT_INFLATION_MAX = 200;
export const IMPORT_INFLATED_FREE_BYTES = 16 * 1024 * 1024;
/** Estimated bytes of one import that runs as INSERT statements. */
export const IMPORT_STATEMENT_BYTES_MAX = 512 * 1024 * 1024;
/** Texts of one request for embeddings, and characters of one of them. */
export const EMBEDDING_TEXTS_MAX = 2048;
export const EMBEDDING_CHARACTERS_MAX = 1024 * 1024;
/** Characters of a chat's message and of its system prompt; of its title; collections that it names. */
export const CHAT_CHARACTERS_MAX = 262_144;
export const CHAT_TITLE_CHARACTERS_MAX = 200;
export const CHAT_COLLECTIONS_MAX = 16;
/** Of one request of OpenAI's interface: messages or items, and tools. */
export const OPENAI_ITEMS_MAX = 2048;
export const OPENAI_TOOLS_MAX = 128;
/** Responses that a tenant keeps, and responses that follow one another in one conversation. */
export const RESPONSES_KEPT = 10_000;
export const RESPONSE_CHAIN_MAX = 500;
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
/** For the language helpers: characters of a text, texts of one request, and categories of one classification. */
export const LANGUAGE_CHARACTERS_MAX = 200_000;
export const LANGUAGE_TEXTS_MAX = 256;
export const CATEGORIES_MAX = 100;
/** Entries of the audit trail that one page examines. */
export const AUDIT_EXAMINED_MAX = 2000;
/** Characters of a backup's passphrase, at least. */
export const BACKUP_PASSPHRASE_CHARACTERS_MIN = 12;
/** Tenants that a backup of the whole installation backs up at the same time. */
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
/** Characters of one memory, of its id, and of the JSON text of its metadata. */
export const MEMORY_CHARACTERS_MAX = 100_000;
export const MEMORY_ID_CHARACTERS_MAX = 200;
export const MEMORY_METADATA_CHARACTERS_MAX = 100_000;
/** Messages of a conversation from which facts are taken at a time, and characters of each. */
export const MEMORY_MESSAGES_MAX = 200;
export const MEMORY_MESSAGE_CHARACTERS_MAX = 20_000;
/** Memories that one call recalls: by default, and at most. */
export const MEMORY_RECALL_DEFAULT = 10;
export const MEMORY_RECALL_MAX = 100;
/** Redirects that are followed from an address in a request. */
export const FETCH_REDIRECTS_MAX = 5;
/** For one training: rows, columns, configurations, milliseconds of its search, and classes of its target. */
export const AUTOML_ROWS_MAX = 2_000_000;
export const AUTOML_COLUMNS_MAX = 2000;
export const AUTOML_TRIALS_MAX = 200;
export const AUTOML_BUDGET_MS_MAX = 24 * 60 * 60 * 1000;
export const AUTOML_CLASSES_MAX = 100;
/** Rows with a known target that a training needs. */
export const AUTOML_KNOWN_ROWS_MIN = 4;
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
/** Bytes of all buffers that one page of a PDF file may need. */
export const PDF_PAGE_BYTES_MAX = 256 * 1024 * 1024;
/** Nesting of objects and arrays in a JSON file, and of elements in an XML or HTML file. */
export const FILE_NESTING_MAX = 200;
export const MARKUP_NESTING_MAX = 2000;
/** Nesting of quotes and lists in a Markdown file: each level is read again for every level around it. */
export const MARKDOWN_NESTING_MAX = 100;
/** Pixels of an image that is decoded, and of each side of a thumbnail. */
export const IMAGE_PIXELS_MAX = 64 * 1024 * 1024;
export const THUMBNAIL_PIXELS = 256;
/** Seconds of sound that are transcribed from a request and from a file, and milliseconds that this may take. */
export const AUDIO_SECONDS_MAX = 600;
export const TRANSCRIPT_SECONDS_MAX = 2 * 60 * 60;
export const TRANSCRIPTION_MS_MAX = 2 * 60 * 60 * 1000;
/** Bytes of the columns of one training, and configurations that it tries at most where none are named. */
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
/** Trainings of one tenant that are kept. Beyond that, the oldest that have ended are deleted. */
export const AUTOML_JOBS_KEPT_MAX = 1000;
/** Of one evaluation of retrieval: questions, rows of their table, settings, and documents that a search gives. */
export const EVALUATION_PAIRS_MAX = 2000;
export const EVALUATION_PAIR_ROWS_MAX = 20_000;
export const EVALUATION_SETTINGS_MAX = 6;
export const EVALUATION_K_DEFAULT = 10;
export const EVALUATION_K_MAX = 100;
/** Of one evaluation of answers: answers or questions, passages of one answer, and pairs of sentence and passage. */
export const EVALUATION_ANSWERS_MAX = 500;
export const EVALUATION_PASSAGES_MAX = 32;
export const EVALUATION_JUDGEMENTS_MAX = 5000;
/** Rows of an evaluation of a model whose errors are kept, to be compared with another one's. */
export const EVALUATION_KEPT_ROWS_MAX = 2000;
/** Evaluations that are kept of one user. Beyond that, the oldest are deleted. */
export const EVALUATIONS_KEPT_MAX = 500;
/** Attempts to deliver one webhook, milliseconds for one, and bytes of its answer. */
export const WEBHOOK_ATTEMPTS_MAX = 8;
export const WEBHOOK_TIMEOUT_MS = 10_000;
export const WEBHOOK_ANSWER_BYTES_MAX = 64 * 1024;
/** Webhooks of one tenant that are sent at the same time, and that may wait. */
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
/** Globs of a filesystem collection, and characters of one. */
export const GLOBS_MAX = 50;
export const GLOB_CHARACTERS_MAX = 200;
/** Bytes of an image, sound or video that a request contains or names. */
export const MEDIA_BYTES_MAX = 32 * 1024 * 1024;
/** Pixels of the longer side of an image that is sent to a provider. */
export const SHOWN_IMAGE_SIDE_MAX = 2048;
/** Milliseconds to read the words in one image, and to read one sound or video. */
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
/** For one recipe: parameters, statements of its schema, steps, tests, and rows of all seeds together. */
export const RECIPE_PARAMETERS_MAX = 100;
export const RECIPE_STATEMENTS_MAX = 500;
export const RECIPE_STEPS_MAX = 200;
export const RECIPE_TESTS_MAX = 50;
export const RECIPE_SEED_ROWS_MAX = 20_000;
/** Rows that a step keeps for the steps after it. */
export const RECIPE_KEPT_ROWS_MAX = 10_000;
/** Versions of recipes in a tenant. */
export const RECIPES_MAX = 1000;
/** Traces of agents that a tenant keeps. */
export const AGENT_RUNS_KEPT = 1000;
/** Executions of one recipe that are kept. */
export const RECIPE_EXECUTIONS_KEPT = 1000;
/** Seconds that a recipe's address may take to answer. */
export const RECIPE_FETCH_SECONDS_MAX = 30;

/** Bounds on the spans of one request in an actor, and on spans that wait for the collector; more are dropped. */
export const TRACE_SPANS_MAX = 128;
export const TRACE_QUEUE_SPANS_MAX = 8_192;
/**
 * Steps that V8's engine may need for one match of a client's regular expression, estimated from its structure (a few
 * ms).
 */
export const REGEX_STEPS_MAX = 4_000_000;
/** Characters times instructions of one match by RE2 with places and groups (some 100 ms at worst). */
export const REGEX_LINEAR_STEPS_MAX = 25_000_000;
/** Instructions that bounded quantifiers may unfold to for RE2. */
export const REGEX_UNFOLDED_MAX = 5_000;
/** Milliseconds of one match that needs V8's engine: back references, lookarounds. */
export const REGEX_GUARDED_MS_MAX = 250;

/** For a diagnostic bundle: lines of the log for each thread, characters of each line, and seconds of a CPU profile. */
export const DIAGNOSTIC_LINES_MAX = 500;
export const DIAGNOSTIC_LINE_CHARACTERS_MAX = 4_000;
export const DIAGNOSTIC_PROFILE_SECONDS_MAX = 60;

/** Of the window in which a tenant's past can be read; ten years. */
export const HISTORY_SECONDS_MAX = 315_360_000;
/** Branches of a tenant. */
export const BRANCHES_MAX = 10_000;
/**
 * Branches that a read of a branch may ask until the server has made its chain shorter (100 rows take 2 ms at 16). The
 * fork of one more waits for that.
 */
export const BRANCH_DEPTH_MAX = 16;
/** Changes of a branch that are merged at once. */
export const MERGED_ROWS_MAX = 100_000;

/** Vectors on a map, and numbers of all of them together: a byte each in memory. */
export const MAP_POINTS_MAX = 100_000;
export const MAP_NUMBERS_MAX = 64_000_000;

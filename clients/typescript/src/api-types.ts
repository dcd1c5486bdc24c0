/** Every route of the server: what is sent, and what it answers. Written by `make docs` from the server's declarations. */

/** A route to which nothing is sent. */
export type Nothing = { readonly body?: Readonly<Record<string, never>> };

/** By method and path; variables of a path stand in braces. */
export interface Api {
/** Liveness and the state of every partition. */
"GET /health": { readonly sent: Nothing; readonly answer: { 
/** ok, or degraded while a partition restarts. */
readonly status: string; readonly version: string; readonly uptime_seconds: number; readonly partitions: readonly ({ readonly partition: number; readonly status: string; })[]; } };
/** Whether every partition serves: 503 while one does not, or while the server is shutting down. */
"GET /health/ready": { readonly sent: Nothing; readonly answer: { readonly ready: boolean; readonly status: string; 
/** accepted, or the code of the error for requests that need space. */
readonly writes: string; readonly partitions: readonly ({ readonly partition: number; readonly status: string; readonly ready: boolean; })[]; } };
/** Return the body unchanged, through the tenant's actor. Shows the least that a request costs. */
"POST /v1/echo": { readonly sent: { readonly body: { readonly [name: string]: unknown; }; }; readonly answer: { readonly [name: string]: unknown; } };
/** Exchange a user name and password for an access token. */
"POST /v1/auth/login": { readonly sent: { readonly body: { readonly username: string; readonly password: string; }; }; readonly answer: { readonly access_token: string; readonly token_type: "Bearer"; 
/** Seconds. */
readonly expires_in: number; readonly user: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; }; } | { readonly mfa_required: true; readonly mfa_token: string; readonly expires_in: number; } };
/** Complete a sign-in with a one-time code or a recovery code. */
"POST /v1/auth/mfa/verify": { readonly sent: { readonly body: { readonly mfa_token: string; readonly code: string; }; }; readonly answer: { readonly access_token: string; readonly token_type: "Bearer"; 
/** Seconds. */
readonly expires_in: number; readonly user: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; }; } };
/** Begin the enrolment of an authenticator. Confirm it with a first code. */
"POST /v1/auth/mfa/enroll": { readonly sent: { readonly body?: Record<string, never>; }; readonly answer: { readonly secret: string; readonly otpauth_url: string; readonly recovery_codes: readonly (string)[]; } };
/** Confirm the enrolment with the authenticator's current code. From then on, sign-in asks for a code. */
"POST /v1/auth/mfa/confirm": { readonly sent: { readonly body: { readonly code: string; }; }; readonly answer: { readonly mfa_enabled: boolean; } };
/** Turn the second factor off; needs a current code and the password. */
"POST /v1/auth/mfa/disable": { readonly sent: { readonly body: { readonly code: string; readonly password: string; }; }; readonly answer: { readonly mfa_enabled: boolean; } };
/** Create an account, if the operator has enabled registration. */
"POST /v1/auth/register": { readonly sent: { readonly body: { readonly username: string; readonly email: string; readonly password: string; }; }; readonly answer: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; } };
/** Change the caller's password; tokens issued before stop working. */
"POST /v1/auth/password": { readonly sent: { readonly body: { readonly current_password: string; readonly new_password: string; }; }; readonly answer: undefined };
/** The authenticated user. */
"GET /v1/users/me": { readonly sent: Nothing; readonly answer: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; } };
/** Create an API key for the caller's tenant; the key itself is shown only in this answer. */
"POST /v1/api-keys": { readonly sent: { readonly body: { readonly name: string; readonly permission?: "ReadOnly" | "FullAccess" | undefined; readonly expires_in_days?: number | undefined; 
/** What the key may do less than its user. A key with a lead administers nothing. */
readonly lead?: { 
/** A role of the tenant that the key acts as, in place of its user's. */
readonly role?: string | undefined; 
/** Tables and views that its statements may name: "orders", or "sales.orders" in a schema of its own. */
readonly tables?: readonly (string)[] | undefined; 
/** ["read"], ["read", "write"], or all three. */
readonly statements?: readonly ("read" | "write" | "definition")[] | undefined; 
/** Tools that it may call by MCP; then it can do nothing else. */
readonly tools?: readonly (string)[] | undefined; 
/** Rows of results that it may read in a day of UTC. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers that it may read in a day of UTC. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models may read and write for it in a day of UTC: texts, chats, agents, embeddings. */
readonly tokens_per_day?: number | undefined; 
/** Models that it may use, by their names. */
readonly models?: readonly (string)[] | undefined; } | undefined; }; }; readonly answer: { readonly api_key: { readonly id: string; readonly name: string; readonly key_preview: string; readonly permission: "ReadOnly" | "FullAccess"; readonly lead: { 
/** A role of the tenant that the key acts as, in place of its user's. */
readonly role?: string | undefined; 
/** Tables and views that its statements may name: "orders", or "sales.orders" in a schema of its own. */
readonly tables?: readonly (string)[] | undefined; 
/** ["read"], ["read", "write"], or all three. */
readonly statements?: readonly ("read" | "write" | "definition")[] | undefined; 
/** Tools that it may call by MCP; then it can do nothing else. */
readonly tools?: readonly (string)[] | undefined; 
/** Rows of results that it may read in a day of UTC. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers that it may read in a day of UTC. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models may read and write for it in a day of UTC: texts, chats, agents, embeddings. */
readonly tokens_per_day?: number | undefined; 
/** Models that it may use, by their names. */
readonly models?: readonly (string)[] | undefined; } | null; readonly is_active: boolean; readonly expires_at: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_used: string | null; readonly usage_count: number; }; readonly raw_key: string; } };
/** The tenant's API keys, newest first. */
"GET /v1/api-keys": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly keys: readonly ({ readonly id: string; readonly name: string; readonly key_preview: string; readonly permission: "ReadOnly" | "FullAccess"; readonly lead: { 
/** A role of the tenant that the key acts as, in place of its user's. */
readonly role?: string | undefined; 
/** Tables and views that its statements may name: "orders", or "sales.orders" in a schema of its own. */
readonly tables?: readonly (string)[] | undefined; 
/** ["read"], ["read", "write"], or all three. */
readonly statements?: readonly ("read" | "write" | "definition")[] | undefined; 
/** Tools that it may call by MCP; then it can do nothing else. */
readonly tools?: readonly (string)[] | undefined; 
/** Rows of results that it may read in a day of UTC. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers that it may read in a day of UTC. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models may read and write for it in a day of UTC: texts, chats, agents, embeddings. */
readonly tokens_per_day?: number | undefined; 
/** Models that it may use, by their names. */
readonly models?: readonly (string)[] | undefined; } | null; readonly is_active: boolean; readonly expires_at: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_used: string | null; readonly usage_count: number; })[]; readonly total: number; } };
/** Delete an API key; it stops working at once. */
"DELETE /v1/api-keys/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** The providers that people can sign in with: the installation's, and those of the named tenant. */
"GET /v1/auth/oidc": { readonly sent: { readonly query?: { readonly tenant?: string | number | boolean | undefined; }; }; readonly answer: { readonly providers: readonly ({ readonly id: string; readonly label: string; })[]; } };
/** Begin a sign-in by authorization code with PKCE: send the browser to the address of the answer. What the sign-in needs to end is in a signed cookie that lives ten minutes. */
"POST /v1/auth/oidc/start": { readonly sent: { readonly body: { 
/** An id of GET /v1/auth/oidc. */
readonly provider: string; }; }; readonly answer: { readonly authorization_url: string; } };
/** End the sign-in with what the provider gave to the redirect address. The answer is that of POST /v1/auth/login. */
"POST /v1/auth/oidc/finish": { readonly sent: { readonly body: { readonly code: string; readonly state: string; readonly iss?: string | undefined; }; }; readonly answer: { readonly access_token: string; readonly token_type: "Bearer"; 
/** Seconds. */
readonly expires_in: number; readonly user: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; }; } };
/** Back-channel logout of OpenID Connect: a provider says that one of its users has signed out, and the user's sessions end. */
"POST /v1/auth/oidc/logout": { readonly sent: { readonly body: { readonly logout_token?: string | undefined; 
/** logout_token, as a form has it. */
readonly form?: string | undefined; }; }; readonly answer: { 
/** False: no session of that user was known. */
readonly logged_out: boolean; } };
/** The tenant's own providers of OpenID Connect. */
"GET /admin/tenants/{tenant}/oidc": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { readonly providers: readonly ({ 
/** 1 to 32 characters of a-z, 0-9 and -. */
readonly name: string; 
/** On the console's button. */
readonly label?: string | undefined; 
/** As its tokens name it in iss, to the letter. */
readonly issuer: string; 
/** Bearer tokens have one of them in aud. */
readonly audience: readonly (string)[]; 
/** With dots for nested ones: "realm_access.roles". */
readonly roles_claim: string; 
/** By value of the roles claim: "user", "admin", "super_admin", or "role:NAME" of CREATE ROLE. */
readonly roles: { readonly [name: string]: string; }; 
/** Leave aside values that roles does not have. Default: such a token is refused. */
readonly ignore_unknown_roles?: boolean | undefined; 
/** All its users are of this tenant. */
readonly tenant?: string | undefined; 
/** The claim that names the tenant. */
readonly tenant_claim?: string | undefined; 
/** By value of the tenant claim: the tenant. Default: the value is the tenant's id. */
readonly tenants?: { readonly [name: string]: string; } | undefined; 
/** Default: sub. */
readonly username_claim?: string | undefined; readonly algorithms?: readonly ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA")[] | undefined; 
/** Default: 30. */
readonly clock_skew_seconds?: number | undefined; 
/** For signing in with the console. */
readonly client_id?: string | undefined; 
/** The console's address: https://…/console/. */
readonly redirect_uri?: string | undefined; 
/** Default: openid, profile, email. */
readonly scopes?: readonly (string)[] | undefined; readonly has_client_secret: boolean; })[]; } };
/** Describe a provider of OpenID Connect for the tenant: its tokens are accepted at once, for this tenant only. Without client_secret the stored one stays, as long as issuer and client_id do. */
"PUT /admin/tenants/{tenant}/oidc/{provider}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; readonly provider: string | number | boolean; }; readonly body: { 
/** On the console's button. */
readonly label?: string | undefined; 
/** As its tokens name it in iss, to the letter. */
readonly issuer: string; 
/** Bearer tokens have one of them in aud. */
readonly audience: readonly (string)[]; 
/** With dots for nested ones: "realm_access.roles". */
readonly roles_claim: string; 
/** By value of the roles claim: "user", "admin", "super_admin", or "role:NAME" of CREATE ROLE. */
readonly roles: { readonly [name: string]: string; }; 
/** Leave aside values that roles does not have. Default: such a token is refused. */
readonly ignore_unknown_roles?: boolean | undefined; 
/** All its users are of this tenant. */
readonly tenant?: string | undefined; 
/** The claim that names the tenant. */
readonly tenant_claim?: string | undefined; 
/** By value of the tenant claim: the tenant. Default: the value is the tenant's id. */
readonly tenants?: { readonly [name: string]: string; } | undefined; 
/** Default: sub. */
readonly username_claim?: string | undefined; readonly algorithms?: readonly ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA")[] | undefined; 
/** Default: 30. */
readonly clock_skew_seconds?: number | undefined; 
/** For signing in with the console. */
readonly client_id?: string | undefined; 
/** Absent: a public client. */
readonly client_secret?: string | undefined; 
/** The console's address: https://…/console/. */
readonly redirect_uri?: string | undefined; 
/** Default: openid, profile, email. */
readonly scopes?: readonly (string)[] | undefined; }; }; readonly answer: { 
/** 1 to 32 characters of a-z, 0-9 and -. */
readonly name: string; 
/** On the console's button. */
readonly label?: string | undefined; 
/** As its tokens name it in iss, to the letter. */
readonly issuer: string; 
/** Bearer tokens have one of them in aud. */
readonly audience: readonly (string)[]; 
/** With dots for nested ones: "realm_access.roles". */
readonly roles_claim: string; 
/** By value of the roles claim: "user", "admin", "super_admin", or "role:NAME" of CREATE ROLE. */
readonly roles: { readonly [name: string]: string; }; 
/** Leave aside values that roles does not have. Default: such a token is refused. */
readonly ignore_unknown_roles?: boolean | undefined; 
/** All its users are of this tenant. */
readonly tenant?: string | undefined; 
/** The claim that names the tenant. */
readonly tenant_claim?: string | undefined; 
/** By value of the tenant claim: the tenant. Default: the value is the tenant's id. */
readonly tenants?: { readonly [name: string]: string; } | undefined; 
/** Default: sub. */
readonly username_claim?: string | undefined; readonly algorithms?: readonly ("RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "ES256" | "ES384" | "ES512" | "EdDSA")[] | undefined; 
/** Default: 30. */
readonly clock_skew_seconds?: number | undefined; 
/** For signing in with the console. */
readonly client_id?: string | undefined; 
/** The console's address: https://…/console/. */
readonly redirect_uri?: string | undefined; 
/** Default: openid, profile, email. */
readonly scopes?: readonly (string)[] | undefined; readonly has_client_secret: boolean; } };
/** Forget a provider of the tenant. Its users' tokens and sessions stop working at once. */
"DELETE /admin/tenants/{tenant}/oidc/{provider}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; readonly provider: string | number | boolean; }; }; readonly answer: undefined };
/** Run one statement with positional parameters, or with several sets of them. */
"POST /v1/query/execute": { readonly sent: { readonly body: { readonly sql: string; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** Default: the language whose parser accepts the text, SQL first. */
readonly language?: "sql" | "cypher" | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[]; 
/** Values in the order of the columns. */
readonly rows: readonly (readonly (unknown)[])[]; readonly rows_affected?: number | undefined; readonly execution_time_ms: number; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; readonly notices?: readonly (string)[] | undefined; 
/** True: the result was cut at the row limit. */
readonly truncated?: boolean | undefined; } };
/** Run statements in order; each in its own transaction unless `transactional`, which makes it all or nothing. */
"POST /v1/query/execute/batch": { readonly sent: { readonly body: { readonly statements?: readonly (string | { readonly sql: string; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** Default: the language whose parser accepts the text, SQL first. */
readonly language?: "sql" | "cypher" | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; })[] | undefined; readonly queries?: readonly (string | { readonly sql: string; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** Default: the language whose parser accepts the text, SQL first. */
readonly language?: "sql" | "cypher" | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; })[] | undefined; readonly transactional?: boolean | undefined; 
/** Stop at the first statement that fails. `results` has the statements that ran. */
readonly stop_on_error?: boolean | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly results: readonly ({ readonly type: "success"; readonly data: { readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[]; 
/** Values in the order of the columns. */
readonly rows: readonly (readonly (unknown)[])[]; readonly rows_affected?: number | undefined; readonly execution_time_ms: number; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; readonly notices?: readonly (string)[] | undefined; 
/** True: the result was cut at the row limit. */
readonly truncated?: boolean | undefined; }; 
/** As in data. */
readonly rows_affected?: number | undefined; } | { readonly type: "error"; readonly error: { readonly code: string; readonly message: string; }; })[]; readonly total_execution_time_ms: number; } };
/** Run a file of SQL statement by statement, including plain dumps of pg_dump. Each statement has its own transaction unless the script begins one. An error names the statement and its line. The file may be a .gz. */
"POST /v1/query/script": { readonly sent: { readonly query?: { 
/** Run all statements in one transaction: all or nothing. Default: false. */
readonly transactional?: boolean | "true" | "false" | undefined; 
/** Stop at the first statement that fails. Default: true. */
readonly stop_on_error?: boolean | "true" | "false" | undefined; 
/** The most rows to return per statement. Default: 100. */
readonly max_rows?: string | number | boolean | undefined; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { readonly statements: number; readonly failed: number; readonly rows_affected: number; 
/** For the first 1,000 statements: {statement, line} and command, or rows_affected, columns and rows. */
readonly results: readonly (unknown)[]; 
/** With stop_on_error=false, for the first 100 failed statements: {code, message, details: {statement, line, …}}. */
readonly errors: readonly (unknown)[]; readonly execution_time_ms: number; } };
/** Parse and plan a statement once; run it by id. */
"POST /v1/query/prepare": { readonly sent: { readonly body: { readonly sql: string; 
/** Default: the language whose parser accepts the text, SQL first. */
readonly language?: "sql" | "cypher" | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; readonly name?: string | undefined; }; }; readonly answer: { readonly statement_id: string; readonly param_count: number; 
/** The same. */
readonly parameter_count: number; readonly sql: string; } };
/** Run a prepared statement. */
"POST /v1/query/exec": { readonly sent: { readonly body: { readonly statement_id: string; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[]; 
/** Values in the order of the columns. */
readonly rows: readonly (readonly (unknown)[])[]; readonly rows_affected?: number | undefined; readonly execution_time_ms: number; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; readonly notices?: readonly (string)[] | undefined; 
/** True: the result was cut at the row limit. */
readonly truncated?: boolean | undefined; } };
/** Close a prepared statement. */
"POST /v1/query/close": { readonly sent: { readonly body: { readonly statement_id: string; }; }; readonly answer: { readonly closed: boolean; } };
/** Begin an interactive transaction. It is rolled back at its deadline. */
"POST /v1/transactions": { readonly sent: { readonly body?: { 
/** serializable (the default), repeatable_read, read_committed or read_uncommitted. */
readonly isolation_level?: string | undefined; readonly read_only?: boolean | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly id: string; readonly status: string; readonly isolation_level: string; readonly read_only: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly expires_at: string; readonly savepoints: readonly (string)[]; } };
/** The state of an open transaction. */
"GET /v1/transactions/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly status: string; readonly isolation_level: string; readonly read_only: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly expires_at: string; readonly savepoints: readonly (string)[]; } };
/** Run one statement inside the transaction. */
"POST /v1/transactions/{id}/execute": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body: { readonly sql: string; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. A list of such lists runs the statement once per list, all or nothing: `[[1, "a"], [2, "b"]]`. Then `rows_affected` is the sum, and the statement may not return rows. Where there are as many lists as parameters and each parameter takes a list (an array, JSON, a vector), they are its values. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** Default: the language whose parser accepts the text, SQL first. */
readonly language?: "sql" | "cypher" | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[]; 
/** Values in the order of the columns. */
readonly rows: readonly (readonly (unknown)[])[]; readonly rows_affected?: number | undefined; readonly execution_time_ms: number; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; readonly notices?: readonly (string)[] | undefined; 
/** True: the result was cut at the row limit. */
readonly truncated?: boolean | undefined; } };
/** Commit; 409 serialization_failure when a concurrent change conflicts. */
"POST /v1/transactions/{id}/commit": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: Record<string, never>; }; readonly answer: { readonly id: string; readonly status: "committed"; } };
/** Discard the transaction's changes. */
"POST /v1/transactions/{id}/rollback": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: Record<string, never>; }; readonly answer: { readonly id: string; readonly status: "rolled_back"; } };
/** Set a savepoint. */
"POST /v1/transactions/{id}/savepoint": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body: { readonly name: string; }; }; readonly answer: { readonly id: string; readonly savepoint: string; } };
/** Roll back to a savepoint. The savepoint remains. */
"POST /v1/transactions/{id}/savepoint/{name}/rollback": { readonly sent: { readonly params: { readonly id: string | number | boolean; readonly name: string | number | boolean; }; readonly body?: Record<string, never>; }; readonly answer: { readonly id: string; readonly savepoint: string; } };
/** The tenant's tables. */
"GET /v1/schema/tables": { readonly sent: { readonly query?: { 
/** With true, also tables whose names begin with an underscore, and the tables of graphs. Those that features keep for themselves are listed to administrators alone. */
readonly include_system?: boolean | "true" | "false" | undefined; readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: readonly ({ readonly name: string; readonly schema: string; readonly type: string; readonly column_count: number; 
/** Left out, as size_bytes is, where the caller may not read all of the table. */
readonly row_count?: number | undefined; readonly size_bytes?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; })[] };
/** One table: columns, indexes, constraints. */
"GET /v1/schema/tables/{table}": { readonly sent: { readonly params: { 
/** A table, or schema.table; with a dot in a name: "schema"."ta.ble". */
readonly table: string | number | boolean; }; }; readonly answer: { readonly name: string; readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; readonly default_value: string | null; readonly is_primary_key: boolean; readonly is_unique: boolean; readonly ordinal_position: number; })[]; readonly indexes: readonly ({ readonly name: string; readonly type: string; readonly columns: readonly (string)[]; readonly is_unique: boolean; readonly is_primary: boolean; 
/** For a search index (hnsw, text), which is in memory. absent: the first search builds it. opening: its file or the table's rows are being read. linking: some vectors are not linked yet and are compared one by one. Searches find the same in all states. */
readonly progress?: { readonly state: "absent" | "opening" | "linking" | "ready"; readonly rows_read: number; readonly items: number; readonly items_waiting: number; readonly size_bytes: number; } | undefined; })[]; readonly constraints: readonly ({ readonly name: string; readonly type: string; readonly definition: string; })[]; } };
/** One table's columns. */
"GET /v1/schema/tables/{table}/columns": { readonly sent: { readonly params: { 
/** A table, or schema.table; with a dot in a name: "schema"."ta.ble". */
readonly table: string | number | boolean; }; }; readonly answer: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; readonly default_value: string | null; readonly is_primary_key: boolean; readonly is_unique: boolean; readonly ordinal_position: number; })[] };
/** One table's indexes. */
"GET /v1/schema/tables/{table}/indexes": { readonly sent: { readonly params: { 
/** A table, or schema.table; with a dot in a name: "schema"."ta.ble". */
readonly table: string | number | boolean; }; }; readonly answer: readonly ({ readonly name: string; readonly type: string; readonly columns: readonly (string)[]; readonly is_unique: boolean; readonly is_primary: boolean; 
/** For a search index (hnsw, text), which is in memory. absent: the first search builds it. opening: its file or the table's rows are being read. linking: some vectors are not linked yet and are compared one by one. Searches find the same in all states. */
readonly progress?: { readonly state: "absent" | "opening" | "linking" | "ready"; readonly rows_read: number; readonly items: number; readonly items_waiting: number; readonly size_bytes: number; } | undefined; })[] };
/** Import the rows of a CSV file into a table, all or none. Errors name line, column and value. With Accept: application/x-ndjson or text/event-stream the answer is a stream of progress whose last object is the result or the error. The body may have Content-Encoding: gzip, or be a .gz file. */
"POST /v1/data/import/csv": { readonly sent: { readonly query: { 
/** Name of the table, as in the catalog. */
readonly table: string | number | boolean; readonly schema?: string | number | boolean | undefined; 
/** Column names separated by commas. Other columns get their defaults. */
readonly columns?: string | number | boolean | undefined; 
/** The body's encoding: utf-8 (the default), latin1, utf-16le, … */
readonly encoding?: string | number | boolean | undefined; 
/** What to do with a row whose key already exists: fail the import (the default), ignore the row, or replace the stored row. */
readonly on_conflict?: string | number | boolean | undefined; 
/** Create the table if it does not exist, with columns from the header or the keys, and types from the first rows (256 KiB of the file). */
readonly create?: string | number | boolean | undefined; 
/** The unique columns that identify a row. Default: the primary key. */
readonly conflict_columns?: string | number | boolean | undefined; 
/** Separator between fields. Default: a comma. */
readonly delimiter?: string | number | boolean | undefined; 
/** Quote around fields. Default: a double quote. Write it twice inside a field. */
readonly quote?: string | number | boolean | undefined; 
/** The first line has the column names. Default: true. */
readonly header?: string | number | boolean | undefined; 
/** The unquoted text that means NULL. Default: empty. */
readonly null?: string | number | boolean | undefined; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { 
/** The columns of the table, if create=true created it. */
readonly created?: readonly ({ readonly name: string; readonly type: string; })[] | undefined; 
/** Number of stored rows. */
readonly rows: number; 
/** Number of rows that on_conflict=ignore skipped. */
readonly rows_skipped: number; 
/** Bytes of the body as sent. */
readonly bytes: number; readonly execution_time_ms: number; } };
/** Import JSON rows, one per line, into a table, all or none. A row is an object by column name, or an array in column order. Otherwise like the CSV import. */
"POST /v1/data/import/ndjson": { readonly sent: { readonly query: { 
/** Name of the table, as in the catalog. */
readonly table: string | number | boolean; readonly schema?: string | number | boolean | undefined; 
/** Column names separated by commas. Other columns get their defaults. */
readonly columns?: string | number | boolean | undefined; 
/** The body's encoding: utf-8 (the default), latin1, utf-16le, … */
readonly encoding?: string | number | boolean | undefined; 
/** What to do with a row whose key already exists: fail the import (the default), ignore the row, or replace the stored row. */
readonly on_conflict?: string | number | boolean | undefined; 
/** Create the table if it does not exist, with columns from the header or the keys, and types from the first rows (256 KiB of the file). */
readonly create?: string | number | boolean | undefined; 
/** The unique columns that identify a row. Default: the primary key. */
readonly conflict_columns?: string | number | boolean | undefined; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { 
/** The columns of the table, if create=true created it. */
readonly created?: readonly ({ readonly name: string; readonly type: string; })[] | undefined; 
/** Number of stored rows. */
readonly rows: number; 
/** Number of rows that on_conflict=ignore skipped. */
readonly rows_skipped: number; 
/** Bytes of the body as sent. */
readonly bytes: number; readonly execution_time_ms: number; } };
/** Import the rows of a Parquet file into a table, all or none. The file names the columns and their types; `columns` renames them. The line that an error names is the number of the row. Otherwise like the CSV import. */
"POST /v1/data/import/parquet": { readonly sent: { readonly query: { 
/** Name of the table, as in the catalog. */
readonly table: string | number | boolean; readonly schema?: string | number | boolean | undefined; 
/** Column names separated by commas. Other columns get their defaults. */
readonly columns?: string | number | boolean | undefined; 
/** What to do with a row whose key already exists: fail the import (the default), ignore the row, or replace the stored row. */
readonly on_conflict?: string | number | boolean | undefined; 
/** Create the table if it does not exist, with columns from the header or the keys, and types from the first rows (256 KiB of the file). */
readonly create?: string | number | boolean | undefined; 
/** The unique columns that identify a row. Default: the primary key. */
readonly conflict_columns?: string | number | boolean | undefined; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { 
/** The columns of the table, if create=true created it. */
readonly created?: readonly ({ readonly name: string; readonly type: string; })[] | undefined; 
/** Number of stored rows. */
readonly rows: number; 
/** Number of rows that on_conflict=ignore skipped. */
readonly rows_skipped: number; 
/** Bytes of the body as sent. */
readonly bytes: number; readonly execution_time_ms: number; } };
/** Import the rows of a stream or file of Arrow's IPC format. Otherwise like the import of Parquet. */
"POST /v1/data/import/arrow": { readonly sent: { readonly query: { 
/** Name of the table, as in the catalog. */
readonly table: string | number | boolean; readonly schema?: string | number | boolean | undefined; 
/** Column names separated by commas. Other columns get their defaults. */
readonly columns?: string | number | boolean | undefined; 
/** What to do with a row whose key already exists: fail the import (the default), ignore the row, or replace the stored row. */
readonly on_conflict?: string | number | boolean | undefined; 
/** Create the table if it does not exist, with columns from the header or the keys, and types from the first rows (256 KiB of the file). */
readonly create?: string | number | boolean | undefined; 
/** The unique columns that identify a row. Default: the primary key. */
readonly conflict_columns?: string | number | boolean | undefined; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { 
/** The columns of the table, if create=true created it. */
readonly created?: readonly ({ readonly name: string; readonly type: string; })[] | undefined; 
/** Number of stored rows. */
readonly rows: number; 
/** Number of rows that on_conflict=ignore skipped. */
readonly rows_skipped: number; 
/** Bytes of the body as sent. */
readonly bytes: number; readonly execution_time_ms: number; } };
/** Create a document collection. */
"POST /v1/collections": { readonly sent: { readonly body: { readonly name: string; 
/** `{fields: [{name, type, required?, unique?, index?, embed?, dimensions?, items?, fields?}], indexes: [{name?, fields, type?, unique?, …}]}`, or a flat map `{field: type}`. `embed`: true, or the name of a model. Types: string, number, integer, boolean, date, object, array, vector. Index types: btree, hash, text, vector. */
readonly schema?: { readonly [name: string]: unknown; } | undefined; }; }; readonly answer: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; 
/** The same fields again. */
readonly collection: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; }; } };
/** The tenant's document collections. */
"GET /v1/collections": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly items: readonly ({ readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; })[]; readonly total: number; readonly page: number; readonly page_size: number; } };
/** One collection with its schema and its number of documents. */
"GET /v1/collections/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; }; readonly answer: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; 
/** The same fields again. */
readonly collection: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; }; } };
/** Replace a collection's schema: like PATCH, and fields that the new schema does not name are dropped. */
"PUT /v1/collections/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { 
/** `{fields: [{name, type, required?, unique?, index?, embed?, dimensions?, items?, fields?}], indexes: [{name?, fields, type?, unique?, …}]}`, or a flat map `{field: type}`. `embed`: true, or the name of a model. Types: string, number, integer, boolean, date, object, array, vector. Index types: btree, hash, text, vector. */
readonly schema?: { readonly [name: string]: unknown; } | undefined; readonly drop_fields?: readonly (string)[] | undefined; readonly drop_indexes?: readonly (string)[] | undefined; }; }; readonly answer: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; 
/** The same fields again. */
readonly collection: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; }; } };
/** Add, change or drop fields and indexes of a collection. Stored documents are checked and keep all their content. */
"PATCH /v1/collections/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { 
/** `{fields: [{name, type, required?, unique?, index?, embed?, dimensions?, items?, fields?}], indexes: [{name?, fields, type?, unique?, …}]}`, or a flat map `{field: type}`. `embed`: true, or the name of a model. Types: string, number, integer, boolean, date, object, array, vector. Index types: btree, hash, text, vector. */
readonly schema?: { readonly [name: string]: unknown; } | undefined; readonly drop_fields?: readonly (string)[] | undefined; readonly drop_indexes?: readonly (string)[] | undefined; }; }; readonly answer: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; 
/** The same fields again. */
readonly collection: { readonly name: string; readonly schema: { readonly fields: readonly ({ readonly [name: string]: unknown; })[]; readonly indexes: readonly ({ readonly [name: string]: unknown; })[]; }; readonly document_count?: number | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Search indexes and how far each is. */
readonly indexes?: readonly ({ readonly [name: string]: unknown; })[] | undefined; }; } };
/** Drop a collection with all its documents. */
"DELETE /v1/collections/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; }; readonly answer: undefined };
/** Insert one document. Its id is generated unless it has one in `id` or `_id`. */
"POST /v1/collections/{name}/documents": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { readonly [name: string]: unknown; }; }; readonly answer: { readonly id: string; } };
/** Insert documents, as {documents: […]} or as a list: all or none. With `ordered` false, each document has its own result. */
"POST /v1/collections/{name}/documents/bulk": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { readonly documents: readonly ({ readonly [name: string]: unknown; })[]; readonly ordered?: boolean | undefined; }; }; readonly answer: { readonly ids: readonly (string | null)[]; readonly inserted: number; readonly failed?: number | undefined; readonly results?: readonly ({ readonly [name: string]: unknown; })[] | undefined; } };
/** Documents in the order of their ids. Generated ids are in the order of creation. */
"GET /v1/collections/{name}/documents": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; 
/** Read what was there then: a time, or the number of a commit, within what GET /v1/history shows. */
readonly as_of?: string | number | boolean | undefined; 
/** `next_cursor` of the previous page. */
readonly cursor?: string | number | boolean | undefined; }; }; readonly answer: { readonly items: readonly ({ readonly [name: string]: unknown; })[]; readonly documents: readonly ({ readonly [name: string]: unknown; })[]; readonly total: number; readonly page: number; readonly page_size: number; readonly next_cursor: string | null; } };
/** One document. */
"GET /v1/collections/{name}/documents/{id}": { readonly sent: { readonly params: { readonly name: string | number | boolean; readonly id: string | number | boolean; }; readonly query?: { 
/** Read what was there then: a time, or the number of a commit, within what GET /v1/history shows. */
readonly as_of?: string | number | boolean | undefined; }; }; readonly answer: { readonly [name: string]: unknown; } };
/** Replace a document with `data`. With `merge`, `data` is a merge patch (RFC 7386). */
"PUT /v1/collections/{name}/documents/{id}": { readonly sent: { readonly params: { readonly name: string | number | boolean; readonly id: string | number | boolean; }; readonly body: { 
/** A free-form JSON object. Fields of the schema have its types. */
readonly data?: { readonly [name: string]: unknown; } | undefined; readonly merge?: boolean | undefined; }; }; readonly answer: { readonly [name: string]: unknown; } };
/** Change a document by a merge patch (RFC 7386): null removes a member. A body of exactly `{data, merge}` works as in PUT, unless the schema has a field with such a name. */
"PATCH /v1/collections/{name}/documents/{id}": { readonly sent: { readonly params: { readonly name: string | number | boolean; readonly id: string | number | boolean; }; readonly body: { readonly [name: string]: unknown; }; }; readonly answer: { readonly [name: string]: unknown; } };
/** Delete a document. */
"DELETE /v1/collections/{name}/documents/{id}": { readonly sent: { readonly params: { readonly name: string | number | boolean; readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Search documents by words, by similarity, by both, or by a filter alone. */
"POST /v1/collections/{name}/search": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { 
/** Read what was there then: a time, or the number of a commit, within what GET /v1/history shows. */
readonly as_of?: string | number | undefined; 
/** Words, or a filter as an object. Words may be `+needed -unwanted "a phrase" prefix*`. */
readonly query?: string | { readonly [name: string]: unknown; } | undefined; 
/** `{field: value}`, `{"a.b": {$gt: 1}}`; operators $eq $ne $gt $gte $lt $lte $in $nin $exists $not $contains $all $size $elemMatch $regex $like $ilike, and $and $or $nor $not around filters. */
readonly filters?: { readonly [name: string]: unknown; } | undefined; 
/** `{field: value}`, `{"a.b": {$gt: 1}}`; operators $eq $ne $gt $gte $lt $lte $in $nin $exists $not $contains $all $size $elemMatch $regex $like $ilike, and $and $or $nor $not around filters. */
readonly filter?: { readonly [name: string]: unknown; } | undefined; readonly limit?: number | undefined; readonly offset?: number | undefined; 
/** Default: hybrid where the collection allows it. */
readonly mode?: "text" | "vector" | "hybrid" | undefined; readonly vector?: readonly (number)[] | undefined; 
/** The vector field, if there are several. */
readonly vector_field?: string | undefined; readonly min_score?: number | undefined; 
/** `next_cursor` of the previous page of the same search. */
readonly cursor?: string | undefined; 
/** With false, no highlighted passages. */
readonly highlight?: boolean | undefined; 
/** Return only these members of documents. */
readonly fields?: readonly (string)[] | undefined; 
/** With false, `total` counts only up to the page. */
readonly track_total?: boolean | undefined; }; }; readonly answer: { readonly documents: readonly ({ readonly id: string; readonly score?: number | undefined; })[]; readonly total: number; 
/** gte: there are at least this many. */
readonly total_relation: "eq" | "gte"; readonly mode: string; readonly took_ms: number; readonly next_offset: number | null; readonly next_cursor: string | null; } };
/** Create a vector collection. It is also a table (id, vector, metadata). */
"POST /v1/vectors/collections": { readonly sent: { readonly body: { readonly name: string; readonly dimensions: number; 
/** cosine (the default), l2 or euclidean, dot or dot_product, l1 or manhattan. */
readonly metric?: string | undefined; 
/** cosine (the default), l2 or euclidean, dot or dot_product, l1 or manhattan. */
readonly distance_metric?: string | undefined; 
/** Links per vector. Default: 16. */
readonly m?: number | undefined; 
/** Candidates kept while a vector is linked. Default: 100, and at least 2 × m. */
readonly ef_construction?: number | undefined; 
/** Number of candidates that a search keeps. Left out: the index finds out how many it needs, at least 64. */
readonly ef?: number | undefined; 
/** Another name for `ef`. */
readonly ef_search?: number | undefined; 
/** How the index stores vectors: none (the default), int8 or binary. Results are always ranked by exact distances. */
readonly quantization?: string | undefined; 
/** hnsw, the only one. */
readonly index_type?: string | undefined; }; }; readonly answer: { readonly name: string; readonly dimensions: number; readonly vector_count: number; readonly metric: string; readonly distance_metric: string; readonly index_type: "hnsw"; readonly index: { 
/** ready, building, absent (the first search builds it), or none (a statement dropped it). Until it is ready, searches find the same but take longer. */
readonly state: string; 
/** 0 to 1. */
readonly progress: number; }; readonly m: number; readonly ef_construction: number; 
/** Default number of candidates that a search keeps. Without a value of its own, the index keeps more than 64 where it has found that it must. */
readonly ef: number; readonly quantization: string; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** The tenant's vector collections. */
"GET /v1/vectors/collections": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: readonly ({ readonly name: string; readonly dimensions: number; readonly vector_count: number; readonly metric: string; readonly distance_metric: string; readonly index_type: "hnsw"; readonly index: { 
/** ready, building, absent (the first search builds it), or none (a statement dropped it). Until it is ready, searches find the same but take longer. */
readonly state: string; 
/** 0 to 1. */
readonly progress: number; }; readonly m: number; readonly ef_construction: number; 
/** Default number of candidates that a search keeps. Without a value of its own, the index keeps more than 64 where it has found that it must. */
readonly ef: number; readonly quantization: string; 
/** RFC 3339, UTC. */
readonly created_at: string; })[] };
/** One vector collection. */
"GET /v1/vectors/collections/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; }; readonly answer: { readonly name: string; readonly dimensions: number; readonly vector_count: number; readonly metric: string; readonly distance_metric: string; readonly index_type: "hnsw"; readonly index: { 
/** ready, building, absent (the first search builds it), or none (a statement dropped it). Until it is ready, searches find the same but take longer. */
readonly state: string; 
/** 0 to 1. */
readonly progress: number; }; readonly m: number; readonly ef_construction: number; 
/** Default number of candidates that a search keeps. Without a value of its own, the index keeps more than 64 where it has found that it must. */
readonly ef: number; readonly quantization: string; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** Drop a vector collection and all its vectors. */
"DELETE /v1/vectors/collections/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; }; readonly answer: undefined };
/** How many vectors the collection has. */
"GET /v1/vectors/collections/{name}/count": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; }; readonly answer: { readonly count: number; } };
/** Store one vector {id, vector, metadata}, or several as {vectors: […]} or a list, all or none of them. */
"POST /v1/vectors/collections/{name}/vectors": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly query?: { 
/** What to do with a vector whose id already exists: error (the default) rejects the request with 409, replace overwrites the stored one, ignore keeps it. */
readonly on_conflict?: "error" | "replace" | "ignore" | undefined; }; readonly body: { readonly id?: string | undefined; 
/** An array of finite numbers. Its length is the collection's dimensions. */
readonly vector?: unknown | undefined; 
/** Another name for `vector`. */
readonly values?: unknown | undefined; readonly metadata?: { readonly [name: string]: unknown; } | null | undefined; 
/** Items {id, vector or values, metadata?}. */
readonly vectors?: readonly (unknown)[] | undefined; 
/** What to do with a vector whose id already exists: error (the default) rejects the request with 409, replace overwrites the stored one, ignore keeps it. */
readonly on_conflict?: "error" | "replace" | "ignore" | undefined; }; }; readonly answer: { 
/** Only if one vector was sent. */
readonly id?: string | undefined; readonly ids: readonly (string)[]; 
/** Number of new and replaced vectors. */
readonly inserted: number; } };
/** Store many vectors, {vectors: […]} or a list, all or none of them. */
"POST /v1/vectors/collections/{name}/vectors/batch": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly query?: { 
/** What to do with a vector whose id already exists: error (the default) rejects the request with 409, replace overwrites the stored one, ignore keeps it. */
readonly on_conflict?: "error" | "replace" | "ignore" | undefined; }; readonly body: { 
/** Items {id, vector or values, metadata?}. */
readonly vectors: readonly (unknown)[]; 
/** What to do with a vector whose id already exists: error (the default) rejects the request with 409, replace overwrites the stored one, ignore keeps it. */
readonly on_conflict?: "error" | "replace" | "ignore" | undefined; }; }; readonly answer: { 
/** Only if one vector was sent. */
readonly id?: string | undefined; readonly ids: readonly (string)[]; 
/** Number of new and replaced vectors. */
readonly inserted: number; } };
/** Remove the vectors with these ids. Unknown ids are ignored. */
"DELETE /v1/vectors/collections/{name}/vectors": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { readonly ids: readonly (string)[]; }; }; readonly answer: { readonly deleted: number; } };
/** One vector with its metadata. */
"GET /v1/vectors/collections/{name}/vectors/{id}": { readonly sent: { readonly params: { readonly name: string | number | boolean; readonly id: string | number | boolean; }; readonly query?: { 
/** Read what was there then: a time, or the number of a commit, within what GET /v1/history shows. */
readonly as_of?: string | number | boolean | undefined; }; }; readonly answer: { readonly id: string; readonly vector: readonly (number)[]; readonly metadata: { readonly [name: string]: unknown; } | null; } };
/** Remove one vector. */
"DELETE /v1/vectors/collections/{name}/vectors/{id}": { readonly sent: { readonly params: { readonly name: string | number | boolean; readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Search the vectors nearest to a vector or a text, optionally with a filter. distance is the metric's (cosine: 1 − cosine, l2: Euclidean, dot: −inner product, l1: sum of differences) and score grows with similarity (cosine: 1 − distance, l2 and l1: 1 / (1 + distance), dot: −distance). */
"POST /v1/vectors/collections/{name}/search": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly body: { 
/** Read what was there then: a time, or the number of a commit, within what GET /v1/history shows. */
readonly as_of?: string | number | undefined; 
/** An array of finite numbers. Its length is the collection's dimensions. */
readonly vector?: unknown | undefined; 
/** A text, which is embedded first. */
readonly query?: string | undefined; 
/** Another name for `query`. */
readonly text_query?: string | undefined; 
/** Every mode ranks by similarity, because vectors have no words; text and hybrid add a warning. Document collections can also be searched by words. */
readonly mode?: "vector" | "semantic" | "text" | "hybrid" | undefined; readonly limit?: number | undefined; readonly k?: number | undefined; readonly top_k?: number | undefined; readonly offset?: number | undefined; readonly filter?: { readonly [name: string]: unknown; } | null | undefined; 
/** auto (the default) chooses by the number of matches. pre compares all matches, so it misses none. post filters what the index finds, while at least one in a hundred matches. Each returns as many as match, up to the limit. */
readonly filter_mode?: string | undefined; 
/** True unless said. */
readonly include_metadata?: boolean | undefined; readonly include_vectors?: boolean | undefined; 
/** Candidates that the search keeps. Left out: as the collection says. */
readonly ef?: number | undefined; readonly min_score?: number | undefined; 
/** Another name for `min_score`. */
readonly threshold?: number | undefined; 
/** Returns all within this distance, up to 10000 unless a limit is sent. */
readonly max_distance?: number | undefined; }; }; readonly answer: readonly ({ readonly id: string; readonly score: number | null; readonly distance: number | null; readonly metadata?: { readonly [name: string]: unknown; } | null | undefined; readonly vector?: readonly (number)[] | undefined; })[] };
/** Places on a plane for the vectors that a query returns, so that vectors that are alike stand together. The answer has the query's other columns beside them. */
"POST /v1/vectors/map": { readonly sent: { readonly body: { readonly sql: string; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** The column of vectors. Default: the first that has the type vector. */
readonly column?: string | undefined; 
/** cosine (the default), l2 or euclidean, dot or dot_product, l1 or manhattan. */
readonly metric?: string | undefined; 
/** neighbours (the default) keeps neighbours together, by UMAP over a sample of the vectors. principal shows the two directions in which the vectors differ most. */
readonly method?: "neighbours" | "principal" | undefined; 
/** Rows that the map takes at most. Default: 100000, or fewer if the vectors have together more than 64000000 numbers. */
readonly max_points?: number | undefined; }; }; readonly answer: { 
/** Without the column of vectors. */
readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[]; 
/** Rows without a vector are left out. */
readonly rows: readonly (readonly (unknown)[])[]; 
/** From −1 to 1, one for each row. */
readonly x: readonly (number)[]; readonly y: readonly (number)[]; 
/** The column of vectors. */
readonly column: string; readonly dimensions: number; 
/** The query has more rows. */
readonly truncated: boolean; } };
/** Read a folder of the server into a collection and watch it for changes: each passage of a file becomes a document. For admins of a tenant. The operator allows folders in [files] roots. */
"POST /v1/filesystem-collections": { readonly sent: { readonly body: { readonly name: string; readonly watch_dir?: string | undefined; 
/** The same. */
readonly path?: string | undefined; 
/** Include subfolders. Default: true. */
readonly recursive?: boolean | undefined; 
/** Embed each passage. Default: true. */
readonly embed_text?: boolean | undefined; 
/** Read the words in images. Default: false. */
readonly ocr_images?: boolean | undefined; 
/** The most characters of a passage. Default: 1000. */
readonly chunk_size?: number | undefined; 
/** The most characters that passages overlap. Default: 100. */
readonly overlap?: number | undefined; 
/** The same. */
readonly chunk_overlap?: number | undefined; 
/** Milliseconds without further changes before a change is processed. Default: 150. */
readonly debounce_ms?: number | undefined; 
/** Read only files that match one of these patterns: *.md, docs/** /*.pdf, *.{png,jpg}. */
readonly include?: readonly (string)[] | undefined; 
/** Skip files and folders that match one of these patterns. Default: ["** /.*"], which skips hidden ones. */
readonly exclude?: readonly (string)[] | undefined; }; }; readonly answer: { readonly id: string; 
/** The same. */
readonly collection_id: string; 
/** The collection with the passages, for search and SQL. */
readonly name: string; 
/** The same as `name`. */
readonly collection: string; 
/** The path with all links resolved. */
readonly watch_dir: string; 
/** The same as `watch_dir`. */
readonly path: string; readonly recursive: boolean; readonly embed_text: boolean; readonly ocr_images: boolean; readonly chunk_size: number; readonly overlap: number; readonly include: readonly (string)[]; readonly exclude: readonly (string)[]; readonly debounce_ms: number; 
/** ingesting, scanning, ready, paused, or error (it cannot be read). */
readonly status: string; readonly paused: boolean; readonly error: string | null; readonly files: { readonly total: number; readonly pending: number; readonly indexed: number; readonly failed: number; readonly bytes: number; }; readonly document_count: number; readonly chunk_count: number; 
/** 0 to 1: the share of files that were read. */
readonly progress?: number | undefined; 
/** Files that are read again because options changed. */
readonly queued?: number | undefined; 
/** A forecast of the work, from names and sizes. */
readonly plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** A forecast of the work, from names and sizes. */
readonly ingest_plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly last_scan_at: string | null; } };
/** The tenant's filesystem collections. */
"GET /v1/filesystem-collections": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly collections: readonly ({ readonly id: string; 
/** The same. */
readonly collection_id: string; 
/** The collection with the passages, for search and SQL. */
readonly name: string; 
/** The same as `name`. */
readonly collection: string; 
/** The path with all links resolved. */
readonly watch_dir: string; 
/** The same as `watch_dir`. */
readonly path: string; readonly recursive: boolean; readonly embed_text: boolean; readonly ocr_images: boolean; readonly chunk_size: number; readonly overlap: number; readonly include: readonly (string)[]; readonly exclude: readonly (string)[]; readonly debounce_ms: number; 
/** ingesting, scanning, ready, paused, or error (it cannot be read). */
readonly status: string; readonly paused: boolean; readonly error: string | null; readonly files: { readonly total: number; readonly pending: number; readonly indexed: number; readonly failed: number; readonly bytes: number; }; readonly document_count: number; readonly chunk_count: number; 
/** 0 to 1: the share of files that were read. */
readonly progress?: number | undefined; 
/** Files that are read again because options changed. */
readonly queued?: number | undefined; 
/** A forecast of the work, from names and sizes. */
readonly plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** A forecast of the work, from names and sizes. */
readonly ingest_plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly last_scan_at: string | null; })[]; readonly total: number; readonly page: number; readonly page_size: number; } };
/** One filesystem collection and its progress. */
"GET /v1/filesystem-collections/{id}": { readonly sent: { readonly params: { 
/** Or the name. */
readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; 
/** The same. */
readonly collection_id: string; 
/** The collection with the passages, for search and SQL. */
readonly name: string; 
/** The same as `name`. */
readonly collection: string; 
/** The path with all links resolved. */
readonly watch_dir: string; 
/** The same as `watch_dir`. */
readonly path: string; readonly recursive: boolean; readonly embed_text: boolean; readonly ocr_images: boolean; readonly chunk_size: number; readonly overlap: number; readonly include: readonly (string)[]; readonly exclude: readonly (string)[]; readonly debounce_ms: number; 
/** ingesting, scanning, ready, paused, or error (it cannot be read). */
readonly status: string; readonly paused: boolean; readonly error: string | null; readonly files: { readonly total: number; readonly pending: number; readonly indexed: number; readonly failed: number; readonly bytes: number; }; readonly document_count: number; readonly chunk_count: number; 
/** 0 to 1: the share of files that were read. */
readonly progress?: number | undefined; 
/** Files that are read again because options changed. */
readonly queued?: number | undefined; 
/** A forecast of the work, from names and sizes. */
readonly plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** A forecast of the work, from names and sizes. */
readonly ingest_plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly last_scan_at: string | null; } };
/** Pause or resume it, or change its options. Files affected by the change are read again. name, watch_dir and embed_text cannot be changed. Only an admin can change options. */
"PATCH /v1/filesystem-collections/{id}": { readonly sent: { readonly params: { 
/** Or the name. */
readonly id: string | number | boolean; }; readonly body: { 
/** Files that are being read are finished. Further changes wait. */
readonly paused?: boolean | undefined; 
/** Include subfolders. Default: true. */
readonly recursive?: boolean | undefined; 
/** Embed each passage. Default: true. */
readonly embed_text?: boolean | undefined; 
/** Read the words in images. Default: false. */
readonly ocr_images?: boolean | undefined; 
/** The most characters of a passage. Default: 1000. */
readonly chunk_size?: number | undefined; 
/** The most characters that passages overlap. Default: 100. */
readonly overlap?: number | undefined; 
/** The same. */
readonly chunk_overlap?: number | undefined; 
/** Milliseconds without further changes before a change is processed. Default: 150. */
readonly debounce_ms?: number | undefined; 
/** Read only files that match one of these patterns: *.md, docs/** /*.pdf, *.{png,jpg}. */
readonly include?: readonly (string)[] | undefined; 
/** Skip files and folders that match one of these patterns. Default: ["** /.*"], which skips hidden ones. */
readonly exclude?: readonly (string)[] | undefined; 
/** Cannot be changed; only its current value is accepted. */
readonly name?: string | undefined; 
/** Cannot be changed; only its current value is accepted. */
readonly watch_dir?: string | undefined; 
/** The same. */
readonly path?: string | undefined; }; }; readonly answer: { readonly id: string; 
/** The same. */
readonly collection_id: string; 
/** The collection with the passages, for search and SQL. */
readonly name: string; 
/** The same as `name`. */
readonly collection: string; 
/** The path with all links resolved. */
readonly watch_dir: string; 
/** The same as `watch_dir`. */
readonly path: string; readonly recursive: boolean; readonly embed_text: boolean; readonly ocr_images: boolean; readonly chunk_size: number; readonly overlap: number; readonly include: readonly (string)[]; readonly exclude: readonly (string)[]; readonly debounce_ms: number; 
/** ingesting, scanning, ready, paused, or error (it cannot be read). */
readonly status: string; readonly paused: boolean; readonly error: string | null; 
/** 0 to 1: the share of files that were read. */
readonly progress?: number | undefined; 
/** Files that are read again because options changed. */
readonly queued?: number | undefined; 
/** A forecast of the work, from names and sizes. */
readonly plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** A forecast of the work, from names and sizes. */
readonly ingest_plan?: { readonly files: number; readonly bytes: number; readonly by_kind: readonly ({ readonly kind: string; readonly files: number; readonly bytes: number; })[]; readonly steps: readonly ({ readonly step: string; readonly description: string; })[]; readonly estimated_seconds: number; readonly skipped: readonly ({ readonly path: string; readonly reason: string; })[]; 
/** True: the numbers cover only the first files. */
readonly truncated: boolean; } | undefined; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly last_scan_at: string | null; } };
/** Stop watching the folder. Its collection is dropped too, unless retain_data is true. */
"DELETE /v1/filesystem-collections/{id}": { readonly sent: { readonly params: { 
/** Or the name. */
readonly id: string | number | boolean; }; readonly query?: { readonly retain_data?: boolean | "true" | "false" | undefined; }; }; readonly answer: undefined };
/** Its files in the order of their paths, each with its status. */
"GET /v1/filesystem-collections/{id}/documents": { readonly sent: { readonly params: { 
/** Or the name. */
readonly id: string | number | boolean; }; readonly query?: { readonly status?: "pending" | "processing" | "indexed" | "failed" | undefined; readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly documents: readonly ({ readonly id: string; 
/** The same. */
readonly document_id: string; 
/** In the folder. */
readonly path: string; readonly filename: string; 
/** pending, processing, indexed, or failed (skipped because of its error). */
readonly status: string; readonly size_bytes: number; readonly hash: string | null; readonly kind: string | null; readonly media_type: string | null; readonly title: string | null; readonly metadata: unknown; readonly notes: readonly (string)[]; readonly chunk_count: number; readonly thumbnail_url: string | null; readonly error: string | null; readonly error_code: string | null; 
/** It failed too often and is read again only by `reprocess`. */
readonly quarantined: boolean; readonly attempts: number; readonly next_attempt_at: string | null; 
/** RFC 3339, UTC. */
readonly found_at: string; readonly read_at: string | null; })[]; readonly total: number; readonly page: number; readonly page_size: number; } };
/** Read all files again, or one, including failed ones. */
"POST /v1/filesystem-collections/{id}/reprocess": { readonly sent: { readonly params: { 
/** Or the name. */
readonly id: string | number | boolean; }; readonly body?: { readonly document_id?: string | undefined; readonly path?: string | undefined; }; }; readonly answer: { readonly collection_id: string; readonly queued: number; readonly paused: boolean; } };
/** Run one Cypher statement. */
"POST /v1/graph/match": { readonly sent: { readonly body: { readonly cypher?: string | undefined; 
/** Another name for `cypher`. */
readonly sql?: string | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly columns: readonly (string)[]; 
/** Values by position. Nodes are {id, labels, properties}, relationships {id, src, dst, type, properties}. */
readonly rows: readonly (readonly (unknown)[])[]; readonly count: number; readonly execution_time_ms: number; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; readonly truncated?: boolean | undefined; } };
/** Run one Cypher statement and return its plan with rows and times. Its changes are kept. */
"POST /v1/graph/match/profile": { readonly sent: { readonly body: { readonly cypher?: string | undefined; 
/** Another name for `cypher`. */
readonly sql?: string | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly plan: readonly (string)[]; readonly execution_time_ms: number; } };
/** Make a node. */
"POST /v1/graph/nodes": { readonly sent: { readonly body: { readonly labels?: readonly (string)[] | undefined; readonly label?: string | undefined; readonly properties?: { readonly [name: string]: unknown; } | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; }; }; readonly answer: { readonly id: number; readonly labels: readonly (string)[]; readonly properties: { readonly [name: string]: unknown; }; } };
/** Nodes in the order of their ids, of one label if given. */
"GET /v1/graph/nodes": { readonly sent: { readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly label?: string | number | boolean | undefined; }; }; readonly answer: { readonly nodes: readonly ({ readonly id: number; readonly labels: readonly (string)[]; readonly properties: { readonly [name: string]: unknown; }; })[]; readonly count: number; } };
/** One node. */
"GET /v1/graph/nodes/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; }; }; readonly answer: { readonly id: number; readonly labels: readonly (string)[]; readonly properties: { readonly [name: string]: unknown; }; } };
/** Merge properties into a node (null removes one). `labels` replaces its labels. */
"PATCH /v1/graph/nodes/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; }; readonly body: { readonly labels?: readonly (string)[] | undefined; readonly properties?: { readonly [name: string]: unknown; } | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; }; }; readonly answer: { readonly id: number; readonly labels: readonly (string)[]; readonly properties: { readonly [name: string]: unknown; }; } };
/** Remove a node and its relationships. With `detach=false`, a node with relationships is not removed. */
"DELETE /v1/graph/nodes/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; readonly detach?: boolean | "true" | "false" | undefined; }; }; readonly answer: undefined };
/** A node's neighbours, each with the relationship to it. */
"GET /v1/graph/nodes/{id}/neighbors": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly direction?: "in" | "out" | "both" | undefined; readonly type?: string | number | boolean | undefined; }; }; readonly answer: { readonly neighbors: readonly ({ readonly node: { readonly id: number; readonly labels: readonly (string)[]; readonly properties: { readonly [name: string]: unknown; }; }; readonly edge: { readonly id: number; readonly src: number; readonly dst: number; readonly type: string; readonly properties: { readonly [name: string]: unknown; }; }; })[]; 
/** The same nodes without duplicates. */
readonly nodes: readonly ({ readonly id: number; readonly labels: readonly (string)[]; readonly properties: { readonly [name: string]: unknown; }; })[]; 
/** The same relationships. */
readonly edges: readonly ({ readonly id: number; readonly src: number; readonly dst: number; readonly type: string; readonly properties: { readonly [name: string]: unknown; }; })[]; 
/** Of neighbors. */
readonly count: number; } };
/** Create a relationship between two nodes. */
"POST /v1/graph/edges": { readonly sent: { readonly body: { readonly src?: number | string | undefined; readonly dst?: number | string | undefined; readonly from?: number | string | undefined; readonly to?: number | string | undefined; readonly type: string; readonly properties?: { readonly [name: string]: unknown; } | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; }; }; readonly answer: { readonly id: number; readonly src: number; readonly dst: number; readonly type: string; readonly properties: { readonly [name: string]: unknown; }; } };
/** Relationships in the order of their ids, of one type if given. */
"GET /v1/graph/edges": { readonly sent: { readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly type?: string | number | boolean | undefined; }; }; readonly answer: { readonly edges: readonly ({ readonly id: number; readonly src: number; readonly dst: number; readonly type: string; readonly properties: { readonly [name: string]: unknown; }; })[]; readonly count: number; } };
/** One relationship. */
"GET /v1/graph/edges/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; }; }; readonly answer: { readonly id: number; readonly src: number; readonly dst: number; readonly type: string; readonly properties: { readonly [name: string]: unknown; }; } };
/** Merge properties into a relationship (null removes one). */
"PATCH /v1/graph/edges/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; }; readonly body: { readonly properties: { readonly [name: string]: unknown; }; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; }; }; readonly answer: { readonly id: number; readonly src: number; readonly dst: number; readonly type: string; readonly properties: { readonly [name: string]: unknown; }; } };
/** Remove a relationship. */
"DELETE /v1/graph/edges/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; }; }; readonly answer: undefined };
/** Run an algorithm over a graph: PageRank, communities, components, centralities, paths. */
"POST /v1/graph/algorithms": { readonly sent: { readonly body: { 
/** pagerank, louvain, label_propagation, … */
readonly algorithm: string; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; readonly options?: { readonly [name: string]: unknown; } | undefined; readonly params?: { readonly [name: string]: unknown; } | undefined; 
/** A label, several of them, {label} or {labels}, or {where}: a condition of Cypher over `n`. */
readonly node_filter?: string | readonly (string)[] | { readonly label?: string | readonly (string)[] | undefined; readonly labels?: string | readonly (string)[] | undefined; readonly where?: string | undefined; } | undefined; 
/** A type, several of them, {type} or {types}, or {where}: a condition of Cypher over `r`. */
readonly edge_filter?: string | readonly (string)[] | { readonly type?: string | readonly (string)[] | undefined; readonly types?: string | readonly (string)[] | undefined; readonly where?: string | undefined; } | undefined; readonly limit?: number | undefined; readonly write_property?: string | undefined; }; }; readonly answer: { readonly algorithm: string; readonly graph: string; readonly execution_time_ms: number; readonly columns?: readonly (string)[] | undefined; readonly results?: readonly ({ readonly [name: string]: unknown; })[] | undefined; readonly count?: number | undefined; 
/** Number of nodes that now have the property. */
readonly written?: number | undefined; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; } };
/** Extract the names in a text and their relationships, by a language model or by rules (English). With `store`, merge them into the graph. */
"POST /v1/graph/extract": { readonly sent: { readonly body: { readonly text: string; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; 
/** Merge nodes by type (their label) and name, edges by their ends and type. */
readonly store?: boolean | undefined; 
/** provider (or llm): the language model; rules: none; auto: the model if a provider is configured. */
readonly method?: "auto" | "provider" | "llm" | "rules" | undefined; readonly options?: { 
/** native: the bundled model. Any other value must name the configured provider. */
readonly provider?: "native" | "anthropic" | "ollama" | "openai" | undefined; readonly model?: string | undefined; 
/** The extracted graph has only these. */
readonly node_types?: readonly (string)[] | undefined; 
/** The extracted graph has only these. */
readonly edge_types?: readonly (string)[] | undefined; } | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly nodes: readonly ({ readonly name: string; readonly type: string; readonly spans: readonly ({ readonly start: number; readonly end: number; })[]; readonly confidence: number; })[]; readonly edges: readonly ({ readonly from: string; readonly to: string; readonly type: string; readonly span: { readonly start: number; readonly end: number; }; readonly confidence: number; })[]; readonly graph: string; readonly extractor: "rules" | "provider"; readonly provider?: string | undefined; readonly model?: string | undefined; readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; } | undefined; 
/** Parts of the model's answer that were left out, with the reason. */
readonly warnings?: readonly (string)[] | undefined; readonly stored: boolean; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; } };
/** The tenant's graphs. */
"GET /v1/graph/graphs": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly graphs: readonly ({ readonly name: string; 
/** Left out, as edge_count is, where the caller may not read all of the graph. */
readonly node_count?: number | undefined; readonly edge_count?: number | undefined; 
/** Memory of its relationships as walks use them; left out where no walk has needed it. */
readonly adjacency_bytes?: number | undefined; })[]; 
/** Of all pages. */
readonly count: number; } };
/** Make a graph. */
"POST /v1/graph/graphs": { readonly sent: { readonly body: { 
/** A graph of the tenant. Default: "default". */
readonly name: string; }; }; readonly answer: { readonly name: string; 
/** Left out, as edge_count is, where the caller may not read all of the graph. */
readonly node_count?: number | undefined; readonly edge_count?: number | undefined; 
/** Memory of its relationships as walks use them; left out where no walk has needed it. */
readonly adjacency_bytes?: number | undefined; } };
/** Remove a graph with all its nodes and relationships. */
"DELETE /v1/graph/graphs/{name}": { readonly sent: { readonly params: { 
/** A graph of the tenant. Default: "default". */
readonly name: string | number | boolean; }; }; readonly answer: undefined };
/** Indexes over properties. */
"GET /v1/graph/indexes": { readonly sent: { readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly indexes: readonly ({ readonly name: string; readonly entity: "node" | "relationship"; 
/** A label or a relationship type. */
readonly label: string; readonly properties: readonly (string)[]; readonly unique: boolean; readonly what: "index" | "constraint"; })[]; 
/** Of all pages. */
readonly count: number; } };
/** Create an index on properties of nodes with a label, or of relationships with a type. */
"POST /v1/graph/indexes": { readonly sent: { readonly body: { readonly name?: string | undefined; readonly label?: string | undefined; readonly type?: string | undefined; readonly property?: string | undefined; readonly properties?: readonly (string)[] | undefined; readonly unique?: boolean | undefined; 
/** CREATE INDEX or CREATE CONSTRAINT in Cypher, in place of all but `graph`. */
readonly statement?: string | undefined; 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | undefined; }; }; readonly answer: { readonly indexes: readonly ({ readonly name: string; readonly entity: "node" | "relationship"; 
/** A label or a relationship type. */
readonly label: string; readonly properties: readonly (string)[]; readonly unique: boolean; readonly what: "index" | "constraint"; })[]; readonly count: number; } };
/** Remove an index. */
"DELETE /v1/graph/indexes/{name}": { readonly sent: { readonly params: { readonly name: string | number | boolean; }; readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; }; }; readonly answer: undefined };
/** Import nodes and relationships from files in Neo4j's bulk format, all or none. The parts of the form are the files: `nodes` or `nodes:Label` first, then `relationships` or `relationships:TYPE`. Errors name file, line and column. With Accept: application/x-ndjson or text/event-stream the answer is a stream of progress whose last object is the result or the error. */
"POST /v1/graph/import": { readonly sent: { readonly query?: { 
/** A graph of the tenant. Default: "default". */
readonly graph?: string | number | boolean | undefined; 
/** Separator between fields, or TAB. Default: a comma. */
readonly delimiter?: string | number | boolean | undefined; 
/** Separator between the items of a field, or TAB. Default: a semicolon. */
readonly array_delimiter?: string | number | boolean | undefined; 
/** Quote around fields. Default: a double quote. Write it twice inside a field. */
readonly quote?: string | number | boolean | undefined; 
/** Of ids that are stored as properties. Default: string. */
readonly id_type?: "string" | "integer" | undefined; 
/** What to do with a node whose id another node of the files has. Default: error. */
readonly duplicate_nodes?: "error" | "skip" | undefined; 
/** What to do with a relationship whose node is not in the files. Default: error. */
readonly unconnected_relationships?: "error" | "skip" | undefined; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { 
/** Number of stored nodes. */
readonly nodes: number; 
/** Number of stored relationships. */
readonly relationships: number; 
/** Number of their properties. */
readonly properties: number; readonly nodes_skipped: number; readonly relationships_skipped: number; 
/** Bytes of the body as sent. */
readonly bytes: number; readonly execution_time_ms: number; } };
/** Embed a text. The model reads as much of a long text as fits. */
"POST /v1/ai/embeddings": { readonly sent: { readonly body: { readonly text: string; 
/** Id or alias. Default: the configured model. */
readonly model?: string | undefined; }; }; readonly answer: { 
/** A vector of length 1, in single precision. */
readonly embedding: readonly (number)[]; 
/** A vector of length 1, in single precision. */
readonly embeddings: readonly (number)[]; 
/** Id of the model that made the vectors. */
readonly model: string; readonly dimensions: number; } };
/** Embed several texts, in order. The body may also be the list of texts itself. */
"POST /v1/ai/embeddings/batch": { readonly sent: { readonly body: { readonly texts: readonly (string)[]; 
/** Id or alias. Default: the configured model. */
readonly model?: string | undefined; }; }; readonly answer: { readonly embeddings: readonly (readonly (number)[])[]; 
/** Id of the model that made the vectors. */
readonly model: string; readonly dimensions: number; } };
/** The provider that writes texts for the tenant. Keys are never returned. */
"GET /v1/ai/provider": { readonly sent: Nothing; readonly answer: { 
/** "native" is the bundled model. */
readonly provider: string; readonly model: string; readonly source: "tenant" | "installation" | "bundled"; 
/** Of the tenant's own provider. Empty: the provider's default. */
readonly base_url?: string | undefined; readonly has_key?: boolean | undefined; readonly supports_tools: boolean; } };
/** Set the tenant's own provider (its admins only). The key is stored encrypted and never returned. */
"PUT /v1/ai/provider": { readonly sent: { readonly body: { 
/** The interface of the address. Many other servers also use `openai`. */
readonly provider: "anthropic" | "ollama" | "openai"; 
/** Empty or absent: the provider's default. */
readonly base_url?: string | undefined; 
/** Empty or absent: the provider's default. */
readonly model?: string | undefined; 
/** Absent: the stored key is kept if provider and base_url do not change. */
readonly api_key?: string | undefined; }; }; readonly answer: { 
/** "native" is the bundled model. */
readonly provider: string; readonly model: string; readonly source: "tenant" | "installation" | "bundled"; 
/** Of the tenant's own provider. Empty: the provider's default. */
readonly base_url?: string | undefined; readonly has_key?: boolean | undefined; readonly supports_tools: boolean; } };
/** Remove the tenant's own provider (its admins only). The installation's provider applies again. */
"DELETE /v1/ai/provider": { readonly sent: Nothing; readonly answer: undefined };
/** Begin a chat. With collections, their passages are put into each prompt and cited in the answers. */
"POST /v1/ai/sessions": { readonly sent: { readonly body?: { readonly title?: string | undefined; readonly model?: string | null | undefined; readonly system_prompt?: string | null | undefined; readonly collections?: readonly (string)[] | undefined; }; }; readonly answer: { readonly session_id: string; readonly id: string; 
/** Taken from the first message unless it was sent. */
readonly title: string; readonly model: string | null; readonly system_prompt: string; readonly collections: readonly (string)[]; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly message_count: number; } };
/** The caller's chats, most recently used first. */
"GET /v1/ai/sessions": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly sessions: readonly ({ readonly session_id: string; readonly id: string; 
/** Taken from the first message unless it was sent. */
readonly title: string; readonly model: string | null; readonly system_prompt: string; readonly collections: readonly (string)[]; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly message_count: number; })[]; readonly total: number; } };
/** One chat. */
"GET /v1/ai/sessions/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly session_id: string; readonly id: string; 
/** Taken from the first message unless it was sent. */
readonly title: string; readonly model: string | null; readonly system_prompt: string; readonly collections: readonly (string)[]; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** RFC 3339, UTC. */
readonly updated_at: string; readonly message_count: number; } };
/** Removes a chat with its messages. */
"DELETE /v1/ai/sessions/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** A chat's messages, oldest first. */
"GET /v1/ai/sessions/{id}/messages": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly messages: readonly ({ readonly id: string; readonly role: "user" | "assistant"; readonly content: string; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** stop, length, refused, or cancelled (the client disconnected). */
readonly finish_reason?: string | undefined; readonly citations?: readonly ({ 
/** The passage's number in the prompt. The answer cites it as [number]. */
readonly number: number; readonly collection: string; readonly id: string; readonly score: number | null; 
/** For a passage of a file: its path in the folder. */
readonly file?: string | undefined; readonly title?: string | undefined; readonly heading?: string | undefined; readonly page?: number | undefined; readonly text: string; 
/** True if the answer cites its number. */
readonly cited: boolean; 
/** Start of the quoted sentence in `text`, in UTF-16 code units; it ends at `end`. */
readonly start?: number | undefined; readonly end?: number | undefined; })[] | undefined; })[]; readonly total: number; } };
/** Send a message to a chat, or begin a chat with it, and get the whole answer. Both are stored when the answer is complete. */
"POST /v1/ai/chat": { readonly sent: { readonly body: { 
/** The chat's id. Without it, the message begins a chat. */
readonly session_id?: string | undefined; 
/** The message. `message` is another name for it. */
readonly content?: string | undefined; 
/** The message. `message` is another name for it. */
readonly message?: string | undefined; readonly temperature?: number | undefined; readonly top_p?: number | undefined; readonly max_tokens?: number | undefined; readonly stop?: readonly (string)[] | undefined; readonly seed?: number | undefined; readonly model?: string | null | undefined; }; }; readonly answer: { readonly message: { readonly id: string; readonly role: "user" | "assistant"; readonly content: string; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** stop, length, refused, or cancelled (the client disconnected). */
readonly finish_reason?: string | undefined; readonly citations?: readonly ({ 
/** The passage's number in the prompt. The answer cites it as [number]. */
readonly number: number; readonly collection: string; readonly id: string; readonly score: number | null; 
/** For a passage of a file: its path in the folder. */
readonly file?: string | undefined; readonly title?: string | undefined; readonly heading?: string | undefined; readonly page?: number | undefined; readonly text: string; 
/** True if the answer cites its number. */
readonly cited: boolean; 
/** Start of the quoted sentence in `text`, in UTF-16 code units; it ends at `end`. */
readonly start?: number | undefined; readonly end?: number | undefined; })[] | undefined; }; readonly content: string; readonly session_id: string; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; }; readonly finish_reason: string; readonly provider: string; readonly model: string; readonly citations?: readonly ({ 
/** The passage's number in the prompt. The answer cites it as [number]. */
readonly number: number; readonly collection: string; readonly id: string; readonly score: number | null; 
/** For a passage of a file: its path in the folder. */
readonly file?: string | undefined; readonly title?: string | undefined; readonly heading?: string | undefined; readonly page?: number | undefined; readonly text: string; 
/** True if the answer cites its number. */
readonly cited: boolean; 
/** Start of the quoted sentence in `text`, in UTF-16 code units; it ends at `end`. */
readonly start?: number | undefined; readonly end?: number | undefined; })[] | undefined; 
/** Number of earlier messages that did not fit into the prompt. */
readonly messages_dropped?: number | undefined; } };
/** The revisions, transports and tools that the MCP server offers the caller. */
"GET /v1/mcp/info": { readonly sent: Nothing; readonly answer: { readonly name: string; readonly title: string; readonly version: string; readonly protocol_versions: readonly (string)[]; readonly transports: { readonly [name: string]: string; }; readonly capabilities: { readonly [name: string]: unknown; }; readonly tools: readonly (string)[]; } };
/** Answer a question about the tenant's tables. The configured provider, or else rules, turn it into a SELECT, which is planned before it runs. */
"POST /v1/nl2sql/query": { readonly sent: { readonly body: { readonly question?: string | undefined; readonly query?: string | undefined; 
/** With false, only the SQL is returned. Default: true. */
readonly execute?: boolean | undefined; 
/** Use only these tables. Default: all. */
readonly tables?: readonly (string)[] | undefined; 
/** auto: the provider if one is configured, else rules. */
readonly method?: "auto" | "rules" | "provider" | undefined; 
/** Of the provider. */
readonly model?: string | undefined; 
/** The most rows of this request. */
readonly max_rows?: number | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly sql: string; 
/** 0 to 1. With rules: how well names matched, at most 0.95. With a provider: 0.9, or 0.7 if its first SQL did not plan. */
readonly confidence: number; 
/** "rules" or the provider. */
readonly method: string; readonly columns: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[]; readonly rows: readonly (readonly (unknown)[])[]; readonly execution_time_ms: number; readonly truncated?: boolean | undefined; } };
/** Check whether a statement can be planned, and what is wrong if not. Nothing runs. */
"POST /v1/nl2sql/validate": { readonly sent: { readonly body: { readonly sql: string; }; }; readonly answer: { readonly is_valid: boolean; readonly errors: readonly (string)[]; readonly warnings: readonly (string)[]; } };
/** The tenant's memory namespaces. */
"GET /v1/ai/memory": { readonly sent: Nothing; readonly answer: { readonly namespaces: readonly ({ readonly namespace: string; readonly table: string; readonly count: number; })[]; } };
/** Store a memory. The first memory creates the namespace and its table _memory_<namespace>. */
"POST /v1/ai/memory/{namespace}": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; }; readonly body: { readonly content: string; readonly metadata?: { readonly [name: string]: unknown; } | null | undefined; 
/** Since when it holds: a date, or a time in UTC unless it has a zone. Default: now. */
readonly valid_from?: string | undefined; 
/** Compare it with the nearest memories: those that it contradicts are superseded, and what is known already is not stored again. Default: false. */
readonly supersede?: boolean | undefined; }; }; readonly answer: { 
/** Of a duplicate: the memory that says the same. */
readonly id: string; 
/** Memories that no longer hold. */
readonly superseded: readonly (string)[]; readonly duplicate_of: string | null; 
/** What compared it with other memories. */
readonly judged_by: readonly ("rules" | "nli")[]; } };
/** The memories of a namespace that hold, newest first. */
"GET /v1/ai/memory/{namespace}": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; }; readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; 
/** Memories that held at that time: a date or a time. */
readonly as_of?: string | number | boolean | undefined; 
/** Also those that others superseded. */
readonly include_superseded?: boolean | "true" | "false" | undefined; }; }; readonly answer: { readonly memories: readonly ({ readonly id: string; readonly content: string; readonly metadata: { readonly [name: string]: unknown; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Since when it holds. */
readonly valid_from: string; readonly valid_until: string | null; readonly superseded_by: string | null; })[]; readonly total: number; } };
/** Delete a namespace with all its memories. */
"DELETE /v1/ai/memory/{namespace}": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; }; }; readonly answer: undefined };
/** The memories most similar to a query. An unknown namespace has none. */
"POST /v1/ai/memory/{namespace}/recall": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; }; readonly body: { readonly query: string; readonly k?: number | undefined; readonly limit?: number | undefined; 
/** The weight of age beside similarity. Default: 0.1. 0 ignores age. */
readonly recency?: number | undefined; 
/** The weight of words that the query and the memory share, beside similarity. Default: 0.2. */
readonly words?: number | undefined; readonly half_life_days?: number | undefined; readonly min_similarity?: number | undefined; 
/** Memories that held at that time: a date or a time. */
readonly as_of?: string | undefined; 
/** Also those that others superseded. */
readonly include_superseded?: boolean | undefined; }; }; readonly answer: { readonly memories: readonly ({ readonly id: string; readonly content: string; readonly metadata: { readonly [name: string]: unknown; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Since when it holds. */
readonly valid_from: string; readonly valid_until: string | null; readonly superseded_by: string | null; 
/** Cosine of the embeddings, -1 to 1. */
readonly similarity: number; })[]; } };
/** Store a memory under an id. An existing one is superseded and goes on under another id. */
"PUT /v1/ai/memory/{namespace}/{id}": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; readonly id: string | number | boolean; }; readonly body: { readonly content: string; readonly metadata?: { readonly [name: string]: unknown; } | null | undefined; 
/** Since when it holds: a date, or a time in UTC unless it has a zone. Default: now. */
readonly valid_from?: string | undefined; }; }; readonly answer: { readonly id: string; 
/** Memories that no longer hold. */
readonly superseded: readonly (string)[]; } };
/** A memory with those that it superseded and that superseded it, the oldest first. */
"GET /v1/ai/memory/{namespace}/{id}/history": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; readonly id: string | number | boolean; }; }; readonly answer: { readonly memories: readonly ({ readonly id: string; readonly content: string; readonly metadata: { readonly [name: string]: unknown; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Since when it holds. */
readonly valid_from: string; readonly valid_until: string | null; readonly superseded_by: string | null; })[]; } };
/** Store what a conversation says of its user, as sentences of the third person. */
"POST /v1/ai/memory/{namespace}/extract": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; }; readonly body: { readonly messages: readonly ({ 
/** Rules read only what the user says. */
readonly role: "user" | "assistant" | "system" | "tool"; readonly content: string; 
/** When it was said. The facts hold from then on. */
readonly at?: string | undefined; })[]; 
/** auto: the configured AI provider if there is one, otherwise rules. */
readonly method?: "auto" | "rules" | "provider" | undefined; 
/** Compare it with the nearest memories: those that it contradicts are superseded, and what is known already is not stored again. Default: true. */
readonly supersede?: boolean | undefined; 
/** Only show the facts. */
readonly dry_run?: boolean | undefined; readonly timeout_secs?: number | undefined; }; }; readonly answer: { readonly facts: readonly ({ readonly content: string; 
/** The place of the message, from 0. */
readonly message: number; 
/** The words that say it. */
readonly evidence: string; readonly valid_from: string | null; 
/** Of a duplicate: the memory that says the same. */
readonly id?: string | undefined; 
/** Memories that no longer hold. */
readonly superseded?: readonly (string)[] | undefined; readonly duplicate_of?: string | null | undefined; 
/** What compared it with other memories. */
readonly judged_by?: readonly ("rules" | "nli")[] | undefined; })[]; readonly extractor: "rules" | "provider"; readonly stored: boolean; readonly provider?: string | undefined; readonly model?: string | undefined; readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; } | undefined; readonly warnings?: readonly (string)[] | undefined; } };
/** Forget one memory with its history. */
"DELETE /v1/ai/memory/{namespace}/{id}": { readonly sent: { readonly params: { 
/** Case does not matter. */
readonly namespace: string | number | boolean; readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Whether an English text is positive, negative or neutral. */
"POST /v1/ai/sentiment": { readonly sent: { readonly body: { readonly text?: string | undefined; 
/** Instead of "text". The answer is a list in the same order. At most 200000 characters in total. */
readonly texts?: readonly (string)[] | undefined; 
/** "native" (the default): libraries and models of the installation. Or the configured provider. */
readonly provider?: string | undefined; 
/** A model of the provider, which then answers; or "native". */
readonly model?: string | undefined; }; }; readonly answer: { readonly sentiment: "positive" | "negative" | "neutral"; 
/** 0 to 1. */
readonly confidence: number; readonly scores: { readonly positive: number; readonly negative: number; readonly neutral: number; }; } | readonly ({ readonly sentiment: "positive" | "negative" | "neutral"; 
/** 0 to 1. */
readonly confidence: number; readonly scores: { readonly positive: number; readonly negative: number; readonly neutral: number; }; })[] };
/** Names of persons, organizations and places, dates, amounts and addresses in an English text. */
"POST /v1/ai/entities": { readonly sent: { readonly body: { readonly text: string; 
/** "native" (the default): libraries and models of the installation. Or the configured provider. */
readonly provider?: string | undefined; 
/** A model of the provider, which then answers; or "native". */
readonly model?: string | undefined; }; }; readonly answer: { readonly entities: readonly ({ readonly text: string; 
/** PERSON, ORGANIZATION, LOCATION, DATE, MONEY, PERCENT, EMAIL, URL, PHONE or MISC. */
readonly type: string; 
/** The same. */
readonly entity_type: string; 
/** UTF-16 code units: text.slice(start, end). */
readonly start: number; 
/** UTF-16 code units: text.slice(start, end). */
readonly end: number; 
/** 0 to 1. */
readonly confidence: number; })[]; } };
/** Summarize a text by its most important sentences, or with a provider in its own words. */
"POST /v1/ai/summarize": { readonly sent: { readonly body: { readonly text: string; 
/** The most characters (UTF-16 code units) of the summary. Default: 500. */
readonly max_length?: number | undefined; 
/** "native" (the default): libraries and models of the installation. Or the configured provider. */
readonly provider?: string | undefined; 
/** A model of the provider, which then answers; or "native". */
readonly model?: string | undefined; }; }; readonly answer: { readonly summary: string; } };
/** Classify a text into categories without examples, most confident first. */
"POST /v1/ai/classify": { readonly sent: { readonly body: { readonly text?: string | undefined; 
/** Instead of "text". The answer is a list in the same order. At most 200000 characters in total. */
readonly texts?: readonly (string)[] | undefined; 
/** Default: common topics. */
readonly categories?: readonly (string)[] | undefined; 
/** Score each category by itself, instead of scores that add up to 1. */
readonly multi_label?: boolean | undefined; 
/** "native" (the default): libraries and models of the installation. Or the configured provider. */
readonly provider?: string | undefined; 
/** A model of the provider, which then answers; or "native". */
readonly model?: string | undefined; }; }; readonly answer: { readonly classifications: readonly ({ readonly category: string; 
/** 0 to 1. */
readonly confidence: number; })[]; } | readonly ({ readonly classifications: readonly ({ readonly category: string; 
/** 0 to 1. */
readonly confidence: number; })[]; })[] };
/** Answer a question with a part of a text. */
"POST /v1/ai/qa": { readonly sent: { readonly body: { readonly question: string; readonly context?: string | undefined; readonly text?: string | undefined; 
/** "native" (the default): libraries and models of the installation. Or the configured provider. */
readonly provider?: string | undefined; 
/** A model of the provider, which then answers; or "native". */
readonly model?: string | undefined; }; }; readonly answer: { 
/** Copied from the text; "" if it has no answer. */
readonly answer: string; 
/** 0 to 1. */
readonly score: number; readonly start: number | null; readonly end: number | null; } };
/** The claim models and their states. */
"GET /v1/ai/nli/models": { readonly sent: Nothing; readonly answer: { readonly enabled: boolean; readonly default_model: string; readonly restart_required_for_new_installs: boolean; readonly models: readonly ({ readonly model: string; 
/** Only ready models answer. installed: not requested yet. loading: requests wait for it. */
readonly state: "ready" | "missing" | "failed" | "loading" | "installed"; readonly identity: { readonly alias: string; readonly id: string; readonly repository: string | null; readonly revision: string | null; readonly license: string | null; readonly bundle_sha256: string | null; readonly labels: readonly (string)[]; readonly max_length: number; readonly bytes: number | null; readonly required_capabilities: readonly (string)[]; }; readonly loaded_bundle_sha256: string | null; readonly problem: string | null; })[]; } };
/** Decide whether a statement is the truth or a lie, from texts that are known to be true. */
"POST /v1/ai/nli/verify": { readonly sent: { readonly body: { 
/** The claim. At most 16384 UTF-8 bytes. */
readonly statement: string; readonly truth_anchors: readonly (string)[]; 
/** A model that was installed when the server started. Default: the configured model. */
readonly model?: string | undefined; 
/** With true, a statement that no anchor entails is a lie. */
readonly closed_world?: boolean | undefined; 
/** Score at which an anchor contradicts the statement. */
readonly contradiction_threshold?: number | undefined; 
/** Score at which an anchor entails it. */
readonly entailment_threshold?: number | undefined; 
/** With true, the texts are known to be about the same thing or scene, so what cannot be true of it as well contradicts. Otherwise a text about something else is neutral. */
readonly same_subject?: boolean | undefined; }; }; readonly answer: { readonly model: string; 
/** SHA-256 of the bundle's manifest.json, which has the hash of each file. */
readonly bundle_sha256: string; readonly verdict: "TRUTH" | "LIE" | "UNVERIFIED_PLAUSIBLE"; readonly reason: string; readonly confidence: number; readonly violated_anchor: string | null; readonly matched_anchor: string | null; 
/** Scores per anchor: contradiction, entailment, neutral. */
readonly all_scores: readonly (readonly (number)[])[]; readonly evidence: { 
/** The anchor's number, from 0. */
readonly anchor: number; readonly text: string; 
/** Where it begins in the text, in UTF-16 code units. */
readonly start: number; readonly end: number; } | null; 
/** Of each anchor, in the order of the request. */
readonly details: readonly ({ 
/** False: the texts have nothing to do with each other, so neither decides the other. */
readonly related: boolean; readonly evidence: { readonly text: string; 
/** Where it begins in the text, in UTF-16 code units. */
readonly start: number; readonly end: number; } | null; })[]; } };
/** Compare each premise (evidence) with its hypothesis (claim). */
"POST /v1/ai/nli/pairs": { readonly sent: { readonly body: { readonly pairs: readonly ({ 
/** The evidence. At most 16384 UTF-8 bytes. */
readonly premise: string; 
/** The claim. At most 16384 UTF-8 bytes. */
readonly hypothesis: string; })[]; 
/** A model that was installed when the server started. Default: the configured model. */
readonly model?: string | undefined; 
/** With true, the texts are known to be about the same thing or scene, so what cannot be true of it as well contradicts. Otherwise a text about something else is neutral. */
readonly same_subject?: boolean | undefined; }; }; readonly answer: { readonly model: string; 
/** SHA-256 of the bundle's manifest.json, which has the hash of each file. */
readonly bundle_sha256: string; readonly scores: readonly ({ readonly contradiction: number; readonly entailment: number; readonly neutral: number; 
/** False: the texts have nothing to do with each other, so neither decides the other. */
readonly related: boolean; readonly evidence: { readonly text: string; 
/** Where it begins in the text, in UTF-16 code units. */
readonly start: number; readonly end: number; } | null; })[]; } };
/** The installed models, the sources of others, and which of those are known. */
"GET /v1/ai/models": { readonly sent: Nothing; readonly answer: { readonly models: readonly ({ readonly name: string; readonly alias: string | null; readonly kind: string | null; readonly architecture: string | null; readonly size_bytes: number; 
/** SHA-256 of its manifest, which has the hashes of its files. */
readonly digest: string; readonly pulled_at: string | null; readonly last_used_at: string | null; readonly dimensions: number | null; readonly max_length: number | null; readonly revision: string | null; readonly licence: string | null; readonly state: "installed" | "ready" | "failed"; readonly problem: string | null; readonly tag: string | null; readonly source: string | null; 
/** True: it is available after a restart of the server. */
readonly restart_required: boolean; })[]; readonly count: number; readonly sources: readonly (string)[]; 
/** Of the disk that models are stored on. */
readonly free_bytes: number; 
/** Models that the configured hubs offer. */
readonly available: readonly ({ readonly name: string; readonly alias: string | null; readonly kind: string; readonly licence: string; readonly tags: readonly (string)[]; })[]; 
/** In a cluster: the models that all nodes shall have, and which of them do. */
readonly wanted?: readonly ({ readonly name: string; 
/** As it was pulled: name:tag. */
readonly model: string; 
/** SHA-256 of the manifest of the bundle that all nodes shall have. */
readonly digest: string; 
/** RFC 3339, UTC. */
readonly since: string; readonly nodes: readonly ({ readonly node: string; 
/** The node has this bundle. */
readonly installed: boolean; readonly problem: string | null; })[]; })[] | undefined; } };
/** Pull a model from the first source that has it. Answers 202 when the pull begins, or with wait 200 when the model is installed; in a cluster, on the node that answers, while the others follow. A second request for the same model joins the running pull. The pull continues if the client disconnects. */
"POST /v1/ai/models/pull": { readonly sent: { readonly body: { 
/** name or name:tag. Default tag: "latest". */
readonly model?: string | undefined; 
/** name or name:tag. Default tag: "latest". */
readonly name?: string | undefined; readonly wait?: boolean | undefined; }; }; readonly answer: { readonly id: string; 
/** The same. */
readonly job_id: string; 
/** name:tag */
readonly model: string; readonly name: string | null; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; readonly phase: "waiting" | "resolving" | "downloading" | "installing" | "done"; 
/** 0 to 1. */
readonly progress: number; readonly bytes_done: number; readonly bytes_total: number | null; readonly source: string | null; 
/** Sources that failed. */
readonly passed_over: readonly ({ readonly source: string; readonly message: string; })[]; readonly error: { readonly code: string; readonly message: string; } | null; readonly restart_required: boolean; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly completed_at: string | null; } };
/** Running and recent pulls, newest first. */
"GET /v1/ai/models/pulls": { readonly sent: Nothing; readonly answer: { readonly pulls: readonly ({ readonly id: string; 
/** The same. */
readonly job_id: string; 
/** name:tag */
readonly model: string; readonly name: string | null; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; readonly phase: "waiting" | "resolving" | "downloading" | "installing" | "done"; 
/** 0 to 1. */
readonly progress: number; readonly bytes_done: number; readonly bytes_total: number | null; readonly source: string | null; 
/** Sources that failed. */
readonly passed_over: readonly ({ readonly source: string; readonly message: string; })[]; readonly error: { readonly code: string; readonly message: string; } | null; readonly restart_required: boolean; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly completed_at: string | null; })[]; readonly total: number; } };
/** The progress or outcome of a pull. */
"GET /v1/ai/models/pulls/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; 
/** The same. */
readonly job_id: string; 
/** name:tag */
readonly model: string; readonly name: string | null; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; readonly phase: "waiting" | "resolving" | "downloading" | "installing" | "done"; 
/** 0 to 1. */
readonly progress: number; readonly bytes_done: number; readonly bytes_total: number | null; readonly source: string | null; 
/** Sources that failed. */
readonly passed_over: readonly ({ readonly source: string; readonly message: string; })[]; readonly error: { readonly code: string; readonly message: string; } | null; readonly restart_required: boolean; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly completed_at: string | null; } };
/** Cancel a pull and remove what it has downloaded. A finished pull does not change. */
"DELETE /v1/ai/models/pulls/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; 
/** The same. */
readonly job_id: string; 
/** name:tag */
readonly model: string; readonly name: string | null; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; readonly phase: "waiting" | "resolving" | "downloading" | "installing" | "done"; 
/** 0 to 1. */
readonly progress: number; readonly bytes_done: number; readonly bytes_total: number | null; readonly source: string | null; 
/** Sources that failed. */
readonly passed_over: readonly ({ readonly source: string; readonly message: string; })[]; readonly error: { readonly code: string; readonly message: string; } | null; readonly restart_required: boolean; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly completed_at: string | null; } };
/** One installed model, by name, alias or name:tag. */
"GET /v1/ai/models/{name}": { readonly sent: { readonly params: { 
/** name or name:tag. Default tag: "latest". */
readonly name: string | number | boolean; }; }; readonly answer: { readonly name: string; readonly alias: string | null; readonly kind: string | null; readonly architecture: string | null; readonly size_bytes: number; 
/** SHA-256 of its manifest, which has the hashes of its files. */
readonly digest: string; readonly pulled_at: string | null; readonly last_used_at: string | null; readonly dimensions: number | null; readonly max_length: number | null; readonly revision: string | null; readonly licence: string | null; readonly state: "installed" | "ready" | "failed"; readonly problem: string | null; readonly tag: string | null; readonly source: string | null; 
/** True: it is available after a restart of the server. */
readonly restart_required: boolean; } };
/** Delete an installed model after the requests that use it have ended, in a cluster from all nodes. Models that come with the program and the model in ai.embedding_model cannot be deleted. */
"DELETE /v1/ai/models/{name}": { readonly sent: { readonly params: { 
/** name or name:tag. Default tag: "latest". */
readonly name: string | number | boolean; }; }; readonly answer: undefined };
/** Describe an image with the installed vision model or a provider. Without either, by its size, colours, EXIF and the words in it. Send image or image_url. */
"POST /v1/multimodal/describe": { readonly sent: { readonly body: { 
/** The question about the image, for models that read prompts. Default: a description. */
readonly prompt?: string | undefined; 
/** A PNG, JPEG, WebP, GIF, TIFF or AVIF image as base64, without a data: prefix. */
readonly image?: string | undefined; 
/** The image's address: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,…. */
readonly image_url?: string | undefined; readonly model?: string | undefined; 
/** native, or the configured provider. Default: the installed vision model. */
readonly provider?: "native" | "anthropic" | "ollama" | "openai" | undefined; readonly max_tokens?: number | undefined; readonly temperature?: number | undefined; }; }; readonly answer: { readonly text: string; readonly model: string; readonly provider: string; readonly finish_reason: string; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; }; 
/** What can be told without a model. Absent if a model described the image. */
readonly facts?: { readonly media_type: string; readonly width: number; readonly height: number; readonly bytes: number; readonly colors: readonly ({ readonly name: string; 
/** The mean of its pixels, #rrggbb. */
readonly hex: string; 
/** Of all pixels, 0 to 1. */
readonly share: number; })[]; 
/** The words in the image (OCR for English). */
readonly words: string; readonly exif: { readonly [name: string]: unknown; }; } | undefined; readonly notes?: readonly (string)[] | undefined; } };
/** Find what is most similar to a text, an image or the words in a sound, in collections of texts, images and other media. */
"POST /v1/multimodal/search": { readonly sent: { readonly body: { readonly query: { 
/** The kind of the other member. Optional. */
readonly type?: "text" | "image" | "image_url" | "audio" | "video" | undefined; readonly text?: string | undefined; 
/** A PNG, JPEG, WebP, GIF, TIFF or AVIF image as base64, without a data: prefix. */
readonly image?: string | undefined; 
/** The image's address: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,…. */
readonly image_url?: string | undefined; 
/** A WAV, MP3, FLAC, Ogg Vorbis or Opus file, or with ffmpeg any other sound, searched by the words spoken in it as base64, without a data: prefix. */
readonly audio?: string | undefined; }; 
/** The kinds of results. Default: all. */
readonly modalities?: readonly ("text" | "image" | "audio" | "video")[] | undefined; 
/** 10 unless said. */
readonly limit?: number | undefined; 
/** Default: all collections whose documents have a field kind. */
readonly collections?: readonly (string)[] | undefined; }; }; readonly answer: { readonly results: readonly ({ readonly collection: string; readonly id: string; readonly modality: "text" | "image" | "audio" | "video"; 
/** 0 to 1. Larger is more similar. Comparable within one answer. */
readonly score: number; 
/** How it was compared: dual_encoder (a model that knows images and words), visual_feature (colours and edges, no model), or text (words: captions, words in images, EXIF, documents). */
readonly method: string; readonly document: { readonly [name: string]: unknown; }; })[]; 
/** Number of results in this answer. */
readonly total: number; 
/** All ways that were used. */
readonly methods: readonly (string)[]; 
/** For a sound: its words, which were searched. */
readonly transcript?: string | undefined; readonly model: string | null; readonly took_ms: number; } };
/** Embed one text, image, sound or video: {input: {text: …}}, or its members without input. */
"POST /v1/multimodal/embed": { readonly sent: { readonly body: { readonly input?: { 
/** The kind of the other member. Optional. */
readonly type?: "text" | "image" | "image_url" | "audio" | "video" | undefined; readonly text?: string | undefined; 
/** A PNG, JPEG, WebP, GIF, TIFF or AVIF image as base64, without a data: prefix. */
readonly image?: string | undefined; 
/** The image's address: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,…. */
readonly image_url?: string | undefined; 
/** A WAV, MP3, FLAC, Ogg Vorbis or Opus file, or with ffmpeg any other sound as base64, without a data: prefix. */
readonly audio?: string | undefined; 
/** With ffmpeg: a video as base64, without a data: prefix. */
readonly video?: string | undefined; } | undefined; 
/** The kind of the other member. Optional. */
readonly type?: "text" | "image" | "image_url" | "audio" | "video" | undefined; readonly text?: string | undefined; 
/** A PNG, JPEG, WebP, GIF, TIFF or AVIF image as base64, without a data: prefix. */
readonly image?: string | undefined; 
/** The image's address: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,…. */
readonly image_url?: string | undefined; 
/** A WAV, MP3, FLAC, Ogg Vorbis or Opus file, or with ffmpeg any other sound as base64, without a data: prefix. */
readonly audio?: string | undefined; 
/** With ffmpeg: a video as base64, without a data: prefix. */
readonly video?: string | undefined; 
/** An installed model, tessera-visual-1 (images, videos) or tessera-audio-1. Default: the dual encoder if one is installed, else these, and for texts the default model. For sounds, the default model embeds the transcript if a speech model is installed. */
readonly model?: string | undefined; }; }; readonly answer: { 
/** A vector of length 1, in single precision. */
readonly embedding: readonly (number)[]; readonly model: string; readonly dimensions: number; readonly modality: "text" | "image" | "audio" | "video"; 
/** dual_encoder, text_embedding, transcript, visual_feature or audio_feature. */
readonly method: string; } };
/** Add an image to a collection: its thumbnail, words, EXIF and vectors, but not the file. The first image creates the collection. */
"POST /v1/multimodal/images": { readonly sent: { readonly body: { readonly collection?: string | undefined; readonly id?: string | undefined; 
/** A PNG, JPEG, WebP, GIF, TIFF or AVIF image as base64, without a data: prefix. */
readonly image?: string | undefined; 
/** The image's address: a scheme and a host that the configuration allows, at a public address. Or the image itself, as data:image/png;base64,…. */
readonly image_url?: string | undefined; readonly caption?: string | undefined; readonly metadata?: { readonly [name: string]: unknown; } | undefined; 
/** Read the words in it, which takes about a second. Default: true. */
readonly ocr?: boolean | undefined; }; }; readonly answer: { readonly id: string; readonly collection: string; readonly media_type: string; readonly width: number; readonly height: number; 
/** The text by which words find it: caption, words in the image, EXIF. */
readonly text: string; 
/** The models that made its vectors. */
readonly models: readonly (string)[]; readonly notes: readonly (string)[]; } };
/** Transcribe a sound, with times, by the installed speech model. */
"POST /v1/multimodal/transcribe": { readonly sent: { readonly body: { 
/** A WAV, MP3, FLAC, Ogg Vorbis or Opus file, or with ffmpeg any other sound; at most 600 s as base64, without a data: prefix. */
readonly audio?: string | undefined; 
/** A code such as en. Default: the model detects it. */
readonly language?: string | undefined; readonly model?: string | undefined; }; }; readonly answer: { readonly text: string; readonly language: string | null; readonly duration_seconds: number; readonly segments: readonly ({ 
/** Seconds from the sound's beginning. */
readonly start: number; readonly end: number; readonly text: string; })[]; readonly model: string; 
/** native. */
readonly provider: string; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; }; } };
/** The tenant's recipes and those that come with the server, each in its newest version. */
"GET /v1/recipes": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly category?: string | number | boolean | undefined; readonly tag?: string | number | boolean | undefined; }; }; readonly answer: { readonly recipes: readonly ({ readonly id: string; readonly version: string; readonly name: string; readonly description: string; readonly category: string; readonly tags: readonly (string)[]; 
/** SHA-256 of the canonical form, without the signature. */
readonly digest: string; 
/** It comes with the server and is tested with it. */
readonly built_in: boolean; readonly certificate: { readonly digest: string; 
/** The version of the server that certified it. */
readonly engine: string; 
/** RFC 3339, UTC. */
readonly certified_at: string; 
/** Number of the recipe's own tests that ran. */
readonly tests: number; readonly statements: number; readonly execution_time_ms: number; } | null; readonly signed_by: string | null; readonly source_url: string | null; readonly created_at: string | null; })[]; readonly total: number; } };
/** The JSON Schema of recipes. */
"GET /v1/recipes/schema": { readonly sent: Nothing; readonly answer: { readonly [name: string]: unknown; } };
/** Import a recipe from an address or the body. It is parsed, checked, certified (run with its own tests in a transaction that is rolled back) and stored. */
"POST /v1/recipes/import": { readonly sent: { readonly query?: { 
/** With true, the recipe is certified and returned, but not stored. */
readonly dry_run?: boolean | "true" | "false" | undefined; }; readonly body: { 
/** The address that the server fetches it from. */
readonly url?: string | undefined; 
/** The document as JSON. It may also be the body itself. */
readonly recipe?: unknown | undefined; 
/** The document as YAML or JSON text. */
readonly source?: string | undefined; }; }; readonly answer: { readonly id: string; readonly version: string; readonly name: string; readonly description: string; readonly category: string; readonly tags: readonly (string)[]; 
/** SHA-256 of the canonical form, without the signature. */
readonly digest: string; 
/** It comes with the server and is tested with it. */
readonly built_in: boolean; readonly certificate: { readonly digest: string; 
/** The version of the server that certified it. */
readonly engine: string; 
/** RFC 3339, UTC. */
readonly certified_at: string; 
/** Number of the recipe's own tests that ran. */
readonly tests: number; readonly statements: number; readonly execution_time_ms: number; } | null; readonly signed_by: string | null; readonly source_url: string | null; readonly created_at: string | null; readonly parameters: { readonly [name: string]: unknown; }; readonly recipe: unknown; } };
/** Export the tenant's tables and a graph as a recipe: definitions, a limited number of rows, nodes and edges. */
"POST /v1/recipes/export": { readonly sent: { readonly body?: { readonly id?: string | undefined; readonly name?: string | undefined; 
/** 1.0.0 unless said. */
readonly version?: string | undefined; readonly description?: string | undefined; 
/** All unless said. */
readonly tables?: readonly (string)[] | undefined; readonly graph?: string | null | undefined; 
/** false: definitions alone. */
readonly rows?: boolean | undefined; 
/** yaml: also as YAML text in `source`. */
readonly format?: "json" | "yaml" | undefined; }; }; readonly answer: { readonly recipe: unknown; readonly digest: string; readonly notes: readonly (string)[]; readonly source?: string | undefined; } };
/** One recipe with its document. */
"GET /v1/recipes/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** Default: the newest. */
readonly version?: string | number | boolean | undefined; }; }; readonly answer: { readonly id: string; readonly version: string; readonly name: string; readonly description: string; readonly category: string; readonly tags: readonly (string)[]; 
/** SHA-256 of the canonical form, without the signature. */
readonly digest: string; 
/** It comes with the server and is tested with it. */
readonly built_in: boolean; readonly certificate: { readonly digest: string; 
/** The version of the server that certified it. */
readonly engine: string; 
/** RFC 3339, UTC. */
readonly certified_at: string; 
/** Number of the recipe's own tests that ran. */
readonly tests: number; readonly statements: number; readonly execution_time_ms: number; } | null; readonly signed_by: string | null; readonly source_url: string | null; readonly created_at: string | null; readonly parameters: { readonly [name: string]: unknown; }; readonly recipe: unknown; } };
/** Store a new version of a recipe. It is certified like an import. Existing versions never change. */
"PUT /v1/recipes/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** With true, the recipe is certified and returned, but not stored. */
readonly dry_run?: boolean | "true" | "false" | undefined; }; readonly body: { 
/** The address that the server fetches it from. */
readonly url?: string | undefined; 
/** The document as JSON. It may also be the body itself. */
readonly recipe?: unknown | undefined; 
/** The document as YAML or JSON text. */
readonly source?: string | undefined; }; }; readonly answer: { readonly id: string; readonly version: string; readonly name: string; readonly description: string; readonly category: string; readonly tags: readonly (string)[]; 
/** SHA-256 of the canonical form, without the signature. */
readonly digest: string; 
/** It comes with the server and is tested with it. */
readonly built_in: boolean; readonly certificate: { readonly digest: string; 
/** The version of the server that certified it. */
readonly engine: string; 
/** RFC 3339, UTC. */
readonly certified_at: string; 
/** Number of the recipe's own tests that ran. */
readonly tests: number; readonly statements: number; readonly execution_time_ms: number; } | null; readonly signed_by: string | null; readonly source_url: string | null; readonly created_at: string | null; readonly parameters: { readonly [name: string]: unknown; }; readonly recipe: unknown; } };
/** Delete a recipe, or one version of it. What it created remains. */
"DELETE /v1/recipes/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { 
/** Default: the newest. */
readonly version?: string | number | boolean | undefined; }; }; readonly answer: undefined };
/** All versions of a recipe, newest first. */
"GET /v1/recipes/{id}/versions": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly versions: readonly ({ readonly id: string; readonly version: string; readonly name: string; readonly description: string; readonly category: string; readonly tags: readonly (string)[]; 
/** SHA-256 of the canonical form, without the signature. */
readonly digest: string; 
/** It comes with the server and is tested with it. */
readonly built_in: boolean; readonly certificate: { readonly digest: string; 
/** The version of the server that certified it. */
readonly engine: string; 
/** RFC 3339, UTC. */
readonly certified_at: string; 
/** Number of the recipe's own tests that ran. */
readonly tests: number; readonly statements: number; readonly execution_time_ms: number; } | null; readonly signed_by: string | null; readonly source_url: string | null; readonly created_at: string | null; })[]; readonly total: number; } };
/** Certify a recipe again, for instance after an update of the server. */
"POST /v1/recipes/{id}/certify": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: { 
/** Default: the newest. */
readonly version?: string | undefined; }; }; readonly answer: { readonly digest: string; 
/** The version of the server that certified it. */
readonly engine: string; 
/** RFC 3339, UTC. */
readonly certified_at: string; 
/** Number of the recipe's own tests that ran. */
readonly tests: number; readonly statements: number; readonly execution_time_ms: number; } };
/** Execute a recipe in one transaction: definitions and data with the first execution of a version, then the workflow. */
"POST /v1/recipes/{id}/execute": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: { readonly parameters?: { readonly [name: string]: unknown; } | undefined; 
/** With true, everything is rolled back. */
readonly dry_run?: boolean | undefined; 
/** Default: the newest. */
readonly version?: string | undefined; 
/** When definitions and data are created: with the first execution of a version (auto), now, now without the data (schema), or not. */
readonly setup?: "auto" | "always" | "schema" | "never" | undefined; }; }; readonly answer: { readonly execution_id: string; readonly recipe_id: string; readonly version: string; readonly statements_executed: number; readonly execution_time_ms: number; readonly success: boolean; readonly dry_run: boolean; 
/** Definitions were made. */
readonly set_up: boolean; readonly results: readonly ({ readonly step: string; readonly language: "sql" | "cypher" | "train" | "predict"; 
/** The statement as in the recipe. Parameters are bound separately. */
readonly statement: string; 
/** True: its condition was not true. */
readonly skipped?: boolean | undefined; readonly columns?: readonly ({ readonly name: string; readonly data_type: string; readonly nullable: boolean; })[] | undefined; readonly rows?: readonly (readonly (unknown)[])[] | undefined; readonly row_count?: number | undefined; readonly rows_affected?: number | undefined; 
/** True: there were more rows than the limit. */
readonly truncated?: boolean | undefined; 
/** What a Cypher statement changed. Absent if it changed nothing. */
readonly stats?: { readonly nodes_created: number; readonly nodes_deleted: number; readonly relationships_created: number; readonly relationships_deleted: number; readonly properties_set: number; readonly labels_added: number; readonly labels_removed: number; } | undefined; readonly notices?: readonly (string)[] | undefined; readonly execution_time_ms?: number | undefined; })[]; } };
/** Executions of a recipe, newest first. */
"GET /v1/recipes/{id}/executions": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly executions: readonly ({ readonly execution_id: string; readonly recipe_id: string; readonly version: string; readonly statements_executed: number; readonly execution_time_ms: number; 
/** interrupted: the server stopped, the client disconnected, or it timed out. Its changes were rolled back. */
readonly status: "running" | "completed" | "failed" | "interrupted"; readonly user_id: string; readonly parameters: unknown; 
/** The results without their rows. */
readonly steps: unknown; readonly error: unknown; 
/** RFC 3339, UTC. */
readonly started_at: string; })[]; readonly total: number; } };
/** One execution of a recipe. */
"GET /v1/recipes/{id}/executions/{execution_id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; readonly execution_id: string | number | boolean; }; }; readonly answer: { readonly execution_id: string; readonly recipe_id: string; readonly version: string; readonly statements_executed: number; readonly execution_time_ms: number; 
/** interrupted: the server stopped, the client disconnected, or it timed out. Its changes were rolled back. */
readonly status: "running" | "completed" | "failed" | "interrupted"; readonly user_id: string; readonly parameters: unknown; 
/** The results without their rows. */
readonly steps: unknown; readonly error: unknown; 
/** RFC 3339, UTC. */
readonly started_at: string; } };
/** All tenants. */
"GET /admin/tenants": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly tenants: readonly ({ readonly id: string; readonly name: string; readonly is_active: boolean; readonly partition: number; readonly rate_limit: { 
/** Requests per second. 0 means no limit. */
readonly per_second: number; readonly burst: number; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; })[]; readonly total: number; } };
/** Create a tenant. It goes to the least loaded partition. */
"POST /admin/tenants": { readonly sent: { readonly body: { readonly id: string; readonly name?: string | undefined; readonly rate_limit?: { 
/** Requests per second. 0 means no limit. */
readonly per_second: number; readonly burst: number; } | undefined; }; }; readonly answer: { readonly id: string; readonly name: string; readonly is_active: boolean; readonly partition: number; readonly rate_limit: { 
/** Requests per second. 0 means no limit. */
readonly per_second: number; readonly burst: number; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** One tenant. */
"GET /admin/tenants/{tenant}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly name: string; readonly is_active: boolean; readonly partition: number; readonly rate_limit: { 
/** Requests per second. 0 means no limit. */
readonly per_second: number; readonly burst: number; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** Rename, disable or enable a tenant, or set its rate limit. A disabled tenant's credentials stop working at once. */
"PATCH /admin/tenants/{tenant}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly body: { readonly name?: string | undefined; readonly is_active?: boolean | undefined; readonly rate_limit?: { 
/** Requests per second. 0 means no limit. */
readonly per_second: number; readonly burst: number; } | null | undefined; }; }; readonly answer: { readonly id: string; readonly name: string; readonly is_active: boolean; readonly partition: number; readonly rate_limit: { 
/** Requests per second. 0 means no limit. */
readonly per_second: number; readonly burst: number; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** Delete a tenant with all that it has. Its users, API keys and sessions end at once, and its data are removed in the background. Nothing brings them back but a backup. */
"DELETE /admin/tenants/{tenant}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly query: { 
/** The tenant's id once more. */
readonly confirm: string | number | boolean; }; }; readonly answer: { readonly tenant: string; readonly state: "removing" | "done"; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; } };
/** The newest deletion of a tenant of that id: whether all its data are removed. */
"GET /admin/tenants/{tenant}/deletion": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { readonly tenant: string; readonly state: "removing" | "done"; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; } };
/** Move a tenant to another partition, or to a partition of an actor, while it stays available. Its requests wait some milliseconds at the end. Transactions that stay open longer than the given time are stopped and can be retried. */
"POST /admin/tenants/{tenant}/move": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly body: { readonly partition?: number | undefined; readonly actor?: number | undefined; 
/** How long to wait for open transactions. Default: 5. */
readonly transaction_seconds?: number | undefined; }; }; readonly answer: { readonly tenant: string; readonly from: number; readonly to: number; readonly state: "preparing" | "copying" | "draining" | "switching" | "cleaning" | "done" | "failed" | "cancelled"; readonly copied_entries: number; readonly copied_bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly held_ms: number | null; readonly error: string | null; } };
/** The progress or outcome of the tenant's newest move. */
"GET /admin/tenants/{tenant}/move": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { readonly tenant: string; readonly from: number; readonly to: number; readonly state: "preparing" | "copying" | "draining" | "switching" | "cleaning" | "done" | "failed" | "cancelled"; readonly copied_entries: number; readonly copied_bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly held_ms: number | null; readonly error: string | null; } };
/** Cancel a move before the tenant is handed over. The tenant stays where it is. */
"DELETE /admin/tenants/{tenant}/move": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { readonly tenant: string; readonly from: number; readonly to: number; readonly state: "preparing" | "copying" | "draining" | "switching" | "cleaning" | "done" | "failed" | "cancelled"; readonly copied_entries: number; readonly copied_bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly held_ms: number | null; readonly error: string | null; } };
/** Actors and partitions with their tenants, bytes and load. */
"GET /admin/placement": { readonly sent: Nothing; readonly answer: { readonly actors: readonly ({ readonly actor: number; readonly up: boolean; readonly load: number | null; readonly heap_bytes: number | null; readonly requests_running: number | null; })[]; readonly partitions: readonly ({ readonly partition: number; readonly actor: number; readonly tenants: number; readonly tenants_in_memory: number | null; readonly stored_bytes: number | null; readonly log_bytes: number | null; readonly load: number | null; readonly requests_held: number | null; })[]; } };
/** Who did what, newest first: administration, sign-ins, API keys, refused credentials. Callers outside the system tenant see only their own tenant. */
"GET /admin/audit": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; 
/** The next_before of the previous page. */
readonly before?: string | number | boolean | undefined; readonly tenant?: string | number | boolean | undefined; readonly username?: string | number | boolean | undefined; 
/** An action, or a prefix such as admin.users. */
readonly action?: string | number | boolean | undefined; readonly outcome?: "ok" | "refused" | "failed" | undefined; readonly since?: string | number | boolean | undefined; readonly until?: string | number | boolean | undefined; }; }; readonly answer: { readonly entries: readonly ({ readonly number: number; 
/** RFC 3339, UTC. */
readonly at: string; 
/** The name of the operation, or auth.refused, auth.blocked or auth.many. */
readonly action: string; readonly outcome: "ok" | "refused" | "failed"; readonly status: number; readonly code: string | null; readonly tenant: string | null; readonly username: string | null; readonly key_id: string | null; readonly address: string | null; readonly target: readonly (string)[]; readonly request_id: string; 
/** Equal refusals within one second are one entry. */
readonly count: number; })[]; readonly next_before: number | null; } };
/** Who read or changed rows of audited tables (ALTER TABLE … SET (audit = 'read, write')) of the caller's tenant, newest first. */
"GET /admin/audit/data": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; 
/** The next_before of the previous page. */
readonly before?: string | number | boolean | undefined; readonly username?: string | number | boolean | undefined; readonly action?: "data.read" | "data.write" | "data.audit" | undefined; 
/** With its schema, unless that is public. */
readonly table?: string | number | boolean | undefined; readonly since?: string | number | boolean | undefined; readonly until?: string | number | boolean | undefined; }; }; readonly answer: { readonly entries: readonly ({ readonly number: number; 
/** RFC 3339, UTC. */
readonly at: string; readonly action: "data.read" | "data.write" | "data.audit"; readonly outcome: "ok" | "refused" | "failed"; readonly status: number; readonly code: string | null; readonly tenant: string | null; readonly username: string | null; readonly key_id: string | null; readonly address: string | null; 
/** The tables. */
readonly target: readonly (string)[]; readonly request_id: string; 
/** Equal refusals within one second are one entry. */
readonly count: number; 
/** The operation through which the rows were used. */
readonly door: string; readonly statement: string | null; readonly parameters: string | null; })[]; readonly next_before: number | null; } };
/** Set the log level of all threads until the server restarts. */
"PUT /admin/log-level": { readonly sent: { readonly body: { readonly level: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent"; }; }; readonly answer: { readonly level: string; } };
/** The cluster: its nodes, who owns which partition, and how far copies are. On one machine: none. */
"GET /admin/cluster": { readonly sent: Nothing; readonly answer: { readonly enabled: boolean; readonly [name: string]: unknown; } };
/** A tenant's users. */
"GET /admin/tenants/{tenant}/users": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly users: readonly ({ readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; })[]; readonly total: number; } };
/** Create a user in the tenant. */
"POST /admin/tenants/{tenant}/users": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly body: { readonly username: string; readonly password: string; readonly email?: string | undefined; readonly roles?: readonly ("user" | "admin" | "super_admin")[] | undefined; }; }; readonly answer: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; } };
/** Disable or enable a user; a disabled user's tokens and keys stop working at once. */
"PATCH /admin/tenants/{tenant}/users/{user}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; 
/** A user's id or name. */
readonly user: string | number | boolean; }; readonly body: { readonly is_active: boolean; }; }; readonly answer: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; } };
/** Set a new password (a random one when none is given) and revoke the user's tokens. */
"POST /admin/tenants/{tenant}/users/{user}/reset-password": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; 
/** A user's id or name. */
readonly user: string | number | boolean; }; readonly body?: { readonly password?: string | undefined; }; }; readonly answer: { readonly user: { readonly id: string; readonly username: string; readonly email: string | null; readonly tenant_id: string; readonly company_id: string; readonly roles: readonly (string)[]; readonly is_active: boolean; readonly is_verified: boolean; readonly mfa_enabled: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly last_login: string | null; }; readonly password?: string | undefined; } };
/** Delete a user with its API keys. */
"DELETE /admin/tenants/{tenant}/users/{user}": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; 
/** A user's id or name. */
readonly user: string | number | boolean; }; }; readonly answer: undefined };
/** What all users and keys of the tenant together may use in a day, and have used today. */
"GET /admin/budget": { readonly sent: Nothing; readonly answer: { 
/** Rows of results. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models read and write. */
readonly tokens_per_day?: number | undefined; 
/** Counted while the tenant has a limit. */
readonly used_today: { readonly rows: number; readonly bytes: number; readonly tokens: number; }; } };
/** Set what all users and keys of the tenant together may use in a day of UTC. What is left out is unbounded. */
"PUT /admin/budget": { readonly sent: { readonly body: { 
/** Rows of results. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models read and write. */
readonly tokens_per_day?: number | undefined; }; }; readonly answer: { 
/** Rows of results. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models read and write. */
readonly tokens_per_day?: number | undefined; 
/** Counted while the tenant has a limit. */
readonly used_today: { readonly rows: number; readonly bytes: number; readonly tokens: number; }; } };
/** What all users and keys of that tenant together may use in a day, and have used today. */
"GET /admin/tenants/{tenant}/budget": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { 
/** Rows of results. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models read and write. */
readonly tokens_per_day?: number | undefined; 
/** Counted while the tenant has a limit. */
readonly used_today: { readonly rows: number; readonly bytes: number; readonly tokens: number; }; } };
/** Set what all users and keys of that tenant together may use in a day of UTC. What is left out is unbounded. Its own administrators can change it, too. */
"PUT /admin/tenants/{tenant}/budget": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly body: { 
/** Rows of results. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models read and write. */
readonly tokens_per_day?: number | undefined; }; }; readonly answer: { 
/** Rows of results. */
readonly rows_per_day?: number | undefined; 
/** Bytes of answers. */
readonly bytes_per_day?: number | undefined; 
/** Tokens that models read and write. */
readonly tokens_per_day?: number | undefined; 
/** Counted while the tenant has a limit. */
readonly used_today: { readonly rows: number; readonly bytes: number; readonly tokens: number; }; } };
/** Back up the tenant while it stays available: everything, or with `incremental` what was committed since the last backup. An incremental backup becomes a full one if the commit log does not reach back far enough. */
"POST /v1/backups": { readonly sent: { readonly body?: { readonly incremental?: boolean | undefined; readonly passphrase?: string | undefined; 
/** For SHOW BACKUPS and RESTORE: letters, digits, dots, dashes and underscores; no path. */
readonly name?: string | undefined; }; }; readonly answer: { readonly id: string; readonly name: string | null; readonly status: "running" | "verifying" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly base: string | null; readonly encrypted: boolean; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly holds_until: string | null; readonly digest: string | null; readonly schedule: string | null; readonly verified_at: string | null; 
/** It was made for another tenant, or in another installation. */
readonly imported: boolean; readonly note: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** The tenant's backups, newest first. */
"GET /v1/backups": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly backups: readonly ({ readonly id: string; readonly name: string | null; readonly status: "running" | "verifying" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly base: string | null; readonly encrypted: boolean; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly holds_until: string | null; readonly digest: string | null; readonly schedule: string | null; readonly verified_at: string | null; 
/** It was made for another tenant, or in another installation. */
readonly imported: boolean; readonly note: string | null; readonly error: { readonly code: string; readonly message: string; } | null; })[]; readonly total: number; 
/** The tenant is being restored. It soon does not answer until the end. */
readonly restoring: boolean; } };
/** One backup. */
"GET /v1/backups/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly name: string | null; readonly status: "running" | "verifying" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly base: string | null; readonly encrypted: boolean; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly holds_until: string | null; readonly digest: string | null; readonly schedule: string | null; readonly verified_at: string | null; 
/** It was made for another tenant, or in another installation. */
readonly imported: boolean; readonly note: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** Delete a backup that no other backup continues. A running backup is cancelled. */
"DELETE /v1/backups/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Verify a backup and those that it continues by reading all of them. */
"POST /v1/backups/{id}/verify": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: { readonly passphrase?: string | undefined; }; }; readonly answer: { readonly files: number; readonly entries: number; readonly bytes: number; } };
/** Replace the tenant's content with a backup. The tenant is unavailable meanwhile. Administrators of the system tenant may restore another tenant's backup (`from`). */
"POST /admin/tenants/{tenant}/restore": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly body: { 
/** Default: the newest backup that leads to that moment. */
readonly backup?: string | undefined; 
/** The tenant that the backup belongs to. Default: this tenant. */
readonly from?: string | undefined; readonly passphrase?: string | undefined; 
/** The moment to restore: later commits are left out. It may be as late as now, if backups and the commit log reach that far. */
readonly until?: string | undefined; 
/** Allows a tenant with content, which is removed. */
readonly replace?: boolean | undefined; }; }; readonly answer: { readonly tenant: string; readonly backup: string; readonly state: "checking" | "restoring" | "verifying" | "completed" | "failed"; readonly entries: number; readonly verified: boolean | null; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** The progress or outcome of the tenant's newest restore. */
"GET /admin/tenants/{tenant}/restore": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; }; readonly answer: { readonly tenant: string; readonly backup: string; readonly state: "checking" | "restoring" | "verifying" | "completed" | "failed"; readonly entries: number; readonly verified: boolean | null; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** Import a file of backups.download as backups of the tenant, so that they can be restored. The whole file is checked first; encrypted backups too, with X-Backup-Passphrase (URL-encoded). */
"POST /admin/tenants/{tenant}/backups": { readonly sent: { readonly params: { readonly tenant: string | number | boolean; }; readonly content: Blob | string; readonly contentType: string; }; readonly answer: { readonly id: string; readonly name: string | null; readonly status: "running" | "verifying" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly base: string | null; readonly encrypted: boolean; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly holds_until: string | null; readonly digest: string | null; readonly schedule: string | null; readonly verified_at: string | null; 
/** It was made for another tenant, or in another installation. */
readonly imported: boolean; readonly note: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** Back up the tenant on a schedule, or with `installation` everything (for administrators of the system tenant). Each backup is verified. A failed backup is tried again. */
"POST /v1/backup-schedules": { readonly sent: { readonly body: { 
/** Five fields, or six with seconds first. */
readonly cron: string; 
/** An IANA name. Default: UTC. */
readonly timezone?: string | undefined; 
/** Every how many backups one is full. Default: 1. The others are incremental. */
readonly full_every?: number | undefined; 
/** How many stay. */
readonly keep?: number | undefined; 
/** How long backups are kept. */
readonly keep_days?: number | undefined; readonly passphrase?: string | undefined; readonly enabled?: boolean | undefined; readonly installation?: boolean | undefined; }; }; readonly answer: { readonly id: string; 
/** True: it backs up the whole installation. */
readonly installation: boolean; readonly cron: string; readonly timezone: string; readonly full_every: number; readonly keep: number | null; readonly keep_days: number | null; readonly encrypted: boolean; readonly enabled: boolean; readonly running: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly next_at: string | null; readonly retry_at: string | null; readonly last: { 
/** RFC 3339, UTC. */
readonly due_at: string; 
/** RFC 3339, UTC. */
readonly finished_at: string; readonly backup: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } | null; readonly last_success_at: string | null; readonly completed: number; readonly failures: number; } };
/** The tenant's schedules. Administrators of the system tenant also see the installation's. */
"GET /v1/backup-schedules": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly schedules: readonly ({ readonly id: string; 
/** True: it backs up the whole installation. */
readonly installation: boolean; readonly cron: string; readonly timezone: string; readonly full_every: number; readonly keep: number | null; readonly keep_days: number | null; readonly encrypted: boolean; readonly enabled: boolean; readonly running: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly next_at: string | null; readonly retry_at: string | null; readonly last: { 
/** RFC 3339, UTC. */
readonly due_at: string; 
/** RFC 3339, UTC. */
readonly finished_at: string; readonly backup: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } | null; readonly last_success_at: string | null; readonly completed: number; readonly failures: number; })[]; readonly total: number; } };
/** One schedule with its last result and its next time. */
"GET /v1/backup-schedules/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; 
/** True: it backs up the whole installation. */
readonly installation: boolean; readonly cron: string; readonly timezone: string; readonly full_every: number; readonly keep: number | null; readonly keep_days: number | null; readonly encrypted: boolean; readonly enabled: boolean; readonly running: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly next_at: string | null; readonly retry_at: string | null; readonly last: { 
/** RFC 3339, UTC. */
readonly due_at: string; 
/** RFC 3339, UTC. */
readonly finished_at: string; readonly backup: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } | null; readonly last_success_at: string | null; readonly completed: number; readonly failures: number; } };
/** Disable a schedule, or enable it again. */
"PATCH /v1/backup-schedules/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body: { readonly enabled: boolean; }; }; readonly answer: { readonly id: string; 
/** True: it backs up the whole installation. */
readonly installation: boolean; readonly cron: string; readonly timezone: string; readonly full_every: number; readonly keep: number | null; readonly keep_days: number | null; readonly encrypted: boolean; readonly enabled: boolean; readonly running: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly next_at: string | null; readonly retry_at: string | null; readonly last: { 
/** RFC 3339, UTC. */
readonly due_at: string; 
/** RFC 3339, UTC. */
readonly finished_at: string; readonly backup: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } | null; readonly last_success_at: string | null; readonly completed: number; readonly failures: number; } };
/** Delete a schedule. Its backups stay. */
"DELETE /v1/backup-schedules/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Run the schedule now. */
"POST /v1/backup-schedules/{id}/run": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: Record<string, never>; }; readonly answer: { readonly id: string; 
/** True: it backs up the whole installation. */
readonly installation: boolean; readonly cron: string; readonly timezone: string; readonly full_every: number; readonly keep: number | null; readonly keep_days: number | null; readonly encrypted: boolean; readonly enabled: boolean; readonly running: boolean; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly next_at: string | null; readonly retry_at: string | null; readonly last: { 
/** RFC 3339, UTC. */
readonly due_at: string; 
/** RFC 3339, UTC. */
readonly finished_at: string; readonly backup: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } | null; readonly last_success_at: string | null; readonly completed: number; readonly failures: number; } };
/** Back up the whole installation: tenants, users, API keys, schedules, and the content of every tenant. Each tenant's content is consistent by itself. */
"POST /admin/backups": { readonly sent: { readonly body?: { readonly incremental?: boolean | undefined; readonly passphrase?: string | undefined; }; }; readonly answer: { readonly id: string; readonly status: "running" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly encrypted: boolean; readonly tenants_total: number; readonly tenants_done: number; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly schedule: string | null; readonly verified_at: string | null; readonly tenants: readonly ({ readonly tenant: string; 
/** The moment of the schedule's last successful backup. */
readonly holds_until: string; readonly bytes: number; })[]; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** Backups of the whole installation, newest first. */
"GET /admin/backups": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly backups: readonly ({ readonly id: string; readonly status: "running" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly encrypted: boolean; readonly tenants_total: number; readonly tenants_done: number; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly schedule: string | null; readonly verified_at: string | null; readonly tenants: readonly ({ readonly tenant: string; 
/** The moment of the schedule's last successful backup. */
readonly holds_until: string; readonly bytes: number; })[]; readonly error: { readonly code: string; readonly message: string; } | null; })[]; readonly total: number; } };
/** One backup of the whole installation, or its progress. */
"GET /admin/backups/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly status: "running" | "completed" | "failed"; readonly kind: "full" | "incremental"; readonly encrypted: boolean; readonly tenants_total: number; readonly tenants_done: number; readonly entries: number; readonly bytes: number; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly schedule: string | null; readonly verified_at: string | null; readonly tenants: readonly ({ readonly tenant: string; 
/** The moment of the schedule's last successful backup. */
readonly holds_until: string; readonly bytes: number; })[]; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** Delete a backup of the whole installation that no other backup continues. A running backup is cancelled. */
"DELETE /admin/backups/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Verify a backup of the whole installation and those that it continues by reading all of them. */
"POST /admin/backups/{id}/verify": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: { readonly passphrase?: string | undefined; }; }; readonly answer: { readonly files: number; readonly entries: number; readonly bytes: number; } };
/** Restore the backup of an installation into this one, accounts included. This installation must be empty, unless tenants are named. */
"POST /admin/backups/{id}/restore": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: { readonly passphrase?: string | undefined; 
/** New tenants come with their users and keys. For existing tenants, only the content is replaced. */
readonly tenants?: readonly (string)[] | undefined; 
/** Existing tenants lose their content. */
readonly replace?: boolean | undefined; }; }; readonly answer: { readonly backup: string; readonly state: "checking" | "restoring" | "completed" | "failed"; readonly tenants_total: number; readonly tenants_done: number; readonly entries: number; readonly tenants: readonly ({ readonly tenant: string; readonly verified: boolean | null; })[]; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** The progress or outcome of its restore. */
"GET /admin/backups/{id}/restore": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly backup: string; readonly state: "checking" | "restoring" | "completed" | "failed"; readonly tenants_total: number; readonly tenants_done: number; readonly entries: number; readonly tenants: readonly ({ readonly tenant: string; readonly verified: boolean | null; })[]; 
/** RFC 3339, UTC. */
readonly started_at: string; readonly finished_at: string | null; readonly error: { readonly code: string; readonly message: string; } | null; } };
/** Get a ticket that opens one WebSocket or one event stream. It can be used once, within 60 seconds unless configured otherwise. */
"POST /v1/ws/ticket": { readonly sent: Nothing; readonly answer: { readonly token: string; 
/** RFC 3339, UTC. */
readonly expires_at: string; 
/** RFC 3339, UTC. */
readonly expiresAt: string; } };
/** Revoke the caller's unused tickets. Revoking a credential also revokes its tickets. */
"DELETE /v1/ws/ticket": { readonly sent: Nothing; readonly answer: { readonly revoked: number; } };
/** Train a model on a table, collection, query or data set. The answer is a job, or with async_mode false the model. */
"POST /v1/automl/train": { readonly sent: { readonly body: { 
/** The data set's id or name. */
readonly dataset_id?: string | undefined; readonly dataset?: string | undefined; 
/** A collection or table. */
readonly collection?: string | undefined; readonly table?: string | undefined; 
/** A SELECT. */
readonly query?: string | undefined; readonly sql?: string | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** auto (the default), classification, binary_classification, multiclass_classification, regression, forecasting or clustering. */
readonly task?: string | undefined; readonly task_type?: string | undefined; readonly target?: string | undefined; readonly target_column?: string | undefined; readonly features?: readonly (string)[] | undefined; readonly time_column?: string | undefined; readonly max_trials?: number | undefined; readonly time_budget_secs?: number | undefined; 
/** Another name for `time_budget_secs`. */
readonly time_budget_seconds?: number | undefined; 
/** random_forest, xgboost, neural_network, linear; logistic_regression, gradient_boosting and other names for these. */
readonly algorithms?: readonly (string)[] | undefined; readonly metric?: string | undefined; readonly optimization_metric?: string | undefined; readonly seed?: number | undefined; readonly folds?: number | undefined; readonly horizon?: number | undefined; readonly clusters?: number | undefined; 
/** Like time_budget_secs, in minutes. */
readonly timeout_minutes?: number | undefined; readonly name?: string | undefined; readonly model_name?: string | undefined; 
/** The same options as beside it, which take precedence. Other options are reported and not used. */
readonly config?: { 
/** auto (the default), classification, binary_classification, multiclass_classification, regression, forecasting or clustering. */
readonly task?: string | undefined; readonly task_type?: string | undefined; readonly target?: string | undefined; readonly target_column?: string | undefined; readonly features?: readonly (string)[] | undefined; readonly time_column?: string | undefined; readonly max_trials?: number | undefined; readonly time_budget_secs?: number | undefined; 
/** Another name for `time_budget_secs`. */
readonly time_budget_seconds?: number | undefined; 
/** random_forest, xgboost, neural_network, linear; logistic_regression, gradient_boosting and other names for these. */
readonly algorithms?: readonly (string)[] | undefined; readonly metric?: string | undefined; readonly optimization_metric?: string | undefined; readonly seed?: number | undefined; readonly folds?: number | undefined; readonly horizon?: number | undefined; readonly clusters?: number | undefined; 
/** Like time_budget_secs, in minutes. */
readonly timeout_minutes?: number | undefined; readonly [name: string]: unknown; } | undefined; 
/** Default: true; the answer is the job. */
readonly async_mode?: boolean | undefined; 
/** Address that gets a signed POST when the training ends. */
readonly callback_url?: string | undefined; readonly webhook_url?: string | undefined; }; }; readonly answer: { readonly job_id: string; readonly id: string; readonly name: string; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; 
/** 0 to 1. */
readonly progress: number; readonly phase: string | null; readonly current_trial: number; readonly total_trials: number; readonly best_score: number | null; readonly eta_ms: number | null; readonly error: { readonly code: string; readonly message: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly started_at: string | null; readonly completed_at: string | null; readonly model_id: string | null; } | { readonly id: string; 
/** The same as `id`. */
readonly model_id: string; readonly name: string; readonly version: number; readonly task: string; 
/** The same as `task`. */
readonly task_type: string; readonly status: string; readonly algorithm: string; readonly metric: string; readonly best_score: number | null; readonly metrics: { readonly [name: string]: number; }; readonly classes: readonly (string)[] | null; readonly training_time_ms: number; readonly size_bytes: number; readonly digest: string; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly config: { readonly [name: string]: unknown; }; 
/** Left out in lists, as the fields below. */
readonly features?: readonly (unknown)[] | undefined; readonly feature_importance?: unknown | undefined; readonly card?: unknown | undefined; readonly trials?: readonly (unknown)[] | undefined; } };
/** The tenant's trainings, newest first. */
"GET /v1/automl/jobs": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly status?: string | number | boolean | undefined; }; }; readonly answer: { readonly jobs: readonly ({ readonly job_id: string; readonly id: string; readonly name: string; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; 
/** 0 to 1. */
readonly progress: number; readonly phase: string | null; readonly current_trial: number; readonly total_trials: number; readonly best_score: number | null; readonly eta_ms: number | null; readonly error: { readonly code: string; readonly message: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly started_at: string | null; readonly completed_at: string | null; readonly model_id: string | null; })[]; readonly count: number; } };
/** One training and its progress. */
"GET /v1/automl/jobs/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly job_id: string; readonly id: string; readonly name: string; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; 
/** 0 to 1. */
readonly progress: number; readonly phase: string | null; readonly current_trial: number; readonly total_trials: number; readonly best_score: number | null; readonly eta_ms: number | null; readonly error: { readonly code: string; readonly message: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly started_at: string | null; readonly completed_at: string | null; readonly model_id: string | null; } };
/** Stop a training. A finished training does not change. */
"POST /v1/automl/jobs/{id}/stop": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body?: Record<string, never>; }; readonly answer: { readonly job_id: string; readonly id: string; readonly name: string; readonly status: "pending" | "running" | "completed" | "failed" | "cancelled"; 
/** 0 to 1. */
readonly progress: number; readonly phase: string | null; readonly current_trial: number; readonly total_trials: number; readonly best_score: number | null; readonly eta_ms: number | null; readonly error: { readonly code: string; readonly message: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly started_at: string | null; readonly completed_at: string | null; readonly model_id: string | null; } };
/** Create a data set from a table, collection or query, or by uploading rows. */
"POST /v1/automl/datasets": { readonly sent: { readonly body: { readonly name: string; readonly source?: { 
/** Which of the three fields names the source. */
readonly type: "table" | "collection" | "query"; readonly table?: string | undefined; readonly collection?: string | undefined; 
/** A SELECT. Each training runs it again. */
readonly query?: string | undefined; readonly parameters?: readonly (unknown)[] | undefined; 
/** All unless said. */
readonly columns?: readonly (string)[] | undefined; } | undefined; readonly rows?: readonly ({ readonly [name: string]: unknown; })[] | undefined; readonly schema?: unknown | undefined; }; }; readonly answer: { readonly id: string; readonly name: string; readonly source: { 
/** Which of the three fields names the source. */
readonly type: "table" | "collection" | "query"; readonly table?: string | undefined; readonly collection?: string | undefined; 
/** A SELECT. Each training runs it again. */
readonly query?: string | undefined; readonly parameters?: readonly (unknown)[] | undefined; 
/** All unless said. */
readonly columns?: readonly (string)[] | undefined; } | null; readonly schema: unknown; readonly row_count: number | null; readonly size_bytes: number | null; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** The tenant's data sets, oldest first. */
"GET /v1/automl/datasets": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly datasets: readonly ({ readonly id: string; readonly name: string; readonly source: { 
/** Which of the three fields names the source. */
readonly type: "table" | "collection" | "query"; readonly table?: string | undefined; readonly collection?: string | undefined; 
/** A SELECT. Each training runs it again. */
readonly query?: string | undefined; readonly parameters?: readonly (unknown)[] | undefined; 
/** All unless said. */
readonly columns?: readonly (string)[] | undefined; } | null; readonly schema: unknown; readonly row_count: number | null; readonly size_bytes: number | null; 
/** RFC 3339, UTC. */
readonly created_at: string; })[]; 
/** Of all pages. */
readonly count: number; } };
/** A data set, by id or name. */
"GET /v1/automl/datasets/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly name: string; readonly source: { 
/** Which of the three fields names the source. */
readonly type: "table" | "collection" | "query"; readonly table?: string | undefined; readonly collection?: string | undefined; 
/** A SELECT. Each training runs it again. */
readonly query?: string | undefined; readonly parameters?: readonly (unknown)[] | undefined; 
/** All unless said. */
readonly columns?: readonly (string)[] | undefined; } | null; readonly schema: unknown; readonly row_count: number | null; readonly size_bytes: number | null; 
/** RFC 3339, UTC. */
readonly created_at: string; } };
/** Delete a data set, including uploaded rows. */
"DELETE /v1/automl/datasets/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** The tenant's models, newest first. */
"GET /v1/automl/models": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly task?: string | number | boolean | undefined; }; }; readonly answer: readonly ({ readonly id: string; 
/** The same as `id`. */
readonly model_id: string; readonly name: string; readonly version: number; readonly task: string; 
/** The same as `task`. */
readonly task_type: string; readonly status: string; readonly algorithm: string; readonly metric: string; readonly best_score: number | null; readonly metrics: { readonly [name: string]: number; }; readonly classes: readonly (string)[] | null; readonly training_time_ms: number; readonly size_bytes: number; readonly digest: string; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly config: { readonly [name: string]: unknown; }; 
/** Left out in lists, as the fields below. */
readonly features?: readonly (unknown)[] | undefined; readonly feature_importance?: unknown | undefined; readonly card?: unknown | undefined; readonly trials?: readonly (unknown)[] | undefined; })[] };
/** One model with its card, features and trials, by id, or by name for the newest version. */
"GET /v1/automl/models/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; 
/** The same as `id`. */
readonly model_id: string; readonly name: string; readonly version: number; readonly task: string; 
/** The same as `task`. */
readonly task_type: string; readonly status: string; readonly algorithm: string; readonly metric: string; readonly best_score: number | null; readonly metrics: { readonly [name: string]: number; }; readonly classes: readonly (string)[] | null; readonly training_time_ms: number; readonly size_bytes: number; readonly digest: string; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly config: { readonly [name: string]: unknown; }; 
/** Left out in lists, as the fields below. */
readonly features?: readonly (unknown)[] | undefined; readonly feature_importance?: unknown | undefined; readonly card?: unknown | undefined; readonly trials?: readonly (unknown)[] | undefined; } };
/** Delete a model by id, or all versions of a name. */
"DELETE /v1/automl/models/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Predict rows, or the next steps of a series. */
"POST /v1/automl/models/{id}/predict": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body: { readonly rows?: readonly ({ readonly [name: string]: unknown; })[] | { readonly [name: string]: unknown; } | undefined; readonly inputs?: readonly ({ readonly [name: string]: unknown; })[] | { readonly [name: string]: unknown; } | undefined; readonly features?: readonly ({ readonly [name: string]: unknown; })[] | { readonly [name: string]: unknown; } | undefined; 
/** Adds the calibrated probability of each class. Default: false. */
readonly probabilities?: boolean | undefined; 
/** Adds the contribution of each feature. Default: false. */
readonly explain?: boolean | undefined; readonly steps?: number | undefined; }; }; readonly answer: { readonly predictions: readonly (string | number | boolean)[]; readonly model_id: string; 
/** The model's name. */
readonly model: string; readonly version: number; readonly task: string; readonly probabilities?: readonly ({ readonly [name: string]: number; })[] | undefined; readonly explanations?: readonly (unknown)[] | undefined; readonly explanation_method?: string | null | undefined; readonly forecast?: readonly (unknown)[] | undefined; 
/** The share of steps between `lower` and `upper`. */
readonly coverage?: number | undefined; } };
/** Compute a model's metrics on rows, a table, collection, query or data set with known targets. */
"POST /v1/automl/models/{id}/evaluate": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; readonly body: { 
/** The data set's id or name. */
readonly dataset_id?: string | undefined; readonly dataset?: string | undefined; 
/** A collection or table. */
readonly collection?: string | undefined; readonly table?: string | undefined; 
/** A SELECT. */
readonly query?: string | undefined; readonly sql?: string | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; readonly rows?: readonly ({ readonly [name: string]: unknown; })[] | undefined; }; }; readonly answer: { readonly metrics: { readonly [name: string]: number; }; readonly rows: number; readonly model_id: string; } };
/** The secret that signs posts to callback_url. */
"GET /v1/automl/webhook-secret": { readonly sent: Nothing; readonly answer: { readonly secret: string; readonly header: string; } };
/** The models that the caller can name: embeddings, chat models, collections and agents. */
"GET /v1/models": { readonly sent: Nothing; readonly answer: { readonly object: "list"; readonly data: readonly ({ readonly id: string; readonly object: "model"; 
/** Seconds since 1970; 0 where it is not known. */
readonly created: number; 
/** The provider, or tessera. */
readonly owned_by: string; readonly kind: "embedding" | "generation" | "collection" | "agent"; })[]; } };
/** One of them. */
"GET /v1/models/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly object: "model"; 
/** Seconds since 1970; 0 where it is not known. */
readonly created: number; 
/** The provider, or tessera. */
readonly owned_by: string; readonly kind: "embedding" | "generation" | "collection" | "agent"; } };
/** Embed a text or several, as numbers or as base64 of little-endian 32-bit floats. */
"POST /v1/embeddings": { readonly sent: { readonly body: { readonly model: string; 
/** A text or a list of texts. Lists of tokens are refused: models here have other tokens. */
readonly input: string | readonly (string)[] | readonly (number)[] | readonly (readonly (number)[])[]; readonly encoding_format?: "float" | "base64" | undefined; 
/** The vector's first so many dimensions, at length 1 again. At most those of the model. */
readonly dimensions?: number | undefined; }; }; readonly answer: { readonly object: "list"; readonly data: readonly ({ readonly object: "embedding"; readonly index: number; readonly embedding: readonly (number)[] | string; })[]; readonly model: string; readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number; }; } };
/** The next message of a chat, whole or as a stream of `data:` chunks that ends with `data: [DONE]`. Nothing is stored. */
"POST /v1/chat/completions": { readonly sent: { readonly body: { 
/** A model of GET /v1/models: `collection:NAME` answers from that collection's passages, `agent:NAME` runs that agent. */
readonly model: string; readonly messages: readonly ({ readonly role: "system" | "developer" | "user" | "assistant" | "tool"; readonly content?: string | readonly ({ readonly type: "text" | "image_url" | "refusal"; readonly text?: string | undefined; readonly refusal?: string | undefined; readonly image_url?: { 
/** A data: URL with base64 of a PNG, JPEG, WebP or GIF. */
readonly url: string; 
/** Not used. */
readonly detail?: string | undefined; } | undefined; })[] | null | undefined; readonly tool_calls?: readonly ({ readonly id: string; readonly type: "function"; readonly function: { readonly name: string; readonly arguments: string; }; readonly index?: number | undefined; })[] | null | undefined; readonly tool_call_id?: string | undefined; })[]; readonly temperature?: number | undefined; readonly top_p?: number | undefined; readonly stream?: boolean | undefined; readonly parallel_tool_calls?: boolean | undefined; readonly tools?: readonly ({ readonly type: "function"; readonly function: { readonly name: string; readonly description?: string | null | undefined; readonly parameters?: { readonly [name: string]: unknown; } | null | undefined; readonly strict?: boolean | null | undefined; }; })[] | undefined; readonly tool_choice?: "none" | "auto" | "required" | { readonly type: "function"; readonly function: { readonly name: string; }; } | undefined; readonly frequency_penalty?: number | undefined; readonly presence_penalty?: number | undefined; readonly logit_bias?: { readonly [name: string]: number; } | undefined; 
/** Only false. */
readonly logprobs?: boolean | undefined; readonly max_completion_tokens?: number | undefined; readonly max_tokens?: number | undefined; readonly modalities?: readonly ("text")[] | undefined; 
/** Only 1. */
readonly n?: number | undefined; readonly reasoning_effort?: string | undefined; readonly response_format?: { readonly type: "text" | "json_object" | "json_schema"; readonly json_schema?: { readonly name: string; readonly schema?: { readonly [name: string]: unknown; } | undefined; readonly description?: string | undefined; readonly strict?: boolean | null | undefined; } | undefined; } | undefined; readonly seed?: number | undefined; readonly stop?: string | readonly (string)[] | undefined; readonly stream_options?: { readonly include_usage?: boolean | undefined; } | undefined; }; }; readonly answer: { readonly id: string; readonly object: "chat.completion"; readonly created: number; readonly model: string; readonly choices: readonly ({ readonly index: number; readonly message: { readonly role: "assistant"; readonly content: string | null; readonly refusal: string | null; readonly tool_calls?: readonly ({ readonly [name: string]: unknown; })[] | undefined; 
/** The passages that a collection's answer rests on. */
readonly citations?: readonly ({ readonly [name: string]: unknown; })[] | undefined; }; readonly logprobs: null; readonly finish_reason: "stop" | "length" | "tool_calls" | "content_filter"; })[]; readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; }; } };
/** A model's response to a text or to items, whole or as a stream of events. It is kept, for previous_response_id, unless `store` is false or the key is read-only. */
"POST /v1/responses": { readonly sent: { readonly body: { 
/** A model of GET /v1/models: `collection:NAME` answers from that collection's passages, `agent:NAME` runs that agent. */
readonly model: string; readonly input: string | readonly ({ readonly [name: string]: unknown; })[]; readonly instructions?: string | undefined; readonly previous_response_id?: string | undefined; readonly store?: boolean | undefined; readonly temperature?: number | undefined; readonly top_p?: number | undefined; readonly stream?: boolean | undefined; readonly parallel_tool_calls?: boolean | undefined; 
/** Functions of the client. Hosted tools, such as web_search, are not there. */
readonly tools?: readonly ({ readonly type: "function"; readonly name: string; readonly description?: string | null | undefined; readonly parameters?: { readonly [name: string]: unknown; } | null | undefined; readonly strict?: boolean | null | undefined; })[] | undefined; readonly tool_choice?: "none" | "auto" | "required" | { readonly type: "function"; readonly name: string; } | undefined; readonly max_output_tokens?: number | undefined; readonly metadata?: { readonly [name: string]: string; } | null | undefined; readonly reasoning?: { readonly effort?: string | null | undefined; } | undefined; readonly text?: { readonly format?: { readonly type: "text" | "json_object" | "json_schema"; readonly name?: string | undefined; readonly schema?: { readonly [name: string]: unknown; } | undefined; readonly description?: string | undefined; readonly strict?: boolean | null | undefined; } | undefined; } | undefined; 
/** Only false. */
readonly background?: boolean | undefined; }; }; readonly answer: { readonly id: string; readonly object: "response"; readonly created_at: number; readonly status: "completed" | "incomplete" | "in_progress" | "failed"; readonly model: string; readonly output: readonly ({ readonly [name: string]: unknown; })[]; readonly usage: { readonly [name: string]: unknown; } | null; 
/** False: it is not kept, so nothing can follow it. */
readonly store: boolean; } };
/** A response that was kept. Each user sees their own. */
"GET /v1/responses/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly object: "response"; readonly created_at: number; readonly status: "completed" | "incomplete" | "in_progress" | "failed"; readonly model: string; readonly output: readonly ({ readonly [name: string]: unknown; })[]; readonly usage: { readonly [name: string]: unknown; } | null; 
/** False: it is not kept, so nothing can follow it. */
readonly store: boolean; } };
/** Removes a response that was kept. Those that follow it can be followed no more. */
"DELETE /v1/responses/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string; readonly object: "response"; readonly deleted: boolean; } };
/** Whether the tenant's past is kept, and the moments that `SELECT … AS OF` can read. */
"GET /v1/history": { readonly sent: Nothing; readonly answer: { readonly kept: boolean; readonly window_seconds: number | null; readonly oldest: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; } | null; readonly newest: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; } };
/** Keep the tenant's past from now on, for that long. Each write then also stores what it replaces, until the window has passed. */
"PUT /v1/history": { readonly sent: { readonly body: { readonly window_seconds: number | null; }; }; readonly answer: { readonly kept: boolean; readonly window_seconds: number | null; readonly oldest: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; } | null; readonly newest: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; } };
/** Forget the tenant's past, but for what its branches need. */
"DELETE /v1/history": { readonly sent: Nothing; readonly answer: undefined };
/** What has changed between two moments of the tenant, row by row, with both values. It takes as long as there are changes. With Accept: application/x-ndjson the answer is a stream, as that of a branch's difference. */
"GET /v1/history/diff": { readonly sent: { readonly query: { 
/** A time, or the number of a commit. */
readonly from: string | number | boolean; 
/** The same. Default: now. */
readonly to?: string | number | boolean | undefined; 
/** Only this table. */
readonly table?: string | number | boolean | undefined; 
/** `rows` has only these. `tables` counts all. */
readonly change?: "added" | "removed" | "changed" | undefined; 
/** Rows that are shown. Default: 100, at most 9,999; of a stream: all. */
readonly limit?: string | number | boolean | undefined; 
/** So many rows before them are left out. */
readonly offset?: string | number | boolean | undefined; }; }; readonly answer: { readonly tables: readonly ({ readonly table: string; 
/** A graph has two tables: of its nodes, and of its relationships. */
readonly kind: "table" | "collection" | "graph" | "vectors"; readonly added: number; readonly removed: number; readonly changed: number; 
/** So many of these rows the origin has as the branch has them, as after a merge of some tables. Only where a branch is compared with what it began with. */
readonly in_origin?: number | undefined; })[]; 
/** In the order of their keys, up to `limit`; those of tables that were made, dropped, emptied or rewritten come last. */
readonly rows: readonly ({ readonly table: string; readonly change: "added" | "removed" | "changed"; readonly before: { readonly [name: string]: unknown; } | null; readonly after: { readonly [name: string]: unknown; } | null; readonly in_origin?: boolean | undefined; })[]; 
/** Tables whose definition has been changed, made or dropped. */
readonly definitions: readonly (string)[]; 
/** False: there are more rows after those. */
readonly complete: boolean; } };
/** Make the rows of tables what they were at an earlier moment, in one transaction, with all constraints checked. Triggers do not fire. */
"POST /v1/history/undo": { readonly sent: { readonly body: { 
/** With the schema and a dot, where that is not `public`. Where a name has a dot of its own, in quotes: `"a.b"`. */
readonly table?: string | undefined; 
/** Several, in place of `table`. The two tables of a graph go together. */
readonly tables?: readonly (string)[] | undefined; 
/** A time, or the number of a commit. */
readonly as_of: string | number; 
/** A condition of SQL: only rows for which it is true, now or then. */
readonly where?: string | undefined; 
/** Nothing is written. Constraints are checked as if it were, except those that wait for the commit (`INITIALLY DEFERRED`). */
readonly dry_run?: boolean | undefined; }; }; readonly answer: { 
/** False: nothing was written, because of `dry_run`. */
readonly undone: boolean; readonly as_of: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; readonly added: number; readonly removed: number; readonly changed: number; 
/** What is written, up to 100 rows: as they are now, and as they were. */
readonly rows: readonly ({ readonly table: string; readonly change: "added" | "removed" | "changed"; readonly before: { readonly [name: string]: unknown; } | null; readonly after: { readonly [name: string]: unknown; } | null; })[]; } };
/** Fork the tenant. The branch has all that the tenant had at that moment and shares it: a fork takes no time and no room. Requests with the header X-Tessera-Branch read and write the branch. */
"POST /v1/branches": { readonly sent: { readonly body: { 
/** 1 to 63 characters of a-z, 0-9, - and _. */
readonly name: string; readonly from?: string | null | undefined; 
/** It begins with nothing but the tenant's users; without `from` and `as_of`. */
readonly empty?: boolean | undefined; 
/** A time, or the number of a commit, within what GET /v1/history shows. Default: now. */
readonly as_of?: string | number | undefined; 
/** Then it is deleted. */
readonly ttl_seconds?: number | undefined; readonly quota_bytes?: number | null | undefined; readonly users?: readonly (string)[] | null | undefined; readonly keys?: readonly (string)[] | null | undefined; 
/** `tenant`: only who may see all of the tenant, by its present roles and policies, enters the branch. `branch`: the roles and policies of the branch alone say what is seen in it. Default: tenant, or as `from` has it. */
readonly policies?: "tenant" | "branch" | undefined; }; }; readonly answer: { readonly name: string; readonly from: string | null; 
/** It began with nothing, and was forked from nothing. */
readonly empty: boolean; readonly start: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; readonly merged: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly created_by: string; readonly expires_at: string | null; 
/** Keys and values that the branch does not share. After TRUNCATE or DROP it may take a while until it falls. */
readonly held_bytes: number; readonly quota_bytes: number | null; readonly users: readonly (string)[] | null; readonly keys: readonly (string)[] | null; 
/** Whose roles and policies say what is seen in it. */
readonly policies: "tenant" | "branch"; } };
/** The tenant's branches. */
"GET /v1/branches": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; }; }; readonly answer: { readonly branches: readonly ({ readonly name: string; readonly from: string | null; 
/** It began with nothing, and was forked from nothing. */
readonly empty: boolean; readonly start: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; readonly merged: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly created_by: string; readonly expires_at: string | null; 
/** Keys and values that the branch does not share. After TRUNCATE or DROP it may take a while until it falls. */
readonly held_bytes: number; readonly quota_bytes: number | null; readonly users: readonly (string)[] | null; readonly keys: readonly (string)[] | null; 
/** Whose roles and policies say what is seen in it. */
readonly policies: "tenant" | "branch"; })[]; readonly total: number; } };
/** One branch. */
"GET /v1/branches/{name}": { readonly sent: { readonly params: { 
/** 1 to 63 characters of a-z, 0-9, - and _. */
readonly name: string | number | boolean; }; }; readonly answer: { readonly name: string; readonly from: string | null; 
/** It began with nothing, and was forked from nothing. */
readonly empty: boolean; readonly start: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; readonly merged: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly created_by: string; readonly expires_at: string | null; 
/** Keys and values that the branch does not share. After TRUNCATE or DROP it may take a while until it falls. */
readonly held_bytes: number; readonly quota_bytes: number | null; readonly users: readonly (string)[] | null; readonly keys: readonly (string)[] | null; 
/** Whose roles and policies say what is seen in it. */
readonly policies: "tenant" | "branch"; } };
/** Give a branch another quota, another time at which it is deleted, or say anew who may enter it. */
"PATCH /v1/branches/{name}": { readonly sent: { readonly params: { 
/** 1 to 63 characters of a-z, 0-9, - and _. */
readonly name: string | number | boolean; }; readonly body: { readonly ttl_seconds?: number | null | undefined; readonly quota_bytes?: number | null | undefined; readonly users?: readonly (string)[] | null | undefined; readonly keys?: readonly (string)[] | null | undefined; 
/** `tenant`: only who may see all of the tenant, by its present roles and policies, enters the branch. `branch`: the roles and policies of the branch alone say what is seen in it. Default: tenant, or as `from` has it. */
readonly policies?: "tenant" | "branch" | undefined; }; }; readonly answer: { readonly name: string; readonly from: string | null; 
/** It began with nothing, and was forked from nothing. */
readonly empty: boolean; readonly start: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; }; readonly merged: { 
/** The number of a commit: AS OF SEQUENCE. */
readonly sequence: number; 
/** RFC 3339, UTC. */
readonly at: string; } | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly created_by: string; readonly expires_at: string | null; 
/** Keys and values that the branch does not share. After TRUNCATE or DROP it may take a while until it falls. */
readonly held_bytes: number; readonly quota_bytes: number | null; readonly users: readonly (string)[] | null; readonly keys: readonly (string)[] | null; 
/** Whose roles and policies say what is seen in it. */
readonly policies: "tenant" | "branch"; } };
/** Delete a branch and all that it does not share. A branch from which others were forked cannot be deleted. */
"DELETE /v1/branches/{name}": { readonly sent: { readonly params: { 
/** 1 to 63 characters of a-z, 0-9, - and _. */
readonly name: string | number | boolean; }; }; readonly answer: undefined };
/** What the branch has changed since it was forked, or has otherwise than another one, row by row, with both values. It takes as long as there are changes. With Accept: application/x-ndjson the answer is a stream of all rows, one a line; the last line has the rest of the answer, or the error. */
"GET /v1/branches/{name}/diff": { readonly sent: { readonly params: { 
/** 1 to 63 characters of a-z, 0-9, - and _. */
readonly name: string | number | boolean; }; readonly query?: { 
/** Compare with this branch as it is, in place of what the branch began with. Empty: with the tenant itself. */
readonly against?: string | number | boolean | undefined; 
/** Only this table. */
readonly table?: string | number | boolean | undefined; 
/** `rows` has only these. `tables` counts all. */
readonly change?: "added" | "removed" | "changed" | undefined; 
/** Rows that are shown. Default: 100, at most 9,999; of a stream: all. */
readonly limit?: string | number | boolean | undefined; 
/** So many rows before them are left out. */
readonly offset?: string | number | boolean | undefined; }; }; readonly answer: { readonly tables: readonly ({ readonly table: string; 
/** A graph has two tables: of its nodes, and of its relationships. */
readonly kind: "table" | "collection" | "graph" | "vectors"; readonly added: number; readonly removed: number; readonly changed: number; 
/** So many of these rows the origin has as the branch has them, as after a merge of some tables. Only where a branch is compared with what it began with. */
readonly in_origin?: number | undefined; })[]; 
/** In the order of their keys, up to `limit`; those of tables that were made, dropped, emptied or rewritten come last. */
readonly rows: readonly ({ readonly table: string; readonly change: "added" | "removed" | "changed"; readonly before: { readonly [name: string]: unknown; } | null; readonly after: { readonly [name: string]: unknown; } | null; readonly in_origin?: boolean | undefined; })[]; 
/** Tables whose definition has been changed, made or dropped. */
readonly definitions: readonly (string)[]; 
/** False: there are more rows after those. */
readonly complete: boolean; } };
/** Write the branch's changes into its origin, in one transaction, with all constraints checked. Rows that both have changed since the fork are conflicts: they are refused, or one side counts. */
"POST /v1/branches/{name}/merge": { readonly sent: { readonly params: { 
/** 1 to 63 characters of a-z, 0-9, - and _. */
readonly name: string | number | boolean; }; readonly body?: { 
/** Default: refuse. */
readonly conflicts?: "refuse" | "ours" | "theirs" | undefined; readonly resolve?: { 
/** A query over the table `conflict` (`number` integer; `table_name` text; `base`, `ours`, `theirs` jsonb). It gives two columns: `number`, and the row as jsonb with all columns, or NULL for no row. Conflicts that it leaves out are as `conflicts` says. */
readonly sql: string; } | undefined; 
/** Nothing is written. */
readonly dry_run?: boolean | undefined; 
/** Only the rows of these tables, whose definitions must be those of the fork. Default: everything. */
readonly tables?: readonly (string)[] | undefined; }; }; readonly answer: { 
/** False: nothing was written, because of the conflicts or of `dry_run`. */
readonly merged: boolean; readonly added: number; readonly removed: number; readonly changed: number; 
/** Conflicts of which the statement of `resolve` has said what the row is to be. */
readonly resolved: number; 
/** Rows that both have changed since the fork: the first ones. Ours is the origin's, theirs the branch's. */
readonly conflicts: readonly ({ readonly table: string; readonly base: { readonly [name: string]: unknown; } | null; readonly ours: { readonly [name: string]: unknown; } | null; readonly theirs: { readonly [name: string]: unknown; } | null; })[]; readonly conflicts_total: number; } };
/** Measure the searches of a collection on questions whose relevant documents are known. */
"POST /v1/evaluations/retrieval": { readonly sent: { readonly body: { 
/** To find it again in the history. */
readonly name?: string | undefined; 
/** False: it is not put into the history. */
readonly keep?: boolean | undefined; readonly collection: string; readonly pairs?: readonly ({ readonly query: string; 
/** Ids, or an object of grades by id: the higher, the more relevant. */
readonly relevant: readonly (string)[] | { readonly [name: string]: number; }; })[] | undefined; 
/** A table, view or collection with columns query and document_id, and perhaps grade, instead of `pairs`. */
readonly pairs_from?: string | undefined; 
/** Default: each mode that the collection can be searched in. */
readonly settings?: readonly ({ 
/** Default: the mode. */
readonly name?: string | undefined; readonly mode: "text" | "vector" | "hybrid"; readonly filter?: { readonly [name: string]: unknown; } | undefined; readonly filters?: { readonly [name: string]: unknown; } | undefined; readonly min_score?: number | undefined; readonly vector_field?: string | undefined; })[] | undefined; readonly k?: number | undefined; }; }; readonly answer: { readonly id: string | null; readonly kind: "retrieval" | "answers" | "models"; readonly name: string | null; readonly about: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly result: { readonly k: number; readonly questions: number; 
/** Relevant documents that the collection does not have. */
readonly missing_documents: number; readonly settings: readonly ({ readonly name: string; readonly mode: "text" | "vector" | "hybrid"; readonly filter?: { readonly [name: string]: unknown; } | undefined; readonly filters?: { readonly [name: string]: unknown; } | undefined; readonly min_score?: number | undefined; readonly vector_field?: string | undefined; 
/** recall@1, recall@5, recall@k, precision@k, ndcg@k, mrr, no_hit: means over the questions. */
readonly metrics: { readonly [name: string]: { readonly value: number; readonly low: number; readonly high: number; }; }; 
/** Milliseconds of one search. */
readonly ms: { 
/** With its interval of 95 %, from `low` to `high`. */
readonly p50: { readonly value: number; readonly low: number; readonly high: number; }; 
/** With its interval of 95 %, from `low` to `high`. */
readonly p95: { readonly value: number; readonly low: number; readonly high: number; }; }; 
/** The questions with the lowest nDCG. */
readonly worst: readonly ({ readonly query: string; readonly ndcg: number; readonly found: readonly (string)[]; readonly missed: readonly (string)[]; })[]; })[]; readonly comparisons: readonly ({ 
/** A setting. */
readonly first: string; 
/** Another setting. */
readonly second: string; readonly metric: string; 
/** The first mean less the second, with its interval of 95 %. */
readonly value: number; readonly low: number; readonly high: number; 
/** Which is better, or that no difference can be told. */
readonly verdict: string; })[]; }; } };
/** Judge whether passages support answers, sentence by sentence. With a collection, the answers are those that a chat quotes from it. */
"POST /v1/evaluations/answers": { readonly sent: { readonly body: { 
/** To find it again in the history. */
readonly name?: string | undefined; 
/** False: it is not put into the history. */
readonly keep?: boolean | undefined; readonly items?: readonly ({ readonly question?: string | undefined; readonly answer: string; readonly passages: readonly (string)[]; })[] | undefined; 
/** A table with columns answer and passages (a list of texts), and perhaps question. */
readonly items_from?: string | undefined; readonly collection?: string | undefined; readonly questions?: readonly (string)[] | undefined; 
/** A table with a column question, instead of `questions`. */
readonly questions_from?: string | undefined; 
/** A claim model. */
readonly model?: string | undefined; 
/** Score of a support. */
readonly threshold?: number | undefined; }; }; readonly answer: { readonly id: string | null; readonly kind: "retrieval" | "answers" | "models"; readonly name: string | null; readonly about: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly result: { 
/** Answers that were judged. */
readonly answers: number; 
/** Questions that the collection's passages do not answer. */
readonly does_not_say: number; readonly sentences: number; 
/** faithfulness, contradicted, citation_precision, citation_recall: means over the answers. Null: no answer has any. */
readonly metrics: { readonly [name: string]: { readonly value: number; readonly low: number; readonly high: number; } | null; }; readonly unsupported: readonly ({ 
/** The answer's number, from 0. */
readonly item: number; readonly question: string | null; readonly sentence: string; readonly state: "unsupported" | "contradicted"; 
/** The best of all passages. */
readonly entailment: number; readonly contradiction: number; readonly passage: string | null; })[]; readonly model: string | null; }; } };
/** Measure a trained model on rows with known targets: metrics, calibration, and drift against a reference. */
"POST /v1/evaluations/models": { readonly sent: { readonly body: { 
/** To find it again in the history. */
readonly name?: string | undefined; 
/** False: it is not put into the history. */
readonly keep?: boolean | undefined; 
/** Its id, or its name for the newest version. */
readonly model: string; 
/** The data set's id or name. */
readonly dataset_id?: string | undefined; readonly dataset?: string | undefined; 
/** A collection or table. */
readonly collection?: string | undefined; readonly table?: string | undefined; 
/** A SELECT. */
readonly query?: string | undefined; readonly sql?: string | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; readonly rows?: readonly ({ readonly [name: string]: unknown; })[] | undefined; readonly reference?: { 
/** The data set's id or name. */
readonly dataset_id?: string | undefined; readonly dataset?: string | undefined; 
/** A collection or table. */
readonly collection?: string | undefined; readonly table?: string | undefined; 
/** A SELECT. */
readonly query?: string | undefined; readonly sql?: string | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly parameters?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; 
/** For SQL, the values of $1, $2, … in order. For Cypher, an object with a value per $name. The server binds them; it never puts them into the text. */
readonly params?: readonly (unknown)[] | { readonly [name: string]: unknown; } | undefined; readonly rows?: readonly ({ readonly [name: string]: unknown; })[] | undefined; } | undefined; }; }; readonly answer: { readonly id: string | null; readonly kind: "retrieval" | "answers" | "models"; readonly name: string | null; readonly about: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly result: { readonly model_id: string; readonly version: number; readonly task: string; readonly rows: number; readonly metrics: { readonly [name: string]: number; }; readonly calibration: { 
/** Expected calibration error over ten bins. */
readonly expected_error: number; readonly brier: number; readonly rows: number; readonly bins: readonly ({ readonly from: number; readonly to: number; readonly rows: number; readonly probability: number; readonly frequency: number; })[]; } | null; readonly drift: { readonly reference_rows: number; 
/** Those that moved most first. */
readonly features: readonly ({ readonly feature: string; 
/** Of a text that is embedded its length is compared. */
readonly kind: string; 
/** Population stability index: stable below 0.1, some up to 0.25, much above. */
readonly psi: number; 
/** The mean of PSI for so many rows when nothing has moved. */
readonly psi_by_chance: number; readonly verdict: "stable" | "some" | "much"; 
/** Of numbers: the distance of Kolmogorov and Smirnov. */
readonly ks?: number | undefined; readonly ks_p_value?: number | undefined; readonly missing: number; readonly reference_missing: number; })[]; readonly predictions: { readonly feature: string; 
/** Of a text that is embedded its length is compared. */
readonly kind: string; 
/** Population stability index: stable below 0.1, some up to 0.25, much above. */
readonly psi: number; 
/** The mean of PSI for so many rows when nothing has moved. */
readonly psi_by_chance: number; readonly verdict: "stable" | "some" | "much"; 
/** Of numbers: the distance of Kolmogorov and Smirnov. */
readonly ks?: number | undefined; readonly ks_p_value?: number | undefined; readonly missing: number; readonly reference_missing: number; } | null; readonly verdict: string; } | null; }; } };
/** The caller's evaluations, newest first. */
"GET /v1/evaluations": { readonly sent: { readonly query?: { readonly limit?: string | number | boolean | undefined; readonly offset?: string | number | boolean | undefined; 
/** Page number from 1, instead of `offset`. */
readonly page?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly pageSize?: string | number | boolean | undefined; 
/** Another name for `limit`. */
readonly page_size?: string | number | boolean | undefined; readonly kind?: "retrieval" | "answers" | "models" | undefined; readonly name?: string | number | boolean | undefined; }; }; readonly answer: { readonly evaluations: readonly ({ readonly id: string; readonly kind: string; readonly name: string | null; readonly about: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; 
/** Questions, answers or rows. */
readonly questions: number; })[]; readonly total: number; } };
/** One evaluation. */
"GET /v1/evaluations/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: { readonly id: string | null; readonly kind: "retrieval" | "answers" | "models"; readonly name: string | null; readonly about: string | null; 
/** RFC 3339, UTC. */
readonly created_at: string; readonly result: { readonly [name: string]: unknown; }; } };
/** Removes an evaluation. */
"DELETE /v1/evaluations/{id}": { readonly sent: { readonly params: { readonly id: string | number | boolean; }; }; readonly answer: undefined };
/** Compare two evaluations of a kind on the questions that both have, question by question. */
"GET /v1/evaluations/{id}/compare/{other}": { readonly sent: { readonly params: { readonly id: string | number | boolean; readonly other: string | number | boolean; }; }; readonly answer: { readonly first: string; readonly second: string; readonly kind: string; 
/** Those that both have. */
readonly questions: number; readonly comparisons: readonly ({ 
/** A setting of the first. */
readonly first: string; 
/** A setting of the second. */
readonly second: string; readonly metric: string; 
/** The first mean less the second, with its interval of 95 %. */
readonly value: number; readonly low: number; readonly high: number; 
/** Which is better, or that no difference can be told. */
readonly verdict: string; })[]; } };
}

/** Settings that nobody changes from a session: what is so here. */
export const FIXED_SETTINGS: Readonly<Record<string, string>> = {
  autovacuum: "on",
  // Numbers of transactions have 64 bits and never run out.
  autovacuum_freeze_max_age: "2000000000",
  // Statistics are renewed for one table at a time.
  autovacuum_max_workers: "1",
  block_size: "8192",
  data_checksums: "on",
  fsync: "on",
  in_hot_standby: "off",
  integer_datetimes: "on",
  lc_collate: "C",
  lc_ctype: "C",
  max_function_args: "100",
  max_index_keys: "32",
  // There are no other processes, and no replication of PostgreSQL's kind.
  max_logical_replication_workers: "0",
  // PREPARE TRANSACTION is refused.
  max_prepared_transactions: "0",
  max_replication_slots: "0",
  max_wal_senders: "0",
  max_worker_processes: "0",
  server_encoding: "UTF8",
  server_version: "15.0",
  server_version_num: "150000",
  wal_level: "replica",
};

/** What only the server's operator may know: the tenants' users are told what PostgreSQL tells all but superusers. */
export const OPERATORS_SETTINGS: ReadonlySet<string> = new Set([
  "config_file",
  "data_directory",
  "external_pid_file",
  "hba_file",
  "ident_file",
  "log_directory",
  "log_filename",
  "shared_preload_libraries",
  "unix_socket_directories",
]);

/* A program that knows nothing of filters, written against RocksDB's C API: what the preload object
 * is for.
 *
 *   unaware_program <mode> <path>
 *
 * Modes "write...", "ingest" and "bloom" make the database and look up absent keys; "read..." only
 * look up. Prints how many lookups a filter answered and how big the filters are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rocksdb/c.h"

enum { kKeys = 4000 };

static void Check(const char* what, char* error) {
  if (error != NULL) {
    fprintf(stderr, "%s: %s\n", what, error);
    exit(1);
  }
}

static size_t MakeKey(int i, int absent, char* key) {
  return (size_t)sprintf(key, "key%06d%s", i, absent ? "+" : "");
}

static void Write(rocksdb_t* db, rocksdb_column_family_handle_t* family) {
  char* error = NULL;
  char key[32];
  rocksdb_writeoptions_t* options = rocksdb_writeoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  for (int i = 0; i < kKeys; ++i) {
    size_t size = MakeKey(i, 0, key);
    if (family != NULL) {
      rocksdb_put_cf(db, options, family, key, size, key, size, &error);
    } else {
      rocksdb_put(db, options, key, size, key, size, &error);
    }
    Check("put", error);
  }
  if (family != NULL) {
    rocksdb_flush_cf(db, flush, family, &error);
  } else {
    rocksdb_flush(db, flush, &error);
  }
  Check("flush", error);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_writeoptions_destroy(options);
}

static void Ingest(rocksdb_t* db, rocksdb_options_t* options, const char* path) {
  char* error = NULL;
  char key[32];
  char file[4096];
  snprintf(file, sizeof(file), "%s.sst", path);
  const char* files[] = {file};
  rocksdb_envoptions_t* env_options = rocksdb_envoptions_create();
  rocksdb_sstfilewriter_t* writer = rocksdb_sstfilewriter_create(env_options, options);
  rocksdb_sstfilewriter_open(writer, file, &error);
  Check("open sst", error);
  for (int i = 0; i < kKeys; ++i) {
    size_t size = MakeKey(i, 0, key);
    rocksdb_sstfilewriter_put(writer, key, size, key, size, &error);
    Check("put sst", error);
  }
  rocksdb_sstfilewriter_finish(writer, &error);
  Check("finish sst", error);
  rocksdb_ingestexternalfileoptions_t* ingest = rocksdb_ingestexternalfileoptions_create();
  rocksdb_ingest_external_file(db, files, 1, ingest, &error);
  Check("ingest", error);
  rocksdb_ingestexternalfileoptions_destroy(ingest);
  rocksdb_sstfilewriter_destroy(writer);
  rocksdb_envoptions_destroy(env_options);
}

/* Every stored key must be there, and no absent one. */
static void LookUp(rocksdb_t* db, rocksdb_column_family_handle_t* family) {
  char key[32];
  rocksdb_readoptions_t* options = rocksdb_readoptions_create();
  for (int i = 0; i < 2 * kKeys; ++i) {
    char* error = NULL;
    size_t value_size = 0;
    size_t size = MakeKey(i / 2, i % 2, key);
    char* value = family != NULL
                      ? rocksdb_get_cf(db, options, family, key, size, &value_size, &error)
                      : rocksdb_get(db, options, key, size, &value_size, &error);
    Check("get", error);
    if ((value != NULL) != (i % 2 == 0)) {
      fprintf(stderr, "key %s is %s\n", key, value == NULL ? "lost" : "a ghost");
      exit(2);
    }
    free(value);
  }
  rocksdb_readoptions_destroy(options);
}

static long long NumberAfter(const char* text, const char* label) {
  const char* found = text == NULL ? NULL : strstr(text, label);
  return found == NULL ? -1 : atoll(found + strlen(label));
}

static rocksdb_t* Open(const char* mode, const char* path, rocksdb_options_t* options) {
  char* error = NULL;
  char second_path[4096];
  rocksdb_t* db = NULL;
  if (strcmp(mode, "bloom") == 0) {
    rocksdb_block_based_table_options_t* table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom(4));
    rocksdb_options_set_block_based_table_factory(options, table);
    rocksdb_block_based_options_destroy(table);
  }
  if (strcmp(mode, "read-only") == 0) {
    db = rocksdb_open_for_read_only(options, path, 0, &error);
  } else if (strcmp(mode, "read-secondary") == 0) {
    snprintf(second_path, sizeof(second_path), "%s.secondary", path);
    rocksdb_options_set_max_open_files(options, -1);
    db = rocksdb_open_as_secondary(options, path, second_path, &error);
  } else if (strcmp(mode, "write-ttl") == 0) {
    db = rocksdb_open_with_ttl(options, path, 3600, &error);
  } else if (strcmp(mode, "write-transactions") == 0) {
    rocksdb_optimistictransactiondb_t* transactions =
        rocksdb_optimistictransactiondb_open(options, path, &error);
    Check("open", error);
    db = rocksdb_optimistictransactiondb_get_base_db(transactions);
  } else {
    db = rocksdb_open(options, path, &error);
  }
  Check("open", error);
  return db;
}

static void Report(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                   rocksdb_options_t* options) {
  char* statistics = rocksdb_options_statistics_get_string(options);
  const char* property = "rocksdb.aggregated-table-properties";
  char* tables = family != NULL ? rocksdb_property_value_cf(db, family, property)
                                : rocksdb_property_value(db, property);
  printf("useful=%lld filter_bytes=%lld\n",
         NumberAfter(statistics, "rocksdb.bloom.filter.useful COUNT : "),
         NumberAfter(tables, "filter block size="));
  fflush(stdout);
  free(statistics);
  free(tables);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s <mode> <path>\n", argv[0]);
    return 1;
  }
  const char* mode = argv[1];
  const char* path = argv[2];
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_enable_statistics(options);
  rocksdb_t* db = Open(mode, path, options);
  rocksdb_column_family_handle_t* family = NULL;
  if (strcmp(mode, "write-family") == 0) {
    char* error = NULL;
    family = rocksdb_create_column_family(db, options, "later", &error);
    Check("create column family", error);
  }
  if (strcmp(mode, "ingest") == 0) {
    Ingest(db, options, path);
  } else if (strncmp(mode, "read", 4) != 0) {
    Write(db, family);
  }
  LookUp(db, family);
  Report(db, family, options);
  /* The rest is left to the end of the process, as in many a small program. */
  return 0;
}

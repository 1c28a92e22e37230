#include "tests/plugin/host_test_util.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "plugin/tieredfilter.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterPolicy;
using ROCKSDB_NAMESPACE::Iterator;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::ReadOptions;
using ROCKSDB_NAMESPACE::WriteOptions;

// Footer of format versions 1 to 5: checksum type, two block handles padded to 40 bytes, version,
// magic number.
constexpr size_t kFooterBytes = 53;

uint64_t ReadVarint(const std::string& bytes, size_t* position) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && *position < bytes.size(); shift += 7) {
    const unsigned char byte = static_cast<unsigned char>(bytes[(*position)++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      break;
    }
  }
  return value;
}

// The block of `file` whose handle (offset and size) starts at handle_position of `handles`.
std::string ReadBlock(const std::string& file, const std::string& handles, size_t handle_position) {
  const uint64_t offset = ReadVarint(handles, &handle_position);
  const uint64_t size = ReadVarint(handles, &handle_position);
  return offset + size <= file.size() ? file.substr(offset, size) : "";
}

std::string Number(const char* prefix, uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%s%012llu", prefix, static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

namespace {

// Runs `body` in a child process, which it never leaves; gives it the writing end of a pipe.
template <class Body>
pid_t Fork(const Body& body, int* reading_end) {
  int ends[2];
  EXPECT_EQ(0, pipe(ends));
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    body(ends[1]);
    _exit(1);
  }
  EXPECT_GT(child, 0);
  close(ends[1]);
  *reading_end = ends[0];
  return child;
}

template <class Value>
bool Receive(int pipe, Value* value) {
  return read(pipe, value, sizeof(*value)) == static_cast<ssize_t>(sizeof(*value));
}
template <class Value>
bool Send(int pipe, const Value& value) {
  return write(pipe, &value, sizeof(value)) == static_cast<ssize_t>(sizeof(value));
}

// Puts keys, telling each one's number, until it is killed after `keys` of them. Returns the number
// behind the last one it told.
uint64_t WriteInAChild(const Options& options, const std::string& path, uint64_t begin,
                       uint64_t keys) {
  int reading_end = -1;
  const auto write_keys = [&](int pipe) {
    DB* db = nullptr;
    if (DB::Open(options, path, &db).ok()) {
      for (uint64_t i = begin; db->Put(WriteOptions(), Key(i), Key(i)).ok() && Send(pipe, i);) {
        ++i;
      }
    }
  };
  const pid_t child = Fork(write_keys, &reading_end);
  uint64_t written = begin, number = 0;
  while (written < begin + keys && Receive(reading_end, &number)) {
    written = number + 1;
  }
  kill(child, SIGKILL);
  // Those it wrote since.
  while (Receive(reading_end, &number)) {
    written = number + 1;
  }
  close(reading_end);
  EXPECT_EQ(child, waitpid(child, nullptr, 0));
  EXPECT_GE(written, begin + keys);
  return written;
}

// As it is found: nothing is flushed or compacted.
void LookInAChild(const Options& options, const std::string& path, KilledDatabase* database) {
  struct Found {
    uint64_t lost;
    double bits_per_key;
  } found = {};
  int reading_end = -1;
  const auto look = [&](int pipe) {
    DB* db = nullptr;
    if (DB::OpenForReadOnly(options, path, &db).ok()) {
      double bytes = 0, entries = 0;
      for (const TableOnDisk& table : Tables(db)) {
        bytes += static_cast<double>(table.filter_bytes);
        entries += static_cast<double>(table.filter_entries);
      }
      Send(pipe, Found{CountLost(db, 0, database->keys), entries > 0 ? bytes * 8 / entries : 0});
    }
  };
  const pid_t child = Fork(look, &reading_end);
  EXPECT_TRUE(Receive(reading_end, &found)) << "the database cannot be opened";
  close(reading_end);
  EXPECT_EQ(child, waitpid(child, nullptr, 0));
  database->lost += found.lost;
  database->most_bits_per_key = std::max(database->most_bits_per_key, found.bits_per_key);
}

}  // namespace

KilledDatabase WriteAndKill(const std::function<Options()>& options, const std::string& path,
                            int kills, uint64_t most_keys, uint64_t seed) {
  KilledDatabase database;
  std::mt19937_64 random(seed);
  for (int i = 0; i < kills; ++i) {
    database.keys = WriteInAChild(options(), path, database.keys, 1 + random() % most_keys);
    LookInAChild(options(), path, &database);
  }
  return database;
}

// Universal compaction may count as pending for good, hence the second look.
std::string ShowAround(DB* db, const std::string& key, const ReadOptions& read, bool backwards,
                       int steps) {
  const std::unique_ptr<Iterator> iterator(db->NewIterator(read));
  std::string shown;
  backwards ? iterator->SeekForPrev(key) : iterator->Seek(key);
  for (; steps > 0 && iterator->Valid(); --steps) {
    shown += iterator->key().ToString() + "=" + iterator->value().ToString() + ";";
    backwards ? iterator->Prev() : iterator->Next();
  }
  return shown + iterator->status().ToString();
}

void WaitForCompactions(DB* db) {
  for (int quiet = 0; quiet < 5;) {
    ROCKSDB_NAMESPACE::Env::Default()->SleepForMicroseconds(2000);
    uint64_t running = 1, pending = 1;
    ASSERT_TRUE(db->GetIntProperty("rocksdb.num-running-compactions", &running));
    ASSERT_TRUE(db->GetIntProperty("rocksdb.compaction-pending", &pending));
    quiet = running > 0 ? 0 : quiet + (pending > 0 ? 1 : 5);
  }
}

ScratchDir::ScratchDir() {
  std::string path = ::testing::TempDir() + "/tieredfilter_XXXXXX";
  EXPECT_NE(mkdtemp(&path[0]), nullptr) << path << ": " << std::strerror(errno);
  path_ = path;
}

ScratchDir::~ScratchDir() {
  const std::string command = "rm -rf '" + path_ + "'";
  EXPECT_EQ(system(command.c_str()), 0);
}

std::shared_ptr<const FilterPolicy> Policy(const std::string& spec) {
  std::shared_ptr<const FilterPolicy> policy;
  EXPECT_OK(NewFilterPolicy(spec, &policy));
  return policy;
}

Options TestOptions(std::shared_ptr<const FilterPolicy> policy) {
  Options options;
  options.create_if_missing = true;
  options.compression = ROCKSDB_NAMESPACE::kNoCompression;
  options.bottommost_compression = ROCKSDB_NAMESPACE::kNoCompression;
  options.disable_auto_compactions = true;
  BlockBasedTableOptions table_options;
  table_options.format_version = 5;
  table_options.optimize_filters_for_memory = false;  // on by default from 9.2 on; blurs sizes
  table_options.filter_policy = std::move(policy);
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table_options));
  return options;
}

Options WithTableOptions(const Options& options,
                         const std::function<void(BlockBasedTableOptions*)>& change) {
  BlockBasedTableOptions table_options =
      *options.table_factory->GetOptions<BlockBasedTableOptions>();
  change(&table_options);
  Options changed = options;
  changed.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table_options));
  return changed;
}

std::unique_ptr<DB> Open(const Options& options, const std::string& path) {
  DB* db = nullptr;
  EXPECT_OK(DB::Open(options, path, &db));
  return std::unique_ptr<DB>(db);
}

std::string Key(uint64_t number) { return Number("key", number); }

std::string AbsentKey(uint64_t number) { return Key(number) + "+"; }

void PutKeys(DB* db, uint64_t begin, uint64_t end, uint64_t step) {
  for (uint64_t i = begin; i < end; i += step) {
    ASSERT_OK(db->Put(WriteOptions(), Key(i), Key(i)));
  }
}

uint64_t CountLost(DB* db, uint64_t begin, uint64_t end, uint64_t step) {
  uint64_t lost = 0;
  std::string value;
  for (uint64_t i = begin; i < end; i += step) {
    lost += db->Get(ReadOptions(), Key(i), &value).ok() && value == Key(i) ? 0 : 1;
  }
  return lost;
}

uint64_t LookUpAbsent(DB* db, uint64_t begin, uint64_t end) {
  uint64_t found = 0;
  std::string value;
  for (uint64_t i = begin; i < end; ++i) {
    found += db->Get(ReadOptions(), AbsentKey(i), &value).IsNotFound() ? 0 : 1;
  }
  return found;
}

std::vector<TableOnDisk> Tables(DB* db) {
  ROCKSDB_NAMESPACE::TablePropertiesCollection properties;
  EXPECT_OK(db->GetPropertiesOfAllTables(&properties));
  std::vector<ROCKSDB_NAMESPACE::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  std::vector<TableOnDisk> tables;
  for (const auto& file : files) {
    TableOnDisk table;
    table.path = file.db_path + file.name;
    table.level = file.level;
    for (const auto& entry : properties) {
      if (entry.first == table.path) {
        table.filter_bytes = entry.second->filter_size;
        table.filter_entries = entry.second->num_filter_entries;
      }
    }
    tables.push_back(table);
  }
  std::sort(tables.begin(), tables.end(),
            [](const TableOnDisk& a, const TableOnDisk& b) { return a.level < b.level; });
  return tables;
}

std::string ReadFilterBlock(const std::string& table_path) {
  std::ifstream stream(table_path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (file.size() < kFooterBytes) {
    ADD_FAILURE() << table_path << " is no table";
    return "";
  }
  const std::string meta_index = ReadBlock(file, file, file.size() - kFooterBytes + 1);
  // Keys of this block stand in full, each followed by its value, here a block handle.
  const std::string key = "fullfilter.rocksdb.BuiltinBloomFilter";
  const size_t found = meta_index.find(key);
  if (found == std::string::npos) {
    return "";
  }
  return ReadBlock(file, meta_index, found + key.size());
}

}  // namespace tieredfilter

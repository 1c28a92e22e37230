// What counting lookups by level (FilterActivity) costs: a cuckoo filter's lookup without and with
// it, and a whole DB::Get of an absent key, which is what the cost has to be measured by.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/filter_reader.h"
#include "plugin/rocksdb_compat.h"
#include "plugin/tieredfilter.h"
#include "rocksdb/db.h"
#include "src/filter/key_hash.h"
#include "src/format/block.h"

namespace tieredfilter {
namespace {

using ROCKSDB_NAMESPACE::DB;
using ROCKSDB_NAMESPACE::FilterBitsReader;
using ROCKSDB_NAMESPACE::Options;
using ROCKSDB_NAMESPACE::Slice;

std::string Key(uint64_t number) { return "key" + std::to_string(1000000000 + number); }

// As the plugin's own reader, but for the counting.
class PlainReader final : public FilterBitsReader {
 public:
  explicit PlainReader(const Slice& contents)
      : block_(contents.data(), contents.size(), DefaultCpuKernel()) {}
  bool MayMatch(const Slice& key) override { return block_.MayMatch(key.data(), key.size()); }
  void MayMatch(int, Slice**, bool*) override {}

 private:
  const BlockReader block_;
};

void LookUp(benchmark::State& state, bool counts) {
  const auto keys = static_cast<uint64_t>(state.range(0));
  std::vector<uint64_t> hashes;
  for (uint64_t i = 0; i < keys; ++i) {
    hashes.push_back(HashKey(Key(i).data(), Key(i).size()));
  }
  BlockRequest request;
  request.level = 1;
  const BuiltBlock block = BuildBlock(hashes.data(), hashes.size(), request, DefaultCpuKernel());
  const Slice contents(block.data.get(), block.size);
  const std::unique_ptr<FilterBitsReader> reader(counts ? NewFilterBitsReader(contents)
                                                        : new PlainReader(contents));
  std::vector<std::string> absent;
  for (uint64_t i = 0; i < 4096; ++i) {
    absent.push_back(Key(keys + i));
  }
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader->MayMatch(absent[next]));
    next = (next + 1) % absent.size();
  }
}

void WithoutCounting(benchmark::State& state) { LookUp(state, false); }
void WithCounting(benchmark::State& state) { LookUp(state, true); }
BENCHMARK(WithoutCounting)->Arg(5000)->Arg(1000000);
BENCHMARK(WithCounting)->Arg(5000)->Arg(1000000);

void GetAbsentKey(benchmark::State& state) {
  const std::string path = std::filesystem::temp_directory_path() / "tieredfilter_count_bench";
  ROCKSDB_NAMESPACE::BlockBasedTableOptions table_options;
  Options options;
  options.create_if_missing = true;
  DB* opened = nullptr;
  if (!NewFilterPolicy("cuckoofilter:10", &table_options.filter_policy).ok()) {
    state.SkipWithError("no policy");
    return;
  }
  options.table_factory.reset(ROCKSDB_NAMESPACE::NewBlockBasedTableFactory(table_options));
  ROCKSDB_NAMESPACE::DestroyDB(path, options);
  if (!DB::Open(options, path, &opened).ok()) {
    state.SkipWithError("no database");
    return;
  }
  std::unique_ptr<DB> db(opened);
  bool ok = true;
  for (uint64_t i = 0; i < 200000; ++i) {
    ok = ok && db->Put(ROCKSDB_NAMESPACE::WriteOptions(), Key(2 * i), "value").ok();
  }
  ok = ok && db->Flush(ROCKSDB_NAMESPACE::FlushOptions()).ok();
  if (!ok) {
    state.SkipWithError("cannot write");
  }
  uint64_t next = 1;
  std::string value;
  for (auto _ : state) {
    benchmark::DoNotOptimize(db->Get(ROCKSDB_NAMESPACE::ReadOptions(), Key(next), &value));
    next = (next + 2 * 7919) % 400000;
  }
  db.reset();
  ROCKSDB_NAMESPACE::DestroyDB(path, options);
}
BENCHMARK(GetAbsentKey);

}  // namespace
}  // namespace tieredfilter

BENCHMARK_MAIN();

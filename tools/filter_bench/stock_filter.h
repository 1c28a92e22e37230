// RocksDB's own Bloom and Ribbon filters, compiled into the benchmark once per instruction set.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/filter_bench/bench_filter.h"

namespace tieredfilter::bench {

// One compilation of RocksDB's filter code.
struct StockLevel {
  const char* name;   // value of --stock_isa, and `kernel` in the results
  const char* flags;  // compiler flags it was built with, beyond those of the whole program
  bool (*runs_here)();
  // Null with `error` set for a kind or setting that RocksDB does not have.
  std::unique_ptr<BenchFilter> (*make)(const FilterRequest& request, std::string* error);
};

// Every level compiled in, lowest first. Never empty: "portable" is always there.
const std::vector<StockLevel>& StockLevels();

// The kinds that StockLevel::make knows.
bool IsStockKind(const std::string& kind);

}  // namespace tieredfilter::bench

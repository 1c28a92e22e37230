#include "tools/filter_bench/stock_filter.h"

namespace tieredfilter::bench {

// Defined by stock_filter.cc, which is compiled once for each of them.
std::unique_ptr<BenchFilter> MakeStockFilter_portable(const FilterRequest&, std::string*);
#ifdef TIEREDFILTER_BENCH_X86
std::unique_ptr<BenchFilter> MakeStockFilter_v2(const FilterRequest&, std::string*);
std::unique_ptr<BenchFilter> MakeStockFilter_avx2(const FilterRequest&, std::string*);
std::unique_ptr<BenchFilter> MakeStockFilter_avx512(const FilterRequest&, std::string*);
#endif

const std::vector<StockLevel>& StockLevels() {
  static const std::vector<StockLevel> levels = {
      {"portable", "", [] { return true; }, MakeStockFilter_portable},
#ifdef TIEREDFILTER_BENCH_X86
      {"v2", TIEREDFILTER_BENCH_FLAGS_v2,
       [] {
         return __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("popcnt") != 0;
       },
       MakeStockFilter_v2},
      // The other features of x86-64-v3 (LZCNT, MOVBE, F16C) come with these on every processor.
      {"avx2", TIEREDFILTER_BENCH_FLAGS_avx2,
       [] {
         return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                __builtin_cpu_supports("bmi2") != 0 && __builtin_cpu_supports("fma") != 0;
       },
       MakeStockFilter_avx2},
      {"avx512", TIEREDFILTER_BENCH_FLAGS_avx512,
       [] {
         return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                __builtin_cpu_supports("avx512cd") != 0 &&
                __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
       },
       MakeStockFilter_avx512},
#endif
  };
  return levels;
}

bool IsStockKind(const std::string& kind) { return kind == "bloom" || kind == "ribbon"; }

}  // namespace tieredfilter::bench

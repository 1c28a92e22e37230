#include "tools/filter_bench/our_filters.h"

namespace tieredfilter::bench {

// Each kind gets its adapter (an OurFilter) here and a name in the functions below.

bool IsOurKind(const std::string& kind) {
  (void)kind;
  return false;
}

std::vector<std::string> OurKernels() { return {"portable"}; }

std::vector<std::string> DefaultOurFilters() { return {}; }

std::unique_ptr<BenchFilter> MakeOurFilter(const FilterRequest& request, const std::string& kernel,
                                           std::string* error) {
  *error = request.name + ": no kind of this name with kernel " + kernel;
  return nullptr;
}

}  // namespace tieredfilter::bench

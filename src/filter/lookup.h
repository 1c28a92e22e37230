// Looking keys up in the lines of a cuckoo filter with the equations coding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/filter/cpu_kernel.h"
#include "src/filter/line_match.h"

namespace tieredfilter {

struct KeyView {
  const char* data;
  size_t size;
};

// The most keys that LookupKernel::match_keys takes at once (RocksDB's MultiGet batches are no
// larger).
inline constexpr size_t kMaxBatch = 32;

// One kernel's functions. Chosen once per reader, never per probe. Thread-safe, never throw, and
// safe for any bytes in the lines. A false answer is only ever given for a key that was not among
// those the lines were built from.
struct LookupKernel {
  bool (*match_key)(const LinesView& view, const char* data, size_t size);
  void (*match_keys)(const LinesView& view, const KeyView* keys, size_t count, bool* may_match);
  bool (*match_hash)(const LinesView& view, uint64_t hash);  // HashKey() of the key, not salted
};

// The functions for filters of `planes` planes (LinesView::planes), with a kernel that
// CpuKernelSupported(). `salted` false saves a little where LinesView::salt is 0. `more_share`, the
// share of lines with one more plane, decides about speed only, never about answers.
const LookupKernel& LookupFor(CpuKernel kernel, uint32_t planes, bool salted = true,
                              double more_share = 1);

}  // namespace tieredfilter

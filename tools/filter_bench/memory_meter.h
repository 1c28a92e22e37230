// Counts what passes through operator new and delete, and what is reported besides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tieredfilter::bench {

// The program's peak of live `new` memory between Start and Stop, above the level at Start.
// Sizes are those the allocator really reserved. malloc called directly and mmap are not seen.
// One meter at a time; while none runs, the hooks cost one relaxed load.
class MemoryMeter {
 public:
  static void Start();
  static size_t StopAndGetPeak();
  // So many bytes more (or less) are held that the hooks did not see.
  static void Add(int64_t bytes);
};

}  // namespace tieredfilter::bench

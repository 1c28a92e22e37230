// How much memory a builder takes, by counting what it allocates: little while it waits, 9 bytes
// per hash while it collects, and for the block itself no more than is charged to the cache.
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

#include "gtest/gtest.h"
#include "plugin/cuckoo_bits_builder.h"
#include "tests/plugin/host_test_util.h"

namespace {

// Bytes this thread has allocated with new and not freed, and the most there were.
thread_local int64_t g_live = 0;
thread_local int64_t g_peak = 0;

void* Allocate(size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  g_live += static_cast<int64_t>(malloc_usable_size(memory));
  g_peak = g_live > g_peak ? g_live : g_peak;
  return memory;
}

void Free(void* memory) {
  if (memory != nullptr) g_live -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }

namespace tieredfilter {
namespace {

class CuckooMemoryTest : public ::testing::TestWithParam<BlockCoding> {};

TEST_P(CuckooMemoryTest, OfABuild) {
  for (const double bits : {4.6, 10.0, 24.0}) {
    const uint64_t keys = 700000;
    BlockRequest request;
    request.bits_per_key = bits;
    request.coding = GetParam();
    CuckooBitsBuilder builder(request, ROCKSDB_NAMESPACE::BlockBasedTableOptions(), nullptr);
    for (uint64_t i = 0; i < keys; ++i) {
      builder.AddKey(Key(i));
    }
    EXPECT_LE(builder.TEST_collector().memory_bytes(), 9 * keys + 8192);
    const int64_t before = g_peak = g_live;
    std::unique_ptr<const char[]> buffer;
    const auto block = static_cast<int64_t>(builder.Finish(&buffer).size());
    const int64_t working = g_peak - before - block;
    // What CuckooBitsBuilder charges for besides hashes and block.
    EXPECT_LE(working, 2 * block + 300 * 1024) << bits;
    EXPECT_NEAR(static_cast<double>(g_live - before), static_cast<double>(block), 4096.0)
        << "all but the block is given back";
    std::printf("%.1f bits: %.2f bytes per key beyond hashes and block\n", bits,
                static_cast<double>(working) / static_cast<double>(keys));
  }
}

TEST_P(CuckooMemoryTest, OfABuilderThatWaits) {
  BlockRequest request;
  request.coding = GetParam();
  const int64_t before = g_live;
  const auto builder = std::make_unique<CuckooBitsBuilder>(
      request, ROCKSDB_NAMESPACE::BlockBasedTableOptions(), nullptr);
  const auto held = [&] {
    return g_live - before + static_cast<int64_t>(builder->TEST_collector().memory_bytes());
  };
  EXPECT_LT(held(), 1024);
  for (uint64_t i = 0; i < 200000; ++i) {
    builder->AddKey(Key(i));
  }
  {
    std::unique_ptr<const char[]> buffer;
    builder->Finish(&buffer);
  }
  EXPECT_LT(held(), 64 * 1024);
}

INSTANTIATE_TEST_SUITE_P(Codings, CuckooMemoryTest,
                         ::testing::Values(BlockCoding::kEquations, BlockCoding::kFingerprints));

}  // namespace
}  // namespace tieredfilter

#include "tools/filter_bench/memory_meter.h"

#include <malloc.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tieredfilter::bench {
namespace {

std::atomic<bool> metering{false};
std::atomic<int64_t> live{0};
std::atomic<int64_t> peak{0};

void* Count(void* memory) {
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  MemoryMeter::Add(static_cast<int64_t>(malloc_usable_size(memory)));
  return memory;
}

void Discount(void* memory) {
  if (memory != nullptr) MemoryMeter::Add(-static_cast<int64_t>(malloc_usable_size(memory)));
  std::free(memory);
}

void* AlignedAllocate(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  return Count(std::aligned_alloc(align, (size + align - 1) / align * align));
}

}  // namespace

void MemoryMeter::Add(int64_t bytes) {
  if (!metering.load(std::memory_order_relaxed)) return;
  const int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

void MemoryMeter::Start() {
  live = 0;
  peak = 0;
  metering = true;
}

size_t MemoryMeter::StopAndGetPeak() {
  metering = false;
  return static_cast<size_t>(peak.load());
}

}  // namespace tieredfilter::bench

// The other forms (array, nothrow, sized) of the standard library all end in these.
void* operator new(size_t size) {
  return tieredfilter::bench::Count(std::malloc(size > 0 ? size : 1));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return tieredfilter::bench::AlignedAllocate(size, alignment);
}
void operator delete(void* memory) noexcept { tieredfilter::bench::Discount(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept {
  tieredfilter::bench::Discount(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  tieredfilter::bench::Discount(memory);
}
void operator delete(void* memory, size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  tieredfilter::bench::Discount(memory);
}

#include "tools/filter_bench/keys.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace tieredfilter::bench {
namespace {

// Room for the largest length and start offset of KeyStyle::kMixed.
constexpr size_t kMixedSlack = 8;

// Each filter has its own range of numbers, as each file of a database has its own key range.
constexpr int kFilterIdShift = 40;

void PutBigEndian64(char* out, uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    out[i] = static_cast<char>(value >> (56 - 8 * i));
  }
}

void PutLittleEndian(char* out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    out[i] = static_cast<char>(value >> (8 * i));
  }
}

}  // namespace

KeyChunk::KeyChunk(const KeyModel& model)
    : model_(model),
      stride_((model.key_size + (model.style == KeyStyle::kMixed ? kMixedSlack : 0) + 7) &
              ~size_t{7}),
      bytes_(stride_ * kChunkKeys) {
  assert(model.key_size >= kMinKeySize);
  const char padding = model.style == KeyStyle::kMixed ? '\0' : '0';
  std::fill(bytes_.begin(), bytes_.end(), padding);
}

void KeyChunk::Write(size_t slot, uint64_t filter_id, uint64_t number) {
  const size_t begin = slot * stride_;
  if (model_.style == KeyStyle::kDbBench) {
    offsets_[slot] = static_cast<uint32_t>(begin);
    sizes_[slot] = static_cast<uint32_t>(model_.key_size);
    PutBigEndian64(&bytes_[begin], (filter_id << kFilterIdShift) | number);
    return;
  }
  // Clear what an earlier key with another start offset left behind.
  std::memset(&bytes_[begin], 0, kMinKeySize);
  const size_t start = begin + number % 4;
  offsets_[slot] = static_cast<uint32_t>(start);
  sizes_[slot] = static_cast<uint32_t>(model_.key_size - 2 + (number >> 5) % 5);
  PutLittleEndian(&bytes_[start], number, 8);
  // Variation in more than 64 bits, so that a hash of one word cannot be a perfect hash.
  PutLittleEndian(&bytes_[start + 8], filter_id + number, 4);
}

void KeyChunk::FillConsecutive(uint64_t filter_id, bool present, uint64_t first, size_t count) {
  assert(count <= kChunkKeys);
  count_ = count;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t number = present ? PresentKeyNumber(first + i) : AbsentKeyNumber(first + i);
    Write(i, filter_id, number);
    readers_[i] = 0;
  }
}

void KeyChunk::FillRandom(const RandomSpec& spec, std::mt19937_64* random) {
  assert(kChunkKeys % spec.keys_per_choice == 0);
  count_ = kChunkKeys;
  // Absent keys come from four times the range of the present ones: most lie behind them, as most
  // keys absent from a file do, and a quarter between them.
  const uint64_t range = spec.present ? spec.keys_per_filter : 4 * spec.keys_per_filter;
  uint32_t reader = 0;
  for (size_t i = 0; i < kChunkKeys; ++i) {
    if (i % spec.keys_per_choice == 0) {
      reader = static_cast<uint32_t>((*random)() % spec.readers);
    }
    const uint64_t index = (*random)() % range;
    Write(i, reader % spec.distinct_filters,
          spec.present ? PresentKeyNumber(index) : AbsentKeyNumber(index));
    readers_[i] = reader;
  }
}

Stopwatch::Stopwatch() {
  std::array<double, 1001> empty;
  for (double& ns : empty) {
    const Clock::time_point begin = Clock::now();
    ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }
  std::nth_element(empty.begin(), empty.begin() + empty.size() / 2, empty.end());
  overhead_ns_ = empty[empty.size() / 2];
}

}  // namespace tieredfilter::bench

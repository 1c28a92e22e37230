// The keys a benchmark run adds and asks for, and the clock it times them with.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tieredfilter::bench {

// How a key number becomes bytes. Both are structured on purpose: consecutive numbers, long equal
// parts, present and absent keys one step apart. A random string would hide a weak hash.
enum class KeyStyle {
  kDbBench,  // big-endian number, then '0' up to the key size: what db_bench writes
  kMixed,    // little-endian, length changing by up to 2 bytes each way, any alignment
};

struct KeyModel {
  KeyStyle style = KeyStyle::kDbBench;
  size_t key_size = 24;  // bytes, at least kMinKeySize
};

constexpr size_t kMinKeySize = 16;  // both styles keep all that tells keys apart in 14 bytes

// Keys of one filter have even numbers, absent keys the odd numbers between and behind them, so
// that the two sets differ in the lowest bits only.
inline uint64_t PresentKeyNumber(uint64_t i) { return 2 * i; }
inline uint64_t AbsentKeyNumber(uint64_t i) { return 2 * i + 1; }

// Lookups and insertions are timed in chunks whose keys were written just before, untimed. So no
// key repeats (a small ring would be learned by the branch predictor), key memory stays in L1, and
// the cost of making keys is outside the figures. 512 keys of 24 bytes with their slices take
// 20 KB: two thirds of a common L1, and long enough that reading the clock stays below 1%.
constexpr size_t kChunkKeys = 512;
constexpr size_t kBatchKeys = 32;  // RocksDB's MultiGetContext::MAX_BATCH_SIZE

// A chunk of keys, and for each the index of the filter to ask. Not thread-safe. Reused.
class KeyChunk {
 public:
  explicit KeyChunk(const KeyModel& model);

  // Writes `count` (at most kChunkKeys) keys of filter `filter_id` with consecutive numbers.
  void FillConsecutive(uint64_t filter_id, bool present, uint64_t first, size_t count);

  struct RandomSpec {
    bool present = false;
    uint64_t keys_per_filter = 0;
    size_t readers = 1;           // filters to choose from
    size_t distinct_filters = 1;  // reader i holds the keys of filter i % distinct_filters
    size_t keys_per_choice = 1;   // consecutive keys that ask the same filter: 1 or kBatchKeys
  };
  // Writes kChunkKeys keys at random. A present key is one that its filter really holds.
  void FillRandom(const RandomSpec& spec, std::mt19937_64* random);

  size_t count() const { return count_; }
  const char* data(size_t i) const { return bytes_.data() + offsets_[i]; }
  size_t size(size_t i) const { return sizes_[i]; }
  const uint32_t* readers() const { return readers_.data(); }

 private:
  void Write(size_t slot, uint64_t filter_id, uint64_t number);

  const KeyModel model_;
  const size_t stride_;
  size_t count_ = 0;
  std::vector<char> bytes_;
  std::array<uint32_t, kChunkKeys> offsets_{};
  std::array<uint32_t, kChunkKeys> sizes_{};
  std::array<uint32_t, kChunkKeys> readers_{};
};

// Sums short stretches of time, with the clock's own cost taken out of each.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  // Measures the clock's cost: the median of a thousand empty stretches.
  Stopwatch();

  void Start() { start_ = Clock::now(); }
  void Stop() {
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start_).count();
    total_ns_ += ns > overhead_ns_ ? ns - overhead_ns_ : 0;
  }
  void Reset() { total_ns_ = 0; }
  double total_ns() const { return total_ns_; }
  double overhead_ns() const { return overhead_ns_; }

 private:
  Clock::time_point start_;
  double total_ns_ = 0;
  double overhead_ns_ = 0;
};

}  // namespace tieredfilter::bench

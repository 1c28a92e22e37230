// Shared by the fuzz targets. Each is one function, LLVMFuzzerTestOneInput, which libFuzzer calls
// (CMake option TIEREDFILTER_FUZZ) or, in plain builds, the replay in replay_main.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace tieredfilter {

// Not assert(): it has to hold in release builds too.
inline void FuzzCheck(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz target: %s\n", what);
  std::abort();
}

// Takes numbers off the front of the input; zeros once it is used up.
class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), left_(size) {}

  uint64_t Take(size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && left_ > 0; ++i, --left_) {
      value |= uint64_t{*data_++} << (8 * i);
    }
    return value;
  }
  size_t left() const { return left_; }
  const uint8_t* data() const { return data_; }

 private:
  const uint8_t* data_;
  size_t left_;
};

}  // namespace tieredfilter

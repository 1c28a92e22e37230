#include "src/filter/wide_product.h"

#include "gtest/gtest.h"
#include "tests/filter/test_keys.h"

namespace tieredfilter {
namespace {

template <class Multiplier>
void ExpectRight(uint64_t a, uint64_t b) {
  const unsigned __int128 want = static_cast<unsigned __int128>(a) * b;
  const WideProduct product = Multiplier::Multiply(a, b);
  EXPECT_EQ(product.low, static_cast<uint64_t>(want)) << a << " x " << b;
  EXPECT_EQ(product.high, static_cast<uint64_t>(want >> 64)) << a << " x " << b;
  EXPECT_EQ(MulHigh<Multiplier>(a, b), product.high);
}

template <class Multiplier>
void CheckProducts() {
  const uint64_t extremes[] = {0, 1, 2, ~uint64_t{0}, uint64_t{1} << 63, 0xffffffff};
  for (uint64_t a : extremes) {
    for (uint64_t b : extremes) ExpectRight<Multiplier>(a, b);
  }
  TestRandom random(7);
  for (int i = 0; i < 1000; ++i) ExpectRight<Multiplier>(random.Next(), random.Next());
}

TEST(WideProductTest, Baseline) { CheckProducts<BaselineMultiplier>(); }

TEST(WideProductTest, Bmi2) {
  if (!CpuKernelSupported(CpuKernel::kAvx2)) GTEST_SKIP() << "this CPU has no BMI2";
  CheckProducts<Bmi2Multiplier>();
}

}  // namespace
}  // namespace tieredfilter

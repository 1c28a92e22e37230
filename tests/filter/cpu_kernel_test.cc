#include "src/filter/cpu_kernel.h"

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace tieredfilter {
namespace {

TEST(CpuKernelTest, NamesAndKernelsGoBothWays) {
  for (CpuKernel kernel :
       {CpuKernel::kPortable, CpuKernel::kSse4, CpuKernel::kAvx2, CpuKernel::kAvx512}) {
    EXPECT_EQ(CpuKernelFromName(CpuKernelName(kernel)), kernel);
  }
  EXPECT_EQ(CpuKernelFromName("avx2"), CpuKernel::kAvx2);
  EXPECT_FALSE(CpuKernelFromName("AVX2"));
  EXPECT_FALSE(CpuKernelFromName("neon"));
  EXPECT_FALSE(CpuKernelFromName(""));
}

TEST(CpuKernelTest, PortableComesFirstAndIsAlwaysThere) {
  const std::vector<CpuKernel> kernels = SupportedCpuKernels();
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(kernels.front(), CpuKernel::kPortable);
  for (CpuKernel kernel : kernels) EXPECT_TRUE(CpuKernelSupported(kernel));
}

TEST(CpuKernelTest, TheDefaultIsTheWidestUnlessTheEnvironmentNamesOne) {
  const char* forced = std::getenv("TIEREDFILTER_KERNEL");
  CpuKernel expected = SupportedCpuKernels().back();
  if (forced != nullptr && CpuKernelFromName(forced) &&
      CpuKernelSupported(*CpuKernelFromName(forced))) {
    expected = *CpuKernelFromName(forced);
  }
  EXPECT_EQ(DefaultCpuKernel(), expected);
}

// The choice is made once per process, so each value of the variable needs a process of its own.
TEST(CpuKernelDeathTest, TheEnvironmentForcesAKernel) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("TIEREDFILTER_KERNEL", "portable", 1);
        std::exit(DefaultCpuKernel() == CpuKernel::kPortable ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "^$");
}

TEST(CpuKernelDeathTest, AnUnknownKernelIsReportedAndIgnored) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        ::setenv("TIEREDFILTER_KERNEL", "mmx", 1);
        std::exit(DefaultCpuKernel() == SupportedCpuKernels().back() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "TIEREDFILTER_KERNEL=mmx is unknown");
}

}  // namespace
}  // namespace tieredfilter

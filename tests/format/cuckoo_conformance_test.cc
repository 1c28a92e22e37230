#include "tests/format/cuckoo_kinds.h"

namespace tieredfilter {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuckoo, FilterConformance,
                         ::testing::ValuesIn(CuckooKinds(SupportedCpuKernels())), NameOfKind);
INSTANTIATE_TEST_SUITE_P(Cuckoo, FilterHashConformance,
                         ::testing::ValuesIn(CuckooKinds(SupportedCpuKernels())), NameOfKind);
INSTANTIATE_TEST_SUITE_P(Cuckoo, FilterRates,
                         ::testing::ValuesIn(CuckooKinds({DefaultCpuKernel()})), NameOfKind);

}  // namespace
// Has a test of its own, with the label "slow".
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterConformanceSlow);
}  // namespace tieredfilter

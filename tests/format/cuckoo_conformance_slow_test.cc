#include "tests/format/cuckoo_kinds.h"

namespace tieredfilter {
namespace {

INSTANTIATE_TEST_SUITE_P(Cuckoo, FilterConformanceSlow,
                         ::testing::ValuesIn(CuckooKinds({DefaultCpuKernel()})), NameOfKind);

}  // namespace
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterHashConformance);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterRates);
}  // namespace tieredfilter

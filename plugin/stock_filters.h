// RocksDB's own Bloom and Ribbon policies, set up from what a user of this plugin asks for.
#pragma once

#include <memory>

#include "rocksdb/rocksdb_namespace.h"
#include "src/policy/filter_setting.h"

namespace ROCKSDB_NAMESPACE {
class FilterPolicy;
}  // namespace ROCKSDB_NAMESPACE

namespace tieredfilter {

// The parameter for RocksDB's NewBloomFilterPolicy: the bits per key, or the fewest that reach the
// rate.
double StockBloomParameter(const FilterSetting& setting);

// The parameter for RocksDB's NewRibbonFilterPolicy, which counts "the bits a Bloom filter of the
// same rate would need": found by asking stock builders how big they get, since the relation
// depends on the RocksDB version. It is exact at one million keys. RocksDB fixes the rate, not the
// bits, so from 3,000 to 100 million keys a filter really stores between 2% less and 3% more; below
// about 1,000 keys it writes a Bloom filter of the same rate instead, up to twice the size.
double StockRibbonParameter(const FilterSetting& setting);

std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewStockBloomPolicy(
    const FilterSetting& setting);
// Ribbon in every level, flushes included: the rule that led here has chosen the level already.
std::unique_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewStockRibbonPolicy(
    const FilterSetting& setting);

}  // namespace tieredfilter
